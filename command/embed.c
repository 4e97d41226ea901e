/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect embed: symbols into a profile, so that it can be read where the program is not.
 */
#include "analysis/symbols/stored_table.h"
#include "command/command.h"
#include "view/annotate/annotate.h"

#include <unistd.h>

static const struct pct_option options[] = {
    {'a', "assembly", NULL,
     "store the instructions of the functions that take most, for pcollect annotate --assembly",
     "Of functions with 1 % of the run or more, those that take most first, at most 20,000 "
     "instructions in all: some 10 bytes each in the profile. Needs objdump and the program."},
    {'s', "sources", NULL, "store the text of the source files too, for pcollect annotate"},
    PCT_OPTION_DEBUGINFOD,
    {'o', "output", "FILE", "write to FILE (default: replace the profile)",
     "FILE must be new, or a complete profile of the same run, of your own and not read-only; "
     "anything else is refused and left as it is. Without -o the profile is replaced in one step: "
     "it is never seen half written."},
    {0, NULL, NULL, NULL},
};

/* Sets the complaint of a file that is not there as it ran: it gives no names. */
static void look_for_files(const struct pct_symbols *s, const struct pc_profile *p,
                           struct pc_error *remark)
{
    const char *first = NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_modules; i++) {
        enum pct_symbols_state state = pct_symbols_state(s, i);
        if (state != PCT_SYMBOLS_GONE && state != PCT_SYMBOLS_CHANGED &&
            state != PCT_SYMBOLS_UNREADABLE)
            continue;
        first = first ? first : pct_symbols_complaint(s, i);
        n++;
    }
    if (n > 1)
        pc_error_set(remark, PC_OK, "no names of %zu files are stored: %s", n, first);
    else if (n)
        pc_error_set(remark, PC_OK, "%s", first);
    else if (pct_symbols_servers_problem())
        pc_error_set(remark, PC_OK, "%s", pct_symbols_servers_problem());
}

/* True if two profiles are of one run. The keys do not tell it alone: all that pcollect record
 * writes have the same. */
static bool is_same_run(const struct pc_profile *p, const struct pc_profile *q)
{
    uint32_t i = 0, j = 0;
    while (i < p->n_ranks && j < q->n_ranks && p->ranks[i].rank != q->ranks[j].rank)
        p->ranks[i].rank < q->ranks[j].rank ? i++ : j++;
    bool both = i < p->n_ranks && j < q->n_ranks;
    return p->job_key == q->job_key &&
           (!both || p->ranks[i].start_realtime_ns == q->ranks[j].start_realtime_ns);
}

/* Refuses a file that may not be written, and the profile of another run. */
static int check_place(const struct pc_profile *p, const char *to, struct pc_error *error)
{
    struct pc_profile *there = NULL;
    int err = pc_pcol_may_write(to, 0, error);
    if (!err && access(to, F_OK) == 0)
        err = pc_pcol_read_ranks(to, &there, error);
    if (there && !is_same_run(p, there))
        err = pc_error_set(error, PC_EIO,
                           "%s: cannot be written: there is the profile of another run; remove it, "
                           "or choose another name (-o)",
                           to);
    pc_profile_free(there);
    return err;
}

static bool needs_contexts(const struct pct_embedded *also)
{
    return also->sources || also->assembly;
}

/* A profile without a name for any of its addresses is left as it is. */
static int embed(struct pc_profile **p, const char *from, const char *to,
                 const struct pct_embedded *also, struct pc_error *error)
{
    static const struct pct_tree_options whole = {0};
    struct pct_stores all = {.n = 0};
    struct pc_error remark = {""};
    struct pct_symbols *symbols = pct_symbols_new(*p);
    struct pct_data *d = needs_contexts(also) ? pct_data_new(from, *p, symbols, &whole) : NULL;
    if (also->show_files)
        also->show_files(also->arg, *p, symbols);
    pct_symbols_look_up(symbols, pct_samples_any(*p));
    pct_symbols_store(symbols, *p, &all);
    if (also->sources)
        pct_source_store(d, &all, &remark);
    look_for_files(symbols, *p, &remark);
    int err = also->assembly ? pct_assembly_store(d, &all, &remark, error) : PC_OK;
    if (d) /* it owns the symbols */
        pct_data_free(d);
    else
        pct_symbols_free(symbols);
    pct_symbols_drop(*p);
    if (!err)
        err = pct_stores_put(&all, p, error);
    if (!err)
        err = pc_pcol_write(*p, to, 0, error);
    if (!err && *remark.text)
        *error = remark;
    pct_stores_free(&all);
    return err;
}

int pct_embed_file(const char *from, const char *to, const struct pct_embedded *also,
                   struct pc_error *error)
{
    struct pc_profile *p = NULL;
    int err = needs_contexts(also) ? pc_pcol_read_histograms(from, &p, error)
                                   : pc_pcol_read_around(from, &p, error);
    if (err && !*error->text)
        pc_error_set(error, err, "%s: %s", from, pc_err_text(err));
    if (!err)
        err = check_place(p, to, error);
    if (!err)
        err = embed(&p, from, to, also, error);
    pc_profile_free(p);
    return err;
}

struct request {
    const char *to;
    struct pct_embedded also;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    (void)self;
    r->also.sources |= o->letter == 's';
    r->also.assembly |= o->letter == 'a';
    r->to = o->letter == 'o' ? value : r->to;
    return PCT_DONE;
}

static int run_embed(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {0};
    struct pct_line line;
    struct pc_error error = {""};
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    const char *from = line.words[0];
    pct_progress_show();
    int err = pct_embed_file(from, r.to ? r.to : from, &r.also, &error);
    if (*error.text)
        pct_say(self, "%s", error.text);
    return err == PC_ENOENT ? PCT_CALL : err || *error.text ? PCT_DATA : PCT_DONE;
}

const struct pct_command pct_embed = {
    .name = "embed",
    .synopsis = "[-a] [-d] [-s] [-o FILE] PROFILE",
    .summary = "store functions, files and lines in a profile",
    .details =
        "The exit status is 1, too, if a part is not stored: names of a file that was removed "
        "or replaced, or that no server was there to give, the text of a source file that was "
        "changed after the run began, or the instructions of a function that has no room.",
    .options = options,
    .argument = "PROFILE",
    .n_least = 1,
    .n_most = 1,
    .take = take_option,
    .main = run_embed,
};

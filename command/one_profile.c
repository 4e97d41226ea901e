/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The profile that a command reads if none or several were named.
 */
#include "analysis/gather.h"
#include "command/command.h"
#include "merge/fold.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

bool pct_newest_profile(const struct pct_command *self, struct pct_line *line)
{
    static const char ending[] = ".pcol";
    static char found[NAME_MAX + 1], *words[] = {found, NULL};
    struct stat newest = {0}, st;
    DIR *folder = opendir(".");
    found[0] = '\0';
    for (struct dirent *e; folder && (e = readdir(folder));) {
        size_t n = strlen(e->d_name);
        if (n < sizeof ending || strcmp(e->d_name + n + 1 - sizeof ending, ending) != 0 ||
            stat(e->d_name, &st) || !S_ISREG(st.st_mode) || (*found && !is_newer(&st, &newest)))
            continue;
        pc_format(found, sizeof found, "%s", e->d_name);
        newest = st;
    }
    if (folder)
        closedir(folder);
    if (!*found) {
        pct_refuse(self, "missing argument: FILE, and there is no profile here (*.pcol)");
        return false;
    }
    pct_say(self, "%s is the newest profile here", found);
    line->words = words;
    line->n_words = 1;
    return true;
}

static const struct pct_tree_options whole;

struct pct_data *pct_profile_open(const struct pct_command *self, const char *path, int *status_out)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    int err = pc_pcol_read_columns(path, &p, &error);
    if (*error.text || err)
        pct_say(self, "%s", *error.text ? error.text : pc_err_text(err));
    if (!err)
        return pct_data_new(path, p, pct_symbols_new(p), &whole);
    *status_out = err == PC_ENOENT ? PCT_CALL : PCT_DATA;
    return NULL;
}

struct pct_data *pct_profile_add_up(struct pct_data *d, uint32_t most)
{
    struct pc_profile *p = (struct pc_profile *)d->profile; /* that pct_profile_open has read */
    const char *file = d->file;
    uint32_t n_added_up = 0;
    if (p->n_data <= most)
        return d;
    size_t n_contexts = pct_data_count_contexts(d);
    struct pct_call_sum calls;
    bool was_folded = pct_totals_folded(d->totals, &calls);
    pct_data_free(d);
    if (pc_fold_own(p, most, &n_added_up))
        pct_memory_refuse();
    d = pct_data_new(file, p, pct_symbols_new(p), &whole);
    d->n_contexts = n_contexts;
    d->n_added_up = n_added_up;
    d->was_folded = was_folded;
    return d;
}

int pct_profile_close(const struct pct_command *self, struct pct_data *d, int status)
{
    const struct pc_profile *p = d->profile;
    if (pc_profile_unread(p)) {
        pct_say(self, "%s: %s", d->file, pc_profile_unread(p));
        status = status ? status : PCT_DATA;
    }
    pct_data_free(d);
    pc_profile_free((struct pc_profile *)p); /* that pct_profile_open has read */
    return status;
}

/* ---- Several --------------------------------------------------------------------------------- */

struct looked {
    char *program;        /* of the first */
    bool differs, unread; /* another program; no profile */
    bool scales;          /* on different numbers of ranks */
};

static void look_at(struct looked *l, const char *path, uint32_t *n_ranks)
{
    struct pc_profile *p = NULL;
    struct pc_error error = {""};
    uint32_t before = *n_ranks;
    if (pc_pcol_read_ranks(path, &p, &error)) {
        l->unread = true;
    } else {
        l->differs |= l->program && strcmp(l->program, p->exe) != 0;
        l->program = l->program ? l->program : pct_copy(p->exe);
        l->scales |= before && before != p->world_size;
        *n_ranks = p->world_size;
    }
    pc_profile_free(p);
}

int pct_refuse_profiles(const struct pct_command *self, const struct pct_line *line)
{
    struct looked l = {.program = NULL};
    struct pct_buf files = {0};
    uint32_t n_ranks = 0;
    for (size_t i = 0; i < line->n_words && !l.unread; i++) {
        look_at(&l, line->words[i], &n_ranks);
        pct_buf_text(&files, " ");
        pct_text_shell(&files, line->words[i]);
    }
    if (l.unread)
        pct_refuse(self, "unexpected argument: %s", line->words[1]);
    else if (l.differs && line->n_words == 2)
        pct_say(self, "one profile at a time; `pcollect diff%s` compares versions of a program",
                files.data);
    else if (l.differs)
        pct_say(self, "one profile at a time; these are of several programs");
    else if (l.scales)
        pct_say(self, "one profile at a time; `pcollect scale%s` compares these numbers of ranks",
                files.data);
    else
        pct_say(self, "one profile at a time; `pcollect %s%s` compares these runs",
                line->n_words == 2 ? "diff" : "average", files.data);
    pct_buf_free(&files);
    pct_free(l.program);
    return PCT_CALL;
}

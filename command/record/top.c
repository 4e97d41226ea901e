/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect top: current CPU usage by function, by context or by process, from samples that the
 * kernel takes. A terminal shows one screen that is redrawn; other output gets one block after the
 * other.
 */
#include "command/record/record.h"
#include "command/record/top_print.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_BY = 256, OPTION_ONCE, OPTION_FORMAT };

static const struct pct_option options[] = {
    PCT_OPTIONS_SAMPLED_WHO("watch"),
    {'s', "seconds", "N", "seconds between updates (default: 2)"},
    {OPTION_BY, "by", "function|context|process", "what the rows are (default: function)",
     "On a terminal the keys f, c and p choose another while it runs."},
    {OPTION_ONCE, "once", NULL, "print once, and end"},
    {OPTION_FORMAT, "format", "text|tsv", "text for people (default), or for programs",
     "tsv has all rows, text those that fit."},
    PCT_OPTION_WIDTH,
    {0, NULL, NULL, NULL},
};

struct request {
    struct pct_sampled_who who;
    uint64_t seconds;
    enum pct_top_by by;
    bool once, tsv;
};

/* Two sums: new samples go into one while the other, of the previous interval, is shown. */
struct top {
    struct pct_sampling sampling;
    struct request *request;
    struct pct_busiest sums[2];
    unsigned now;
    uint64_t begin_ns, elapsed_ns;          /* of `now`; of the other */
    uint64_t counted_ns, counted_before_ns; /* CPU time of the other; at the beginning of `now` */
    uint64_t n_lost, n_lost_before;
    bool screen, end;
};

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct request *r = request;
    switch (o->letter) {
    case 's':
        return pct_value_number(self, o, value, 1, 86400, &r->seconds);
    case OPTION_BY:
        r->by = (enum pct_top_by)pct_value_word(o, value);
        return PCT_DONE;
    case OPTION_ONCE:
        r->once = true;
        return PCT_DONE;
    case OPTION_FORMAT:
        r->tsv = pct_value_word(o, value) == 1;
        return PCT_DONE;
    default:
        return pct_sampling_take_option(self, o, value, &r->who);
    }
}

static void show_sample(void *arg, const struct pct_sampled_stack *s)
{
    struct top *t = arg;
    pct_busiest_add(&t->sums[t->now], s);
}

/* ---- Screens ------------------------------------------------------------------------------- */

/* The way to more samples of the CPU time; NULL: there is none. */
static const char *cure(const struct top *t)
{
    if (t->sampling.stops || (t->request->who.processors && !t->n_lost))
        return NULL;
    if (t->sampling.what.clock.user_only)
        return "that in the kernel is not, kernel.perf_event_paranoid forbids it";
    return t->n_lost ? "a lower -F loses less" : "a higher -F sees more";
}

static bool has_sample(const struct pct_busiest *b, int pid)
{
    for (size_t i = 0; i < b->n_processes; i++)
        if (b->processes[i].pid == pid)
            return true;
    return false;
}

static struct pct_top_quiet find_quiet(const struct top *t)
{
    const struct pct_busiest *b = &t->sums[!t->now];
    struct pct_top_quiet quiet = {.threads = t->request->who.threads};
    for (size_t i = 0; i < t->sampling.n_ids; i++) {
        int id = t->sampling.ids[i];
        struct pc_process_status p;
        if (quiet.threads ? b->n_processes > 0 : has_sample(b, id))
            continue;
        if (!pc_process_look(pct_watch_view(id), &p) || p.ended)
            continue;
        quiet.n++;
        quiet.n_stopped += p.state == 'T';
    }
    return quiet;
}

static struct pct_top picture(const struct top *t)
{
    enum { MOST_LINES = 40, OTHER_LINES = 4 };
    struct pct_terminal terminal = pct_terminal_look();
    size_t lines = t->screen ? pct_screen_lines() : MOST_LINES + OTHER_LINES;
    return (struct pct_top){.busiest = &t->sums[!t->now],
                            .elapsed_ns = t->elapsed_ns,
                            .counted_ns = t->counted_ns,
                            .most_busy = (double)sysconf(_SC_NPROCESSORS_ONLN),
                            .cure = cure(t),
                            .n_lost = t->n_lost,
                            .quiet = find_quiet(t),
                            .by = t->request->by,
                            .width = terminal.cut ? terminal.width : 0,
                            .max_rows = lines > OTHER_LINES ? lines - OTHER_LINES : 1,
                            .utf8 = terminal.utf8};
}

static void draw(const struct top *t)
{
    static const char keys[] = "f functions  c contexts  p processes  q quit";
    char *text = NULL;
    size_t n = 0;
    if (!t->elapsed_ns) {
        pct_screen_draw("pcollect top: the first samples are taken");
        return;
    }
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return;
    struct pct_top shown = picture(t);
    pct_top_print(out, &shown);
    fprintf(out, "\n%s", shown.width < strlen(keys) ? "f c p rows  q quit" : keys);
    if (!fclose(out))
        pct_screen_draw(text);
    free(text);
}

static void print(struct top *t)
{
    struct pct_top shown = picture(t);
    if (t->request->tsv)
        pct_top_tsv(stdout, &shown);
    else
        pct_top_print(stdout, &shown);
    if (!t->request->once)
        putchar('\n');
    if (fflush(stdout))
        t->end = true;
}

/* CPU time of what is watched, in ns; UINT64_MAX: unknown. Clocks of processors also count while
 * these are idle. */
static uint64_t read_counted_ns(const struct top *t)
{
    return t->request->who.processors ? pct_watch_used_ns(NULL, 0, NULL)
                                      : pct_sampling_counts(&t->sampling).clock_ns;
}

/* Reads the clock and the CPU time at one moment: again if this process had no processor between
 * them. Returns the time. */
static uint64_t read_moment(const struct top *t, uint64_t *counted_out)
{
    enum { CLOSE_NS = 1000000, TRIES = 4 };
    uint64_t before_ns, now_ns = pc_mono_ns();
    for (int i = 0; i < TRIES; i++) {
        before_ns = now_ns;
        *counted_out = read_counted_ns(t);
        now_ns = pc_mono_ns();
        if (now_ns - before_ns < CLOSE_NS)
            break;
    }
    return now_ns;
}

/* Ends the interval at the moment up to which samples are taken from the rings: to look at them may
 * take long. Swaps the sums: the current one is shown next. */
static void turn(struct top *t)
{
    uint64_t counted_ns, now_ns = read_moment(t, &counted_ns);
    pct_sampling_drain(&t->sampling, true);
    uint64_t n_lost = pct_recorder_told(t->sampling.recorder)->n_lost;
    t->elapsed_ns = now_ns - t->begin_ns;
    t->begin_ns = now_ns;
    t->n_lost = n_lost - t->n_lost_before;
    t->n_lost_before = n_lost;
    bool known = counted_ns != UINT64_MAX && t->counted_before_ns <= counted_ns;
    t->counted_ns = known ? counted_ns - t->counted_before_ns : 0;
    t->counted_before_ns = counted_ns;
    t->now = !t->now;
    pct_busiest_clear(&t->sums[t->now]);
    if (t->screen)
        draw(t);
    else
        print(t);
}

/* ---- While it runs --------------------------------------------------------------------------- */

/* Any key redraws the screen, and so does another size of it. */
static void take_key(struct top *t, int key)
{
    static const char keys[] = {
        [PCT_TOP_FUNCTION] = 'f', [PCT_TOP_CONTEXT] = 'c', [PCT_TOP_PROCESS] = 'p'};
    t->end = key == 'q' || key < 0;
    for (size_t i = 0; i < sizeof keys; i++)
        if (key == keys[i])
            t->request->by = (enum pct_top_by)i;
    if (key > 0 && !t->end)
        draw(t);
}

static void wait_for_key(struct top *t, uint64_t ns)
{
    if (t->screen)
        take_key(t, pct_screen_key(ns));
    else
        pc_nap_ns(ns);
}

/* Shows one screen after another until all targets have ended. The first interval begins before
 * samples are taken: to start, what runs is looked at, which may take long. */
static void watch(struct top *t)
{
    uint64_t while_ns = t->request->seconds * 1000000000u;
    t->begin_ns = read_moment(t, &t->counted_before_ns);
    pct_sampling_start(&t->sampling);
    while (!t->end && !pct_interrupted()) {
        uint64_t ns = pct_sampling_drain(&t->sampling, false), now_ns = pc_mono_ns();
        uint64_t until_ns = t->begin_ns + while_ns;
        t->end = !pct_sampling_lives(&t->sampling);
        if (now_ns >= until_ns || t->end) {
            turn(t);
            t->end |= t->request->once;
        } else {
            wait_for_key(t, ns < until_ns - now_ns ? ns : until_ns - now_ns);
        }
    }
    pct_sampling_stop(&t->sampling);
}

static void tell_unnamed(const struct top *t)
{
    size_t n = pct_recorder_unnamed(t->sampling.recorder);
    if (n)
        pct_say(t->sampling.self,
                "functions of %zu file%s have no names: memory is too small to map %s; raise its "
                "limit (ulimit -v)",
                n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
}

/* Opens the screen; a terminal that has none gets one list after the other, without keys. */
static void open_screen(struct top *t)
{
    const char *term = getenv("TERM");
    if (t->request->once || t->request->tsv)
        return;
    t->screen = pct_screen_open();
    if (t->screen)
        draw(t);
    else if (pct_terminal_is_there())
        pct_say(t->sampling.self,
                "this terminal (%s%s) has no screen to be drawn again: lists "
                "follow each other, and Ctrl-C ends them",
                term ? "TERM=" : "without TERM", term ? term : "");
}

static int top(struct top *t)
{
    int status = pct_sampling_open(&t->sampling);
    if (status)
        return status;
    pct_interrupt_catch();
    open_screen(t);
    watch(t);
    if (t->screen)
        pct_screen_close();
    tell_unnamed(t);
    return PCT_DONE;
}

static int run_top(const struct pct_command *self, int argc, char **argv)
{
    struct request r = {.who = {.frequency = PCT_DEFAULT_HZ}, .seconds = 2};
    struct top t = {.sampling = {.self = self, .who = &r.who, .show = show_sample, .show_arg = &t},
                    .request = &r};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &r, &line))
        return line.status;
    r.who.jobs = !pct_sampling_is_of_others(&r.who);
    pct_busiest_init(&t.sums[0]);
    pct_busiest_init(&t.sums[1]);
    int status = top(&t);
    pct_busiest_free(&t.sums[0]);
    pct_busiest_free(&t.sums[1]);
    pct_sampling_close(&t.sampling);
    return status;
}

const struct pct_command pct_top_command = {
    .name = "top",
    .synopsis = "[OPTION]...",
    .summary = "show the functions that run now, of a job, processes or this node",
    .details =
        "Without --pid, --job, --thread or --all-processors it watches the MPI jobs that "
        "run on this node, those of all users for root; if there are none, everything that "
        "runs. Nothing is loaded into what is watched. An inlined function counts for the "
        "function into which the compiler put it: record and report tell them apart. It ends "
        "with what it watches, or with the key q or Ctrl-C.",
    .options = options,
    .meant = "job",
    .take = take_option,
    .main = run_top,
};

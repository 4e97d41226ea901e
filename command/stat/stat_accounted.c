/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a command where no counter may be used: the kernel accounts CPU time, page faults and
 * context switches of each process, and adds them up when the process is waited for.
 *
 * They are of the command's whole life, with the start that is before its exec, and of those of its
 * descendants that were waited for. There are none of a part of a run.
 */
#include "command/stat/stat.h"
#include "view/sentence.h"

#include <string.h>

static double cpu_ns(struct timeval before, struct timeval now)
{
    return (double)(now.tv_sec - before.tv_sec) * 1e9 +
           (double)(now.tv_usec - before.tv_usec) * 1e3;
}

static double used_ns(const struct pct_stat_job *j)
{
    const struct rusage *from = &j->before, *to = &j->after;
    return cpu_ns(from->ru_utime, to->ru_utime) + cpu_ns(from->ru_stime, to->ru_stime);
}

static double minor_faults(const struct pct_stat_job *j)
{
    return (double)(j->after.ru_minflt - j->before.ru_minflt);
}

static double major_faults(const struct pct_stat_job *j)
{
    return (double)(j->after.ru_majflt - j->before.ru_majflt);
}

static double page_faults(const struct pct_stat_job *j)
{
    return minor_faults(j) + major_faults(j);
}

static double context_switches(const struct pct_stat_job *j)
{
    return (double)(j->after.ru_nvcsw - j->before.ru_nvcsw) +
           (double)(j->after.ru_nivcsw - j->before.ru_nivcsw);
}

/* By the first names of events. */
static const struct {
    const char *name;
    double (*of)(const struct pct_stat_job *j);
} known[] = {
    {"task-clock", used_ns},        {"context-switches", context_switches},
    {"page-faults", page_faults},   {"minor-faults", minor_faults},
    {"major-faults", major_faults},
};

/* The index of an event on all sides; PC_ARRAY_LEN(known): of none. */
static size_t find(const struct pct_stat_event *event)
{
    size_t i = 0;
    while (i < PC_ARRAY_LEN(known) &&
           (strchr(event->name, ':') || strcmp(event->first, known[i].name) != 0))
        i++;
    return i;
}

void pct_stat_find_accounted(struct pct_stat_job *j)
{
    const struct pct_stat_request *r = j->request;
    if (r->pids || r->threads || r->processors || r->per || r->interval_ms)
        return;
    for (size_t e = 0; e < j->stat.n; e++) {
        bool has = find(&j->names[e]) < PC_ARRAY_LEN(known);
        j->names[e].accounted = has;
        j->names[e].user_only &= !has;
        j->accounted |= has;
    }
}

void pct_stat_begin_accounted(struct pct_stat_job *j)
{
    getrusage(RUSAGE_CHILDREN, &j->before);
}

void pct_stat_take_accounted(struct pct_stat_job *j)
{
    getrusage(RUSAGE_CHILDREN, &j->after);
}

struct pct_stat_figure pct_stat_accounted(const struct pct_stat_job *j, size_t e)
{
    return (struct pct_stat_figure){
        .known = true, .value = known[find(&j->names[e])].of(j), .share = 1, .differ = -1};
}

struct pct_stat_figure pct_stat_accounted_clock(const struct pct_stat_job *j)
{
    return (struct pct_stat_figure){.known = true, .value = used_ns(j), .share = 1, .differ = -1};
}

void pct_stat_put_accounted(const struct pct_stat_job *j)
{
    struct pct_buf names = {0}, times = {0};
    for (size_t e = 0; e < j->stat.n; e++)
        if (j->names[e].accounted)
            pct_buf_format(&names, "%s%s", names.n ? ", " : "", j->names[e].name);
    if (!j->request->repeat) {
        pct_buf_text(&times, "; CPU time in user mode: ");
        pct_text_estimate(&times, cpu_ns(j->before.ru_utime, j->after.ru_utime), 0, PCT_UNIT_NS);
        pct_buf_text(&times, ", in the kernel: ");
        pct_text_estimate(&times, cpu_ns(j->before.ru_stime, j->after.ru_stime), 0, PCT_UNIT_NS);
    }
    fputs("\n  ", j->out);
    pct_print_sentence(j->out, j->sentence_width, 2,
                       "from the accounting of the kernel instead (getrusage): %s, of the command, "
                       "its start and those of its processes that were waited for%s",
                       names.data, times.data ? times.data : "");
    pct_buf_free(&names);
    pct_buf_free(&times);
}

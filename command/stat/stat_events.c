/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds counters from names. An event that does not count here is left out, and the reason is
 * printed with the figures; an unknown name is refused before anything starts.
 */
#include "command/stat/stat.h"

#include <string.h>

/* Words of a list; a comma between the slashes of a PMU's event does not end it. */
static char *next_word(char **rest)
{
    char *word = *rest, *p = word;
    bool inside = false;
    if (!word)
        return NULL;
    for (; *p && (inside || *p != ','); p++)
        inside ^= *p == '/';
    *rest = *p ? p + 1 : NULL;
    *p = '\0';
    return word;
}

static bool is_clock(const struct pc_counting_event *event)
{
    return event->n_terms == 1 && pc_counting_is_clock(&event->terms[0]);
}

static bool is_named(const struct pct_stat_job *j, const char *name)
{
    size_t i = 0;
    while (i < j->stat.n && strcmp(j->names[i].name, name) != 0)
        i++;
    return i < j->stat.n;
}

static void add(struct pct_stat_job *j, struct pc_counting_event *found, const char *name,
                struct pc_counting_event *event)
{
    struct pc_error why;
    const char *first = pc_counting_first_name(name);
    size_t n = j->stat.n++;
    j->names[n] = (struct pct_stat_event){.name = pct_text("%s", name), .clock = is_clock(event)};
    j->names[n].first = first ? first : j->names[n].name;
    if (pc_counting_try(event, &why))
        j->names[n].why_not = pct_text("%s", why.text);
    for (uint32_t i = 0; i < event->n_terms && !j->names[n].clock; i++)
        j->names[n].user_only |= event->terms[i].user_only != 0;
    found[n] = *event;
}

static int add_list(struct pct_stat_job *j, struct pc_counting_event *found, char *list)
{
    for (char *rest = list, *word; (word = next_word(&rest));) {
        struct pc_counting_event event = {.n_terms = 0};
        if (!*word || is_named(j, word))
            continue;
        if (j->stat.n == PCT_COUNT_MAX_EVENTS)
            return pct_refuse(j->self, "--events: more than %d events", PCT_COUNT_MAX_EVENTS);
        int status = pct_event_named(j->self, "--events", word, &event);
        if (status)
            return status;
        add(j, found, word, &event);
    }
    return j->stat.n ? PCT_DONE : pct_refuse(j->self, "--events: the list is empty");
}

/* Adds the time in which processors are used, which is no event of theirs. */
static void add_used(struct pct_stat_job *j)
{
    char *name = pct_text("cpu-time");
    j->names[j->stat.n++] =
        (struct pct_stat_event){.name = name, .first = name, .clock = true, .used = true};
}

/* Without counters a command runs all the same, and events are named with the reason. Ranks are
 * found by counters, too. */
static void count_nothing(struct pct_stat_job *j, const struct pc_error *error)
{
    j->count = pct_count_nothing();
    j->nothing = true;
    for (size_t e = 0; e < j->stat.n; e++) {
        j->numbers[e] = PCT_COUNT_CLOCK;
        if (!j->names[e].why_not && !j->names[e].used)
            j->names[e].why_not = pct_text("%s", error->text);
    }
    pct_stat_find_accounted(j);
}

int pct_stat_find_events(struct pct_stat_job *j)
{
    /* Default events of a thread; the task-clock of a processor is the elapsed time: in its place
     * is the time in use. */
    static const char usual[] = "task-clock,context-switches,cpu-migrations,page-faults,cycles,"
                                "instructions,branches,branch-misses,cache-references,cache-misses";
    struct pc_counting_event found[PCT_COUNT_MAX_EVENTS], counted[PCT_COUNT_MAX_EVENTS];
    struct pc_error error = {""};
    char *list = pct_text("%s", j->request->events       ? j->request->events
                                : j->request->processors ? strchr(usual, ',') + 1
                                                         : usual);
    j->names = pct_alloc(PCT_COUNT_MAX_EVENTS, sizeof *j->names);
    j->numbers = pct_alloc(PCT_COUNT_MAX_EVENTS, sizeof *j->numbers);
    j->stat.events = j->names;
    if (j->request->processors && !j->request->events)
        add_used(j);
    int status = add_list(j, found, list);
    pct_free(list);
    size_t n = 0;
    for (size_t e = 0; e < j->stat.n && !status; e++) {
        if (j->names[e].why_not || j->names[e].used || !strcmp(j->names[e].name, "task-clock"))
            continue;
        counted[n++] = found[e];
        j->numbers[e] = n;
    }
    if (!status && pct_count_new(counted, n, (uint32_t)j->request->per_group, &j->count, &error)) {
        if (j->request->n_words && (j->request->per != PCT_PER_RANK || j->request->pids))
            count_nothing(j, &error);
        else
            status = (pct_say(j->self, "nothing can be counted: %s", error.text), PCT_DATA);
    }
    j->stat.turns = j->count && pct_count_turns(j->count);
    return status;
}

void pct_stat_free_events(struct pct_stat_job *j)
{
    for (size_t e = 0; e < j->stat.n; e++) {
        pct_free((char *)j->names[e].name);
        pct_free((char *)j->names[e].why_not);
    }
    pct_free(j->names);
    pct_free(j->numbers);
    pct_count_free(j->count);
}

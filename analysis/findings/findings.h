/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Findings: sentences about the losses of a run, their places, and the command that shows more.
 * doc/findings.md has an entry for each rule.
 *
 * Data structure: evidence is gathered once, and values by rank are folded into figures place by
 * place, so that only those of one place are in memory at a time; every rule looks at the evidence
 * and may add findings; findings are sorted by what they would surely save, as a part of the run's
 * core-seconds. Invariant: time that ranks wait for the one that computes longest is counted for
 * that, and not again for the calls in which they wait. Time in which they may have waited for a
 * rank whose collection MPI_Pcontrol had switched off, or that alone reads and writes files, is not
 * counted.
 *
 * Values by rank are most of a large file. So the rules look first at evidence made of statistics,
 * in which every figure that depends on values has its worst case; if no rule finds anything then,
 * no value is read. Invariant: the saving of a rule does not grow with the times that
 * pct_fact_own_ns subtracts, and does not decrease with around_hub_ns, the size of trend, or the
 * distance of first_ns and last_ns.
 *
 * The program is not blamed for the machine: a rule reports only if its saving reaches the
 * threshold even after the time that ranks waited for a processor is subtracted.
 */
#ifndef PCT_FINDINGS_H
#define PCT_FINDINGS_H

#include "analysis/gather.h"
#include "include/pcollect/plugin.h"

#include <string.h>

/* The place of a call, of nodes of the shown tree. */
struct pct_call_place {
    uint32_t op;
    const struct pct_node *innermost; /* the function that makes the call; NULL: not known */
    const struct pct_node *function;  /* the same, or that of a library which `program` called */
    const struct pct_node *program;   /* NULL: the call is the program's own, or no line is known */
    const struct pct_node *caller;    /* of what is named, by another name; NULL: not known */
    bool is_foreign;                  /* `innermost` is of a library */
};

/* Calls that one function makes, of those of a place. */
struct pct_calls_from {
    const char *function; /* NULL: not known, or none */
    double calls;
    /* Path of the library of that function, if it calls a function of another library that makes
     * the calls, and no line of the program is known; else NULL. */
    const char *library;
};

/* One MPI function called in one function of the program, or in one of a library that one line of
 * the program called. */
struct pct_fact {
    uint32_t node; /* node of the shown tree; the first of several in one place */
    bool several;  /* contexts are in this place */
    const char *op;
    uint16_t op_class;
    uint32_t traits;          /* enum pcollect_trait */
    bool is_message;          /* it sends or receives messages, or waits for them alone */
    struct pct_call_place at; /* of the first context */
    const char *key;          /* of the place: as of its contexts */
    const char *place;        /* "MPI_Send in exchange (a.c:30)"; no other place has this text */
    const char *function;     /* that calls it; NULL: not known, or several */
    const char *library;      /* what the program calls that calls it; NULL: its own code does */
    const char *module; /* path of the library that makes the calls; NULL: not known, several */
    const char *caller; /* of what is named; NULL: not known, or several */
    struct pct_calls_from most_from;              /* of all contexts: pct_main_caller */
    struct pct_calls_from inside;                 /* function of `module` that makes most of them */
    struct pct_calls_from around;                 /* as most_from, though it makes all of them */
    double ns, calls, bytes_sent, bytes_received; /* of all threads */
    double main_part;  /* part of the time in MPI that is of main threads */
    size_t n_callers;  /* ranks with time in it; 0: not known */
    double most_calls; /* of a rank; 0: not known */
    double excused_ns; /* part of ns: waiting for the rank that computes longest */
    double paused_ns;  /* at most this part of ns: waiting for ranks in paused phases */
    double files_ns;   /* at most this part of ns: waiting for the rank that is longest in files */
    /* Figures of the time by rank, including callbacks; 0 if it is known for no rank. */
    double around_hub_ns; /* of the ranks that exchange messages with the hub */
    /* Messages: time of a call of the first and of the last rank, the correlation of the time of a
     * call with the number of the rank, and bytes of a call, of ranks that make some. */
    double first_ns, last_ns, trend, least_bytes, most_bytes;
};

/* The calls of one context, which become part of a fact: there may be a million. */
struct pct_context_calls {
    const char *key;      /* of their place: equal for contexts that are one fact */
    const char *function; /* that makes them; NULL: not known */
    uint32_t node;        /* of the shown tree */
    bool is_message;
};

/* The kernel's figures of a rank, from the table `resources`. All 0: not known. */
struct pct_rank_use {
    double user_ns, system_ns, minor_faults, major_faults;
    double memory;     /* most at a time, in bytes; 0: not known */
    double paused_ns;  /* left out by MPI_Pcontrol */
    double on_cpu_ns;  /* part of user_ns and system_ns: of the main thread */
    const char *bound; /* processors, like 0-3,8 */
};

/* A call of MPI in which ranks were when their data ends (pct_open_calls_of_ranks). */
struct pct_ended_in {
    const char *place; /* "MPI_Recv in main (a.c:3)" */
    size_t n;          /* ranks in it */
    int32_t rank;      /* the one that has been in it for longest */
    uint64_t thread;   /* of this rank; 0: the main thread */
    double ns, longest_ns;
};

/* Places of the ranks that did not reach their end. */
struct pct_ends {
    struct pct_ended_in *list; /* the one with most time first */
    size_t n, outside;         /* ranks outside MPI */
    int32_t rank_outside;      /* one of them */
    double others_ns;          /* time in the calls, but for that of the busiest rank */
};

struct pct_evidence {
    const struct pct_data *data;
    bool bounds; /* no value by rank was read */
    struct pct_fact *list;
    size_t n;
    size_t n_ranks;
    bool one_host;      /* all ranks are on one */
    bool makes_types;   /* the program makes datatypes, which MPI may have to pack */
    bool makes_ops;     /* the program makes operations for reductions, of any cost */
    double core_ns;     /* pct_totals_run_ns, over all ranks */
    double *compute_ns; /* by rank */
    double compute_mean_ns;
    double *may_wait_ns;      /* by rank: in MPI, where it may have waited for the busiest one */
    struct pct_rank_use *use; /* by rank */
    const struct pct_rank_times *times;
    struct pct_lead lead; /* of times->busiest */
    double delayed_ns;    /* of all ranks, while they did not wait for the busiest */
    double paused_ns;     /* of the rank with most time that MPI_Pcontrol left out */
    uint64_t *files_ns;   /* by rank: time in functions of files; NULL: not known, or none */
    size_t most_files;    /* index of the rank with most of it */
    const struct pct_partners *partners;
    bool has_hub;      /* the rank with most messages has nearly all, and others have few */
    uint32_t *polling; /* nodes of all contexts with PCT_MAY_POLL */
    size_t n_polling;
    struct pct_ends ends;
    struct pct_pool *pool;
};

struct pct_finding {
    const char *rule;
    double saves; /* part of the run, 0 to 1; 0: unknown, or none */
    double sure;  /* part of `saves` that is certainly not waiting for processors */
    double most;  /* upper bound of `saves`: orders findings that surely save the same */
    const char *text;
    const char *more; /* arguments of the command that shows more */
    uint64_t context; /* that it is about; 0: none, or many */
    int32_t rank;     /* that it is about; -1: none, or many */
};

/* Pointers to more about a finding: a table of the report, and what to look at in it. */
struct pct_more {
    const char *table;
    uint64_t context; /* as in struct pct_finding */
    int32_t rank;
};

struct pct_findings {
    struct pct_finding *list;
    size_t n, room;
    struct pct_pool *pool;
};

struct pct_rule {
    const char *name;
    double threshold; /* part of the run that is worth a sentence */
    const char *doc;
    void (*look)(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                 struct pct_findings *out);
    /* Its saving contains no waiting for processors, or is not what it is about. */
    bool knows_delay;
};

/* The rows of one file of rules. */
struct pct_rules {
    const struct pct_rule *rows;
    size_t n;
};
extern const struct pct_rules pct_call_rules, pct_object_rules, pct_rank_rules, pct_thread_rules,
    pct_machine_rules, pct_counter_rules, pct_end_rules, pct_job_rules;

/* The i-th rule of all; NULL: there are no more. */
enum { PCT_MAX_RULES = 32 };
const struct pct_rule *pct_rule_at(size_t i);

/* Makes findings. thresholds: by rule; below 0: the rule's own; NULL: all rules' own. */
struct pct_findings *pct_findings_make(const struct pct_data *d, const double *thresholds);
/* Makes findings from bounds, or from values whatever bounds say; for tests. */
struct pct_findings *pct_findings_look(const struct pct_data *d, const double *thresholds,
                                       bool bounds);
/* NULL is allowed. */
void pct_findings_free(struct pct_findings *f);

enum { PCT_FINDINGS_SHOWN = 5 };

/* ---- run_figures.c ---- */

/* With `bounds` it is made from statistics alone, with the worst values that these allow. Texts go
 * into the pool. */
void pct_evidence_gather(struct pct_evidence *f, const struct pct_data *d, struct pct_pool *pool,
                         bool bounds);
void pct_evidence_forget(struct pct_evidence *f);

/* ---- call_place.c ---- */

/* Finds the place of a call, a node of the shown tree. */
struct pct_call_place pct_call_place_find(const struct pct_tree *t, uint32_t node);

/* Appends "MPI_Send in exchange (a.c:30)", or "MPI_Send in VecSum (libvec.so) called by step
 * (a.c:30)", with this name for `function`, if it has one. */
void pct_call_place_put(struct pct_buf *b, const struct pct_tree *t,
                        const struct pct_call_place *place, const char *name);

/* The library that makes a call: its path, and its innermost function with a name; and the path of
 * another library whose function called it, where no line of the program is known. Each is NULL if
 * it is not known. */
struct pct_call_maker {
    const char *module, *function, *around;
};
struct pct_call_maker pct_call_maker_find(const struct pct_tree *t, uint32_t node,
                                          const struct pct_call_place *place);

static inline bool pct_is_same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* True if one function of the program makes both calls, or if one line of the program called one
 * function of a library that does. */
bool pct_call_places_share_code(const struct pct_call_place *a, const struct pct_call_place *b);

/* Finds the caller that makes more than half of the calls of the contexts in the list: the only one
 * that can be left when each call is set off against one of another. It says nothing new if it
 * makes all calls and the user can find the place by its line. */
struct pct_calls_from pct_main_caller(const struct pct_calls_from *list, size_t n, bool has_line);

/* Appends " (88 % of the calls from solve)", if there is such a caller. */
void pct_main_caller_put(struct pct_buf *b, const struct pct_calls_from *most, double all);

/* Appends the place of a call, a node of the profile, which may have no record; of a frame without
 * the name of the call. */
void pct_finding_put_call(struct pct_buf *b, const struct pct_data *d, uint32_t node);
/* Interned text of pct_finding_put_call. */
const char *pct_finding_place(const struct pct_evidence *f, uint32_t node);

/* ---- fact_kind.c ---- */

/* Sets `is_message` of each of n contexts. */
void pct_evidence_find_messages(const struct pct_evidence *f, struct pct_context_calls *list,
                                size_t n);

/* Traits of functions by which a program may ask again and again for something that it waits for:
 * tests and probes, and MPI_Win_sync, after which it reads what others have written. */
#define PCT_MAY_POLL (PCOLLECT_TRAIT_TESTS | PCOLLECT_TRAIT_SEES)
/* True for such a function, by its name. */
bool pct_finding_may_poll(const char *op);
/* More calls of these per rank are many. */
#define PCT_MANY_TESTS 1000

/* ---- polling_loop.c ---- */

/* Tests and probes of one function, which makes them itself or calls functions that do. */
struct pct_polling_loop {
    const struct pct_fact *most; /* the place with most time */
    const struct pct_frame
        *caller;      /* the function, if that is not the one of this place; or NULL */
    size_t n;         /* places */
    double ns, calls; /* of all places: pct_fact_own_ns */
    double code_ns;   /* CPU time of the code of these functions, if it is little for each call;
                         else 0, or if it is not known */
};
/* All loops with many calls. The code of those that cannot reach the threshold is left out. Freed
 * by the caller. */
struct pct_polling_loop *pct_finding_polling_loops(const struct pct_evidence *f, double threshold,
                                                   size_t *n_out);

/* ---- rules_ends.c ---- */

void pct_ends_gather(struct pct_evidence *f);

/* ---- rules_jobs.c ---- */

/* The processes of other jobs that this one spawned, was spawned by or met: "processes that this
 * job spawned". They have profiles of their own. NULL: there are none. */
const char *pct_finding_other_jobs(const struct pct_evidence *f);

/* ---- for the rules ---- */

/* Appends "solve (a.c:30)", long names shortened; file may be NULL. */
void pct_finding_put_function(struct pct_buf *b, const char *function, const char *file,
                              uint32_t line);

/* The place with most page faults: a sentence with a leading blank, or "". If nothing is known, the
 * sentence says how to find out. */
const char *pct_finding_page_faults(const struct pct_evidence *f);

/* The place with most time in system calls, and what to do, for a finding about this time:
 * sentences with a leading blank. The place is named only if samples found half of the time. */
const char *pct_finding_system_calls(const struct pct_evidence *f, double ns);

/* The place with most samples in system calls that may block: a sentence with a leading blank, or
 * "". Samples count CPU time, so they are few. */
const char *pct_finding_blocking_calls(const struct pct_evidence *f);

/* CPU time outside MPI in functions that poll for locks, by their names, of all threads. */
struct pct_spinning {
    double ns, samples, variance;
    const char *place; /* "pthread_spin_lock called by step (a.c:30)" with most; NULL: not known */
};
struct pct_spinning pct_finding_spinning(const struct pct_evidence *f);

/* The system call for which this function of the C library is only a wrapper; NULL: none. */
const char *pct_finding_system_call(const char *function);

/* Place where the busiest rank has more CPU time outside MPI than the others, by samples. */
struct pct_busy_place {
    struct pct_frame function; /* the innermost function of the program with most of it */
    bool most;                 /* it has half of the lead or more */
    const char *call;          /* the system call with most of it; NULL: it is computation */
    bool may_call;             /* more than a tenth of it may be in system calls */
    double ns;                 /* inclusive time of the busiest rank in that function */
};
struct pct_busy_place pct_finding_busy_place(const struct pct_evidence *f);

/* The place with most calls of a rank by which it may poll for others, if they are many: a sentence
 * with a leading blank, or "". Time between such calls is none in MPI. */
const char *pct_finding_polling(const struct pct_evidence *f, size_t rank);

/* Reason why the busiest rank computes longer than the mean by the factor `longer`: a sentence with
 * a leading blank, or "". */
const char *pct_finding_why_longer(const struct pct_evidence *f, double longer);

/* Means over all ranks except the busiest; 0 if there is no other. */
struct pct_rank_use pct_finding_use_of_others(const struct pct_evidence *f);

/* Time of the place without excused time and without time that may be due to paused ranks or to
 * files of another rank. Of calls in other threads only the part counts that main threads have of
 * all time in MPI: their waits need not hold up the rank. */
double pct_fact_own_ns(const struct pct_fact *fact);

/* Part of it that is certainly waiting for others that come late: what blocking calls take longer
 * than in a slow network. 0 for calls that other rules are about. */
double pct_fact_late_ns(const struct pct_evidence *f, const struct pct_fact *fact);

/* True if this saving is worth a sentence, even without all waiting for processors unless the rule
 * has left it out already. */
bool pct_finding_counts(const struct pct_evidence *f, const struct pct_rule *rule, double threshold,
                        double saves_ns);

/* Cost of something that is counted; times_many is the count relative to the rule's limit. If so
 * much of the time is waiting for processors that the cost is uncertain, but the count is far above
 * the limit, the cost is reported as a bound: most_ns, in which all above shown_ns may be waits for
 * ranks that are late, or shown_ns if that is certain. */
struct pct_call_cost {
    const char *text; /* "12 % of the run"; NULL: the rule has nothing to say */
    double saves_ns;  /* 0: unknown */
    double most_ns;   /* upper bound of it */
};
struct pct_call_cost pct_finding_cost(const struct pct_evidence *f, const struct pct_rule *rule,
                                      double threshold, double saves_ns, double shown_ns,
                                      double most_ns, double times_many);

/* Core-seconds of the run if no rank waited for a processor: for each rank at least the time of the
 * busiest. */
double pct_finding_own_core_ns(const struct pct_evidence *f);

/* Time in percent of the run. */
static inline double pct_finding_percent(const struct pct_evidence *f, double ns)
{
    return 100 * ns / f->core_ns;
}

/* "12 % of the run", or "12 % of the run after MPI_Init" if that comes late. Interned. */
const char *pct_finding_share(const struct pct_evidence *f, double ns);
/* Appears in sentences as pct_finding_share, if less than a tenth of the saving may be waiting for
 * processors; else as "3 % to 12 % of the run (a part is waiting for a processor)". */
const char *pct_finding_loss(const struct pct_evidence *f, const struct pct_rule *rule, double ns);
/* " outside MPI", or "" of a program that does not begin MPI. */
const char *pct_finding_outside(const struct pct_evidence *f);

/* The rank with this index in the profile. */
static inline int32_t pct_finding_rank(const struct pct_evidence *f, size_t index)
{
    return f->data->profile->ranks[index].rank;
}

/* A count in a sentence: "12,345". Interned. */
const char *pct_finding_number(const struct pct_evidence *f, double n);

/* More calls of a rank than this are many. */
#define PCT_MANY_CALLS 200.0

/* Calls of the place on a rank, on average. */
double pct_fact_rank_calls(const struct pct_evidence *f, const struct pct_fact *fact);
/* "40,000 messages per rank", or "80,000 messages per rank (on 2 of 4 ranks)" if the others make no
 * such call. "up to 80,000 messages per rank" if ranks differ much. Interned. */
const char *pct_fact_how_many(const struct pct_evidence *f, const struct pct_fact *fact,
                              const char *what);
/* Size of the data that a call moves on one rank, the mean of all calls. Each rank either sends or
 * receives in a broadcast (doc/bytes.md). */
double pct_fact_call_bytes(const struct pct_fact *fact);
/* "12 bytes", "1 byte", "less than 1 byte". Interned. */
const char *pct_finding_bytes(const struct pct_evidence *f, double bytes);
/* Advice about the calls of a place: `own` if the user's code makes them. Of those in a library it
 * is not known how often she calls it. Interned. */
const char *pct_fact_cure(const struct pct_evidence *f, const struct pct_fact *fact,
                          const char *own);

/* Options that show more: the table `contexts` for a finding about one place, with the context if
 * that is the only one there; this table for a finding about a rank. */
struct pct_more pct_more_call(const struct pct_evidence *f, const struct pct_fact *fact);
struct pct_more pct_more_rank(const char *table, int32_t rank);
struct pct_more pct_more_table(const char *table);

/* Adds a finding. */
void pct_finding_say(struct pct_findings *out, const struct pct_evidence *f,
                     const struct pct_rule *rule, double saves_ns, struct pct_more more,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds a finding of this cost. */
void pct_finding_say_cost(struct pct_findings *out, const struct pct_evidence *f,
                          const struct pct_rule *rule, struct pct_call_cost cost,
                          struct pct_more more, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Adds it if it saves `threshold` of the run or more. */
void pct_finding_add(struct pct_findings *out, const struct pct_evidence *f,
                     const struct pct_rule *rule, double threshold, double saves_ns,
                     struct pct_more more, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

#endif

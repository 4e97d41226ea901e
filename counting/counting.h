/* SPDX-License-Identifier: BSD-3-Clause
 *
 * counting: perf events of threads, in groups of which one counts at a time. Depends on base and
 * the kernel only; no MPI, no preload. doc/internals/counting.md gives the reasons for the design.
 *
 * A counting (struct pc_counting) defines what is counted: events, sorted into groups that fit the
 * processor's counters. It has one owner, who may change it, and many readers. Each change gives it
 * a new id. A meter (struct pc_counting_meter) belongs to one thread and holds what was counted
 * there: its groups are opened once and switched by ioctl. A meter whose id is the counting's is
 * not opened again.
 *
 * The first counter of each group is its anchor, the same in all: cycles where they open, else the
 * thread's CPU time in ns.
 */
#ifndef PC_COUNTING_H
#define PC_COUNTING_H

#include "base/base.h"

enum {
    PC_COUNTING_MAX_EVENTS = 32,
    PC_COUNTING_MAX_GROUPS = 32,
    PC_COUNTING_MAX_TERMS = 4,
    PC_COUNTING_MAX_MEMBERS = 16, /* counters of a group, including its anchor */
    PC_COUNTING_NO_GROUP = 0xffff
};

/* One counter as perf_event_open takes it. */
struct pc_counting_term {
    uint32_t type; /* enum perf_type_id */
    int32_t sign;  /* 1, -1: how it adds to its event */
    uint64_t config, config1, config2;
    uint32_t user_only;   /* 1: the kernel's work for the thread is not counted */
    uint32_t kernel_only; /* 1: only the kernel's work for the thread is counted */
    uint32_t one_side;    /* 1: the PMU counts user and kernel together; set by pc_counting_try */
};

/* An event is a counter, or the sum of a few with signs, all of which are in one group. */
struct pc_counting_event {
    uint32_t n_terms;
    uint32_t reserved;
    struct pc_counting_term terms[PC_COUNTING_MAX_TERMS];
};

/* Events and options of a counting. */
struct pc_counting_what {
    const struct pc_counting_event *events;
    uint32_t n_events;
    /* Most counters in a group beside its anchor; 0: as many as the processor takes. An event of
     * several terms has a group of its own if it needs more. */
    uint32_t per_group;
    /* 1: a group that is switched on keeps its counters, whatever else the thread counts. */
    uint32_t pinned;
    /* 1: groups have no anchor, and the counting is only for views. */
    uint32_t no_anchor;
};

/* Counts of a meter's group since the meter was opened. */
struct pc_counting_values {
    uint32_t group;
    uint32_t reserved;
    uint64_t held;       /* bit e: event e is in this group; other values are not known, not 0 */
    uint64_t anchor;     /* cycles or ns; 0 without one */
    uint64_t enabled_ns; /* time that the group was switched on */
    uint64_t running_ns; /* part of it that was counted: less if others use the counters */
    uint64_t value[PC_COUNTING_MAX_EVENTS];
};

/* Totals over all threads of a counting, running and ended. */
struct pc_counting_totals {
    uint64_t n_live, n_ended; /* meters that have a group open, or had one */
    uint64_t n_unread;        /* of both: the program had closed descriptors, counts are missing */
    uint64_t held;            /* bit e: counted by some meter at some time */
    uint64_t anchor[PC_COUNTING_MAX_GROUPS];
    uint64_t running_ns[PC_COUNTING_MAX_GROUPS];
    uint64_t missed_ns[PC_COUNTING_MAX_GROUPS]; /* not counted while switched on: others had the
                                                 * counters */
    uint64_t value[PC_COUNTING_MAX_EVENTS];
};

struct pc_counting;
struct pc_counting_meter;

/* ---- One event ----------------------------------------------------------------------------- */

/* Checks that the event opens and counts in the calling thread. Terms that may not count the
 * kernel's side are tried without it, and changed to user_only. PC_EIO: it cannot be counted; the
 * text gives the reason without the event's name. PC_EARG: not an event. MT-safe. */
int pc_counting_try(struct pc_counting_event *event, struct pc_error *error);

/* Checks that this process can use the processor's counters: 0, or PC_EIO with a text that says
 * what is missing and why (virtual machine, paranoid level, seccomp, kernel). MT-safe. */
int pc_counting_hardware(struct pc_error *error);

/* The level kernel.perf_event_paranoid. */
struct pc_counting_paranoid {
    bool known;
    int level;     /* 0 if it is not known */
    char text[24]; /* "is 2", or "cannot be read" */
};

/* Reads it. MT-safe. */
struct pc_counting_paranoid pc_counting_paranoid(void);

/* The event for a kernel name: a generic one as in `perf list` (page-faults, cycles:u,
 * L1-dcache-loads), a raw code (r1a8), or PMU/TERM=VALUE,.../ as sysfs describes the machine's
 * PMUs. PC_ENOENT: it is none of them; PC_EARG: it has, but it is wrong, and the text gives the
 * reason. MT-safe. */
int pc_counting_named(const char *name, struct pc_counting_event *out, struct pc_error *error);
/* True for the two clocks of the kernel, task-clock and cpu-clock, which count ns. MT-safe. */
bool pc_counting_is_clock(const struct pc_counting_term *term);
/* PC_EARG: one side of such a clock is wanted, but Linux counts both (seen in 6.1). MT-safe. */
int pc_counting_check_sides(const struct pc_counting_term *term, struct pc_error *error);
/* The counter for a raw code, r and up to 16 hexadecimal digits: the first n characters of `name`.
 * False: they are no such code. MT-safe. */
bool pc_counting_raw(const char *name, size_t n, struct pc_counting_term *out);
/* True for a name that is none of these, but has the form of a tracepoint, GROUP:NAME, as in `perf
 * list`. Tracepoints are not counted. MT-safe. */
bool pc_counting_is_tracepoint(const char *name);
/* The generic name of an event that is given by its second one: page-faults for faults and
 * faults:u. NULL: it is no second name. MT-safe. */
const char *pc_counting_first_name(const char *name);
/* The i-th generic name, without those of caches; NULL: there are no more. MT-safe. */
const char *pc_counting_kernel_name(size_t i);

/* ---- Countings: one owner, who is the only one to call set and free ------------------------ */

/* An empty counting, which counts only the anchor. PC_ENOMEM, PC_EIO: nothing can be counted; the
 * text gives the reason. MT-safe. */
int pc_counting_create(struct pc_counting **out, struct pc_error *error);

/* Counts these events from each meter's next start on; the array is copied. Groups are found by
 * opening them in the calling thread: in the order of the events, each into the first group that
 * still takes it. PC_EIO: an event cannot be opened, the text has its number; the counting is
 * unchanged. */
int pc_counting_set(struct pc_counting *c, const struct pc_counting_what *what,
                    struct pc_error *error);

/* Frees a counting. All its meters must have been stopped, and no other thread may use it. */
void pc_counting_free(struct pc_counting *c);

/* The id, which grows with each change of any counting. MT-safe, AS-safe. */
uint64_t pc_counting_id(const struct pc_counting *c);
/* Number of groups, at least 1. MT-safe. */
uint32_t pc_counting_n_groups(struct pc_counting *c);
/* Bit e: event e is in the group. MT-safe. */
uint64_t pc_counting_group_events(struct pc_counting *c, uint32_t group);

/* ---- Meters: each belongs to the thread that made it ----------------------------------------- */

/* The calling thread counts `group` of this counting from now on, and no other. *meter NULL: a
 * meter is made, or one that has been stopped is taken again. Opens descriptors only if the
 * counting's id is not the meter's, or none could be opened before. base/descriptor.c says where
 * descriptors are put, and how many all threads together may have. If that is too few for all
 * groups, a thread opens some of them, its neighbours others; if `group` is not among them, the
 * next one that is open is used. PC_ENOMEM; PC_EIO: no group could be opened. */
int pc_counting_start(struct pc_counting *c, struct pc_counting_meter **meter, uint32_t group,
                      struct pc_error *error);

/* Switches a meter that was started; opens nothing, for signal handlers. PC_ENOENT: the meter does
 * not have this group, and continues as before. PC_EIO: its descriptors were closed by the program.
 * AS-safe, in the meter's thread; keeps errno. */
int pc_counting_switch(struct pc_counting_meter *meter, uint32_t group);

/* Stops counting until the next start or switch. AS-safe, in the meter's thread; keeps errno. */
void pc_counting_pause(struct pc_counting_meter *meter);

/* Reads the group that counts, or that counted when the meter was paused, with one read(2). PC_EIO:
 * it cannot be read; *out is then as before. AS-safe, in the meter's thread; keeps errno. */
int pc_counting_get(struct pc_counting_meter *meter, struct pc_counting_values *out);

/* Does pc_counting_get in any thread, for a meter that counts for this counting. PC_EIO also if it
 * has been stopped. MT-safe. */
int pc_counting_get_of(struct pc_counting *c, struct pc_counting_meter *meter,
                       struct pc_counting_values *out);

/* Bit g: the meter has group g open. AS-safe. */
uint32_t pc_counting_groups(const struct pc_counting_meter *meter);

/* Sums, over all threads, what this counting has counted since its last change. MT-safe. */
void pc_counting_dump(struct pc_counting *c, struct pc_counting_totals *out);

/* Adds what the meter has counted to the ended ones of its counting, closes its descriptors and
 * keeps its memory for the next thread. Called in the meter's thread, or when that has ended. */
void pc_counting_stop(struct pc_counting_meter *meter);

/* Called in a forked child: closes the descriptors of the parent's meters, those of all threads. No
 * other function may be called there. AS-safe. */
void pc_counting_forget(void);

/* ---- Views: the events of a counting, counted for other threads ------------------------------ */

/* A view has the groups of its counting open for one target, from outside: the target is not
 * stopped and has nothing loaded. */

struct pc_counting_viewee {
    int tid;        /* thread, with all threads and processes that it starts; -1: all threads */
    int cpu;        /* only on this processor; -1: on all */
    bool from_exec; /* group 0 starts to count at the next exec of the thread */
};

struct pc_counting_view;

/* Opens the groups that the counting has now, switched off. PC_ENOENT: there is no such thread;
 * PC_EIO: refused, with the reason. The view does not need the counting afterwards. MT-safe. */
int pc_counting_view_open(struct pc_counting *c, const struct pc_counting_viewee *who,
                          struct pc_counting_view **out, struct pc_error *error);
/* Makes only this group count from now on; PC_COUNTING_NO_GROUP: none. PC_EIO: the program has
 * closed a descriptor of it. */
int pc_counting_view_switch(struct pc_counting_view *v, uint32_t group);
/* Counts of a group for the viewee since the view was opened, including ended threads. PC_EIO: it
 * cannot be read. */
int pc_counting_view_get(const struct pc_counting_view *v, uint32_t group,
                         struct pc_counting_values *out);
void pc_counting_view_close(struct pc_counting_view *v);

#endif

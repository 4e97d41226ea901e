/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the files of counting/.
 *
 * A program is what a counting counts at one time: it is filled, then published, and never changed.
 * A meter keeps the program that its descriptors were opened for.
 */
#ifndef PC_COUNTING_PRIVATE_H
#define PC_COUNTING_PRIVATE_H

#include "counting/counting.h"

#include <stdatomic.h>

struct pc_counting_group {
    uint64_t events; /* bit e */
    uint32_t n_members;
    uint32_t pinned; /* see struct pc_counting_what */
    struct {
        struct pc_counting_term term;
        uint32_t event; /* index of the event; none for the anchor, which is member 0 */
    } members[PC_COUNTING_MAX_MEMBERS];
};

struct pc_counting_program {
    uint64_t id;
    _Atomic uint32_t n_users; /* countings and meters */
    uint32_t n_groups, n_events;
    uint32_t n_anchors; /* of each group: 1, or 0 */
    uint64_t n_bytes;
    struct pc_counting_term anchor;
    struct pc_counting_group groups[]; /* PC_COUNTING_MAX_GROUPS */
};

struct pc_counting {
    struct pc_counting_program *program; /* changed by the owner, under the lock */
    _Atomic uint64_t id;
    struct pc_counting_totals ended;
};

/* A group as it is open in one thread. */
struct pc_counting_open {
    uint32_t n; /* descriptors, 0: not open */
    int fds[PC_COUNTING_MAX_MEMBERS];
    /* Ids of the perf events: the program may close a descriptor and reuse its number. */
    uint64_t ids[PC_COUNTING_MAX_MEMBERS];
    /* Values that are already in the totals. */
    uint64_t noted[PC_COUNTING_MAX_MEMBERS], noted_ns, noted_missed_ns;
};

struct pc_counting_meter {
    struct pc_counting *counting;        /* NULL: stopped */
    struct pc_counting_program *program; /* NULL: stopped, or no group of it could be opened */
    uint32_t group;                      /* group that counts, or counted last */
    bool running;
    uint32_t groups;                           /* bit g: open */
    struct pc_counting_meter *next, *previous; /* list of running ones; next: or of stopped ones */
    struct pc_counting_open open[PC_COUNTING_MAX_GROUPS];
};

/* Layout of what read(2) gives for a group. */
struct pc_counting_reading {
    uint64_t n, enabled_ns, running_ns;
    uint64_t value[PC_COUNTING_MAX_MEMBERS];
};

/* The software event cgroup-switches, which the kernel's header names since Linux 5.13. */
enum { PC_COUNTING_CGROUP_SWITCHES = 11 };

/* ---- open.c ---- */

/* Fills in the attributes of a counter for perf_event_open that do not depend on the target. */
struct perf_event_attr;
void pc_counting_attributes(const struct pc_counting_term *term, struct perf_event_attr *out);

/* Explains an errno of perf_event_open. */
int pc_counting_explain(int error_number, struct pc_error *error);
/* Says what the paranoid level allows, and the highest level at which the rest is allowed. */
int pc_counting_refused(const char *allowed, int level, struct pc_error *error);

/* Opens the group in the calling thread, switched off; closes all on failure (a negative errno). */
int pc_counting_open_group(const struct pc_counting_group *group, struct pc_counting_open *open);
void pc_counting_close_group(struct pc_counting_open *open);

/* The anchor of this process; its term is in *out. PC_EIO: none opens. */
int pc_counting_find_anchor(struct pc_counting_term *out, struct pc_error *error);

/* Sorts events into groups of the program, whose anchor is in groups[0].members[0]. */
int pc_counting_fit(struct pc_counting_program *program, const struct pc_counting_what *what,
                    struct pc_error *error);

/* Takes descriptors from the number that this process may use for counting, and gives them back. */
bool pc_counting_take(uint32_t n);
void pc_counting_give(uint32_t n);
uint32_t pc_counting_left(void);

/* ---- counting.c, meter.c ---- */

void pc_counting_release(struct pc_counting_program *program);
void pc_counting_lock(void);
void pc_counting_unlock(void);

/* ---- meter_async.c ---- */

/* True if the descriptor is that of the event with this id. AS-safe. */
bool pc_counting_is_event(int fd, uint64_t id);

/* True if the group's member is still the event that was opened. AS-safe. */
bool pc_counting_is_ours(const struct pc_counting_open *open, uint32_t member);

/* Reads the group, if its leader is still the event that was opened. AS-safe. */
bool pc_counting_read(const struct pc_counting_open *open, struct pc_counting_reading *out);

#endif

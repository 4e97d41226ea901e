/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One run that a test makes by hand, for tests of findings: its ranks, calls and tables. All
 * functions add to `m`.
 */
#ifndef PCT_MADE_RUN_H
#define PCT_MADE_RUN_H

#include "sample.h"

#include "analysis/findings/findings.h"

enum { MAX_DEPTH = 4, MAX_CELLS = 1024, MAX_TABLES = 6, MAX_STRINGS = 16 };
#define ms 1e6

/* A run under construction. */
struct made {
    struct sample sample;
    uint64_t random;
    unsigned n, late; /* number of ranks; the rank that is late */
    uint32_t caller;  /* node of the function with the fault */
    char function[32], file[32];
    struct pct_frame frames[MAX_DEPTH + 1], sampled_at[2], library[5];
    uint32_t frame_modules[MAX_DEPTH + 1];
    double compute_ms[SAMPLE_RANKS], mpi_ms[SAMPLE_RANKS], delayed_ms[SAMPLE_RANKS];
    double user_ms[SAMPLE_RANKS], system_ms[SAMPLE_RANKS], faults[SAMPLE_RANKS];
    double blocked_ms[SAMPLE_RANKS], paused_ms[SAMPLE_RANKS];
    double others_ms[SAMPLE_RANKS];  /* part of user_ms and system_ms: not of the main thread */
    double memory_pages;             /* of each rank, of 4 KiB; 0: not known */
    const char *bound[SAMPLE_RANKS]; /* processors; NULL: as all others */
    bool shares;                     /* more ranks than processors */
    bool killed;                     /* nothing is known of its delays but by samples */
    uint32_t last_op;
    struct pc_profile_table tables[MAX_TABLES];
    struct pc_profile_column columns[MAX_TABLES][12];
    uint64_t cells[MAX_TABLES][MAX_CELLS];
    struct pc_profile_table *collectives;
    char *strings[MAX_STRINGS];
};

/* Offsets of instructions that end_run names: in the program, and in libraries. */
enum {
    IN_FUNCTION = 0x100000,
    ELSEWHERE = 0x200000,
    COPYING = 0x100,
    WRITING = 0x200,
    SHRINKING = 0x300,
    IN_VDSO = 0x400, /* without a name */
    READING_CLOCK = 0x500,
    RENAMING = 0x600
};

extern struct made m;

double draw(double low, double high);
unsigned draw_int(unsigned low, unsigned high);
void begin_run(unsigned seed, bool sampled);
/* Begins a run of n ranks, in a job of as many. */
void begin_ranks(unsigned n);
/* Adds a call of the function `caller`. ms_of has the time of each rank in ms; below 0: the rank
 * makes no such call. Each call sends and receives `bytes`; the late rank is the root of a
 * broadcast. */
void call(const char *name, uint16_t op_class, double calls, double bytes, const double *ms_of);
void call_all(const char *name, uint16_t op_class, double calls, double bytes, double each);
void wait_for_all(void);
struct pc_profile_table *add_table(const char *name, uint32_t n_keys, const char *const *columns,
                                   const uint16_t *types);
/* The table of calls that have not ended: rank, thread, call and time. */
struct pc_profile_table *add_open_calls(void);
void add_cells(struct pc_profile_table *t, const uint64_t *cells);
/* The cell of a text. */
uint64_t add_string(const char *text);
/* Adds a row to the table `collectives`. `call` adds one for each collective operation: on the
 * communicator 1, with the late rank as root of those that gather or scatter. Each takes `ns`. */
void add_collective(const char *name, int64_t root, uint64_t domain, double ns);
/* The table of messages between ranks: source, destination, their number, and the same received. */
struct pc_profile_table *add_pairs(void);
/* In the order of source and destination. */
void add_pair(struct pc_profile_table *t, unsigned source, unsigned destination, uint64_t messages);
/* The late rank sends so many messages to each of the others. */
void add_star(uint64_t messages);
/* Each rank sends messages to the next one. */
void add_line(void);
/* Adds the tables of samples (rank, thread, period, compute_time, compute_squares) and of threads
 * (rank, thread, kind, in_runtime, delayed), without rows. */
void add_thread_tables(struct pc_profile_table **sampling, struct pc_profile_table **records);
/* Adds the table of samples of ranks that were sampled, by which those from MPI_Init on stand for
 * that part of the time that their rank computes. */
void add_samples_from_init(double part);
/* Three threads in each rank, all of which poll for each other for that part of the time that their
 * rank computes. The main thread waited for no processor, the others for so long. */
void add_thread_waits(double waits, double delayed_ms);
/* The table of windows, and n windows of 10,000 ns and instructions each, with x events each. */
struct pc_profile_table *add_readings_table(void);
void add_readings(struct pc_profile_table *t, uint32_t node, uint64_t event, uint64_t n,
                  uint64_t x);
void add_resources(void);
/* Plants a million tests a rank, in which the library takes 300 ms by samples, or 5. */
void plant_recording(bool fault);
/* Adds the table `series` of two ranks that are in MPI all the time: bins of 2^24 ns, up to a
 * quarter of the sixth, and from there on twice as wide ones. */
void add_course(void);
/* The ranks compute as long as before, and lose a part of the time to other programs. */
void load_machine(void);
/* Findings of the run that was made; its data is freed by the caller. */
struct pct_data *end_run(void);
/* Ends the run. Returns the last sentence of the rule about it, "" if there is none: valid until
 * the next call. */
const char *sentence(const char *rule);
/* Writes the run that was ended. Calls must have been added in the order of their names, and no
 * instruction. Returns 0, or 1 if that fails, with a message. */
int write_run(const char *path);

#endif

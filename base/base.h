/* SPDX-License-Identifier: BSD-3-Clause
 *
 * base: error codes and texts, base names, descriptors, mapped memory, clock, hash, a log for
 * handlers too, files of /proc. No policy; depends on libc only.
 */
#ifndef PC_BASE_H
#define PC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

#define PC_LIKELY(x) __builtin_expect(!!(x), 1)
#define PC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PC_EXPORT __attribute__((visibility("default")))
/* Hidden visibility for declared data: -fvisibility=hidden does not cover declarations, which would
 * cost an indirection. */
#define PC_HIDDEN __attribute__((visibility("hidden")))
#define PC_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Functions return 0 or one of these; errno belongs to the application. */
enum pc_err {
    PC_OK = 0,
    PC_ENOMEM = -1,   /* no memory, or a bounded store is full */
    PC_EIO = -2,      /* the system refused; the message names the reason */
    PC_EFORMAT = -3,  /* the data is damaged or not of this kind */
    PC_EVERSION = -4, /* written by a newer version */
    PC_EARG = -5,     /* the caller passed a wrong argument */
    PC_ENOENT = -6,   /* it does not exist */
    PC_EMISMATCH = -7 /* two inputs do not belong together */
};

/* One line for an enum pc_err. AS-safe. */
const char *pc_err_text(int err);

/* ---- Paths --------------------------------------------------------------------------------- */

/* The part behind the last slash; the whole path if that part is empty. AS-safe. */
static inline const char *pc_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- Orders -------------------------------------------------------------------------------- */

/* Less than 0, 0, or more, for qsort. AS-safe. */
static inline int pc_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Order of elements that are pointers to texts, for qsort. AS-safe. */
static inline int pc_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- Descriptors (descriptor.c) ------------------------------------------------------------ */

/* Number of descriptors that the library may hold at a time for one purpose: 1/`part` of those that
 * the program's soft limit allows above 256, or more if that takes none from the program.
 * MT-safe. */
uint32_t pc_descriptors_most(unsigned part);
/* Moves a descriptor out of the program's way, close-on-exec; the old one is closed. -1 with errno
 * if no number is free for it, or if fd is -1. MT-safe. */
int pc_descriptor_away(int fd);

/* ---- Files (files_async.c) ----------------------------------------------------------------- */

/* Like openat, read, write and close, but no cancellation points. Code that runs in threads of a
 * program calls these. They return -1 with errno. AS-safe, MT-safe. */

/* Opens a file close-on-exec; one that it makes is for its owner alone. `folder` is a descriptor or
 * AT_FDCWD. */
int pc_file_open(int folder, const char *path, int flags);
int pc_file_close(int fd);
ssize_t pc_file_read(int fd, void *out, size_t n);
/* Writes, and takes back SIGPIPE and SIGXFSZ, which would end the program; one of the program's own
 * that waits stays. */
ssize_t pc_file_write(int fd, const void *data, size_t n);
/* Opens a folder that is this user's alone: no link, and no other user owns it or can write to it.
 * -1: *why has the reason, or is NULL and errno has it. */
int pc_file_open_own_folder(const char *path, const char **why);
/* Waits; a signal ends it early. Keeps errno. */
void pc_nap_ns(uint64_t ns);

/* ---- Memory (map_async.c) ------------------------------------------------------------------ */

/* Maps zero-filled private memory: anywhere, or in place of what is at this address. NULL with
 * errno. AS-safe, MT-safe. */
void *pc_map_memory(void *at, size_t bytes);

/* ---- Frames ------------------------------------------------------------------------------ */

/* Address where the function that uses this saved its caller's frame pointer. It must have a frame
 * pointer of its own (-fno-omit-frame-pointer). */
#if defined __riscv || defined __loongarch__
#define PC_SAVED_FP ((uintptr_t)__builtin_frame_address(0) - 2 * sizeof(uintptr_t))
#elif defined __powerpc64__
#define PC_SAVED_FP ((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t))
#else
#define PC_SAVED_FP ((uintptr_t)__builtin_frame_address(0))
#endif

/* ---- Clock ------------------------------------------------------------------------------- */

/* Processors whose architecture has a counter of one rate that programs may read. */
#if (defined __riscv && __riscv_xlen == 64) ||                                                     \
    (defined __loongarch__ && __loongarch_grlen == 64) || defined __powerpc64__
#define PC_CLOCK_TIME_REGISTER 1
#else
#define PC_CLOCK_TIME_REGISTER 0
#endif

/* True if ticks come from the processor's own invariant counter. Set once by pc_clock_init. */
extern PC_HIDDEN bool pc_clock_is_counter;

/* Nanoseconds of a system clock that always exists. AS-safe, MT-safe. */
static inline uint64_t pc_clock_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t pc_mono_ns(void)
{
    return pc_clock_ns(CLOCK_MONOTONIC);
}

/* The processor's counter; CLOCK_MONOTONIC on processors without one. Only if pc_clock_is_counter
 * is set. */
static inline uint64_t pc_counter(void)
{
#if defined __x86_64__
    uint32_t lo, hi;
    __asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
    return (uint64_t)hi << 32 | lo;
#elif defined __aarch64__
    uint64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
#elif PC_CLOCK_TIME_REGISTER
    uint64_t t;
#if defined __riscv
    __asm__ volatile("rdtime %0" : "=r"(t));
#elif defined __loongarch__
    __asm__ volatile("rdtime.d %0, $zero" : "=r"(t));
#else
    __asm__ volatile("mfspr %0, 268" : "=r"(t)); /* time base */
#endif
    return t;
#else
    return pc_mono_ns();
#endif
}

/* The time in ticks of an invariant counter, else in nanoseconds. About 10 ns. AS-safe, MT-safe.
 * Not a serialising read: the processor may reorder it by a few instructions. */
static inline uint64_t pc_ticks(void)
{
    return PC_CLOCK_TIME_REGISTER || PC_LIKELY(pc_clock_is_counter) ? pc_counter() : pc_mono_ns();
}

/* Decides where ticks come from. Idempotent, MT-safe, takes no lock. */
void pc_clock_init(void);

/* One point on both clocks, read together: the reading with the shortest distance of a few tries.
 */
void pc_clock_pair(uint64_t *ticks_out, uint64_t *mono_ns_out);

/* Nanoseconds per tick, times 2^32, from two points; a plausible estimate if they are too close. */
uint64_t pc_clock_scale(uint64_t ticks_0, uint64_t mono_0, uint64_t ticks_1, uint64_t mono_1);

static inline uint64_t pc_clock_to_ns(uint64_t ticks, uint64_t scale_q32)
{
    return (uint64_t)(((unsigned __int128)ticks * scale_q32) >> 32);
}

/* ---- Hash -------------------------------------------------------------------------------- */

static inline uint64_t pc_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

/* Hash of n bytes, the same on every machine and in every version: it is stored in files. */
uint64_t pc_hash_bytes(const void *data, size_t n, uint64_t seed);

/* Ids of communicators, never 0 and the same everywhere: of one that no call made, such as
 * MPI_COMM_WORLD, by its name, and of one derived from an id and another number. */
uint64_t pc_comm_id_of(const char *what);
uint64_t pc_comm_mix(uint64_t id, uint64_t more);

/* ---- Log --------------------------------------------------------------------------------- */

/* One line "pcollect: ..." on standard error by a single write(2). Knows %s %d %u %x %c and %%,
 * with l and z for long and size_t; no width. Lines of more than 1 KiB lose their middle. Keeps
 * errno.
 * AS-safe, MT-safe. */
void pc_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on pc_log is silent where standard error is another file than now: the program may have
 * data there. */
void pc_log_note_error(void);

/* The formatter of pc_log: writes a terminated string of at most n bytes, returns its length. */
size_t pc_format(char *out, size_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
size_t pc_vformat(char *out, size_t n, const char *format, va_list args);
/* Does the same, but a text that is too long loses its middle, from its first quarter on, and has
 * "..." there: of a message with a long path, the reason and the way out remain. n is at least 64.
 * AS-safe, MT-safe. */
size_t pc_vformat_ends(char *out, size_t n, const char *format, va_list args);

/* ---- Numbers ----------------------------------------------------------------------------- */

/* The order of two ints, from the least on, for qsort. AS-safe, MT-safe. */
static inline int pc_compare_ints(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* ---- Processes --------------------------------------------------------------------------- */

/* Bytes by which this process may still grow: its address space (RLIMIT_AS), and if it is private
 * memory its data, too (RLIMIT_DATA). UINT64_MAX: without limit; 0: not known. MT-safe. */
uint64_t pc_room_to_grow(bool is_private);

/* Reads the first n - 1 bytes of a small file of /proc or /sys, and terminates them; returns their
 * number. If it cannot be read, there are none. Keeps errno. MT-safe. */
size_t pc_read_small(const char *path, char *out, size_t n);

struct pc_process_status {
    int pid, parent;
    char state; /* of its first thread, as in ps: R, S, D, Z, ... */
    bool ended; /* it is a zombie; false for a process that continues without its first thread */
    uint64_t start;     /* clock ticks since boot */
    uint64_t cpu_ticks; /* clock ticks on a processor, of all its threads, also those that ended */
};

/* Status of a process. False: there is no such process. Keeps errno. MT-safe. */
bool pc_process_look(int pid, struct pc_process_status *out);

/* State and CPU time of one thread of a process; the rest is that of the process. */
bool pc_thread_look(int pid, int tid, struct pc_process_status *out);

/* Calls see(arg, number) for each entry of a folder that is a number: the processes in "/proc", the
 * threads in "/proc/PID/task". False: the folder cannot be read. Takes memory. MT-safe. */
bool pc_proc_numbers(const char *folder, void (*see)(void *arg, int number), void *arg);

/* Calls see(arg, number) for each number of a list of the kernel such as "0-3,8". False: it is no
 * such list; numbers before its error have been seen. MT-safe. */
bool pc_list_numbers(const char *list, void (*see)(void *arg, int number), void *arg);

/* Does so for the processors that are online. MT-safe. */
bool pc_online_processors(void (*see)(void *arg, int number), void *arg);

/* True if the process was started with a variable of that name, and of that value if it is not
 * NULL. False for a process of another user, which cannot be read. MT-safe. */
bool pc_process_has_variable(int pid, const char *name, const char *value);

/* ---- Error text -------------------------------------------------------------------------- */

/* Filled by the function that finds the error; printed by the function that decides what to do
 * about it. */
struct pc_error {
    char text[512];
};

/* Sets the text and returns err, so that `return pc_error_set(e, PC_EIO, ...)` reads well. A text
 * that is too long loses its middle. e may be NULL. */
int pc_error_set(struct pc_error *e, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

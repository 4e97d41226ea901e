/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file of a board has a head, then two pages for each place: the part that its rank left after
 * MPI_Finalize, and the part left at its exit. So a reader of one is not disturbed by a writer of
 * the other.
 */
#include "merge/board.h"

#include "format/build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PLACES = 512, PART_BYTES = PC_PCOL_SLOT_MAX_BYTES };

struct place {
    _Atomic uint32_t state; /* enum pc_board_state; 0: the rank has left no part yet */
    int32_t rank, pid;
    _Atomic uint32_t has_writer; /* some rank has begun to write since its part is here */
    uint64_t pid_space;          /* pid namespace of `pid`; 0: not known */
    uint64_t start;              /* start of the process, in clock ticks since boot */
    uint32_t n[2];               /* bytes of the parts */
};

struct pc_board_head {
    _Atomic uint32_t n;       /* places taken */
    _Atomic uint32_t writer;  /* 1 + place of the rank that writes; 0: none writes */
    _Atomic uint32_t changes; /* number of parts left so far */
    uint32_t unused[13];
    struct place places[MOST_PLACES];
};

enum { HEAD_BYTES = PC_BOARD_BYTES - MOST_PLACES * 2 * PART_BYTES };
_Static_assert((int)sizeof(struct pc_board_head) <= (int)HEAD_BYTES, "the head has room");

static uint8_t *part(const struct pc_board_head *h, uint32_t place, unsigned which)
{
    return (uint8_t *)h + HEAD_BYTES + ((size_t)place * 2 + which) * PART_BYTES;
}

/* ---- Joining -------------------------------------------------------------------------------- */

static void put_name(char name[32], uint64_t job_key)
{
    pc_format(name, 32, "%x.%x.board", (unsigned)(job_key >> 32), (unsigned)job_key);
}

/* The folder of the arenas, and the name of the board in it; a negative descriptor: no folder. */
static int open_folder(const struct pc_arena *a, char name[32])
{
    char folder[PCOLLECT_PATH_BYTES];
    if (!a->is_file || a->header->n_ranks < 2)
        return -1;
    pc_format(folder, sizeof folder, "%s", a->path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    put_name(name, a->header->job_key);
    return open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static uint64_t own_pid_space(void)
{
    struct stat st;
    return stat("/proc/self/ns/pid", &st) ? 0 : (uint64_t)st.st_ino;
}

/* Allocates pages before they are touched: a store into a full tmpfs would raise SIGBUS. Allocates
 * in pieces, because a signal undoes a piece. */
static bool take_pages(int fd, size_t at, size_t n)
{
    int err = EINTR;
    for (int i = 0; err == EINTR && i < 100; i++)
        err = fallocate(fd, 0, (off_t)at, (off_t)n) ? errno : 0;
    return !err;
}

static struct pc_board_head *map_board(int fd, const struct pc_arena *a)
{
    struct stat st;
    uint64_t limit;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_dev != a->dev ||
        pc_pcol_over_limit(PC_BOARD_BYTES, &limit) || ftruncate(fd, PC_BOARD_BYTES) ||
        !take_pages(fd, 0, HEAD_BYTES))
        return NULL;
    void *at = mmap(NULL, PC_BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Takes a place with its pages. False: no place is left, or there is no room. */
static bool take_place(struct pc_board_head *h, int fd, const struct pc_arena *a, uint32_t *out)
{
    uint32_t i = atomic_fetch_add(&h->n, 1);
    struct pc_process_status own;
    if (i >= MOST_PLACES || !pc_process_look(a->header->pid, &own) ||
        !take_pages(fd, (size_t)(part(h, i, 0) - (uint8_t *)h), 2 * PART_BYTES))
        return false;
    struct place *p = &h->places[i];
    p->rank = a->header->rank;
    p->pid = a->header->pid;
    p->pid_space = own_pid_space();
    p->start = own.start;
    atomic_store(&p->state, PC_BOARD_JOINED);
    *out = i;
    return true;
}

void pc_board_join(struct pc_board *b, const struct pc_arena *arena)
{
    char name[32];
    int saved = errno, dir = open_folder(arena, name);
    int fd = dir < 0
                 ? -1
                 : openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    struct pc_board_head *h = fd < 0 ? NULL : map_board(fd, arena);
    if (h && take_place(h, fd, arena, &b->place))
        b->head = h;
    else if (h)
        munmap(h, PC_BOARD_BYTES);
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    errno = saved;
}

void pc_board_close(const struct pc_arena *arena)
{
    char name[32];
    int saved = errno, dir = open_folder(arena, name);
    if (dir >= 0) {
        unlinkat(dir, name, 0);
        close(dir);
    }
    errno = saved;
}

void pc_board_remove(const char *folder, uint64_t job_key)
{
    char name[32], path[PCOLLECT_PATH_BYTES];
    put_name(name, job_key);
    pc_format(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

/* ---- Leaving parts --------------------------------------------------------------------------- */

static uint32_t n_places(const struct pc_board_head *h)
{
    uint32_t n = atomic_load(&h->n);
    return n < MOST_PLACES ? n : MOST_PLACES;
}

/* True if the process lives. One in another pid namespace counts as alive. */
static bool is_alive(const struct place *p, uint64_t pid_space)
{
    struct pc_process_status now;
    if (p->pid_space != pid_space)
        return true;
    return pc_process_look(p->pid, &now) && !now.ended && now.start == p->start;
}

/* True if a living rank has not reached `state` yet. */
static bool others_come(const struct pc_board_head *h, uint32_t state)
{
    uint64_t pid_space = own_pid_space();
    for (uint32_t i = 0, n = n_places(h); i < n; i++) {
        uint32_t has = atomic_load(&h->places[i].state);
        if (has && has < state && is_alive(&h->places[i], pid_space))
            return true;
    }
    return false;
}

static void put_part(struct pc_board_head *h, uint32_t place, enum pc_board_state state,
                     const struct pc_profile *late)
{
    struct pc_buffer record = {0};
    unsigned which = state == PC_BOARD_ENDED;
    struct place *own = &h->places[place];
    if (!pc_pcol_late_record(late, PART_BYTES, &record)) {
        memcpy(part(h, place, which), record.data, record.n);
        own->n[which] = (uint32_t)record.n;
    }
    free(record.data);
    atomic_store(&own->state, state);
    atomic_fetch_add(&h->changes, 1);
}

/* The part that the rank of a place has left; NULL: none that is complete. */
static struct pc_profile *get_part(const struct pc_board_head *h, uint32_t place)
{
    const struct place *p = &h->places[place];
    struct pc_profile *late = NULL;
    for (unsigned which = atomic_load(&p->state) == PC_BOARD_ENDED; !late; which--) {
        uint32_t n = p->n[which];
        if (n && n <= PART_BYTES)
            pc_pcol_late_profile(part(h, place, which), n, &late);
        if (!which)
            break;
    }
    return late;
}

struct left {
    int32_t rank;
    const struct pc_profile *late;
};

static int by_rank(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The ranks of the board, ascending, each with what it has left. */
static uint32_t collect(struct pc_board_head *h, struct left *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0, most = n_places(h); i < most; i++) {
        struct place *p = &h->places[i];
        uint32_t state = atomic_load(&p->state);
        if (!state)
            continue;
        if (state >= PC_BOARD_FINALIZED)
            atomic_store(&p->has_writer, 1);
        out[n++] = (struct left){p->rank, get_part(h, i)};
    }
    qsort(out, n, sizeof *out, by_rank);
    return n;
}

static int write_all(struct pc_board_head *h, const char *path, struct pc_error *error)
{
    struct left left[MOST_PLACES];
    const struct pc_profile *late[MOST_PLACES];
    int32_t ranks[MOST_PLACES];
    uint32_t n = collect(h, left);
    for (uint32_t i = 0; i < n; i++) {
        late[i] = left[i].late;
        ranks[i] = left[i].rank;
    }
    bool ended = !others_come(h, PC_BOARD_ENDED);
    int err = pc_pcol_write_node(path, late, ranks, n, ended, error);
    for (uint32_t i = 0; i < n; i++)
        pc_profile_free((struct pc_profile *)late[i]);
    return err;
}

/* Makes this rank the writer. False: another living rank is the writer. */
static bool take_turn(struct pc_board_head *h, uint32_t place)
{
    uint32_t writer = 0;
    while (!atomic_compare_exchange_strong(&h->writer, &writer, place + 1))
        if (writer && is_alive(&h->places[writer - 1], own_pid_space()))
            return false;
    return true;
}

/* Writes until the file has the parts of all ranks. A rank that leaves its part meanwhile relies on
 * this rank: of two concurrent writers, one could overwrite the newer data of the other.
 */
static int write_in_turn(struct pc_board_head *h, uint32_t place, const char *path,
                         struct pc_error *error)
{
    int err = PC_OK;
    uint32_t seen;
    do {
        if (!take_turn(h, place))
            return err;
        seen = atomic_load(&h->changes);
        err = write_all(h, path, error);
        atomic_store(&h->writer, 0);
    } while (atomic_load(&h->changes) != seen);
    return err;
}

int pc_board_leave(const struct pc_board *b, enum pc_board_state state, const char *path,
                   const struct pc_profile *late, struct pc_error *error)
{
    struct pc_board_head *h = b->head;
    if (!h)
        return pc_pcol_write_late(path, late, state == PC_BOARD_ENDED, error);
    put_part(h, b->place, state, late);
    /* A rank that is still in MPI_Finalize when this rank ends may never leave it: so the part of
     * this rank is written now, if no rank has begun to. */
    bool is_written = atomic_load(&h->places[b->place].has_writer);
    if (others_come(h, state) && (state != PC_BOARD_ENDED || is_written))
        return PC_OK;
    return write_in_turn(h, b->place, path, error);
}

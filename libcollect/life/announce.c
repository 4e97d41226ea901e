/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds out which ranks of this job are measured. It does not use MPI for this, because a rank
 * without this library would not answer: a collective call with it would wait for ever.
 *
 * A process announces itself by its arena: the header has the rank that the launcher gave it and
 * the key of the launcher. The arena is made at the first MPI call, and counts when its process has
 * called MPI_Init itself: after MPI_Initialized alone, a forked child or another program may become
 * the rank. MPI_Init returns on no rank before all ranks have called it; so a rank that looks after
 * MPI_Init has returned sees all measured ranks of this node. Other nodes cannot be seen. A process
 * without a file has a nameplate (nameplate.h). A process that leaves for good, before the program
 * installs a seccomp filter that it would not survive, or because it cannot send the others a
 * message, announces this in the same places: ranks that wait in MPI_Finalize check again from time
 * to time.
 *
 * The key is that of pc_config_launcher.
 *
 * Called by the core before MPI_Init, right after it, and while it waits in MPI_Finalize. Makes
 * system calls, but no MPI calls.
 */
#include "base/launchers.h"
#include "libcollect/life/life.h"
#include "libcollect/life/nameplate.h"
#include "libcollect/state/state.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits of the search. Nameplates are searched only after the first looks for files, and at the
 * end, because it is slow. */
enum { LOOKS = 50, LOOKS_FOR_FILES = 5, NAP_NS = 2000000 };

/* Set before MPI_Init: a singleton of Open MPI sets the variables of its launcher in MPI_Init. */
static const char *launcher_name;

void pc_launch_announce(void)
{
    struct pcollect_arena_header *h = pc_header();
    struct pc_config_launch l = pc_config_launch();
    uint64_t launcher = pc_config_launcher(&l);
    h->launch_rank = l.rank;
    launcher_name = l.name;
    if (launcher && l.n_ranks > 1 && l.rank < l.n_ranks) {
        h->n_ranks = l.n_ranks;
        h->job_key = pc_launch_job(&l, launcher, l.n_local == l.n_ranks);
    }
    __atomic_store_n(&h->launch_key, launcher, __ATOMIC_RELEASE);
}

void pc_launch_arrive(void)
{
    struct pcollect_arena_header *h = pc_header();
    __atomic_store_n(&h->init_begin_ticks, pc_ticks(), __ATOMIC_RELEASE);
    if (h->launch_key && !pc_process.arena.is_file)
        pc_nameplate_hang(PC_PLATE_RANK, h->launch_key, h->launch_rank);
}

void pc_launch_withdraw(void)
{
    pc_header()->launch_key = 0;
    pc_nameplate_take_down();
}

void pc_launch_leave(void)
{
    struct pcollect_arena_header *h = pc_header();
    __atomic_fetch_or(&h->flags, PCOLLECT_ARENA_LEFT, __ATOMIC_RELEASE);
    pc_nameplate_take_down();
    if (h->launch_key && !pc_process.arena.is_file)
        pc_nameplate_hang(PC_PLATE_LEFT, h->launch_key, h->launch_rank);
}

void pc_launch_check(const struct pc_transport *transport, const char *mpi)
{
    const struct pcollect_arena_header *h = pc_header();
    if (transport->n_ranks == 1 && h->n_ranks > 1 && !transport->n_parents && h->launch_rank == 0)
        pc_log(
            "the launcher of %s has started %d processes, and %s takes each for a job of 1 rank: "
            "start the job with the launcher of the MPI that the program is linked with",
            launcher_name, h->n_ranks, mpi);
}

uint64_t pc_launch_job(const struct pc_config_launch *l, uint64_t launch_key, bool one_node)
{
    if (!one_node && l->key)
        return pc_hash_u64(l->key ^ (uint64_t)l->n_ranks);
    return one_node && l->node_key ? l->node_key : launch_key;
}

/* ---- Looking for the other ranks ------------------------------------------------------------ */

struct look {
    uint32_t n_ranks;
    uint64_t *seen; /* bitset of ranks */
    uint32_t n;
    int least, least_of_host; /* of all that share the spool; of those with this host name */
    bool some_left;           /* a rank was here and has left: it is not among those seen */
};

static void see(struct look *l, int rank, bool same_host)
{
    if (rank < 0 || (uint32_t)rank >= l->n_ranks || l->seen[rank / 64] >> rank % 64 & 1)
        return;
    l->seen[rank / 64] |= (uint64_t)1 << rank % 64;
    l->n++;
    if (rank < l->least)
        l->least = rank;
    if (same_host && rank < l->least_of_host)
        l->least_of_host = rank;
}

static void look_into(struct look *l, int dir, const char *name)
{
    const struct pcollect_arena_header *mine = pc_header();
    struct pcollect_arena_header h;
    const size_t needed = offsetof(struct pcollect_arena_header, exe);
    int fd = pc_file_open(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    ssize_t n = pc_file_read(fd, &h, needed);
    pc_file_close(fd);
    if (n != (ssize_t)needed || memcmp(h.magic, PCOLLECT_ARENA_MAGIC, sizeof h.magic) ||
        h.version != mine->version || h.launch_key != mine->launch_key)
        return;
    if (h.flags & PCOLLECT_ARENA_LEFT)
        l->some_left = true;
    else if (h.init_begin_ticks)
        see(l, h.launch_rank, !memcmp(h.host, mine->host, sizeof h.host));
}

static void see_plate(void *arg, enum pc_plate what, int rank)
{
    struct look *l = arg;
    if (what == PC_PLATE_LEFT)
        l->some_left = true;
    else
        see(l, rank, true);
}

static void look_in(struct look *l, const char *folder)
{
    const char *why;
    int fd = pc_file_open_own_folder(folder, &why);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        pc_file_close(fd);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strlen(e->d_name) > 6 && !strcmp(e->d_name + strlen(e->d_name) - 6, ".arena"))
            look_into(l, dirfd(dir), e->d_name);
    if (dir)
        closedir(dir);
}

/* Looks in all spools: the first may have had room for only some of the ranks. */
static void look_around(struct look *l)
{
    char folder[PCOLLECT_PATH_BYTES];
    const char *spool = pc_config_spool(&pc_process.config, 0);
    for (unsigned i = 0; spool; spool = pc_config_spool(&pc_process.config, ++i)) {
        pc_format(folder, sizeof folder, "%s/pcollect-%u", spool, (unsigned)geteuid());
        look_in(l, folder);
    }
}

struct pc_presence pc_launch_presence(int n_ranks)
{
    int rank = pc_header()->rank;
    struct pc_presence p = {
        .verdict = PC_RANKS_UNKNOWN, .speaks = rank == 0, .first_of_host = rank == 0};
    int n_local = pc_config_launch().n_local;
    size_t bytes = ((size_t)n_ranks / 64 + 1) * sizeof(uint64_t);
    struct look l = {.n_ranks = (uint32_t)n_ranks, .least = rank, .least_of_host = rank};
    if (n_ranks == 1)
        p.verdict = PC_RANKS_HERE;
    if (n_ranks == 1 || !pc_header()->launch_key)
        return p;
    l.seen = pc_memory(bytes);
    if (!l.seen)
        return p;
    int expected = n_local > 0 ? n_local : n_ranks;
    for (int i = 0; i < LOOKS; i++) {
        look_around(&l);
        if (l.n < (uint32_t)expected && (n_local < 1 || i == LOOKS_FOR_FILES || i == LOOKS - 1))
            pc_nameplate_look(pc_header()->launch_key, see_plate, &l);
        if (l.n >= (uint32_t)expected || n_local < 1)
            break;
        pc_nap_ns(NAP_NS); /* needed where MPI_Init does not wait for the others */
    }
    if (l.n == (uint32_t)n_ranks)
        p.verdict = PC_RANKS_HERE;
    else if (n_local > 0 && l.n < (uint32_t)n_local && pc_process.arena.is_file)
        p.verdict = PC_RANKS_MISSING;
    p.speaks = l.least == rank;
    p.first_of_host = l.least_of_host == rank;
    p.n_here = l.n;
    p.some_left = l.some_left;
    p.one_node = n_local == n_ranks;
    pc_memory_free(l.seen, bytes);
    return p;
}

bool pc_launch_is_starter(void)
{
    static const char *const names[] = {"env", "timeout", "time", "nice", "taskset", "numactl"};
    char path[PCOLLECT_PATH_BYTES];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return false;
    path[n] = '\0';
    const char *name = pc_base_name(path);
    for (size_t i = 0; i < PC_ARRAY_LEN(names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return pc_is_shell(name) || pc_launcher_role(name) != PC_LAUNCHER_NONE;
}

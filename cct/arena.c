/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opens, unlinks and closes an arena: the operations that happen once per process, outside
 * handlers.
 *
 * The file is made sparse at its full size and mapped whole; its pages are allocated before they
 * are touched (arena_async.c). If the kernel can populate a mapping, the descriptor is closed at
 * once: then a program that closes or replaces foreign descriptors cannot hit it. Any failure with
 * the file leads to anonymous memory and a message with the reason.
 *
 * Called by the start of libpcollect.so. Must not: follow a link, open what others can write,
 * leave a descriptor below the program's own, raise SIGXFSZ.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* strerrordesc_np */
#endif
#include "base/networks.h"
#include "cct/cct_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FS_TMPFS 0x01021994u
#define FS_RAMFS 0x858458f6u
#define FS_HUGETLBFS 0x958458f6u

/* References are u32 in units of 16 bytes. */
#define MAX_BYTES (((uint64_t)1 << 36) - ((uint64_t)1 << 30))
/* Times to try again: other processes remove the folder when it is empty, also between two steps;
 * and names to try for the file. */
#define FOLDER_TRIES 8
#define HOST_CHARS 64
/* Part of what a limit of memory leaves: with an eighth, MPI_Init of Open MPI 4.1.4 found too
 * little at ulimit -v 200000. */
#define LIMITED_PART 32u

/* State of an opening; lives for the length of pc_arena_open. */
struct opening {
    struct pc_arena *a;
    const char *spool;
    struct pc_error *error;
    uint64_t bytes;
    int dir, fd; /* -1: not open */
    bool made;   /* the folder was made */
    uint32_t fs_type;
};

static const char *reason(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 32)
    const char *text = strerrordesc_np(errno);
    return text ? text : "unknown error";
#else
    return strerror(errno);
#endif
}

static uint64_t round_down(uint64_t n, uint64_t unit)
{
    return n / unit * unit;
}

/* Opens the folder; refuses it if another user can write to it. From here on it is used by its
 * descriptor, so that the folder that was checked is the folder that is used. */
static int open_folder(struct opening *o, char *path)
{
    o->made = mkdir(path, 0700) == 0;
    if (!o->made && errno != EEXIST)
        return pc_error_set(o->error, PC_EIO, "%s cannot be created: %s", path, reason());
    const char *why;
    o->dir = pc_file_open_own_folder(path, &why);
    if (o->dir < 0 && !why && errno == ENOENT)
        return PC_ENOENT;
    if (o->dir < 0)
        return pc_error_set(o->error, PC_EIO, "%s %s", path, why ? why : reason());
    struct stat st;
    if (fstat(o->dir, &st) != 0)
        return pc_error_set(o->error, PC_EIO, "%s: %s", path, reason());
    if ((st.st_mode & 0700) != 0700)
        fchmod(o->dir, 0700); /* it was made under a umask that removed our own rights */
    return PC_OK;
}

/* Bounds the size by the kind of file system, by its free space and by RLIMIT_FSIZE (growing a file
 * beyond that raises SIGXFSZ). All arenas of the node together may take an eighth of the free space
 * (pc_arena_share). */
static int bound_by_system(struct opening *o)
{
    struct statfs fs;
    if (fstatfs(o->dir, &fs) != 0)
        return pc_error_set(o->error, PC_EIO, "%s: %s", o->spool, reason());
    o->fs_type = (uint32_t)fs.f_type;
    if (pc_network_name(o->fs_type))
        return pc_error_set(o->error, PC_EIO, "%s is in a file system that is not local (%s)",
                            o->spool, pc_network_name(o->fs_type));
    if (o->fs_type == FS_HUGETLBFS)
        o->a->granule_bytes = (uint32_t)fs.f_bsize;
    if (fs.f_blocks) {
        uint64_t share = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / PC_ARENA_PART;
        if (o->bytes > share)
            o->bytes = share;
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        limit.rlim_cur = RLIM_INFINITY;
    if (limit.rlim_cur < PC_ARENA_MIN_BYTES)
        return pc_error_set(o->error, PC_EIO, "the file size limit is %llu bytes",
                            (unsigned long long)limit.rlim_cur);
    if (o->bytes > limit.rlim_cur)
        o->bytes = limit.rlim_cur;
    o->bytes = round_down(o->bytes, o->a->granule_bytes);
    if (o->bytes < PC_ARENA_MIN_BYTES)
        return pc_error_set(o->error, PC_EIO, "%s has no room for an arena", o->spool);
    return PC_OK;
}

/* Makes a file with host and process in its name, for users to read; the time makes names differ if
 * containers share a spool but not their process ids. */
static int create_file(struct opening *o, const char *folder)
{
    struct utsname uts;
    char host[HOST_CHARS + 1] = "host";
    if (uname(&uts) == 0) {
        size_t n = 0;
        for (; n < HOST_CHARS && uts.nodename[n]; n++) {
            char c = uts.nodename[n];
            bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            host[n] = plain || c == '.' || c == '-' ? c : '_';
        }
        host[n] = '\0';
    }
    uint64_t now_ns = pc_clock_ns(CLOCK_REALTIME);
    for (unsigned i = 0; i < FOLDER_TRIES; i++) {
        char name[HOST_CHARS + 64];
        pc_format(name, sizeof name, "%s.%d.%lx.arena", host, (int)getpid(),
                  (unsigned long)(now_ns + i));
        if (pc_format(o->a->path, sizeof o->a->path, "%s/%s", folder, name) + 1 >=
            sizeof o->a->path)
            return pc_error_set(o->error, PC_EIO, "the path of the spool is too long: %s",
                                o->spool);
        o->fd = pc_file_open(o->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (o->fd >= 0)
            return PC_OK;
        if (errno == ENOENT)
            return PC_ENOENT;
        if (errno != EEXIST)
            break;
    }
    return pc_error_set(o->error, PC_EIO, "%s cannot be created: %s", o->a->path, reason());
}

/* Folder, bounds, file. PC_ENOENT inside means that the folder was removed meanwhile. */
static int open_file(struct opening *o)
{
    char folder[PCOLLECT_PATH_BYTES];
    if (pc_format(folder, sizeof folder, "%s/pcollect-%u", o->spool, (unsigned)geteuid()) + 1 >=
        sizeof folder)
        return pc_error_set(o->error, PC_EIO, "the path of the spool is too long: %s", o->spool);
    uint64_t wanted = o->bytes;
    int err = PC_ENOENT;
    for (int i = 0; i < FOLDER_TRIES && err == PC_ENOENT; i++) {
        o->bytes = wanted;
        err = open_folder(o, folder);
        if (err == PC_OK)
            err = bound_by_system(o);
        if (err == PC_OK)
            err = create_file(o, folder);
        if (o->dir >= 0)
            pc_file_close(o->dir);
        o->dir = -1;
        if (err != PC_OK && o->made)
            rmdir(folder);
    }
    if (err == PC_ENOENT)
        return pc_error_set(o->error, PC_EIO, "%s cannot be created: %s", folder, reason());
    return err;
}

/* Bounds the size by what limits leave this process: the program takes memory later, and must find
 * it. */
static void bound_by_limits(struct opening *o, bool is_private)
{
    uint64_t share = pc_room_to_grow(is_private) / LIMITED_PART;
    if (share < PC_ARENA_MIN_BYTES)
        share = PC_ARENA_MIN_BYTES;
    if (o->bytes > share)
        o->bytes = round_down(share, o->a->granule_bytes);
}

/* Maps as much as there is address space for, at most o->bytes; fd -1: anonymous. */
static int map_halving(struct opening *o, int fd)
{
    struct pc_arena *a = o->a;
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    bound_by_limits(o, fd < 0);
    for (; o->bytes >= PC_ARENA_MIN_BYTES; o->bytes = round_down(o->bytes / 2, a->granule_bytes)) {
        void *p = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
        if (p == MAP_FAILED)
            continue;
        a->base = p;
        a->map_bytes = o->bytes;
        atomic_store(&a->limit, o->bytes);
        return PC_OK;
    }
    return pc_error_set(o->error, PC_ENOMEM, "no address space for an arena: %s", reason());
}

/* Bytes for the header, the reserve and a first step. */
static uint64_t first_bytes(void)
{
    uint64_t header = sizeof(struct pcollect_arena_header);
    return header + pc_arena_reserve_bytes(header) + 2 * PC_TREE_CHUNK_FIRST;
}

/* True if populating pages reserves space. On a disk a populated page may still find no block when
 * it is written back: only fallocate reserves one. An emulated kernel may return 0 for an advice
 * that it does not know: so the blocks are counted. */
static bool populate_works(struct opening *o, uint64_t bytes)
{
    struct stat st;
    o->a->growth = PC_ARENA_POPULATE;
    bool memory = o->fs_type == FS_TMPFS || o->fs_type == FS_HUGETLBFS;
    return memory && pc_arena_take(o->a, 0, bytes) && fstat(o->fd, &st) == 0 &&
           (uint64_t)st.st_blocks * 512 >= bytes;
}

/* Removes the file, and the folder with its last file: rmdir fails while another process has an
 * arena there. */
static void remove_file(const char *path)
{
    char folder[PCOLLECT_PATH_BYTES];
    unlink(path);
    pc_format(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
}

/* Moves the descriptor out of the program's way. */
static int move_descriptor(struct opening *o)
{
    o->fd = pc_descriptor_away(o->fd);
    if (o->fd >= 0)
        return PC_OK;
    int err =
        pc_error_set(o->error, PC_EIO, "no descriptor is free for %s: %s", o->a->path, reason());
    remove_file(o->a->path);
    return err;
}

/* Maps a new file, and makes the first bytes safe to touch. */
static int map_file(struct opening *o)
{
    struct pc_arena *a = o->a;
    struct stat st;
    int err = map_halving(o, o->fd);
    if (err)
        return err;
    fchmod(o->fd, 0600); /* whatever the umask */
    if (ftruncate(o->fd, (off_t)a->map_bytes) != 0 || fstat(o->fd, &st) != 0)
        return pc_error_set(o->error, PC_EIO, "%s: %s", a->path, reason());
    a->dev = st.st_dev;
    a->ino = st.st_ino;
    uint64_t first = pc_round_up(first_bytes(), a->granule_bytes);
    if (o->fs_type == FS_RAMFS) {
        a->growth = PC_ARENA_FREE; /* its only bound is the memory of the machine */
    } else if (!populate_works(o, first)) {
        err = move_descriptor(o);
        if (err)
            return err;
        a->growth = PC_ARENA_FALLOCATE;
        a->fd = o->fd;
        if (!pc_arena_take(a, 0, first))
            return pc_error_set(o->error, PC_EIO, "%s has no room for an arena: %s", o->spool,
                                reason());
    }
    if (a->growth != PC_ARENA_FALLOCATE)
        pc_file_close(o->fd);
    o->fd = -1;
    a->is_file = true;
    atomic_store(&a->ready, a->growth == PC_ARENA_FREE ? a->map_bytes : first);
    return PC_OK;
}

/* Takes back what open_file and map_file did. */
static void undo_file(struct opening *o)
{
    if (o->a->base)
        munmap(o->a->base, o->a->map_bytes);
    if (o->fd >= 0) {
        remove_file(o->a->path);
        pc_file_close(o->fd);
    }
    o->fd = -1;
    o->a->base = NULL;
    o->a->fd = -1;
    o->a->path[0] = '\0';
}

static int map_anonymous(struct opening *o)
{
    o->a->granule_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    int err = map_halving(o, -1);
    if (err)
        return err;
    o->a->growth = PC_ARENA_FREE;
    atomic_store(&o->a->ready, o->a->map_bytes);
    return PC_OK;
}

/* Writes the header. The magic comes last: a file without it was never begun. */
static void begin_header(struct pc_arena *a)
{
    struct pcollect_arena_header *h = (struct pcollect_arena_header *)a->base;
    struct utsname uts;
    uint64_t used = pc_round_up(sizeof *h, PC_ARENA_LINE);
    a->header = h;
    h->version = PCOLLECT_ARENA_VERSION;
    h->byte_order = PCOLLECT_BYTE_ORDER;
    h->header_bytes = sizeof *h;
    h->state = PCOLLECT_STATE_COLLECTING;
    h->used_bytes = used;
    h->total_bytes = a->map_bytes;
    h->rank = -1;
    h->pid = (int32_t)getpid();
    h->ops_bytes = sizeof(struct pcollect_op);
    if (!a->is_file)
        h->notes |= PCOLLECT_NOTE_ANONYMOUS;
    if (uname(&uts) == 0)
        pc_format(h->host, sizeof h->host, "%s", uts.nodename);
    atomic_store(&a->next, used);
    atomic_thread_fence(memory_order_release);
    memcpy(h->magic, PCOLLECT_ARENA_MAGIC, sizeof h->magic);
}

int pc_arena_open(struct pc_arena *a, const char *spool, size_t bytes, struct pc_error *error)
{
    int saved = errno;
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    memset(a, 0, sizeof *a);
    a->fd = -1;
    a->granule_bytes = page;
    a->n_sharing = 1;
    if (error)
        error->text[0] = '\0';
    if (bytes > MAX_BYTES)
        bytes = MAX_BYTES;
    if (bytes < PC_ARENA_MIN_BYTES)
        bytes = PC_ARENA_MIN_BYTES;
    bytes = pc_round_up(bytes, page);
    struct opening o = {a, spool, error, bytes, -1, -1, false, 0};
    int err;
    if (!spool || !spool[0]) {
        err = pc_error_set(error, PC_ENOENT, "there is no spool");
    } else {
        err = open_file(&o);
        if (err == PC_OK)
            err = map_file(&o);
    }
    if (err != PC_OK) {
        undo_file(&o);
        o.bytes = bytes;
        err = map_anonymous(&o);
    }
    if (err == PC_OK)
        begin_header(a);
    errno = saved;
    return err;
}

bool pc_arena_share(struct pc_arena *a, unsigned n_processes)
{
    struct statfs fs;
    int saved = errno;
    a->n_sharing = n_processes ? n_processes : 1;
    if (a->is_file && a->growth != PC_ARENA_FREE && statfs(a->path, &fs) == 0 && fs.f_blocks) {
        uint64_t share =
            (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / PC_ARENA_PART / a->n_sharing;
        uint64_t limit = round_down(share, a->granule_bytes);
        if (limit < atomic_load(&a->limit))
            atomic_store(&a->limit, limit);
    }
    errno = saved;
    return atomic_load(&a->limit) >= PC_ARENA_MIN_BYTES;
}

void pc_arena_unlink(struct pc_arena *a)
{
    struct stat st;
    int saved = errno;
    if (a->is_file && lstat(a->path, &st) == 0 && st.st_dev == a->dev && st.st_ino == a->ino)
        remove_file(a->path);
    errno = saved;
}

void pc_arena_close(struct pc_arena *a)
{
    int saved = errno;
    if (a->base)
        munmap(a->base, a->map_bytes);
    if (pc_arena_fd_is_ours(a))
        pc_file_close(a->fd);
    a->base = NULL;
    a->header = NULL;
    a->fd = -1;
    errno = saved;
}

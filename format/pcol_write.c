/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing a .pcol file. The image is made in memory first, so that its size is known before
 * anything is opened; it is written to a new file in the same folder, which then gets the name. A
 * reader sees the old file or the whole new one. There is no fsync at the end of a job: after a
 * crash of the node the arenas are lost too, and on a parallel file system it would delay the end.
 * A checkpoint is made for such a crash, and no rank waits for it (PC_PCOL_ON_DISK).
 *
 * Must not: raise a signal (SIGXFSZ: the limit is checked first), follow a link, replace a file
 * that is not a profile of this user (pcol_place.c), leave a file behind after a failure
 * (new_file.h).
 */
#include "format/contexts.h"
#include "format/later_contexts.h"
#include "format/new_file.h"
#include "format/rank_set.h"
#include "format/value_blocks.h"
#include "format/value_shares.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Sizes of late slots: times, the call of MPI_Finalize itself, a few calls from destructors. Ranks
 * of a node share their slots. 512 bytes hold the times of some ranks and one record per primitive,
 * 4 KiB about ten deep contexts. Each rank gets 4 KiB as long as all slots are within 1 MiB; above
 * that each node gets at least 512 bytes, and each rank enough for its times: 64 bytes on its own,
 * half of that with many others, who need 25 bytes each and 500 together for what they do in
 * MPI_Finalize. */
enum {
    SLOTS_BUDGET_BYTES = 1 << 20,
    NODE_LEAST_BYTES = 512,
    NODE_MANY_BYTES = 3072,
    RANK_LEAST_BYTES = 64
};

static int by_host(const void *a, const void *b)
{
    const struct pc_profile_rank *x = *(struct pc_profile_rank *const *)a,
                                 *y = *(struct pc_profile_rank *const *)b;
    int order = strcmp(x->host, y->host);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

struct hosts {
    uint32_t n;
    uint32_t fewest;  /* ranks of a host */
    size_t set_bytes; /* the most that the set of the ranks of a host takes (rank_set.h) */
    bool alone;       /* a rank writes into its own slot: it is on no board (merge/board.h) */
};

/* The ranks of a host, which are the first of sorted[0..n). Returns their number. */
static uint32_t add_host(struct hosts *h, struct pc_profile_rank *const *sorted, uint32_t n,
                         int32_t *ranks, struct pc_buffer *set)
{
    uint32_t k = 0;
    for (; k < n && !strcmp(sorted[k]->host, sorted[0]->host); k++) {
        ranks[k] = sorted[k]->rank;
        h->alone |= (sorted[k]->notes & PCOLLECT_NOTE_ANONYMOUS) != 0;
    }
    set->n = 0;
    pc_rank_set_put(ranks, k, set);
    h->set_bytes = set->n > h->set_bytes ? set->n : h->set_bytes;
    h->alone |= set->failed;
    h->fewest = h->n++ && h->fewest < k ? h->fewest : k;
    return k;
}

/* Without memory each rank counts as a host. */
static struct hosts find_hosts(const struct pc_profile *p)
{
    struct hosts h = {0};
    struct pc_profile_rank **sorted = malloc((size_t)p->n_ranks * sizeof *sorted + 1);
    int32_t *ranks = malloc((size_t)p->n_ranks * sizeof *ranks + 1);
    struct pc_buffer set = {0};
    for (uint32_t i = 0; sorted && i < p->n_ranks; i++)
        sorted[i] = &p->ranks[i];
    if (sorted && ranks) {
        qsort(sorted, p->n_ranks, sizeof *sorted, by_host);
        for (uint32_t i = 0; i < p->n_ranks;)
            i += add_host(&h, sorted + i, p->n_ranks - i, ranks, &set);
    } else {
        h = (struct hosts){.n = p->n_ranks, .alone = true};
    }
    free(set.data);
    free(ranks);
    free(sorted);
    return h;
}

static uint32_t choose_slot_bytes(const struct pc_profile *p)
{
    uint64_t n_slots = p->world_size;
    struct hosts h = find_hosts(p);
    const uint32_t half = PC_PCOL_SLOT_MIN_BYTES;
    bool shared = !h.alone && PC_PCOL_SLOT_HEADER_BYTES + h.set_bytes <= half &&
                  h.fewest >= NODE_LEAST_BYTES / half &&
                  half * n_slots >= (uint64_t)NODE_MANY_BYTES * h.n;
    uint32_t bytes = PC_PCOL_SLOT_MAX_BYTES;
    uint32_t least = shared ? half : RANK_LEAST_BYTES;
    while (bytes > least && bytes * n_slots > SLOTS_BUDGET_BYTES &&
           bytes / 2 * n_slots >= (uint64_t)NODE_LEAST_BYTES * h.n)
        bytes /= 2;
    return bytes;
}

struct section {
    unsigned type, version, flags;
    uint64_t stored, raw;
};

static void store_section_header(uint8_t *at, const struct section *s, const uint8_t *content)
{
    pc_store_le(at, s->type, 4);
    pc_store_le(at + 4, s->version, 2);
    pc_store_le(at + 6, s->flags, 2);
    pc_store_le(at + 8, s->stored, 8);
    pc_store_le(at + 16, s->raw, 8);
    pc_store_le(at + 24, 0, 4);
    uLong crc = crc32(0, at, 28);
    if (!(s->flags & PC_SECTION_LIVE))
        crc = crc32_z(crc, content, s->stored);
    pc_store_le(at + 28, crc, 4);
}

static void end_section(struct pc_buffer *image, size_t start, struct section *s)
{
    if (image->failed)
        return;
    s->stored = image->n - start - PC_PCOL_SECTION_BYTES;
    uint8_t *at = image->data + start;
    store_section_header(at, s, at + PC_PCOL_SECTION_BYTES);
}

static void put_pieces(struct pc_buffer *image, const struct pc_profile *p, unsigned part,
                       const struct pc_piece *pieces, size_t n)
{
    size_t start = image->n;
    struct section s = {
        .type = part, .version = pc_part_version_of(p, part), .flags = PC_SECTION_REQUIRED};
    pc_buffer_extend(image, PC_PCOL_SECTION_BYTES);
    for (size_t i = 0; i < n; i++)
        s.raw += pieces[i].n;
    if (pc_pcol_pack_pieces(image, pieces, n))
        s.flags |= PC_SECTION_DEFLATED;
    end_section(image, start, &s);
}

static void put_part(struct pc_buffer *image, const struct pc_profile *p, unsigned part)
{
    struct pc_buffer raw = {0};
    pc_part_encode(p, part, &raw);
    put_pieces(image, p, part, &(struct pc_piece){raw.data, raw.n, false}, 1);
    image->failed |= raw.failed;
    free(raw.data);
}

/* Tables may be large: their packed columns are not put together first. */
static void put_tables(struct pc_buffer *image, const struct pc_profile *p)
{
    struct pc_buffer own = {0};
    size_t n = 0;
    struct pc_piece *pieces = pc_tables_pieces(p, true, &own, &n);
    put_pieces(image, p, PC_PART_TABLES, pieces, n);
    image->failed |= own.failed || !pieces;
    free(pieces);
    free(own.data);
}

/* Contexts that a profile has left in a file, as the new one has them. */
struct passed {
    struct pc_buffer nodes, records;
    uint32_t n_nodes, n_records;
    /* The profile with the records alone that keep values, and their numbers in the new file. */
    struct pc_profile listed;
    struct pc_later_contexts numbered;
};

/* Reads the contexts once. What cannot be read is in pc_profile_unread. */
static void pass_contexts(struct passed *w, const struct pc_profile *p)
{
    struct pc_contexts c;
    bool room = true;
    w->listed.data = NULL;
    w->listed.n_data = 0;
    w->listed.later_contexts = &w->numbered;
    pc_contexts_open(&c, p);
    for (uint32_t before = 0; room && pc_contexts_next(&c); before = c.level) {
        pc_node_encode(c.node, !c.level, before + 1 - c.level, c.data != NULL, &w->nodes);
        w->n_nodes++;
        if (!c.data)
            continue;
        pc_record_encode(p, c.data, &w->records);
        room = !pc_data_has(p, c.data) || pc_later_contexts_list(&w->listed, w->n_records, c.data);
        w->n_records++;
    }
    w->nodes.failed |= pc_contexts_close(&c) || !room;
}

static void put_passed(struct pc_buffer *image, const struct pc_profile *p, unsigned part,
                       uint32_t n, struct pc_buffer *content)
{
    struct pc_buffer head = {0};
    pc_put_varint(&head, n);
    const struct pc_piece pieces[] = {{head.data, head.n, false},
                                      {content->data, content->n, false}};
    put_pieces(image, p, part, pieces, PC_ARRAY_LEN(pieces));
    image->failed |= head.failed || content->failed;
    free(head.data);
    free(content->data);
}

static void put_parts(struct pc_buffer *image, const struct pc_profile *p, struct passed *passed)
{
    for (unsigned part = PC_PART_META; part < PC_PART_VALUES; part++)
        if (part == PC_PART_TABLES)
            put_tables(image, p);
        else if (p->later_contexts && part == PC_PART_NODES)
            put_passed(image, p, part, passed->n_nodes, &passed->nodes);
        else if (p->later_contexts && part == PC_PART_DATA)
            put_passed(image, p, part, passed->n_records, &passed->records);
        else
            put_part(image, p, part);
}

/* A reader of version 1.2 passes over this section. False: nothing is in steps, and there is no
 * section. */
static bool put_steps(struct pc_buffer *image, const struct pc_profile *p)
{
    size_t start = image->n;
    pc_buffer_extend(image, PC_PCOL_SECTION_BYTES);
    bool any = pc_columns_encode(p, PC_KEPT_STEPS, false, image);
    struct section s = {.type = PC_PCOL_TYPE_STEPS,
                        .version = PC_PCOL_STEPS_VERSION,
                        .raw = image->n - start - PC_PCOL_SECTION_BYTES};
    if (any)
        end_section(image, start, &s);
    else
        image->n = start;
    return any;
}

static void put_columns(struct pc_buffer *image, const struct pc_profile *p)
{
    size_t start = image->n;
    pc_buffer_extend(image, PC_PCOL_SECTION_BYTES);
    pc_columns_encode(p, PC_KEPT_EXACT, false, image);
    struct section s = {.type = PC_PCOL_TYPE_COLUMNS,
                        .version = PC_PCOL_COLUMNS_VERSION,
                        .flags = PC_SECTION_REQUIRED,
                        .raw = image->n - start - PC_PCOL_SECTION_BYTES};
    end_section(image, start, &s);
}

/* Puts the begin of the section of shares, which is the last one: what follows will be written by
 * others. */
static void put_shares(struct pc_buffer *image, const struct pc_profile *p,
                       struct pc_pcol_header *h)
{
    size_t start = image->n;
    pc_buffer_extend(image, PC_PCOL_SECTION_BYTES);
    h->shares_at = image->n;
    h->file_bytes = pc_shares_encode(p->shares, p->n_data, h->shares_at, image);
    if (image->failed)
        return;
    uint64_t bytes = h->file_bytes - h->shares_at;
    struct section s = {.type = PC_PCOL_TYPE_SHARES,
                        .version = PC_PCOL_SHARES_VERSION,
                        .flags = PC_SECTION_REQUIRED | PC_SECTION_LIVE,
                        .stored = bytes,
                        .raw = bytes};
    store_section_header(image->data + start, &s, NULL);
}

/* Writes the slots as zeros instead of a hole, so that ranks do not find the disk full at their
 * exit. */
static void put_slots(struct pc_buffer *image, const struct pc_profile *p, struct pc_pcol_header *h)
{
    h->slot_bytes = choose_slot_bytes(p);
    h->n_slots = h->world_size;
    uint64_t bytes = (uint64_t)h->slot_bytes * h->n_slots;
    struct section s = {.type = PC_PCOL_TYPE_SLOTS,
                        .version = PC_PCOL_SLOTS_VERSION,
                        .flags = PC_SECTION_LIVE,
                        .stored = bytes,
                        .raw = bytes};
    uint8_t *at = pc_buffer_extend(image, PC_PCOL_SECTION_BYTES);
    if (!at)
        return;
    store_section_header(at, &s, NULL);
    h->slots_at = image->n;
    at = pc_buffer_extend(image, bytes);
    if (at)
        memset(at, 0, bytes);
}

static void put_values(struct pc_buffer *image, const struct pc_profile *p,
                       struct pc_pcol_header *h)
{
    put_columns(image, p);
    h->n_sections++;
    if (put_steps(image, p)) {
        h->minor = PC_PCOL_MINOR_STEPS;
        h->n_sections++;
    }
}

/* The image is all that this process writes; *file_bytes_out has place for shares as well. */
static int make_image(const struct pc_profile *p, unsigned flags, struct pc_buffer *image,
                      uint64_t *file_bytes_out)
{
    struct pc_pcol_header h = {.major = PC_PCOL_MAJOR,
                               .minor = PC_PCOL_MINOR_LEAST,
                               .n_sections = PC_PART_VALUES - PC_PART_META,
                               .job_key = p->job_key,
                               .world_size = p->world_size};
    pc_buffer_extend(image, PC_PCOL_HEADER_BYTES);
    struct passed passed = {.listed = *p};
    if (p->later_contexts)
        pass_contexts(&passed, p);
    put_parts(image, p, &passed);
    if (!p->shares)
        put_values(image, &passed.listed, &h);
    if (p->later_contexts)
        free(passed.listed.data);
    free(passed.numbered.numbers);
    if (flags & PC_PCOL_LATE_SLOTS) {
        put_slots(image, p, &h);
        h.n_sections++;
    }
    h.file_bytes = image->n;
    if (p->shares) {
        put_shares(image, p, &h);
        h.minor = PC_PCOL_MINOR;
        h.n_sections++;
    }
    if (image->failed)
        return PC_ENOMEM;
    pc_pcol_header_encode(&h, image->data);
    *file_bytes_out = h.file_bytes;
    return PC_OK;
}

/* Makes the file as long as it will be, with the space for it if the file system can say so: else
 * others may find the disk full when they write. 0 or an errno. */
static int reserve(int fd, const struct pc_buffer *image, uint64_t file_bytes)
{
    if (file_bytes == image->n || !fallocate(fd, 0, 0, (off_t)file_bytes))
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    return ftruncate(fd, (off_t)file_bytes) ? errno : 0;
}

/* Writes a new file with the image, which will get the name `path`. If it fails, no file is
 * left. */
static int write_new(const char *path, const struct pc_buffer *image, uint64_t file_bytes,
                     unsigned flags, struct pc_new_file *f, struct pc_error *error)
{
    uint64_t limit;
    if (pc_pcol_over_limit(file_bytes, &limit))
        return pc_error_set(error, PC_EIO,
                            "%s: cannot be written: the profile has %lu bytes and the file size "
                            "limit is %lu; raise the limit (ulimit -f)",
                            path, (unsigned long)file_bytes, (unsigned long)limit);
    int err = pc_new_file_open(f, path);
    if (err)
        return pc_pcol_system_error(error, path, "cannot be written", err, flags);
    err = reserve(f->fd, image, file_bytes);
    if (!err)
        err = pc_pcol_write_at(f->fd, image->data, image->n, 0);
    if (!err && (flags & PC_PCOL_ON_DISK) && fsync(f->fd) && errno != EINVAL)
        err = errno; /* EINVAL: the file system has no disk */
    int late = pc_new_file_finish(f);
    err = err ? err : late;
    if (!err)
        return PC_OK;
    pc_new_file_drop(f);
    return pc_pcol_system_error(error, path, "cannot be written", err, flags);
}

static int replace(struct pc_new_file *f, const char *path, unsigned flags, struct pc_error *error)
{
    int err = pc_pcol_may_write(path, flags, error);
    if (err)
        return err;
    err = pc_new_file_replace(f, path);
    return err ? pc_pcol_system_error(error, path, "cannot be written", err, flags) : PC_OK;
}

/* Gives the new file the first name that is free. */
static int number(struct pc_new_file *f, const char *path, unsigned flags, char *written,
                  struct pc_error *error)
{
    for (unsigned i = 1;; i++) {
        struct stat st;
        if (pc_pcol_number(path, i, written, PCOLLECT_PATH_BYTES, error))
            return PC_EARG;
        int err = pc_new_file_take(f, written);
        if (err != EEXIST)
            return err ? pc_pcol_system_error(error, written, "cannot be written", err, flags)
                       : PC_OK;
        if (lstat(written, &st) == 0 && !S_ISREG(st.st_mode) &&
            (err = pc_pcol_may_write(written, flags, error)))
            return err;
    }
}

static int write_image(const char *path, const struct pc_buffer *image, uint64_t file_bytes,
                       unsigned flags, char *written, struct pc_error *error)
{
    struct pc_new_file f;
    int err = write_new(path, image, file_bytes, flags, &f, error);
    if (err)
        return err;
    err = written ? number(&f, path, flags, written, error) : replace(&f, path, flags, error);
    pc_new_file_drop(&f);
    return err;
}

/* `written` NULL: path is replaced; else `written` gets the name that was taken. */
static int write_profile(const struct pc_profile *p, const char *path, unsigned flags,
                         char *written, struct pc_error *error)
{
    struct pc_buffer image = {0};
    struct pc_error rows = {""};
    uint64_t file_bytes = 0;
    int saved_errno = errno;
    if (p->no_bins || (p->statistics_only && !p->columns))
        return pc_error_set(error, PC_EARG, "%s: cannot be written: the profile was read in part",
                            path);
    int err = pc_tables_check_rows(p, &rows);
    if (!err)
        err = make_image(p, flags, &image, &file_bytes);
    if (*rows.text)
        err = pc_error_set(error, err, "%s: not written; the file that it is made of: %s", path,
                           rows.text);
    else if (pc_profile_unread(p))
        err = pc_error_set(error, PC_EFORMAT, "%s: not written; the file that it is made of: %s",
                           path, pc_profile_unread(p));
    else if (err)
        pc_error_set(error, err, "%s: cannot be written: not enough memory to make the file", path);
    else
        err = write_image(path, &image, file_bytes, flags, written, error);
    free(image.data);
    errno = saved_errno;
    return err;
}

int pc_pcol_write(const struct pc_profile *p, const char *path, unsigned flags,
                  struct pc_error *error)
{
    return write_profile(p, path, flags, NULL, error);
}

int pc_pcol_write_new(const struct pc_profile *p, const char *path, unsigned flags, char *written,
                      struct pc_error *error)
{
    return write_profile(p, path, flags, written, error);
}

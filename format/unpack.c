/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a section in pieces: see unpack.h. An unpacker has the state of zlib, a piece of the
 * stored bytes, and a window of the inflated ones, in which its cursor moves. What the cursor has
 * not read goes to the front of the window before the rest is filled. All of this can be copied, so
 * that reading can go on from the same place again.
 */
#include "format/unpack.h"

#include <zlib.h>

enum { WINDOW_BYTES = 16384, PIECE_BYTES = 8192 };

struct pc_unpacker {
    struct pc_refill refill; /* the first member: cursors point to it */
    int fd;
    uint64_t at, n_stored; /* stored bytes that are not in `piece` yet */
    bool deflated, begun;  /* `z` is in use */
    const char *failure;   /* NULL: none */
    z_stream z;            /* its input is in `piece` */
    uint8_t *piece, *window;
    size_t room; /* of the window */
};

static const char cannot_inflate[] = "it cannot be inflated";

/* Reads the next stored bytes, at most n, to `out`; returns their number. */
static size_t read_stored(struct pc_unpacker *u, uint8_t *out, size_t n)
{
    size_t got = 0;
    n = n < u->n_stored ? n : (size_t)u->n_stored;
    if (pc_pcol_read_at(u->fd, out, n, u->at, &got) || got < n) {
        u->failure = "the file cannot be read any more";
        return 0;
    }
    u->at += n;
    u->n_stored -= n;
    return n;
}

static void refill_piece(struct pc_unpacker *u)
{
    if (u->z.avail_in || !u->n_stored)
        return;
    u->z.next_in = u->piece;
    u->z.avail_in = (uInt)read_stored(u, u->piece, PIECE_BYTES);
}

/* Inflates at most n bytes to `out`, and returns their number; 0: there is an error. */
static size_t inflate_to(struct pc_unpacker *u, uint8_t *out, size_t n)
{
    size_t before = n < UINT_MAX ? n : UINT_MAX;
    u->z.next_out = out;
    u->z.avail_out = (uInt)before;
    int state = Z_OK;
    while (state == Z_OK && u->z.avail_out == before && !u->failure) {
        refill_piece(u);
        state = inflate(&u->z, Z_NO_FLUSH);
    }
    return before - u->z.avail_out;
}

/* Appends bytes to a window that has n of them until it is full, or nothing is left. */
static size_t fill_window(struct pc_unpacker *u, size_t n)
{
    while (n < u->room && u->refill.left && !u->failure) {
        size_t free_bytes = u->room - n;
        size_t most = u->refill.left < free_bytes ? (size_t)u->refill.left : free_bytes;
        size_t got =
            u->deflated ? inflate_to(u, u->window + n, most) : read_stored(u, u->window + n, most);
        u->refill.left -= got;
        n += got;
        if (!got && !u->failure)
            u->failure = cannot_inflate;
    }
    return n;
}

static bool make_room(struct pc_unpacker *u, size_t n)
{
    if (n <= u->room)
        return true;
    uint8_t *window = realloc(u->window, n);
    if (!window) {
        u->failure = "there is not enough memory";
        return false;
    }
    u->window = window;
    u->room = n;
    return true;
}

static void fill(struct pc_cursor *c, size_t n)
{
    struct pc_unpacker *u = (struct pc_unpacker *)c->more;
    size_t kept = (size_t)(c->end - c->at);
    if (!u->piece)
        u->piece = malloc(PIECE_BYTES);
    if (kept)
        memmove(u->window, c->at, kept);
    if (u->piece && make_room(u, n < WINDOW_BYTES ? WINDOW_BYTES : n))
        kept = fill_window(u, kept);
    c->at = u->window;
    c->end = u->window + kept;
    c->failed |= kept < n && u->refill.left;
}

static struct pc_unpacker *make(const struct pc_stored *s)
{
    struct pc_unpacker *u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    *u = (struct pc_unpacker){.refill = {.left = s->raw, .fill = fill},
                              .fd = s->fd,
                              .at = s->at,
                              .n_stored = s->n,
                              .deflated = s->deflated};
    return u;
}

struct pc_unpacker *pc_unpacker_new(const struct pc_stored *s, struct pc_cursor *c_out,
                                    struct pc_error *error)
{
    /* Deflate expands at most 1032-fold: a larger size is damage, and no memory is allocated for
     * it. */
    if (s->deflated ? s->raw / 1032 > s->n : s->raw != s->n) {
        pc_error_set(error, PC_EFORMAT, "its length is impossible");
        return NULL;
    }
    struct pc_unpacker *u = make(s);
    if (u && s->deflated)
        u->begun = inflateInit(&u->z) == Z_OK;
    if (!u || u->begun != s->deflated) {
        pc_error_set(error, PC_ENOMEM, "not enough memory");
        pc_unpacker_free(u);
        return NULL;
    }
    *c_out = (struct pc_cursor){.more = &u->refill};
    return u;
}

struct pc_unpacker *pc_unpacker_copy(const struct pc_cursor *c, int fd, struct pc_cursor *c_out)
{
    struct pc_unpacker *from = (struct pc_unpacker *)c->more;
    size_t kept = (size_t)(c->end - c->at), in_piece = from->deflated ? from->z.avail_in : 0;
    const struct pc_stored rest = {.fd = fd,
                                   .at = from->at - in_piece,
                                   .n = from->n_stored + in_piece,
                                   .raw = from->refill.left,
                                   .deflated = from->deflated};
    struct pc_unpacker *u = make(&rest);
    if (u && rest.deflated) {
        u->begun = inflateCopy(&u->z, &from->z) == Z_OK;
        u->z.avail_in = 0;
    }
    if (!u || u->begun != rest.deflated || !make_room(u, kept + 1)) {
        pc_unpacker_free(u);
        return NULL;
    }
    if (kept)
        memcpy(u->window, c->at, kept);
    *c_out = (struct pc_cursor){.at = u->window, .end = u->window + kept, .more = &u->refill};
    return u;
}

int pc_unpacker_fd(const struct pc_cursor *c)
{
    return ((const struct pc_unpacker *)c->more)->fd;
}

bool pc_unpacker_ended(struct pc_unpacker *u, struct pc_error *error)
{
    uint8_t more;
    if (!u->failure && u->deflated && !u->refill.left) {
        u->z.next_out = &more;
        u->z.avail_out = 1;
        int state = Z_OK;
        while (state == Z_OK && u->z.avail_out && !u->failure) {
            refill_piece(u);
            state = inflate(&u->z, Z_NO_FLUSH);
        }
        if (!u->failure && (state != Z_STREAM_END || !u->z.avail_out))
            u->failure = cannot_inflate;
    }
    if (u->failure)
        pc_error_set(error, PC_EFORMAT, "%s", u->failure);
    return !u->failure;
}

void pc_unpacker_free(struct pc_unpacker *u)
{
    if (!u)
        return;
    if (u->begun)
        inflateEnd(&u->z);
    free(u->piece);
    free(u->window);
    free(u);
}

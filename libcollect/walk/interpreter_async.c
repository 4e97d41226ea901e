/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the Python frames of the calling thread, in a call or in a handler that interrupted it.
 *
 * A thread's frames belong to it: they, their code objects and the texts of these do not change
 * while the thread is here, whichever thread holds the interpreter's lock. The interrupted code may
 * have left the innermost frame partly built or partly removed. So in a handler each page is probed
 * before it is read, each object must be of its type, and a run of frames counts only if it leads
 * to the run outside of it. In a call every frame is complete; pages are not probed there once a
 * guarded read has shown that the layout is that of this interpreter.
 *
 * PyGILState_GetThisThreadState reads one variable and calls pthread_getspecific (CPython 3.4 to
 * 3.13), which reads the thread's own memory (glibc, musl): no lock, no allocation.
 *
 * Must not: call anything else of Python, write into its memory, follow a pointer unprobed in a
 * handler.
 */
#include "libcollect/walk/interpreter_private.h"
#include "libcollect/walk/walk.h"

#include <string.h>

enum { PAGE = 4096 };
/* Bytes of a location table that are hashed at most. */
enum { MOST_LINES_BYTES = 4096 };

/* ---- Reading --------------------------------------------------------------------------------- */

static bool probe_page(struct pc_python_stack *s, uintptr_t page)
{
    uintptr_t *known = &s->pages[page / PAGE % PC_PYTHON_PAGES];
    if (*known == page)
        return true;
    if (!pc_walk_can_read(page))
        return false;
    *known = page;
    return true;
}

static __attribute__((noinline)) bool probe(struct pc_python_stack *s, uintptr_t at, size_t n)
{
    for (uintptr_t page = at & ~(uintptr_t)(PAGE - 1); page < at + n; page += PAGE)
        if (!probe_page(s, page))
            return false;
    return true;
}

/* True if n bytes can be read. */
static inline bool can_read(struct pc_python_stack *s, uintptr_t at, size_t n)
{
    return at >= PAGE && at + n >= at && (!s->guarded || probe(s, at, n));
}

static bool read_word(struct pc_python_stack *s, uintptr_t at, uintptr_t *out)
{
    if ((at & 7) || !can_read(s, at, sizeof *out))
        return false;
    *out = *(const uintptr_t *)at;
    return true;
}

static bool is_a(struct pc_python_stack *s, uintptr_t object, uintptr_t type)
{
    uintptr_t found;
    return !(object & 7) && read_word(s, object + PC_PYTHON_TYPE_AT, &found) && found == type;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* Frames that are followed at most: a longer chain is taken for a circle of incomplete frames. */
enum { MOST_FRAMES = 1 << 14 };

/* Reads one frame: finds the one outside of it, and whether it is the marker at the end of a run.
 * Other frames are added if there is room. False: the frame is not complete. */
static bool add_frame(struct pc_python_stack *s, uintptr_t frame, uintptr_t *previous_out,
                      bool *end_out)
{
    const struct pc_python_layout *l = pc_python.layout;
    uintptr_t code, instruction;
    if (!read_word(s, frame + l->frame_code, &code) ||
        !read_word(s, frame + l->frame_instruction, &instruction) ||
        !read_word(s, frame + l->frame_previous, previous_out) ||
        !can_read(s, frame + l->frame_owner, 1))
        return false;
    *end_out = !l->by_cframes && *(const uint8_t *)(frame + l->frame_owner) == l->c_stack;
    if (*end_out)
        return true;
    if (!is_a(s, code, pc_python.code_type))
        return false;
    if (s->n < s->capacity)
        s->frames[s->n++] = (struct pc_python_frame){code, UINTPTR_MAX,
                                                     (int64_t)(instruction - code - l->code_first)};
    else
        s->cut = s->deep = true;
    return true;
}

/* Sets `at` of the frames from `first` on, which the loop with that address in its C frame runs. */
static void place_run(struct pc_python_stack *s, uint32_t first, uintptr_t at)
{
    for (uint32_t i = first; i < s->n; i++)
        s->frames[i].at = at;
}

/* CPython 3.11. A run that does not lead to the current frame of the run outside of it is
 * incomplete and is left out. This is not known for a run that is too deep. */
static void read_by_cframes(struct pc_python_stack *s, uintptr_t cframe)
{
    const struct pc_python_layout *l = pc_python.layout;
    for (uint32_t left = MOST_FRAMES; cframe && left && !s->deep;) {
        uintptr_t frame, outer, end = 0, at = cframe;
        uint32_t first = s->n;
        bool is_end;
        if (!read_word(s, cframe + l->cframe_frame, &frame) ||
            !read_word(s, cframe + l->cframe_previous, &outer) ||
            (outer && !read_word(s, outer + l->cframe_frame, &end))) {
            s->cut = true;
            return;
        }
        while (frame && frame != end && left && !s->deep && add_frame(s, frame, &frame, &is_end))
            left--;
        if (frame != end && !s->deep)
            s->n = first;
        place_run(s, first, at);
        cframe = outer;
    }
}

/* CPython 3.12 and later. A run whose end is not found is left out, because its place on the C
 * stack is not known. */
static void read_by_frames(struct pc_python_stack *s, uintptr_t frame)
{
    uint32_t first = s->n;
    bool is_end = false;
    for (uint32_t left = MOST_FRAMES; frame && left; left--) {
        uintptr_t at = frame;
        if (!add_frame(s, frame, &frame, &is_end))
            break;
        if (is_end) {
            place_run(s, first, at);
            first = s->n;
            if (s->deep)
                return;
        }
    }
    s->cut |= frame || s->n != first;
    s->n = first;
}

/* The current frame of the innermost loop. Between two instructions at its entry its _PyCFrame has
 * no frame yet; then the _PyCFrame outside is used. */
static uintptr_t find_head(struct pc_python_stack *s, uintptr_t head)
{
    const struct pc_python_layout *l = pc_python.layout;
    uintptr_t frame, previous, outer;
    bool is_end;
    if (!l->has_cframe)
        return head;
    if (!read_word(s, head + l->cframe_frame, &frame))
        return 0;
    bool whole = frame && add_frame(s, frame, &previous, &is_end);
    s->n = 0;
    s->cut = s->deep = false;
    if (whole || !read_word(s, head + l->cframe_previous, &outer) || !outer)
        return frame;
    return read_word(s, outer + l->cframe_frame, &frame) ? frame : 0;
}

/* libpython may have been closed. */
static bool is_loaded(void)
{
    return pc_interpreter->flags & PCOLLECT_MODULE_EXE ||
           pc_loadmap_find((uintptr_t)pc_python.thread_state) == pc_interpreter;
}

void pc_interpreter_read(struct pc_python_stack *s, bool handler)
{
    const struct pc_python_layout *l = pc_python.layout;
    uintptr_t state, head;
    s->n = 0;
    s->cut = s->deep = false;
    if (!l || !is_loaded())
        return;
    bool trusted = atomic_load_explicit(&pc_python.trusted, memory_order_acquire);
    s->guarded = handler || !trusted || !pc_python.finalizing || pc_python.finalizing();
    memset(s->pages, 0, sizeof s->pages);
    state = (uintptr_t)pc_python.thread_state();
    if (!state || !read_word(s, state + l->thread_head, &head) || !head)
        return;
    if (l->by_cframes)
        read_by_cframes(s, head);
    else
        read_by_frames(s, find_head(s, head));
    if (!handler && !trusted && s->n && !s->cut && pc_interpreter_describe(s, &s->frames[0]))
        atomic_store_explicit(&pc_python.trusted, true, memory_order_release);
}

/* ---- Describing a frame ---------------------------------------------------------------------- */

struct bytes {
    const uint8_t *at;
    size_t n;
};

/* The characters of a str of the forms that code objects have. *kind_out: bytes per character; 0:
 * ASCII. */
static bool read_text(struct pc_python_stack *s, uintptr_t text, struct bytes *out,
                      unsigned *kind_out)
{
    struct pc_python_text t;
    uintptr_t n, state;
    if (!is_a(s, text, pc_python.text_type) || !read_word(s, text + PC_PYTHON_SIZE_AT, &n) ||
        !read_word(s, text + PC_PYTHON_STATE_AT, &state) ||
        !pc_python_text_of(pc_python.layout, state, &t) || n > INT32_MAX)
        return false;
    out->at = (const uint8_t *)text + t.at;
    out->n = n * t.kind;
    *kind_out = t.ascii ? 0 : t.kind;
    return true;
}

/* Copies a text as UTF-8; it is cut if it does not fit. Returns its bytes; 0: it cannot be read. */
static uint32_t copy_text(struct pc_python_stack *s, uintptr_t text, char *out, size_t room)
{
    struct bytes b;
    unsigned kind;
    uint32_t n = 0;
    if (!read_text(s, text, &b, &kind) || !can_read(s, (uintptr_t)b.at, b.n < room * 4 ? b.n : 1))
        return 0;
    if (!kind) {
        n = (uint32_t)(b.n < room ? b.n : room);
        memcpy(out, b.at, n);
        return n;
    }
    for (const uint8_t *p = b.at; p < b.at + b.n && n + 4 <= room; p += kind)
        n += pc_python_put_character(p, kind, out + n);
    return n;
}

static bool read_bytes(struct pc_python_stack *s, uintptr_t object, struct bytes *out)
{
    uintptr_t n;
    if (!is_a(s, object, pc_python.bytes_type) || !read_word(s, object + PC_PYTHON_SIZE_AT, &n) ||
        n > INT32_MAX || !can_read(s, object + PC_PYTHON_BYTES_AT, n))
        return false;
    *out = (struct bytes){(const uint8_t *)object + PC_PYTHON_BYTES_AT, n};
    return true;
}

static int64_t signed_number(const uint8_t **p, const uint8_t *end)
{
    uint64_t v = 0;
    for (unsigned shift = 0; *p < end && shift < 63; shift += 6) {
        uint8_t byte = *(*p)++;
        v |= (uint64_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            break;
    }
    return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/* An entry is a byte 1 CCCC LLL: code of its form, instructions less one; then bytes below 128. The
 * forms say by how much the line differs from that of the entry before. */
uint32_t pc_python_line(const uint8_t *table, size_t n, uint32_t first_line, int64_t place)
{
    const uint8_t *p = table, *end = table + n;
    int64_t line = first_line, known = first_line, at = 0;
    if (place < 0)
        return first_line;
    while (p < end && at <= place) {
        uint8_t head = *p++;
        unsigned form = head >> 3 & 15;
        if (form == 13 || form == 14)
            line += signed_number(&p, end);
        else if (form >= 10 && form <= 12)
            line += form - 10;
        known = form == 15 ? 0 : line;
        at += 2 * ((head & 7) + 1);
        while (p < end && !(*p & 0x80))
            p++;
    }
    return at > place && known > 0 && known <= UINT32_MAX ? (uint32_t)known : 0;
}

struct code {
    uintptr_t file, name;
    uint32_t first_line;
    struct bytes lines;
};

static bool read_code(struct pc_python_stack *s, uintptr_t code, struct code *out)
{
    const struct pc_python_layout *l = pc_python.layout;
    uintptr_t lines;
    if (!is_a(s, code, pc_python.code_type) || !read_word(s, code + l->code_file, &out->file) ||
        !read_word(s, code + l->code_name, &out->name) ||
        !read_word(s, code + l->code_lines, &lines) ||
        !can_read(s, code + l->code_first_line, sizeof out->first_line) ||
        !read_bytes(s, lines, &out->lines))
        return false;
    memcpy(&out->first_line, (const void *)(code + l->code_first_line), sizeof out->first_line);
    return true;
}

bool pc_interpreter_describe(struct pc_python_stack *s, const struct pc_python_frame *f)
{
    struct code code;
    if (!read_code(s, f->code, &code))
        return false;
    s->line = pc_python_line(code.lines.at, code.lines.n, code.first_line, f->place);
    s->file_bytes = copy_text(s, code.file, s->file, sizeof s->file);
    s->name_bytes = copy_text(s, code.name, s->name, sizeof s->name);
    return s->file_bytes && s->name_bytes;
}

/* ---- Digest ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, struct bytes b)
{
    uint64_t word;
    h = mix(h, b.n);
    for (; b.n >= sizeof word; b.at += sizeof word, b.n -= sizeof word) {
        memcpy(&word, b.at, sizeof word);
        h = mix(h, word);
    }
    word = 0;
    memcpy(&word, b.at, b.n);
    return mix(h, word);
}

static uint64_t mix_text(struct pc_python_stack *s, uint64_t h, uintptr_t text)
{
    struct bytes b;
    unsigned kind;
    if (!read_text(s, text, &b, &kind) || !can_read(s, (uintptr_t)b.at, b.n))
        return mix(h, text);
    return mix_bytes(mix(h, kind), b);
}

uint64_t pc_interpreter_digest(struct pc_python_stack *s)
{
    uint64_t h = mix(s->n, s->cut);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct pc_python_frame *f = &s->frames[i];
        struct code code;
        h = mix(mix(h, f->code), (uint64_t)f->place);
        if (!read_code(s, f->code, &code))
            continue;
        struct bytes lines = code.lines;
        if (lines.n > MOST_LINES_BYTES)
            lines.n = MOST_LINES_BYTES;
        h = mix(mix(h, code.first_line), code.lines.n);
        h = mix_bytes(mix_text(s, mix_text(s, h, code.file), code.name), lines);
    }
    return h;
}

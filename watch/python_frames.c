/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads Python's frames of another process: see python_frames.h. The structures and the order of
 * frames are those of libcollect/walk/interpreter_async.c, which reads its own process.
 */
#include "watch/python_frames.h"

#include "analysis/allocation.h"
#include "watch/caught.h"

#include <string.h>

enum { FRAME_BYTES = 80, MOST_INTERPRETERS = 16, MOST_THREADS = 4096, MOST_RUNS = 512 };
enum { MOST_NAME = 512, MOST_FILE = 1024, MOST_LINES = 1 << 20 };

/* ---- Words ----------------------------------------------------------------------------------- */

static bool read_bytes(const struct pct_python *py, uint64_t at, void *to, size_t n)
{
    return at && pct_caught_read(py->pid, at, to, n) == n;
}

static uint64_t word(const struct pct_python *py, uint64_t at)
{
    uint64_t found = 0;
    return !(at & 7) && read_bytes(py, at, &found, sizeof found) ? found : 0;
}

static bool is_a(const struct pct_python *py, uint64_t object, uint64_t type)
{
    return object && !(object & 7) && word(py, object + PC_PYTHON_TYPE_AT) == type;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* The PyThreadState of a thread; 0: it has none. */
static uint64_t find_state(const struct pct_python *py, int tid)
{
    const struct pc_python_layout *l = py->layout;
    uint64_t interpreter = word(py, py->runtime + l->runtime_head);
    for (int i = 0; interpreter && i < MOST_INTERPRETERS; i++) {
        uint64_t state = word(py, interpreter + l->interpreter_threads);
        for (int k = 0; state && k < MOST_THREADS; k++) {
            if (word(py, state + l->thread_tid) == (uint64_t)tid)
                return state;
            state = word(py, state + l->thread_next);
        }
        interpreter = word(py, interpreter + l->interpreter_next);
    }
    return 0;
}

struct one {
    uint64_t code, previous, instruction;
    bool end; /* marks the end of a run, is no function */
};

static bool read_frame(const struct pct_python *py, uint64_t at, struct one *out)
{
    const struct pc_python_layout *l = py->layout;
    uint8_t bytes[FRAME_BYTES];
    if (!read_bytes(py, at, bytes, sizeof bytes))
        return false;
    memcpy(&out->code, bytes + l->frame_code, 8);
    memcpy(&out->previous, bytes + l->frame_previous, 8);
    memcpy(&out->instruction, bytes + l->frame_instruction, 8);
    out->end = !l->by_cframes && bytes[l->frame_owner] == l->c_stack;
    return out->end || is_a(py, out->code, py->code_type);
}

/* Adds a frame; false: there is no room. */
static bool add(struct pct_python_frames *out, const struct pct_python *py, const struct one *f)
{
    if (out->n == PCT_STACK_FRAMES)
        return false;
    out->list[out->n++] = (struct pct_python_frame){
        f->code, (int64_t)(f->instruction - f->code - py->layout->code_first), out->n_runs};
    return true;
}

/* CPython 3.11: each run has a _PyCFrame; the outermost has no frame. False: it is inconsistent. */
static bool read_by_cframes(const struct pct_python *py, uint64_t cframe,
                            struct pct_python_frames *out)
{
    const struct pc_python_layout *l = py->layout;
    struct one f;
    while (cframe && out->n_runs < MOST_RUNS) {
        uint64_t frame = word(py, cframe + l->cframe_frame);
        uint64_t outer = word(py, cframe + l->cframe_previous);
        uint64_t end = outer ? word(py, outer + l->cframe_frame) : 0;
        size_t first = out->n;
        for (; frame && frame != end; frame = f.previous)
            if (!read_frame(py, frame, &f) || !add(out, py, &f))
                return false;
        if (frame != end)
            return false;
        out->n_runs += out->n > first;
        cframe = outer;
    }
    return !cframe;
}

/* CPython 3.12 and later: a run ends at a frame that stands for no function. */
static bool read_by_frames(const struct pct_python *py, uint64_t frame,
                           struct pct_python_frames *out)
{
    struct one f = {.end = true};
    for (; frame && out->n_runs < MOST_RUNS; frame = f.previous) {
        if (!read_frame(py, frame, &f) || (!f.end && !add(out, py, &f)))
            return false;
        out->n_runs += f.end;
    }
    return !frame && f.end;
}

void pct_python_read(const struct pct_python *py, int tid, struct pct_python_frames *out)
{
    const struct pc_python_layout *l = py->layout;
    uint64_t state = l ? find_state(py, tid) : 0,
             head = state ? word(py, state + l->thread_head) : 0;
    out->n = 0;
    out->n_runs = 0;
    if (!head)
        return;
    if (l->by_cframes
            ? !read_by_cframes(py, head, out)
            : !read_by_frames(py, l->has_cframe ? word(py, head + l->cframe_frame) : head, out))
        out->n = 0;
}

/* ---- Describing a frame ---------------------------------------------------------------------- */

/* Copies a str as UTF-8, cut to the room; false: it cannot be read, or is empty. */
static bool read_text(const struct pct_python *py, uint64_t text, char *out, size_t room)
{
    uint8_t bytes[4 * MOST_FILE];
    struct pc_python_text t;
    size_t used = 0;
    if (!is_a(py, text, py->text_type) ||
        !pc_python_text_of(py->layout, word(py, text + PC_PYTHON_STATE_AT), &t))
        return false;
    uint64_t n = word(py, text + PC_PYTHON_SIZE_AT);
    n = n < room ? n : room - 1;
    if (!n || !read_bytes(py, text + t.at, bytes, n * t.kind))
        return false;
    for (size_t i = 0; i < n && used + 4 < room; i++)
        used += pc_python_put_character(bytes + i * t.kind, t.kind, out + used);
    out[used] = '\0';
    return used > 0;
}

static uint32_t read_line(const struct pct_python *py, const struct pct_python_frame *f)
{
    uint64_t lines = word(py, f->code + py->layout->code_lines), n;
    uint32_t first, line = 0;
    if (!is_a(py, lines, py->bytes_type) ||
        !read_bytes(py, f->code + py->layout->code_first_line, &first, sizeof first))
        return 0;
    n = word(py, lines + PC_PYTHON_SIZE_AT);
    uint8_t *table = n && n < MOST_LINES ? pct_alloc(n, 1) : NULL;
    if (table && read_bytes(py, lines + PC_PYTHON_BYTES_AT, table, n))
        line = pc_python_line(table, n, first, f->place);
    pct_free(table);
    return line;
}

/* Keeps the place of a frame and returns its offset; 0: it cannot be read. */
static uint64_t describe(const struct pct_python *py, const struct pct_python_frame *f,
                         const struct pct_stack_module *python, struct pct_named_places *places)
{
    const struct pc_python_layout *l = py->layout;
    char name[MOST_NAME], file[MOST_FILE];
    if (!is_a(py, f->code, py->code_type) ||
        !read_text(py, word(py, f->code + l->code_file), file, sizeof file) ||
        !read_text(py, word(py, f->code + l->code_name), name, sizeof name))
        return 0;
    return pct_named_make(
        places, python,
        &(struct pct_frame){.function = name, .file = file, .line = read_line(py, f)});
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* True for a frame of the interpreter's loop, each of which runs one run of Python frames. */
static bool is_loop(const struct pct_python *py, const struct pct_stack_frame *f)
{
    static const char loop[] = "_PyEval_EvalFrameDefault";
    return f->module == py->module && f->function && !strncmp(f->function, loop, sizeof loop - 1);
}

/* Adds the place of a frame. The innermost frame is a point at its instruction, the others are
 * calls that return after theirs, as in libcollect. */
static void add_place(struct pct_stack_frame *frames, size_t *n,
                      const struct pct_stack_module *python, uint64_t offset)
{
    frames[*n] = (struct pct_stack_frame){.module = python, .offset = offset - !*n, .exact = !*n};
    ++*n;
}

void pct_python_put(const struct pct_python *py, const struct pct_python_frames *frames,
                    struct pct_stack_modules *modules, struct pct_named_places *places,
                    struct pct_stack *stack)
{
    size_t n = 0, next = 0, n_loops = 0;
    for (size_t i = 0; i < stack->n; i++)
        n_loops += is_loop(py, &stack->frames[i]);
    /* The innermost loop may not have started; a cut stack lacks the outermost loops. */
    bool fits = n_loops == frames->n_runs || n_loops == frames->n_runs + 1 ||
                (stack->cut && n_loops < frames->n_runs);
    if (!frames->n || !n_loops || !fits)
        return;
    const struct pct_stack_module *python =
        pct_stack_module(modules, PCOLLECT_MODULE_PYTHON, NULL, 0);
    struct pct_stack_frame *put = pct_alloc(PCT_STACK_FRAMES, sizeof *put);
    uint32_t run = n_loops == frames->n_runs + 1 ? UINT32_MAX : 0;
    for (size_t i = 0; i < stack->n && n < PCT_STACK_FRAMES; i++) {
        if (stack->frames[i].module != py->module)
            put[n++] = stack->frames[i];
        if (!is_loop(py, &stack->frames[i]))
            continue;
        for (; next < frames->n && frames->list[next].run == run && n < PCT_STACK_FRAMES; next++) {
            uint64_t offset = describe(py, &frames->list[next], python, places);
            if (offset)
                add_place(put, &n, python, offset);
        }
        run++;
    }
    memcpy(stack->frames, put, n * sizeof *put);
    stack->n = n;
    pct_free(put);
}

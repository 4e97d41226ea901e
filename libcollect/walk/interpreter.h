/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the Python functions that the calling thread is in from the interpreter's own structures,
 * without a call that needs its lock (doc/internals/python.md).
 *
 * One frame of C, that of the interpreter's loop, runs a run of Python frames: `at` of a Python
 * frame is an address inside that frame of C. This puts Python frames and frames of C into one
 * order.
 *
 * Invariants of struct pc_python_stack after a reading:
 *  1. frames[0] is the innermost; `at` never falls from one frame to the next.
 *  2. The code object of each frame had the type of a code object when it was read.
 */
#ifndef PC_INTERPRETER_H
#define PC_INTERPRETER_H

#include "libcollect/walk/loadmap.h"

#include <string.h>

enum { PC_PYTHON_PAGES = 64, PC_PYTHON_FILE_BYTES = 1024, PC_PYTHON_NAME_BYTES = 512 };

struct pc_python_frame {
    uintptr_t code; /* the code object */
    uintptr_t at;   /* on the C stack, in the loop that runs it; UINTPTR_MAX: outside of all */
    int64_t place;  /* of the instruction: bytes from the first one; before it: negative */
};

struct pc_python_stack {
    uint32_t n, capacity;
    bool cut;     /* frames outside of these exist that were not read, */
    bool deep;    /* because there was no room for them */
    bool guarded; /* each page is probed before it is read */
    uintptr_t pages[PC_PYTHON_PAGES];
    /* Text of the frame that was described last, not terminated. */
    uint32_t file_bytes, name_bytes, line; /* line 0: unknown */
    char file[PC_PYTHON_FILE_BYTES], name[PC_PYTHON_NAME_BYTES];
    struct pc_python_frame frames[]; /* capacity */
};

enum pc_interpreter_found {
    PC_INTERPRETER_NONE,
    PC_INTERPRETER_READ,   /* its frames can be read */
    PC_INTERPRETER_UNKNOWN /* its version is not known: nothing is read */
};

/* Looks for an interpreter in the process. *version_out: PY_VERSION_HEX, where one was found. Takes
 * the loader's lock. init-only. */
enum pc_interpreter_found pc_interpreter_find(uint32_t *version_out);

/* The module whose frames Python's stand for; NULL: no interpreter that can be read. */
extern PC_HIDDEN struct pc_module *pc_interpreter;

/* Bytes of a struct pc_python_stack for that many frames. */
static inline size_t pc_python_stack_bytes(uint32_t capacity)
{
    return sizeof(struct pc_python_stack) + capacity * sizeof(struct pc_python_frame);
}

/* Reads the stack of the calling thread. `handler`: in a signal handler, where structures may be
 * half written; else in a call, where they are consistent. AS-safe. */
void pc_interpreter_read(struct pc_python_stack *s, bool handler);

/* Fills file, name and line for a frame of the stack; false: it cannot be read. AS-safe. */
bool pc_interpreter_describe(struct pc_python_stack *s, const struct pc_python_frame *f);

/* A hash of everything that the descriptions of the stack's frames depend on. AS-safe. */
uint64_t pc_interpreter_digest(struct pc_python_stack *s);

/* ---- For readers of another process, and for tests ---- */

/* The layout of the structures of one version of CPython, as built for 64 bits with its global
 * lock: bytes from the beginning of a structure. */
struct pc_python_layout {
    uint16_t version; /* PY_VERSION_HEX >> 16 */
    /* True if runs of the loop are separated by a _PyCFrame: each run has one on the C stack, which
     * leads to its innermost frame and to the _PyCFrame of the run outside. False: the outermost
     * frame of a run has the owner c_stack, lies on the C stack itself, and stands for no
     * function. */
    bool by_cframes;
    uint8_t c_stack;
    /* Offset in PyThreadState of the pointer to the _PyCFrame (has_cframe) or to the innermost
     * frame. */
    bool has_cframe;
    uint8_t thread_head, cframe_frame, cframe_previous;
    /* Offsets that lead to the threads from outside: in _PyRuntime, PyInterpreterState,
     * PyThreadState. */
    uint16_t runtime_head, interpreter_next, interpreter_threads;
    uint8_t thread_next, thread_tid;
    /* Offsets in _PyInterpreterFrame. */
    uint8_t frame_code, frame_previous, frame_instruction, frame_owner;
    /* Offsets in PyCodeObject. */
    uint8_t code_first_line, code_file, code_name, code_lines, code_first;
    /* Size of the head of a str: compact and all ASCII, compact. */
    uint8_t ascii_bytes, compact_bytes;
};

/* The layout of a version by its PY_VERSION_HEX; NULL: not known. */
const struct pc_python_layout *pc_python_layout_of(uint32_t version);

/* The line of the instruction `place` bytes from the first one, from a location table (PEP 626,
 * CPython 3.11 to 3.13); 0: none. Reads n bytes at most. */
uint32_t pc_python_line(const uint8_t *table, size_t n, uint32_t first_line, int64_t place);

/* Offsets that all these versions share: the type of any object, the size of a str or bytes, the
 * state of a str, the first byte of a bytes. */
enum {
    PC_PYTHON_TYPE_AT = 8,
    PC_PYTHON_SIZE_AT = 16,
    PC_PYTHON_STATE_AT = 32,
    PC_PYTHON_BYTES_AT = 32
};

/* Layout of the text of a str. */
struct pc_python_text {
    unsigned kind; /* bytes per character: 1, 2, 4 */
    bool ascii;
    uint8_t at; /* bytes from the str to its first character */
};

/* Decodes the state of a str; false: code objects have no such str. From the lowest bit: interned 2
 * (3.12: 2 and one more that is not used), kind 3, compact, ascii. */
static inline bool pc_python_text_of(const struct pc_python_layout *l, uint64_t state,
                                     struct pc_python_text *out)
{
    out->kind = state >> 2 & 7;
    out->ascii = state >> 6 & 1;
    out->at = out->ascii ? l->ascii_bytes : l->compact_bytes;
    return state >> 5 & 1 && (out->kind == 1 || out->kind == 2 || out->kind == 4);
}

/* Puts a character of `kind` bytes at `from` to `to` as UTF-8. Returns its bytes there, at most 4.
 */
static inline unsigned pc_python_put_character(const uint8_t *from, unsigned kind, char *to)
{
    uint32_t c = *from;
    uint16_t c2;
    if (kind == 2) {
        memcpy(&c2, from, 2);
        c = c2;
    } else if (kind == 4) {
        memcpy(&c, from, 4);
    }
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(0xf00 >> n | c);
    return n;
}

#endif

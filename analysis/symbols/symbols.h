/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From code addresses of a profile to functions, files and lines, inlined calls included.
 *
 * Symbols that the profile has stored are used. Other modules, and those of which a stored place
 * lacks its function or line, are looked for at the path that the profile names and must have the
 * build-id that it names; the vdso is in this process, if that has the build-id. Files are read
 * once and answers are kept.
 * Goes to the network only after pct_symbols_allow_servers.
 */
#ifndef PCT_SYMBOLS_H
#define PCT_SYMBOLS_H

#include "analysis/buffer.h"
#include "format/profile.h"

/* One function in the chain at an address. Strings belong to the symbols. */
struct pct_frame {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* of the call made in this frame; 0: unknown */
    bool inlined;         /* it is inlined into the frame before it */
    bool tail_call;       /* left by a tail call: the stack did not have it */
    /* File in which the function is declared, if the line is of another one, which it includes;
     * else NULL. */
    const char *home;
    /* Offset at which a function begins that no symbol names; 0: one does, or it is not known. Such
     * a function has a name if it is `main`. */
    uint64_t begin;
};

/* True if the file of the function names it. */
static inline bool pct_frame_has_symbol(const struct pct_frame *f)
{
    return f->function && !f->begin;
}

/* The file of the function. */
static inline const char *pct_frame_home(const struct pct_frame *f)
{
    return f->home ? f->home : f->file;
}

/* All that is known of an address: the function that the machine runs first, then what was inlined
 * into it, outermost first. At least one frame. */
struct pct_place {
    const struct pct_frame *frames;
    uint32_t n_frames;
};

enum pct_symbols_state {
    PCT_SYMBOLS_UNUSED, /* no address of it was asked for */
    PCT_SYMBOLS_LINES,
    PCT_SYMBOLS_FUNCTIONS, /* a symbol table only */
    PCT_SYMBOLS_NONE,      /* stripped */
    PCT_SYMBOLS_GONE,
    PCT_SYMBOLS_CHANGED, /* another build-id */
    PCT_SYMBOLS_UNREADABLE,
    PCT_SYMBOLS_NO_FILE, /* the [vdso] of another kernel and the like: no file to read */
    PCT_SYMBOLS_OFF,     /* built without libdw */
    PCT_SYMBOLS_STORED,  /* in the profile: no file has more */
    PCT_N_SYMBOLS_STATES
};

struct pct_symbols;

struct pct_symbols *pct_symbols_new(const struct pc_profile *p);
/* Makes symbols from the files only, without those stored in the profile. */
struct pct_symbols *pct_symbols_new_files(const struct pc_profile *p);
void pct_symbols_free(struct pct_symbols *s);

/* Puts the place of an address into the cache: which is known without files. Everything in it must
 * outlive s. */
void pct_symbols_teach(struct pct_symbols *s, uint32_t module, uint64_t offset,
                       struct pct_place place);

/* Names another path of a module's file, which is read if that at the module's own path is another
 * one or gone, or first if the module has no build-id: a process in a container sees other files.
 * Before an address of the module is asked for. */
void pct_symbols_also_at(struct pct_symbols *s, uint32_t module, const char *path);

/* True if the file of a module is on this machine, or comes from a server. Opens it. */
bool pct_symbols_has_file(struct pct_symbols *s, uint32_t module);

/* From now on, files that are not on this machine are requested from the debuginfod servers that
 * the environment names. Does nothing without libdw. */
void pct_symbols_allow_servers(void);
bool pct_symbols_may_ask_servers(void);

/* The reason for which servers that were asked did not answer, kept for good; NULL: one did, or
 * none was asked. */
const char *pct_symbols_servers_problem(void);

/* Place of the call that returns to `offset` (a return address minus the load bias) of a
 * module. The frames belong to s. */
struct pct_place pct_symbols_find(struct pct_symbols *s, uint32_t module, uint64_t offset);

/* The code of the function that has the place of pct_symbols_find: offsets from *lo_out to before
 * *hi_out. A part of a function that lies apart counts as one. False: not known, or the file is not
 * there. */
bool pct_symbols_bounds(struct pct_symbols *s, uint32_t module, uint64_t offset, uint64_t *lo_out,
                        uint64_t *hi_out);

/* The frames of a node of the profile, a FRAME, a POINT or an OP: those that tail calls removed
 * between the call above the node and what it reached (of these `tail_call` is true, and their code
 * is in the module of the call above), then its own. An OP has none of its own. n_frames may be 0.
 */
struct pct_place pct_symbols_node(struct pct_symbols *s, uint32_t node);

/* The frames of a node `n` below `up` (NULL: none) for a caller that asks for it once, or has it
 * not in memory: they are not kept by node. */
struct pct_place pct_symbols_node_once(struct pct_symbols *s, const struct pc_profile_node *n,
                                       const struct pc_profile_node *up);

/* Looks up all nodes of the profile that have frames; without `points` no sampled instruction. */
void pct_symbols_look_up(struct pct_symbols *s, bool points);

/* Adds tables of all places of p that were looked up in s, so that reading a profile with them
 * needs no files. */
struct pct_stores;
void pct_symbols_store(const struct pct_symbols *s, const struct pc_profile *p,
                       struct pct_stores *all);

/* Drops the tables that pct_symbols_store adds, so that better places replace those of p: tables of
 * one name would be added up. After pct_symbols_store; symbols of p are not to be used then. */
void pct_symbols_drop(struct pc_profile *p);

enum pct_symbols_state pct_symbols_state(const struct pct_symbols *s, uint32_t module);
const char *pct_symbols_state_text(enum pct_symbols_state state);

/* True if the module is the program, or a library that came with it and not with the system. */
bool pct_symbols_is_program(const struct pc_profile_module *m);

/* True if the module is an interpreter of Python, as a program or a library. */
bool pct_symbols_is_python(const struct pc_profile_module *m);

/* Adds the time of computation sampled at a node of the profile to its module. */
void pct_symbols_add_time(struct pct_symbols *s, uint32_t node, pc_u128 ns);
/* Weighs the modules by what was added: once, with the time of all computation. Modules without
 * lines are then complained of by their share; without it only the program is. */
void pct_symbols_weigh(struct pct_symbols *s, pc_u128 all_ns);

/* One line that says what is wrong with a module's symbols and what to do, or NULL. */
const char *pct_symbols_complaint(const struct pct_symbols *s, uint32_t module);

/* Sentences of all modules, each with a number from 0; NULL: there are fewer. Modules without names
 * or lines that have the same cure are in one. */
const char *pct_symbols_remark(const struct pct_symbols *s, size_t i);

/* The runtime library of a language that a source file belongs to, such as "the C++ library"; NULL:
 * none. `file` may be NULL. */
const char *pct_symbols_runtime(const char *file);

/* True for the code of an interpreter of Python and of the system's C modules, which is between a
 * line of Python and the libraries that it calls. */
bool pct_symbols_carries_python(const struct pc_profile *p, uint32_t module);

/* A frame as the place of an MPI call. Python calls MPI through C modules whose functions have no
 * lines, and imports them through its runtime library: the place is then the function of Python. A
 * function of another library is a place of its own, with or without a name. */
enum pct_caller { PCT_CALLER_OTHER, PCT_CALLER_PASSES, PCT_CALLER_PYTHON };
enum pct_caller pct_symbols_caller(const struct pc_profile *p, uint32_t module,
                                   const struct pct_frame *frame);

/* The function of code that a process made while it ran and tells no names of; and what names it.
 * Recordings have it in the module PCOLLECT_MODULE_JIT, profiles of ranks in none. */
#define PCT_MADE_CODE "(code made at run time)"
#define PCT_MADE_CODE_CURE                                                                         \
    "a program that writes /tmp/perf-PID.map while it is recorded, as node --perf-basic-prof "     \
    "does, gives names to such code"
#define PCT_MADE_CODE_RUN_CURE                                                                     \
    "pcollect record gives names to such code of a program that writes /tmp/perf-PID.map, as "     \
    "node --perf-basic-prof does"

#endif

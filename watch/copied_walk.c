/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1

#include "watch/copied_walk.h"
#include "libcollect/walk/walk.h"

#include <linux/perf_event.h>
#include <string.h>
#include <ucontext.h>

#if defined __x86_64__
#include <asm/perf_regs.h>
enum { N_REGISTERS = 17, AT_SP = PERF_REG_X86_SP, AT_PC = PERF_REG_X86_IP };

/* Fills the context from registers in the order of the kernel's numbers, without flags and
 * segments. */
static void fill_context(ucontext_t *uc, const uint64_t *registers)
{
    static const uint8_t at[N_REGISTERS] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                                            REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
                                            REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (int i = 0; i < N_REGISTERS; i++)
        uc->uc_mcontext.gregs[at[i]] = (greg_t)registers[i];
}
#elif defined __aarch64__
#include <asm/perf_regs.h>
enum { N_REGISTERS = 33, AT_SP = PERF_REG_ARM64_SP, AT_PC = PERF_REG_ARM64_PC };

static void fill_context(ucontext_t *uc, const uint64_t *registers)
{
    for (int i = 0; i < 31; i++)
        uc->uc_mcontext.regs[i] = registers[i];
    uc->uc_mcontext.sp = registers[AT_SP];
    uc->uc_mcontext.pc = registers[AT_PC];
}
#else
enum { N_REGISTERS = 2, AT_SP = 0, AT_PC = 1 };

static void fill_context(ucontext_t *uc, const uint64_t *registers)
{
    (void)uc, (void)registers;
}
#endif

/* Place of a frame pointer that is not known: no read accepts it. */
enum { NOWHERE = 1 };

/* The walk of one thread. The walker has the first member. */
struct process {
    struct pc_memory memory;
    const struct pct_copied *thread;
    const struct pct_code *code;
    uint64_t there; /* program counter of the newest frame in the process */
    bool missing;   /* a word of the stack could not be read */
};

uint64_t pct_copied_sp(const uint64_t *registers)
{
    return registers[AT_SP];
}

static bool read_word(struct pc_memory *memory, uintptr_t at, uintptr_t *out)
{
    enum { MOST_STACK = 8 << 20 }; /* bytes: an address further up may be none of the stack */
    struct process *p = (struct process *)memory;
    const struct pct_copied *t = p->thread;
    uint64_t word;
    if (!t->read(t->arg, at, &word)) {
        p->missing |= at - pct_copied_sp(t->registers) < MOST_STACK;
        return false;
    }
    *out = word;
    return true;
}

static uintptr_t find_code(struct pc_memory *memory, uintptr_t pc, bool exact)
{
    struct process *p = (struct process *)memory;
    uintptr_t here = pct_code_here(p->code, pc - !exact);
    p->there = pc;
    return here ? here + !exact : 0;
}

/* Finds the return address of a function of Go without a frame, as those that call nothing have
 * none: it is on top of the stack, behind a call of the code that runs. Other calls than direct
 * ones on x86-64 are not found: the step by pointer then passes over the caller. */
static bool find_on_top(const struct pc_walk *walk, const struct pct_code *code, uintptr_t *ra)
{
#if defined __x86_64__
    enum { CALL = 0xe8, CALL_BYTES = 5, NEAR = 4096 };
    int32_t distance;
    if (!walk->exact || !walk->pc || !read_word(walk->memory, walk->sp, ra))
        return false;
    const uint8_t *call = (const void *)pct_code_here(code, *ra - CALL_BYTES);
    if (!call || pct_code_here(code, *ra - 1) != (uintptr_t)call + CALL_BYTES - 1 || *call != CALL)
        return false;
    memcpy(&distance, call + 1, sizeof distance);
    return walk->pc - ((uintptr_t)call + CALL_BYTES + (uintptr_t)(intptr_t)distance) < NEAR;
#else
    (void)walk, (void)code, (void)ra;
    return false;
#endif
}

/* Goes to the caller that returns to ra, without an unwind table. */
static enum pc_step_result leave(struct pc_walk *walk, uintptr_t sp, uintptr_t ra)
{
    walk->sp = sp;
    walk->lr = 0;
    walk->exact = false;
    walk->pc = walk->memory->code(walk->memory, ra, false);
    return PC_STEP_OK;
}

static bool find_fp(struct pc_walk *walk, uintptr_t *fp)
{
    *fp = walk->fp;
    return !walk->fp_loc ||
           (walk->fp_loc % sizeof *fp == 0 && read_word(walk->memory, walk->fp_loc, fp));
}

/* Steps by a rule of .debug_frame, which a compiler writes instead of the unwind table if it is
 * told to make none. */
static enum pc_step_result step_by_rule(struct pc_walk *walk, const struct pct_code_rule *rule)
{
    uintptr_t base = walk->sp, ra = walk->lr;
    if (rule->outermost)
        return PC_STEP_END;
    if (rule->by_fp && !find_fp(walk, &base))
        return PC_STEP_CUT;
    uintptr_t cfa = base + (uintptr_t)rule->cfa_off;
    if (cfa < walk->sp + rule->ra_saved ||
        (rule->ra_saved && !read_word(walk->memory, cfa + (uintptr_t)rule->ra_off, &ra)) || !ra)
        return PC_STEP_CUT;
    if (rule->fp_saved)
        walk->fp_loc = cfa + (uintptr_t)rule->fp_off;
    return leave(walk, cfa, ra);
}

/* True for an address to which a call can return. */
static bool is_return(const struct process *p, uintptr_t ra)
{
    uintptr_t here = pct_code_here(p->code, ra - 1);
    return here ? pct_code_names_is_return(p->thread->names, here + 1)
                : pct_code_is_mapped(p->code, ra - 1);
}

/* Steps to the caller by the frame pointer: it points to the caller's, above which the return
 * address is. The outermost caller's is 0. */
static enum pc_step_result step_by_pointer(struct pc_walk *walk, const struct process *p)
{
    uintptr_t fp, ra;
    if (!find_fp(walk, &fp))
        return PC_STEP_CUT;
    if (!fp)
        return PC_STEP_END;
    if (fp < walk->sp || fp % sizeof fp || !read_word(walk->memory, fp + sizeof fp, &ra) ||
        !is_return(p, ra))
        return PC_STEP_CUT;
    walk->fp_loc = fp;
    return leave(walk, fp + 2 * sizeof fp, ra);
}

/* True if the word is the address to which a call of the function at `begin` returns. */
static bool is_return_from(struct pc_walk *walk, const struct process *p, uintptr_t at,
                           uintptr_t begin)
{
    uintptr_t ra;
    struct process *of = (struct process *)walk->memory;
    bool missing = of->missing, known = read_word(walk->memory, at, &ra);
    of->missing = missing; /* a guess says nothing of the stack */
    if (!known)
        return false;
    uintptr_t here = pct_code_here(p->code, ra - 1);
    return here && pct_code_names_returns_from(p->thread->names, here + 1, begin);
}

/* Steps from a function of which the instructions say where its return address is. False: they do
 * not, or there is none. */
static bool step_by_instructions(struct pc_walk *walk, const struct process *p, uintptr_t here)
{
    uintptr_t ra, fp, begin, at = walk->sp;
    enum pct_frame_place place = pct_code_names_place(p->thread->names, here, walk->exact, &begin);
    if (place == PCT_FRAME_BY_CALL && is_return_from(walk, p, at, begin))
        place = PCT_FRAME_TOP;
    else if (place == PCT_FRAME_BY_CALL && find_fp(walk, &fp) &&
             is_return_from(walk, p, fp + sizeof fp, begin))
        place = PCT_FRAME_SET;
    if (place == PCT_FRAME_SET)
        return step_by_pointer(walk, p) == PC_STEP_OK;
    if (place != PCT_FRAME_TOP && place != PCT_FRAME_PUSHED)
        return false;
    at += place == PCT_FRAME_PUSHED ? sizeof ra : 0;
    if (!read_word(walk->memory, at, &ra) || !is_return(p, ra))
        return false;
    if (place == PCT_FRAME_PUSHED)
        walk->fp_loc = walk->sp;
    leave(walk, at + sizeof ra, ra);
    return true;
}

/* Steps from a frame whose caller the unwind tables of the walker do not tell: by .debug_frame, by
 * the instructions of its function, or where code is taken to keep a frame pointer: made code and
 * that of Go, and in a process that makes code also functions of files without a table, as a
 * machine for scripts has them beside its made code. */
static enum pc_step_result step_without_table(struct pc_walk *walk, const struct process *p,
                                              uint64_t there)
{
    struct pct_code_rule rule;
    uintptr_t ra;
    uintptr_t here = walk->pc ? walk->pc - !walk->exact : 0;
    bool in_file = here && !pc_walk_function_start(here);
    bool unreadable = !here && pct_code_is_mapped(p->code, there);
    if (in_file && pct_code_names_rule(p->thread->names, here, &rule))
        return step_by_rule(walk, &rule);
    if (in_file && step_by_instructions(walk, p, here))
        return PC_STEP_OK;
    if (!pct_code_has_pointers(p->code, there) && !(in_file && p->code->makes) &&
        !(p->thread->pointers && (in_file || unreadable)))
        return PC_STEP_CUT;
    if (find_on_top(walk, p->code, &ra))
        return leave(walk, walk->sp + sizeof ra, ra);
    return step_by_pointer(walk, p);
}

/* True for the entry of a program, the outermost frame. */
static bool is_entry(uintptr_t pc)
{
    const struct pc_module *m = pc ? pc_loadmap_find(pc) : NULL;
    return m && pct_code_is_entry(m, pc);
}

/* True for a function in which a stack of Go begins: nothing has called it. A symbol may name the
 * calling convention behind a dot. */
static bool begins_go(const struct process *p, const struct pct_walked *w)
{
    static const char *const names[] = {"runtime.goexit", "runtime.mstart", "runtime.mcall",
                                        "runtime.rt0_go", "runtime.clone"};
    const char *name = w->pc && pct_code_has_pointers(p->code, w->there - !w->exact)
                           ? pct_code_names_function(p->thread->names, w->pc - !w->exact)
                           : NULL;
    for (size_t i = 0; name && i < PC_ARRAY_LEN(names); i++)
        if (!strncmp(name, names[i], strlen(names[i])) &&
            (!name[strlen(names[i])] || name[strlen(names[i])] == '.'))
            return true;
    return false;
}

/* True for a thread that has just begun: clone returned 0 to it. */
static bool is_new_thread(const struct process *p, const struct pct_walked *w)
{
#if defined __x86_64__
    return w->pc && w->exact && !p->thread->only_sp && !p->thread->registers[PERF_REG_X86_AX] &&
           pct_code_names_is_behind_clone(p->thread->names, w->pc);
#else
    (void)p, (void)w;
    return false;
#endif
}

/* True for a frame that counts as the outermost one if no caller is found. */
static bool is_outermost(const struct process *p, const struct pct_walked *w)
{
    return is_new_thread(p, w) || begins_go(p, w) ||
           (w->pc && pct_code_names_is_init(p->thread->names, w->pc - !w->exact));
}

static void begin_walk(struct pc_walk *walk, struct process *p, ucontext_t *context)
{
    uint64_t registers[N_REGISTERS];
    memcpy(registers, p->thread->registers, sizeof registers);
    registers[AT_PC] = find_code(&p->memory, registers[AT_PC], true);
    memset(context, 0, sizeof *context);
    fill_context(context, registers);
    pc_walk_from_context(walk, context, (struct pc_stack){0, 0});
    walk->memory = &p->memory;
    if (!p->thread->only_sp)
        return;
    walk->context = NULL;
    walk->fp_loc = NOWHERE;
    walk->lr = 0;
}

/* The reason why the caller of a frame was not found. */
static enum pct_cut cause_of(const struct process *p, const struct pct_walked *outermost)
{
    uintptr_t here = outermost->pc ? outermost->pc - !outermost->exact : 0;
    if (p->missing)
        return PCT_CUT_STACK;
    if (!here)
        return PCT_CUT_MADE;
    return pc_walk_function_start(here) ? PCT_CUT_OTHER : PCT_CUT_TABLE;
}

size_t pct_copied_walk(const struct pct_copied *thread, const struct pct_code *code,
                       struct pct_walked *out, size_t n, enum pct_cut *cut)
{
    struct process p = {{read_word, find_code}, thread, code, 0, false};
    ucontext_t context;
    struct pc_walk walk;
    struct pc_step step;
    enum pc_step_result result = PC_STEP_OK;
    size_t k = 0;
    begin_walk(&walk, &p, &context);
    while (k < n && result == PC_STEP_OK) {
        uint64_t there = p.there;
        out[k++] = (struct pct_walked){walk.pc, there, walk.exact};
        result = walk.pc ? pc_walk_step(&walk, &step) : PC_STEP_CUT;
        if (result == PC_STEP_CUT)
            result = step_without_table(&walk, &p, there - !walk.exact);
    }
    bool whole = result == PC_STEP_END || is_entry(out[k - 1].pc) ||
                 (result == PC_STEP_CUT && is_outermost(&p, &out[k - 1]));
    *cut = whole ? PCT_CUT_NOT : result == PC_STEP_OK ? PCT_CUT_DEEP : cause_of(&p, &out[k - 1]);
    return k;
}

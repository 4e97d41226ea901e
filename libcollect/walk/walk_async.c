/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of a walk, by a cached rule.
 *
 * The cache is one table for the process, in bss, without locks. An entry is a rule (three words)
 * and a check word: the program counter plus a mix of the three words. A reader that catches an
 * entry while it is being written sees words of two rules, whose check does not give its program
 * counter, and takes it for a miss. Two entries share a cache line and one hash value.
 *
 * Called by the core at MPI calls and by handlers. Every function of this file may run in a signal
 * handler. On a hit the only call is the one for the address of the module.
 */
#define _GNU_SOURCE 1

#include "libcollect/walk/walk_private.h"

#include <string.h>

#if PC_WALK_KNOWN

#include "libcollect/walk/arch.h"

#define N_PAIRS 16384u /* 1 MB */
#define PAGE 4096u
#define RED_ZONE 128u /* bytes below sp that the program may use and that a signal frame spares */

union packed {
    struct pc_rule rule;
    uint64_t words[3];
};
_Static_assert(sizeof(union packed) == 24, "a rule is three words");

struct cache_entry {
    _Atomic uint64_t check;
    _Atomic uint64_t words[3];
};

static struct cache_pair {
    struct cache_entry way[2];
} cache[N_PAIRS] __attribute__((aligned(64)));

/* ---- Cache ----------------------------------------------------------------------------------- */

static inline uint64_t mix(const uint64_t words[3])
{
    return words[0] * 0x9e3779b97f4a7c15u + words[1] * 0xd6e8feb86659fd93u +
           words[2] * 0xa0761d6478bd642fu;
}

static inline struct cache_pair *pair_of(uintptr_t pc)
{
    return &cache[pc * 0x9e3779b97f4a7c15u >> 50];
}
_Static_assert(N_PAIRS == 1u << (64 - 50), "the hash takes the upper bits");

static inline bool read_entry(const struct cache_entry *e, uintptr_t pc, uint32_t generation,
                              union packed *out)
{
    out->words[0] = atomic_load_explicit(&e->words[0], memory_order_relaxed);
    out->words[1] = atomic_load_explicit(&e->words[1], memory_order_relaxed);
    out->words[2] = atomic_load_explicit(&e->words[2], memory_order_relaxed);
    uint64_t check = atomic_load_explicit(&e->check, memory_order_relaxed);
    return check - mix(out->words) == pc && out->rule.valid && out->rule.generation == generation;
}

/* Replaces an entry of an older generation, else one of the two by a bit of pc. */
static void write_entry(uintptr_t pc, const union packed *p)
{
    struct cache_pair *pair = pair_of(pc);
    int way = (int)(pc >> 3 & 1);
    for (int i = 0; i < 2; i++) {
        union packed old;
        old.words[2] = atomic_load_explicit(&pair->way[i].words[2], memory_order_relaxed);
        if (!old.rule.valid || old.rule.generation != p->rule.generation)
            way = i;
    }
    struct cache_entry *e = &pair->way[way];
    for (int i = 0; i < 3; i++)
        atomic_store_explicit(&e->words[i], p->words[i], memory_order_relaxed);
    atomic_store_explicit(&e->check, pc + mix(p->words), memory_order_relaxed);
}

/* ---- Reading the stack ----------------------------------------------------------------------- */

static inline bool in_stack(const struct pc_walk *walk, uintptr_t addr)
{
    return addr >= walk->stack.lo && addr < walk->stack.hi;
}

/* Asks the kernel whether a page can be read: rt_sigprocmask reads the set before it looks at
 * `how`, which is invalid here, so that the answer is EFAULT or EINVAL and nothing changes.
 * (process_vm_readv would do, but is forbidden in many containers.) */
static bool probe_page(struct pc_walk *walk, uintptr_t addr)
{
    uintptr_t page = addr & ~(uintptr_t)(PAGE - 1);
    if (page >= walk->probed_lo && page < walk->probed_hi)
        return true;
    if (page == 0 || arch_probe(page) != -22 /* EINVAL */)
        return false;
    if (page == walk->probed_hi && walk->probed_hi) {
        walk->probed_hi += PAGE;
    } else if (page + PAGE == walk->probed_lo) {
        walk->probed_lo -= PAGE;
    } else {
        walk->probed_lo = page;
        walk->probed_hi = page + PAGE;
    }
    return true;
}

/* Reads an aligned word, which therefore lies in one page. Words of the thread's stack below sp may
 * lie beyond what the kernel has mapped: they are probed like those of foreign stacks. */
static inline bool read_word(struct pc_walk *walk, uintptr_t addr, uintptr_t *value_out)
{
    if (PC_UNLIKELY(addr & (sizeof addr - 1)))
        return false;
    if (PC_UNLIKELY(!in_stack(walk, addr) || addr + RED_ZONE < walk->sp)) {
        if (walk->memory)
            return walk->memory->read(walk->memory, addr, value_out);
        if (!probe_page(walk, addr))
            return false;
    }
    *value_out = *(const uintptr_t *)addr;
    return true;
}

static inline void add_word(struct pc_step *step, uintptr_t addr, uintptr_t value,
                            enum pc_word_kind kind)
{
    step->words[step->n_words++] = (struct pc_word){addr, value, kind};
}

/* ---- Rules for program counters met first ---------------------------------------------------- */

/* True at the code to which signal handlers return (sigreturn), which not every table describes. Of
 * another process only the kernel's page of code is here. */
static bool is_sigreturn(struct pc_walk *walk, uintptr_t pc)
{
    static const uint8_t code[] = PC_SIGRETURN_CODE;
    return probe_page(walk, pc) && probe_page(walk, pc + sizeof code - 1) &&
           !memcmp((const void *)pc, code, sizeof code);
}

static void make_sigreturn_rule(struct pc_rule *rule)
{
    *rule = (struct pc_rule){.cfa = PC_CFA_SP_DEREF,
                             .cfa_off = PC_SIGFRAME_SP,
                             .ra = PC_LOC_SP,
                             .ra_off = PC_SIGFRAME_PC,
                             .fp = PC_LOC_SP,
                             .fp_off = PC_SIGFRAME_FP,
                             .signal = 1,
                             .valid = 1};
}

static bool is_plain(const struct pc_rule *rule)
{
    return (rule->cfa == PC_CFA_SP || rule->cfa == PC_CFA_FP) && rule->ra == PC_LOC_CFA &&
           (rule->fp == PC_LOC_CFA || rule->fp == PC_LOC_SAME) && !rule->signal && !rule->ra_signed;
}

/* On aarch64 the vdso of some kernels describes its sigreturn by the frame record, which leads past
 * the interrupted function; on riscv64 it has the signal mark and nothing else. So on processors
 * with a link register, the code is inspected first if a table says "signal". */
static __attribute__((noinline)) void make_rule(struct pc_walk *walk, uintptr_t pc,
                                                uint32_t generation, union packed *out)
{
    struct pc_module *module = pc_loadmap_find(pc);
    struct pc_cfi_image image;
    memset(out, 0, sizeof *out);
    bool known = false;
    if (module) {
        pc_loadmap_image(module, &image);
        known = pc_cfi_rule(&image, pc, &out->rule);
        /* A coroutine of libc returns to the first instruction of __start_context, which nothing
         * called and nothing precedes: its outermost frame. */
        if (!known && !walk->exact && module->flags & PCOLLECT_MODULE_LIBC &&
            pc_cfi_rule(&image, walk->pc, &out->rule)) {
            out->rule.ra = PC_LOC_UNDEFINED;
            known = true;
        }
    }
#if defined PC_WALK_LIBC_BEGINS
    /* Start of a thread or of a coroutine: code that is never left has no return address saved, or
     * no table at all. */
    if (module && !walk->exact && module->flags & PCOLLECT_MODULE_LIBC &&
        (!known || out->rule.ra == PC_LOC_SAME)) {
        out->rule.ra = PC_LOC_UNDEFINED;
        out->rule.cfa = PC_CFA_SP;
        known = true;
    }
#endif
#if defined PC_WALK_LINK_REGISTER
    known = known && !out->rule.signal;
#endif
    if (!known && is_sigreturn(walk, walk->pc))
        make_sigreturn_rule(&out->rule);
    out->rule.plain = is_plain(&out->rule);
    out->rule.valid = 1;
    out->rule.module = pc_loadmap_number(module);
    out->rule.generation = generation;
    if (module)
        write_entry(pc, out);
}

static inline void find_rule(struct pc_walk *walk, uintptr_t pc, union packed *out)
{
    uint32_t generation = atomic_load_explicit(&pc_loadmap_generation, memory_order_relaxed);
    const struct cache_pair *pair = pair_of(pc);
    if (PC_UNLIKELY(!read_entry(&pair->way[0], pc, generation, out) &&
                    !read_entry(&pair->way[1], pc, generation, out)))
        make_rule(walk, pc, generation, out);
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Reads fp from where it was saved, when it is first needed. */
static inline bool find_fp(struct pc_walk *walk, struct pc_step *step, uintptr_t *fp_out)
{
    *fp_out = walk->fp;
    if (!walk->fp_loc)
        return true;
    if (!read_word(walk, walk->fp_loc, fp_out))
        return false;
    add_word(step, walk->fp_loc, *fp_out, PC_WORD_STACK);
    return true;
}

static bool find_register(struct pc_walk *walk, unsigned reg, uintptr_t *value_out);

static inline bool find_cfa(struct pc_walk *walk, const struct pc_rule *rule, uintptr_t fp,
                            struct pc_step *step, uintptr_t *cfa_out)
{
    uintptr_t off = (uintptr_t)(intptr_t)rule->cfa_off, word;
    if (PC_UNLIKELY(rule->cfa == PC_CFA_REGISTER)) {
        step->registers = true;
        if (!find_register(walk, (unsigned)rule->deref_off, &word))
            return false;
        *cfa_out = word + off;
        return true;
    }
    if (PC_LIKELY(rule->cfa == PC_CFA_SP || rule->cfa == PC_CFA_FP)) {
        *cfa_out = (rule->cfa == PC_CFA_SP ? walk->sp : fp) + off;
        return true;
    }
    uintptr_t addr = (rule->cfa == PC_CFA_SP_DEREF ? walk->sp : fp) + off;
    if (!read_word(walk, addr, &word))
        return false;
    add_word(step, addr, word, PC_WORD_STACK);
    *cfa_out = word + (uintptr_t)(intptr_t)rule->deref_off;
    return true;
}

/* True if the caller's frame lies above this one on the same stack; only a signal frame may switch
 * stacks. A leaf function that still has its return address in the link register may have an empty
 * frame. */
static inline bool is_sane(const struct pc_walk *walk, const struct pc_rule *rule, uintptr_t cfa)
{
    if (rule->signal)
        return true;
    if (cfa < walk->sp || (cfa == walk->sp && rule->ra != PC_LOC_SAME))
        return false;
    if (PC_LIKELY(in_stack(walk, walk->sp)))
        return cfa <= walk->stack.hi;
    return walk->sp > walk->stack.hi || cfa < walk->stack.lo;
}

static inline uintptr_t place(const struct pc_walk *walk, unsigned loc, int32_t off, uintptr_t cfa,
                              uintptr_t fp)
{
    uintptr_t base = loc == PC_LOC_CFA ? cfa : loc == PC_LOC_SP ? walk->sp : fp;
    return base + (uintptr_t)(intptr_t)off;
}

static inline bool find_return_address(struct pc_walk *walk, const struct pc_rule *rule,
                                       uintptr_t cfa, uintptr_t fp, struct pc_step *step,
                                       uintptr_t *ra_out)
{
    if (PC_UNLIKELY(rule->ra == PC_LOC_SAME)) {
        step->registers = true;
        *ra_out = walk->lr;
        return walk->lr != 0;
    }
    uintptr_t addr = place(walk, rule->ra, rule->ra_off, cfa, fp);
    if (!read_word(walk, addr, ra_out))
        return false;
    add_word(step, addr, *ra_out, PC_WORD_CODE);
    return true;
}

/* Sets where the caller's fp is saved. If the place is unknown, it is set to an address that no
 * read accepts: the walk is cut if fp is needed. */
static inline void move_fp(struct pc_walk *walk, const struct pc_rule *rule, uintptr_t cfa,
                           uintptr_t fp)
{
    if (rule->fp == PC_LOC_CFA || rule->fp == PC_LOC_SP || rule->fp == PC_LOC_FP)
        walk->fp_loc = place(walk, rule->fp, rule->fp_off, cfa, fp);
    else if (rule->fp != PC_LOC_SAME)
        walk->fp_loc = 1;
}

/* The link register of an interrupted function. */
static inline bool find_lr(struct pc_walk *walk, const struct pc_rule *rule, uintptr_t *lr_out)
{
    *lr_out = 0;
#if defined PC_WALK_LINK_REGISTER
    if (PC_UNLIKELY(rule->signal))
        return read_word(walk, walk->sp + PC_SIGFRAME_LR, lr_out);
#endif
    (void)walk;
    (void)rule;
    return true;
}

/* Takes a step by any rule. */
static __attribute__((noinline)) enum pc_step_result
step_generally(struct pc_walk *walk, struct pc_step *step, const struct pc_rule *rule)
{
    uintptr_t fp = 0, cfa, ra, lr;
    step->n_words = 0;
    if (PC_UNLIKELY(rule->cfa == PC_CFA_NONE))
        return PC_STEP_CUT;
    if (PC_UNLIKELY(rule->ra == PC_LOC_UNDEFINED))
        return PC_STEP_END;
    if ((rule->uses_fp && !find_fp(walk, step, &fp)) || !find_cfa(walk, rule, fp, step, &cfa) ||
        !is_sane(walk, rule, cfa) || !find_return_address(walk, rule, cfa, fp, step, &ra) ||
        !find_lr(walk, rule, &lr))
        return PC_STEP_CUT;
    if (rule->ra_signed)
        ra = arch_strip(ra);
    if (PC_UNLIKELY(ra == 0))
        return PC_STEP_END;
    move_fp(walk, rule, cfa, fp);
    walk->pc = walk->memory ? walk->memory->code(walk->memory, ra, rule->signal) : ra;
    walk->sp = cfa;
    walk->lr = lr;
    walk->exact = rule->signal;
    return PC_STEP_OK;
}

/* Nearly all rules are plain (walk_private.h), and nearly all frames lie in the thread's stack: for
 * them the tests of step_generally reduce to these: `sp` is in the stack and below the CFA, the CFA
 * is not above the end of the stack, and the return address is in the same range, at or above
 * sp. */
enum pc_step_result pc_walk_step(struct pc_walk *walk, struct pc_step *step)
{
    union packed p;
    find_rule(walk, walk->pc - !walk->exact, &p);
    step->registers = false;
    step->module = pc_loadmap_numbered(p.rule.module);
    uintptr_t sp = walk->sp, base = sp, hi = walk->stack.hi;
    int n = 0;
    if (PC_UNLIKELY(!p.rule.plain || sp < walk->stack.lo + RED_ZONE || sp >= hi))
        return step_generally(walk, step, &p.rule);
    if (p.rule.uses_fp) {
        uintptr_t loc = walk->fp_loc;
        if (PC_UNLIKELY(loc < sp - RED_ZONE || loc >= hi || loc % sizeof loc))
            return step_generally(walk, step, &p.rule);
        base = *(const uintptr_t *)loc;
        step->words[n++] = (struct pc_word){loc, base, PC_WORD_STACK};
    }
    uintptr_t cfa = base + (uintptr_t)(intptr_t)p.rule.cfa_off;
    uintptr_t at = cfa + (uintptr_t)(intptr_t)p.rule.ra_off;
    if (PC_UNLIKELY(cfa <= sp || cfa > hi || at < sp || at >= hi || at % sizeof at))
        return step_generally(walk, step, &p.rule);
    uintptr_t ra = *(const uintptr_t *)at;
    if (PC_UNLIKELY(ra == 0))
        return step_generally(walk, step, &p.rule);
    step->words[n] = (struct pc_word){at, ra, PC_WORD_CODE};
    step->n_words = n + 1;
    if (p.rule.fp == PC_LOC_CFA)
        walk->fp_loc = cfa + (uintptr_t)(intptr_t)p.rule.fp_off;
    walk->pc = ra;
    walk->sp = cfa;
    walk->lr = 0;
    walk->exact = false;
    return PC_STEP_OK;
}

/* ---- Other registers ------------------------------------------------------------------------- */

#if defined __x86_64__

enum { MAX_REGISTER_FRAMES = 64 };

/* Replaces the register's value by the one it has in the caller of the frame at pc, whose CFA is
 * cfa. */
static bool leave_frame(struct pc_walk *walk, uintptr_t pc, unsigned reg, uintptr_t *value)
{
    struct pc_module *module = pc_loadmap_find(pc);
    struct pc_cfi_image image;
    int64_t off;
    if (!module)
        return false;
    pc_loadmap_image(module, &image);
    enum pc_rule_loc loc = pc_cfi_register(&image, pc, reg, &off);
    if (loc == PC_LOC_CFA)
        return read_word(walk, walk->sp + (uintptr_t)off, value);
    return loc == PC_LOC_SAME;
}

/* Walks the inner frames again, from the interrupted one outwards, and follows the register. A
 * register that a frame's table does not name is unchanged, even a caller-saved one: assembler code
 * that keeps its CFA in such a register relies on it. Of the inner frames only the innermost may
 * itself need another register, so the recursion ends. */
static bool find_register(struct pc_walk *walk, unsigned reg, uintptr_t *value_out)
{
    struct pc_walk at = {
        .exact = true, .memory = walk->memory, .context = walk->context, .stack = walk->stack};
    struct pc_step step;
    if (!walk->context)
        return false;
    arch_read_context(walk->context, &at);
    uintptr_t value = arch_register(walk->context, reg);
    for (int i = 0; i < MAX_REGISTER_FRAMES; i++) {
        uintptr_t pc = at.pc - !at.exact;
        if (at.pc == walk->pc && at.sp == walk->sp && at.exact == walk->exact) {
            *value_out = value;
            return true;
        }
        if (pc_walk_step(&at, &step) != PC_STEP_OK || !leave_frame(&at, pc, reg, &value))
            return false;
        at.context = NULL;
    }
    return false;
}

#else

static bool find_register(struct pc_walk *walk, unsigned reg, uintptr_t *value_out)
{
    (void)walk, (void)reg, (void)value_out;
    return false;
}

#endif

/* ---- Where walks begin ----------------------------------------------------------------------- */

void pc_walk_from_context(struct pc_walk *walk, const void *ucontext, struct pc_stack stack)
{
    *walk = (struct pc_walk){.exact = true, .context = ucontext, .stack = stack};
    arch_read_context(ucontext, walk);
}

bool pc_walk_can_read(uintptr_t page)
{
    return page && arch_probe(page) == -22; /* -EINVAL: see probe_page */
}

uintptr_t pc_walk_function_start(uintptr_t pc)
{
    struct pc_module *module = pc_loadmap_find(pc);
    struct pc_cfi_image image;
    if (!module)
        return 0;
    pc_loadmap_image(module, &image);
    return pc_cfi_function_start(&image, pc);
}

#else /* a processor that the walker does not know: contexts are cut at the first frame */

enum pc_step_result pc_walk_step(struct pc_walk *walk, struct pc_step *step)
{
    step->n_words = 0;
    step->registers = false;
    step->module = pc_loadmap_find(walk->pc - !walk->exact);
    return PC_STEP_CUT;
}

void pc_walk_from_context(struct pc_walk *walk, const void *ucontext, struct pc_stack stack)
{
    (void)ucontext;
    *walk = (struct pc_walk){.exact = true, .stack = stack};
}

bool pc_walk_can_read(uintptr_t page)
{
    (void)page;
    return false;
}

uintptr_t pc_walk_function_start(uintptr_t pc)
{
    (void)pc;
    return 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Differences between processors that the walker has to know: what a signal leaves on the stack,
 * how an interrupted context is read, pointer authentication. Included by walk_async.c alone.
 */
#ifndef PC_WALK_ARCH_H
#define PC_WALK_ARCH_H

#include "libcollect/walk/walk_private.h"

#include <sys/syscall.h>
#include <ucontext.h>

#if defined __x86_64__

/* mov $SYS_rt_sigreturn, %rax; syscall. Offsets from sp as the kernel lays out struct rt_sigframe:
 * after the return address, struct ucontext with the registers 40 bytes in. */
#define PC_SIGRETURN_CODE                                                                          \
    {                                                                                              \
        0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05                                       \
    }
#define PC_SIGFRAME_FP 120
#define PC_SIGFRAME_SP 160
#define PC_SIGFRAME_PC 168

static inline void arch_read_context(const ucontext_t *uc, struct pc_walk *walk)
{
    walk->pc = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
    walk->sp = (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
    walk->fp = (uintptr_t)uc->uc_mcontext.gregs[REG_RBP];
    walk->lr = 0;
}

/* Register of an interrupted context by its DWARF number, which is below PC_N_REGISTERS. */
static inline uintptr_t arch_register(const ucontext_t *uc, unsigned reg)
{
    static const uint8_t at[PC_N_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                               REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15};
    return (uintptr_t)uc->uc_mcontext.gregs[at[reg]];
}

static inline long arch_probe(uintptr_t addr)
{
    long result;
    register long r10 __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_rt_sigprocmask), "D"(-1L), "S"(addr), "d"(0L), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

#elif defined __aarch64__

/* mov x8, #SYS_rt_sigreturn; svc #0. At sp: struct siginfo (128 bytes), struct ucontext with its
 * machine context 176 bytes in, in which x0 follows the fault address. */
#define PC_SIGRETURN_CODE                                                                          \
    {                                                                                              \
        0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4                                             \
    }
#define PC_SIGFRAME_FP (128 + 176 + 8 + 29 * 8)
#define PC_SIGFRAME_LR (128 + 176 + 8 + 30 * 8)
#define PC_SIGFRAME_SP (128 + 176 + 8 + 31 * 8)
#define PC_SIGFRAME_PC (128 + 176 + 8 + 32 * 8)

static inline void arch_read_context(const ucontext_t *uc, struct pc_walk *walk)
{
    walk->pc = uc->uc_mcontext.pc;
    walk->sp = uc->uc_mcontext.sp;
    walk->fp = uc->uc_mcontext.regs[29];
    walk->lr = uc->uc_mcontext.regs[30];
}

/* xpaclri, a hint that older processors ignore: strips the authentication code from x30. */
static inline uintptr_t arch_strip(uintptr_t pc)
{
    register uintptr_t x30 __asm__("x30") = pc;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

static inline long arch_probe(uintptr_t addr)
{
    register long x8 __asm__("x8") = SYS_rt_sigprocmask;
    register long x0 __asm__("x0") = -1;
    register uintptr_t x1 __asm__("x1") = addr;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 8;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
}

#elif defined __riscv

/* li a7, SYS_rt_sigreturn; ecall. At sp: struct siginfo (128 bytes), struct ucontext with pc and x1
 * to x31 176 bytes in. */
#define PC_SIGRETURN_CODE                                                                          \
    {                                                                                              \
        0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00                                             \
    }
#define PC_SIGFRAME_PC (128 + 176)
#define PC_SIGFRAME_LR (PC_SIGFRAME_PC + 1 * 8)
#define PC_SIGFRAME_SP (PC_SIGFRAME_PC + 2 * 8)
#define PC_SIGFRAME_FP (PC_SIGFRAME_PC + 8 * 8)

static inline void arch_read_context(const ucontext_t *uc, struct pc_walk *walk)
{
    walk->pc = uc->uc_mcontext.__gregs[0];
    walk->lr = uc->uc_mcontext.__gregs[1];
    walk->sp = uc->uc_mcontext.__gregs[2];
    walk->fp = uc->uc_mcontext.__gregs[8];
}

static inline long arch_probe(uintptr_t addr)
{
    register long a7 __asm__("a7") = SYS_rt_sigprocmask;
    register long a0 __asm__("a0") = -1;
    register uintptr_t a1 __asm__("a1") = addr;
    register long a2 __asm__("a2") = 0;
    register long a3 __asm__("a3") = 8;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3) : "memory");
    return a0;
}

#elif defined __loongarch__

/* ori $a7, $zero, SYS_rt_sigreturn; syscall 0. At sp: struct siginfo (128 bytes), struct ucontext
 * with pc and r0 to r31 176 bytes in. */
#define PC_SIGRETURN_CODE                                                                          \
    {                                                                                              \
        0x0b, 0x2c, 0x82, 0x03, 0x00, 0x00, 0x2b, 0x00                                             \
    }
#define PC_SIGFRAME_PC (128 + 176)
#define PC_SIGFRAME_LR (PC_SIGFRAME_PC + 8 + 1 * 8)
#define PC_SIGFRAME_SP (PC_SIGFRAME_PC + 8 + 3 * 8)
#define PC_SIGFRAME_FP (PC_SIGFRAME_PC + 8 + 22 * 8)

static inline void arch_read_context(const ucontext_t *uc, struct pc_walk *walk)
{
    walk->pc = uc->uc_mcontext.__pc;
    walk->lr = uc->uc_mcontext.__gregs[1];
    walk->sp = uc->uc_mcontext.__gregs[3];
    walk->fp = uc->uc_mcontext.__gregs[22];
}

static inline long arch_probe(uintptr_t addr)
{
    register long a7 __asm__("$a7") = SYS_rt_sigprocmask;
    register long a0 __asm__("$a0") = -1;
    register uintptr_t a1 __asm__("$a1") = addr;
    register long a2 __asm__("$a2") = 0;
    register long a3 __asm__("$a3") = 8;
    __asm__ volatile("syscall 0"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3)
                     : "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7", "$t8", "memory");
    return a0;
}

#elif defined __powerpc64__

#include <stddef.h>

/* addi r1, r1, 128; li r0, SYS_rt_sigreturn; sc. At r1: 128 bytes for the handler, struct ucontext.
 */
#define PC_SIGRETURN_CODE                                                                          \
    {                                                                                              \
        0x80, 0x00, 0x21, 0x38, 0xac, 0x00, 0x00, 0x38, 0x02, 0x00, 0x00, 0x44                     \
    }
#define PC_SIGFRAME_GREGS (128 + (int)offsetof(ucontext_t, uc_mcontext.gp_regs))
#define PC_SIGFRAME_SP (PC_SIGFRAME_GREGS + 1 * 8)
#define PC_SIGFRAME_FP (PC_SIGFRAME_GREGS + 31 * 8)
#define PC_SIGFRAME_PC (PC_SIGFRAME_GREGS + 32 * 8)
#define PC_SIGFRAME_LR (PC_SIGFRAME_GREGS + 36 * 8)

static inline void arch_read_context(const ucontext_t *uc, struct pc_walk *walk)
{
    walk->sp = uc->uc_mcontext.gp_regs[1];
    walk->fp = uc->uc_mcontext.gp_regs[31];
    walk->pc = uc->uc_mcontext.gp_regs[32];
    walk->lr = uc->uc_mcontext.gp_regs[36];
}

/* An error is reported by a bit of the condition register; its number is positive. */
static inline long arch_probe(uintptr_t addr)
{
    register long r0 __asm__("r0") = SYS_rt_sigprocmask;
    register long r3 __asm__("r3") = -1;
    register uintptr_t r4 __asm__("r4") = addr;
    register long r5 __asm__("r5") = 0;
    register long r6 __asm__("r6") = 8;
    __asm__ volatile("sc; bns+ 1f; neg 3, 3; 1:"
                     : "+r"(r0), "+r"(r3), "+r"(r4), "+r"(r5), "+r"(r6)
                     :
                     : "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "ctr", "memory");
    return r3;
}

#endif

#if !defined __aarch64__
/* No other processor signs return addresses. */
static inline uintptr_t arch_strip(uintptr_t pc)
{
    return pc;
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The walker's few differences between processors: what a signal leaves on the stack, how an
 * interrupted context is read, pointer authentication. Included by walk_async.c alone.
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

static inline uintptr_t arch_strip(uintptr_t pc)
{
    return pc;
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

#endif
#endif

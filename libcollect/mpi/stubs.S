/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The entry points MPI_X and PMPI_X: each jumps through its slot of pc_mpi_slots, so that every
 * argument, the stack and the return address stay as the caller left them.
 *
 * A slot first holds the address of its own resolver entry, which puts the slot's number aside and
 * saves whatever may hold an argument (general and vector registers, al for variadic calls, x8 and
 * r10), aligns the stack, asks pc_mpi_resolve for the target, and jumps there.
 *
 * The rows come from functions.tbl: PC_STUB(name, slot), in the order of slots. Called by everybody.
 */
#if defined __x86_64__

        .hidden pc_mpi_slots
        .globl  pc_mpi_slots
        .section .data.rel.local, "aw", @progbits
        .balign 64
        .type   pc_mpi_slots, @object
pc_mpi_slots:
        .text

#define PC_STUB(name, slot)                                                                        \
        .balign 16;                                                                                \
        .globl  name;                                                                              \
        .type   name, @function;                                                                   \
name:   .cfi_startproc;                                                                            \
        endbr64;                                                                                   \
        jmp     *pc_mpi_slots + 8 * (slot)(%rip);                                                  \
        .cfi_endproc;                                                                              \
        .size   name, . - name;                                                                    \
771:    .cfi_startproc;                                                                            \
        endbr64;                                                                                   \
        pushq   $(slot);                                                                           \
        .cfi_adjust_cfa_offset 8;                                                                  \
        jmp     resolve_common;                                                                    \
        .cfi_endproc;                                                                              \
        .section .data.rel.local, "aw", @progbits;                                                 \
        .quad   771b;                                                                              \
        .text

#include "libcollect/mpi/stub_rows.h"

        .section .data.rel.local, "aw", @progbits
        .size   pc_mpi_slots, . - pc_mpi_slots
        .text

        .type   resolve_common, @function
resolve_common:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        pushq   %rbp
        .cfi_def_cfa_offset 24
        .cfi_offset %rbp, -24
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        andq    $-64, %rsp
        subq    $192, %rsp
        movaps  %xmm0, (%rsp)
        movaps  %xmm1, 16(%rsp)
        movaps  %xmm2, 32(%rsp)
        movaps  %xmm3, 48(%rsp)
        movaps  %xmm4, 64(%rsp)
        movaps  %xmm5, 80(%rsp)
        movaps  %xmm6, 96(%rsp)
        movaps  %xmm7, 112(%rsp)
        movq    %rax, 128(%rsp)
        movq    %rdi, 136(%rsp)
        movq    %rsi, 144(%rsp)
        movq    %rdx, 152(%rsp)
        movq    %rcx, 160(%rsp)
        movq    %r8, 168(%rsp)
        movq    %r9, 176(%rsp)
        movq    %r10, 184(%rsp)
        movq    8(%rbp), %rdi
        cld
        call    pc_mpi_resolve
        movq    %rax, %r11
        movaps  (%rsp), %xmm0
        movaps  16(%rsp), %xmm1
        movaps  32(%rsp), %xmm2
        movaps  48(%rsp), %xmm3
        movaps  64(%rsp), %xmm4
        movaps  80(%rsp), %xmm5
        movaps  96(%rsp), %xmm6
        movaps  112(%rsp), %xmm7
        movq    128(%rsp), %rax
        movq    136(%rsp), %rdi
        movq    144(%rsp), %rsi
        movq    152(%rsp), %rdx
        movq    160(%rsp), %rcx
        movq    168(%rsp), %r8
        movq    176(%rsp), %r9
        movq    184(%rsp), %r10
        leave
        .cfi_def_cfa %rsp, 16
        .cfi_restore %rbp
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        jmp     *%r11
        .cfi_endproc
        .size   resolve_common, . - resolve_common

/* Indirect branch tracking and shadow stacks stay on: every entry has endbr64, returns are paired. */
        .section .note.gnu.property, "a", @note
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0

#elif defined __aarch64__

        .hidden pc_mpi_slots
        .globl  pc_mpi_slots
        .section .data.rel.local, "aw", %progbits
        .balign 64
        .type   pc_mpi_slots, %object
pc_mpi_slots:
        .text

/* The slot is read by a load-acquire: what the resolver wrote before it filled the slot is seen. */
#define PC_STUB(name, slot)                                                                        \
        .balign 16;                                                                                \
        .globl  name;                                                                              \
        .type   name, %function;                                                                   \
name:   .cfi_startproc;                                                                            \
        hint    #34;                                                                               \
        adrp    x16, pc_mpi_slots + 8 * (slot);                                                    \
        add     x16, x16, :lo12:pc_mpi_slots + 8 * (slot);                                         \
        ldar    x16, [x16];                                                                        \
        br      x16;                                                                               \
        .cfi_endproc;                                                                              \
        .size   name, . - name;                                                                    \
771:    .cfi_startproc;                                                                            \
        hint    #34;                                                                               \
        movz    x16, #(slot);                                                                      \
        b       resolve_common;                                                                    \
        .cfi_endproc;                                                                              \
        .section .data.rel.local, "aw", %progbits;                                                 \
        .xword  771b;                                                                              \
        .text

#include "libcollect/mpi/stub_rows.h"

        .section .data.rel.local, "aw", %progbits
        .size   pc_mpi_slots, . - pc_mpi_slots
        .text

        .type   resolve_common, %function
resolve_common:
        .cfi_startproc
        stp     x29, x30, [sp, #-224]!
        .cfi_def_cfa_offset 224
        .cfi_offset x29, -224
        .cfi_offset x30, -216
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        stp     x2, x3, [sp, #32]
        stp     x4, x5, [sp, #48]
        stp     x6, x7, [sp, #64]
        str     x8, [sp, #80]
        stp     q0, q1, [sp, #96]
        stp     q2, q3, [sp, #128]
        stp     q4, q5, [sp, #160]
        stp     q6, q7, [sp, #192]
        mov     x0, x16
        bl      pc_mpi_resolve
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldp     x2, x3, [sp, #32]
        ldp     x4, x5, [sp, #48]
        ldp     x6, x7, [sp, #64]
        ldr     x8, [sp, #80]
        ldp     q0, q1, [sp, #96]
        ldp     q2, q3, [sp, #128]
        ldp     q4, q5, [sp, #160]
        ldp     q6, q7, [sp, #192]
        ldp     x29, x30, [sp], #224
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        br      x16
        .cfi_endproc
        .size   resolve_common, . - resolve_common

/* Branch target identification stays on: every entry has bti c (hint 34). */
        .section .note.gnu.property, "a", %note
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000000, 4, 1, 0

#endif

#if defined __linux__
#if defined __aarch64__ || defined __arm__
        .section .note.GNU-stack, "", %progbits
#else
        .section .note.GNU-stack, "", @progbits
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * dlopen, dlmopen, dlclose: each raises pc_loadmap_generation, before anything is mapped or unmapped,
 * and jumps to the next definition. The caller's return address stays in its place: by it the loader
 * finds whose RUNPATH, $ORIGIN and namespace to use.
 *
 * A slot first holds the address of a resolver entry, as in libcollect/mpi/stubs.S.
 */
#if defined __x86_64__

        .hidden pc_loadmap_generation

#define DL_STUB(name, number)                                                                      \
        .text;                                                                                     \
        .balign 16;                                                                                \
        .globl  name;                                                                              \
        .type   name, @function;                                                                   \
name:   .cfi_startproc;                                                                            \
        endbr64;                                                                                   \
        lock incl pc_loadmap_generation(%rip);                                                     \
        jmp     *dl_slots + 8 * (number)(%rip);                                                    \
        .cfi_endproc;                                                                              \
        .size   name, . - name;                                                                    \
771:    .cfi_startproc;                                                                            \
        endbr64;                                                                                   \
        pushq   $(number);                                                                         \
        .cfi_adjust_cfa_offset 8;                                                                  \
        jmp     resolve_common;                                                                    \
        .cfi_endproc;                                                                              \
        .section .data.rel.local, "aw", @progbits;                                                 \
        .quad   771b

        .section .data.rel.local, "aw", @progbits
        .balign 8
dl_slots:
        DL_STUB(dlopen, 0)
        DL_STUB(dlmopen, 1)
        DL_STUB(dlclose, 2)
        .text

/* Arguments are in rdi, rsi, rdx: three words and the number, 16-aligned. */
        .type   resolve_common, @function
resolve_common:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        movq    24(%rsp), %rdi
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    pc_dl_resolve
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        leaq    dl_slots(%rip), %rcx
        movq    24(%rsp), %rdx
        movq    %rax, (%rcx, %rdx, 8)
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   resolve_common, . - resolve_common

        .section .note.gnu.property, "a", @note
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0

        .section .note.GNU-stack, "", @progbits

#elif defined __aarch64__

        .hidden pc_loadmap_generation

#define DL_STUB(name, number)                                                                      \
        .text;                                                                                     \
        .balign 16;                                                                                \
        .globl  name;                                                                              \
        .type   name, %function;                                                                   \
name:   .cfi_startproc;                                                                            \
        hint    #34;                                                                               \
        adrp    x16, pc_loadmap_generation;                                                        \
        add     x16, x16, :lo12:pc_loadmap_generation;                                             \
772:    ldaxr   w17, [x16];                                                                        \
        add     w17, w17, #1;                                                                      \
        stlxr   w15, w17, [x16];                                                                   \
        cbnz    w15, 772b;                                                                         \
        adrp    x16, dl_slots + 8 * (number);                                                      \
        add     x16, x16, :lo12:dl_slots + 8 * (number);                                           \
        ldar    x16, [x16];                                                                        \
        br      x16;                                                                               \
        .cfi_endproc;                                                                              \
        .size   name, . - name;                                                                    \
771:    .cfi_startproc;                                                                            \
        hint    #34;                                                                               \
        movz    x16, #(number);                                                                    \
        b       resolve_common;                                                                    \
        .cfi_endproc;                                                                              \
        .section .data.rel.local, "aw", %progbits;                                                 \
        .xword  771b

        .section .data.rel.local, "aw", %progbits
        .balign 8
dl_slots:
        DL_STUB(dlopen, 0)
        DL_STUB(dlmopen, 1)
        DL_STUB(dlclose, 2)
        .text

        .type   resolve_common, %function
resolve_common:
        .cfi_startproc
        stp     x29, x30, [sp, #-48]!
        .cfi_def_cfa_offset 48
        .cfi_offset x29, -48
        .cfi_offset x30, -40
        mov     x29, sp
        stp     x0, x1, [sp, #16]
        stp     x2, x16, [sp, #32]
        mov     x0, x16
        bl      pc_dl_resolve
        ldr     x17, [sp, #40]
        adrp    x16, dl_slots
        add     x16, x16, :lo12:dl_slots
        add     x17, x16, x17, lsl #3
        stlr    x0, [x17]
        mov     x16, x0
        ldp     x0, x1, [sp, #16]
        ldr     x2, [sp, #32]
        ldp     x29, x30, [sp], #48
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        br      x16
        .cfi_endproc
        .size   resolve_common, . - resolve_common

        .section .note.gnu.property, "a", %note
        .balign 8
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000000, 4, 1, 0

        .section .note.GNU-stack, "", %progbits

#else

        .section .note.GNU-stack, "", %progbits

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists the processors for which entry points are written in assembly (stub_asm.inc); for others
 * they are made in C. Included by C and by assembly. PC_NO_ASSEMBLY (configure --disable-assembly)
 * selects the stubs in C on any processor.
 */
#ifndef PC_STUB_H
#define PC_STUB_H

#if defined PC_NO_ASSEMBLY
#define PC_STUB_ASSEMBLY 0
#elif (defined __x86_64__ || defined __aarch64__) && defined __LP64__
#define PC_STUB_ASSEMBLY 1
#elif defined __riscv && __riscv_xlen == 64
#define PC_STUB_ASSEMBLY 1
#elif defined __loongarch__ && __loongarch_grlen == 64
#define PC_STUB_ASSEMBLY 1
#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__ && _CALL_ELF == 2
#define PC_STUB_ASSEMBLY 1
#else
#define PC_STUB_ASSEMBLY 0
#endif

/* `PC_TAIL return f(x);`: a tail call that keeps the caller's return address. If the compiler
 * cannot be made to emit one (gcc before 15 without optimisation), the library's own frame lies
 * between. */
#if !defined __ASSEMBLER__
#if defined __has_attribute
#if __has_attribute(musttail)
#define PC_TAIL __attribute__((musttail))
#endif
#endif
#if !defined PC_TAIL
#define PC_TAIL
#endif
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stubs for loongarch64, for which there is a compiler and no libc: ends with status 0 if the
 * arguments pass the resolver, and again the filled slot. The number of the failed check is the
 * status.
 */
#include <stdint.h>

int MPI_Bcast(void);
void *pc_mpi_resolve(unsigned slot);
extern _Atomic(void *) pc_mpi_slots[];

typedef double target_fn(long, long, long, long, long, long, long, long, long, double, double,
                         double, double, double, double, double, double);

static int n_resolved, n_right;

__attribute__((noinline)) static double take(long a, long b, long c, long d, long e, long f, long g,
                                             long h, long i, double p, double q, double r, double s,
                                             double t, double u, double v, double w)
{
    n_right += a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 && h == 8 &&
               i == 9 && p == 1 && q == 2 && r == 3 && s == 4 && t == 5 && u == 6 && v == 7 &&
               w == 8;
    return w + 1;
}

void *pc_mpi_resolve(unsigned slot)
{
    n_resolved++;
    __asm__ volatile("move $a1, $zero; move $a7, $zero; move $t0, $zero; movgr2fr.d $fa0, $zero;"
                     "movgr2fr.d $fa7, $zero" ::
                         : "$a1", "$a7", "$t0", "$f0", "$f7");
    pc_mpi_slots[slot] = (void *)take;
    return (void *)take;
}

static _Noreturn void end(long status)
{
    register long a0 __asm__("$a0") = status;
    register long a7 __asm__("$a7") = 93;
    __asm__ volatile("syscall 0" ::"r"(a0), "r"(a7));
    for (;;)
        ;
}

void _start(void);
void _start(void)
{
    int (*stub)(void) = MPI_Bcast;
    __asm__ volatile("" : "+r"(stub));
    target_fn *call = (target_fn *)(void *)stub;
    for (int i = 1; i <= 2; i++) {
        if (call(1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8) != 9 || n_right != i)
            end(i);
        if (n_resolved != 1)
            end(2 + i);
    }
    end(0);
}

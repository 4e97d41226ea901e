/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs code without an unwind table, as of Go, below an address in a part of its file that the
 * program headers do not load: the file is to be lengthened to 256 MiB.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
const char table[] __attribute__((section(".gopclntab"), used)) = "1";
void spin(uintptr_t top);
#if defined __x86_64__
__asm__(".text\n.type spin, %function\nspin: push %rdi\n1: jmp 1b\n");
#else
__asm__(".text\n.type spin, %function\nspin: b spin\n");
#endif
int main(void)
{
    const struct itimerval end = {{0, 0}, {0, 200000}};
    char *all =
        mmap(0, 256 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY), 0);
    if (all == MAP_FAILED || setitimer(ITIMER_VIRTUAL, &end, 0))
        return 1;
    spin((uintptr_t)all + (255 << 20));
}

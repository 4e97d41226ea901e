/* SPDX-License-Identifier: BSD-3-Clause
 *
 * made_code MS [FOLDER]: makes code in anonymous memory, as compilers do while a program runs, and
 * the map of names that perf defines, or with FOLDER a jitdump file there. Spends half of MS of CPU
 * time in the made function `made loop`, and half in its own function `in_c`, called by the made
 * function `made caller`, which `enter` calls, a function of the program without unwind table.
 * Prints its process id before, and what both had, in ms, at the end. Nothing for other processors.
 *
 * The code lies between two mappings of the program's file, as that of Node.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined __x86_64__
/* push %rbp; mov %rsp,%rbp; dec %rdi; jnz; pop %rbp; ret */
static const uint8_t loop_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
                                    0xcf, 0x75, 0xfb, 0x5d, 0xc3};
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const uint8_t caller_code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#elif defined __aarch64__
/* stp x29,x30,[sp,#-16]!; mov x29,sp; subs x0,x0,#1; b.ne; ldp x29,x30,[sp],#16; ret */
static const uint32_t loop_code[] = {0xa9bf7bfd, 0x910003fd, 0xf1000400,
                                     0x54ffffe1, 0xa8c17bfd, 0xd65f03c0};
/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret */
static const uint32_t caller_code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#else
static const uint8_t loop_code[1], caller_code[1];
#endif

/* Calls its second argument with its first one. */
#if defined __x86_64__
__asm__(".globl enter\n.type enter, @function\n"
        "enter: push %rbp\n mov %rsp, %rbp\n call *%rsi\n pop %rbp\n ret\n"
        ".size enter, . - enter\n");
#elif defined __aarch64__
__asm__(".globl enter\n.type enter, @function\n"
        "enter: stp x29, x30, [sp, #-16]!\n mov x29, sp\n blr x1\n ldp x29, x30, [sp], #16\n ret\n"
        ".size enter, . - enter\n");
#endif

enum { CALLER_AT = 256, BYTES = 4096, ROUNDS = 500000, AWAY = 1 << 30 };

typedef void loop_fn(uint64_t rounds);
typedef void caller_fn(void (*function)(void));

static volatile double sink;
static double had_c;
void in_c(void);
#if defined __x86_64__ || defined __aarch64__
void enter(void (*function)(void), caller_fn *caller);
#else
void enter(void (*function)(void), caller_fn *caller)
{
    caller(function);
}
#endif

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A few milliseconds. */
__attribute__((noinline)) void in_c(void)
{
    double begin = now_ms(), end = begin;
    for (; end < begin + 5; end = now_ms())
        for (int i = 0; i < 2000; i++)
            sink = sink * 0.999 + 1;
    had_c += end - begin;
}

static void write_map(const char *code)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(path, "w");
    if (!map)
        exit(1);
    fprintf(map, "%lx %lx made loop\n", (unsigned long)(uintptr_t)code,
            (unsigned long)sizeof loop_code);
    fprintf(map, "%lx %lx made caller\n", (unsigned long)(uintptr_t)code + CALLER_AT,
            (unsigned long)sizeof caller_code);
    fclose(map);
}

static void write_load(FILE *dump, const char *code, size_t bytes, const char *name)
{
    struct {
        uint32_t kind, bytes;
        uint64_t time;
        uint32_t pid, tid;
        uint64_t memory, address, code_bytes, number;
    } load = {.bytes = (uint32_t)(sizeof load + strlen(name) + 1 + bytes),
              .memory = (uintptr_t)code,
              .address = (uintptr_t)code,
              .code_bytes = bytes};
    fwrite(&load, sizeof load, 1, dump);
    fwrite(name, strlen(name) + 1, 1, dump);
    fwrite(code, bytes, 1, dump);
}

/* Writes the file, and maps it as code, by which others know of it. */
static void write_dump(const char *code, const char *folder)
{
    const uint32_t head[10] = {0x4a695444, 1, sizeof head};
    char path[4096];
    snprintf(path, sizeof path, "%s/jit-%d.dump", folder, (int)getpid());
    FILE *dump = fopen(path, "w+");
    if (!dump ||
        mmap(NULL, BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
        exit(1);
    fwrite(head, sizeof head, 1, dump);
    write_load(dump, code, sizeof loop_code, "made loop");
    write_load(dump, code + CALLER_AT, sizeof caller_code, "made caller");
    fclose(dump);
}

static char *make_code(const char *folder)
{
    uintptr_t here = (uintptr_t)&sink & -(uintptr_t)BYTES;
    int file = open("/proc/self/exe", O_RDONLY);
    char *code = mmap((void *)(here + AWAY), BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED ||
        mmap(code + 2 * BYTES, BYTES, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED)
        exit(1);
    close(file);
    memcpy(code, loop_code, sizeof loop_code);
    memcpy(code + CALLER_AT, caller_code, sizeof caller_code);
    __builtin___clear_cache(code, code + BYTES);
    if (mprotect(code, BYTES, PROT_READ | PROT_EXEC) != 0)
        exit(1);
    if (folder)
        write_dump(code, folder);
    else
        write_map(code);
    return code;
}

int main(int argc, char **argv)
{
    double ms = argc > 1 ? atof(argv[1]) : 0, had_loop = 0;
    if (sizeof loop_code == 1)
        return 0;
    char *code = make_code(argc > 2 ? argv[2] : NULL);
    loop_fn *loop = (loop_fn *)(uintptr_t)code;
    caller_fn *caller = (caller_fn *)(uintptr_t)(code + CALLER_AT);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (had_loop < ms / 2 || had_c < ms / 2) {
        double begin = now_ms();
        if (had_loop < ms / 2)
            loop(ROUNDS);
        had_loop += now_ms() - begin;
        if (had_c < ms / 2)
            enter(in_c, caller);
    }
    printf("%.3f %.3f\n", had_loop, had_c);
    return 0;
}

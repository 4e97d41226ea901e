/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A fuzz target is one source that names the kind of bytes that it reads (fuzz_kind) and reads them
 * (LLVMFuzzerTestOneInput). With fuzz_main.c and seeds.c it is a plain program that replays its
 * corpus and changes it from fixed seeds; with clang -fsanitize=fuzzer it is a target of libFuzzer.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum fuzz_kind { FUZZ_CONFIG, FUZZ_PCOL, FUZZ_PROFILE, FUZZ_ARENA };
extern const enum fuzz_kind fuzz_kind;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Calls add with valid inputs that the code under test writes itself; none for the configuration.
 */
void fuzz_seeds(enum fuzz_kind kind, void (*add)(const void *data, size_t n));

/* Path of a file in memory with these bytes; valid until fuzz_file_close. */
const char *fuzz_file(const void *data, size_t n, int *fd_out);
void fuzz_file_close(int fd);

#define FUZZ_REQUIRE(condition, ...)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A fuzz target as a plain program. It replays the seeds and the files of tests/fuzz/corpus/KIND,
 * then changes them: its actions depend only on the number of the round. Prints TAP.
 *
 *     fuzz_arena                  the check; PCOLLECT_TEST_FUZZ=N: N times as many rounds
 *     fuzz_arena --write FOLDER   writes the seeds, for libFuzzer
 *     fuzz_arena --round R        that round alone, for a debugger
 *     fuzz_arena FILE...          replays files
 */
#include "tests/fuzz/fuzz.h"

#include "base/base.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned rounds; /* of an ordinary check: a second or two */
} kinds[] = {[FUZZ_CONFIG] = {"config", 10000},
             [FUZZ_PCOL] = {"pcol", 4000},
             [FUZZ_PROFILE] = {"profile", 60000},
             [FUZZ_ARENA] = {"arena", 4000}};

#define MAX_INPUTS 256
#define MAX_BYTES (1u << 20)

static struct input {
    uint8_t *data;
    size_t n;
} inputs[MAX_INPUTS];
static unsigned n_inputs;
static unsigned long now; /* the round */

static void add_input(const void *data, size_t n)
{
    if (n_inputs == MAX_INPUTS || n > MAX_BYTES)
        return;
    uint8_t *copy = malloc(n + 1);
    memcpy(copy, data, n);
    inputs[n_inputs++] = (struct input){copy, n};
}

static bool add_file(const char *path)
{
    static uint8_t data[MAX_BYTES];
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    add_input(data, n);
    return true;
}

/* Sorts by names, so that rounds can be repeated. */
static void add_folder(const char *folder)
{
    struct dirent **entries;
    char path[1300];
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        int bytes = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && bytes < (int)sizeof path)
            add_file(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* ---- Changes --------------------------------------------------------------------------------- */

struct random {
    uint64_t state;
};

static uint64_t draw(struct random *r, uint64_t below)
{
    r->state += 0x9e3779b97f4a7c15u;
    return below ? pc_hash_u64(r->state) % below : 0;
}

static void change_word(uint8_t *data, size_t n, struct random *r)
{
    static const uint32_t nasty[] = {0,          1,          2,           3,      0x7fffffff,
                                     0x80000000, 0xffffffff, 0xfffffff0u, 0xffff, 0x10000};
    uint64_t bytes = (uint64_t)4 << draw(r, 2);
    uint64_t word = draw(r, 2) ? nasty[draw(r, PC_ARRAY_LEN(nasty))] : draw(r, n + 16);
    if (n < 8)
        return;
    memcpy(data + draw(r, (n - bytes) / 4 + 1) * 4, &word, bytes);
}

/* Moves, doubles or removes a piece; n stays within MAX_BYTES. */
static size_t change_piece(uint8_t *data, size_t n, struct random *r)
{
    size_t most = n < 64 ? n : 64, from = draw(r, n), bytes = 1 + draw(r, most), to = draw(r, n);
    if (bytes > n - from)
        bytes = n - from;
    if (bytes > n - to)
        bytes = n - to;
    switch (draw(r, 3)) {
    case 0:
        memmove(data + to, data + from, bytes);
        return n;
    case 1:
        memmove(data + from, data + from + bytes, n - from - bytes);
        return n - bytes;
    default:
        if (n + bytes > MAX_BYTES)
            return n;
        memmove(data + from + bytes, data + from, n - from);
        return n + bytes;
    }
}

static size_t change(uint8_t *data, size_t n, struct random *r)
{
    if (!n)
        return n;
    switch (draw(r, 8)) {
    case 0:
        return draw(r, 4) ? n : draw(r, n);
    case 1:
    case 2:
        return change_piece(data, n, r);
    case 3:
    case 4:
        change_word(data, n, r);
        return n;
    case 5:
        data[draw(r, n)] = (uint8_t)draw(r, 256);
        return n;
    case 6: /* a token of the text, a small number of the rest */
        data[draw(r, n)] = (uint8_t) "=#[]\"\n\r ,%0919KMGz\\"[draw(r, 19)];
        return n;
    default:
        data[draw(r, n)] ^= (uint8_t)(1 << draw(r, 8));
        return n;
    }
}

static void run_round(unsigned long round)
{
    static uint8_t data[MAX_BYTES];
    struct random r = {round * 0x2545f4914f6cdd1du};
    const struct input *from = &inputs[draw(&r, n_inputs)];
    size_t n = from->n;
    now = round;
    memcpy(data, from->data, n);
    /* Headers are short: every third round changes only the first bytes. */
    size_t front = draw(&r, 3) || n < 512 ? n : 256;
    for (uint64_t k = 1 + draw(&r, 6); k; k--) {
        if (front < n)
            change_word(data, front, &r);
        else
            n = front = change(data, n, &r);
    }
    LLVMFuzzerTestOneInput(data, n);
}

/* ---- The program ----------------------------------------------------------------------------- */

static void tell_round(int signal_number)
{
    char text[80];
    int n = snprintf(text, sizeof text, "signal %d in round %lu\n", signal_number, now);
    if (write(2, text, (size_t)n) < 0)
        _exit(3);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void write_inputs(const char *folder)
{
    char path[1000];
    for (unsigned i = 0; i < n_inputs; i++) {
        snprintf(path, sizeof path, "%s/seed-%u", folder, i);
        FILE *f = fopen(path, "w");
        FUZZ_REQUIRE(f && fwrite(inputs[i].data, 1, inputs[i].n, f) == inputs[i].n && !fclose(f),
                     "%s is not written", path);
    }
}

static void check(void)
{
    const char *times = getenv("PCOLLECT_TEST_FUZZ");
    unsigned long rounds = kinds[fuzz_kind].rounds;
    if (times && atoi(times) > 0)
        rounds *= (unsigned long)atoi(times);
    for (unsigned i = 0; i < n_inputs; i++)
        LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].n);
    printf("%sok 1 - %s: %u inputs of the corpus are read\n", n_inputs ? "" : "not ",
           kinds[fuzz_kind].name, n_inputs);
    fflush(stdout);
    for (unsigned long i = 1; n_inputs && i <= rounds; i++)
        run_round(i);
    printf("ok 2 - %s: %lu changed inputs are read or refused\n1..2\n", kinds[fuzz_kind].name,
           rounds);
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    const char *src = getenv("PC_SRC");
    char folder[1000];
    for (size_t i = 0; i < PC_ARRAY_LEN(signals); i++)
        signal(signals[i], tell_round);
    if (argc > 1 && argv[1][0] != '-') {
        for (int i = 1; i < argc; i++)
            FUZZ_REQUIRE(add_file(argv[i]), "%s cannot be read", argv[i]);
        for (unsigned i = 0; i < n_inputs; i++)
            LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].n);
        return 0;
    }
    fuzz_seeds(fuzz_kind, add_input);
    snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", src ? src : ".",
             kinds[fuzz_kind].name);
    add_folder(folder);
    if (argc == 3 && !strcmp(argv[1], "--write"))
        write_inputs(argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "--round"))
        run_round(strtoul(argv[2], NULL, 10));
    else
        check();
    return 0;
}

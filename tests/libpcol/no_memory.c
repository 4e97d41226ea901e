/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A user of libpcol to whom memory is refused: reads all of a profile. At each allocation two
 * copies of the process continue in its place, in which it fails, alone or with all later ones.
 * Prints violations of these conditions: the reader is not ended, each refusal is reported or has
 * no effect, figures read without an error are those read with enough memory, and pcol_close frees
 * everything.
 * Arguments: PROFILE STEP [own]; every STEP-th allocation is refused, with `own` only those of
 * libpcol itself: libdw does not report some refusals, and libdw 0.188 ends the program at others.
 */
#define _GNU_SOURCE 1
#include <pcollect/profile.h>

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

void __libc_free(void *p);

/* Allocations that fail from now on, in a copy of the process. */
static enum { NONE, THIS, THIS_AND_LATER } refused;
static long calls, step; /* allocations so far; every step-th one is refused in copies, 0: none */
static long alive;       /* allocations since `armed` was set that were not freed */
static bool armed, is_copy;
static const void *own; /* where libpcol is loaded; NULL: whoever asks is refused */

static bool continue_in_copies(void);

static bool is_refused(const void *caller)
{
    Dl_info at;
    if (!armed || (own && (!dladdr(caller, &at) || at.dli_fbase != own)))
        return false;
    calls++;
    if (refused == NONE && (!step || (calls - 1) % step || !continue_in_copies()))
        return false;
    if (refused == THIS) {
        step = 0;
        refused = NONE;
    }
    errno = ENOMEM;
    return true;
}

static void *count(void *p)
{
    alive += armed && p;
    return p;
}

void *malloc(size_t n)
{
    return is_refused(__builtin_return_address(0)) ? NULL : count(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return is_refused(__builtin_return_address(0)) ? NULL : count(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    if (is_refused(__builtin_return_address(0)))
        return NULL;
    return p ? __libc_realloc(p, n) : count(__libc_malloc(n));
}

void free(void *p)
{
    alive -= armed && p;
    __libc_free(p);
}

enum { READ, READ_WITH_WARNINGS, PARTS_UNREAD, REFUSED_TO_OPEN, REFUSED_LATER };

/* Exit statuses for these outcomes; a library that ends a program does so with others. */
enum { FIRST_STATUS = 100 };

struct seen {
    int how;
    uint64_t sum; /* of all figures and texts */
};

static uint64_t add_bytes(uint64_t sum, const void *data, size_t n)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

static uint64_t add_text(uint64_t sum, const char *text)
{
    return text ? add_bytes(sum, text, strlen(text) + 1) : sum;
}

static uint64_t add_table(uint64_t sum, const struct pcol_table *t)
{
    size_t n_rows = pcol_table_rows(t);
    for (size_t row = 0; row < n_rows; row++)
        for (size_t k = 0; k < pcol_table_columns(t); k++) {
            struct pcol_value v = pcol_table_value(t, row, k);
            sum = add_text(add_bytes(sum, &v.whole, sizeof v.whole), v.text);
        }
    return sum;
}

/* Reads everything. A refusal must have a text. */
static struct seen read_all(const char *path)
{
    struct pcol_error why = {.text = ""};
    struct seen seen = {READ, 0};
    const struct pcol_table *t;
    const struct pcol_finding *f;
    const struct pcol_address *a;
    struct pcol_profile *p = pcol_open(path, 0, &why);
    if (!p) {
        if (why.status == PCOL_OK || !*why.text)
            _exit(10);
        seen.how = REFUSED_TO_OPEN;
        return seen;
    }
    for (size_t i = 0; (t = pcol_table_at(p, i)); i++)
        seen.sum = add_table(seen.sum, t);
    for (int shape = PCOL_TREE_FUNCTIONS; shape <= PCOL_TREE_CALLERS; shape++)
        seen.sum = add_table(seen.sum, pcol_tree_metrics(pcol_tree(p, (enum pcol_shape)shape)));
    for (unsigned by = PCOL_BY_FUNCTION; by <= PCOL_BY_RANK; by *= 2)
        seen.sum = add_table(seen.sum, pcol_sums(p, by));
    for (size_t i = 0; (f = pcol_finding(p, i)); i++)
        seen.sum = add_text(add_text(seen.sum, f->rule), f->sentence);
    for (size_t i = 0; (a = pcol_address(p, i)); i++)
        seen.sum = add_text(add_text(seen.sum, a->module), a->frames->function);
    seen.sum = add_text(seen.sum, pcol_source_line(p, "poisson.c", 1));
    if (pcol_warning(p, 0))
        seen.how = READ_WITH_WARNINGS;
    if (pcol_status(p) == PCOL_DAMAGED)
        seen.how = PARTS_UNREAD;
    else if (pcol_status(p) != PCOL_OK)
        seen.how = REFUSED_LATER;
    t = pcol_table_at(p, 0);
    if (seen.how == REFUSED_LATER &&
        (pcol_status(p) != PCOL_NO_MEMORY || (t && pcol_table_rows(t))))
        _exit(11);
    pcol_close(p);
    return seen;
}

/* The number of the next file that is opened. */
static int next_file(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static long counts[REFUSED_LATER + 1];

static void await_copy(pid_t copy, bool for_good)
{
    int status = 0;
    if (copy < 0 || waitpid(copy, &status, 0) != copy)
        _exit(1);
    int how = WIFEXITED(status) ? WEXITSTATUS(status) - FIRST_STATUS : -1;
    if (how >= 0 && how <= REFUSED_LATER)
        counts[how]++;
    else
        printf("allocation %ld%s: status %#x\n", calls, for_good ? " and all after it" : "",
               (unsigned)status);
}

/* True in the copies, where `refused` is set; the process itself waits for their ends. */
static bool continue_in_copies(void)
{
    armed = false;
    for (int each = THIS; each <= THIS_AND_LATER; each++) {
        pid_t copy = fork();
        if (!copy) {
            refused = each;
            is_copy = armed = true;
            return true;
        }
        await_copy(copy, each == THIS_AND_LATER);
    }
    armed = true;
    return false;
}

int main(int argc, char **argv)
{
    Dl_info at;
    long every = argc > 2 ? atol(argv[2]) : 0;
    if (every < 1 || !dladdr((void *)pcol_open, &at))
        return 2;
    own = argc > 3 ? at.dli_fbase : NULL;
    setvbuf(stdout, NULL, _IONBF,
            0);        /* a copy must not write what this process has not written yet */
    read_all(argv[1]); /* what is loaded once is loaded now */
    struct seen wanted = read_all(argv[1]);
    int file = next_file();
    step = every;
    armed = true;
    struct seen seen = read_all(argv[1]);
    armed = false;
    if (is_copy) {
        int wrong = alive ? 13 : next_file() != file ? 14 : 0;
        if (!wrong && seen.how == wanted.how && seen.sum != wanted.sum)
            wrong = 12;
        _exit(wrong ? wrong : FIRST_STATUS + seen.how);
    }
    if (seen.how != wanted.how || seen.sum != wanted.sum || alive)
        printf("copies have an effect on the process itself\n");
    fprintf(stderr,
            "%ld allocations: read %ld, with warnings %ld, in part %ld, not opened %ld, refused "
            "later %ld\n",
            calls, counts[READ], counts[READ_WITH_WARNINGS], counts[PARTS_UNREAD],
            counts[REFUSED_TO_OPEN], counts[REFUSED_LATER]);
    if (!counts[REFUSED_TO_OPEN] || !counts[REFUSED_LATER])
        printf("nothing was refused\n");
    return 0;
}

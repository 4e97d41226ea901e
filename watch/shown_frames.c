/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Decides which frames of a stack are shown.
 */
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "libcollect/walk/loadmap.h"
#include "watch/stack_tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Copies of a file are one module, as in pc_module_compare. */
bool pct_stack_module_is(const struct pct_stack_module *m, const char *path,
                         const uint8_t *build_id, uint32_t n_build_id)
{
    if (m->n_build_id != n_build_id)
        return false;
    return n_build_id ? !memcmp(m->build_id, build_id, n_build_id) : !strcmp(m->path, path);
}

/* True for libpcollect and its modules. */
static bool is_own(const char *path)
{
    const char *base = pc_base_name(path);
    return !strncmp(base, "libpcollect.so", 14) || !strncmp(base, "pcollect-", 9) ||
           !strncmp(base, "adapter-", 8);
}

struct pct_stack_module *pct_stack_module(struct pct_stack_modules *m, const char *path,
                                          const uint8_t *build_id, uint32_t n_build_id)
{
    for (size_t i = 0; i < m->n; i++)
        if (pct_stack_module_is(m->at[i], path, build_id, n_build_id))
            return m->at[i];
    struct pct_stack_module *made = pct_alloc(1, sizeof *made);
    made->path = pct_copy(path);
    made->flags = is_own(path) ? PCOLLECT_MODULE_OWN : pc_loadmap_kind(path);
    made->n_build_id = n_build_id;
    if (n_build_id)
        memcpy(made->build_id, build_id, n_build_id);
    m->at = pct_grow(m->at, m->n, &m->room, sizeof(struct pct_stack_module *));
    m->at[m->n++] = made;
    return made;
}

void pct_stack_modules_free(struct pct_stack_modules *m)
{
    for (size_t i = 0; i < m->n; i++) {
        pct_free(m->at[i]->path);
        pct_free(m->at[i]);
    }
    pct_free(m->at);
    *m = (struct pct_stack_modules){0};
}

/* True for frames of the program: neither of the system nor of MPI. */
static bool is_program(const struct pct_stack *s, const struct pct_stack_frame *f)
{
    if (!f->module || !pct_symbols_is_program(&(struct pc_profile_module){
                          .path = f->module->path, .flags = f->module->flags}))
        return false;
    const char *path = f->module->path;
    size_t n = (size_t)(pc_base_name(path) - path);
    return !(s->mpi_folder && strlen(s->mpi_folder) == n && !memcmp(s->mpi_folder, path, n) &&
             !strncmp(path + n, "lib", 3));
}

static bool is_own_frame(const struct pct_stack_frame *f)
{
    return f->module && f->module->flags & PCOLLECT_MODULE_OWN;
}

bool pct_stack_is_left_out(const struct pct_stack *s, size_t i)
{
    enum { SYSTEM = PCOLLECT_MODULE_RUNTIME | PCOLLECT_MODULE_LIBC | PCOLLECT_MODULE_OWN };
    const struct pct_stack_module *m = s->frames[i].module;
    if (!m || !(m->flags & PCOLLECT_MODULE_RUNTIME))
        return is_own_frame(&s->frames[i]);
    while (i > 0 && (!s->frames[i - 1].module || s->frames[i - 1].module->flags & SYSTEM))
        i--;
    return i > 0;
}

bool pct_stack_is_program(const struct pct_stack *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_program(s, &s->frames[i]))
            return true;
    return false;
}

/* True for a frame of an MPI function outside of the program: by its C name, its profiling name, or
 * a Fortran spelling. `name`, of n bytes, gets the C name. */
static bool is_mpi(const struct pct_stack *s, const struct pct_stack_frame *f, char *name, size_t n)
{
    const char *function = f->function ? f->function : "";
    function += *function == 'P' || *function == 'p';
    size_t length = strlen(function);
    if (length < 5 || length >= n || strncasecmp(function, "MPI_", 4) != 0)
        return false;
    bool fortran = *function == 'm';
    if (fortran ? function[length - 1] != '_' || is_program(s, f)
                : !isupper((unsigned char)function[4]))
        return false;
    snprintf(name, n, "MPI_%c%s", toupper((unsigned char)function[4]), function + 5);
    while (fortran && name[length - 1] == '_')
        name[--length] = '\0';
    return true;
}

/* True for a frame by which libc or the loader starts the program or a thread, provided that all
 * frames outside of it are such, too. */
static bool is_start(const struct pct_stack_frame *f)
{
    return f->module && f->module->flags & PCOLLECT_MODULE_LIBC;
}

/* Finds a wrapper of the library whose MPI function has no frame, because some functions of MPICH
 * make tail calls. */
static void find_wrapper(const struct pct_stack *s, struct pct_shown_frames *shown)
{
    for (size_t i = shown->to; s->op && i-- > 0;) {
        const struct pct_stack_module *m = s->frames[i].module;
        if (!m || strncmp(pc_base_name(m->path), "adapter-", 8) != 0)
            continue;
        shown->from = i + 1;
        snprintf(shown->op, sizeof shown->op, "%s", s->op);
        return;
    }
}

/* Finds an MPI function of Open MPI 4 and 5 that has no frame, because its last step is a jump to
 * the function that does its work. All others that jump so do it to report an error. */
static void find_jumped(const struct pct_stack *s, struct pct_shown_frames *shown)
{
    static const char *const jumps[][2] = {{"ompi_mpi_init", "MPI_Init"},
                                           {"ompi_mpi_finalize", "MPI_Finalize"}};
    for (size_t i = shown->to; i-- > 0 && !*shown->op;)
        for (size_t k = 0; k < sizeof jumps / sizeof *jumps && s->frames[i].function; k++)
            if (!strcmp(s->frames[i].function, jumps[k][0])) {
                shown->from = i + 1;
                snprintf(shown->op, sizeof shown->op, "%s", jumps[k][1]);
            }
}

/* The frame that the library has interrupted for a sample, or 0. Inside of it are the signal return
 * code, and the library's handler, if that has not returned. */
static size_t find_interrupted(const struct pct_stack *s)
{
    for (size_t i = s->n; i-- > 2;)
        if (s->frames[i].exact && is_own_frame(&s->frames[i - 2]))
            return i;
    return s->n > 1 && s->frames[1].exact;
}

struct pct_shown_frames pct_shown_frames(const struct pct_stack *s)
{
    struct pct_shown_frames shown = {.from = 0, .to = s->n};
    /* The program's entry point, which called libc's start. */
    if (!s->cut && s->n > 2 && is_program(s, &s->frames[s->n - 1]) &&
        is_start(&s->frames[s->n - 2]))
        shown.to--;
    while (!s->cut && shown.to > 1 && is_start(&s->frames[shown.to - 1]))
        shown.to--;
    for (size_t i = shown.to; i-- > 0;) {
        if (!is_mpi(s, &s->frames[i], shown.op, sizeof shown.op))
            continue;
        shown.from = i + 1;
        /* The call of a Fortran binding and its C call are one call: the C name is shown. */
        while (i-- > 0 && is_mpi(s, &s->frames[i], shown.op, sizeof shown.op))
            ;
        break;
    }
    if (!*shown.op)
        find_wrapper(s, &shown);
    if (!*shown.op)
        find_jumped(s, &shown);
    size_t interrupted = find_interrupted(s);
    if (interrupted > shown.from && interrupted < shown.to)
        shown.from = interrupted;
    return shown;
}

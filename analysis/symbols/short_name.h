/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Short, readable names of functions, for lines with other text.
 */
#ifndef PCT_SHORT_NAME_H
#define PCT_SHORT_NAME_H

#include "analysis/buffer.h"

/* The readable form of a name of C++ or Rust or of a procedure of a Fortran module, or the name
 * itself; kept in the pool. */
const char *pct_demangle(const char *name, struct pct_pool *pool);

/* The readable form of a symbol of Rust, kept in the pool; NULL: it is none. */
const char *pct_rust_name(const char *symbol, struct pct_pool *pool);

/* Appends a function's name. One that is longer than PCT_WHOLE_NAME cells loses its template and
 * call arguments, and its return type; what is left is bounded. */
enum { PCT_WHOLE_NAME = 40 };
void pct_short_name(struct pct_buf *b, const char *name);

/* Appends the name of a function in all its instances: without arguments and return type, however
 * short it is. */
void pct_name_of_instances(struct pct_buf *b, const char *name);

/* Appends the name, shortened, or `full` and bounded (pct_text_bounded). */
void pct_name_put(struct pct_buf *b, const char *name, bool full);

/* Appends at most `cells` cells of a name: if it is longer, it loses first the mark of a
 * compiler's copy, " [clone .cold]", then what stands before the function's own name, then the
 * middle of that. */
void pct_name_cut(struct pct_buf *b, const char *name, size_t cells, bool utf8);

/* Appends the name, shortened. If some of n other names are shortened to the same, its first
 * arguments in which it differs from them stay: "solve<...Jacobi>()", with dots where others are
 * left out. Of more than PCT_APART_CELLS the last arguments are left out, of a longer one its
 * middle. */
enum { PCT_APART_CELLS = 30 };
void pct_name_put_among(struct pct_buf *b, const char *name, const char *const *others, size_t n,
                        bool utf8);

/* The n names of a list, shortened and told apart from each other, or `full` and bounded; NULL
 * stays NULL. The texts are kept in the pool; the caller frees the list. */
const char **pct_names_shown(const char *const *names, size_t n, bool full, bool utf8,
                             struct pct_pool *pool);

/* True if the text `asked` selects the function `name`: by its whole name, or without arguments and
 * without a prefix up to some `::`. `reduce`, `phys::reduce` and `phys::reduce<>()` mean `double
 * phys::reduce<double>(int)`; `phys::reduce<int>` does not. A function is meant with the parts that
 * the compiler made of it: `solve` means `solve._omp_fn.0` and `solve::{lambda#1}::operator()`,
 * too.
 */
bool pct_name_means(const char *name, const char *asked);

/* True if the compiler made the function of a region or a task of OpenMP. */
bool pct_name_is_region(const char *name);

/* Bytes of a name before the marks of a copy: ".constprop.0", " [clone .isra.0]". */
size_t pct_name_uncopied_bytes(const char *name);

/* Appends the name by which a function is known in all builds, whatever the compiler inlines or
 * copies, with and without debug information: without the marks of a copy, ".constprop.0", " [clone
 * .isra.0]"; without the underscore of a symbol of Fortran; without the return type, which may be
 * spelled in several ways; and with lambdas as those are named that are inlined,
 * `main::{lambda#1}::operator()`, without parameters. */
void pct_name_of_builds(struct pct_buf *b, const char *name);

/* The part of a name behind its last `::`, without arguments; of a part that the compiler made of a
 * function, that of the function; kept in the pool. */
const char *pct_name_tail(const char *name, struct pct_pool *pool);

#endif

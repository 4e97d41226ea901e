/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Own work of the runtimes of OpenMP, by the names of their functions: see runtime_work.h.
 */
#include "analysis/runtime_work.h"

#include "format/team_runtime.h"

#include <string.h>

/* Part of the time in runtimes from which on their own work is worth a doubt. */
#define SOME 0.01

/* Parts of names of functions that do not wait, or not only, in GNU's and LLVM's runtime. */
static bool is_work(const char *name)
{
    static const char *const parts[] = {"task",    "_next",    "_thread_num", "_num_threads",
                                        "omp_in_", "omp_get_", "omp_test_"};
    for (size_t i = 0; name && i < PC_ARRAY_LEN(parts); i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static bool is_of_runtime(const struct pc_profile *p, const struct pc_profile_node *n)
{
    return n->module != PC_NO_INDEX && pc_is_team_runtime(pc_base_name(p->modules[n->module].path));
}

static bool lies_in_program(const struct pc_profile *p, const struct pc_profile_node *n)
{
    return n->module != PC_NO_INDEX && pct_symbols_is_program(&p->modules[n->module]);
}

static bool is_named_work(const struct pc_profile *p, struct pct_symbols *symbols, uint32_t node)
{
    struct pct_place place =
        pct_symbols_node_once(symbols, &p->nodes[node], pc_profile_above(p, node));
    for (size_t i = 0; i < place.n_frames; i++)
        if (is_work(place.frames[i].function))
            return true;
    return false;
}

bool pct_runtime_works(const struct pc_profile *p, struct pct_symbols *symbols,
                       const struct pct_samples *samples)
{
    double all_ns = 0, work_ns = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        double ns = (double)pct_samples_of(samples, i).ns;
        bool inside = false, works = false;
        for (uint32_t at = i; ns > 0 && at != PC_NO_INDEX && !lies_in_program(p, &p->nodes[at]);
             at = p->nodes[at].parent) {
            bool runtime = is_of_runtime(p, &p->nodes[at]);
            inside |= runtime;
            works |= runtime && is_named_work(p, symbols, at);
        }
        all_ns += inside ? ns : 0;
        work_ns += works ? ns : 0;
    }
    return work_ns > SOME * all_ns;
}

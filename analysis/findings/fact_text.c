/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words about the calls of one place: their number, their bytes, and advice.
 */
#include "analysis/findings/findings.h"

#include <math.h>

double pct_fact_rank_calls(const struct pct_evidence *f, const struct pct_fact *fact)
{
    return f->n_ranks ? fact->calls / (double)f->n_ranks : 0;
}

/* A rank with more calls than the mean by this factor makes the mean say little. */
#define UNEVEN 1.25

const char *pct_fact_how_many(const struct pct_evidence *f, const struct pct_fact *fact,
                              const char *what)
{
    struct pct_buf b = {0};
    bool some = fact->n_callers && fact->n_callers < f->n_ranks;
    double n = fact->calls / (double)(some ? fact->n_callers : f->n_ranks);
    bool uneven = fact->most_calls > UNEVEN * n;
    pct_buf_format(&b, "%s%s %s per rank", uneven ? "up to " : "",
                   pct_finding_number(f, uneven ? fact->most_calls : n), what);
    if (some)
        pct_buf_format(&b, " (on %s of %s ranks)", pct_finding_number(f, (double)fact->n_callers),
                       pct_finding_number(f, (double)f->n_ranks));
    pct_main_caller_put(&b, &fact->most_from, fact->calls);
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

/* Appends "88 % of these calls are made inside KSPSolve of libpetsc.so". A function that is the
 * place is not named again: if it only passes calls of another library on, that one decides. */
static void put_maker(struct pct_buf *b, const struct pct_fact *fact)
{
    const struct pct_node *named = fact->at.function;
    const char *module = fact->module, *function = fact->inside.function;
    double share = 100 * fact->inside.calls / fact->calls;
    if (!function || (named && pct_is_same_text(function, named->frame->function))) {
        bool passes = module && fact->around.library;
        function = passes ? fact->around.function : NULL;
        module = passes ? fact->around.library : module;
        share = passes ? 100 * fact->around.calls / fact->calls : 100;
    }
    if (share > 99)
        pct_buf_text(b, share < 100 ? "Nearly all of these" : "These");
    else
        pct_buf_format(b, "%.0f %% of these", share);
    pct_buf_text(b, " calls are made inside ");
    if (function)
        pct_finding_put_function(b, function, NULL, 0);
    else if (!module)
        pct_text_escape(b, fact->library, PCT_ESCAPE_CELL);
    if (module) {
        pct_buf_text(b, function ? " of " : "");
        pct_text_escape(b, pc_base_name(module), PCT_ESCAPE_CELL);
    }
}

const char *pct_fact_cure(const struct pct_evidence *f, const struct pct_fact *fact,
                          const char *own)
{
    struct pct_buf b = {0};
    if (!fact->library)
        return own;
    put_maker(&b, fact);
    pct_buf_text(&b, ": how often and for how much data it is called, its options (such as solver "
                     "and decomposition) and the number of ranks decide how many there are.");
    const char *text = pct_pool_intern(f->pool, b.data);
    pct_buf_free(&b);
    return text;
}

double pct_fact_call_bytes(const struct pct_fact *fact)
{
    double bytes = fact->traits & PCOLLECT_TRAIT_SAME
                       ? fact->bytes_sent + fact->bytes_received
                       : fmax(fact->bytes_sent, fact->bytes_received);
    return fact->calls > 0 ? bytes / fact->calls : 0;
}

const char *pct_finding_bytes(const struct pct_evidence *f, double bytes)
{
    char text[64];
    if (bytes > 0 && bytes < 1)
        return "less than 1 byte";
    pct_text_format(text, sizeof text, "%.0f byte%s", bytes, llround(bytes) == 1 ? "" : "s");
    return pct_pool_intern(f->pool, text);
}

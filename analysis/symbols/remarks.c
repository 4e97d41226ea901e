/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What readers are told of symbols: files that could not be read, one by one, and names and lines
 * that are missing, in one sentence for each cure.
 */
#include "analysis/symbols/symbols_private.h"

#include <string.h>

enum cure {
    CURE_COMPILE,
    CURE_PACKAGE, /* the file is of a package, and here */
    CURE_EMBED,   /* of a package, and not here */
    N_CURES
};

static enum cure find_cure(const struct pct_symbols *s, uint32_t module)
{
    if (!pct_origin_is_of_system(pct_symbols_profile(s)->modules[module].path))
        return CURE_COMPILE;
    return pct_symbols_is_elsewhere(s, module) ? CURE_EMBED : CURE_PACKAGE;
}

static void put_cure(struct pct_buf *b, enum cure cure, bool nameless)
{
    static const char *const texts[N_CURES] = {
        [CURE_COMPILE] = "compile with -g",
        [CURE_PACKAGE] = "install packages with debug symbols",
        [CURE_EMBED] =
            "store them with pcollect embed where these files and their debug symbols are",
    };
    pct_buf_format(b, "; %s", texts[cure]);
    if (cure == CURE_COMPILE)
        pct_buf_text(b, nameless ? " and do not strip" : " to see them");
    else if (!pct_symbols_may_ask_servers())
        pct_buf_text(b, ", or try --debuginfod");
}

/* Appends the modules [first, end) that lack the same and have the same cure; false: there is none.
 */
static bool put_modules(struct pct_buf *b, const struct pct_symbols *s, uint32_t first,
                        uint32_t end, enum pct_lack lack, enum cure cure)
{
    const char *start = lack == PCT_LACKS_NAMES ? "no names: " : "no line numbers: ";
    bool any = false;
    for (uint32_t i = first; i < end; i++) {
        char text[PCT_NUMBER_BYTES];
        pc_u128 share;
        if (pct_symbols_lack(s, i) != lack || find_cure(s, i) != cure)
            continue;
        bool begins = !b->n;
        pct_buf_format(b, "%s%s", any ? ", " : begins ? "" : "; ", any ? "" : start);
        pct_text_escape(b, pct_symbols_profile(s)->modules[i].path, PCT_ESCAPE_CELL);
        if (pct_symbols_share(s, i, &share)) {
            pc_u128 named = lack == PCT_LACKS_NAMES ? pct_symbols_named_share(s, i) : 0;
            pct_buf_format(b, " (%s%s", pct_text_percent_1(text, share),
                           begins ? " of the computation" : "");
            if (named)
                pct_buf_format(b, ", of which %s has names", pct_text_percent_1(text, named));
            pct_buf_text(b, ")");
        }
        any = true;
    }
    return any;
}

/* The sentence on modules [first, end) that have the same cure; NULL: there is none. */
static const char *make_sentence(const struct pct_symbols *s, uint32_t first, uint32_t end,
                                 enum cure cure)
{
    struct pct_buf b = {0};
    bool nameless = put_modules(&b, s, first, end, PCT_LACKS_NAMES, cure);
    bool lineless = put_modules(&b, s, first, end, PCT_LACKS_LINES, cure);
    if (nameless || lineless)
        put_cure(&b, cure, nameless);
    const char *kept = b.n ? pct_symbols_keep(s, b.data) : NULL;
    pct_buf_free(&b);
    return kept;
}

const char *pct_symbols_complaint(const struct pct_symbols *s, uint32_t module)
{
    const char *fault = pct_symbols_fault(s, module);
    return fault ? fault : make_sentence(s, module, module + 1, find_cure(s, module));
}

const char *pct_symbols_remark(const struct pct_symbols *s, size_t i)
{
    uint32_t n = pct_symbols_profile(s)->n_modules;
    for (uint32_t module = 0; module < n; module++) {
        const char *fault = pct_symbols_fault(s, module);
        if (fault && !i--)
            return fault;
    }
    for (int cure = 0; cure < N_CURES; cure++) {
        const char *sentence = make_sentence(s, 0, n, (enum cure)cure);
        if (sentence && !i--)
            return sentence;
    }
    return i ? NULL : pct_symbols_servers_problem();
}

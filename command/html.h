/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Declarations that the files of pcollect html share.
 */
#ifndef PCT_COMMAND_HTML_H
#define PCT_COMMAND_HTML_H

#include "command/command.h"

#include <stdio.h>

struct pct_html_request {
    const char *to; /* NULL: the default name */
    bool strong, weak;
    uint64_t contexts; /* that are kept apart; 0: all */
    bool without_sources;
};

/* Writes a page with `put`; it gets its name when it is complete. Replaces only pages. Returns an
 * exit status, after a message on an error. */
int pct_html_write(const struct pct_command *self, const char *to,
                   void (*put)(FILE *out, const void *subject), const void *subject);

/* Compares the profiles of a line with two words or more. Sets r->to if it is NULL. */
int pct_html_compare(const struct pct_command *self, const struct pct_line *line,
                     struct pct_html_request *r);

#endif

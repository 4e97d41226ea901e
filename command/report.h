/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command sees of the report: `pcollect report FILE`.
 */
#ifndef PCT_REPORT_H
#define PCT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Hands over what the command found in its environment: COLUMNS, NO_COLOR and TERM; each may be
 * NULL. The strings must stay valid. Optional, before pct_report_main. */
void pct_report_environment(const char *columns, const char *no_color, const char *term);

/* Columns of the terminal (as for the report: its own, COLUMNS, or 100), 0 if standard output is
 * none and is not to be cut; and whether it shows UTF-8. */
void pct_report_terminal(size_t *width_out, bool *utf8_out);

/* argv[0] is "report". Prints the report to standard output, messages to standard error. Returns
 * the exit status: 0 done, 1 the data is at fault, 2 the call is at fault. */
int pct_report_main(int argc, char **argv);

#endif

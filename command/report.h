/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of `pcollect report`.
 */
#ifndef PCT_REPORT_H
#define PCT_REPORT_H

#include "command/command.h"
#include "view/report_print.h"

struct pct_report_request {
    struct pct_options view;
    bool has_format;
    const char *file;
    const char *domain, *by; /* as they were given, or NULL */
};

/* The options of the row pct_report and the function that takes them; `request` is a struct
 * pct_report_request.
 */
extern const struct pct_option pct_report_options[];
int pct_report_take(const struct pct_command *self, const struct pct_option *o, const char *value,
                    void *request);
bool pct_report_help(const struct pct_command *self, const void *request, FILE *out);

/* Reads the command line. False: end with *status_out. */
bool pct_report_read(const struct pct_command *self, int argc, char **argv,
                     struct pct_report_request *out, int *status_out);

/* PCT_CALL, after a message, if neither the report nor the profile has the table. */
int pct_report_check_table(const struct pct_command *self, const struct pct_report_request *r,
                           const struct pc_profile *p);

#endif

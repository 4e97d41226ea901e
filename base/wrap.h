/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text in lines of a given width: help, messages, comments of a configuration.
 */
#ifndef PC_WRAP_H
#define PC_WRAP_H

#include "base/base.h"

/* Bytes of the first line of `text` in at most `columns` columns (0: any number). The line ends at
 * a newline, else at the last blank that fits and is not between a number and its unit; a longer
 * word gets a line of its own. *rest_out is the begin of the next line: after the newline, or after
 * the blanks of the break. A UTF-8 character counts as one column, a control
 * sequence of colours as none. AS-safe. */
size_t pc_wrap(const char *text, size_t columns, const char **rest_out);

#endif

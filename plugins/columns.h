/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Columns of tables (struct pcollect_column) in one line each, for the library's plugins and its
 * own tables. Types, ways to combine and units are written without their prefix.
 */
#ifndef PC_COLUMNS_H
#define PC_COLUMNS_H

#include "include/pcollect/plugin.h"

#define PC_KEY(name, doc, type)                                                                    \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_##type, 0, PCOLLECT_UNIT_COUNT, 0                               \
    }
#define PC_VALUE(name, doc, type, combine, unit)                                                   \
    {                                                                                              \
        name, doc, PCOLLECT_COLUMN_##type, PCOLLECT_##combine, PCOLLECT_UNIT_##unit, 0             \
    }
#define PC_SUM(name, doc, unit) PC_VALUE(name, doc, NUMBER, SUM, unit)
#define PC_MAX(name, doc, unit) PC_VALUE(name, doc, NUMBER, MAX, unit)
#define PC_TEXT(name, doc) PC_VALUE(name, doc, STRING, MIN, COUNT)

/* The key of figures by communicator. */
#define PC_KEY_DOMAIN PC_KEY("domain", "communicator, by its id in the table communicators", DOMAIN)

#endif

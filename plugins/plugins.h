/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugins that are part of libpcollect.so.
 */
#ifndef PC_PLUGINS_H
#define PC_PLUGINS_H

#include "include/pcollect/plugin.h"

extern const struct pcollect_comm_plugin pc_plugin_time;
extern const struct pcollect_comm_plugin pc_plugin_null;

#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of the plugins that are part of libpcollect.so: the one list, from which their
 * declarations, the tables of their hosts and the check of a configuration are made.
 */
#ifndef PC_PLUGIN_NAMES_H
#define PC_PLUGIN_NAMES_H

#define PC_COMM_PLUGINS(X)                                                                         \
    X(time)                                                                                        \
    X(volume)                                                                                      \
    X(request)                                                                                     \
    X(topology)                                                                                    \
    X(domain)                                                                                      \
    X(series)                                                                                      \
    X(object)                                                                                      \
    X(null)

#define PC_COMPUTE_PLUGINS(X)                                                                      \
    X(clock)                                                                                       \
    X(counters)

#endif

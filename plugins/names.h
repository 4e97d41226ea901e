/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plugins that are part of libpcollect.so, with what each answers: the one list, from which
 * their declarations, the tables of their hosts, the check of a configuration, its template and its
 * manual page are made. README shows the same lines.
 */
#ifndef PC_PLUGIN_NAMES_H
#define PC_PLUGIN_NAMES_H

#define PC_COMM_PLUGINS(X)                                                                         \
    X(time, "how often and how long each MPI function is called in each context, its bytes")       \
    X(volume, "how large messages are, which datatypes and reduction operators are used")          \
    X(request, "whether nonblocking operations overlap with computation, and which never end")     \
    X(topology, "which ranks exchange messages, how many, how large; where ranks are bound")       \
    X(domain, "how communicators were made; all other figures by communicator")                    \
    X(series, "calls, bytes, time in MPI, CPU time and regions over the course of the run")        \
    X(object, "calls, bytes and time of each file and each RMA window")                            \
    X(null, "nothing: to measure what the library costs without plugins")

#define PC_COMPUTE_PLUGINS(X)                                                                      \
    X(clock, "CPU time of each context, from samples")                                             \
    X(counters, "counts of events in each context, also of more events than counters")

/* Names of the tables that the report makes of a profile, in the order in which it lists them, and
 * of those that `pcollect embed` adds to one: no plugin has a table of such a name. */
/* clang-format off */
#define PC_REPORT_TABLES(X) \
    X(header) \
    X(findings) \
    X(primitives) \
    X(ranks) \
    X(programs) \
    X(classes) \
    X(class_times) \
    X(thread_times) \
    X(contexts) \
    X(call_sites) \
    X(callers) \
    X(lines) \
    X(function_calls) \
    X(sources) \
    X(module_calls) \
    X(communicator_calls) \
    X(flat) \
    X(functions) \
    X(computation) \
    X(sample_callers) \
    X(counts) \
    X(estimates) \
    X(ratios) \
    X(modules) \
    X(frames) \
    X(lost)
/* clang-format on */
#define PC_STORED_TABLES(X)                                                                        \
    X(symbols) X(tail_calls) X(function_files) X(function_begins) X(source_lines) X(instructions)

#endif

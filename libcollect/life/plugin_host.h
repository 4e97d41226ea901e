/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hosts of plugins. Init-only.
 */
#ifndef PC_PLUGIN_HOST_H
#define PC_PLUGIN_HOST_H

#include "libcollect/state/state.h"

/* ---- plugins of both kinds (plugin_host.c); init-only ---- */
struct pc_plugin_kind {
    uint32_t kind;
    size_t bytes;       /* size of a descriptor */
    const char *option; /* "[sample] plugins": messages begin with it */
    const void *const *built_in;
    size_t n_built_in;
    /* NULL, or the name of something that this kind needs and the descriptor lacks. */
    const char *(*why_refused)(const void *plugin);
    const uint32_t *n; /* loaded so far */
    uint32_t most;
    /* The descriptor of loaded plugin i. */
    const void *(*at)(uint32_t i);
    /* Adds a plugin to the loaded ones; its part of the record begins at record_bytes. */
    void (*take)(const void *plugin);
};

/* Loads each plugin of the list: one of the library by name, or a user's by path, whose file stays
 * open. One that cannot be used is refused with the reason. Stops at a refused name, unless it is a
 * path and the configuration is not strict: then this plugin is left out, with a message. */
int pc_plugins_load(const struct pc_plugin_kind *kind, const char *names, struct pc_error *error);

/* ---- communication plugins (comm_plugins.c) ---- */
/* Finds and checks the plugins of the configuration; fixes the layout of records. */
int pc_plugins_find(struct pc_error *error);
/* Starts the plugins. The arena is open. */
int pc_plugins_start(void);
void pc_plugins_fini(void);

/* ---- compute plugins (compute_plugins.c): find is called after that of comm plugins */
int pc_compute_find(struct pc_error *error);
int pc_compute_start(void);
void pc_compute_fini(void);

#endif

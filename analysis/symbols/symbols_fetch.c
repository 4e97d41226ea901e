/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files by build-id from debuginfod servers, if the user asks for it. The elfutils library for this
 * is opened at first use, so that pcollect runs without it. It decides on servers, cache and
 * time-outs itself: DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT; without the last, a
 * server has 10 s.
 */
#include "config.h"

#include "analysis/symbols/symbols_private.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *build_id, int bytes, char **path);

static struct {
    bool allowed, tried;
    bool answered;
    char problem[160];
    void *client; /* kept to the end of the command */
    find_fn *find[PCT_N_FETCHES];
} servers;

void pct_symbols_allow_servers(void)
{
    servers.allowed = true;
}

bool pct_symbols_may_ask_servers(void)
{
    return servers.allowed;
}

/* Converts dlsym's object pointer to a function pointer, as POSIX allows. */
static void find_symbol(void *library, const char *name, void *function_out)
{
    void *symbol = dlsym(library, name);
    memcpy(function_out, &symbol, sizeof symbol);
}

static void open_library(void)
{
    void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    begin_fn *begin = NULL;
    servers.tried = true;
    if (!library)
        return;
    setenv("DEBUGINFOD_TIMEOUT", "10", 0);
    find_symbol(library, "debuginfod_begin", &begin);
    find_symbol(library, "debuginfod_find_debuginfo", &servers.find[PCT_FETCH_DEBUGINFO]);
    find_symbol(library, "debuginfod_find_executable", &servers.find[PCT_FETCH_EXECUTABLE]);
    if (begin && servers.find[PCT_FETCH_DEBUGINFO] && servers.find[PCT_FETCH_EXECUTABLE])
        servers.client = begin();
}

const char *pct_symbols_servers_problem(void)
{
    return *servers.problem && !servers.answered ? servers.problem : NULL;
}

static const char *note_problem(const char *why)
{
    pct_text_format(servers.problem, sizeof servers.problem, "debuginfod: %s", why);
    return servers.problem;
}

const char *pct_fetch(enum pct_fetch what, const uint8_t *id, size_t n, struct pct_pool *pool,
                      const char **why_out)
{
    char *path = NULL;
    if (!servers.tried)
        open_library();
    if (!servers.client) {
        *why_out = note_problem("libdebuginfod.so.1 is not installed");
        return NULL;
    }
    int fd = servers.find[what](servers.client, id, (int)n, &path);
    servers.answered |= fd >= 0 || fd == -ENOENT;
    if (fd < 0) {
        *why_out = fd == -ENOENT   ? "debuginfod: no server has it"
                   : fd == -ENOSYS ? note_problem("DEBUGINFOD_URLS names no server")
                                   : note_problem(strerror(-fd));
        return NULL;
    }
    close(fd);
    pct_hold(path, free);
    const char *kept = pct_pool_intern(pool, path);
    pct_free(path);
    return kept;
}

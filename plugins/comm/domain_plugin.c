/* SPDX-License-Identifier: BSD-3-Clause
 *
 * domain: communicators. With this plugin every other plugin's record is kept by context and
 * communicator, not by context alone (PCOLLECT_WANT_DOMAIN).
 *
 * Table `communicators`: one row for each, by the id that all its members agree on. Table
 * `members`: the members of those that do not have all ranks of MPI_COMM_WORLD in its order; each
 * member writes its own row.
 *
 * This plugin works only when communicators are made and freed; it adds no cost to calls on a
 * communicator.
 */
#include "plugins/plugins.h"

#include <stddef.h>

enum {
    COMM_PARENT,
    COMM_HOW,
    COMM_NAME,
    COMM_CONTEXT,
    COMM_SIZE,
    COMM_REMOTE,
    COMM_MADE,
    COMM_FREED,
    COMM_LIFETIME
};

static const struct pcollect_column comm_columns[] = {
    PC_KEY_DOMAIN,
    PC_VALUE("parent", "communicator from which it was made", DOMAIN, MAX, COUNT),
    PC_TEXT("made_by", "primitive that made it"),
    PC_TEXT("name", "name given to it"),
    PC_VALUE("context", "where it was made", NODE, MIN, COUNT),
    PC_MAX("size", "members", COUNT),
    PC_MAX("remote_size", "members of the other side", COUNT),
    PC_SUM("made", "times made, over ranks", COUNT),
    PC_SUM("freed", "times freed, over ranks", COUNT),
    PC_MAX("lifetime", "longest time from making to freeing", TICKS),
};

static const struct pcollect_column member_columns[] = {
    PC_KEY_DOMAIN,
    PC_KEY("member", "rank in MPI_COMM_WORLD", RANK),
    PC_MAX("rank", "rank in the communicator", COUNT),
    PC_SUM("made", "times that it became a member", COUNT),
};

static const struct pcollect_table tables[] = {
    {"communicators", "how communicators were made, named and freed", comm_columns, 1, 9,
     PCOLLECT_TABLE_KEPT},
    {"members", "ranks of communicators", member_columns, 2, 2, PCOLLECT_TABLE_KEPT},
};

static int start(const struct pcollect_host *host, void **state)
{
    *state = (void *)host;
    return 0;
}

static void note_made(const struct pcollect_host *host, const struct pcollect_domain *d,
                      uint64_t *row)
{
    const char *how = host->op_name(d->op);
    row[COMM_MADE]++;
    row[COMM_PARENT] = d->parent;
    row[COMM_HOW] = how ? host->string(how) : 0;
    row[COMM_CONTEXT] = d->node;
    if ((uint64_t)d->n_local > row[COMM_SIZE])
        row[COMM_SIZE] = (uint64_t)d->n_local;
    if ((uint64_t)d->n_remote > row[COMM_REMOTE])
        row[COMM_REMOTE] = (uint64_t)d->n_remote;
    if (d->as_world)
        return;
    uint64_t keys[2] = {d->id, (uint64_t)(int64_t)PCOLLECT_RANK_SELF};
    uint64_t *member = host->row(d->thread, &tables[1], keys);
    if (!member)
        return;
    member[0] = (uint64_t)d->rank;
    member[1]++;
}

static void change(void *state, const struct pcollect_domain *d)
{
    const struct pcollect_host *host = state;
    uint64_t *row = host->row(d->thread, &tables[0], &d->id);
    if (!row)
        return;
    if (d->change == PCOLLECT_DOMAIN_MADE)
        note_made(host, d, row);
    if (d->name)
        row[COMM_NAME] = host->string(d->name);
    if (d->change == PCOLLECT_DOMAIN_FREED) {
        row[COMM_FREED]++;
        if (d->now - d->made > row[COMM_LIFETIME])
            row[COMM_LIFETIME] = d->now - d->made;
    }
}

const struct pcollect_comm_plugin pc_plugin_domain = {
    .abi = PCOLLECT_PLUGIN_ABI,
    .size = sizeof(struct pcollect_comm_plugin),
    .kind = PCOLLECT_PLUGIN_COMM,
    .record_bytes = 0,
    .name = "domain",
    .doc = "communicators: how made, from which, members; splits what others collect by them",
    .tables = tables,
    .n_tables = sizeof tables / sizeof tables[0],
    .init = start,
    .domain = change,
    .wants = PCOLLECT_WANT_DOMAIN,
};

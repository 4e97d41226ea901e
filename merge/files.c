/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the arena files of a folder, and merges those of a job: for recovery, outside any job,
 * after the processes that wrote them have ended (running ones are detected). Also merges copies of
 * arenas of running processes, for checkpoints.
 */
#include "base/progress.h"
#include "format/record_rows.h"
#include "merge/arena_file.h"
#include "merge/fold.h"
#include "merge/image.h"
#include "merge/lists.h"
#include "merge/merge.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char suffix[] = ".arena";

static void say_line(pc_merge_say_fn say, void *arg, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say_line(pc_merge_say_fn say, void *arg, const char *format, ...)
{
    char line[PCOLLECT_PATH_BYTES + 600];
    va_list args;
    if (!say)
        return;
    va_start(args, format);
    pc_vformat(line, sizeof line, format, args);
    va_end(args);
    say(arg, line);
}

/* ---- Merging the arenas of a job ------------------------------------------------------------- */

static bool has_rank(const bool *ranks, uint32_t n_ranks, int32_t rank)
{
    return rank >= 0 && (uint32_t)rank < n_ranks && ranks[rank];
}

/* Profiles are added with their values, as structures, as long as all values fit into the bound,
 * and the structures into MOST_BYTES. If they do not, the rest is added without values, and all
 * arenas are read again when it is known which values are kept. Records are packed then, and values
 * are gathered apart, as in the job (reduce.c). */
enum { MOST_BYTES = 64 << 20 };

struct gathering {
    struct pc_profile_sum sum;
    struct pc_record_counts counts;
    uint32_t *places;       /* by row of the counts, in the second pass over the files */
    struct pc_buffer *runs; /* world_size elements, with `places`: the values of a rank */
    uint64_t bytes;         /* of the values so far */
    struct pc_kept_bound bound;
    uint32_t contexts; /* that are kept apart; 0: all */
    bool is_over;
    uint64_t job_key;
    uint32_t world_size;
    bool *ranks; /* world_size elements: ranks seen so far */
    size_t n;
    char *const *paths;                 /* paths of the files that are read, or */
    const struct pc_merge_copy *copies; /* what is merged in their place */
    pc_merge_say_fn say;
    void *arg;
};

static bool fields_agree(const struct gathering *g, const struct pc_profile *p)
{
    for (size_t k = 0; k < PC_ARRAY_LEN(g->sum.part); k++)
        if (g->sum.part[k] && !pc_fields_agree(g->sum.part[k], p))
            return false;
    return true;
}

/* Takes the job from the first profile. */
static bool begin_job(struct gathering *g, const struct pc_profile *p, struct pc_error *error)
{
    g->job_key = p->job_key;
    g->world_size = p->world_size;
    g->bound = (struct pc_kept_bound){p->values_bytes, p->per_rank};
    g->contexts = p->contexts;
    g->ranks = calloc(p->world_size, sizeof *g->ranks);
    if (!g->ranks)
        pc_error_set(error, PC_ENOMEM, "no memory for the list of ranks");
    return g->ranks != NULL;
}

/* Reason why this profile cannot be added, or NULL. */
static const char *why_not(const struct gathering *g, const struct pc_profile *p)
{
    if (p->job_key != g->job_key || p->world_size != g->world_size)
        return "it belongs to another job";
    if (has_rank(g->ranks, g->world_size, p->ranks[0].rank))
        return "this rank is there already";
    if (!fields_agree(g, p))
        return "its plugins use the same names for other figures";
    return NULL;
}

/* Bytes of a record as a structure. */
static uint64_t structure_bytes(const struct pc_profile *p)
{
    uint64_t n = sizeof(struct pc_profile_data);
    for (uint32_t k = 0; k < p->n_fields; k++)
        n += sizeof(struct pc_stat) + sizeof(uint64_t *) + p->fields[k].bins * sizeof(uint64_t);
    return n;
}

static int count_records(struct gathering *g, const struct pc_profile *p, const uint64_t *keys)
{
    struct pc_record_counts own;
    int err = pc_record_counts_take(p, keys, &own);
    if (!err)
        err = pc_record_counts_add(&g->counts, &own);
    for (size_t i = 0; i < own.n; i++)
        g->bytes += own.rows[i].bytes;
    g->is_over |= g->bound.bytes && g->bytes > g->bound.bytes;
    g->is_over |= g->counts.n * structure_bytes(p) > MOST_BYTES;
    g->is_over |= g->contexts && g->counts.n > g->contexts;
    free(own.rows);
    return err;
}

static int leave_out_values(const struct gathering *g, struct pc_profile *p, const uint64_t *keys)
{
    uint32_t *places = pc_record_counts_places(&g->counts, g->places, keys, p->n_data);
    if (places)
        pc_lists_put(p, places, &g->runs[p->ranks[0].rank]);
    else
        pc_lists_drop(p);
    bool failed = g->places && (!places || pc_fold(p, &g->counts, keys));
    free(places);
    return failed || !pc_records_pack(p) ? PC_ENOMEM : PC_OK;
}

/* Takes p. */
static int add_profile(struct gathering *g, struct pc_profile *p, struct pc_error *error)
{
    uint64_t *keys = pc_record_counts_keys(p);
    int err = keys ? PC_OK : PC_ENOMEM;
    if (!err && !g->places)
        err = count_records(g, p, keys);
    if (!err && (g->places || g->is_over))
        err = leave_out_values(g, p, keys);
    free(keys);
    if (!err)
        err = pc_tables_pack(p);
    if (!err)
        return pc_profile_sum_add(&g->sum, p, error);
    pc_profile_free(p);
    return pc_error_set(error, err, "no memory to add the profile of a rank");
}

/* Takes p, and adds it if it belongs to the job. */
static int gather_profile(struct gathering *g, const char *path, struct pc_profile *p,
                          struct pc_error *error)
{
    const char *why = NULL;
    if (!g->ranks && !begin_job(g, p, error)) {
        pc_profile_free(p);
        return PC_ENOMEM;
    }
    why = why_not(g, p);
    if (why) {
        say_line(g->say, g->arg, "%s: left out: %s", path, why);
        pc_profile_free(p);
        return PC_OK;
    }
    g->ranks[p->ranks[0].rank] = true;
    g->n++;
    return add_profile(g, p, error);
}

static int gather_bytes(struct gathering *g, const char *path, const struct pc_arena_bytes *bytes,
                        uint64_t taken_ns, struct pc_error *error)
{
    struct pc_profile *p = NULL;
    int err = pc_merge_arena(bytes->data, bytes->n, PC_MERGE_ALL, &p, error);
    if (err || error->text[0])
        say_line(g->say, g->arg, "%s: %s", path, error->text);
    if (!p)
        return err == PC_ENOMEM ? err : PC_OK;
    if (taken_ns && pc_checkpoint_mark(p, taken_ns)) {
        pc_profile_free(p);
        return pc_error_set(error, PC_ENOMEM, "no memory to read %s", path);
    }
    return gather_profile(g, path, p, error);
}

static int gather_file(struct gathering *g, const char *path, struct pc_error *error)
{
    struct pc_arena_bytes bytes = {NULL, 0};
    int err = pc_arena_file_read(path, false, &bytes, error);
    if (err == PC_ENOMEM)
        return err;
    if (err) {
        say_line(g->say, g->arg, "%s", error->text);
        return PC_OK;
    }
    err = gather_bytes(g, path, &bytes, 0, error);
    free(bytes.data);
    return err;
}

static int gather_copy(struct gathering *g, const struct pc_merge_copy *c, struct pc_error *error)
{
    const struct pc_arena_bytes bytes = {c->data, c->n};
    return gather_bytes(g, c->path, &bytes, c->taken_ns, error);
}

static int gather_all(struct gathering *g, size_t n, struct pc_error *error)
{
    int err = PC_OK;
    for (size_t i = 0; i < n && !err; i++) {
        pc_progress_begin("reading", g->copies ? g->copies[i].path : g->paths[i], i + 1, n);
        err = g->copies ? gather_copy(g, &g->copies[i], error) : gather_file(g, g->paths[i], error);
        pc_progress_end();
    }
    return err;
}

/* Reads all once more, with the values that have been chosen. */
static int gather_again(struct gathering *g, size_t n, struct pc_error *error)
{
    pc_record_counts_fold(&g->counts, g->contexts);
    g->places = pc_record_counts_choose(&g->counts, &g->bound);
    g->runs = calloc(g->world_size, sizeof *g->runs);
    if (!g->places || !g->runs)
        return pc_error_set(error, PC_ENOMEM, "no memory to choose values");
    memset(g->ranks, 0, g->world_size * sizeof *g->ranks);
    pc_profile_sum_free(&g->sum);
    g->n = 0;
    g->say = NULL; /* everything was reported in the first pass */
    return gather_all(g, n, error);
}

/* Adds the values to the sum, in the order of ranks. */
static int add_values(struct gathering *g, struct pc_profile *sum, struct pc_error *error)
{
    struct pc_buffer all = {0};
    for (uint32_t rank = 0; rank < g->world_size; rank++) {
        struct pc_buffer *run = &g->runs[rank];
        all.failed |= run->failed;
        pc_put_bytes(&all, run->data, run->n);
        free(run->data);
        *run = (struct pc_buffer){0};
    }
    uint32_t *places = pc_lists_places(sum, &g->counts, g->places);
    int err = all.failed || !places ? PC_ENOMEM : pc_lists_get(sum, places, all.data, all.n);
    free(places);
    free(all.data);
    return err ? pc_error_set(error, err, "the values of ranks: %s", pc_err_text(err)) : PC_OK;
}

static void end(struct gathering *g)
{
    for (uint32_t rank = 0; g->runs && rank < g->world_size; rank++)
        free(g->runs[rank].data);
    free(g->runs);
    free(g->ranks);
    free(g->counts.rows);
    free(g->places);
}

static int gather(struct gathering *g, size_t n, struct pc_profile **out, struct pc_error *error)
{
    struct pc_error own;
    int err = PC_OK;
    error = error ? error : &own; /* errors are reported for each file */
    pc_error_set(error, PC_OK, "%s", "");
    err = gather_all(g, n, error);
    if (!err && g->is_over)
        err = gather_again(g, n, error);
    if (!err)
        err = pc_profile_sum_finish(&g->sum, out, error);
    else
        pc_profile_sum_free(&g->sum);
    if (!err && g->runs && *out && (err = add_values(g, *out, error))) {
        pc_profile_free(*out);
        *out = NULL;
    }
    end(g);
    if (!err && !g->n)
        return pc_error_set(error, PC_ENOENT, "there is no arena to make a profile of");
    return err;
}

int pc_merge_files(char *const *paths, size_t n, struct pc_profile **out, pc_merge_say_fn say,
                   void *arg, struct pc_error *error)
{
    struct gathering g = {.paths = paths, .say = say, .arg = arg};
    return gather(&g, n, out, error);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

int pc_merge_copy(const char *path, bool runs, struct pc_merge_copy *out, struct pc_error *error)
{
    struct pc_arena_bytes bytes;
    uint64_t now_ns = pc_clock_ns(CLOCK_REALTIME);
    int err = pc_arena_file_copy(path, runs, &bytes, error);
    if (err)
        return err;
    *out = (struct pc_merge_copy){.data = bytes.data, .n = bytes.n, .taken_ns = now_ns};
    pc_format(out->path, sizeof out->path, "%s", path);
    return PC_OK;
}

int pc_merge_copies(const struct pc_merge_copy *copies, size_t n, struct pc_profile **out,
                    struct pc_error *error)
{
    struct gathering g = {.copies = copies};
    return gather(&g, n, out, error);
}

/* ---- The arenas of a folder ------------------------------------------------------------------ */

static bool is_of_this_host(const struct pcollect_arena_header *h)
{
    char host[PCOLLECT_HOST_BYTES] = "";
    gethostname(host, sizeof host - 1);
    return !strncmp(host, h->host, sizeof host);
}

/* True if there is a process here with the number of that which wrote the arena. One that started
 * after the arena was opened is another one. */
static bool has_process(const struct pcollect_arena_header *h)
{
    if (!is_of_this_host(h) || h->pid <= 0)
        return false;
    struct pc_process_status p;
    if (!pc_process_look(h->pid, &p) || p.ended)
        return false;
    if (!h->realtime_0_ns) /* it is just starting */
        return true;
    struct timespec boot, now;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &now);
    double age = (double)boot.tv_sec - (double)p.start / (double)sysconf(_SC_CLK_TCK);
    double arena_age = (double)now.tv_sec - (double)h->realtime_0_ns / 1e9;
    return age + 2 >= arena_age;
}

/* True if the process that wrote the arena still runs. When a process has been killed, the kernel
 * may still be taking its memory apart when its number is gone: it is asked again then, for half a
 * second in all. */
static bool is_alive(const char *path, const struct pcollect_arena_header *h)
{
    static int naps = 50;
    enum pc_arena_owner owner = pc_arena_file_owner(path);
    while (owner == PC_OWNER_ALIVE && is_of_this_host(h) && !has_process(h) && naps-- > 0) {
        pc_nap_ns(10000000);
        owner = pc_arena_file_owner(path);
    }
    return owner == PC_OWNER_ALIVE || (owner == PC_OWNER_UNKNOWN && has_process(h));
}

static void fill_found(struct pc_merge_found *f, const char *path,
                       const struct pcollect_arena_header *h)
{
    struct pc_identity who = pc_image_identity(h);
    *f = (struct pc_merge_found){.run_key = h->run_key,
                                 .job_key = who.job_key,
                                 .initialised = h->rank >= 0,
                                 .pid = h->pid,
                                 .rank = who.rank,
                                 .n_ranks = who.n_ranks,
                                 .state = h->state,
                                 .realtime_0_ns = h->realtime_0_ns,
                                 .asked_only = pc_image_asked_only(h),
                                 .alone = pc_image_is_alone(h),
                                 .alive = is_alive(path, h)};
    pc_format(f->path, sizeof f->path, "%s", path);
    memcpy(f->host, h->host, sizeof f->host - 1);
    memcpy(f->exe, h->exe, sizeof f->exe - 1);
    memcpy(f->out, h->out, sizeof f->out - 1);
    memcpy(f->job_id, h->job, sizeof f->job_id - 1);
}

static int add_found(struct pc_merge_list *list, const char *path, pc_merge_say_fn say, void *arg,
                     struct pc_error *error)
{
    struct pc_arena_bytes file = {NULL, 0};
    int err = pc_arena_file_read(path, true, &file, error);
    /* It was killed before it began, or is not an arena; or its job has just ended. */
    if (err == PC_EFORMAT || err == PC_ENOENT)
        return PC_OK;
    if (err && err != PC_ENOMEM)
        say_line(say, arg, "%s", error->text);
    if (err)
        return err == PC_ENOMEM ? err : PC_OK;
    struct pc_merge_found *found = list->found;
    if (!(list->n & (list->n - 1))) /* full: the capacity is a power of two */
        found = realloc(found, (list->n ? list->n * 2 : 1) * sizeof *found);
    if (found) {
        list->found = found;
        fill_found(&found[list->n++], path, (const void *)file.data);
    }
    free(file.data);
    return found ? PC_OK : pc_error_set(error, PC_ENOMEM, "no memory for the list of arenas");
}

static int by_job_and_rank(const void *a, const void *b)
{
    const struct pc_merge_found *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Orders entries so that each group is together, its first process in front. Entries without a key
 * differ by their path. */
static int by_key(const void *a, const void *b)
{
    const struct pc_merge_found *x = a, *y = b;
    int order = pc_compare_u64(x->job_key, y->job_key);
    if (!order)
        order = (x->n_ranks > y->n_ranks) - (x->n_ranks < y->n_ranks);
    if (!order && !x->job_key)
        order = strcmp(x->path, y->path);
    return order ? order : pc_compare_u64(x->realtime_0_ns, y->realtime_0_ns);
}

static bool same_job(const struct pc_merge_found *a, const struct pc_merge_found *b)
{
    return a->job_key == b->job_key && a->n_ranks == b->n_ranks &&
           (a->job_key || !strcmp(a->path, b->path));
}

struct group {
    uint64_t start_ns;
    uint32_t number; /* group number, while the list is sorted by key */
};

static int by_start(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    int order = pc_compare_u64(x->start_ns, y->start_ns);
    return order ? order : pc_compare_u64(x->number, y->number);
}

static int group(struct pc_merge_list *list)
{
    struct group *groups = malloc((list->n + 1) * sizeof *groups);
    uint32_t *place = malloc((list->n + 1) * sizeof *place), n = 0;
    if (groups && place && list->n) {
        qsort(list->found, list->n, sizeof *list->found, by_key);
        for (size_t i = 0; i < list->n; i++) {
            if (!i || !same_job(&list->found[i - 1], &list->found[i])) {
                groups[n] = (struct group){list->found[i].realtime_0_ns, n};
                n++;
            }
            list->found[i].job = n - 1;
        }
        qsort(groups, n, sizeof *groups, by_start);
        for (uint32_t k = 0; k < n; k++)
            place[groups[k].number] = k;
        for (size_t i = 0; i < list->n; i++)
            list->found[i].job = place[list->found[i].job];
        qsort(list->found, list->n, sizeof *list->found, by_job_and_rank);
    }
    int err = groups && place ? PC_OK : PC_ENOMEM;
    list->n_jobs = n;
    free(groups);
    free(place);
    return err;
}

int pc_merge_list_add(struct pc_merge_list *list, const char *folder, pc_merge_say_fn say,
                      void *arg, struct pc_error *error)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return pc_error_set(error, errno == ENOENT ? PC_ENOENT : PC_EIO, "%s: %s", folder,
                            strerror(errno));
    int err = PC_OK;
    for (struct dirent *e; !err && (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        char path[PCOLLECT_PATH_BYTES];
        if (n < sizeof suffix || strcmp(e->d_name + n + 1 - sizeof suffix, suffix))
            continue;
        if (strlen(folder) + n + 2 > sizeof path) {
            say_line(say, arg, "%s/%s: the path is too long", folder, e->d_name);
            continue;
        }
        pc_format(path, sizeof path, "%s/%s", folder, e->d_name);
        err = add_found(list, path, say, arg, error);
    }
    closedir(dir);
    int grouped = group(list);
    if (!err && grouped)
        err = pc_error_set(error, grouped, "no memory for the list of arenas");
    return err;
}

void pc_merge_list_free(struct pc_merge_list *list)
{
    free(list->found);
    *list = (struct pc_merge_list){NULL, 0, 0};
}

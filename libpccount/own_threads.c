/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting in own threads: a thread has a list of its meters, one for each count that it began.
 * When the thread ends, its counts are added to the totals, and its descriptors are closed. Those
 * of counts that were freed are closed when the thread begins another one.
 *
 * A count exists as long as its owner or a list refers to it.
 */
#include "libpccount/libpccount_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct mine {
    struct mine *next;
    struct pccount *count;
    struct pc_counting_meter *meter; /* NULL: it could not be opened */
    unsigned depth;
    struct pc_error why;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool usable; /* the key exists, and this is not a forked child */
static bool is_child;

/* Protects `take` and `n_telling` of all counts. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

const char pc_count_in_child[] = "a child of fork does not count before exec";
const char pc_count_taken[] =
    "other counts took the counters meanwhile, so that events are missing; "
    "count fewer events, or not at the same time";
const char pc_count_closed[] = "the program has closed the descriptors of its counters";

/* ---- Forked children ------------------------------------------------------------------------- */

static void end_thread(void *list);

/* Runs in a forked child: closes the descriptors of the parent's counters, and takes no lock. */
static void enter_child(void)
{
    usable = false;
    is_child = true;
    pc_counting_forget();
    pthread_setspecific(key, NULL);
}

static void prepare(void)
{
    usable =
        pthread_key_create(&key, end_thread) == 0 && pthread_atfork(NULL, NULL, enter_child) == 0;
}

bool pc_count_is_child(void)
{
    return is_child;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static void say(struct pccount_error *why, const struct pc_error *error)
{
    if (why)
        pc_escape_line(why->text, error->text);
}

/* Length of the next word of a list; a comma between the slashes of a PMU event does not end it. */
static size_t word_length(const char *at)
{
    bool inside = false;
    size_t n = 0;
    for (; at[n] && (inside || at[n] != ','); n++)
        inside ^= at[n] == '/';
    return n;
}

static void name_event(struct pccount *c, size_t i, const char *word,
                       const struct pc_counting_event *wanted,
                       const struct pc_counting_event *counted)
{
    bool lost = counted->terms[0].user_only && !wanted->terms[0].user_only &&
                !pc_counting_is_clock(&counted->terms[0]);
    pc_format(c->names[i], sizeof c->names[i], lost ? "%s:u" : "%s", word);
}

static int add_event(struct pccount *c, const char *word, struct pc_counting_event *events,
                     struct pc_error *error)
{
    struct pc_error reason = {""};
    struct pc_counting_event event = {0};
    if (c->n == PCCOUNT_MOST_EVENTS)
        return pc_error_set(error, PC_EARG, "more than %d events", PCCOUNT_MOST_EVENTS);
    int err = pc_counting_named(word, &event, &reason);
    if (err == PC_ENOENT && pc_counting_is_tracepoint(word))
        return pc_error_set(error, err, "%s: tracepoints are not counted", word);
    if (err)
        return pc_error_set(error, err, "%s: %s", word,
                            err == PC_ENOENT ? "there is no such event; give one by the kernel's "
                                               "name, as `perf list` shows it"
                                             : reason.text);
    struct pc_counting_event wanted = event;
    err = pc_counting_try(&event, &reason);
    if (err)
        return pc_error_set(error, err, "%s: cannot be counted here: %s", word, reason.text);
    name_event(c, c->n, word, &wanted, &event);
    events[c->n++] = event;
    return PC_OK;
}

static int add_list(struct pccount *c, const char *list, struct pc_counting_event *events,
                    struct pc_error *error)
{
    enum { SHOWN_BYTES = 40 }; /* of a name that is too long */
    int err = PC_OK;
    for (const char *at = list; *at && !err;) {
        at += strspn(at, " \t");
        size_t n = word_length(at), length = n;
        while (length && strchr(" \t", at[length - 1]))
            length--;
        char word[PCCOUNT_NAME_BYTES - 2]; /* room for :u */
        pc_format(word, length < sizeof word ? length + 1 : SHOWN_BYTES + 1, "%s", at);
        if (length >= sizeof word)
            return pc_error_set(error, PC_EARG, "%s...: the name is too long", word);
        at += n + (at[n] == ',');
        if (length)
            err = add_event(c, word, events, error);
    }
    return err || c->n ? err : pc_error_set(error, PC_EARG, "the list of events is empty");
}

static int fill(struct pccount *c, const char *list, struct pc_error *error)
{
    struct pc_counting_event events[PCCOUNT_MOST_EVENTS];
    struct pc_counting_what what = {.events = events};
    int err = pc_counting_create(&c->counting, error);
    err = err ? err : add_list(c, list, events, error);
    what.n_events = (uint32_t)c->n;
    err = err ? err : pc_counting_set(c->counting, &what, error);
    if (!err && pc_counting_n_groups(c->counting) > 1)
        err = pc_error_set(error, PC_EIO,
                           "the processor cannot count these events at the same time; count fewer");
    return err;
}

static void release(struct pccount *c)
{
    if (atomic_fetch_sub(&c->n_users, 1) > 1)
        return;
    if (c->counting)
        pc_counting_free(c->counting);
    free(c);
}

struct pccount *pccount_new(const char *events, struct pccount_error *why)
{
    struct pc_error error = {""};
    int saved = errno;
    struct pccount *c = calloc(1, sizeof *c);
    int err = c ? PC_OK : pc_error_set(&error, PC_ENOMEM, "not enough memory");
    pthread_once(&once, prepare);
    if (!err && !usable)
        err = pc_error_set(&error, PC_EIO, "%s",
                           is_child ? pc_count_in_child
                                    : "pthread_key_create or pthread_atfork failed");
    if (c)
        atomic_init(&c->n_users, 1);
    err = err ? err : fill(c, events ? events : "", &error);
    if (err) {
        say(why, &error);
        if (c)
            release(c);
        c = NULL;
    }
    errno = saved;
    return c;
}

size_t pccount_n(const struct pccount *c)
{
    return c->n;
}

const char *pccount_name(const struct pccount *c, size_t i)
{
    return i < c->n ? c->names[i] : NULL;
}

void pccount_at_thread_end(struct pccount *c, pccount_take_fn *take, void *arg)
{
    c->take = take;
    c->take_arg = arg;
}

/* ---- Lists of threads ------------------------------------------------------------------------ */

/* Reads what the thread has counted; NULL, or the reason why that is not known. */
static const char *read_mine(const struct mine *m, struct pccount_values *out)
{
    struct pc_counting_values now;
    *out = (struct pccount_values){.n_threads = 0};
    if (!m->meter)
        return "this thread has not counted: it has called no pccount_begin, or that failed";
    if (pc_counting_get(m->meter, &now))
        return pc_count_closed;
    if (now.running_ns != now.enabled_ns)
        return pc_count_taken;
    out->n_threads = 1;
    memcpy(out->value, now.value, m->count->n * sizeof *out->value);
    return NULL;
}

/* Tells the program what the thread has counted; pccount_free waits meanwhile. */
static void tell(const struct mine *m)
{
    struct pccount *c = m->count;
    struct pccount_values values;
    pc_counting_pause(m->meter);
    if (read_mine(m, &values))
        return;
    pthread_mutex_lock(&telling);
    pccount_take_fn *take = c->take;
    c->n_telling += take != NULL;
    pthread_mutex_unlock(&telling);
    if (!take)
        return;
    take(c->take_arg, &values);
    if (is_child) /* forked by the program's function */
        return;
    pthread_mutex_lock(&telling);
    c->n_telling--;
    pthread_cond_broadcast(&told);
    pthread_mutex_unlock(&telling);
}

/* From now on no thread is told, nor is one being told. */
static void end_telling(struct pccount *c)
{
    pthread_mutex_lock(&telling);
    c->take = NULL;
    while (c->n_telling)
        pthread_cond_wait(&told, &telling);
    pthread_mutex_unlock(&telling);
}

static void drop(struct mine *m)
{
    if (m->meter && !is_child)
        pc_counting_stop(m->meter);
    release(m->count);
    free(m);
}

static void end_thread(void *list)
{
    for (struct mine *m = list, *next; m; m = next) {
        next = m->next;
        if (m->meter && !is_child)
            tell(m);
        drop(m);
    }
}

/* Drops the thread's meters of counts that were freed. */
static void drop_freed(void)
{
    struct mine *m = usable ? pthread_getspecific(key) : NULL, *kept = NULL, **end = &kept;
    for (struct mine *next; m; m = next) {
        next = m->next;
        if (atomic_load(&m->count->freed)) {
            drop(m);
            continue;
        }
        *end = m;
        end = &m->next;
    }
    *end = NULL;
    if (usable)
        pthread_setspecific(key, kept);
}

static struct mine *find_mine(const struct pccount *c)
{
    struct mine *m = usable ? pthread_getspecific(key) : NULL;
    while (m && m->count != c)
        m = m->next;
    return m;
}

static struct mine *find_or_add(struct pccount *c)
{
    struct mine *m = find_mine(c);
    if (m || !usable || !(m = calloc(1, sizeof *m)))
        return m;
    drop_freed();
    m->count = c;
    m->next = pthread_getspecific(key);
    if (pthread_setspecific(key, m)) {
        free(m);
        return NULL;
    }
    atomic_fetch_add(&c->n_users, 1);
    return m;
}

void pccount_free(struct pccount *c)
{
    int saved = errno;
    if (!c)
        return;
    if (!is_child)
        end_telling(c);
    atomic_store(&c->freed, true);
    drop_freed();
    release(c);
    errno = saved;
}

/* ---- Stretches ------------------------------------------------------------------------------- */

/* Sets what pccount_why returns; "": the call did not fail. */
static void explain(struct mine *m, const char *why)
{
    m->why.text[0] = '\0';
    if (*why)
        pc_format(m->why.text, sizeof m->why.text, "%s", why);
}

int pccount_begin(struct pccount *c)
{
    int saved = errno, err = PC_OK;
    struct mine *m = find_or_add(c);
    if (m)
        explain(m, "");
    if (m && m->depth++ == 0) {
        err = m->meter ? pc_counting_switch(m->meter, 0)
                       : pc_counting_start(c->counting, &m->meter, 0, &m->why);
        if (err && !*m->why.text)
            pc_error_set(&m->why, err, "%s", pc_count_closed);
        m->depth -= err != 0;
    }
    errno = saved;
    return m && !err ? 0 : -1;
}

int pccount_end(struct pccount *c)
{
    int saved = errno;
    struct mine *m = find_or_add(c);
    bool ends = m && m->depth;
    if (ends && --m->depth == 0)
        pc_counting_pause(m->meter);
    if (m)
        explain(m, ends ? "" : "an end without a begin in this thread");
    errno = saved;
    return ends ? 0 : -1;
}

int pccount_thread(struct pccount *c, struct pccount_values *out)
{
    int saved = errno;
    struct mine *m = find_or_add(c);
    const char *why = m ? read_mine(m, out) : NULL;
    if (m)
        explain(m, why ? why : "");
    else
        *out = (struct pccount_values){.n_threads = 0};
    errno = saved;
    return m && !why ? 0 : -1;
}

int pccount_total(struct pccount *c, struct pccount_values *out)
{
    struct pc_counting_totals all = {0};
    struct mine *m = find_mine(c);
    int saved = errno;
    *out = (struct pccount_values){.n_threads = 0};
    if (!usable)
        return -1;
    pc_counting_dump(c->counting, &all);
    const char *why = all.n_unread ? pc_count_closed : all.missed_ns[0] ? pc_count_taken : "";
    if (*why)
        m = find_or_add(c); /* keeps the reason */
    if (m)
        explain(m, why);
    errno = saved;
    if (*why)
        return -1;
    memcpy(out->value, all.value, c->n * sizeof *out->value);
    out->n_threads = all.n_live + all.n_ended;
    out->n_ended = all.n_ended;
    return 0;
}

const char *pccount_why(struct pccount *c)
{
    struct mine *m = find_mine(c);
    if (!usable)
        return pc_count_in_child;
    if (m)
        pc_escape_line(m->why.text, m->why.text);
    return m ? m->why.text : "";
}

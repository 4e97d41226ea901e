/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/where_nodes.h"
#include "analysis/allocation.h"
#include "analysis/symbols/symbols.h"
#include "base/progress.h"
#include "command/watched_jobs.h"
#include "watch/stack_profile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* An answer has this line, 8 bytes with its length, and its bytes. What a remote shell prints
 * before it is left out. */
static const char begin_line[] = "pcollect where: answer 1\n";
enum { BEGIN_BYTES = sizeof begin_line - 1, LENGTH_BYTES = 8 };
enum { MOST_BYTES = 1 << 30, WAIT_MS = 60000 };
/* Orders to an agent, a byte each. */
enum { LOOK_AGAIN = 'a', NAME = 'n' };
static const char key_word[] = "key=";

extern char **environ;

struct agent {
    char *host;
    pid_t pid; /* 0: it has ended, or was never there */
    int fd;    /* both of its standard input and output; -1: closed */
    struct pc_buffer in;
    struct pct_sent node;
    bool answered;
};

struct pct_where_nodes {
    const struct pct_command *self;
    struct agent *agents;
    size_t n, room;
};

/* ---- Answers --------------------------------------------------------------------------------- */

/* The bytes of a whole answer; false: it is not whole yet. */
static bool find_answer(const struct pc_buffer *in, struct pc_cursor *out, bool *wrong)
{
    const uint8_t *begin = in->n ? memmem(in->data, in->n, begin_line, BEGIN_BYTES) : NULL;
    if (!begin || in->n - (size_t)(begin - in->data) < BEGIN_BYTES + LENGTH_BYTES)
        return false;
    const uint8_t *at = begin + BEGIN_BYTES + LENGTH_BYTES;
    uint64_t n = pc_load_le(begin + BEGIN_BYTES, LENGTH_BYTES);
    *wrong = n > MOST_BYTES;
    if (*wrong || (uint64_t)(in->data + in->n - at) < n)
        return false;
    *out = (struct pc_cursor){.at = at, .end = at + n};
    return true;
}

static void send_answer(const struct pc_buffer *answer)
{
    uint8_t length[LENGTH_BYTES];
    pc_store_le(length, answer->n, LENGTH_BYTES);
    fwrite(begin_line, 1, BEGIN_BYTES, stdout);
    fwrite(length, 1, LENGTH_BYTES, stdout);
    fwrite(answer->data, 1, answer->n, stdout);
    fflush(stdout);
}

/* ---- Agents ---------------------------------------------------------------------------------- */

/* Ends the input of an agent: it ends then. */
static void close_agent(struct agent *a)
{
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
}

static void signal_agent(const struct agent *a, int number)
{
    if (a->pid)
        kill(a->pid, number);
}

/* Waits for agents to end. False: some have not in this time. */
static bool await_ends(struct pct_where_nodes *nodes, unsigned most_ms)
{
    enum { STEP_MS = 10 };
    for (unsigned ms = 0;; ms += STEP_MS) {
        size_t n = 0;
        for (size_t i = 0; i < nodes->n; i++) {
            struct agent *a = &nodes->agents[i];
            if (a->pid && waitpid(a->pid, NULL, WNOHANG))
                a->pid = 0;
            n += a->pid != 0;
        }
        if (!n || ms >= most_ms)
            return !n;
        pc_nap_ns(STEP_MS * 1000000);
    }
}

/* Ends all agents, first by the end of their input, then by signals. One that does not end even so
 * is left alone. */
static void end_agents(struct pct_where_nodes *nodes)
{
    static const int signals[] = {SIGTERM, SIGKILL};
    for (size_t i = 0; i < nodes->n; i++)
        close_agent(&nodes->agents[i]);
    bool ended = await_ends(nodes, 2000);
    for (size_t k = 0; k < PC_ARRAY_LEN(signals) && !ended; k++) {
        for (size_t i = 0; i < nodes->n; i++)
            signal_agent(&nodes->agents[i], signals[k]);
        ended = await_ends(nodes, 1000);
    }
}

/* Gives up an agent. Its end is awaited later, with that of all others. */
static void lose(const struct pct_where_nodes *nodes, struct agent *a, const char *why)
{
    pct_say(nodes->self, "%s: %s", a->host, why);
    a->answered = false;
    close_agent(a);
    signal_agent(a, SIGTERM);
}

/* Reads what an agent has written. */
static void read_agent(const struct pct_where_nodes *nodes, struct agent *a)
{
    enum { STEP = 1 << 16 };
    uint8_t *at = pc_buffer_end(&a->in, STEP);
    ssize_t got = at ? read(a->fd, at, STEP) : 0;
    if (got > 0)
        a->in.n += (size_t)got;
    else if (!at)
        lose(nodes, a, "not enough memory for its answer");
    else if (!got || errno != EINTR)
        lose(nodes, a, "no answer: the remote shell has ended");
}

/* Waits for an answer of each agent that lives, and passes it to `take`, which returns false if it
 * cannot be read. */
static void
await(struct pct_where_nodes *nodes, uint64_t most_ms, const char *what,
      bool (*take)(struct pct_where_nodes *, struct agent *, struct pc_cursor *, void *), void *arg)
{
    struct pollfd *polls = pct_alloc(nodes->n, sizeof *polls);
    uint64_t end_ns = pc_mono_ns() + most_ms * 1000000;
    size_t n_open = nodes->n;
    for (size_t i = 0; i < nodes->n; i++) {
        nodes->agents[i].answered = false;
        nodes->agents[i].in.n = 0;
    }
    pc_progress_begin(what, "nodes", 0, nodes->n);
    while (n_open) {
        uint64_t now_ns = pc_mono_ns();
        n_open = 0;
        for (size_t i = 0; i < nodes->n; i++) {
            struct agent *a = &nodes->agents[i];
            if (a->fd >= 0 && !a->answered && now_ns >= end_ns)
                lose(nodes, a, "no answer: it took too long");
            bool open = a->fd >= 0 && !a->answered;
            polls[i] = (struct pollfd){.fd = open ? a->fd : -1, .events = POLLIN};
            n_open += open;
        }
        pc_progress_next(what, "nodes", nodes->n - n_open, nodes->n);
        if (n_open && poll(polls, nodes->n, (int)((end_ns - now_ns) / 1000000) + 1) <= 0)
            continue;
        for (size_t i = 0; i < nodes->n; i++) {
            struct agent *a = &nodes->agents[i];
            struct pc_cursor answer;
            bool wrong = false;
            if (polls[i].fd < 0 || !polls[i].revents)
                continue;
            read_agent(nodes, a);
            bool whole = a->fd >= 0 && find_answer(&a->in, &answer, &wrong);
            a->answered = whole && take(nodes, a, &answer, arg);
            if (wrong || (whole && !a->answered))
                lose(nodes, a, "its answer cannot be read: is it another version of pcollect?");
        }
    }
    pc_progress_end();
    pct_free(polls);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* True if neither the remote shell nor the one that it may start changes the word. */
static bool is_plain(const char *word)
{
    return *word && strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                 "_./+=,:@%-") == strlen(word);
}

static bool is_here(const char *host)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    size_t n = strcspn(name, ".");
    return !strcmp(host, name) || (strlen(host) == n && !strncmp(host, name, n));
}

/* Words of a command line, or of a list. The texts belong to others. */
struct words {
    const char **at;
    size_t n, room;
};

static void add_word(struct words *w, const char *word)
{
    w->at = pct_grow(w->at, w->n, &w->room, sizeof *w->at);
    w->at[w->n++] = word;
}

/* Adds the parts of a text, which is divided in place. */
static void add_parts(struct words *w, char *text, const char *between)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, between, &rest); word; word = strtok_r(NULL, between, &rest))
        add_word(w, word);
}

/* Starts an agent: by the remote shell, or directly on this node. */
static bool start(struct pct_where_nodes *nodes, struct agent *a, const struct words *shell,
                  const struct words *agent)
{
    struct words words = {0};
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        pct_say(nodes->self, "%s: %s", a->host, strerror(errno));
        return false;
    }
    bool here = is_here(a->host);
    for (size_t i = 0; i < shell->n && !here; i++)
        add_word(&words, shell->at[i]);
    if (!here)
        add_word(&words, a->host);
    for (size_t i = 0; i < agent->n; i++)
        add_word(&words, agent->at[i]);
    add_word(&words, NULL);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pct_open_files_restore(); /* the shell has the limit that it would have without this command */
    int err = posix_spawnp(&a->pid, words.at[0], &actions, NULL, (char **)words.at, environ);
    pct_open_files_raise();
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    a->fd = ends[0];
    if (err) {
        pct_say(nodes->self, "%s: %s: %s", a->host, words.at[0], strerror(err));
        close_agent(a);
        a->pid = 0;
    }
    pct_free(words.at);
    return !err;
}

/* The word by which agents find the job; false: refused. */
static bool name_job(const struct pct_where_nodes *nodes, const struct pct_where_order *order,
                     struct pct_buf *out, int *status)
{
    struct pct_watched_job here = {.world = -1};
    struct pc_error error = {""};
    int pid;
    if (order->job && !pct_find_process(order->job, &pid)) {
        pct_buf_text(out, order->job);
        if (!is_plain(order->job))
            *status =
                pct_refuse(nodes->self,
                           "%s: with --hosts, a name has only letters, digits and _./+-; give "
                           "the process id of the launcher",
                           order->job);
        return !*status;
    }
    *status = order->job ? PCT_DONE : pct_find_only_job(nodes->self, &pid);
    if (!*status && pct_watch_add(&here, pid, &error)) {
        pct_say(nodes->self, "%s", error.text);
        *status = PCT_DATA;
    }
    if (!*status && !pct_watch_is_one_job(&here))
        *status = pct_say_several_jobs(nodes->self, &here);
    uint64_t key = here.n ? here.processes[0].key : 0;
    if (!*status && !key) {
        pct_say(
            nodes->self,
            "%d: no rank of it runs on this node: with --hosts, give the name of its program or "
            "its number in Slurm",
            pid);
        *status = PCT_DATA;
    }
    pct_buf_format(out, "%s%016" PRIx64, key_word, key);
    pct_watch_job_free(&here);
    return !*status;
}

static bool add_hosts(struct pct_where_nodes *nodes, const char *list)
{
    struct words hosts = {0};
    char *text = pct_copy(list);
    bool plain = true;
    add_parts(&hosts, text, ",");
    for (size_t i = 0; i < hosts.n; i++) {
        plain = plain && is_plain(hosts.at[i]) && *hosts.at[i] != '-';
        nodes->agents = pct_grow(nodes->agents, nodes->n, &nodes->room, sizeof *nodes->agents);
        nodes->agents[nodes->n++] = (struct agent){.host = pct_copy(hosts.at[i]), .fd = -1};
    }
    pct_free(hosts.at);
    pct_free(text);
    return plain && nodes->n;
}

static bool start_all(struct pct_where_nodes *nodes, const struct pct_where_order *order,
                      const char *self, const char *job, const struct words *shell)
{
    char times[24], every[24];
    struct words agent = {0};
    bool started = false;
    snprintf(times, sizeof times, "%" PRIu64, order->times);
    snprintf(every, sizeof every, "%" PRIu64, order->every_ms);
    const char *const words[] = {self, "where", "--agent", "--times", times, "--every", every};
    for (size_t i = 0; i < PC_ARRAY_LEN(words); i++)
        add_word(&agent, words[i]);
    if (order->all_threads)
        add_word(&agent, "--all-threads");
    if (pct_symbols_may_ask_servers())
        add_word(&agent, "--debuginfod");
    add_word(&agent, job);
    pct_open_files_raise(); /* each agent needs one */
    for (size_t i = 0; i < nodes->n; i++)
        started |= start(nodes, &nodes->agents[i], shell, &agent);
    pct_free(agent.at);
    return started;
}

/* Starts all agents. False: there is nothing to ask. */
static bool start_agents(struct pct_where_nodes *nodes, const struct pct_where_order *order,
                         int *status)
{
    char self[PATH_MAX] = "", *text = pct_copy(order->shell);
    struct words shell = {0};
    struct pct_buf job = {0};
    bool started = false;
    add_parts(&shell, text, " ");
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0 || !is_plain(self))
        *status = pct_refuse(nodes->self,
                             "--hosts: a path with such characters as %s cannot be "
                             "given to a remote shell",
                             self);
    else if (!add_hosts(nodes, order->hosts))
        *status = pct_refuse(nodes->self, "--hosts %s: give names of nodes with commas between",
                             order->hosts);
    else if (!shell.n)
        *status = pct_refuse(nodes->self, "--remote-shell %s: give a command and its options",
                             order->shell);
    if (!*status && name_job(nodes, order, &job, status)) {
        started = start_all(nodes, order, self, job.data, &shell);
        *status = started ? PCT_DONE : PCT_DATA;
    }
    pct_free(shell.at);
    pct_free(text);
    pct_buf_free(&job);
    return started;
}

/* ---- Stacks of all nodes --------------------------------------------------------------------- */

/* A process of a node; of ranks the order of the job. */
struct place {
    struct pct_watched who;
    size_t agent;
    uint32_t process; /* index on its node */
};

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->who.rank != b->who.rank)
        return a->who.rank < b->who.rank ? -1 : 1;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    return (a->who.pid > b->who.pid) - (a->who.pid < b->who.pid);
}

static bool take_node(struct pct_where_nodes *nodes, struct agent *a, struct pc_cursor *answer,
                      void *watch)
{
    bool whole = pct_sent_get(answer, watch, &a->node);
    (void)nodes;
    if (!whole)
        pct_sent_free(&a->node);
    return whole;
}

static void add_stack(struct pct_watch *w, uint32_t process, struct pct_sent_stack *s)
{
    struct pc_error error;
    size_t before = w->n_stacks;
    s->of.process = process;
    if (pct_stack_add(w, &s->of, &s->stack, &error) || w->n_stacks == before)
        return;
    s->of.call.messages = NULL; /* they are w's now */
    s->of.call.n_messages = 0;
}

/* Adds the stacks of all nodes by process: first those of earlier times, then the last ones. */
static void add_stacks(const struct pct_where_nodes *nodes, struct pct_watch *w,
                       const struct place *places, size_t n, struct pct_where_time *last)
{
    for (int late = 0; late < 2; late++) {
        last->first = w->n_stacks;
        for (size_t i = 0; i < n; i++) {
            struct pct_sent *node = &nodes->agents[places[i].agent].node;
            for (size_t k = late ? node->first : 0; k < (late ? node->n_stacks : node->first); k++)
                if (node->stacks[k].of.process == places[i].process)
                    add_stack(w, (uint32_t)i, &node->stacks[k]);
        }
    }
}

/* Joins the processes of all nodes. Nodes of another job are lost. */
static struct place *join_processes(struct pct_where_nodes *nodes, struct pct_watched_job *job)
{
    struct place *places = NULL;
    size_t n = 0, room = 0;
    uint64_t key = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        struct agent *a = &nodes->agents[i];
        const struct pct_sent *node = &a->node;
        if (!a->answered)
            continue;
        if (node->n && key && node->key && key != node->key) {
            lose(nodes, a, "the job of this name is another one there; give its process id");
            pct_sent_free(&a->node);
            continue;
        }
        if (!node->n)
            pct_say(nodes->self, "%s: no rank of the job is there", a->host);
        key = node->n && node->key ? node->key : key;
        job->world = node->world > job->world ? node->world : job->world;
        for (uint32_t k = 0; k < node->n; k++) {
            places = pct_grow(places, n, &room, sizeof *places);
            places[n++] = (struct place){node->processes[k], i, k};
        }
    }
    if (n)
        qsort(places, n, sizeof *places, compare_places);
    for (size_t i = 0; i < n; i++) {
        job->processes = pct_grow(job->processes, job->n, &job->room, sizeof *job->processes);
        job->processes[job->n++] = places[i].who;
    }
    return places;
}

struct pct_where_nodes *pct_where_nodes_take(const struct pct_command *self,
                                             const struct pct_where_order *order,
                                             struct pct_watch *w, struct pct_watched_job *job,
                                             struct pct_where_time *last, int *status)
{
    struct pct_where_nodes *nodes = pct_alloc(1, sizeof *nodes);
    nodes->self = self;
    if (start_agents(nodes, order, status)) {
        await(nodes, WAIT_MS + order->times * order->every_ms, "waiting for the stacks of",
              take_node, w);
        struct place *places = join_processes(nodes, job);
        add_stacks(nodes, w, places, job->n, last);
        pct_free(places);
        for (size_t i = 0; i < nodes->n; i++) {
            const struct pct_sent *node = &nodes->agents[i].node;
            w->n_other += nodes->agents[i].answered ? node->n_other : 0;
            w->n_lost += nodes->agents[i].answered ? node->n_lost : 0;
            if (!nodes->agents[i].answered)
                *status = PCT_DATA;
        }
    }
    if (job->n)
        return nodes;
    pct_where_nodes_free(nodes);
    *status = *status ? *status : PCT_DATA;
    return NULL;
}

void pct_where_nodes_free(struct pct_where_nodes *nodes)
{
    if (!nodes)
        return;
    end_agents(nodes);
    for (size_t i = 0; i < nodes->n; i++) {
        pct_sent_free(&nodes->agents[i].node);
        pct_free(nodes->agents[i].host);
        free(nodes->agents[i].in.data);
    }
    pct_free(nodes->agents);
    pct_free(nodes);
}

size_t pct_where_nodes_count(const struct pct_where_nodes *nodes)
{
    size_t n = 0;
    for (size_t i = 0; i < nodes->n; i++)
        n += nodes->agents[i].node.n > 0;
    return n;
}

const char *pct_where_nodes_exe(const struct pct_where_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (nodes->agents[i].node.n)
            return nodes->agents[i].node.exe;
    return "";
}

int pct_where_nodes_ranks(const struct pct_where_nodes *nodes)
{
    int n = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        const struct agent *a = &nodes->agents[i];
        if (!a->answered || (a->node.n && (!a->node.whole || a->node.n_local < 0)))
            return -1;
        n += a->node.n ? a->node.n_local : 0;
    }
    return n;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static void order_all(struct pct_where_nodes *nodes, char order)
{
    for (size_t i = 0; i < nodes->n; i++) {
        struct agent *a = &nodes->agents[i];
        if (a->fd >= 0 && send(a->fd, &order, 1, MSG_NOSIGNAL) != 1)
            lose(nodes, a, "the remote shell has ended");
    }
}

static bool take_names(struct pct_where_nodes *nodes, struct agent *a, struct pc_cursor *answer,
                       void *watch)
{
    (void)nodes;
    return pct_sent_get_named(answer, watch, &a->node);
}

void pct_where_nodes_name(struct pct_where_nodes *nodes, struct pct_watch *w,
                          const struct pc_profile *p, struct pct_symbols *symbols)
{
    bool all = true;
    for (uint32_t m = 0; m < p->n_modules; m++)
        all = all && (*p->modules[m].path != '/' || pct_symbols_has_file(symbols, m));
    if (all)
        return;
    order_all(nodes, NAME);
    await(nodes, WAIT_MS, "waiting for the symbols of", take_names, w);
}

/* Marks ranks of a node that may act. */
static bool take_marks(struct pct_where_nodes *nodes, struct agent *a, struct pc_cursor *answer,
                       void *calls)
{
    struct pct_where_calls *c = calls;
    (void)nodes, (void)a;
    for (uint32_t n = pc_get_count(answer, 2); n && !answer->failed; n--) {
        int rank = (int)pc_get_below(answer, INT_MAX);
        bool may_act = pc_get_below(answer, 1);
        for (size_t i = 0; i < c->n; i++)
            if (c->ranks[i].rank == rank)
                c->ranks[i].may_act = may_act;
    }
    return !answer->failed && answer->at == answer->end;
}

bool pct_where_nodes_look_again(struct pct_where_calls *c, void *all)
{
    struct pct_where_nodes *nodes = all;
    size_t n_marked = 0;
    /* Ranks of a node that does not answer may act. */
    for (size_t i = 0; i < c->n; i++)
        c->ranks[i].may_act = true;
    order_all(nodes, LOOK_AGAIN);
    await(nodes, WAIT_MS, "looking again at", take_marks, c);
    for (size_t i = 0; i < c->n; i++)
        n_marked += c->ranks[i].may_act;
    return n_marked > 0;
}

/* ---- The agent ------------------------------------------------------------------------------- */

int pct_where_agent_find(const struct pct_command *self, const char *word,
                         struct pct_watched_job *job)
{
    int *pids, status = PCT_DONE;
    size_t n_key = sizeof key_word - 1;
    struct pc_error error = {""};
    if (!strncmp(word, key_word, n_key)) {
        pct_watch_add_keyed(job, strtoull(word + n_key, NULL, 16));
        return PCT_DONE;
    }
    size_t n = pct_watch_jobs_named(word, &pids);
    if (n > 1) {
        pct_say(self, "%s: %zu jobs have this name; give the process id of one launcher", word, n);
        status = PCT_DATA;
    } else if (n && pct_watch_add(job, pids[0], &error)) {
        pct_say(self, "%s", error.text);
        status = PCT_DATA;
    }
    pct_free(pids);
    return status;
}

static void put_names(struct pct_watch *w, struct pc_buffer *answer)
{
    pct_watch_look_up(w);
    pct_sent_put_named(answer, w);
}

static void put_marks(struct pct_watch *w, struct pct_where_calls *c, struct pc_buffer *answer)
{
    if (c->n)
        pct_where_look_again(c, w);
    pc_put_varint(answer, c->n);
    for (size_t i = 0; i < c->n; i++) {
        pc_put_varint(answer, (uint64_t)c->ranks[i].rank);
        pc_put_varint(answer, c->ranks[i].may_act);
    }
}

int pct_where_agent(struct pct_watch *w, const struct pct_where_time *last)
{
    struct pct_where_calls c = {0};
    struct pc_buffer answer = {0};
    char order = 0;
    if (w->job->n)
        pct_where_calls_collect(&c, w, last);
    for (size_t i = 0; i < c.n; i++)
        if (c.stacks[i])
            w->stacks[c.stacks[i] - w->stacks].call_ns = c.ranks[i].ns;
    pct_sent_put(&answer, w, last->first);
    if (!answer.failed && !w->sent->failed)
        send_answer(&answer);
    while (read(STDIN_FILENO, &order, 1) == 1 && (order == LOOK_AGAIN || order == NAME)) {
        answer.n = 0;
        if (order == NAME)
            put_names(w, &answer);
        else
            put_marks(w, &c, &answer);
        send_answer(&answer);
    }
    bool failed = answer.failed || ferror(stdout);
    pct_where_calls_free(&c);
    free(answer.data);
    return failed ? PCT_DATA : PCT_DONE;
}

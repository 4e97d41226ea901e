/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pcollect events: events that can be counted on this machine, with the names that `[sample]
 * events` takes. Each event is opened here to see whether it counts.
 */
#include "base/nearest.h"
#include "command/command.h"
#include "plugins/compute/event_names.h"
#include "view/sentence.h"

#include <ctype.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

enum { OPTION_FORMAT = 256 };

static const struct pct_option options[] = {
    {'a', "all", NULL, "list also events that cannot be counted here, and why"},
    {OPTION_FORMAT, "format", "text|tsv", "text for people (default), or for programs",
     "tsv lists also events that cannot be counted here, save presets for which the processor has "
     "no counter: those need --all. It has a line for each event: its name, yes or no, the reason "
     "if it is no, what it counts, "
     "and its encoding."},
    {0, NULL, NULL, NULL},
};

struct search {
    const struct pc_events_module *module;
    const char *pattern; /* NULL: all */
    bool all, tsv;
    bool closed;  /* second pass: events that do not count here */
    bool counted; /* of these only the number is printed, save of one with the name `pattern` */
    size_t width;
    unsigned n_shown, n_open, n_closed, n_hidden;
    unsigned n_told; /* of n_closed: with their reason */
};

/* ---- Selection ------------------------------------------------------------------------------ */

static char *lower(const char *text)
{
    char *out = pct_text("%s", text);
    for (char *p = out; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return out;
}

/* True if the name matches: by a shell pattern for the whole name, or by a part of the name; case
 * is ignored. */
static bool matches(const char *pattern, const char *name)
{
    if (!pattern)
        return true;
    char *p = lower(pattern), *n = lower(name);
    bool found = strpbrk(p, "*?[") ? fnmatch(p, n, 0) == 0 : strstr(n, p) != NULL;
    pct_free(p);
    pct_free(n);
    return found;
}

static bool is_whole_name(const char *pattern, const char *name)
{
    return pattern && strcasecmp(pattern, name) == 0;
}

/* ---- One event ------------------------------------------------------------------------------- */

struct event {
    const char *name, *doc;
    char encoding[PC_COUNTING_MAX_TERMS * 96]; /* empty: none on this machine */
    const char *why_not;                       /* NULL: it counts */
    struct pc_error error;
    bool user_only;
};

/* Writes the encoding for perf_event_open: "software 0x2", "raw 0x1b7 config1 0x3fbfc00001". */
static void put_encoding(const struct pc_counting_event *e, char *out, size_t size)
{
    static const char *const types[] = {"hardware",       "software", "tracepoint",
                                        "hardware-cache", "raw",      "breakpoint"};
    size_t n = 0;
    for (uint32_t i = 0; i < e->n_terms; i++) {
        const struct pc_counting_term *t = &e->terms[i];
        const char *sign = t->sign < 0 ? "- " : "+ ";
        n += pc_format(out + n, size - n, "%s%s", i ? " " : "", i || t->sign < 0 ? sign : "");
        if (t->type < PC_ARRAY_LEN(types))
            n += pc_format(out + n, size - n, "%s", types[t->type]);
        else
            n += pc_format(out + n, size - n, "type %u", t->type);
        n += pc_format(out + n, size - n, " 0x%llx", (unsigned long long)t->config);
        if (t->config1)
            n += pc_format(out + n, size - n, " config1 0x%llx", (unsigned long long)t->config1);
        if (t->config2)
            n += pc_format(out + n, size - n, " config2 0x%llx", (unsigned long long)t->config2);
    }
}

/* Looks up the event of the name, and tries whether it counts here. */
static int look_up(const struct search *s, struct event *e)
{
    struct pc_counting_event event = {.n_terms = 0};
    int err = s->module->find(e->name, &event, &e->error);
    e->encoding[0] = '\0';
    if (!err)
        put_encoding(&event, e->encoding, sizeof e->encoding);
    int found = err;
    if (!err)
        err = pc_counting_try(&event, &e->error);
    e->user_only = !err && event.terms[0].user_only;
    e->why_not = err ? e->error.text : NULL;
    return found;
}

static void put_line(const struct search *s, const char *what, const char *text)
{
    enum { INDENT = 7 };
    printf("%*s", INDENT, "");
    pct_print_sentence(stdout, s->width, INDENT, "%s%s", what, text);
}

static void print_event(struct search *s, const struct event *e)
{
    const char *doc = e->doc ? e->doc : "";
    s->n_shown++;
    if (s->tsv) {
        printf("%s\t%s\t%s\t%s\t%s\n", e->name, e->why_not ? "no" : "yes",
               e->why_not ? e->why_not : "", doc, e->encoding);
        return;
    }
    printf("%-3s  %s\n", e->why_not ? "no" : "yes", e->name);
    if (*doc)
        put_line(s, "", doc);
    if (*e->encoding)
        put_line(s, "perf_event: ", e->encoding);
    if (e->why_not)
        put_line(s, "not here: ", e->why_not);
    else if (e->user_only)
        put_line(s, "", "the kernel's side is not counted");
}

/* Shows an event if it belongs to the current one of the two passes. */
static void take_event(struct search *s, const struct event *e)
{
    if ((e->why_not != NULL) != s->closed)
        return;
    s->n_open += !s->closed;
    s->n_closed += s->closed;
    if (!s->closed || !s->counted || is_whole_name(s->pattern, e->name)) {
        print_event(s, e);
        s->n_told += s->closed;
    }
}

static bool show(void *arg, const struct pc_events_entry *entry)
{
    struct search *s = arg;
    struct event e = {.name = entry->name, .doc = entry->doc};
    if (!matches(s->pattern, entry->name))
        return false;
    if (!entry->made && !s->all && !is_whole_name(s->pattern, entry->name)) {
        s->n_hidden += s->closed;
        return false;
    }
    look_up(s, &e);
    take_event(s, &e);
    return false;
}

/* Lists events that count here, then those that do not. */
static void show_all(struct search *s)
{
    for (int pass = 0; pass < 2; pass++) {
        s->closed = pass;
        s->module->list(show, s);
    }
}

/* Shows valid names that are in no list: r and a code, names with modifiers. */
static void show_unlisted(struct search *s)
{
    struct event e = {.name = s->pattern};
    if (s->pattern && !s->n_hidden && look_up(s, &e) != PC_ENOENT)
        print_event(s, &e);
    s->n_open += s->n_shown && !e.why_not;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Opens the module of event names; self NULL: without messages. */
static const struct pc_events_module *open_module(const struct pct_command *self)
{
    char *why = NULL, *library = pct_library_path(&why);
    if (!library) {
        if (self)
            pct_say(self, "%s", why);
        return NULL;
    }
    *strrchr(library, '/') = '\0';
    char *path = pct_text("%s/pcollect/%s", library, PC_EVENTS_MODULE);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct pc_events_module *m = handle ? dlsym(handle, PC_EVENTS_SYMBOL) : NULL;
    bool fits = m && m->abi == PC_EVENTS_ABI && m->size >= sizeof *m;
    if (!handle && self)
        pct_say(self, "%s; event names need PAPI, at build time and on this machine", dlerror());
    else if (!fits && self)
        pct_say(self, "%s is of another version of pcollect", path);
    pct_free(path);
    pct_free(library);
    return fits ? m : NULL;
}

static bool add_near(void *nearest, const struct pc_events_entry *entry)
{
    pc_nearest_add(nearest, entry->name);
    return false;
}

enum { NEAR_BYTES = PC_N_NEAREST * (PC_NEAREST_BYTES + 4) };

/* Appends the events of this machine that are nearest to the word, or nothing; module NULL: without
 * the module's names. `kernel`: also names of the kernel. */
static void put_near(const struct pc_events_module *module, bool kernel, const char *wanted,
                     char *out)
{
    struct pc_nearest nearest = {.wanted = wanted};
    for (size_t i = 0; kernel && pc_counting_kernel_name(i); i++)
        pc_nearest_add(&nearest, pc_counting_kernel_name(i));
    if (module)
        module->list(add_near, &nearest);
    pc_nearest_text(&nearest, out, NEAR_BYTES);
}

static int say_none(const struct pct_command *self, const struct search *s)
{
    char text[NEAR_BYTES] = "";
    unsigned n = s->n_hidden + s->n_closed;
    if (n) {
        pct_say(self, "%u event%s \"%s\", but %s here; --all shows %s, and why", n,
                n == 1 ? " matches" : "s match", s->pattern ? s->pattern : "",
                n == 1 ? "it cannot be counted" : "none of them can be counted",
                n == 1 ? "it" : "them");
        return PCT_DATA;
    }
    if (s->pattern)
        put_near(s->module, false, s->pattern, text);
    pct_say(self, "no event matches \"%s\"%s%s", s->pattern ? s->pattern : "",
            *text ? "; the nearest is " : "", text);
    return PCT_DATA;
}

/* True for names that are the same on every machine. */
static bool is_general(const char *name)
{
    return strncmp(name, "perf::", 6) == 0 || strncmp(name, "PAPI_", 5) == 0;
}

/* Says that an event is not known here; false: nor anywhere else. A processor's names may be known
 * where the job runs. */
static bool say_unknown(const struct pct_command *self, const char *option, const char *word,
                        const struct pc_events_module *module)
{
    char near[NEAR_BYTES] = "";
    bool of_processor = strstr(word, "::") && !is_general(word);
    if (!of_processor)
        put_near(module, false, word, near);
    if (!*near && !is_general(word)) {
        pct_say(self,
                "%s: the event '%s' is not known on this machine; ranks that do not know it leave "
                "it out",
                option, word);
        return true;
    }
    pct_say(self, "%s: there is no event '%s'%s%s", option, word,
            *near ? "; the nearest is " : "; `pcollect events` lists those of this machine", near);
    return false;
}

bool pct_events_known(const struct pct_command *self, const char *option, const char *list)
{
    char words[PC_CONFIG_TEXT_BYTES], *rest = words, *word;
    const struct pc_events_module *module = *list ? open_module(NULL) : NULL;
    bool known = true;
    pc_format(words, sizeof words, "%s", list);
    while (module && (word = strsep(&rest, ", \t"))) {
        struct pc_counting_event event = {.n_terms = 0};
        struct pc_error error;
        int err = *word ? module->find(word, &event, &error) : PC_OK;
        if (err == PC_ENOENT) {
            known &= say_unknown(self, option, word, module);
        } else if (err && strchr(word, '/')) { /* on no machine */
            pct_say(self, "%s: %s: %s", option, word, error.text);
            known = false;
        }
    }
    return known;
}

int pct_event_named(const struct pct_command *self, const char *option, const char *name,
                    struct pc_counting_event *out)
{
    struct pc_error error = {""};
    char text[NEAR_BYTES] = "";
    int err = pc_counting_named(name, out, &error);
    if (err != PC_ENOENT)
        return err ? pct_refuse(self, "%s: %s: %s", option, name, error.text) : PCT_DONE;
    const struct pc_events_module *module = open_module(NULL);
    err = module ? module->find(name, out, &error) : PC_ENOENT;
    if (!err)
        return PCT_DONE;
    if (err != PC_ENOENT)
        return pct_refuse(self, "%s: %s: %s", option, name, error.text);
    put_near(module, true, name, text);
    if (!*text && pc_counting_is_tracepoint(name))
        return pct_refuse(self, "%s: %s: tracepoints are not counted", option, name);
    return pct_refuse(self, "%s: there is no event '%s'%s%s%s", option, name,
                      *text    ? "; the nearest is "
                      : module ? "; `pcollect events` lists those of this machine"
                               : "",
                      text, module ? "" : "; the names of PAPI and libpfm are not known here");
}

static void put_sum(const struct search *s)
{
    struct pc_error none;
    printf("%s%u event%s here\n", s->n_shown ? "\n" : "", s->n_open,
           s->n_open == 1 ? " counts" : "s count");
    unsigned n_more = s->n_hidden + s->n_closed - s->n_told;
    if (n_more)
        printf("%u more %s%s and %s not; --all shows which, and why\n", n_more,
               s->pattern    ? "match"
               : n_more == 1 ? "is known"
                             : "are known",
               s->pattern && n_more == 1 ? "es" : "", n_more == 1 ? "does" : "do");
    if (pc_counting_hardware(&none))
        pct_print_sentence(stdout, s->width, 0, "no processor counters can be opened: %s",
                           none.text);
}

static int take_option(const struct pct_command *self, const struct pct_option *o,
                       const char *value, void *request)
{
    struct search *s = request;
    (void)self;
    if (o->letter == 'a')
        s->all = true;
    else
        s->tsv = pct_value_word(o, value) == 1;
    return PCT_DONE;
}

static int events_main(const struct pct_command *self, int argc, char **argv)
{
    struct search s = {.pattern = NULL};
    struct pct_line line;
    if (!pct_line_read(self, argc, argv, &s, &line))
        return line.status;
    s.pattern = line.n_words ? line.words[0] : NULL;
    s.module = open_module(self);
    if (!s.module)
        return PCT_DATA;
    if (s.tsv)
        printf("event\tcounts\twhy_not\tdescription\tencoding\n");
    s.counted = !s.all && !s.tsv;
    s.width = pct_terminal_look().width;
    show_all(&s);
    if (!s.n_shown && !s.n_closed)
        show_unlisted(&s);
    if (!s.n_shown && (s.pattern || !s.n_closed))
        return say_none(self, &s);
    if (!s.tsv)
        put_sum(&s);
    return s.n_open || s.all || s.tsv ? PCT_DONE : PCT_DATA;
}

const struct pct_command pct_events = {
    .name = "events",
    .synopsis = "[OPTION]... [PATTERN]",
    .summary = "list the events that can be counted here",
    .details = "PATTERN is a part of a name, or a shell pattern for the whole name. Events that "
               "are in no list can be given by their whole name: r and the processor's own code in "
               "hexadecimal, and names with modifiers, such as perf::CYCLES:u. Each event is "
               "opened to see whether it can be counted; if it cannot, the reason is shown.",
    .options = options,
    .argument = "PATTERN",
    .n_most = 1,
    .take = take_option,
    .main = events_main,
};

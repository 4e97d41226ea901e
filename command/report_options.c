/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `pcollect report`.
 */
#include "command/report.h"

#include <string.h>

enum {
    FORMAT = 256,
    TABLE,
    BY,
    BOTTOM_UP,
    DEPTH,
    METRIC,
    MIN_PERCENT,
    PHASE,
    REGION,
    DOMAIN,
    THRESHOLD,
    FULL_PATHS,
    FULL_NAMES
};
enum { WHICH_TABLE = 1 }; /* groups of options */

static const char *next_rule(const void *arg, size_t i)
{
    (void)arg;
    const struct pct_rule *rule = pct_rule_at(i);
    return rule ? rule->name : NULL;
}

static const char *next_known_table(const void *arg, size_t i)
{
    (void)arg;
    if (i < pct_n_tables)
        return pct_tables[i]->name;
    const struct pcollect_table *described = pct_described_at(i - pct_n_tables);
    return described ? described->name : NULL;
}

/* Words are in the order of enum pct_format, enum pct_metric and pct_by. */
const struct pct_option pct_report_options[] = {
    {FORMAT, "format", "text|json|tsv|md|csv", "text for people (default), or for programs",
     "tsv and csv show one table: --table or --by names it."},
    {TABLE, "table", "NAME", "one table only; --table help lists them",
     "It is printed as tsv if no format is given. --table NAME --help lists the columns. Plugins "
     "that were loaded can have tables of their own in the profile; their first line names the "
     "columns.",
     .group = WHICH_TABLE, .known = next_known_table},
    {BY, "by", "WHAT,...", "one table of sums, by one or several of:",
     "It is printed as text if no format is given. All figures of calls and samples, and the "
     "fields of plugins, are columns for --columns and for programs: --by WHAT --help lists them. "
     "Rows are sorted by their own CPU time, or by their own time in MPI if the run has more of "
     "it. "
     "caller, thread, peer and program, and rank alone, are tables of their own. The table thread "
     "has a row for each thread of each rank; rank,thread is the same.",
     "function|line|file|module|call-site|context|primitive|communicator|phase|region|rank|caller|"
     "thread|peer|program",
     WHICH_TABLE, .list = true},
    PCT_OPTIONS_CHOICE,
    {MIN_PERCENT, "min-percent", "P", "hide rows below P percent",
     "In the trees of the text, P is a percentage of the time in MPI and of CPU time; the default "
     "is the least of 1, 2, 3, 5, 7, 10, 15, 20 and 30 with which a tree takes no more than 40 "
     "lines. In a table, P is compared with its column of shares, as --where does (default: 0; in "
     "the text of --by caller as in a tree).",
     .parts = PCT_PART_TREES | PCT_PART_SHARES},
    {BOTTOM_UP, "bottom-up", NULL, "show the trees bottom-up: from callees to their callers",
     "The trees of the text begin at the MPI functions, and at those that computed.",
     .parts = PCT_PART_TREES},
    {DEPTH, "depth", "N", "show only the N outermost frames of each context",
     "Figures of deeper frames are added to the last of them.", .parts = PCT_PART_CONTEXTS},
    {METRIC, "metric", "calls|time|sent|received",
     "metric in the tree of MPI calls (default: time)", .parts = PCT_PART_TREES},
    {PHASE, "phase", "N", "only what was called in phase N of MPI_Pcontrol",
     "Phase 0 has what was called in no other."},
    {REGION, "region", "NAME", "only what was called in this region",
     "Between pcollect_region_begin and pcollect_region_end of that name."},
    {DOMAIN, "domain", "NAME", "only calls on this communicator, by name or id",
     "--table communicators lists them."},
    {THRESHOLD, "threshold", "RULE=P", "hide findings of RULE that save less than P percent",
     "P is a percentage of the run. May be given for several rules. Each finding is followed by "
     "the name of its rule.",
     .many = true, .parts = PCT_PART_FINDINGS, .known = next_rule},
    {FULL_PATHS, "full-paths", NULL, "files and modules with their folders"},
    {FULL_NAMES, "full-names", NULL,
     "long C++ names with all their arguments, and each frame on its line",
     "Without it, text and Markdown leave out what is in < > and ( ) in function names longer than "
     "40 characters; in a tree, functions that one line calls keep the first argument by which "
     "they differ. Consecutive frames that only pass a call on, in a library without lines, in the "
     "C++ library, in Python's import or without a name, are then one line of the tree, but for "
     "the "
     "outermost function of a library that has a name, and the nearest one with a name around an "
     "MPI call or a function without a name that is shown. With it, names of more than 2,000 "
     "characters still lose their middle; tsv, json and html have them whole."},
    PCT_OPTION_DEBUGINFOD,
    PCT_OPTION_WIDTH,
    PCT_OPTION_COLOR,
    {0, NULL, NULL, NULL},
};

/* ---- Values ---------------------------------------------------------------------------------- */

static const char *next_table(const void *arg, size_t i)
{
    const struct pc_profile *p = arg;
    if (i < pct_n_tables)
        return pct_tables[i]->name;
    i -= pct_n_tables;
    return i < p->n_tables ? p->tables[i].name : NULL;
}

static void choose_table(struct pct_options *view, const char *name)
{
    view->table_name = name;
    view->table = pct_table_find(name);
}

/* The table that --by selects: for `thread` and `rank,thread`. NULL: it has keys. */
static const char *find_by_table(const struct pct_option *o, const char *value)
{
    if (!strcmp(value, "rank,thread") || !strcmp(value, "thread,rank"))
        value = "thread";
    return strchr(value, ',') ? NULL : pct_by[pct_value_word(o, value)].table;
}

/* Takes the words of --by, which the parser has checked. */
static int choose_by(const struct pct_command *self, const struct pct_option *o, const char *value,
                     struct pct_options *view)
{
    const char *table = find_by_table(o, value);
    if (table) {
        choose_table(view, table);
        return PCT_DONE;
    }
    char *copy = pct_copy(value), *rest = copy, *word;
    int status = PCT_DONE;
    while (!status && (word = strsep(&rest, ","))) {
        unsigned keys = pct_by[pct_value_word(o, word)].keys;
        view->by |= keys;
        if (!keys && !strcmp(word, "thread"))
            status = pct_refuse(self,
                                "--by %s: a profile has no functions or calls by thread; --by "
                                "thread shows the times of each thread, --by rank,function the "
                                "functions of each rank",
                                value);
        else if (!keys)
            status = pct_refuse(self,
                                "--by %s: %s is a table of its own, and goes with nothing "
                                "else",
                                value, word);
    }
    view->table_name = value;
    pct_free(copy);
    return status;
}

/* Reads RULE=PERCENT. */
static int read_threshold(const struct pct_command *self, const struct pct_option *o,
                          const char *value, struct pct_options *view)
{
    char name[64] = "";
    size_t n = strcspn(value, "=");
    uint64_t percent = 0;
    if (value[n] != '=' || n >= sizeof name)
        return pct_refuse(self, "--threshold %s: give RULE=PERCENT, as imbalance=10", value);
    memcpy(name, value, n);
    if (pct_value_percent_in(self, o, value, value + n + 1, 100, &percent))
        return PCT_CALL;
    for (size_t i = 0; pct_rule_at(i); i++) {
        if (!strcmp(pct_rule_at(i)->name, name)) {
            view->thresholds[i] = (double)percent / 100000;
            return PCT_DONE;
        }
    }
    return pct_refuse_word(self, o->name, name, next_rule, NULL);
}

static int take_number(const struct pct_command *self, const struct pct_option *o,
                       const char *value, struct pct_options *view)
{
    uint64_t n = 0;
    int status;
    switch (o->letter) {
    case DEPTH:
        status = pct_value_number(self, o, value, 1, 1000000, &n);
        view->tree.depth = (uint32_t)n;
        return status;
    case MIN_PERCENT:
        status = pct_value_percent(self, o, value, 100, &n);
        view->has_min_percent = true;
        view->choice.min_percent = n;
        return status;
    case PHASE:
        view->filter.has_phase = true;
        return pct_value_number(self, o, value, 0, INT64_MAX, &view->filter.phase);
    default:
        return read_threshold(self, o, value, view);
    }
}

int pct_report_take(const struct pct_command *self, const struct pct_option *o, const char *value,
                    void *request)
{
    struct pct_report_request *r = request;
    struct pct_options *view = &r->view;
    if (pct_choice_option(&view->choice, o, value))
        return PCT_DONE;
    switch (o->letter) {
    case FORMAT:
        view->format = (enum pct_format)pct_value_word(o, value);
        r->has_format = true;
        break;
    case TABLE:
        choose_table(view, value);
        return strcmp(value, "help") ? PCT_DONE : PCT_HELP;
    case BY:
        r->has_format = true;
        r->by = value;
        return choose_by(self, o, value, view);
    case BOTTOM_UP:
        view->bottom_up = true;
        break;
    case METRIC:
        view->metric = (enum pct_metric)pct_value_word(o, value);
        break;
    case REGION:
        view->filter.region = value;
        break;
    case DOMAIN:
        r->domain = value;
        break;
    case FULL_PATHS:
        view->tree.full_paths = true;
        break;
    case FULL_NAMES:
        view->full_names = true;
        break;
    default:
        return take_number(self, o, value, view);
    }
    return PCT_DONE;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Prints of a table of a plugin what `put` prints of any table. */
static void put_described(FILE *out, const struct pcollect_table *table,
                          void (*put)(FILE *out, const struct pct_table *t))
{
    struct pct_data d = {.pool = pct_pool_new()};
    struct pct_rows_table t;
    pct_rows_table_described(&t, &d, table);
    put(out, &t.table);
    pct_pool_free(d.pool);
}

/* `--table help`, and --help beside --table NAME. */
bool pct_report_help(const struct pct_command *self, const void *request, FILE *out)
{
    const struct pct_options *view = &((const struct pct_report_request *)request)->view;
    (void)self;
    if (!view->table_name)
        return false;
    if (view->table) {
        pct_help_columns(out, view->table);
        return true;
    }
    if (view->by) {
        struct pct_cube cube;
        pct_cube_make(&cube, NULL, view->by, view->table_name);
        pct_help_columns(out, &cube.table);
        fputs("Without --columns, text has the first of them only. Fields of plugins, "
              "PLUGIN.FIELD, come after these.\n",
              out);
        pct_cube_free(&cube);
        return true;
    }
    if (pct_described(view->table_name)) {
        put_described(out, pct_described(view->table_name), pct_help_columns);
        return true;
    }
    if (strcmp(view->table_name, "help") != 0)
        fprintf(out,
                "%s is none of these tables.\n"
                "If a profile has it, its first line names its columns.\n\n",
                view->table_name);
    fputs("Tables of `pcollect report --table NAME`:\n", out);
    for (size_t i = 0; i < pct_n_tables; i++)
        pct_help_table(out, pct_tables[i]);
    fputs("Tables of the library, its plugins and `pcollect embed`, if the profile has them:\n",
          out);
    for (size_t i = 0; pct_described_at(i); i++)
        put_described(out, pct_described_at(i), pct_help_table);
    fputs("`pcollect info` lists the tables that a profile has.\n"
          "`pcollect report --table NAME --help` lists the columns of a table.\n",
          out);
    return true;
}

/* Checks that need no profile. All tables together allow only --sort. */
static int check_choice(const struct pct_command *self, const struct pct_options *view)
{
    const struct pct_choice *c = &view->choice;
    if (view->table_name && !view->table)
        return PCT_DONE; /* a table of a plugin */
    if (view->table || c->columns || c->n_where)
        return pct_choice_refuse(self, c, view->table, "--table NAME or --by WHAT, too");
    for (size_t i = 0; view->format != PCT_FORMAT_TEXT && i < pct_n_tables; i++)
        if (c->sort && !pct_tables[i]->asked && pct_column_find(pct_tables[i], c->sort))
            return PCT_DONE;
    bool text = view->format == PCT_FORMAT_TEXT;
    return pct_choice_refuse(self, c, pct_table_find(text ? "primitives" : "contexts"), "");
}

int pct_report_check_table(const struct pct_command *self, const struct pct_report_request *r,
                           const struct pc_profile *p)
{
    const struct pct_options *view = &r->view;
    if (!view->table_name || view->table || view->by ||
        pc_profile_table_in_order(p, view->table_name))
        return PCT_DONE;
    if (pct_described(view->table_name))
        return pct_refuse(self,
                          "%s has no table %s: the run did nothing of the kind, or it was not "
                          "collected or stored; `pcollect info` lists what is there",
                          r->file, view->table_name);
    return pct_refuse_word(self, "table", view->table_name, next_table, p);
}

/* ---- The command line ------------------------------------------------------------------------ */

/* Sets defaults, also from the terminal. */
static void complete(struct pct_report_request *r)
{
    struct pct_options *view = &r->view;
    struct pct_terminal terminal = pct_terminal_look();
    if (view->table_name && !r->has_format)
        view->format = PCT_FORMAT_TSV;
    view->utf8 = terminal.utf8;
    view->color = terminal.color;
    /* A table for a file or a pipe is not cut, unless a width is given. */
    view->width = terminal.cut || !view->table_name ? terminal.width : 0;
}

/* Parts of what is shown. Findings are only for whole runs; a table of a plugin may have contexts,
 * but has no shares. */
static unsigned parts_of(const struct pct_report_request *r)
{
    const struct pct_options *view = &r->view;
    const struct pct_table *t = view->table;
    bool all = !view->table_name,
         run = !view->filter.has_phase && !view->filter.region && !r->domain;
    bool shares = t ? t->percent != NULL : all || view->by;
    bool contexts = t ? t->of_tree : !view->by || view->by & PCT_KEY_CONTEXT;
    bool findings = run && (all || !strcmp(view->table_name, "findings"));
    return (all && view->format == PCT_FORMAT_TEXT ? PCT_PART_TREES : 0) |
           (shares ? PCT_PART_SHARES : 0) | (contexts ? PCT_PART_CONTEXTS : 0) |
           (findings ? PCT_PART_FINDINGS : 0);
}

static int check(const struct pct_command *self, const struct pct_line *line,
                 const struct pct_report_request *r)
{
    const struct pct_options *view = &r->view;
    if (line->n_words > 1)
        return pct_refuse_profiles(self, line);
    bool one = view->format == PCT_FORMAT_TSV || view->format == PCT_FORMAT_CSV;
    if (one && !view->table_name)
        return pct_refuse(self, "--format %s shows one table: give --table NAME too",
                          view->format == PCT_FORMAT_TSV ? "tsv" : "csv");
    int status = check_choice(self, view);
    return status ? status : pct_line_check_parts(self, line, parts_of(r));
}

bool pct_report_read(const struct pct_command *self, int argc, char **argv,
                     struct pct_report_request *out, int *status_out)
{
    struct pct_line line;
    *out = (struct pct_report_request){.view.metric = PCT_TIME};
    for (size_t i = 0; i < PCT_MAX_RULES; i++)
        out->view.thresholds[i] = -1;
    if (!pct_line_read(self, argc, argv, out, &line)) {
        *status_out = line.status;
        return false;
    }
    out->file = line.words[0];
    complete(out);
    *status_out = check(self, &line, out);
    return !*status_out;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of `pcollect report`: one table of options, from which parser, --help and manual
 * come.
 */
#include "config.h"

#include "analysis/counters/metrics.h"
#include "command/report.h"
#include "view/report_print.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct option_row {
    const char *name;
    int letter; /* of the short option, or a number above all letters */
    const char *argument;
    const char *doc;
};

enum {
    FORMAT = 256,
    TABLE,
    DEPTH,
    SORT,
    METRIC,
    MIN_PERCENT,
    THRESHOLD,
    PHASE,
    REGION,
    DOMAIN,
    FULL_PATHS,
    WIDTH,
    COLOR,
    BY,
    BOTTOM_UP,
    DEBUGINFOD,
    COLUMNS,
    WHERE
};

static const struct option_row rows[] = {
    {"format", FORMAT, "text|json|tsv|md",
     "text for people (default), JSON, tab-separated values, or Markdown; tsv shows one table"},
    {"by", BY, "WHAT",
     "the calls and samples summed by rank, primitive, call-site, caller, line, function, file, "
     "module, thread, communicator or peer: the table of that kind as text"},
    {"bottom-up", BOTTOM_UP, NULL,
     "in the text, the trees from the MPI functions, and from those that computed, outwards to "
     "what called them"},
    {"table", TABLE, "NAME",
     "one table only: header, primitives, ranks, contexts, call_sites, callers, lines, "
     "function_calls, sources, module_calls, communicator_calls, flat, functions, computation, "
     "sample_callers, modules, lost, or a table of a plugin that was loaded; as tsv if no format "
     "is given"},
    {"depth", DEPTH, "N",
     "frames of a calling context that are told apart, from the outermost on; what is deeper is "
     "added to the last of them"},
    {"sort", SORT, "COLUMN", PCT_CHOICE_SORT_DOC},
    {"columns", COLUMNS, "A,B,...", PCT_CHOICE_COLUMNS_DOC},
    {"where", WHERE, "'COLUMN OP VALUE'", PCT_CHOICE_WHERE_DOC},
    {"metric", METRIC, "METRIC",
     "in the text, the tree of calls by time (default), calls, or bytes sent or received"},
    {"min-percent", MIN_PERCENT, "P",
     "leave out what took less than P percent: in the trees of the text, of the time in MPI and of "
     "CPU time (default: 1), in a table of what its column of shares is of, as --where with that "
     "column does "
     "(default: "
     "0)"},
    {"phase", PHASE, "N", "only what was called in phase N of MPI_Pcontrol"},
    {"region", REGION, "NAME",
     "only what was called while this region of pcollect_region_begin was open"},
    {"domain", DOMAIN, "NAME",
     "only calls on this communicator, by its name or id (--table communicators lists them)"},
    {"threshold", THRESHOLD, "RULE=P",
     "findings of this rule only if they save P percent of the run or more; may be given for "
     "several rules; the names of rules stand behind findings"},
    {"full-paths", FULL_PATHS, NULL, "files and modules with their folders"},
    {"debuginfod", DEBUGINFOD, NULL,
     "ask the servers in DEBUGINFOD_URLS for files and debug information that are not here, by "
     "build-id"},
    {"width", WIDTH, "N", "columns of the text (default: those of the terminal, else 100)"},
    {"color", COLOR, "WHEN", "auto (default: on terminals only), always or never"},
    {"help", 'h', NULL, "print this"},
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static const char *const format_names[] = {"text", "json", "tsv", "md", NULL};
static const char *const color_names[] = {"auto", "always", "never", NULL};

/* ---- Lists of words ---------------------------------------------------------------------------
 */

static const char *next_name(const void *arg, size_t i)
{
    return ((const char *const *)arg)[i];
}

static const char *next_table(const void *arg, size_t i)
{
    const struct pc_profile *p = arg;
    if (i < pct_n_tables)
        return pct_tables[i]->name;
    i -= pct_n_tables;
    return i < p->n_tables ? p->tables[i].name : NULL;
}

static const char *next_option(const void *arg, size_t i)
{
    (void)arg;
    return i < N_ROWS ? rows[i].name : NULL;
}

/* ---- Refusals ---------------------------------------------------------------------------------
 */

static int refuse(const char *option, const char *value, const char *why)
{
    fprintf(stderr, "pcollect report: --%s %s: %s\n", option, value, why);
    return -1;
}

/* Names what is valid, the nearest first. */
static int refuse_word(const char *option, const char *value, pct_words_fn *next, const void *arg)
{
    return pct_refuse_word("report", option, value, next, arg);
}

/* ---- Values -----------------------------------------------------------------------------------
 */

static int read_word(const char *option, const char *value, const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], value))
            return i;
    }
    return refuse_word(option, value, next_name, names);
}

static int read_number(const char *option, const char *value, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || !n || n > 1000000)
        return refuse(option, value, "give a whole number from 1 to 1000000");
    *out = (uint32_t)n;
    return 0;
}

/* 12, 0.5, .25, 3%: thousandths of a percent, without the locale's ideas of a decimal point. */
static int read_percent(const char *option, const char *value, pc_u128 *out)
{
    uint64_t whole = 0, part = 0, digits = 0, unit = 100;
    const char *s = value;
    for (; *s >= '0' && *s <= '9' && whole <= 100; s++, digits++)
        whole = whole * 10 + (uint64_t)(*s - '0');
    if (*s == '.') {
        for (s++; *s >= '0' && *s <= '9'; s++, digits++, unit /= 10)
            part += (uint64_t)(*s - '0') * unit;
    }
    s += *s == '%';
    if (*s || !digits || whole * 1000 + part > 100000)
        return refuse(option, value, "give a percentage from 0 to 100");
    *out = whole * 1000 + part;
    return 0;
}

static int read_table(const char *value, struct pct_options *o)
{
    o->table_name = value;
    o->table = pct_table_find(value);
    return 0;
}

static int read_by(const char *value, struct pct_options *o)
{
    static const char *const words[] = {"rank",   "primitive",    "call-site", "caller",
                                        "line",   "function",     "file",      "module",
                                        "thread", "communicator", "peer",      NULL};
    static const char *const tables[] = {
        "ranks",    "primitives",         "call_sites", "callers",
        "lines",    "function_calls",     "sources",    "module_calls",
        "sampling", "communicator_calls", "pairs"};
    int n = read_word("by", value, words);
    return n < 0 ? n : read_table(tables[n], o);
}

static int read_metric(const char *value, struct pct_options *o)
{
    static const char *const words[] = {[PCT_CALLS] = "calls",
                                        [PCT_TIME] = "time",
                                        [PCT_SENT] = "sent",
                                        [PCT_RECEIVED] = "received",
                                        NULL};
    int n = read_word("metric", value, words);
    o->metric = (enum pct_metric)n;
    return n < 0 ? n : 0;
}

static const char *next_rule(const void *arg, size_t i)
{
    (void)arg;
    return i < pct_n_rules ? pct_rules[i].name : NULL;
}

/* RULE=PERCENT */
static int read_threshold(const char *value, struct pct_options *o)
{
    char name[64] = "";
    size_t n = strcspn(value, "=");
    pc_u128 percent = 0;
    if (value[n] != '=' || n >= sizeof name)
        return refuse("threshold", value, "give RULE=PERCENT");
    memcpy(name, value, n);
    if (read_percent("threshold", value + n + 1, &percent))
        return -1;
    for (size_t i = 0; i < pct_n_rules; i++) {
        if (!strcmp(pct_rules[i].name, name)) {
            o->thresholds[i] = (double)percent / 100000;
            return 0;
        }
    }
    return refuse_word("threshold", name, next_rule, NULL);
}

static int read_phase(const char *value, struct pct_options *o)
{
    char *end;
    errno = 0;
    o->filter.phase = strtoull(value, &end, 10);
    o->filter.has_phase = true;
    if (*value < '0' || *value > '9' || *end || errno)
        return refuse("phase", value, "give the number of a phase");
    return 0;
}

static int read_option(int letter, const char *value, struct pct_options *o)
{
    int n = 0;
    uint32_t width = 0;
    switch (letter) {
    case FORMAT:
        n = read_word("format", value, format_names);
        o->format = (enum pct_format)n;
        return n < 0 ? n : 0;
    case TABLE:
        return read_table(value, o);
    case BY:
        return read_by(value, o);
    case DEBUGINFOD:
        pct_symbols_allow_servers();
        return 0;
    case BOTTOM_UP:
        o->bottom_up = true;
        return 0;
    case DEPTH:
        return read_number("depth", value, &o->tree.depth);
    case SORT:
        o->choice.sort = value;
        return 0;
    case COLUMNS:
        o->choice.columns = value;
        return 0;
    case WHERE:
        pct_choice_add(&o->choice, value);
        return 0;
    case METRIC:
        return read_metric(value, o);
    case MIN_PERCENT:
        o->has_min_percent = true;
        return read_percent("min-percent", value, &o->choice.min_percent);
    case PHASE:
        return read_phase(value, o);
    case REGION:
        o->filter.region = value;
        return 0;
    case DOMAIN:
        o->domain = value;
        return 0;
    case THRESHOLD:
        return read_threshold(value, o);
    case FULL_PATHS:
        o->tree.full_paths = true;
        return 0;
    case WIDTH:
        n = read_number("width", value, &width);
        o->width = width;
        return n;
    case COLOR:
        n = read_word("color", value, color_names);
        o->color_mode = (enum pct_color)n;
        return n < 0 ? n : 0;
    default:
        return 0;
    }
}

/* ---- The command line -------------------------------------------------------------------------
 */

static int refuse_option(const char *text)
{
    const char *name = text + strspn(text, "-");
    char word[64] = "";
    size_t n = strcspn(name, "=");
    if (n < sizeof word)
        memcpy(word, name, n);
    const char *nearest = pct_nearest(word, next_option, NULL);
    fprintf(stderr, "pcollect report: %s: unknown option", text);
    fprintf(stderr, nearest ? "; did you mean --%s?\n" : "; see pcollect report --help\n", nearest);
    return -1;
}

static int refuse_getopt(int result, char **argv)
{
    const char *text = argv[optind - 1];
    if (result == ':') {
        fprintf(stderr, "pcollect report: %s: needs a value; see pcollect report --help\n", text);
        return -1;
    }
    for (size_t i = 0; i < N_ROWS; i++) {
        size_t n = strlen(rows[i].name);
        if (!strncmp(text, "--", 2) && !strncmp(text + 2, rows[i].name, n) && text[n + 2] == '=') {
            fprintf(stderr, "pcollect report: --%s: takes no value\n", rows[i].name);
            return -1;
        }
    }
    return refuse_option(text);
}

/* What can be said before the profile is there. In all tables at once, only an order. */
static int check_choice(const struct pct_options *o)
{
    const struct pct_choice *c = &o->choice;
    if (o->table)
        return pct_choice_check(c, o->table, "report");
    if (o->table_name)
        return 0;
    if (c->columns || c->n_where)
        return refuse(c->columns ? "columns" : "where", c->columns ? c->columns : c->where[0],
                      "of which table? Give --table NAME or --by WHAT, too");
    for (size_t i = 0; o->format != PCT_FORMAT_TEXT && i < pct_n_tables; i++)
        if (c->sort && pct_column_find(pct_tables[i], c->sort))
            return 0;
    bool text = o->format == PCT_FORMAT_TEXT;
    return pct_choice_check(c, pct_table_find(text ? "primitives" : "contexts"), "report");
}

/* Keeps the value in `values`, by row. A second one is refused, where there can be but one; --by
 * and
 * --table both name the table. */
static int check_single(int letter, const char *value, const char **values)
{
    size_t i = 0;
    while (i < N_ROWS && rows[i].letter != letter)
        i++;
    if (i == N_ROWS || !rows[i].argument || letter == WHERE || letter == THRESHOLD)
        return 0;
    for (size_t k = 0; k < N_ROWS; k++) {
        bool same = k == i || (letter == BY && rows[k].letter == TABLE) ||
                    (letter == TABLE && rows[k].letter == BY);
        if (!same || !values[k] || (k == i && !strcmp(values[k], value)))
            continue;
        fprintf(stderr, "pcollect report: --%s %s and --%s %s: give one of them\n", rows[k].name,
                values[k], rows[i].name, value);
        return -1;
    }
    values[i] = value;
    return 0;
}

static int read_all(int argc, char **argv, struct pct_options *o)
{
    struct option list[N_ROWS + 1] = {0};
    const char *values[N_ROWS] = {NULL};
    bool has_format = false;
    int letter;
    for (size_t i = 0; i < N_ROWS; i++)
        list[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                  NULL, rows[i].letter};
    for (size_t i = 0; i < PCT_MAX_RULES; i++)
        o->thresholds[i] = -1;
    o->metric = PCT_TIME;
    optind = 0; /* the command may have used getopt itself */
    opterr = 0;
    while ((letter = getopt_long(argc, argv, ":h", list, NULL)) != -1) {
        if (letter == 'h')
            return 1;
        if (letter == '?' || letter == ':')
            return refuse_getopt(letter, argv);
        if (read_option(letter, optarg, o) || check_single(letter, optarg, values))
            return -1;
        has_format |= letter == FORMAT || letter == BY;
    }
    if (argc - optind != 1) {
        fprintf(stderr, "pcollect report: %s\n",
                argc == optind
                    ? "which profile? pcollect report [OPTIONS] FILE"
                    : "one profile at a time; pcollect diff, scale and merge compare some");
        return -1;
    }
    o->file = argv[optind];
    if (o->table_name && !has_format)
        o->format = PCT_FORMAT_TSV;
    if (o->format == PCT_FORMAT_TSV && !o->table_name) {
        fprintf(stderr, "pcollect report: --format tsv: which table? Give --table NAME too.\n");
        return -1;
    }
    return check_choice(o);
}

int pct_options_check_table(const struct pct_options *o, const struct pc_profile *p)
{
    if (!o->table_name || o->table || pc_profile_table(p, o->table_name))
        return 0;
    return refuse_word("table", o->table_name, next_table, p);
}

static struct {
    const char *columns, *no_color, *term;
} environment;

void pct_report_environment(const char *columns, const char *no_color, const char *term)
{
    environment.columns = columns;
    environment.no_color = no_color;
    environment.term = term;
}

static bool is_plain(void)
{
    return (environment.no_color && *environment.no_color) ||
           (environment.term && !strcmp(environment.term, "dumb"));
}

static size_t find_width(void)
{
    struct winsize size;
    unsigned long n = environment.columns ? strtoul(environment.columns, NULL, 10) : 0;
    if (n >= 20 && n <= 10000)
        return n;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 20)
        return size.ws_col;
    return 100;
}

/* Characters only: numbers never follow the locale. */
static bool is_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void pct_report_terminal(size_t *width_out, bool *utf8_out)
{
    *width_out = isatty(STDOUT_FILENO) ? find_width() : 0;
    *utf8_out = is_utf8();
}

int pct_options_read(int argc, char **argv, struct pct_options *o, int *status_out)
{
    int result = read_all(argc, argv, o);
    if (result) {
        if (result > 0)
            pct_options_help(stdout);
        *status_out = result > 0 ? 0 : 2;
        return 1;
    }
    bool terminal = isatty(STDOUT_FILENO);
    o->utf8 = is_utf8();
    o->color = o->color_mode == PCT_COLOR_ALWAYS ||
               (o->color_mode == PCT_COLOR_AUTO && terminal && !is_plain());
    /* A table for a file or a pipe is not cut, unless a width is asked for. */
    if (!o->width && (terminal || !o->table_name))
        o->width = find_width();
    if (!o->has_min_percent && o->format == PCT_FORMAT_TEXT && !o->table_name)
        o->choice.min_percent = 1000;
    return 0;
}

/* ---- Help and manual --------------------------------------------------------------------------
 */

/* Words of a text in lines of at most 98 columns. The first line is indented already. */
static void put_wrapped(FILE *out, const char *text, size_t indent)
{
    size_t at = indent;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (at + 1 + n > 98 && at > indent) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        fprintf(out, "%s%.*s", at > indent ? " " : "", (int)n, text);
        at += n + (at > indent);
        text += n + (text[n] == ' ');
    }
    fputc('\n', out);
}

void pct_options_help(FILE *out)
{
    fputs(
        "usage: pcollect report [OPTIONS] FILE\n\n"
        "Prints what a profile (.pcol) says: where the time in MPI goes, on which ranks, in which\n"
        "calling contexts.\n\n",
        out);
    for (size_t i = 0; i < N_ROWS; i++) {
        struct pct_buf left = {0};
        pct_buf_format(&left, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                       rows[i].argument ? rows[i].argument : "");
        fprintf(out, "  %-24s  ", left.data);
        put_wrapped(out, rows[i].doc, 28);
        pct_buf_free(&left);
    }
    fputs("\nTables and their columns\n", out);
    for (size_t i = 0; i < pct_n_tables; i++) {
        fprintf(out, "\n  %s: %s\n", pct_tables[i]->name, pct_tables[i]->doc);
        for (size_t k = 0; k < pct_tables[i]->n_columns; k++) {
            fprintf(out, "    %-22s  ", pct_tables[i]->columns[k].name);
            put_wrapped(out, pct_tables[i]->columns[k].doc, 28);
        }
    }
    fputs("\nRatios of the table ratios\n\n", out);
    for (size_t i = 0; i < pct_n_ratio_kinds; i++) {
        fprintf(out, "    %-22s  ", pct_ratio_kinds[i].name);
        struct pct_buf doc = {0};
        pct_buf_format(&doc, "%s (%s)", pct_ratio_kinds[i].doc, pct_ratio_kinds[i].unit);
        put_wrapped(out, doc.data, 28);
        pct_buf_free(&doc);
    }
    fputs("\nExit status: 0 done, 1 the profile is at fault, 2 the call is at fault.\n", out);
}

/* Text of a manual page: backslashes and hyphens stand for themselves. */
static void put_manual_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\\' || *text == '-')
            fputc('\\', out);
        fputc(*text == '\\' ? 'e' : *text, out);
    }
}

void pct_options_manual(FILE *out)
{
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < N_ROWS; i++) {
        fputs(".TP\n.B \\-\\-", out);
        put_manual_text(out, rows[i].name);
        if (rows[i].argument) {
            fputs(" \\fI", out);
            put_manual_text(out, rows[i].argument);
            fputs("\\fR", out);
        }
        fputc('\n', out);
        put_manual_text(out, rows[i].doc);
        fputs(".\n", out);
    }
    fputs(".SH TABLES\n", out);
    for (size_t i = 0; i < pct_n_tables; i++) {
        fprintf(out, ".SS %s\n", pct_tables[i]->name);
        put_manual_text(out, pct_tables[i]->doc);
        fputs(".\n", out);
        for (size_t k = 0; k < pct_tables[i]->n_columns; k++) {
            fprintf(out, ".TP\n.B %s\n", pct_tables[i]->columns[k].name);
            put_manual_text(out, pct_tables[i]->columns[k].doc);
            fputs(".\n", out);
        }
    }
    fputs(".SH RATIOS\nThe table ratios has a row for each of these whose events were counted.\n",
          out);
    for (size_t i = 0; i < pct_n_ratio_kinds; i++) {
        fprintf(out, ".TP\n.B %s\n", pct_ratio_kinds[i].name);
        put_manual_text(out, pct_ratio_kinds[i].doc);
        fprintf(out, " (%s).\n", pct_ratio_kinds[i].unit);
    }
}

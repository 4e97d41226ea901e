/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The screen of pcollect browse, by ncurses: a title, the rows of the browser, three lines about
 * the row that is marked, and a line for messages. A text about that row (a pane) takes the place
 * of the rows until it is left.
 *
 * Each key is a row of the table `keys`, from which help and manual page are made.
 */
#include "command/browse/browse.h"

#ifdef HAVE_NCURSES
#include "analysis/symbols/symbols.h"
#include "base/progress.h"
#include "base/wrap.h"
#include "view/annotate/annotate.h"
#include "view/browse/browser.h"

#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A text of many lines, and its visible part. */
struct pane {
    char *text;
    size_t n_bytes;
    char **lines;
    size_t n, room, top;
    char title[160];
    bool open;
};

struct screen {
    struct pct_browser browser;
    struct pct_terminal terminal;
    size_t top; /* row of the browser that is at the top */
    struct pane pane;
    char message[256];
    regex_t pattern;
    bool has_pattern, backwards;
    bool end;
};

enum { ABOVE = 2, BELOW = 4 }; /* lines around the rows */
enum { PAIR_HOT = 1, PAIR_WARM, PAIR_OP };

static size_t rows_seen(void)
{
    return LINES > ABOVE + BELOW ? (size_t)(LINES - ABOVE - BELOW) : 1;
}

static void say(struct screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct screen *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->message, sizeof s->message, format, args);
    va_end(args);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

/* Prints a line in one style, filled to the right end. */
static void put_line(const struct screen *s, int y, const char *text, attr_t style)
{
    struct pct_buf cut = {0};
    pct_buf_put(&cut, "", 0);
    pct_text_cut(&cut, text, (size_t)COLS, s->terminal.utf8);
    move(y, 0);
    clrtoeol();
    attrset(style);
    addstr(cut.data);
    if (style & A_REVERSE)
        hline(' ' | style, COLS);
    attrset(A_NORMAL);
    pct_buf_free(&cut);
}

/* Prints the file, the run if there is room for it, and what is shown. */
static void put_title(struct screen *s)
{
    const struct pct_data *d = s->browser.d;
    const struct pc_profile *p = d->profile;
    struct pct_buf title = {0}, run = {0}, view = {0};
    char wall[PCT_NUMBER_BYTES];
    pct_buf_format(&title, " %s: ", pc_base_name(d->file));
    if (s->pane.open) {
        pct_buf_text(&view, s->pane.title);
    } else {
        pct_buf_format(&run, "%u %s, %s   ", p->n_ranks, p->n_ranks == 1 ? "rank" : "ranks",
                       pct_text_time(wall, d->totals->all.wall.max));
        pct_browser_title(&s->browser, &view);
        size_t cells =
            pct_text_cells(title.data) + pct_text_cells(run.data) + pct_text_cells(view.data);
        pct_buf_text(&title, cells <= (size_t)COLS ? run.data : "");
    }
    pct_buf_text(&title, view.data);
    put_line(s, 0, title.data, A_REVERSE);
    pct_buf_free(&title);
    pct_buf_free(&run);
    pct_buf_free(&view);
}

static attr_t heat_style(const struct screen *s, enum pct_heat heat)
{
    if (!s->terminal.color)
        return heat == PCT_HEAT_HOT ? A_BOLD : A_NORMAL;
    return heat == PCT_HEAT_HOT    ? A_BOLD | COLOR_PAIR(PAIR_HOT)
           : heat == PCT_HEAT_WARM ? COLOR_PAIR(PAIR_WARM)
                                   : A_NORMAL;
}

static void put_row(struct screen *s, int y, size_t row, bool marked)
{
    struct pct_browser_line line;
    pct_browser_line(&s->browser, row, &line);
    attr_t mark = marked ? A_REVERSE : 0;
    move(y, 0);
    clrtoeol();
    attrset(heat_style(s, line.heat) | mark);
    addstr(line.figures.data);
    attrset((line.op && s->terminal.color ? COLOR_PAIR(PAIR_OP) : A_NORMAL) | mark);
    addstr(line.name.data);
    attrset((s->terminal.color ? A_DIM : A_NORMAL) | mark);
    addstr(line.rest.data);
    if (marked && getcury(stdscr) == y)
        hline(' ' | A_REVERSE, COLS);
    attrset(A_NORMAL);
    pct_browser_line_free(&line);
}

/* Prints words on the lines reserved for them. */
static void put_details(const struct screen *s, const char *text)
{
    for (int y = LINES - BELOW + 1; y < LINES - 1; y++) {
        const char *line = text;
        struct pct_buf words = {0};
        pct_buf_put(&words, line, pc_wrap(line, (size_t)COLS, &text));
        put_line(s, y, words.data, A_NORMAL);
        pct_buf_free(&words);
    }
}

static void put_rows(struct screen *s)
{
    const struct pct_browser_tree *t = pct_browser_shown(&s->browser);
    size_t seen = rows_seen();
    struct pct_buf text = {0};
    if (t->cursor < s->top)
        s->top = t->cursor;
    if (t->cursor >= s->top + seen)
        s->top = t->cursor + 1 - seen;
    pct_browser_heads(&s->browser, &text);
    put_line(s, 1, text.data, A_BOLD);
    for (size_t i = 0; i < seen; i++) {
        if (s->top + i < t->n)
            put_row(s, ABOVE + (int)i, s->top + i, s->top + i == t->cursor);
        else
            put_line(s, ABOVE + (int)i, "", A_NORMAL);
    }
    pct_buf_clear(&text);
    pct_browser_path(&s->browser, &text);
    put_line(s, LINES - BELOW, text.data, A_BOLD);
    pct_buf_clear(&text);
    pct_browser_details(&s->browser, &text);
    put_details(s, text.n ? text.data : "");
    pct_buf_free(&text);
}

static void put_pane(struct screen *s)
{
    const struct pane *p = &s->pane;
    for (int y = 1; y < LINES - 1; y++) {
        size_t line = p->top + (size_t)y - 1;
        put_line(s, y, line < p->n ? p->lines[line] : "", A_NORMAL);
    }
}

static void draw(struct screen *s)
{
    put_title(s);
    if (s->pane.open)
        put_pane(s);
    else
        put_rows(s);
    put_line(s, LINES - 1,
             *s->message ? s->message
             : s->pane.open
                 ? "arrows move   / search   q back"
                 : "h help  q quit  arrows move, open, close  Tab view  m metric  / search  "
                   "a source",
             A_NORMAL);
    move(LINES - 1, COLS - 1);
    refresh();
}

/* ---- Panes ----------------------------------------------------------------------------------- */

static void pane_close(struct screen *s)
{
    free(s->pane.text);
    pct_free(s->pane.lines);
    s->pane = (struct pane){.open = false};
}

static FILE *pane_begin(struct screen *s)
{
    pane_close(s);
    FILE *out = open_memstream(&s->pane.text, &s->pane.n_bytes);
    if (!out)
        say(s, "not enough memory");
    return out;
}

/* Cuts the text into lines. */
static void pane_end(struct screen *s, FILE *out, const char *title)
{
    struct pane *p = &s->pane;
    if (fclose(out) || !p->text) {
        pane_close(s);
        say(s, "not enough memory");
        return;
    }
    for (char *line = p->text, *end; *line; line = end + 1) {
        p->lines = pct_grow(p->lines, p->n, &p->room, sizeof *p->lines);
        p->lines[p->n++] = line;
        if (!(end = strchr(line, '\n')))
            break;
        *end = '\0';
    }
    pct_text_format(p->title, sizeof p->title, "%s", title);
    p->open = true;
}

/* A match near the end is at the top, below the last screen: from there no key for the way down
 * moves up. */
static void pane_move(struct pane *p, long lines)
{
    size_t seen = LINES > 2 ? (size_t)LINES - 2 : 1, last = p->n > seen ? p->n - seen : 0;
    if (lines < 0)
        p->top -= p->top < (size_t)-lines ? p->top : (size_t)-lines;
    else if (p->top < last)
        p->top = p->top + (size_t)lines > last ? last : p->top + (size_t)lines;
}

static bool pane_find(struct screen *s, bool backwards)
{
    struct pane *p = &s->pane;
    for (size_t k = 1; k <= p->n; k++) {
        size_t i = (p->top + (backwards ? p->n - k : k)) % p->n;
        if (!regexec(&s->pattern, p->lines[i], 0, NULL, 0)) {
            p->top = i;
            return true;
        }
    }
    return false;
}

/* Moves a pane of source to this line of the file, which is found by the number before it. */
static void pane_go_to_line(struct pane *p, uint32_t line)
{
    char number[16];
    pct_text_format(number, sizeof number, " %u  ", line);
    for (size_t i = 0; line && i < p->n; i++)
        if (strstr(p->lines[i], number)) {
            pane_move(p, (long)i - LINES / 2);
            return;
        }
}

static void show_code(struct screen *s, bool assembly)
{
    uint32_t line;
    const char *function = pct_browser_function(&s->browser, &line);
    struct pc_error error = {""};
    char title[160];
    if (!function) {
        say(s, "this row has no function whose name is known");
        return;
    }
    struct pct_annotate a = {.data = s->browser.d,
                             .function = function,
                             .around = 3,
                             .width = (size_t)COLS,
                             .utf8 = s->terminal.utf8};
    FILE *out = pane_begin(s);
    if (!out)
        return;
    bool any = assembly ? !pct_annotate_assembly(out, &a, &error) : pct_annotate_source(out, &a);
    pct_text_format(title, sizeof title, "%s of %s", assembly ? "instructions" : "source",
                    function);
    pane_end(s, out, title);
    if (any) {
        pane_go_to_line(&s->pane, assembly ? 0 : line);
        return;
    }
    pane_close(s);
    say(s, "%s",
        *error.text ? error.text : "no line with figures is known there: was it compiled with -g?");
}

/* ---- Actions of keys ------------------------------------------------------------------------- */

static void move_by(struct screen *s, long n)
{
    if (s->pane.open)
        pane_move(&s->pane, n);
    else
        pct_browser_move(&s->browser, n);
}

static void do_up(struct screen *s)
{
    move_by(s, -1);
}

static void do_down(struct screen *s)
{
    move_by(s, 1);
}

static void do_page_up(struct screen *s)
{
    move_by(s, -(long)rows_seen());
}

static void do_page_down(struct screen *s)
{
    move_by(s, (long)rows_seen());
}

static void do_first(struct screen *s)
{
    move_by(s, -1000000000);
}

static void do_last(struct screen *s)
{
    move_by(s, 1000000000);
}

static void do_expand(struct screen *s)
{
    pct_browser_expand(&s->browser);
}

static void do_collapse(struct screen *s)
{
    pct_browser_collapse(&s->browser);
}

static void do_toggle(struct screen *s)
{
    const struct pct_browser_row *row = pct_browser_at(&s->browser);
    if (row && row->open)
        pct_browser_collapse(&s->browser);
    else
        pct_browser_expand(&s->browser);
}

static void do_expand_all(struct screen *s)
{
    pct_browser_expand_all(&s->browser);
}

static void do_collapse_all(struct screen *s)
{
    pct_browser_collapse_all(&s->browser);
}

static void do_view(struct screen *s)
{
    s->top = 0;
    s->browser.view = (s->browser.view + 1) % PCT_BROWSER_N_VIEWS;
}

static void do_metric(struct screen *s)
{
    s->top = 0;
    pct_browser_next_metric(&s->browser);
}

static void do_names(struct screen *s)
{
    s->browser.options.full_names = !s->browser.options.full_names;
    say(s, "C++ names %s", s->browser.options.full_names ? "with all arguments" : "shortened");
}

static void do_source(struct screen *s)
{
    show_code(s, false);
}

static void do_assembly(struct screen *s)
{
    show_code(s, true);
}

static void do_ranks(struct screen *s)
{
    FILE *out = pane_begin(s);
    struct pct_buf path = {0};
    if (!out)
        return;
    pct_browser_ranks(&s->browser, out);
    pct_browser_path(&s->browser, &path);
    pane_end(s, out, path.data);
    pct_buf_free(&path);
}

static void do_summary(struct screen *s)
{
    struct pct_options o = s->browser.options;
    const struct pct_data *d = s->browser.d;
    FILE *out = pane_begin(s);
    if (!out)
        return;
    o.width = (size_t)COLS;
    pct_print_head(out, d, &o);
    pane_end(s, out, "summary");
}

static void find(struct screen *s, bool backwards)
{
    if (!s->has_pattern)
        say(s, "no search yet: press /");
    else if (!(s->pane.open ? s->pane.n && pane_find(s, backwards)
                            : pct_browser_find(&s->browser, &s->pattern, backwards)))
        say(s, "not found");
}

static void do_next(struct screen *s)
{
    find(s, false);
}

static void do_previous(struct screen *s)
{
    find(s, true);
}

/* Reads an expression on the last line. */
static void do_search(struct screen *s)
{
    char text[128] = "", why[128];
    put_line(s, LINES - 1, "/", A_NORMAL);
    move(LINES - 1, 1);
    echo();
    curs_set(1);
    int status = getnstr(text, sizeof text - 1);
    curs_set(0);
    noecho();
    if (status == ERR || !*text)
        return;
    if (s->has_pattern)
        regfree(&s->pattern);
    int err = regcomp(&s->pattern, text, REG_EXTENDED | REG_NOSUB | REG_ICASE);
    s->has_pattern = !err;
    if (err) {
        regerror(err, &s->pattern, why, sizeof why);
        say(s, "%s: %s", text, why);
    } else {
        find(s, false);
    }
}

static void do_quit(struct screen *s)
{
    if (s->pane.open)
        pane_close(s);
    else
        s->end = true;
}

static void do_help(struct screen *s);

enum { ESCAPE = 27, TAB = 9, NEWLINE = 10, CTRL_L = 12 };

static void do_draw(struct screen *s)
{
    (void)s;
    clearok(stdscr, TRUE);
}

static const struct key {
    int keys[4];
    const char *name, *doc;
    void (*act)(struct screen *s);
    bool rows; /* not on a pane */
} keys[] = {
    {{KEY_UP, 'k'}, "Up, k", "to the row above", do_up},
    {{KEY_DOWN, 'j'}, "Down, j", "to the row below", do_down},
    {{KEY_PPAGE, 'b'}, "PageUp, b", "a screen up", do_page_up},
    {{KEY_NPAGE, ' ', 'f'}, "PageDown, Space, f", "a screen down", do_page_down},
    {{KEY_HOME, 'g', '<'}, "Home, g", "to the first row", do_first},
    {{KEY_END, 'G', '>'}, "End, G", "to the last row", do_last},
    {{KEY_RIGHT, 'l'}, "Right, l", "open the row, down to the next branch", do_expand, true},
    {{KEY_LEFT}, "Left", "close the row, or go to the one that it belongs to", do_collapse, true},
    {{NEWLINE, KEY_ENTER, '+'}, "Enter, +", "open the row or close it", do_toggle, true},
    {{'E'}, "E", "open all rows", do_expand_all, true},
    {{'C'}, "C", "close all rows", do_collapse_all, true},
    {{TAB, 'v'}, "Tab, v", "contexts, or functions with their callers", do_view, true},
    {{'m'}, "m", "the next figure: time, calls, bytes sent, bytes received", do_metric, true},
    {{'/'}, "/", "search for a regular expression, in closed rows too", do_search},
    {{'n'}, "n", "the next match", do_next},
    {{'N'}, "N", "the match before", do_previous},
    {{'a'}, "a", "the source of the row's function with figures", do_source},
    {{'A'}, "A", "its instructions with figures", do_assembly},
    {{'r'}, "r", "the figures of each rank", do_ranks, true},
    {{'s'}, "s", "the summary of the run, with the findings", do_summary},
    {{'F'}, "F", "C++ names with all arguments, or shortened", do_names, true},
    {{'h', '?', KEY_F(1)}, "h, ?, F1", "these keys", do_help},
    {{CTRL_L}, "Ctrl-L", "redraw the screen", do_draw},
    {{'q', ESCAPE}, "q, Esc", "leave a text; in the tree, end", do_quit},
};

bool pct_browse_key(size_t i, const char **name_out, const char **doc_out)
{
    if (i >= PC_ARRAY_LEN(keys))
        return false;
    *name_out = keys[i].name;
    *doc_out = keys[i].doc;
    return true;
}

static void do_help(struct screen *s)
{
    FILE *out = pane_begin(s);
    if (!out)
        return;
    for (size_t i = 0; i < PC_ARRAY_LEN(keys); i++)
        fprintf(out, "  %-20s %s\n", keys[i].name, keys[i].doc);
    fputs("\nA row is a function with all that it calls: its share, its time in MPI, and its\n"
          "CPU time outside of MPI with the 95 % interval. + is a row that can be opened,\n"
          "- one that is open. FUNCTION  FILE:LINE: where the function was called.\n",
          out);
    pane_end(s, out, "keys");
}

static void take_key(struct screen *s, int key)
{
    *s->message = '\0';
    if (key == KEY_RESIZE) {
        pct_browser_set_width(&s->browser, (size_t)COLS);
        return;
    }
    for (size_t i = 0; i < PC_ARRAY_LEN(keys); i++)
        for (size_t k = 0; k < PC_ARRAY_LEN(keys[i].keys); k++)
            if (keys[i].keys[k] == key && !(keys[i].rows && s->pane.open)) {
                keys[i].act(s);
                return;
            }
    say(s, "this key does nothing here; h lists the keys");
}

/* ---- From begin to end ----------------------------------------------------------------------- */

static void leave(void)
{
    if (!isendwin())
        endwin();
}

/* Opens the screen. The locale is set already, when the terminal was examined. */
static bool enter(struct screen *s)
{
    if (!newterm(NULL, stdout, stdin))
        return false;
    atexit(leave);
    pc_progress_listener = NULL; /* its lines would overwrite the rows */
    set_escdelay(25);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    s->terminal.color = s->terminal.color && has_colors();
    if (s->terminal.color) {
        start_color();
        use_default_colors();
        init_pair(PAIR_HOT, COLOR_RED, -1);
        init_pair(PAIR_WARM, COLOR_YELLOW, -1);
        init_pair(PAIR_OP, COLOR_CYAN, -1);
    }
    return true;
}

/* The next key; ERR: the terminal is gone. ncurses checks for a change of size before it reads: one
 * that comes in between would be seen only at the next key, so it checks again each half second. */
static int next_key(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    int key;
    timeout(500);
    do {
        key = getch();
        poll(&in, 1, 0);
    } while (key == ERR && !(in.revents & (POLLHUP | POLLERR | POLLNVAL)));
    timeout(-1);
    return key;
}

int pct_browse_show(const struct pct_command *self, const struct pct_data *d)
{
    struct screen s = {.terminal = pct_terminal_look()};
    if (!enter(&s)) {
        pct_say(self,
                "ncurses does not know this terminal: set TERM to one that it knows, as xterm");
        return PCT_DATA;
    }
    pct_browser_open(&s.browser, d, (size_t)COLS, s.terminal.utf8);
    while (!s.end) {
        draw(&s);
        int key = next_key();
        if (key == ERR)
            break;
        take_key(&s, key);
    }
    leave();
    pane_close(&s);
    if (s.has_pattern)
        regfree(&s.pattern);
    pct_browser_close(&s.browser);
    return PCT_DONE;
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Properties of the output: its columns, character set and colours, and whether messages go to a
 * terminal. Also a screen that is redrawn while keys are read.
 */
#include "command/command.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { LEAST_COLUMNS = 20, MOST_COLUMNS = 10000, DEFAULT_COLUMNS = 100 };
enum color { AUTO, ALWAYS, NEVER }; /* in the order of PCT_OPTION_COLOR */

/* Options of the command line; global like the state of getopt. */
static uint64_t asked_width;
static enum color asked_color;

int pct_terminal_take(const struct pct_command *self, const struct pct_option *o, const char *value)
{
    if (o->letter == PCT_LETTER_WIDTH)
        return pct_value_number(self, o, value, 1, 1000000, &asked_width);
    asked_color = (enum color)pct_value_word(o, value);
    return PCT_DONE;
}

static bool is_plain(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return (no_color && *no_color) || (term && !strcmp(term, "dumb"));
}

static size_t find_width(int fd)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    unsigned long n = columns ? strtoul(columns, NULL, 10) : 0;
    if (n >= LEAST_COLUMNS && n <= MOST_COLUMNS)
        return n;
    if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= LEAST_COLUMNS)
        return size.ws_col;
    return DEFAULT_COLUMNS;
}

/* True if output is UTF-8. The locale is used only for characters, never for numbers. */
static bool is_utf8(void)
{
    setlocale(LC_CTYPE, "");
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

bool pct_terminal_is_there(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool pct_terminal_shows_messages(void)
{
    return isatty(STDERR_FILENO);
}

struct pct_terminal pct_terminal_look_at(int fd)
{
    bool terminal = isatty(fd);
    return (struct pct_terminal){
        .width = asked_width ? asked_width : find_width(fd),
        .cut = terminal || asked_width,
        .utf8 = is_utf8(),
        .color = asked_color == ALWAYS || (asked_color == AUTO && terminal && !is_plain()),
    };
}

struct pct_terminal pct_terminal_look(void)
{
    return pct_terminal_look_at(STDOUT_FILENO);
}

/* ---- A screen -------------------------------------------------------------------------------- */

static struct termios before;
static bool screen_is_open;
static volatile sig_atomic_t resized;

/* The alternate screen, without a cursor. A line that is too long is not continued on the next,
 * which would scroll the first one away. */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static void put(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

static void note_size(int signal)
{
    (void)signal;
    resized = 1;
}

/* Lets a change of size arrive only while a key is waited for: none is missed. */
static void catch_size(void)
{
    const struct sigaction action = {.sa_handler = note_size};
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGWINCH);
    sigprocmask(SIG_BLOCK, &size, NULL);
    sigaction(SIGWINCH, &action, NULL);
}

bool pct_screen_open(void)
{
    const char *term = getenv("TERM");
    if (!pct_terminal_is_there() || !term || !strcmp(term, "dumb") ||
        tcgetattr(STDIN_FILENO, &before))
        return false;
    struct termios keys = before;
    keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    keys.c_cc[VSUSP] = _POSIX_VDISABLE; /* the shell would appear on this screen */
    if (tcsetattr(STDIN_FILENO, TCSANOW, &keys))
        return false;
    atexit(pct_screen_close);
    catch_size();
    screen_is_open = true;
    put(ENTER);
    return true;
}

size_t pct_screen_lines(void)
{
    struct winsize size;
    return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row ? size.ws_row : 24;
}

/* Draws lines over the old ones, each of which is erased before. Behind a line of the whole width
 * the cursor is still at its last character, which would be erased. */
void pct_screen_draw(const char *text)
{
    put("\033[H");
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        fputs("\033[K", stdout);
        fwrite(text, 1, (size_t)(end - text), stdout);
        fputs("\r\n", stdout);
    }
    fputs("\033[J", stdout);
    put(text);
}

int pct_screen_key(uint64_t ns)
{
    const struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char key;
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, SIGWINCH);
    int n = ppoll(&p, 1, &most, &mask);
    if (resized) {
        resized = 0;
        return PCT_SCREEN_RESIZED;
    }
    if (n <= 0)
        return 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : -1;
}

void pct_screen_close(void)
{
    if (!screen_is_open)
        return;
    screen_is_open = false;
    put(LEAVE);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

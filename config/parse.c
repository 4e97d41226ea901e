/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Configuration files:
 *
 *     # a comment
 *     [section]
 *     key = value       # "#" after a blank begins a comment
 *     key = "a # value" # in double quotes it does not
 *
 * Lines end with LF or CRLF; the last one may have no end. The file is read through a buffer of
 * fixed size on the stack; any content leads to values or to one message.
 */
#include "base/nearest.h"
#include "config/config_private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES 2048

struct reader {
    int fd;
    unsigned line; /* number of the line that was read last, from 1 */
    size_t at, have;
    size_t total; /* bytes taken from the file */
    char chunk[1024];
};

enum line_state {
    LINE_OK,
    LINE_END,      /* no more lines */
    LINE_LONG,     /* too long: the text has its beginning */
    LINE_NUL,      /* has a NUL byte */
    LINE_TOO_MANY, /* the file is larger than PC_CONFIG_FILE_BYTES */
    LINE_ERROR     /* read failed: errno has the reason */
};

/* Settings of a file so far. */
struct parser {
    struct pc_config *c;
    const char *path;
    struct pc_error *error;
    unsigned line;
    char section[32];                     /* empty before the first header */
    unsigned seen[PC_CONFIG_MAX_OPTIONS]; /* line on which the option was set, or 0 */
};

/* ---- Lines ---------------------------------------------------------------------------------- */

/* The next byte, or -1 at the end, -2 on failure. */
static int next_byte(struct reader *r)
{
    if (r->at == r->have) {
        ssize_t n;
        do
            n = pc_file_read(r->fd, r->chunk, sizeof r->chunk);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
            return n < 0 ? -2 : -1;
        r->at = 0;
        r->have = (size_t)n;
        r->total += (size_t)n;
    }
    return (unsigned char)r->chunk[r->at++];
}

static enum line_state read_line(struct reader *r, char line[LINE_BYTES])
{
    size_t n = 0;
    enum line_state state = LINE_OK;
    int byte = next_byte(r);
    if (byte == -1)
        return LINE_END;
    r->line++;
    for (; byte >= 0 && byte != '\n'; byte = next_byte(r)) {
        if (r->total > PC_CONFIG_FILE_BYTES)
            return LINE_TOO_MANY;
        if (byte == '\0')
            state = LINE_NUL;
        else if (n + 1 < LINE_BYTES)
            line[n++] = (char)byte;
        else if (state == LINE_OK)
            state = LINE_LONG;
    }
    if (n && line[n - 1] == '\r')
        n--;
    line[n] = '\0';
    return byte == -2 ? LINE_ERROR : state;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* Texts of the usual errors. libc's own texts may allocate memory for a translation. */
static const char *system_reason(int number)
{
    switch (number) {
    case ENOENT:
        return "there is no such file";
    case EACCES:
    case EPERM:
        return "permission denied";
    case ENOTDIR:
        return "a part of the path is not a folder";
    case EISDIR:
        return "it is a folder";
    case ENAMETOOLONG:
        return "the path is too long";
    case ELOOP:
        return "too many symbolic links";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    case EIO:
        return "input/output error";
    default:
        return "the system refused";
    }
}

/* Sets "file:line: reason". */
static int refuse(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int refuse(struct parser *p, const char *format, ...)
{
    char reason[sizeof p->error->text];
    va_list args;
    va_start(args, format);
    pc_vformat(reason, sizeof reason, format, args);
    va_end(args);
    return pc_error_set(p->error, PC_EARG, "%s:%u: %s", p->path, p->line, reason);
}

static int refuse_section(struct parser *p, const char *name)
{
    char shown[PC_SHOWN_BYTES], known[128];
    const char *sections[PC_CONFIG_MAX_OPTIONS];
    size_t n = 0;
    const char *nearest = "";
    unsigned best = PC_FAR;
    for (unsigned i = 0; i < pc_n_options; i++) {
        const char *section = pc_options[i].section;
        unsigned d = pc_distance(name, section);
        if (d < best) {
            best = d;
            nearest = section;
        }
        if (!n || strcmp(section, sections[n - 1]) != 0)
            sections[n++] = section;
    }
    pc_config_shown(name, shown);
    if (pc_is_near(best, strlen(name)))
        return refuse(p, "unknown section [%s]: did you mean [%s]?", shown, nearest);
    pc_words_text(sections, n, known, sizeof known);
    return refuse(p,
                  "unknown section [%s]: there are %s; `pcollect config --template` lists all keys",
                  shown, known);
}

/* The option whose key is nearest, first in `section`, then anywhere; the distance goes to *d_out.
 */
static const struct pc_option *nearest_key(const char *section, const char *key, unsigned *d_out)
{
    const struct pc_option *best = &pc_options[0];
    *d_out = PC_FAR + 1;
    for (unsigned i = 0; i < pc_n_options; i++) {
        unsigned elsewhere = strcmp(pc_options[i].section, section) != 0;
        unsigned d = pc_distance(key, pc_options[i].key);
        if (2 * d + elsewhere < *d_out) {
            *d_out = 2 * d + elsewhere;
            best = &pc_options[i];
        }
    }
    *d_out /= 2;
    return best;
}

static int refuse_key(struct parser *p, const char *key)
{
    char shown[PC_SHOWN_BYTES];
    unsigned d;
    const struct pc_option *o = nearest_key(p->section, key, &d);
    pc_config_shown(key, shown);
    if (*p->section == '\0')
        return refuse(p, "key \"%s\" stands before the first section: put a line [%s] above it",
                      shown, pc_is_near(d, strlen(key)) ? o->section : "section");
    if (!pc_is_near(d, strlen(key)))
        return refuse(p,
                      "unknown key \"%s\" in [%s]; the nearest is \"%s\" in [%s]; "
                      "`pcollect config --template` lists all keys",
                      shown, p->section, o->key, o->section);
    if (strcmp(o->section, p->section) == 0)
        return refuse(p, "unknown key \"%s\" in [%s]: did you mean \"%s\"?", shown, p->section,
                      o->key);
    return refuse(p, "unknown key \"%s\" in [%s]: did you mean \"%s\" in [%s]?", shown, p->section,
                  o->key, o->section);
}

/* ---- Lines into options --------------------------------------------------------------------- */

/* Removes blanks at both ends, in place. */
static char *trim(char *text)
{
    while (pc_is_blank(*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && pc_is_blank(end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* Removes the comment; a quoted part may contain "#". */
static void cut_comment(char *text)
{
    bool quoted = false;
    for (char *p = text; *p; p++) {
        if (*p == '"')
            quoted = !quoted;
        if (*p == '#' && !quoted && (p == text || pc_is_blank(p[-1]))) {
            *p = '\0';
            return;
        }
    }
}

/* Removes the quotes, if there are any. NULL: the closing one is missing or not at the end. */
static char *unquote(char *value)
{
    if (*value != '"')
        return value;
    size_t n = strlen(value);
    if (n < 2 || strchr(value + 1, '"') != value + n - 1)
        return NULL;
    value[n - 1] = '\0';
    return value + 1;
}

static int take_header(struct parser *p, char *text)
{
    char shown[PC_SHOWN_BYTES];
    size_t n = strlen(text);
    if (text[n - 1] != ']')
        return refuse(p, "\"%s\" %s: write [section]", pc_config_shown(text, shown),
                      strchr(text, ']') ? "has text after the closing bracket"
                                        : "has no closing bracket");
    text[n - 1] = '\0';
    char *name = trim(text + 1);
    for (unsigned i = 0; i < pc_n_options; i++)
        if (strcmp(pc_options[i].section, name) == 0) {
            pc_format(p->section, sizeof p->section, "%s", name);
            return PC_OK;
        }
    return refuse_section(p, name);
}

static int take_line(struct parser *p, char *line)
{
    char shown[PC_SHOWN_BYTES];
    struct pc_error why;
    cut_comment(line);
    char *text = trim(line);
    if (*text == '\0')
        return PC_OK;
    if (*text == '[')
        return take_header(p, text);
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return refuse(p, "\"%s\" is neither [section] nor key = value",
                      pc_config_shown(text, shown));
    *equals = '\0';
    char *key = trim(text), *value = unquote(trim(equals + 1));
    int i = pc_option_find(p->section, key);
    if (!*key)
        return refuse(p, "there is no key before \"=\": write key = value");
    if (i < 0)
        return refuse_key(p, key);
    if (p->seen[i])
        return refuse(p, "\"%s\" in [%s] is given twice, first on line %u: remove one", key,
                      p->section, p->seen[i]);
    if (value == NULL)
        return refuse(p, "%s: the closing quote is missing or not at the end", key);
    if (pc_option_parse(&pc_options[i], value, p->c, &why))
        return refuse(p, "%s: %s", key, why.text);
    p->seen[i] = p->line;
    p->c->origin[i] = PC_CONFIG_FILE;
    p->c->line[i] = p->line;
    return PC_OK;
}

static bool is_comment(const char *line)
{
    while (pc_is_blank(*line))
        line++;
    return *line == '#';
}

static int read_lines(struct parser *p, struct reader *r)
{
    char line[LINE_BYTES];
    for (;;) {
        enum line_state state = read_line(r, line);
        bool marked = r->line == 1 && (state == LINE_OK || state == LINE_LONG) &&
                      strncmp(line, "\xef\xbb\xbf", 3) == 0;
        char *text = line + (marked ? 3 : 0);
        int err = PC_OK;
        p->line = r->line;
        switch (state) {
        case LINE_END:
            return PC_OK;
        case LINE_LONG:
            if (!is_comment(text))
                err = refuse(p, "the line is longer than %d bytes", LINE_BYTES - 2);
            break;
        case LINE_NUL:
            err = refuse(p, "a NUL byte: this is not a text file");
            break;
        case LINE_TOO_MANY:
            err = refuse(p, "the file is larger than %u KiB: this is not a configuration file",
                         PC_CONFIG_FILE_BYTES / 1024);
            break;
        case LINE_ERROR:
            return pc_error_set(p->error, PC_EIO, "%s: cannot be read: %s", p->path,
                                system_reason(errno));
        case LINE_OK:
            err = take_line(p, text);
        }
        if (err)
            return err;
    }
}

int pc_config_read(struct pc_config *c, const char *path, const char *named_by,
                   struct pc_error *error)
{
    struct reader r = {.fd = pc_file_open(AT_FDCWD, path, O_RDONLY | O_NOCTTY | O_NONBLOCK)};
    struct parser p = {.c = c, .path = path, .error = error};
    struct stat st;
    if (r.fd < 0)
        return pc_error_set(error, errno == ENOENT ? PC_ENOENT : PC_EIO,
                            "%s: cannot be opened: %s; it is named by %s", path,
                            system_reason(errno), named_by);
    int err;
    /* A pipe is refused: the next rank could not read it again, and reading may block. */
    if (fstat(r.fd, &st) != 0 || !S_ISREG(st.st_mode))
        err = pc_error_set(error, PC_EARG, "%s: is not a regular file; it is named by %s", path,
                           named_by);
    else
        err = read_lines(&p, &r);
    pc_file_close(r.fd);
    if (err == PC_OK)
        pc_format(c->file, sizeof c->file, "%s", path);
    return err;
}

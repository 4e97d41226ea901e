/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing of pages to files.
 */
#include "command/command.h"
#include "command/html.h"
#include "view/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if nothing is lost when this file is replaced. */
static bool may_replace(const char *path)
{
    char begin[sizeof PCT_PAGE_BEGIN] = "";
    struct stat st;
    if (lstat(path, &st))
        return errno == ENOENT;
    FILE *f = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    if (!f)
        return false;
    size_t n = fread(begin, 1, sizeof begin - 1, f);
    fclose(f);
    return n == sizeof begin - 1 && !strcmp(begin, PCT_PAGE_BEGIN);
}

static int fail(const struct pct_command *self, const char *path)
{
    pct_say(self, "%s: %s", path, strerror(errno));
    return PCT_DATA;
}

int pct_html_write(const struct pct_command *self, const char *to,
                   void (*put)(FILE *out, const void *subject), const void *subject)
{
    if (!may_replace(to)) {
        pct_say(self, "%s exists and is not a page of pcollect html: name another file with -o",
                to);
        return PCT_CALL;
    }
    char *under = pct_text("%s.%ld.tmp", to, (long)getpid());
    FILE *out = fopen(under, "wxe");
    int status = PCT_DONE;
    if (!out) {
        status = fail(self, under);
        free(under);
        return status;
    }
    put(out, subject);
    bool bad = ferror(out) != 0;
    if ((fclose(out) || bad || rename(under, to)) && (status = fail(self, to)))
        remove(under);
    free(under);
    return status;
}

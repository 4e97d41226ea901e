/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing of pages to files.
 */
#include "command/command.h"
#include "command/html.h"
#include "command/whole_file.h"
#include "view/page.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* True if the file may be replaced: it does not exist, or is a page. */
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

int pct_html_write(const struct pct_command *self, const char *to,
                   void (*put)(FILE *out, const void *subject), const void *subject)
{
    if (pct_is_standard_output(to)) {
        put(stdout, subject);
        return PCT_DONE;
    }
    struct pct_whole_file file;
    if (!pct_whole_file_open(&file, self, to, true))
        return PCT_DATA;
    if (!file.sink && !may_replace(to)) {
        pct_say(self, "%s exists and is not a page of pcollect html: name another file with -o",
                to);
        pct_whole_file_close(&file, false);
        return PCT_CALL;
    }
    put(file.out, subject);
    return pct_whole_file_close(&file, true) ? PCT_DONE : PCT_DATA;
}

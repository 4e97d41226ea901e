/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finds the separate debug information of a file on this machine: by build-id below /usr/lib/debug,
 * then by the name in the file's .gnu_debuglink, beside the file, in .debug there, and below
 * /usr/lib/debug. libdwfl's own search finally asks the servers of DEBUGINFOD_URLS, which only the
 * environment could prevent: so it is used only if servers are allowed.
 *
 * No function here allocates with pct_alloc, which may leave libdwfl by longjmp.
 */
#include "config.h"

#include "analysis/buffer.h"
#include "analysis/symbols/dw_private.h"
#include "analysis/symbols/file_names.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The checksum of .gnu_debuglink, which is that of IEEE 802.3, of all bytes of a file. */
static bool has_checksum(int fd, uint32_t wanted)
{
    uint32_t table[256], sum = 0xffffffff;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    uint8_t piece[16384];
    off_t at = 0;
    ssize_t n;
    for (; (n = pread(fd, piece, sizeof piece, at)) > 0; at += n)
        for (ssize_t i = 0; i < n; i++)
            sum = sum >> 8 ^ table[(sum ^ piece[i]) & 0xff];
    return !n && ~sum == wanted;
}

/* True if the file belongs to the module: by build-id if the module has one, else by checksum. */
static bool belongs(int fd, Dwfl_Module *module, uint32_t checksum)
{
    const unsigned char *wanted;
    GElf_Addr where;
    int n = dwfl_module_build_id(module, &wanted, &where);
    if (n <= 0)
        return has_checksum(fd, checksum);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *id;
    bool same = elf && dwelf_elf_gnu_build_id(elf, &id) == n && !memcmp(id, wanted, (size_t)n);
    elf_end(elf);
    return same;
}

/* The file `link` that belongs to the module, in the folder of `file`, or where debug information
 * is installed: a descriptor and its path; -1: not found. */
static int find_beside(Dwfl_Module *module, const char *file, const char *link, uint32_t checksum,
                       char **path_out)
{
    static const char *const places[][2] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
    const char *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file) : 1;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char path[PATH_MAX];
        pct_text_format(path, sizeof path, "%s%.*s%s/%s", places[i][0], folder, slash ? file : ".",
                        places[i][1], link);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && belongs(fd, module, checksum) && (*path_out = realpath(path, NULL)))
            return fd; /* libdwfl frees the path */
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

int pct_dw_find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word checksum, char **path_out)
{
    return pct_symbols_may_ask_servers()
               ? dwfl_standard_find_debuginfo(module, user, name, base, file, link, checksum,
                                              path_out)
               : pct_file_names_find_debug(module, user, name, base, file, link, checksum,
                                           path_out);
}

int pct_file_names_find_debug(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                              const char *file, const char *link, GElf_Word checksum,
                              char **path_out)
{
    int fd = dwfl_build_id_find_debuginfo(module, user, name, base, file, link, checksum, path_out);
    if (fd >= 0 || !file || !link)
        return fd;
    fd = find_beside(module, file, link, checksum, path_out);
    char real[PATH_MAX];
    if (fd < 0 && realpath(file, real) && strcmp(real, file) != 0)
        fd = find_beside(module, real, link, checksum, path_out);
    return fd;
}

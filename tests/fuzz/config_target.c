/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bytes of a configuration file, and the same lines as variables of the environment.
 */
#include "tests/fuzz/fuzz.h"

#include "config/config_private.h"

#include <string.h>

const enum fuzz_kind fuzz_kind = FUZZ_CONFIG;

/* An accepted file can be written and read again, and has the same values. */
static void print_and_parse(const struct pc_config *c)
{
    for (size_t i = 0; i < pc_n_options; i++) {
        const struct pc_option *o = &pc_options[i];
        struct pc_config again = *c;
        struct pc_error why = {0};
        char text[PC_CONFIG_TEXT_BYTES + 3], second[sizeof text];
        pc_option_print(o, c, text, sizeof text);
        size_t n = strlen(text);
        if (n >= 2 && text[0] == '"') { /* the parser of lines takes the quotes off */
            memmove(text, text + 1, n - 2);
            text[n - 2] = '\0';
        }
        if (!text[0])
            continue;
        FUZZ_REQUIRE(!pc_option_parse(o, text, &again, &why), "[%s] %s: printed '%s': %s",
                     o->section, o->key, text, why.text);
        pc_option_print(o, &again, second, sizeof second);
        pc_option_print(o, c, text, sizeof text);
        FUZZ_REQUIRE(!strcmp(text, second), "[%s] %s: '%s' is '%s' again", o->section, o->key, text,
                     second);
    }
}

static void read_file(const uint8_t *data, size_t n)
{
    static struct pc_config c;
    struct pc_error error = {0};
    int fd;
    const char *path = fuzz_file(data, n, &fd);
    if (pc_config_load_file(&c, path, &error))
        FUZZ_REQUIRE(error.text[0], "refused without a reason");
    else
        print_and_parse(&c);
    fuzz_file_close(fd);
}

static void read_environment(const uint8_t *data, size_t n)
{
    static struct pc_config c;
    struct pc_error error = {0};
    char *copy = malloc(n + 1), *lines[64], *rest = copy;
    size_t n_lines = 0;
    memcpy(copy, data, n);
    copy[n] = '\0';
    for (char *line; n_lines < 63 && (line = strsep(&rest, "\n"));)
        lines[n_lines++] = line;
    lines[n_lines] = NULL;
    pc_config_defaults(&c);
    if (pc_config_read_environment(&c, lines, &error))
        FUZZ_REQUIRE(error.text[0], "refused without a reason");
    else
        print_and_parse(&c);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    read_file(data, n);
    read_environment(data, n);
    return 0;
}

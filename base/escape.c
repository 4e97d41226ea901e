/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts on one line: see escape.h. Used by libpcol and libpccount; the command escapes what it
 * prints by itself (analysis/buffer.h), and more than this.
 */
#include "base/escape.h"
#include "base/base.h"

/* Bytes of the control character that a text begins with, 2 for those of C1 in UTF-8; 0: none. */
static size_t control_bytes(const unsigned char *u)
{
    if (u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0)
        return 2;
    return u[0] < ' ' || u[0] == 0x7f;
}

static size_t put_escape(char *out, unsigned char c)
{
    const char *digits = "0123456789abcdef";
    char letter = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 'x';
    size_t n = 0;
    out[n++] = '\\';
    out[n++] = letter;
    if (letter == 'x') {
        out[n++] = digits[c >> 4];
        out[n++] = digits[c & 15];
    }
    return n;
}

void pc_escape_line(char out[PC_LINE_BYTES], const char *text)
{
    char whole[4 * PC_LINE_BYTES + 8];
    size_t at = 0;
    for (size_t i = 0; text[i] && i < PC_LINE_BYTES;) {
        size_t controls = control_bytes((const unsigned char *)text + i);
        for (size_t k = 0; k < controls; k++)
            at += put_escape(whole + at, (unsigned char)text[i + k]);
        if (!controls)
            whole[at++] = text[i];
        i += controls ? controls : 1;
    }
    whole[at] = '\0';
    struct pc_error line = {""};
    pc_error_set(&line, PC_OK, "%s", whole);
    memcpy(out, line.text, PC_LINE_BYTES);
}

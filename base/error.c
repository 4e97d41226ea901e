/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Error codes and error texts.
 */
#include "base/base.h"

const char *pc_err_text(int err)
{
    switch (err) {
    case PC_OK:
        return "done";
    case PC_ENOMEM:
        return "not enough memory";
    case PC_EIO:
        return "the system refused";
    case PC_EFORMAT:
        return "the data is damaged";
    case PC_EVERSION:
        return "written by a newer version";
    case PC_EARG:
        return "wrong argument";
    case PC_ENOENT:
        return "not found";
    case PC_EMISMATCH:
        return "the inputs do not belong together";
    default:
        return "unknown error";
    }
}

int pc_error_set(struct pc_error *e, int err, const char *format, ...)
{
    if (e) {
        va_list args;
        va_start(args, format);
        pc_vformat_ends(e->text, sizeof e->text, format, args);
        va_end(args);
    }
    return err;
}

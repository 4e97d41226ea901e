# SPDX-License-Identifier: BSD-3-Clause
# Blanks comments, strings and character constants of C; prints FILE:LINE: before each line. Include lines keep
# their file name.
FNR == 1 { inside = 0 }
{ place = FILENAME ":" FNR ":" }
/^[ \t]*#[ \t]*include/ && !inside { print place $0; next }
{
    out = ""
    n = length($0)
    for (i = 1; i <= n; i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (inside) {
            if (two == "*/") { inside = 0; i++ }
        } else if (two == "/*") {
            inside = 1
            i++
        } else if (two == "//") {
            break
        } else if (c == "\"" || c == "'") {
            for (i++; i <= n && substr($0, i, 1) != c; i++)
                if (substr($0, i, 1) == "\\")
                    i++
            out = out " "
        } else {
            out = out c
        }
    }
    print place out
}

# SPDX-License-Identifier: BSD-3-Clause
# Follows a page of doc/howto: applies its blocks of code to the files of the tree `top`, in the order of the
# page, and writes its commands to `commands`. What stands before a block says what is done with it:
#
#     New file `PATH`:
#     In `PATH`, behind the line `LINE`:        (or: before the line)
#     Run in the build folder:    (the last two words are a link to CONTRIBUTING.md, where the first commands are)
#
# The line must be in the file once. A page that cannot be followed is reported on standard error, with
# status 1.
function wrong(text) {
    print FILENAME ":" FNR ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

# The n-th text in backquotes; a LINE must not contain backquotes.
function quoted(line, n, parts) {
    split(line, parts, "`")
    return parts[2 * n]
}

function put_beside(path, line, text, before,    l, n, found, out) {
    found = 0
    while ((getline l <path) > 0) {
        found += l == line
        out = out (l != line ? l "\n" : before ? text l "\n" : l "\n" text)
    }
    close(path)
    if (found != 1)
        wrong("the line is in " path " " found " times, not once: " line)
    printf "%s", out >path
    close(path)
}

# In a numbered list all is indented.
open { sub("^" indent, "") }
!open { match($0, /^ */); indent = substr($0, 1, RLENGTH); bare = substr($0, RLENGTH + 1) }
!open && bare ~ /^New file `[^`]*`:$/ { action = "new"; path = top "/" quoted($0, 1); next }
!open && bare ~ /^In `[^`]*`, (behind|before) the line `[^`]*`:$/ {
    action = "line"
    path = top "/" quoted($0, 1)
    line = quoted($0, 2)
    before = / before the line /
    next
}
!open && bare ~ /^Run in the (build folder|\[build folder\]\(\.\.\/\.\.\/CONTRIBUTING\.md#add-something\)):$/ { action = "run"; next }
!open && bare ~ /^```/ { open = 1; text = ""; next }
/^```$/ && open {
    open = 0
    if (action == "new") {
        if ((getline l <path) >= 0)
            wrong(path " is there already")
        printf "%s", text >path
        close(path)
    } else if (action == "line") {
        put_beside(path, line, text, before)
    } else if (action == "run") {
        printf "%s", text >>commands
    }
    n += action != ""
    action = ""
    next
}
open { text = text $0 "\n"; next }
bare != "" && action != "" { wrong("a block of code was expected after the line that announces it") }
END {
    if (!failed && (open || !n || action != ""))
        wrong("no block of code to follow, or one without end")
}

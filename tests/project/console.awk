# SPDX-License-Identifier: BSD-3-Clause
# Reads a page for users, whose blocks ```console show commands and what they print:
#
#     $ command            the lines that follow with "> " continue it
#     what it prints       nothing shown: nothing compared
#     [...]                lines left out
#
# With `commands`, writes a script to that file which runs the commands of the page, in order, in one shell; the
# output and the status of the n-th go to the files n and n.status in the folder `out`. Without it, prints the page
# with the outputs that are in `out`. Lines between two [...] are one piece. The words of its first line, without
# figures, determine where it begins in the new output, and it keeps its number of lines; the last piece of an
# output without [...] at its end extends to the end. A piece that is not found, and a command that failed, are
# told on standard error, with status 1.
function wrong(text) {
    print FILENAME ":" FNR ": " text >"/dev/stderr"
    failed = 1
}

# The first two words of a line that are no figures, units or drawings.
function words(line,    n, i, found, part, text) {
    gsub(/[^ -~\t]/, "", line)
    n = split(line, part)
    for (i = 1; i <= n && found < 2; i++)
        if (part[i] !~ /[0-9]/ && part[i] !~ /^(%|[num]?s)$/) {
            text = text " " part[i]
            found++
        }
    return text
}

# The report of a run depends on the run and on the load of the machine: a piece that this run does not show is
# kept unchanged.
function judged(line) {
    return line ~ /^(Findings|Lost on|Gained on|Faster \()/
}

function begin_command(text) {
    n++
    shown = 0
    command = text
    in_command = 1
}

function end_command(    file, line) {
    in_command = 0
    if (commands) {
        printf "{\n%s\n} >'%s/%d' 2>&1 </dev/null\necho $? >'%s/%d.status'\n", command, out, n, out, n >commands
        return
    }
    file = out "/" n
    if ((getline line <(file ".status")) <= 0 || line != "0")
        wrong("failed: " command)
    close(file ".status")
    lines = at = 0
    while ((getline line <file) > 0)
        output[++lines] = line
    close(file)
}

function end_piece(rest,    i, first) {
    if (!pieces)
        return
    for (first = at + 1; first <= lines && words(output[first]) != words(piece[1]); first++)
        ;
    if (first > lines && judged(piece[1])) {
        for (i = 1; i <= pieces; i++)
            print piece[i]
        pieces = 0
        return
    }
    if (first > lines || (!at && !left_out && first > 1)) {
        wrong("not in the output of `" command "`: " piece[1])
        first = lines + 1
    }
    for (i = first; i <= lines && (rest || i < first + pieces); i++)
        print output[i]
    at = i - 1
    pieces = 0
}

function end_output() {
    if (in_command)
        end_command()
    if (!commands && n)
        end_piece(!ended_by_mark)
    ended_by_mark = left_out = 0
}

/^```console$/ { open = 1; if (!commands) print; next }
/^```$/ && open { end_output(); open = 0; if (!commands) print; next }
!open { if (!commands) print; next }
/^\$ / { end_output(); begin_command(substr($0, 3)); if (!commands) print; next }
/^> / && in_command { command = command "\n" substr($0, 3); if (!commands) print; next }
{
    if (in_command)
        end_command()
    if (commands)
        next
    ended_by_mark = $0 == "[...]"
    if (ended_by_mark) {
        end_piece(0)
        left_out = 1
        print
    } else {
        piece[++pieces] = $0
    }
}
END {
    if (open || !n)
        wrong("no block of commands, or one without end")
    exit failed
}

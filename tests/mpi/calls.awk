# SPDX-License-Identifier: BSD-3-Clause
# Makes a program that calls the functions of functions.tbl as calls.tbl says:
#     awk -v what=WHAT -v has=FILE -f table.awk -f calls.awk calls.tbl functions.tbl
#   program  C source to be compiled with calls.c; only functions that FILE names, one a line
#   not      functions that are not called, one a line
# Fails if a function has no row, a row has no function, or an argument in a row is not used. POSIX awk.

function complain(text)
{
    print "calls.tbl: " text > "/dev/stderr"
    bad = 1
}

# ---- calls.tbl ----------------------------------------------------------------------------------

function read_head(line,    n, i, names)
{
    n = split(line, names, " ")
    row++
    row_names[row] = line
    for (i = 1; i <= n; i++) {
        if (names[i] in row_of)
            complain(names[i] " is there twice")
        row_of[names[i]] = row
    }
}

function read_word(key, rest,    name)
{
    if (key ~ /^(when|before|on|sent|received|after|starts)$/)
        row_text[row, key] = rest
    else if (key ~ /^(keep|may|predefined)$/)
        row_text[row, key] = 1
    else if (key == "arg") {
        name = rest
        sub(/ .*/, "", name)
        sub(/^[^ ]* /, "", rest)
        row_arg[row, name] = rest
    } else
        complain("what is \"" key "\" of \"" row_names[row] "\"?")
}

function read_line(line,    key, rest, name, names)
{
    if (line ~ /^(#.*)?$/)
        return
    key = rest = line
    sub(/^ +/, "", key)
    sub(/ .*/, "", key)
    sub(/^ *[^ ]+ */, "", rest)
    if (line ~ /^ /)
        read_word(key, rest)
    else if (key ~ /^(default|make|free|not)$/) {
        name = rest
        sub(/ .*/, "", name)
        sub(/^[^ ]+ +/, "", rest)
        if (key == "not" && rest !~ /[a-z]/)
            complain(name " has no reason")
        said[key, name] = rest
    } else if (key ~ /^(main|removed)$/) {
        split(rest, names, " ")
        for (name in names)
            said[key, names[name]] = 1
    } else
        read_head(line)
}

# ---- One function -------------------------------------------------------------------------------

# The row of a function, found by the forms that its name may have; sets by_init.
function find_row(op,    base, plain)
{
    by_init = 0
    base = op
    sub(/_c$/, "", base)
    if (op in row_of)
        return row_of[op]
    if (base in row_of)
        return row_of[base]
    plain = base
    if (sub(/_init$/, "", plain) && plain in row_of) {
        by_init = 1
        return row_of[plain]
    }
    plain = base
    if (sub(/^File_i/, "File_", plain) && plain in row_of)
        return row_of[plain]
    plain = toupper(substr(base, 2, 1)) substr(base, 3)
    if (base ~ /^[IR][a-z]/ && plain in row_of)
        return row_of[plain]
    return 0
}

# Value of parameter p: from the row, else the default for its kind; "" if there is neither.
function value_of(r, p,    kind)
{
    arg_used[r, param_name[p]] = 1
    if ((r, param_name[p]) in row_arg)
        return row_arg[r, param_name[p]]
    kind = param_dir[p] param_kind[p] (param_array[p] ? "[]" : "")
    if (("default", kind ":" param_name[p]) in said)
        return said["default", kind ":" param_name[p]]
    return ("default", kind) in said ? said["default", kind] : ""
}

function line_of(text)
{
    if (text != "")
        lines = lines "    truth_line(__LINE__); " text " TRUTH_HERE;\n"
}

function statements(key, kind, name,    text)
{
    text = said[key, kind]
    gsub(/@/, name, text)
    return text
}

# The variables of a call: `early` declares what is written, `late` what is read. Sets args, makes, frees.
function declare(r,    p, kind, name, value, type, scalar)
{
    early = late = args = makes = frees = ""
    for (p = 0; p < n_params; p++) {
        kind = param_kind[p]
        name = param_name[p]
        value = value_of(r, p)
        type = param_type[p]
        scalar = param_dir[p] != "" && !param_array[p] && kind !~ /^(buf|string|status)$/
        if (scalar)
            sub(/ ?\*$/, " ", type)
        args = args (p ? ", " : "") (value ~ /^\(.*\)$/ ? value : (scalar ? "&" : "") name)
        if (value ~ /^\(.*\)$/)
            continue
        if (param_array[p]) {
            sub(/^const /, "", type)
            early = early "    " type name "[64];\n"
            if (value != "")
                late = late "    for (int i = 0; i < 8; i++) " name "[i] = " value ";\n"
        } else if (kind == "ranges")
            late = late "    int " name "[][3] = " value ";\n"
        else if (kind == "strings")
            late = late "    char **" name " = " value ";\n"
        else if (kind == "string" && param_dir[p] != "")
            early = early "    char " name "[4096];\n"
        else if (scalar) {
            early = early "    " type name (type ~ /^(int|MPI_Count|MPI_Aint|MPI_Offset) $/ ? " = 0" : "") ";\n"
            if (value != "")
                late = late "    " name " = " value ";\n"
            if (param_dir[p] == "=" && ("make", kind) in said)
                makes = makes statements("make", kind, name)
            if (param_dir[p] == ">" && ("free", kind) in said && kind == "request")
                frees = statements("free", kind, name) frees
            else if (param_dir[p] == ">" && ("free", kind) in said)
                frees = frees statements("free", kind, name)
        } else if (value == "")
            complain("nothing says what " name " of " current " is")
        else
            late = late "    " type name " = " value ";\n"
    }
}

# The communicator of a call, or "". For a persistent call it is also that of its start.
function comm_of(class, r,    p)
{
    if ((r, "on") in row_text)
        return row_text[r, "on"]
    for (p = 0; p < n_params; p++) {
        if (param_kind[p] == "comm" && param_dir[p] != ">")
            return param_name[p]
        if (param_kind[p] == "win" && param_dir[p] != ">" && class == "rma")
            return "comm_of(" param_name[p] ")"
        if (param_kind[p] == "message" && param_dir[p] == "=")
            return "my.c"
    }
    return ""
}

# Splits "BYTES to RANK": sets bytes, and notes the message.
function account(class, text, word, verb,    at)
{
    bytes = text == "" ? "0" : text
    at = index(text, " " word " ")
    if (!at)
        return
    bytes = substr(text, 1, at - 1)
    lines = lines "    " verb "(" (class == "rma") ", " substr(text, at + length(word) + 2) ", " bytes ");\n"
}

function call_line(r, class, name, arguments,    sent)
{
    account(class, row_text[r, "sent"], "to", "went")
    sent = bytes
    account(class, row_text[r, "received"], "from", "came")
    lines = lines "    " ((r, "may") in row_text ? "(void)" : "check") "(MPI(" name ", " sent ", " bytes ", (" \
        arguments "))" ((r, "may") in row_text ? "" : ", \"MPI_" name "\"") ");\n"
}

function write_function(op, class, r,    comm, p, numeric)
{
    current = op
    # MPICH 4.0 releases a derived datatype of a persistent collective once too often.
    numeric = (r, "predefined") in row_text || by_init && class == "coll"
    for (p = 0; p < n_params; p++)
        numeric = numeric || param_kind[p] == "op"
    declare(r)
    comm = comm_of(class, r)
    lines = "TRUTH_FUNCTION static void call_" op "(void)\n{\n    ENTER;\n    choose(\"" op "\", " numeric ");\n"
    if ((r, "when") in row_text)
        lines = lines "    if (!(" row_text[r, "when"] ")) {\n        LEAVE;\n        return;\n    }\n"
    lines = lines early
    if (!by_init)
        line_of(makes row_text[r, "before"])
    lines = lines late
    if (comm != "")
        lines = lines "    on(" comm ");\n"
    if (by_init) {
        lines = lines "    check(MPI(" op ", 0, 0, (" args ")), \"MPI_" op "\");\n"
        lines = lines "    for (int turn = 0; turn < " ((r, "starts") in row_text ? row_text[r, "starts"] : 2) "; turn++) {\n"
        line_of(row_text[r, "before"])
        lines = lines "    on(" comm ");\n"
        call_line(r, class, "Start", "&request")
        line_of(frees row_text[r, "after"])
        lines = lines "    }\n"
        line_of("X(Request_free, &request);")
    } else {
        call_line(r, class, op, args)
        line_of(row_text[r, "after"])
        line_of((r, "keep") in row_text ? "" : frees)
    }
    print lines "    LEAVE;\n}\n"
    calls = calls "    DO(call_" op "());\n"
}

# Parameters have no names here, because some names are those of other functions.
function write_prototype(op,    p, text)
{
    for (p = 0; p < n_params; p++)
        text = text (p ? ", " : "") param_type[p] param_suffix[p]
    print "int MPI_" op "(" text ");"
}

# ---- Output -------------------------------------------------------------------------------------

function begin_output(    line)
{
    table = ARGV[1]
    ARGV[1] = ""
    while ((getline line < table) > 0)
        read_line(line)
    while (has != "" && (getline line < has) > 0)
        has_function[line] = 1
    if (what == "program")
        print "/* Made from functions.tbl and calls.tbl by calls.awk. */\n#define OMPI_OMIT_MPI1_COMPAT_DECLS 1\n#include \"tests/mpi/calls.h\"\n"
}

function note_section(text)
{
}

function emit(op, class, rules,    r)
{
    known[op] = 1
    if (("not", op) in said) {
        if (what == "not")
            print "MPI_" op
        return
    }
    if (("main", op) in said)
        return
    r = find_row(op)
    if (!r) {
        complain("nothing says how " op " is called")
        return
    }
    if (what == "program" && (("MPI_" op) in has_function)) {
        if (("removed", op) in said)
            write_prototype(op)
        write_function(op, class, r)
    } else
        declare(r)
}

function end_output(    key, parts)
{
    for (key in row_of)
        if (!(key in known))
            complain(key " is no function")
    for (key in said) {
        split(key, parts, SUBSEP)
        if (parts[1] ~ /^(not|main|removed)$/ && !(parts[2] in known))
            complain(parts[2] " is no function")
    }
    for (key in row_arg)
        if (!(key in arg_used)) {
            split(key, parts, SUBSEP)
            complain("no function of \"" row_names[parts[1]] "\" takes " parts[2])
        }
    if (bad)
        exit 1
    if (what == "program")
        print "TRUTH_FUNCTION void calls_of_table(void)\n{\n    ENTER;\n" calls "    LEAVE;\n}"
}

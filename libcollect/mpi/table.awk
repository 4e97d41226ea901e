# SPDX-License-Identifier: BSD-3-Clause
# Reads functions.tbl for the scripts that make something of it:
#     awk -v what=WHAT -f table.awk -f generate.awk functions.tbl
#
# For each function, in the order of op ids, a row "X[_c]" being two (X, then X_c):
#     parse_params() has filled, for p = 0 .. n_params - 1:
#         param_dir[p] "", ">" or "="     param_kind[p] as written     param_array[p] 0 or 1
#         param_name[p]                   param_type[p], param_suffix[p]: "const int ", "[]"
#     variadic: it ends in "..."          wide: it is X_c
#     traits: the last column as written
# and emit(op, class, rules) is called, which the other script defines, as begin_output() and
# end_output(). note_section(text) is called for each title, a comment after an empty line. POSIX awk.

function fail(text)
{
    print FILENAME ":" FNR ": " text > "/dev/stderr"
    bad = 1
    exit 1
}

# The C type of one parameter: fills the globals type and suffix.
function c_type(dir, kind, array,    base)
{
    suffix = array ? "[]" : ""
    if (kind == "buf" || kind == "string") {
        base = kind == "buf" ? "void *" : "char *"
        type = dir == "" ? "const " base : base
        return
    }
    if (kind in whole_type) {
        type = whole_type[kind]
        if (kind == "ranges")
            suffix = "[][3]"
        else if (kind == "strings")
            suffix = "[]"
        return
    }
    if (kind ~ /_fn(_c)?$/) {
        base = toupper(substr(kind, 1, 1)) substr(kind, 2)
        sub(/_fn/, "_function", base)
        type = "MPI_" base " *"
        return
    }
    if (kind in wide_of)
        base = wide ? wide_of[kind] : base_of[kind]
    else if (kind in base_of)
        base = base_of[kind]
    else if (kind ~ /^T_/)
        base = "MPI_" kind
    else
        fail("unknown kind " kind)
    if (array)
        type = (dir == "" ? "const " : "") base
    else if (kind == "status")
        type = (dir == "" ? "const " : "") base " *"
    else
        type = dir == "" ? base : base " *"
    if (type !~ /\*$/)
        type = type " "
}

function parse_params(text,    n, i, p, parts, halves)
{
    n_params = variadic = 0
    n = split(text, parts, " ")
    for (i = 1; i <= n; i++) {
        p = parts[i]
        if (p == "...:...") {
            variadic = 1
            continue
        }
        param_dir[n_params] = ""
        if (p ~ /^[>=]/) {
            param_dir[n_params] = substr(p, 1, 1)
            p = substr(p, 2)
        }
        if (split(p, halves, ":") != 2)
            fail("parameter " p " is not kind:name")
        param_array[n_params] = sub(/\[\]$/, "", halves[1])
        param_kind[n_params] = halves[1]
        param_name[n_params] = halves[2]
        c_type(param_dir[n_params], halves[1], param_array[n_params])
        param_type[n_params] = type
        param_suffix[n_params] = suffix
        n_params++
    }
}

# Sets traits. A function that takes a communicator, request, window or file must have one of three.
function parse_traits(op, text,    n, i, p, words, n_kinds, on_object)
{
    traits = text
    n = split(text, words, " ")
    for (i = 1; i <= n; i++)
        n_kinds += words[i] ~ /^(local|prompt|blocks)$/
    for (p = 0; p < n_params; p++)
        on_object = on_object || param_kind[p] ~ /^(comm|request|win|file)$/
    if (n_kinds > 1 || (on_object && n_kinds < 1))
        fail(op " has to be local, prompt or blocks")
}

function read_function(op, class, params, rules, text)
{
    if (op in seen)
        fail(op " is there twice")
    seen[op] = 1
    parse_params(params)
    parse_traits(op, text)
    emit(op, class, rules)
    n_ops++
}

BEGIN {
    FS = "|"
    n = split("int int rank int root int tag int aint MPI_Aint mpicount MPI_Count" \
              " offset MPI_Offset comm MPI_Comm group MPI_Group type MPI_Datatype op MPI_Op" \
              " info MPI_Info request MPI_Request message MPI_Message errhandler MPI_Errhandler" \
              " status MPI_Status file MPI_File win MPI_Win session MPI_Session" \
              " count int disp int extent MPI_Aint", pairs, " ")
    for (i = 1; i < n; i += 2)
        base_of[pairs[i]] = pairs[i + 1]
    wide_of["count"] = wide_of["extent"] = "MPI_Count"
    wide_of["disp"] = "MPI_Aint"
    whole_type["ptr"] = "void *"
    whole_type["argc"] = "int *"
    whole_type["argv"] = "char ***"
    whole_type["strings"] = "char *"
    whole_type["stringlists"] = "char **"
    whole_type["ranges"] = "int "
    n_ops = bad = 0
    begin_output()
}

/^[ \t]*$/ { after_gap = 1; next }
/^[ \t]*#/ {
    if (after_gap)
        note_section(substr($0, 3))
    after_gap = 0
    next
}

{
    after_gap = wide = 0
    if (NF < 2 || NF > 4)
        fail("a row has two to four columns")
    if (split($1, head, " ") != 2)
        fail("the first column is name and class")
    twin = sub(/\[_c\]$/, "", head[1])
    read_function(head[1], head[2], $2, $3, $4)
    if (twin) {
        wide = 1
        read_function(head[1] "_c", head[2], $2, $3, $4)
    }
}

END {
    if (bad)
        exit 1
    end_output()
}

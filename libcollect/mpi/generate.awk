# SPDX-License-Identifier: BSD-3-Clause
# Makes code from functions.tbl:  awk -v what=WHAT -f generate.awk functions.tbl
#   ops       enum of op ids (ops.h)
#   names     names and classes of ops (ops.c)
#   stubs     one line PC_STUB(name, slot) for each entry point, for the assembler
#   cstubs    one stub in C for each entry point, for targets without assembly
#   types     function types, for adapters and for the check against mpi.h
#   wrappers  the adapters' wrappers and their table
# POSIX awk.

function fail(text)
{
    print "functions.tbl:" FNR ": " text > "/dev/stderr"
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
    if (kind == "ptr") { type = "void *"; return }
    if (kind == "argc") { type = "int *"; return }
    if (kind == "argv") { type = "char ***"; return }
    if (kind ~ /_fn$/) {
        base = toupper(substr(kind, 1, 1)) substr(kind, 2)
        sub(/_fn$/, "_function", base)
        type = "MPI_" base " *"
        return
    }
    if (!(kind in base_of))
        fail("unknown kind " kind)
    base = base_of[kind]
    if (array)
        type = (dir == "" ? "const " : "") base
    else if (kind == "status")
        type = (dir == "" ? "const " : "") base " *"
    else
        type = dir == "" ? base : base " *"
    if (type !~ /\*$/)
        type = type " "
}

# Splits the parameters of a row into params (with names), types, args and the C-stub forms.
function parse_params(text,    n, i, parts, p, dir, kind, array, name)
{
    params = types = args = words = word_types = event = ""
    has_status = variadic = 0
    n = split(text, parts, " ")
    for (i = 1; i <= n; i++) {
        p = parts[i]
        if (p == "...:..." || p == "...") {
            variadic = 1
            params = params ", ..."
            types = types ", ..."
            continue
        }
        dir = ""
        if (p ~ /^[>=]/) {
            dir = substr(p, 1, 1)
            p = substr(p, 2)
        }
        if (split(p, parts_of, ":") != 2)
            fail("parameter " p " is not kind:name")
        kind = parts_of[1]
        name = parts_of[2]
        array = sub(/\[\]$/, "", kind)
        c_type(dir, kind, array)
        params = params (i > 1 ? ", " : "") type name suffix
        types = types (i > 1 ? ", " : "") type suffix
        args = args (i > 1 ? ", " : "") name
        words = words (i > 1 ? ", " : "") "uintptr_t " name
        if (dir == "" && !array && (kind == "rank" || kind == "root" || kind == "tag"))
            event = event note_event(kind, name)
        if (kind == "status" && dir == ">" && !array)
            has_status = 1
    }
    if (n == 0)
        params = types = words = "void"
    gsub(/ $/, "", types)
    gsub(/ ,/, ",", types)
    gsub(/ \[\]/, "[]", types)
}

# The first rank, root and tag of a call are the event's.
function note_event(kind, name,    field)
{
    field = kind == "rank" ? "peer" : kind
    if (index(event, "event." field " "))
        return ""
    return "    call.event." field " = " name ";\n"
}

# A rule "name(args)" as a call of prefix_name(first, args).
function rule_call(prefix, rule, first,    name, list)
{
    name = list = rule
    sub(/\(.*/, "", name)
    sub(/^[^(]*\(/, "", list)
    sub(/\)$/, "", list)
    gsub(/,/, ", ", list)
    return prefix name "(" first (list == "" ? "" : ", " list) ");\n"
}

function write_wrapper(op, text,    n, i, rules, before, after, own_status, entry)
{
    n = split(text, rules, " ")
    before = after = own_status = ""
    for (i = 1; i <= n; i++) {
        if (rules[i] == "own") {
            externs = externs "int pc_wrap_MPI_" op "(" params ");\nint pc_wrap_PMPI_" op "(" params ");\n"
            return
        }
        if (rules[i] ~ /^watch=/) {
            sub(/^watch=/, "", rules[i])
            before = before "    struct pc_watch watch;\n    " rule_call("pc_watch_", rules[i], "&watch, &call")
            after = after "    " rule_call("pc_watched_", rules[i], "&watch, &call, rc")
        } else {
            if (rules[i] ~ /[(,]status[,)]/)
                own_status = "    MPI_Status own_status;\n" \
                    "    if (status == MPI_STATUS_IGNORE)\n        status = &own_status;\n"
            after = after "    if (PC_LIKELY(rc == MPI_SUCCESS))\n        " rule_call("pc_rule_", rules[i], "&call")
        }
    }
    for (i = 0; i < 2; i++) {
        entry = (i ? "PMPI_" : "MPI_") op
        printf "static int wrap_%s(%s)\n{\n", entry, params
        printf "    pc_fn_%s *real = (pc_fn_%s *)%s[PC_OP_%s];\n", op, op, i ? "pc_pmpi" : "pc_mpi", op
        printf "    struct pc_call call;\n    PC_ENTER(call);\n"
        printf "    if (PC_UNLIKELY(!pc_core->begin(&call, PC_SLOT(PC_OP_%s, %d))))\n", op, i
        printf "        return real(%s);\n%s%s%s", args, event, own_status, before
        printf "    PC_CALL(call, real(%s));\n%s    pc_core->end(&call);\n    return rc;\n}\n\n", args, after
    }
    static_wrappers[op] = 1
}

function c_stub(op,    i, entry)
{
    for (i = 0; i < 2; i++) {
        entry = (i ? "PMPI_" : "MPI_") op
        if (variadic)
            printf "PC_C_STUB_LEVEL(%s, %d)\n", entry, 2 * n_ops + i
        else
            printf "PC_C_STUB(%s, %d, (%s), (%s))\n", entry, 2 * n_ops + i, words, args
    }
}

BEGIN {
    FS = "|"
    n = split("int int rank int root int tag int aint MPI_Aint mpicount MPI_Count comm MPI_Comm" \
              " group MPI_Group type MPI_Datatype op MPI_Op info MPI_Info request MPI_Request" \
              " message MPI_Message errhandler MPI_Errhandler status MPI_Status", words_of, " ")
    for (i = 1; i < n; i += 2)
        base_of[words_of[i]] = words_of[i + 1]
    n_ops = 0
    if (what !~ /^(ops|names|stubs|cstubs|types|wrappers)$/) {
        print "generate.awk: what=" what " is not known" > "/dev/stderr"
        bad = 1
        exit 1
    }
    print "/* Made from functions.tbl by generate.awk. */"
    if (what == "ops")
        print "#ifndef PC_MPI_OPS_H\n#define PC_MPI_OPS_H\n\nenum {"
    if (what == "names")
        print "#include \"libcollect/mpi/mpi_private.h\"\n\nconst struct pc_op_row pc_op_rows[] = {"
}

/^[ \t]*(#|$)/ { next }

{
    if (NF < 2 || NF > 3)
        fail("a row has two or three columns")
    if (split($1, head, " ") != 2)
        fail("the first column is name and class")
    op = head[1]
    if (op in seen)
        fail(op " is there twice")
    seen[op] = 1
    order[n_ops] = op
    class = toupper(head[2])
    if (what == "ops")
        printf "    PC_OP_%s = %d,\n", op, n_ops
    else if (what == "names")
        printf "    {\"MPI_%s\", PCOLLECT_CLASS_%s},\n", op, class
    else if (what == "stubs")
        printf "PC_STUB(MPI_%s, %d)\nPC_STUB(PMPI_%s, %d)\n", op, 2 * n_ops, op, 2 * n_ops + 1
    else {
        parse_params($2)
        if (what == "types")
            printf "typedef int pc_fn_%s(%s);\nPC_CHECK_PROTOTYPE(%s)\n", op, params, op
        else if (what == "cstubs")
            c_stub(op)
        else
            write_wrapper(op, $3)
    }
    n_ops++
}

END {
    if (bad)
        exit 1
    if (what == "ops")
        printf "    PC_N_OPS = %d\n};\n\n#endif\n", n_ops
    if (what == "names")
        print "};"
    if (what == "stubs")
        printf "#define PC_N_STUBS %d\n", 2 * n_ops
    if (what == "wrappers") {
        print externs
        print "void *const pc_wrappers[2 * PC_N_OPS] = {"
        for (i = 0; i < n_ops; i++) {
            op = order[i]
            prefix = (op in static_wrappers) ? "wrap_" : "pc_wrap_"
            printf "    (void *)%sMPI_%s, (void *)%sPMPI_%s,\n", prefix, op, prefix, op
        }
        print "};"
    }
}

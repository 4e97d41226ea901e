# SPDX-License-Identifier: BSD-3-Clause
# Makes code from functions.tbl:  awk -v what=WHAT -f table.awk -f generate.awk functions.tbl
#   list      names of the functions, one a line
#   fortran   Fortran names that have stubs of their own, one a line
#   ops       enum of op ids (ops.h)
#   names     names, classes and traits of ops, and ops in the order of their names (ops.c)
#   stubs     one line PC_STUB(name, slot) for each entry point, for the assembler
#   cstubs    one stub in C for each entry point, for targets without assembly
#   types     function types, for adapters and for the check against mpi.h
#   wrappers  the adapters' wrappers and their table
# table.awk reads the rows and says what is known of each parameter. POSIX awk.
#
# Only write_wrapper() turns rules of the table into C; note_event() fills the event from the arguments.

# Writes the parameters of the function as C: params (with names), args, words (for stubs in C).
function join_params(    p, comma)
{
    params = args = words = ""
    for (p = 0; p < n_params; p++) {
        comma = p ? ", " : ""
        params = params comma param_type[p] param_name[p] param_suffix[p]
        args = args comma param_name[p]
        words = words comma "uintptr_t " param_name[p]
    }
    if (n_params == 0)
        params = words = "void"
    if (variadic)
        params = params ", ..."
}

# Copies the first rank, root and tag among the arguments into the event.
function note_event(    p, kind, field, seen_field, text)
{
    text = ""
    for (p = 0; p < n_params; p++) {
        kind = param_kind[p]
        if (param_dir[p] != "" || param_array[p] || kind !~ /^(rank|root|tag)$/)
            continue
        field = kind == "rank" ? "peer" : kind
        if (!(field in seen_field))
            text = text "    call.event." field " = " param_name[p] ";\n"
        seen_field[field] = 1
    }
    return text
}

function takes(dirs, kind, name,    p)
{
    for (p = 0; p < n_params; p++)
        if (param_dir[p] ~ dirs && param_kind[p] == kind && (name == "" || param_name[p] == name))
            return 1
    return 0
}

function has_trait(word)
{
    return index(" " traits " ", " " word " ")
}

function waits_for_requests()
{
    return has_trait("blocks") && takes("^=$", "request")
}

# True if a call moves data between processes or files, or makes or starts something that does.
function moves_data(class, rules)
{
    if (rules ~ /watch=start/)
        return 1
    if (class !~ /^(p2p|coll|rma|io)$/ || !takes("", "buf") || !(takes("", "type") || class == "io"))
        return 0
    return takes("", "comm") || takes("", "message") || takes("", "win") || takes("", "file")
}

# The traits of a function as C: those of the table, and those that follow from the other columns.
function trait_bits(class, rules,    n, i, words, bits, all)
{
    all = traits
    if (takes("^$", "rank", "source"))
        all = all " source"
    if (takes("^$", "rank", "dest"))
        all = all " dest"
    if (rules ~ /posted|watch=start/)
        all = all " starts"
    if (rules ~ /(^| )made(_receive)?\(/)
        all = all " persistent"
    if (moves_data(class, rules))
        all = all " moves"
    if (waits_for_requests())
        all = all " waits"
    bits = "0"
    n = split(all, words, " ")
    for (i = 1; i <= n; i++)
        if (words[i] != "local")
            bits = (bits == "0" ? "" : bits " | ") "PCOLLECT_TRAIT_" toupper(words[i])
    return bits
}

# Notes the requests that a call waits for.
function note_requests(    p, n)
{
    for (p = 0; p < n_params && waits_for_requests(); p++) {
        n = param_array[p] ? param_name[p - 1] : 1
        if (param_kind[p] == "request")
            return "    call.requests = " param_name[p] ";\n    call.n_requests = " n ";\n"
    }
    return ""
}

# An argument of a rule as C. Arrays of counts are of int or MPI_Count: rules take struct pc_counts.
function rule_arg(arg,    p)
{
    for (p = 0; p < n_params; p++)
        if (param_name[p] == arg && param_kind[p] == "count" && param_array[p])
            return (wide ? "pc_counts_wide(" : "pc_counts_int(") arg ")"
    return arg
}

# The value of a handle before the call; `null` where the program gives no address, which the MPI calls an error.
function handle_of(p, null)
{
    return param_dir[p] == "=" ? "(" param_name[p] " ? *" param_name[p] " : " null ")" : param_name[p]
}

# Code that tells the adapter the communicator and the peers before the call, if plugins ask for them. Only
# messages have peers: MPI_Probe has none. A one-sided call is on the communicator of its window, and its
# target is the peer to which it sends, from which it gets, or both.
function want_call(class, rules,    p, kind, name, comm, dest, source, message, status, window)
{
    comm = message = window = ""
    dest = source = "MPI_PROC_NULL"
    status = "NULL"
    for (p = 0; p < n_params; p++) {
        kind = param_kind[p]
        name = param_name[p]
        if (param_array[p])
            continue
        if (kind == "comm" && param_dir[p] != ">" && comm == "")
            comm = handle_of(p, "MPI_COMM_NULL")
        if (class == "rma" && kind == "win" && param_dir[p] != ">")
            window = handle_of(p, 0)
        if (class == "rma" && name == "target_rank" && rules ~ /sent\(/)
            dest = name
        if (class == "rma" && name == "target_rank" && rules ~ /combined\(/)
            dest = "op == MPI_NO_OP ? MPI_PROC_NULL : " name
        if (class == "rma" && name == "target_rank" && rules ~ /got\(/)
            source = name
        if (class == "p2p" && kind == "message" && param_dir[p] == "=")
            message = name
        if (class == "p2p" && kind == "status" && param_dir[p] == ">")
            status = name
        if (class == "p2p" && kind == "rank" && name == "dest")
            dest = name
        if (class == "p2p" && kind == "rank" && name == "source")
            source = name
    }
    if (message != "")
        return "pc_want_message(&call, " message ", " status ")"
    if (window != "")
        return "pc_want_window(&call, (uint64_t)(uintptr_t)" window ", " dest ", " source ")"
    if (comm == "")
        return "pc_want_nothing(&call)"
    if (dest == "MPI_PROC_NULL" && source == "MPI_PROC_NULL" && status == "NULL")
        return "pc_want_comm(&call, " comm ")"
    return "pc_want(&call, " comm ", " dest ", " source ", " status ")"
}

# A rule "name(args)" as a call of prefix_name(first, args).
function rule_call(prefix, rule, first,    name, list, n, i, parts)
{
    name = list = rule
    sub(/\(.*/, "", name)
    sub(/^[^(]*\(/, "", list)
    sub(/\)$/, "", list)
    n = split(list, parts, ",")
    for (i = 1; i <= n; i++)
        first = first ", " rule_arg(parts[i])
    return prefix name "(" first ");\n"
}

# Datatypes, elements and operator of a call that moves data, for plugins that want them. A one-sided call has those
# of this rank's memory. A message with one datatype has it only if there is a peer.
function note_types(class,    p, n, types, counts, buffer, operator, root, call, peers)
{
    if (class !~ /^(p2p|coll|rma|io)$/)
        return ""
    n = root = 0
    operator = "PC_NO_OPERATOR"
    buffer = "NULL"
    peers = ""
    for (p = 0; p < n_params; p++) {
        if (param_kind[p] == "rank")
            peers = peers (peers == "" ? "" : " || ") param_name[p] " != MPI_PROC_NULL"
        if (param_kind[p] == "buf" && buffer == "NULL")
            buffer = param_name[p]
        if (param_kind[p] == "op" && param_dir[p] == "")
            operator = param_name[p]
        root = root || param_kind[p] == "root"
        if (param_kind[p] != "type" || param_array[p] || param_dir[p] != "" || buffer == "NULL" || n == 2)
            continue
        if (param_name[p] == "target_datatype")
            continue
        types[++n] = param_name[p]
        counts[n] = "1"
        if (p > 0 && param_kind[p - 1] ~ /^(count|disp|mpicount)$/)
            counts[n] = param_array[p - 1] ? "PC_COUNT_BY_BYTES" : param_name[p - 1]
        if (param_name[p - 2] == "partitions") # each has that many elements
            counts[n] = "partitions * (MPI_Count)" counts[n]
    }
    if (n == 0)
        return ""
    call = n == 2 ? "pc_note_types(&call, " buffer : (root ? "pc_note_moved" : "pc_note_type") "(&call"
    for (p = 1; p <= n; p++)
        call = call ", " types[p] ", " counts[p]
    peers = n == 1 && peers != "" ? " && (" peers ")" : ""
    return "    if (pc_types_are_wanted() && rc == MPI_SUCCESS" peers ")\n        " call ", " operator ");\n"
}

# Appends the request for the file or window that a call is about.
function want_object(want,    p)
{
    for (p = 0; p < n_params; p++)
        if (param_kind[p] ~ /^(file|win)$/ && param_dir[p] != ">" && !param_array[p])
            return "(" want ", pc_want_object(&call, (uint64_t)(uintptr_t)" handle_of(p, 0) "))"
    return want
}

# True if a call is quiet: it moves no data, starts nothing, and makes, names and frees no
# object. Its watch finds what it completes without the event.
function is_quiet(class, text,    n, i, rules)
{
    if (class ~ /^(p2p|coll|rma|io|process|session)$/)
        return 0
    n = split(text, rules, " ")
    for (i = 1; i <= n; i++)
        if (rules[i] ~ /^watch=free/ || (rules[i] !~ /^(watch|watched|seen)=/ && rules[i] != "fortran"))
            return 0
    return 1
}

# True if some rule is about an object that outlives the call. Such calls are followed while collection is off.
function is_followed(text)
{
    return " " text ~ / (made|opened\(|named_|watch=free)/
}

# Writes the wrappers of both entry points. They ask whether the call counts, note its arguments, run the watches,
# make the real call between two time stamps, run watches and rules, and book the call. One that is only followed is not
# booked, and starts no operation.
function write_wrapper(op, class, text,    n, i, rules, before, after, types, own_status, entry, quiet, real, rule,
                       followed, counted)
{
    n = split(text, rules, " ")
    quiet = is_quiet(class, text)
    followed = is_followed(text)
    before = after = own_status = ""
    types = note_types(class)
    for (i = 1; i <= n; i++) {
        rule = rules[i]
        if (rule == "own") {
            externs = externs "int pc_wrap_MPI_" op "(" params ");\nint pc_wrap_PMPI_" op "(" params ");\n"
            return
        }
        if (rule == "fortran" || rule ~ /^seen=/)
            continue
        if (sub(/^watch=/, "", rule)) {
            before = before "    struct pc_watch watch;\n    " rule_call("pc_watch_", rule, "&watch, &call")
        } else if (sub(/^watched=/, "", rule)) {
            after = after "    " rule_call("pc_watched_", rule, "&watch, &call, rc")
        } else {
            if (rule ~ /[(,]status[,)]/)
                own_status = "    MPI_Status own_status;\n" \
                    "    if (status == MPI_STATUS_IGNORE)\n        status = &own_status;\n"
            if (rule ~ /^(made|posted)/) { # these rules may take the bytes out of the event
                after = after types
                types = ""
            }
            counted = followed && rule ~ /^posted/ ? "counted && " : ""
            after = after "    if (" counted "PC_LIKELY(rc == MPI_SUCCESS))\n        " rule_call("pc_rule_", rule, "&call")
        }
    }
    after = after types
    for (i = 0; i < 2; i++) {
        entry = (i ? "PMPI_" : "MPI_") op
        printf "static int wrap_%s(%s)\n{\n", entry, params
        real = "((pc_fn_" op " *)" (i ? "pc_pmpi" : "pc_mpi") "[PC_OP_" op "])(" args ")"
        printf "    struct pc_call call;\n%s", see_call(text)
        printf "    bool counted = PC_BEGIN%s(call, PC_SLOT(PC_OP_%s, %d));\n", quiet ? "_QUIET" : "", op, i
        printf "    if (PC_UNLIKELY(!counted%s))\n", followed ? " && !pc_core->follow(&call)" : ""
        printf "        return %s;\n%s%s%s%s", real, note_event(), note_requests(), own_status, before
        printf "    PC_CALL%s(call, %s, %s);\n", quiet ? "_QUIET" : followed ? "_FOLLOWED" : "",
            want_object(want_call(class, text)), real
        printf "%s", after
        if (followed)
            printf "    if (PC_UNLIKELY(!counted))\n        pc_core->unfollow(&call);\n    else\n    "
        printf "    %s(&call);\n    return rc;\n}\n\n", quiet ? "pc_end_quiet" : "pc_end"
    }
    static_wrappers[op] = 1
}

function c_stub(op,    i, entry)
{
    for (i = 1; variadic && i <= 5; i++) {
        words = words ", uintptr_t more" i
        args = args ", more" i
    }
    for (i = 0; i < 2; i++) {
        entry = (i ? "PMPI_" : "MPI_") op
        printf "PC_C_STUB(%s, %d, (%s), (%s))\n", entry, 2 * n_ops + i, words, args
    }
}

# The calls of the rules that are made before it is known whether the call counts.
function see_call(text,    n, i, rules, calls)
{
    calls = ""
    n = split(text, rules, " ")
    for (i = 1; i <= n; i++)
        if (sub(/^seen=/, "", rules[i])) {
            sub(/\(/, "((uintptr_t)", rules[i])
            calls = calls "    pc_seen_" rules[i] ";\n"
        }
    return calls
}

# Notes the Fortran names of an op: the spellings of compilers, and the specific name of mpi_f08. Names that begin
# with pmpi_ are left to the MPI. MPI_Pcontrol has no ierror, except in MPICH's mpi_f08: there the word is passed on
# unread.
function note_fortran(op, rules,    p, comma, list, i, spellings, lower, want)
{
    want = "pc_want_nothing(&call)"
    lower = "mpi_" tolower(op)
    split(lower " " lower "_ " lower "__ " toupper(lower) " " lower "_f08_", spellings, " ")
    list = args = words = ""
    for (p = 0; p < n_params; p++) {
        comma = p ? ", " : ""
        list = list comma "void *" param_name[p]
        words = words comma "uintptr_t " param_name[p]
        args = args comma param_name[p]
        if (param_dir[p] == "" && param_kind[p] == "comm")
            want = "pc_want_fortran(&call, " param_name[p] ")"
    }
    list = list ", int *ierror"
    words = words ", uintptr_t ierror"
    args = args ", ierror"
    for (i = 1; i <= 5; i++) {
        fortran_name[n_fortran] = spellings[i]
        fortran_op[n_fortran] = op
        fortran_params[n_fortran] = list
        fortran_words[n_fortran] = words
        fortran_args[n_fortran] = args
        fortran_want[n_fortran] = want
        fortran_seen[n_fortran] = see_call(rules)
        fortran_result[n_fortran++] = variadic ? "MPI_SUCCESS" : "ierror ? *ierror : MPI_SUCCESS"
    }
}

# Writes the wrapper for a Fortran name. It books the call as MPI_X, with its time and communicator.
function write_fortran(i,    real)
{
    printf "static void wrap_%s(%s)\n{\n", fortran_name[i], fortran_params[i]
    real = "((void (*)(" fortran_params[i] "))pc_fortran[" i "])(" fortran_args[i] ")"
    printf "    struct pc_call call;\n%s", fortran_seen[i]
    printf "    if (PC_UNLIKELY(!PC_BEGIN(call, PC_SLOT(PC_OP_%s, 0)))) {\n", fortran_op[i]
    printf "        %s;\n        return;\n    }\n", real
    printf "    PC_CALL(call, %s, (%s, %s));\n    pc_end(&call);\n}\n\n", fortran_want[i], real, fortran_result[i]
}

function begin_output()
{
    n_fortran = 0
    if (what !~ /^(list|fortran|ops|names|stubs|cstubs|types|wrappers)$/)
        fail("what=" what " is not known")
    if (what !~ /^(list|fortran)$/)
        print "/* Made from functions.tbl by generate.awk. */"
    if (what == "ops")
        print "#ifndef PC_MPI_OPS_H\n#define PC_MPI_OPS_H\n\nenum {"
    if (what == "names")
        print "#include \"libcollect/mpi/mpi_private.h\"\n\nconst struct pc_op_row pc_op_rows[] = {"
}

function note_section(text)
{
}

function emit(op, class, rules)
{
    order[n_ops] = op
    if (rules ~ /(^| )fortran( |$)/)
        note_fortran(op, rules)
    join_params()
    if (what == "list")
        print "MPI_" op
    else if (what == "ops")
        printf "    PC_OP_%s = %d,\n", op, n_ops
    else if (what == "names")
        printf "    {\"MPI_%s\", PCOLLECT_CLASS_%s, %d, %s},\n", op, toupper(class), rules ~ /(^| )fortran( |$)/,
            trait_bits(class, rules)
    else if (what == "stubs")
        printf "PC_STUB(MPI_%s, %d)\nPC_STUB(PMPI_%s, %d)\n", op, 2 * n_ops, op, 2 * n_ops + 1
    else if (what == "cstubs")
        c_stub(op)
    else if (what == "types")
        printf "typedef int pc_fn_%s(%s);\nPC_CHECK_PROTOTYPE(%s)\n", op, params, op
    else if (what == "wrappers")
        write_wrapper(op, class, rules)
}

# Lists the ops in the order of their names.
function print_sorted(    i, k, op, sorted)
{
    for (i = 0; i < n_ops; i++) {
        op = order[i]
        for (k = i; k > 0 && order[sorted[k - 1]] > op; k--)
            sorted[k] = sorted[k - 1]
        sorted[k] = i
    }
    print "\nconst uint16_t pc_ops_by_name[] = {"
    for (i = 0; i < n_ops; i++)
        printf "    PC_OP_%s,\n", order[sorted[i]]
    print "};"
}

# Slots of Fortran names come after those of the functions.
function end_fortran(    i, slot)
{
    if (what == "names")
        print "\nconst char *const pc_fortran_names[] = {"
    for (i = 0; i < n_fortran; i++) {
        slot = 2 * n_ops + i
        if (what == "fortran")
            print fortran_name[i]
        else if (what == "names")
            printf "    \"%s\",\n", fortran_name[i]
        else if (what == "stubs")
            printf "PC_STUB(%s, %d)\n", fortran_name[i], slot
        else if (what == "cstubs")
            printf "PC_C_STUB(%s, %d, (%s), (%s))\n", fortran_name[i], slot, fortran_words[i], fortran_args[i]
        else if (what == "wrappers")
            write_fortran(i)
    }
    if (what == "names")
        print "};"
}

function end_output(    i, op, prefix)
{
    if (what == "ops")
        printf "    PC_N_OPS = %d,\n    PC_N_FORTRAN = %d, /* Fortran names with stubs of their own */\n" \
            "    PC_N_SLOTS = 2 * PC_N_OPS + PC_N_FORTRAN\n};\n\n#endif\n", n_ops, n_fortran
    if (what == "names") {
        print "};"
        print_sorted()
    }
    end_fortran()
    if (what == "stubs")
        printf "#define PC_N_STUBS %d\n", 2 * n_ops + n_fortran
    if (what == "wrappers") {
        print externs
        print "void *const pc_wrappers[PC_N_SLOTS] = {"
        for (i = 0; i < n_ops; i++) {
            op = order[i]
            prefix = (op in static_wrappers) ? "wrap_" : "pc_wrap_"
            printf "    (void *)%sMPI_%s, (void *)%sPMPI_%s,\n", prefix, op, prefix, op
        }
        for (i = 0; i < n_fortran; i++)
            printf "    (void *)wrap_%s,\n", fortran_name[i]
        print "};"
    }
}

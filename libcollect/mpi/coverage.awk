# SPDX-License-Identifier: BSD-3-Clause
# Makes doc/coverage.md:  awk -f coverage.awk -f table.awk functions.tbl passed.tbl
# table.awk reads functions.tbl; this file comes first, and takes the lines of passed.tbl. POSIX awk.

FILENAME ~ /passed\.tbl$/ {
    if ($0 !~ /^[ \t]*(#|$)/ && split($0, half, " \\| ") == 2) {
        if (!(half[2] in names_by_reason))
            reasons[++n_reasons] = half[2]
        names_by_reason[half[2]] = names_by_reason[half[2]] (names_by_reason[half[2]] == "" ? "" : ", ") "`" half[1] "`"
        n_passed++
    }
    next
}

function begin_output()
{
    print "<!-- Made from libcollect/mpi/functions.tbl and passed.tbl by coverage.awk. -->"
    print "# MPI functions that are measured\n"
    print "Every function of MPI-4.0 that Open MPI 4.1 or MPICH 4.0 define is either measured or left alone"
    print "for the reason at the end of this page. A function that a library does not have returns"
    print "`MPI_ERR_OTHER`, and one message says so. *Bytes* are those of"
    print "[the definition](bytes.md); where it says \"no\" a function moves none between processes.\n"
    print "What a program calls by a name of C that begins with `PMPI_` is not measured: these names are there"
    print "to bypass tools. `PMPI_X` is measured only where a tool before this library passes on a call"
    print "of `MPI_X`.\n"
    print "From Fortran (`mpif.h`, `use mpi`, `use mpi_f08`) the same functions are measured, through the"
    print "library's bindings. Where the binding of an MPI makes no call of C, or leaves by a jump, a function"
    print "is measured at its Fortran names; these are marked *F*. One call is not seen: Open MPI's binding"
    print "returns at once from `MPI_Waitall` and its kind if they are given no requests.\n"
}

function note_section(text)
{
    if (n_ops || text !~ /SPDX/)
        section = text
}

function emit(op, class, rules,    moves)
{
    if (section != shown) {
        printf "\n## %s\n\n| function | class | bytes |\n|---|---|---|\n", section
        shown = section
    }
    moves = class ~ /^(p2p|coll|rma|io)$/ && rules ~ /\(/ ? "yes" : "no"
    if (rules ~ /^ *(made|posted)\(request\) *$/)
        moves = "no"
    if (rules ~ /watch=start/)
        moves = "of the requests"
    printf "| `MPI_%s`%s | %s | %s |\n", op, rules ~ /(^| )fortran( |$)/ ? " *F*" : "", class, moves
}

function end_output(    i)
{
    printf "\n## Left alone\n\n| name | reason |\n|---|---|\n"
    for (i = 1; i <= n_reasons; i++)
        printf "| %s | %s |\n", names_by_reason[reasons[i]], reasons[i]
    printf "\nMeasured: %d functions. Left alone: %d names.\n", n_ops, n_passed
}

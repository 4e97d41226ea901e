# SPDX-License-Identifier: BSD-3-Clause
# Writes an MPI program with one planted fault, or its twin without it:
#
#     awk -v kind=KIND -v seed=N -v fault=1 -f fault.awk
#
# Names, sizes, the number of ranks and the depth of the fault follow from the seed. The first line of the program is a
# comment with the number of ranks. Each of the next comments names a kind and the function that has it. Computation is
# replaced by sleep, so that its length does not depend on the load of the machine.
#
# With kind="KIND KIND ..." each kind has a function of its own, and there are two ranks and few calls. This is for
# faults that counts of calls and bytes show without times.

function word(i, n, list) {
    n = split("advance relax gather_forces update sweep march collide stream filter project assemble " \
        "smooth scatter_cells balance_mesh refine couple integrate diffuse", list, " ")
    return list[(seed * 7 + i * 5) % n + 1] "_" (seed * 13 + i) % 97
}

function pick(low, high) {
    draws++
    return low + int((high - low + 1) * rand())
}

# Repetitions of a fault in a step.
function many(n) {
    return n_kinds > 1 ? 10 : n
}

function large() {
    return n_kinds > 1 ? 1000 : 200000
}

# The body of one step, with the fault and without.
function step_body() {
    if (kind == "imbalance") {
        late = pick(0, ranks - 1)
        return "    work_ms(" (fault ? "rank == " late " ? 8 : 4" : "4") ");\n" \
            "    MPI_Allreduce(MPI_IN_PLACE, data, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);\n"
    }
    if (kind == "serial")
        return (fault ? "    if (rank == 0)\n        work_ms(6);\n" : "    work_ms(6);\n") \
            "    MPI_Bcast(data, 16, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n"
    if (kind == "hub")
        return fault ? "    for (int i = 1; i < size; i++) {\n" \
            "        if (rank == 0) {\n" \
            "            MPI_Recv(data, 4000, MPI_DOUBLE, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n" \
            "            serve_ms(1);\n" \
            "            MPI_Send(data, 4000, MPI_DOUBLE, i, 2, MPI_COMM_WORLD);\n" \
            "        } else if (rank == i) {\n" \
            "            MPI_Send(data, 4000, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);\n" \
            "            MPI_Recv(data, 4000, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n" \
            "            work_ms(size - 1);\n" \
            "        }\n" \
            "    }\n" : "    work_ms(4);\n" exchange(4000)
    if (kind == "chain")
        return fault ? "    if (rank > 0)\n" \
            "        MPI_Recv(data, 2000, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n" \
            "    work_ms(4);\n" \
            "    if (rank + 1 < size)\n" \
            "        MPI_Send(data, 2000, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);\n" \
            "    MPI_Bcast(data, 1, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);\n" \
            : "    work_ms(4);\n" exchange(2000)
    if (kind == "by-turns")
        return "    static int step;\n    work_ms(" (fault ? "step++ % size == rank ? 8 : 0" : "step++ % size >= 0 ? 2 : 0") ");\n" \
            "    MPI_Allreduce(MPI_IN_PLACE, data, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);\n"
    if (kind == "small-messages")
        return "    work_ms(4);\n" (fault ? "    for (int i = 0; i < " many(200) "; i++)\n    " exchange(pick(1, 8)) \
            : exchange(16000))
    if (kind == "barrier")
        return "    work_ms(4);\n" (fault ? "    for (int i = 0; i < " many(100) "; i++)\n" \
            "        MPI_Barrier(MPI_COMM_WORLD);\n" : exchange(100))
    if (kind == "many-collectives")
        return "    work_ms(4);\n    for (int i = 0; i < " (fault ? many(100) : 1) "; i++)\n" \
            "        MPI_Allreduce(MPI_IN_PLACE, data + i, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);\n"
    if (kind == "rooted")
        return "    work_ms(4);\n" (fault ? \
            "    MPI_Gather(data, " large() ", MPI_DOUBLE, all, " large() ", MPI_DOUBLE, 0, MPI_COMM_WORLD);\n" \
            : exchange(1000))
    if (kind == "synchronous-send")
        return "    if (rank % 2 == 0 && rank + 1 < size) {\n" \
            "        MPI_" (fault ? "Ssend" : "Send") "(data, 100, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);\n" \
            "        work_ms(5);\n" \
            "    } else {\n" \
            "        work_ms(5);\n" \
            "        if (rank % 2)\n" \
            "            MPI_Recv(data, 100, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n" \
            "    }\n" \
            "    MPI_Bcast(data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n"
    if (kind == "polling")
        return "    MPI_Request request;\n" \
            "    int peer = rank ^ 1, done = 0;\n" \
            "    for (int turn = 0; turn < 2; turn++) {\n" \
            "        if (rank % 2 == turn) {\n" \
            "            work_ms(5);\n" \
            "            MPI_Send(data, 10, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD);\n" \
            "        } else {\n" \
            "            MPI_Irecv(data, 10, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &request);\n" \
            (fault ? "            for (done = 0; !done;)\n" \
            "                MPI_Test(&request, &done, MPI_STATUS_IGNORE);\n" \
            : "            work_ms(5);\n            MPI_Wait(&request, MPI_STATUS_IGNORE);\n            (void)done;\n") \
            "        }\n" \
            "    }\n"
    if (kind == "overlap")
        return "    MPI_Request requests[2];\n" \
            "    int peer = rank ^ 1;\n" \
            "    for (int turn = 0; turn < 2; turn++) {\n" \
            "        MPI_Irecv(all, 200, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[0]);\n" \
            "        if (rank % 2 == turn)\n" \
            "            work_ms(5);\n" \
            "        MPI_Isend(data, 200, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &requests[1]);\n" \
            (fault ? "" : "        if (rank % 2 != turn)\n            work_ms(5);\n") \
            "        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);\n" \
            (fault ? "        if (rank % 2 != turn)\n            work_ms(0);\n" : "") \
            "    }\n"
    if (kind == "communicators")
        return "    work_ms(4);\n    MPI_Comm comm;\n    for (int i = 0; i < " (fault ? many(20) : 0) "; i++) {\n" \
            "        MPI_Comm_dup(MPI_COMM_WORLD, &comm);\n        MPI_Comm_free(&comm);\n    }\n" exchange(10)
    if (kind == "datatypes")
        return "    work_ms(4);\n    MPI_Datatype type;\n    for (int i = 0; i < " (fault ? many(10000) : 1) "; i++) {\n" \
            "        MPI_Type_vector(100, 1, 10, MPI_DOUBLE, &type);\n        MPI_Type_commit(&type);\n" \
            "        MPI_Type_free(&type);\n    }\n" exchange(10)
    if (kind == "small-io")
        return "    work_ms(4);\n    MPI_File file;\n" \
            "    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);\n" \
            "    for (int i = 0; i < " (fault ? many(3000) : 1) "; i++)\n" \
            "        MPI_File_write_at(file, i * 16, data, " (fault ? 16 : 16000) ", MPI_BYTE, MPI_STATUS_IGNORE);\n" \
            "    MPI_File_close(&file);\n"
    if (kind == "unfinished")
        return "    MPI_Request request;\n" \
            "    if (rank == 0) {\n" \
            "        MPI_Send(data, 10, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);\n" \
            "    } else if (rank == 1) {\n" \
            "        MPI_Irecv(data, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &request);\n" \
            (fault ? "" : "        MPI_Wait(&request, MPI_STATUS_IGNORE);\n") \
            "    }\n"
    return "#error unknown kind\n"
}

function exchange(n) {
    return "    MPI_Sendrecv(data, " n ", MPI_DOUBLE, (rank + 1) % size, 7, all, " n ", MPI_DOUBLE,\n" \
        "                 (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
}

BEGIN {
    srand(seed)
    rand()
    n_kinds = split(kind, kinds, " ")
    even = kind == "synchronous-send" || kind == "polling" || kind == "overlap"
    busy = kind == "datatypes" || kind == "small-io" # computes: two processors are enough for two
    ranks = n_kinds > 1 || busy ? 2 : even ? 2 * pick(1, 2) : pick(3, 4)
    depth = pick(0, 3)
    steps = n_kinds > 1 ? 30 : pick(60, 100)
    print "/* ranks " ranks " */"
    for (k = 1; k <= n_kinds; k++)
        print "/* " kinds[k] " " word(k) " */"
    print "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n"
    print "static int rank, size;\nstatic double data[210000], *all;\nstatic char name[4096];\n"
    print "static void work_ms(int ms)\n{\n    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);\n}\n"
    print "static void __attribute__((unused)) serve_ms(int ms)\n{\n    work_ms(ms);\n}\n"
    calls = ""
    for (k = 1; k <= n_kinds; k++) {
        kind = kinds[k]
        body = step_body()
        print "static void __attribute__((noinline)) " word(k) "(void)\n{\n" body "    __asm__ volatile(\"\");\n}\n"
        calls = calls "    " word(k) "();\n"
    }
    print "static void __attribute__((noinline)) level_0(void)\n{\n" calls "    __asm__ volatile(\"\");\n}\n"
    for (i = 1; i <= depth; i++)
        print "static void __attribute__((noinline)) level_" i "(void)\n{\n    level_" (i - 1) \
            "();\n    __asm__ volatile(\"\");\n}\n"
    print "int main(int argc, char **argv)\n{\n    MPI_Init(&argc, &argv);"
    print "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n    MPI_Comm_size(MPI_COMM_WORLD, &size);"
    print "    all = malloc(sizeof data * (size_t)size);"
    print "    snprintf(name, sizeof name, \"%s.%d.tmp\", argc > 1 ? argv[1] : \"fault\", rank);"
    print "    for (int step = 0; step < " steps "; step++)\n        level_" depth "();"
    print "    remove(name);\n    free(all);\n    MPI_Finalize();\n    return 0;\n}"
}

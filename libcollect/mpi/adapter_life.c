/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of the MPI that an adapter serves: MPI_Init, MPI_Finalize, MPI_Abort, MPI_Pcontrol.
 *
 * MPI_Init. Right after the real one: an attribute on MPI_COMM_SELF whose delete callback merges.
 * It is set first, so it is deleted last, after the attributes by which I/O libraries close their
 * files. If a tool after this library calls PMPI_Init from its MPI_Init, both calls come through
 * here: the inner return is the right moment. All this also happens if the call is not counted.
 *
 * The code in MPI_Init needs no other rank. The communicator of the merge is made in MPI_Finalize,
 * after rank 0 has announced that all ranks take part; before that no rank makes a blocking call.
 */
#include "libcollect/mpi/adapter_domain.h"
#include "libcollect/mpi/adapter_requests.h"
#include "merge/ending.h"

#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

int pc_wrap_MPI_Init(int *argc, char ***argv);
int pc_wrap_PMPI_Init(int *argc, char ***argv);
int pc_wrap_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int pc_wrap_PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int pc_wrap_MPI_Finalize(void);
int pc_wrap_PMPI_Finalize(void);
int pc_wrap_MPI_Abort(MPI_Comm comm, int errorcode);
int pc_wrap_PMPI_Abort(MPI_Comm comm, int errorcode);
int pc_wrap_MPI_Pcontrol(int level, ...);
int pc_wrap_PMPI_Pcontrol(int level, ...);

/* ---- Transport ------------------------------------------------------------------------------ */

#define CHUNK_BYTES ((size_t)1 << 28)

enum { TAG_SIZE = 1, TAG_DATA = 2 };

/* A turn of the loop that takes longer than this counts as this long: the process or the machine
 * was stopped meanwhile. */
enum { MOST_OF_A_TURN_NS = 100000000 };

/* A rank that waits gives its processor away after each test, and after AWAKE_NS sleeps between
 * them: where ranks share processors, the others cannot come as long as it spins. A nap is the
 * NAP_PARTth part of what it has waited: a long wait takes few turns and gets little longer. */
enum { AWAKE_NS = 200000, NAP_PART = 8, MOST_OF_A_NAP_NS = 1000000 };

static MPI_Comm own_comm;

static int result_of(int rc)
{
    return rc == MPI_SUCCESS ? PC_OK : PC_EIO;
}

/* Waits up to a limit (PC_ENOENT). Tests once more when it is reached: messages may have arrived
 * while the process was stopped. */
static int await_request(MPI_Request *request, uint64_t limit_ns)
{
    uint64_t spent = 0, last = pc_mono_ns();
    for (;;) {
        int done = 0;
        bool is_last = spent >= limit_ns;
        if (PC_REAL(Test)(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return PC_EIO;
        if (done)
            return PC_OK;
        if (is_last)
            return PC_ENOENT;
        pc_core->alive();
        if (spent < AWAKE_NS) {
            sched_yield();
        } else {
            uint64_t part_ns = spent / NAP_PART;
            pc_nap_ns(part_ns < MOST_OF_A_NAP_NS ? part_ns : MOST_OF_A_NAP_NS);
        }
        uint64_t now = pc_mono_ns(), turn = now - last;
        spent += turn < MOST_OF_A_TURN_NS ? turn : MOST_OF_A_TURN_NS;
        last = now;
    }
}

/* Completes what was begun, if it could be. */
static int complete(int rc, MPI_Request *request)
{
    return rc == MPI_SUCCESS ? await_request(request, UINT64_MAX) : PC_EIO;
}

static int send_part(const void *data, size_t n, int to, int tag)
{
    MPI_Request request;
    int rc = PC_REAL(Isend)(data, (int)n, MPI_BYTE, to, tag, own_comm, &request);
    return complete(rc, &request);
}

static int receive_part(void *data, size_t n, int from, int tag)
{
    MPI_Request request;
    int rc = PC_REAL(Irecv)(data, (int)n, MPI_BYTE, from, tag, own_comm, &request);
    return complete(rc, &request);
}

static size_t part_of(size_t left)
{
    return left < CHUNK_BYTES ? left : CHUNK_BYTES;
}

static int send_data(void *self, const void *data, size_t n, int to)
{
    (void)self;
    uint64_t size = n;
    int err = send_part(&size, sizeof size, to, TAG_SIZE);
    for (size_t done = 0, part; !err && done < n; done += part) {
        part = part_of(n - done);
        err = send_part((const char *)data + done, part, to, TAG_DATA);
    }
    return err;
}

static int receive_size(void *self, int from, size_t *n_out)
{
    (void)self;
    uint64_t size = 0;
    int err = receive_part(&size, sizeof size, from, TAG_SIZE);
    if (!err)
        *n_out = (size_t)size;
    return err;
}

static int receive_data(void *self, void *data, size_t n, int from)
{
    (void)self;
    int err = PC_OK;
    for (size_t done = 0, part; !err && done < n; done += part) {
        part = part_of(n - done);
        err = receive_part((char *)data + done, part, from, TAG_DATA);
    }
    return err;
}

static int broadcast_data(void *self, void *data, size_t n, int root)
{
    (void)self;
    int err = PC_OK;
    for (size_t done = 0, part; !err && done < n; done += part) {
        MPI_Request request;
        part = part_of(n - done);
        int rc =
            PC_REAL(Ibcast)((char *)data + done, (int)part, MPI_BYTE, root, own_comm, &request);
        err = complete(rc, &request);
    }
    return err;
}

/* ---- Meeting of the ranks ------------------------------------------------------------------- */

/* The words that ranks exchange in the meeting (merge/meet.c). Each step is a nonblocking
 * collective that sends directly from or to rank 0 (Iscatterv and Igatherv are linear in the
 * sources of Open MPI and MPICH): a rank that is missing or has left delays no other rank's word. A
 * rank that leaves abandons its requests, so the buffers that they use are never freed. Rank 0
 * takes its memory in MPI_Init: the program may limit memory later. */
struct words {
    int bytes;           /* of a word, which is the last of them, and what goes with it */
    char *all;           /* on rank 0: those of each rank */
    int *sizes, *begins; /* on rank 0 */
    _Alignas(uint64_t) char own[sizeof(struct pc_route) + 1]; /* on another rank */
};

static struct words words[PC_MEET_STEPS];
static MPI_Request requests[PC_MEET_STEPS];
static bool is_begun[PC_MEET_STEPS];

/* Bytes from the word of a rank to that of the next one. */
static size_t stride_of(const struct words *w)
{
    return ((size_t)w->bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static void prepare_words(int n_ranks)
{
    size_t n = (size_t)n_ranks, bytes = 0;
    for (int step = 0; step < PC_MEET_STEPS; step++)
        words[step].bytes = 1;
    words[PC_MEET_HERE].bytes += (int)sizeof(uint64_t);
    words[PC_MEET_OPEN].bytes += (int)pc_route_bytes(n_ranks);
    for (int step = 0; step < PC_MEET_STEPS; step++)
        bytes += n * (stride_of(&words[step]) + 2 * sizeof(int));
    if (pc_world_rank != 0)
        return;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int step = 0; memory != MAP_FAILED && step < PC_MEET_STEPS; step++) {
        struct words *w = &words[step];
        w->all = memory;
        w->sizes = (int *)(w->all + n * stride_of(w));
        w->begins = w->sizes + n;
        memory = (char *)(w->begins + n);
    }
}

static void *with_word(void *self, enum pc_meeting_step step, int rank)
{
    struct words *w = &words[step];
    (void)self;
    return w->all ? w->all + (size_t)rank * stride_of(w) : w->own;
}

/* The word of a rank. Rank 0 reads words of a gather that has not ended: both MPIs receive each
 * directly into its place. */
static volatile char *place_of_word(enum pc_meeting_step step, int rank)
{
    return (char *)with_word(NULL, step, rank) + words[step].bytes - 1;
}

static char word_of(void *self, enum pc_meeting_step step, int rank)
{
    (void)self;
    return *place_of_word(step, rank);
}

/* Begins a step on rank 0. */
static int begin_here(enum pc_meeting_step step, char word, MPI_Request *request)
{
    struct words *w = &words[step];
    bool gathers = pc_meet_gathers(step);
    for (int i = 0; i < pc_world_size; i++) {
        w->sizes[i] = w->bytes;
        w->begins[i] = i * (int)stride_of(w);
        if (!gathers || i == 0)
            *place_of_word(step, i) = word;
    }
    return gathers ? PC_REAL(Igatherv)(MPI_IN_PLACE, w->bytes, MPI_BYTE, w->all, w->sizes,
                                       w->begins, MPI_BYTE, 0, MPI_COMM_WORLD, request)
                   : PC_REAL(Iscatterv)(w->all, w->sizes, w->begins, MPI_BYTE, MPI_IN_PLACE,
                                        w->bytes, MPI_BYTE, 0, MPI_COMM_WORLD, request);
}

static int begin_elsewhere(enum pc_meeting_step step, char word, MPI_Request *request)
{
    struct words *w = &words[step];
    if (!pc_meet_gathers(step))
        return PC_REAL(Iscatterv)(NULL, NULL, NULL, MPI_BYTE, w->own, w->bytes, MPI_BYTE, 0,
                                  MPI_COMM_WORLD, request);
    *place_of_word(step, 0) = word;
    return PC_REAL(Igatherv)(w->own, w->bytes, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE, 0,
                             MPI_COMM_WORLD, request);
}

static int begin_step(void *self, enum pc_meeting_step step, char word)
{
    (void)self;
    if (pc_world_rank == 0 && !words[step].all)
        return PC_ENOMEM;
    int rc = pc_world_rank ? begin_elsewhere(step, word, &requests[step])
                           : begin_here(step, word, &requests[step]);
    is_begun[step] = rc == MPI_SUCCESS;
    return result_of(rc);
}

static int await_step(void *self, enum pc_meeting_step step, int limit_ms)
{
    (void)self;
    return await_request(&requests[step],
                         limit_ms < 0 ? UINT64_MAX : (uint64_t)limit_ms * 1000000u);
}

static uint64_t now_ms(void *self)
{
    (void)self;
    return pc_mono_ns() / 1000000u;
}

/* ---- Communicator of the merge -------------------------------------------------------------- */

/* True once the program has asked for attributes of communicators with a copy function. */
static atomic_bool has_copied_attributes;

void pc_seen_keyval(uintptr_t copy)
{
    if (copy)
        atomic_store(&has_copied_attributes, true);
}

/* Makes the communicator of the merge without the program's attributes. */
static int create_comm(void)
{
    MPI_Group world;
    if (PC_REAL(Comm_group)(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
        return PC_EIO;
    int rc = PC_REAL(Comm_create)(MPI_COMM_WORLD, world, &own_comm);
    PC_REAL(Group_free)(&world);
    return result_of(rc);
}

/* Makes it as a copy if no rank has attributes whose copy callbacks would run. That needs no
 * blocking call: ranks of MPICH spin in MPI_Comm_create, and where they share processors this takes
 * most of MPI_Finalize. Open MPI gives processors away there. */
static int make_comm(void)
{
#ifdef MPICH
    MPI_Request request;
    int has_copied = atomic_load(&has_copied_attributes);
    int err = complete(PC_REAL(Iallreduce)(MPI_IN_PLACE, &has_copied, 1, MPI_INT, MPI_LOR,
                                           MPI_COMM_WORLD, &request),
                       &request);
    if (err)
        return err;
    if (!has_copied)
        return complete(PC_REAL(Comm_idup)(MPI_COMM_WORLD, &own_comm, &request), &request);
#endif
    return create_comm();
}

/* All ranks take part, so the collectives that were begun complete. */
static int join_others(void *self)
{
    for (int step = 0; step < PC_MEET_STEPS; step++)
        if (is_begun[step])
            await_step(self, step, PC_MEET_ANSWER_MS);
    int err = make_comm();
    if (!err)
        PC_REAL(Comm_set_errhandler)(own_comm, MPI_ERRORS_RETURN);
    return err;
}

static struct pc_transport transport = {
    .begin = begin_step,
    .await = await_step,
    .word = word_of,
    .with_word = with_word,
    .now_ms = now_ms,
    .join = join_others,
    .send = send_data,
    .receive_size = receive_size,
    .receive = receive_data,
    .broadcast = broadcast_data,
};

/* ---- MPI_Init ------------------------------------------------------------------------------- */

enum { BEFORE, INITIALISING, RUNNING, FINALISING };

static _Atomic int stage;

static int copy_nothing(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int merge_at_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    pc_requests_close();
    pc_core->merge(&transport);
    return MPI_SUCCESS;
}

/* Sets the attribute whose delete callback merges; true on success. */
static bool prepare_merge(void)
{
    int keyval;
    MPI_Comm parent = MPI_COMM_NULL;
    transport.rank = pc_world_rank;
    transport.n_ranks = pc_world_size;
    prepare_words(pc_world_size);
    if (PC_REAL(Comm_get_parent)(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL)
        PC_REAL(Comm_remote_size)(parent, &transport.n_parents);
    return PC_REAL(Comm_create_keyval)(copy_nothing, merge_at_end, &keyval, NULL) == MPI_SUCCESS &&
           PC_REAL(Comm_set_attr)(MPI_COMM_SELF, keyval, NULL) == MPI_SUCCESS;
}

/* The first line of MPI_Get_library_version, as far as it fits. */
static void name_library(char *name, size_t n)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    PC_REAL(Get_library_version)(text, &length);
    for (char *p = text; *p; p++)
        if (*p == '\t' || (*p == ',' && p[1] == ' '))
            *p = p[0] == '\t' ? ' ' : '\0';
        else if (*p == '\n')
            *p = '\0';
    pc_format(name, n, "%s", text[0] ? text : PC_ADAPTER_NAME);
}

static void enter_init(void)
{
    int expected = BEFORE;
    if (atomic_compare_exchange_strong(&stage, &expected, INITIALISING))
        pc_core->init_begin();
}

/* `call` is NULL if it is not measured: a tool that is behind this library has made it. */
static void leave_init(struct pc_call *call, int rc)
{
    int expected = INITIALISING;
    char name[128];
    if (rc != MPI_SUCCESS || !atomic_compare_exchange_strong(&stage, &expected, RUNNING))
        return;
    PC_REAL(Comm_rank)(MPI_COMM_WORLD, &pc_world_rank);
    PC_REAL(Comm_size)(MPI_COMM_WORLD, &pc_world_size);
    pc_mpi_learn_types(pc_find_data);
    struct pc_call own = {.slot = PC_SLOT(PC_OP_Init, 0)};
    if (call || pc_core->stand_in(&own))
        pc_domain_start(call ? call : &own);
    name_library(name, sizeof name);
    if (prepare_merge())
        pc_core->init_end(&transport, name);
    else
        pc_log("MPI refused an attribute of MPI_COMM_SELF: the profile cannot be merged");
}

/* ---- MPI_Session_init ----------------------------------------------------------------------- */

/* A program may use sessions alone. Then there is no moment at which all its processes meet, and
 * their arenas stay for `pcollect recover`, which needs to know the rank of this process. */
void pc_rule_opened_session(struct pc_call *call, const MPI_Session *session)
{
    static _Atomic int n_sessions;
    struct pc_transport alone = transport;
    MPI_Group world;
    char name[128];
    (void)call;
    if (atomic_fetch_add(&n_sessions, 1) || atomic_load(&stage) != BEFORE ||
        !pc_pmpi[PC_OP_Group_from_session_pset] || !pc_pmpi[PC_OP_Group_rank])
        return;
    if (PC_REAL(Group_from_session_pset)(*session, "mpi://WORLD", &world) != MPI_SUCCESS)
        return;
    int rc = PC_REAL(Group_rank)(world, &alone.rank);
    if (rc == MPI_SUCCESS && PC_REAL(Group_size)(world, &alone.n_ranks) == MPI_SUCCESS) {
        name_library(name, sizeof name);
        pc_core->init_begin();
        pc_core->init_end(&alone, name);
    }
    PC_REAL(Group_free)(&world);
}

#define BEGIN(call, op, is_pmpi)                                                                   \
    struct pc_call call;                                                                           \
    bool counted = PC_BEGIN(call, PC_SLOT(PC_OP_##op, is_pmpi))

/* Tells plugins of a call that begins. */
static void ask_plugins(struct pc_call *call)
{
    if (!pc_core->asks)
        return;
    pc_call_clear(call);
    if (pc_core->pre)
        pc_core->pre(call);
}

/* Does the same as PC_CALL, also for calls that are not counted. */
#define CALL(call, real_call)                                                                      \
    if (counted)                                                                                   \
        ask_plugins(&call);                                                                        \
    call.event.begin = pc_ticks();                                                                 \
    int rc = real_call;                                                                            \
    call.event.end = pc_ticks();                                                                   \
    call.event.result = rc

#define END(call)                                                                                  \
    if (counted)                                                                                   \
    pc_core->end(&call)

#define INIT(op, is_pmpi, table, arguments)                                                        \
    BEGIN(call, op, is_pmpi);                                                                      \
    enter_init();                                                                                  \
    CALL(call, ((pc_fn_##op *)table[PC_OP_##op])arguments);                                        \
    leave_init(counted ? &call : NULL, rc);                                                        \
    END(call);                                                                                     \
    return rc

int pc_wrap_MPI_Init(int *argc, char ***argv)
{
    INIT(Init, 0, pc_mpi, (argc, argv));
}

int pc_wrap_PMPI_Init(int *argc, char ***argv)
{
    INIT(Init, 1, pc_pmpi, (argc, argv));
}

int pc_wrap_MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    INIT(Init_thread, 0, pc_mpi, (argc, argv, required, provided));
}

int pc_wrap_PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    INIT(Init_thread, 1, pc_pmpi, (argc, argv, required, provided));
}

/* ---- MPI_Finalize --------------------------------------------------------------------------- */

/* True for the outermost of nested calls of MPI_Finalize. */
static bool enter_finalize(void)
{
    int expected = RUNNING;
    if (!atomic_compare_exchange_strong(&stage, &expected, FINALISING))
        return false;
    pc_core->finalize_begin();
    pc_comm_stop();
    return true;
}

#define FINALIZE(is_pmpi, table)                                                                   \
    BEGIN(call, Finalize, is_pmpi);                                                                \
    bool outermost = enter_finalize();                                                             \
    CALL(call, ((pc_fn_Finalize *)table[PC_OP_Finalize])());                                       \
    END(call);                                                                                     \
    if (outermost)                                                                                 \
        pc_core->finalize_end(call.event.end);                                                     \
    return rc

int pc_wrap_MPI_Finalize(void)
{
    FINALIZE(0, pc_mpi);
}

int pc_wrap_PMPI_Finalize(void)
{
    FINALIZE(1, pc_pmpi);
}

/* ---- MPI_Abort, MPI_Pcontrol ---------------------------------------------------------------- */

/* MPI_Abort does not return, so the call is booked before it is made, without a duration. */
#define ABORT(is_pmpi, table)                                                                      \
    BEGIN(call, Abort, is_pmpi);                                                                   \
    if (counted) {                                                                                 \
        ask_plugins(&call);                                                                        \
        call.event.begin = call.event.end = pc_ticks();                                            \
        call.event.result = MPI_SUCCESS;                                                           \
        pc_core->end(&call);                                                                       \
    }                                                                                              \
    return ((pc_fn_Abort *)table[PC_OP_Abort])(comm, errorcode)

int pc_wrap_MPI_Abort(MPI_Comm comm, int errorcode)
{
    ABORT(0, pc_mpi);
}

int pc_wrap_PMPI_Abort(MPI_Comm comm, int errorcode)
{
    ABORT(1, pc_pmpi);
}

enum { N_WORDS = 5, N_DOUBLES = 8 };

/* Arguments of MPI_Pcontrol that only a tool behind knows. Nothing tells how many there are: taken
 * are those that the registers of any processor can hold. Where doubles have no registers of their
 * own in a variadic call, they are among the words. */
struct unknown {
    uintptr_t words[N_WORDS];
    double doubles[N_DOUBLES];
};

static void take_unknown(struct unknown *u, va_list *list)
{
    for (int i = 0; i < N_WORDS; i++)
        u->words[i] = va_arg(*list, uintptr_t);
#if defined __x86_64__ || defined __aarch64__
    for (int i = 0; i < N_DOUBLES; i++)
        u->doubles[i] = va_arg(*list, double);
#endif
}

static int pass_pcontrol(pc_fn_Pcontrol *real, int level, const struct unknown *u)
{
    const uintptr_t *w = u->words;
#if defined __x86_64__ || defined __aarch64__
    const double *d = u->doubles;
    return real(level, w[0], w[1], w[2], w[3], w[4], d[0], d[1], d[2], d[3], d[4], d[5], d[6],
                d[7]);
#else
    return real(level, w[0], w[1], w[2], w[3], w[4]);
#endif
}

/* The level takes effect wherever the call comes from; a call from Fortran is counted at its
 * Fortran name. */
#define PCONTROL(is_pmpi, table)                                                                   \
    BEGIN(call, Pcontrol, is_pmpi);                                                                \
    struct unknown more;                                                                           \
    va_list list;                                                                                  \
    va_start(list, level);                                                                         \
    take_unknown(&more, &list);                                                                    \
    va_end(list);                                                                                  \
    CALL(call, pass_pcontrol((pc_fn_Pcontrol *)table[PC_OP_Pcontrol], level, &more));              \
    END(call);                                                                                     \
    pc_core->control(level);                                                                       \
    return rc

int pc_wrap_MPI_Pcontrol(int level, ...)
{
    PCONTROL(0, pc_mpi);
}

int pc_wrap_PMPI_Pcontrol(int level, ...)
{
    PCONTROL(1, pc_pmpi);
}

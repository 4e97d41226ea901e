/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stacks that one node sends to another arrive as they were; of damaged bytes none is believed that
 * leads out of them.
 */
#include "analysis/allocation.h"
#include "watch/node_stacks.h"
#include "watch/stack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct pct_message messages[] = {{true, PCT_COMM_WORLD, 7, 3, 5, NULL, 0},
                                        {false, PCT_COMM_OTHER, 1234567890123, -1, -2, NULL, 0}};

enum { N_NAMED = 100 };
static const struct pct_frame other = {.function = "other"};

/* The numbers of ranks in an answer. */
struct numbers {
    int world;
    int ranks[2];
    struct pct_comm_place places[2];
};

static const struct numbers right = {8, {4, 5}, {{99, 4, 0, 2}, {99, 5, 1, 2}}};

/* A watch of two ranks: one waits for two requests, one computes. */
static void make(struct pc_buffer *out, const struct numbers *numbers)
{
    struct pct_watched processes[] = {{.pid = 101, .rank = numbers->ranks[0]},
                                      {.pid = 102, .rank = numbers->ranks[1], .ended = true}};
    struct pct_watched_job job = {
        .processes = processes, .n = 2, .world = numbers->world, .whole = true};
    struct pc_buffer frames = {0};
    struct pct_watch w = {.job = &job, .all_threads = true, .sent = &frames};
    struct pc_error error;
    const struct pct_stack_module *program =
        pct_stack_module(&w.frames.modules, "/bin/program", (const uint8_t *)"\1\2\3", 3);
    struct pct_stack_frame at[] = {{program, "inner", 0x1234, true, NULL},
                                   {NULL, NULL, 0x7fff00000000, false, NULL},
                                   {program, "main", 9, false, NULL}};
    struct pct_watched_stack of[] = {{.process = 0, .tid = 101, .state = 'S'},
                                     {.process = 1, .tid = 103, .state = 'R'}};
    struct pct_mpi_call *call = &of[0].call;
    *call = (struct pct_mpi_call){.known = true,
                                  .op = "MPI_Waitall",
                                  .peer = -1,
                                  .root = -1,
                                  .tag = -1,
                                  .source = -1,
                                  .n_messages = 2,
                                  .n_unknown = 1};
    call->messages = pct_alloc(2, sizeof *call->messages);
    memcpy(call->messages, messages, sizeof messages);
    for (int i = 0; i < 2; i++) {
        struct pct_stack s = {.frames = at, .n = i ? 1 : 3, .cut = i, .op = of[i].call.op};
        assert_int_equal(pct_stack_add(&w, &of[i], &s, &error), PC_OK);
    }
    for (uint32_t i = 0; i < N_NAMED; i++) {
        const struct pct_frame frame = {.function = "f", .file = i % 2 ? "f.py" : NULL, .line = i};
        pct_named_add(&w.frames.named, program, i * 16, (struct pct_place){&frame, 1});
        pct_named_add(&w.frames.named, program, i * 16, (struct pct_place){&other, 1});
    }
    pct_named_add(&w.frames.named, program, 1, (struct pct_place){NULL, 0}); /* it is not sent */
    w.stacks[0].call_ns = UINT64_C(5000000000);
    w.n_other = 3;
    w.n_lost = 1;
    w.comms.at = pct_alloc(2, sizeof *w.comms.at);
    memcpy(w.comms.at, numbers->places, sizeof numbers->places);
    w.comms.n = 2;
    pct_sent_put(out, &w, 1);
    assert_false(out->failed);
    free(frames.data);
    pct_watch_free(&w);
}

struct received {
    struct pct_watch w;
    struct pct_sent sent;
};

/* Reads an answer, and looks up the members of its communicators as the reader does. */
static bool receive(struct received *r, const uint8_t *data, size_t n)
{
    *r = (struct received){0};
    bool whole = pct_sent_get(&(struct pc_cursor){.at = data, .end = data + n}, &r->w, &r->sent);
    for (size_t i = 0; i < r->w.comms.n; i++) {
        int n_members;
        pct_free(pct_comm_members(&r->w.comms, r->w.comms.at[i].id, &n_members));
    }
    return whole;
}

static void drop(struct received *r)
{
    pct_sent_free(&r->sent);
    pct_watch_free(&r->w);
}

static void stacks_arrive_as_they_were(void **state)
{
    struct pc_buffer b = {0};
    struct received r;
    (void)state;
    make(&b, &right);
    assert_true(receive(&r, b.data, b.n));
    const struct pct_sent *s = &r.sent;
    assert_int_equal(s->world, 8);
    assert_true(s->whole);
    assert_int_equal(s->n, 2);
    assert_int_equal(s->processes[1].pid, 102);
    assert_int_equal(s->processes[1].rank, 5);
    assert_true(s->processes[1].ended && !s->processes[0].ended);
    assert_int_equal(s->n_other, 3);
    assert_int_equal(s->n_lost, 1);
    assert_int_equal(s->n_stacks, 2);
    assert_int_equal(s->first, 1);
    const struct pct_sent_stack *waits = &s->stacks[0], *computes = &s->stacks[1];
    assert_string_equal(waits->of.call.op, "MPI_Waitall");
    assert_true(waits->of.call.known && waits->of.call_ns == UINT64_C(5000000000));
    assert_int_equal(waits->of.call.n_unknown, 1);
    assert_int_equal(waits->of.call.n_messages, 2);
    assert_memory_equal(waits->of.call.messages, messages, sizeof messages);
    assert_int_equal(waits->stack.n, 3);
    assert_string_equal(waits->stack.frames[0].module->path, "/bin/program");
    assert_int_equal(waits->stack.frames[0].module->n_build_id, 3);
    assert_string_equal(waits->stack.frames[0].function, "inner");
    assert_true(waits->stack.frames[0].exact && waits->stack.frames[0].offset == 0x1234);
    assert_null(waits->stack.frames[1].module);
    assert_true(waits->stack.frames[1].offset == 0x7fff00000000);
    assert_ptr_equal(waits->stack.frames[2].module, waits->stack.frames[0].module);
    assert_int_equal(computes->of.tid, 103);
    assert_int_equal(computes->of.state, 'R');
    assert_true(computes->stack.cut && computes->stack.n == 1);
    assert_null(computes->of.call.op);
    assert_int_equal(r.w.frames.named.n, N_NAMED);
    for (uint32_t i = 0; i < N_NAMED; i++) {
        const struct pct_named_place *p = &r.w.frames.named.at[i];
        assert_ptr_equal(p->module, waits->stack.frames[0].module);
        assert_int_equal(p->offset, i * 16);
        assert_int_equal(p->place.n_frames, 1);
        assert_string_equal(p->place.frames->function, "f");
        assert_int_equal(p->place.frames->line, i);
        assert_true(i % 2 ? !strcmp(p->place.frames->file, "f.py") : !p->place.frames->file);
    }
    int n_members = 0, *members = pct_comm_members(&r.w.comms, 99, &n_members);
    assert_int_equal(n_members, 2);
    assert_true(members[0] == 4 && members[1] == 5);
    pct_free(members);
    drop(&r);
    free(b.data);
}

static void a_part_is_refused(void **state)
{
    struct pc_buffer b = {0};
    struct received r;
    (void)state;
    make(&b, &right);
    for (size_t n = 0; n < b.n; n++) {
        assert_false(receive(&r, b.data, n));
        drop(&r);
    }
    free(b.data);
}

/* Ranks that no job and no communicator has would be indices outside of what they are in. */
static void impossible_ranks_are_refused(void **state)
{
    static const struct numbers wrong[] = {
        {8, {4, 5}, {{99, 4, 0, 2}, {99, 5, -5, 2}}},
        {8, {4, 5}, {{99, 4, 0, 2}, {99, 5, 2, 2}}},
        {8, {4, 5}, {{99, 4, 0, 2}, {99, 5, 0, 0}}},
        {8, {4, 5}, {{99, 4, 0, 2}, {99, -1, 1, 2}}},
        {8, {4, -2}, {{99, 4, 0, 2}, {99, 5, 1, 2}}},
        {8, {4, INT32_MAX}, {{99, 4, 0, 2}, {99, 5, 1, 2}}},
        {INT32_MAX, {4, 5}, {{99, 4, 0, 2}, {99, 5, 1, 2}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pc_buffer b = {0};
        struct received r;
        make(&b, &wrong[i]);
        assert_false(receive(&r, b.data, b.n));
        drop(&r);
        free(b.data);
    }
}

/* Reads nothing outside of damaged bytes, refused or not: a sanitizer sees it.
 */
static void damaged_bytes_do_no_harm(void **state)
{
    struct pc_buffer b = {0};
    struct received r;
    size_t n_refused = 0;
    (void)state;
    make(&b, &right);
    for (size_t i = 0; i < b.n; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            b.data[i] ^= (uint8_t)(1u << bit);
            n_refused += !receive(&r, b.data, b.n);
            drop(&r);
            b.data[i] ^= (uint8_t)(1u << bit);
        }
    assert_true(n_refused > 0);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_arrive_as_they_were), cmocka_unit_test(a_part_is_refused),
        cmocka_unit_test(impossible_ranks_are_refused), cmocka_unit_test(damaged_bytes_do_no_harm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/launchers.h"
#include "base/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void formatter_agrees_with_printf(void **state)
{
    (void)state;
    static const long values[] = {0, 1, -1, 42, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < PC_ARRAY_LEN(values); i++) {
        char ours[200], theirs[200];
        pc_format(ours, sizeof ours, "<%d|%ld|%x|%s|%c|%%>", (int)values[i], values[i],
                  (unsigned)values[i], "text", 'c');
        snprintf(theirs, sizeof theirs, "<%d|%ld|%x|%s|%c|%%>", (int)values[i], values[i],
                 (unsigned)values[i], "text", 'c');
        assert_string_equal(ours, theirs);
    }
}

static void formatter_never_writes_past_its_buffer(void **state)
{
    (void)state;
    char out[12];
    memset(out, '#', sizeof out);
    assert_int_equal(pc_format(out, 8, "%s %d", "abcdef", 12345), 7);
    assert_string_equal(out, "abcdef ");
    assert_int_equal(out[8], '#');
}

/* Messages begin with the path of a file, which can have 4,095 bytes. */
static void a_long_error_keeps_both_ends(void **state)
{
    (void)state;
    static const size_t lengths[] = {400, 490, 520, 600, 4095};
    for (size_t i = 0; i < PC_ARRAY_LEN(lengths); i++) {
        char path[4096], whole[5000];
        struct pc_error e;
        memset(path, 'x', lengths[i]);
        memcpy(path, "/begin", 6);
        memcpy(path + lengths[i] - 5, "a.end", 6);
        assert_int_equal(pc_error_set(&e, PC_EIO, "%s: reason %d; cure", path, 7), PC_EIO);
        int n = snprintf(whole, sizeof whole, "%s: reason 7; cure", path);
        if (n < (int)sizeof e.text) {
            assert_string_equal(e.text, whole);
            continue;
        }
        assert_memory_equal(e.text, "/begin", 6);
        assert_non_null(strstr(e.text, "x...x"));
        assert_string_equal(strstr(e.text, "xa.end"), "xa.end: reason 7; cure");
    }
}

/* The lines of a text, each followed by a bar. */
static void lines(const char *text, size_t columns, char *out)
{
    for (const char *rest; *text; text = rest) {
        size_t n = pc_wrap(text, columns, &rest);
        assert_true(rest > text);
        memcpy(out, text, n);
        out += n;
        *out++ = '|';
    }
    *out = '\0';
}

static void text_is_broken_at_blanks_that_fit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *wanted;
    } cases[] = {
        {"", 5, ""},
        {"one two", 0, "one two|"},
        {"one two", 7, "one two|"},
        {"one two", 6, "one|two|"},
        {"one two", 3, "one|two|"},
        {"incomprehensible", 4, "incomprehensible|"},
        {"an incomprehensible word", 4, "an|incomprehensible|word|"},
        {"one\ntwo three\n\nfour", 20, "one|two three||four|"},
        {"one  two", 4, "one|two|"},
        {"takes 789.4 ms on 2", 12, "takes|789.4 ms on|2|"},
        {"at most 3 % of 5 tasks", 9, "at most|3 % of 5|tasks|"},
        {"5 ms", 3, "5|ms|"},
        {"\xc3\xa4\xc3\xb6\xc3\xbc z", 5, "\xc3\xa4\xc3\xb6\xc3\xbc z|"},
    };
    char out[200];
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        lines(cases[i].text, cases[i].columns, out);
        assert_string_equal(out, cases[i].wanted);
    }
}

static void clock_scale_converts_between_two_points(void **state)
{
    (void)state;
    /* 2.5 ticks per nanosecond over 10 s */
    uint64_t scale = pc_clock_scale(1000, 500, 1000 + 25000000000u, 500 + 10000000000u);
    assert_true(pc_clock_to_ns(25000000000u, scale) - 9999999990u <= 20);
    assert_int_equal(pc_clock_scale(5, 5, 5, 5), (uint64_t)1 << 32);
}

static void ticks_follow_the_monotonic_clock(void **state)
{
    (void)state;
    pc_clock_init();
    uint64_t t0, m0, t1, m1, t2, m2;
    pc_clock_pair(&t0, &m0);
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    pc_clock_pair(&t1, &m1);
    nanosleep(&pause, NULL);
    pc_clock_pair(&t2, &m2);
    uint64_t ns = pc_clock_to_ns(t2 - t1, pc_clock_scale(t0, m0, t1, m1));
    double ratio = (double)ns / (double)(m2 - m1);
    assert_true(ratio > 0.99 && ratio < 1.01);
}

static void byte_hash_is_stable_for_files(void **state)
{
    (void)state;
    assert_true(pc_hash_bytes("abc", 3, 0) == pc_hash_bytes("abc", 3, 0));
    assert_true(pc_hash_bytes("abc", 3, 0) != pc_hash_bytes("abc", 3, 1));
    assert_true(pc_hash_bytes("abc", 3, 0) != pc_hash_bytes("abd", 3, 0));
}

static void *run_on(void *arg)
{
    alarm(60);
    pause();
    return arg;
}

static void a_thread_has_its_own_time_and_the_process_that_of_all(void **state)
{
    (void)state;
    struct pc_process_status p = {0}, t = {0};
    if (getenv("PC_TEST_EMULATED")) /* qemu-user makes /proc/self/stat itself, without times */
        skip();
    while (t.cpu_ticks < 2)
        assert_true(pc_thread_look(getpid(), getpid(), &t));
    assert_true(pc_process_look(getpid(), &p));
    assert_int_equal(t.state, 'R');
    assert_int_equal(t.start, p.start);
    /* User and system time are each rounded down, and divided otherwise for all than for one. */
    assert_true(p.cpu_ticks + 1 >= t.cpu_ticks);
    assert_false(pc_thread_look(getpid(), getppid(), &t));
}

/* The kernel nevertheless calls it a zombie. */
static void process_without_its_first_thread_has_not_ended(void **state)
{
    (void)state;
    struct pc_process_status p = {0};
    siginfo_t info;
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run_on, NULL))
            _exit(1);
        pthread_exit(NULL);
    }
    assert_true(child > 0);
    for (int ms = 0; ms < 10000 && p.state != 'Z'; ms++) {
        usleep(1000);
        assert_true(pc_process_look(child, &p));
    }
    bool seen = p.state == 'Z', ended = p.ended;
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_true(pc_process_look(child, &p));
    assert_true(p.ended);
    assert_int_equal(p.parent, getpid());
    waitpid(child, NULL, 0);
    assert_false(pc_process_look(child, &p));
    if (!seen) /* emulators of processors may keep it */
        skip();
    assert_false(ended);
}

static void launchers_and_their_helpers_have_roles(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum pc_launcher_role role;
    } cases[] = {
        {"mpirun", PC_LAUNCHER_STARTS},
        {"mpirun.openmpi", PC_LAUNCHER_STARTS},
        {"mpiexec.hydra", PC_LAUNCHER_STARTS},
        {"mpiexec-openmpi-gcc", PC_LAUNCHER_STARTS},
        {"mpiexec-openmpi", PC_LAUNCHER_STARTS}, /* as the kernel cuts it */
        {"prterun", PC_LAUNCHER_STARTS},
        {"prun", PC_LAUNCHER_STARTS},
        {"jsrun", PC_LAUNCHER_STARTS},
        {"prte", PC_LAUNCHER_DAEMON},
        {"prted", PC_LAUNCHER_HELPER},
        {"hydra_pmi_proxy", PC_LAUNCHER_HELPER},
        {"slurmstepd", PC_LAUNCHER_DAEMON},
        {"mpirun_job.sh", PC_LAUNCHER_NONE},
        {"mpirun.py", PC_LAUNCHER_NONE},
        {"srun.x", PC_LAUNCHER_NONE},
        {"prun_all", PC_LAUNCHER_NONE},
        {"mpirunner", PC_LAUNCHER_NONE},
        {"mpirun_rsh", PC_LAUNCHER_STARTS},
        {"mpi", PC_LAUNCHER_NONE},
        {"", PC_LAUNCHER_NONE},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++)
        assert_int_equal(pc_launcher_role(cases[i].name), cases[i].role);
    size_t n = 0;
    for (const char *name; (name = pc_launcher_name(n)); n++)
        assert_int_equal(pc_launcher_role(name), PC_LAUNCHER_STARTS);
    assert_int_equal(n, 8);
    assert_null(pc_launcher_name(n + 1));
}

static void add_number(void *arg, int number)
{
    char *text = arg;
    snprintf(text + strlen(text), 8, "%d ", number);
}

static void numbers_of_a_list_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *list, *wanted; /* NULL: refused */
    } cases[] = {
        {"0\n", "0 "},
        {"0-3,8\n", "0 1 2 3 8 "},
        {"7", "7 "},
        {"2,4-5", "2 4 5 "},
        {"10-10\n", "10 "},
        {"", NULL},
        {"\n", NULL},
        {"0-3,", NULL},
        {"0-\n", NULL},
        {"-3", NULL},
        {"3-1", NULL},
        {"none\n", NULL},
        {"0-3:1/2\n", NULL},
        {"0, 1", NULL},
        {"99999999999999999999", NULL},
        {"2147483648", NULL},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(cases); i++) {
        char seen[100] = "";
        bool good = pc_list_numbers(cases[i].list, add_number, seen);
        assert_int_equal(good, cases[i].wanted != NULL);
        if (good)
            assert_string_equal(seen, cases[i].wanted);
    }
}

static void count_number(void *arg, int number)
{
    (void)number;
    ++*(long *)arg;
}

static void the_machine_lists_its_processors(void **state)
{
    (void)state;
    long n = 0;
    if (access("/sys/devices/system/cpu/online", R_OK))
        skip();
    assert_true(pc_online_processors(count_number, &n));
    assert_true(n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formatter_agrees_with_printf),
        cmocka_unit_test(a_long_error_keeps_both_ends),
        cmocka_unit_test(formatter_never_writes_past_its_buffer),
        cmocka_unit_test(text_is_broken_at_blanks_that_fit),
        cmocka_unit_test(clock_scale_converts_between_two_points),
        cmocka_unit_test(ticks_follow_the_monotonic_clock),
        cmocka_unit_test(byte_hash_is_stable_for_files),
        cmocka_unit_test(a_thread_has_its_own_time_and_the_process_that_of_all),
        cmocka_unit_test(process_without_its_first_thread_has_not_ended),
        cmocka_unit_test(launchers_and_their_helpers_have_roles),
        cmocka_unit_test(numbers_of_a_list_are_seen),
        cmocka_unit_test(the_machine_lists_its_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding the arenas of a folder, and merging those of a job: which are taken, which are left out,
 * and the messages.
 */
#include "tests/merge/made_arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/folder.h"

struct said {
    unsigned n;
    char text[4000];
};

static void say(void *arg, const char *line)
{
    struct said *s = arg;
    s->n++;
    snprintf(s->text + strlen(s->text), sizeof s->text - strlen(s->text), "%s\n", line);
}

/* Differences from an arena of job 1 of 4 ranks left by a process that has ended. */
struct left {
    int rank;
    uint64_t job_key, start_ns;
    int n_ranks, pid;
    uint32_t state;
    bool wrong_field, other_host;
};

static void leave(const char *name, const struct left *l)
{
    char path[PATH_BYTES];
    struct made m;
    struct making how = {.rank = l->rank,
                         .n_ranks = l->n_ranks ? l->n_ranks : 4,
                         .seed = 1,
                         .bytes = PC_ARENA_MIN_BYTES};
    struct fact fact = {.rank = l->rank,
                        .depth = 1,
                        .frames = {{1, 5}},
                        .op = 2,
                        .has_data = true,
                        .values = {(uint64_t)l->rank + 1}};
    made_arena(&m, &how, &fact, 1);
    struct pcollect_arena_header *h = m.arena.header;
    h->job_key = l->job_key ? l->job_key : 1;
    if (l->job_key == UINT64_MAX)
        h->job_key = 0;
    h->realtime_0_ns = l->start_ns;
    h->pid = l->pid ? l->pid : 0x7ffffff0;
    if (l->state)
        h->state = l->state;
    if (l->other_host)
        snprintf(h->host, sizeof h->host, "another-host");
    if (l->wrong_field) {
        struct pcollect_plugin_rec *plugin = pc_arena_at(&m.arena, h->plugins);
        for (uint32_t i = 0; i < plugin->n_fields; i++)
            if (plugin->fields[i].combine == PCOLLECT_MAX)
                plugin->fields[i].combine = PCOLLECT_MIN;
    }
    made_write(&m, path_in(path, name));
    pc_arena_close(&m.arena);
}

static void write_text(const char *name, const char *text, size_t n)
{
    char path[PATH_BYTES];
    FILE *f = fopen(path_in(path, name), "w");
    assert_non_null(f);
    fwrite(text, 1, n, f);
    fclose(f);
}

static void clean(void)
{
    char command[500];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", folder, folder);
    assert_int_equal(system(command), 0);
}

static void list(struct pc_merge_list *l, struct said *s)
{
    struct pc_error error;
    *s = (struct said){0};
    if (pc_merge_list_add(l, folder, say, s, &error))
        fail_msg("%s", error.text);
}

/* ---- Folders --------------------------------------------------------------------------------- */

static void folders_without_arenas(void **state)
{
    (void)state;
    struct pc_merge_list l = {NULL, 0, 0};
    struct pc_error error;
    struct said s;
    char path[PATH_BYTES];
    clean();
    list(&l, &s);
    assert_int_equal(l.n, 0);
    assert_int_equal(l.n_jobs, 0);
    assert_int_equal(pc_merge_list_add(&l, path_in(path, "missing"), say, &s, &error), PC_ENOENT);
    assert_non_null(strstr(error.text, "missing: No such file"));
    write_text("file", "x", 1);
    assert_int_equal(pc_merge_list_add(&l, path_in(path, "file"), say, &s, &error), PC_EIO);
    pc_merge_list_free(&l);
}

static void jobs_are_told_apart_and_sorted(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct left left;
        uint32_t job; /* expected */
        size_t place;
    } files[] = {
        {"a.arena", {.rank = 2, .job_key = 7, .start_ns = 50}, 1, 3},
        {"b.arena", {.rank = -1, .job_key = UINT64_MAX, .start_ns = 40}, 2, 4},
        {"c.arena", {.rank = 0, .job_key = 7, .start_ns = 30}, 1, 1},
        {"d.arena", {.rank = 1, .job_key = 3, .start_ns = 20}, 0, 0},
        {"e.arena", {.rank = 1, .job_key = 7, .start_ns = 90}, 1, 2},
        {"f.arena", {.rank = -1, .job_key = UINT64_MAX, .start_ns = 45}, 3, 5},
    };
    struct pc_merge_list l = {NULL, 0, 0};
    struct said s;
    clean();
    for (unsigned i = 0; i < PC_ARRAY_LEN(files); i++)
        leave(files[i].name, &files[i].left);
    list(&l, &s);
    assert_int_equal(s.n, 0);
    assert_int_equal(l.n, PC_ARRAY_LEN(files));
    assert_int_equal(l.n_jobs, 4);
    for (unsigned i = 0; i < PC_ARRAY_LEN(files); i++) {
        const struct pc_merge_found *f = &l.found[files[i].place];
        assert_non_null(strstr(f->path, files[i].name));
        assert_int_equal(f->job, files[i].job);
        assert_int_equal(f->rank, files[i].left.rank);
        assert_false(f->alive);
        assert_string_equal(f->exe, "/bin/solver");
    }
    pc_merge_list_free(&l);
}

/* As for folders of several nodes: jobs get new numbers. */
static void a_second_folder_joins_the_jobs_of_the_first(void **state)
{
    (void)state;
    struct pc_merge_list l = {NULL, 0, 0};
    struct said s;
    clean();
    for (int i = 0; i < 40; i++) {
        char name[40];
        snprintf(name, sizeof name, "%d.arena", i);
        leave(name, &(struct left){.rank = i / 4,
                                   .job_key = 1 + (uint64_t)i % 4,
                                   .n_ranks = 20,
                                   .start_ns = 100 - (uint64_t)i % 4});
    }
    list(&l, &s);
    assert_int_equal(l.n_jobs, 4);
    clean();
    leave("x.arena", &(struct left){.rank = 19, .n_ranks = 20, .job_key = 2, .start_ns = 5});
    list(&l, &s);
    assert_int_equal(l.n_jobs, 4);
    assert_int_equal(l.n, 41);
    for (unsigned i = 0; i < 11; i++) {
        assert_int_equal(l.found[i].job, 0); /* job 2 has the first process by now */
        assert_int_equal(l.found[i].job_key, 2);
        assert_int_equal(l.found[i].rank, i < 10 ? (int)i : 19);
    }
    pc_merge_list_free(&l);
}

static void foreign_files_are_passed_over(void **state)
{
    (void)state;
    struct pc_merge_list l = {NULL, 0, 0};
    struct said s;
    char path[PATH_BYTES], target[PATH_BYTES];
    clean();
    leave("good.arena", &(struct left){.rank = 0});
    write_text("notes", "text", 4);
    write_text("empty.arena", "", 0);
    write_text("short.arena", PCOLLECT_ARENA_MAGIC, 8);
    static char zeros[20000];
    write_text("zeros.arena", zeros, sizeof zeros);
    leave("good.arena.bak", &(struct left){.rank = 1});
    write_text(".arena", "x", 1);
    assert_int_equal(mkdir(path_in(path, "folder.arena"), 0700), 0);
    assert_int_equal(mkfifo(path_in(path, "pipe.arena"), 0600), 0);
    list(&l, &s);
    assert_int_equal(l.n, 1);
    assert_int_equal(s.n, 0);
    pc_merge_list_free(&l);
    /* A link could lead anywhere: it is not followed, and a message says so. */
    assert_int_equal(symlink(path_in(target, "good.arena"), path_in(path, "link.arena")), 0);
    list(&l, &s);
    assert_int_equal(l.n, 1);
    assert_int_equal(s.n, 1);
    assert_non_null(strstr(s.text, "link.arena"));
    pc_merge_list_free(&l);
}

static void list_as_nobody(void)
{
    struct pc_merge_list l = {NULL, 0, 0};
    struct pc_error error;
    struct said s = {0};
    if (setgid(65534) || setuid(65534))
        _exit(2);
    if (pc_merge_list_add(&l, folder, say, &s, &error))
        _exit(3);
    _exit(l.n == 1 && s.n == 2 && strstr(s.text, "secret.arena: Permission denied") &&
                  strstr(s.text, "foreign.arena: left alone: it belongs to user 0")
              ? 0
              : 1);
}

static void what_is_not_ours_is_said_and_the_others_are_listed(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    int status;
    if (getuid()) {
        print_message("# needs root, to become another user\n");
        skip();
    }
    clean();
    leave("open.arena", &(struct left){.rank = 0});
    leave("secret.arena", &(struct left){.rank = 1});
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(path_in(path, "open.arena"), 0644), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    leave("foreign.arena", &(struct left){.rank = 2});
    assert_int_equal(chmod(path_in(path, "foreign.arena"), 0644), 0);
    assert_int_equal(chmod(path_in(path, "secret.arena"), 0600), 0);
    pid_t pid = fork();
    if (!pid)
        list_as_nobody();
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_tmpfs(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

/* The clock may have been set and the host renamed, and numbers of processes differ in a container:
 * only the mapping counts. */
static void who_has_it_mapped_runs(void **state)
{
    (void)state;
    struct pc_merge_list l = {NULL, 0, 0};
    struct said s;
    char before[sizeof folder], path[PATH_BYTES];
    uint64_t now = now_ns(), hour = 3600 * 1000000000ull;
    if (!is_tmpfs("/dev/shm")) {
        print_message("# /dev/shm is no tmpfs\n");
        skip();
    }
    memcpy(before, folder, sizeof before);
    snprintf(folder, sizeof folder, "/dev/shm/pcollect-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    leave("0.arena", &(struct left){.rank = 0, .start_ns = now - hour, .other_host = true});
    leave("1.arena", &(struct left){.rank = 1, .pid = getpid(), .start_ns = now});
    int fd = open(path_in(path, "0.arena"), O_RDWR);
    void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    list(&l, &s);
    bool mapped = l.found[0].alive, not_mapped = l.found[1].alive;
    pc_merge_list_free(&l);
    bool was_mapped = map != MAP_FAILED && munmap(map, 4096) == 0;
    list(&l, &s);
    bool after = l.found[0].alive;
    pc_merge_list_free(&l);
    clean();
    rmdir(folder);
    memcpy(folder, before, sizeof before);
    assert_true(was_mapped);
    assert_true(mapped);
    assert_false(not_mapped);
    assert_false(after);
}

static void a_running_process_is_told_from_a_dead_one(void **state)
{
    (void)state;
    struct pc_merge_list l = {NULL, 0, 0};
    struct said s;
    int hold[2];
    if (is_tmpfs(folder)) {
        print_message("# in a tmpfs the number of a process is not needed\n");
        skip();
    }
    clean();
    assert_int_equal(pipe(hold), 0);
    pid_t child = fork();
    if (!child) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 1);
    }
    uint64_t now = now_ns(), hour = 3600 * 1000000000ull;
    leave("0.arena", &(struct left){.rank = 0, .pid = child, .start_ns = now});
    /* An hour ago the number belonged to another process. */
    leave("1.arena", &(struct left){.rank = 1, .pid = child, .start_ns = now - hour});
    leave("2.arena", &(struct left){.rank = 2, .start_ns = now});
    /* The arena was just made, and does not contain its start time yet. */
    leave("3.arena", &(struct left){.rank = 3, .pid = child, .start_ns = 0});
    list(&l, &s);
    assert_int_equal(l.n, 4);
    assert_true(l.found[3].alive);
    assert_true(l.found[0].alive);
    assert_false(l.found[1].alive);
    assert_false(l.found[2].alive);
    pc_merge_list_free(&l);
    close(hold[1]);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* a zombie */
    list(&l, &s);
    assert_false(l.found[0].alive);
    pc_merge_list_free(&l);
    waitpid(child, NULL, 0);
    close(hold[0]);
}

/* ---- Merging --------------------------------------------------------------------------------- */

static uint64_t total(const struct pc_profile *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_data; i++)
        sum += (uint64_t)pc_data_stat(p, &p->data[i], 0).sum;
    return sum;
}

static void what_does_not_belong_is_left_out_and_said(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
        struct left left;
    } strangers[] = {
        {"job.arena", "belongs to another job", {.rank = 1, .job_key = 9}},
        {"size.arena", "belongs to another job", {.rank = 1, .n_ranks = 8}},
        {"twice.arena", "this rank is there already", {.rank = 0}},
        {"huge.arena", "its rank 1 is not one of 2147483647", {.rank = 1, .n_ranks = INT32_MAX}},
        {"fields.arena", "the same names for other figures", {.rank = 1, .wrong_field = true}},
        {"rank.arena", "its rank 4 is not one of 4", {.rank = 4}},
    };
    char first[PATH_BYTES], stranger[PATH_BYTES], last[PATH_BYTES];
    struct pc_error error;
    for (unsigned i = 0; i < PC_ARRAY_LEN(strangers); i++) {
        struct said s = {0};
        struct pc_profile *p = NULL;
        clean();
        leave("first.arena", &(struct left){.rank = 0});
        leave(strangers[i].name, &strangers[i].left);
        leave("last.arena", &(struct left){.rank = 3});
        char *paths[3] = {first, stranger, last};
        path_in(first, "first.arena");
        path_in(stranger, strangers[i].name);
        path_in(last, "last.arena");
        assert_int_equal(pc_merge_files(paths, 3, &p, say, &s, &error), PC_OK);
        assert_int_equal(p->n_ranks, 2);
        assert_int_equal(total(p), 1 + 4);
        assert_int_equal(s.n, 1);
        if (!strstr(s.text, strangers[i].why) || !strstr(s.text, strangers[i].name))
            fail_msg("%s: %s", strangers[i].name, s.text);
        pc_profile_free(p);
    }
}

static void files_that_cannot_be_read_are_left_out(void **state)
{
    (void)state;
    char good[PATH_BYTES], missing[PATH_BYTES], text[PATH_BYTES], cut[PATH_BYTES];
    char *paths[4] = {missing, text, good, cut};
    struct pc_error error;
    struct pc_profile *p = NULL;
    struct said s = {0};
    clean();
    path_in(missing, "missing.arena");
    leave("good.arena", &(struct left){.rank = 1});
    path_in(good, "good.arena");
    leave("cut.arena", &(struct left){.rank = 2});
    assert_int_equal(truncate(path_in(cut, "cut.arena"), sizeof(struct pcollect_arena_header)), 0);
    write_text("text.arena", "text", 4);
    path_in(text, "text.arena");
    assert_int_equal(pc_merge_files(paths, 4, &p, say, &s, &error), PC_OK);
    assert_int_equal(s.n, 3);
    assert_non_null(strstr(s.text, "damaged and left out"));
    assert_int_equal(p->n_ranks, 2); /* of the one that was cut what its header says */
    assert_int_equal(p->ranks[0].notes & PCOLLECT_NOTE_DAMAGED, 0);
    assert_int_not_equal(p->ranks[1].notes & PCOLLECT_NOTE_DAMAGED, 0);
    assert_int_equal(total(p), 2);
    pc_profile_free(p);
    assert_int_equal(pc_merge_files(paths, 2, &p, NULL, NULL, &error), PC_ENOENT);
    assert_int_equal(pc_merge_files(paths, 0, &p, NULL, NULL, &error), PC_ENOENT);
}

static off_t file_end = INT64_MAX; /* no file has more bytes */

ssize_t __real_pread(int fd, void *data, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t n, off_t at)
{
    off_t left = at < file_end ? file_end - at : 0;
    return __real_pread(fd, data, n < (size_t)left ? n : (size_t)left, at);
}

static void a_file_that_becomes_shorter_is_left_out_and_said(void **state)
{
    (void)state;
    char path[PATH_BYTES], *paths[1] = {path};
    struct pc_error error;
    struct pc_profile *p = NULL;
    struct said s = {0};
    clean();
    leave("short.arena", &(struct left){.rank = 1});
    path_in(path, "short.arena");
    file_end = sizeof(struct pcollect_arena_header) + 1;
    int err = pc_merge_files(paths, 1, &p, say, &s, &error);
    file_end = INT64_MAX;
    assert_int_equal(err, PC_ENOENT);
    assert_int_equal(s.n, 1);
    assert_non_null(strstr(s.text, "short.arena: it became shorter while it was read"));
}

static int remove_folder(void **state)
{
    (void)state;
    clean();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_without_arenas),
        cmocka_unit_test(jobs_are_told_apart_and_sorted),
        cmocka_unit_test(a_second_folder_joins_the_jobs_of_the_first),
        cmocka_unit_test(foreign_files_are_passed_over),
        cmocka_unit_test(what_is_not_ours_is_said_and_the_others_are_listed),
        cmocka_unit_test(who_has_it_mapped_runs),
        cmocka_unit_test(a_running_process_is_told_from_a_dead_one),
        cmocka_unit_test(what_does_not_belong_is_left_out_and_said),
        cmocka_unit_test(files_that_cannot_be_read_are_left_out),
        cmocka_unit_test(a_file_that_becomes_shorter_is_left_out_and_said),
    };
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}

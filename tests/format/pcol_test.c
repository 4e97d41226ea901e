/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/format/random_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/folder.h"

/* Entries of a folder but . and .. */
static int n_entries(const char *path)
{
    int n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static struct pc_profile *two_ranks(void)
{
    struct pc_profile *a = random_profile(&shapes[7], 11, 0, 2);
    struct pc_profile *b = random_profile(&shapes[7], 11, 1, 2), *both;
    assert_int_equal(pc_profile_merge(a, b, &both, NULL), PC_OK);
    pc_profile_free(a);
    pc_profile_free(b);
    return both;
}

/* ---- Writing and reading ------------------------------------------------------------------- */

static void a_written_file_reads_back(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    path_in(path, "back.pcol");
    for (unsigned s = 0; s < n_shapes; s++) {
        struct pc_profile *p = random_profile(&shapes[s], 4, 3, 5), *q;
        assert_int_equal(pc_pcol_write(p, path, 0, NULL), PC_OK);
        q = must_read(path);
        assert_same_bytes(p, q);
        pc_profile_free(q);
        assert_int_equal(pc_pcol_write(p, path, PC_PCOL_LATE_SLOTS, NULL), PC_OK);
        q = must_read(path);
        assert_same_bytes(p, q);
        pc_profile_free(q);
        pc_profile_free(p);
    }
    unlink(path);
    assert_int_equal(n_entries(folder), 0);
}

static void the_file_has_the_mode_of_the_umask(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct stat st;
    struct pc_profile *p = two_ranks();
    mode_t old = umask(027);
    assert_int_equal(pc_pcol_write(p, path_in(path, "mode.pcol"), 0, NULL), PC_OK);
    umask(old);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    unlink(path);
    pc_profile_free(p);
}

/* An existing file keeps its kind, mode and bytes; the reason is in the text. */
static void assert_refused(const struct pc_profile *p, const char *path, const char *reason)
{
    struct pc_error e = {""};
    struct stat before, after;
    assert_int_equal(lstat(path, &before), 0);
    assert_int_equal(pc_pcol_may_write(path, 0, &e), PC_EIO);
    assert_int_equal(pc_pcol_write(p, path, 0, &e), PC_EIO);
    if (!strstr(e.text, path) || !strstr(e.text, reason) || !strstr(e.text, "; "))
        fail_msg("%s", e.text);
    assert_int_equal(lstat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_mode, after.st_mode);
    assert_int_equal(before.st_size, after.st_size);
}

static void a_profile_that_cannot_be_opened_is_not_called_damaged(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_error e = {""};
    struct rlimit before, few;
    struct pc_profile *p = two_ranks();
    assert_int_equal(pc_pcol_write(p, path_in(path, "there.pcol"), 0, NULL), PC_OK);
    int next = dup(0);
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int err = pc_pcol_may_write(path, 0, &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(err, PC_EIO);
    assert_non_null(
        strstr(e.text, "cannot be read: Too many open files; raise the limit (ulimit -n)"));
    unlink(path);
    pc_profile_free(p);
}

static void only_a_whole_profile_of_this_user_is_replaced(void **state)
{
    (void)state;
    char path[PATH_BYTES], target[PATH_BYTES];
    struct pc_profile *p = two_ranks();
    struct pc_error e = {""};
    assert_int_equal(pc_pcol_write(p, path_in(target, "target.pcol"), 0, NULL), PC_OK);
    assert_int_equal(pc_pcol_may_write(target, 0, &e), PC_OK);
    assert_int_equal(pc_pcol_write(p, target, 0, NULL), PC_OK);
    assert_int_equal(symlink(target, path_in(path, "place.pcol")), 0);
    assert_refused(p, path, "a symbolic link");
    unlink(path);
    assert_int_equal(pc_pcol_may_write(path, 0, &e), PC_OK);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(p, path, "a FIFO");
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused(p, path, "a folder");
    rmdir(path);
    assert_refused(p, "/dev/null", "a device");
    spit(path, "precious", 8);
    assert_refused(p, path, "not a whole profile");
    spit(path, "", 0);
    assert_refused(p, path, "not a whole profile");
    assert_int_equal(truncate(target, 100), 0);
    assert_refused(p, target, "not a whole profile");
    unlink(target);
    assert_int_equal(pc_pcol_write(p, target, 0, NULL), PC_OK);
    assert_int_equal(chmod(target, 0444), 0);
    assert_refused(p, target, "read-only");
    if (!geteuid() && !chmod(target, 0644) && !chown(target, 65534, 65534))
        assert_refused(p, target, "of user 65534");
    unlink(path);
    unlink(target);
    assert_int_equal(n_entries(folder), 0);
    pc_profile_free(p);
}

static void errno_stays_the_callers(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_profile *p = two_ranks(), *q;
    errno = 4711;
    assert_int_equal(pc_pcol_write(p, path_in(path, "errno.pcol"), 0, NULL), PC_OK);
    assert_int_equal(pc_pcol_write(p, "/does/not/exist.pcol", 0, NULL), PC_ENOENT);
    assert_int_equal(pc_pcol_read("/does/not/exist.pcol", &q, NULL), PC_ENOENT);
    assert_int_equal(errno, 4711);
    unlink(path);
    pc_profile_free(p);
}

/* ---- Failures of the system ---------------------------------------------------------------- */

static void failures_to_write_name_path_reason_and_cure(void **state)
{
    (void)state;
    char in_file[PATH_BYTES], is_folder[PATH_BYTES], file[PATH_BYTES], long_name[PATH_BYTES];
    spit(path_in(file, "file"), "", 0);
    path_in(in_file, "file/x.pcol");
    path_in(is_folder, "folder.pcol");
    assert_int_equal(mkdir(is_folder, 0755), 0);
    snprintf(long_name, sizeof long_name, "%s/%0270d", folder, 1);
    const struct {
        const char *path, *reason, *cure;
    } rows[] = {
        {"/does/not/exist/x.pcol", "No such file or directory", "make the folder"},
        {in_file, "Not a directory", "make the folder"},
        {is_folder, "there is a folder", "choose another name"},
        {long_name, "File name too long", "choose another name"},
        {"/proc/x.pcol", "", "choose another"},
        {"", "No such file or directory", "make the folder"},
    };
    struct pc_profile *p = two_ranks();
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        struct pc_error e = {""};
        assert_true(pc_pcol_write(p, rows[i].path, PC_PCOL_LATE_SLOTS, &e) < 0);
        if (strncmp(e.text, rows[i].path, strlen(rows[i].path)) != 0 ||
            !strstr(e.text, rows[i].reason) ||
            (!strstr(e.text, rows[i].cure) && !strstr(e.text, "make the folder")))
            fail_msg("row %zu: %s", i, e.text);
        assert_non_null(strstr(e.text, "([output] path, or -o)"));
        /* Commands without a configuration do not name its settings. */
        assert_true(pc_pcol_write(p, rows[i].path, 0, &e) < 0);
        if (!strstr(e.text, " (-o)"))
            fail_msg("row %zu: %s", i, e.text);
    }
    assert_int_equal(n_entries(folder), 2);
    rmdir(is_folder);
    unlink(file);
    pc_profile_free(p);
}

/* In a child, so that limits and identity do not affect the other tests. Exit status 0: success. */
static int in_child(int (*fn)(const struct pc_profile *p, const char *where), const char *where)
{
    struct pc_profile *p = two_ranks();
    pid_t pid = fork();
    if (!pid)
        _exit(fn(p, where));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    pc_profile_free(p);
    return status;
}

static int write_over_limit(const struct pc_profile *p, const char *where)
{
    struct rlimit limit = {300, 300};
    struct pc_error e;
    setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ keeps its deadly default */
    if (pc_pcol_write(p, where, 0, &e) != PC_EIO)
        return 1;
    return strstr(e.text, "ulimit -f") && strstr(e.text, "300") ? 0 : 2;
}

static int write_late_over_limit(const struct pc_profile *p, const char *where)
{
    struct rlimit limit = {300, 300};
    struct pc_error e;
    struct pc_profile *late = random_profile(&shapes[0], 1, 1, p->world_size);
    if (pc_pcol_write(p, where, PC_PCOL_LATE_SLOTS, &e))
        return 1;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (pc_pcol_write_late(where, late, true, &e) != PC_EIO)
        return 2;
    return strstr(e.text, "ulimit -f") ? 0 : 3;
}

static void a_file_size_limit_is_an_error_and_not_a_signal(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    assert_int_equal(in_child(write_over_limit, path_in(path, "limit.pcol")), 0);
    assert_int_equal(n_entries(folder), 0);
    assert_int_equal(in_child(write_late_over_limit, path), 0);
    unlink(path);
}

static int write_as_nobody(const struct pc_profile *p, const char *where)
{
    struct pc_error e;
    if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
        return 1;
    if (pc_pcol_write(p, where, 0, &e) != PC_EIO)
        return 2;
    return strstr(e.text, "Permission denied") && strstr(e.text, "-o") ? 0 : 3;
}

static void an_unwritable_folder_is_said_and_left_alone(void **state)
{
    (void)state;
    char path[PATH_BYTES], file[PATH_BYTES];
    assert_int_equal(mkdir(path_in(path, "readonly"), 0555), 0);
    chmod(folder, 0755);
    assert_int_equal(in_child(write_as_nobody, path_in(file, "readonly/x.pcol")), 0);
    assert_int_equal(n_entries(path), 0);
    rmdir(path);
}

/* A profile larger than 8 KiB of file, and than a late slot. */
static const struct shape many_contexts = {"many contexts", 1500, 12,   100000, false,
                                           1u << 30,        true, true, 0};

static void a_full_disk_is_said_and_leaves_nothing_behind(void **state)
{
    (void)state;
    char mount_point[PATH_BYTES], path[PATH_BYTES];
    assert_int_equal(mkdir(path_in(mount_point, "full"), 0755), 0);
    if (mount("none", mount_point, "tmpfs", 0, "size=8k") != 0) {
        rmdir(mount_point);
        print_message("# no right to mount a small file system\n");
        skip();
    }
    struct pc_profile *p = random_profile(&many_contexts, 1, 0, 1);
    struct pc_error e;
    int err = pc_pcol_write(p, path_in(path, "full/x.pcol"), PC_PCOL_LATE_SLOTS, &e);
    int n_left = n_entries(mount_point);
    umount(mount_point);
    rmdir(mount_point);
    assert_int_equal(err, PC_EIO);
    assert_non_null(strstr(e.text, "No space left on device; free some space"));
    assert_int_equal(n_left, 0);
    pc_profile_free(p);
}

static void a_failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct pc_profile *p = two_ranks(), *q;
    assert_int_equal(pc_pcol_write(p, path_in(path, "old.pcol"), 0, NULL), PC_OK);
    assert_int_equal(in_child(write_over_limit, path), 0);
    q = must_read(path);
    assert_same_bytes(p, q);
    assert_int_equal(n_entries(folder), 1);
    unlink(path);
    pc_profile_free(p);
    pc_profile_free(q);
}

/* ---- Wrong and damaged files ---------------------------------------------------------------- */

static void what_is_no_profile_is_refused_with_a_reason(void **state)
{
    (void)state;
    char empty[PATH_BYTES], other[PATH_BYTES], fifo[PATH_BYTES];
    spit(path_in(empty, "empty"), "", 0);
    spit(path_in(other, "other"), "#!/bin/sh\necho this is something else\n", 38);
    assert_int_equal(mkfifo(path_in(fifo, "fifo"), 0666), 0);
    const struct {
        const char *path;
        int err;
        const char *reason;
    } rows[] = {
        {empty, PC_EFORMAT, "empty"},
        {other, PC_EFORMAT, "not a profile of pcollect"},
        {fifo, PC_EFORMAT, "not a regular file"},
        {folder, PC_EFORMAT, "is a folder"},
        {"/dev/null", PC_EFORMAT, "not a regular file"},
        {"/does/not/exist", PC_ENOENT, "No such"},
    };
    for (size_t i = 0; i < PC_ARRAY_LEN(rows); i++) {
        struct pc_profile *p = NULL;
        struct pc_error e;
        if (pc_pcol_read(rows[i].path, &p, &e) != rows[i].err || p ||
            strncmp(e.text, rows[i].path, strlen(rows[i].path)) != 0 ||
            !strstr(e.text, rows[i].reason))
            fail_msg("row %zu: %s", i, e.text);
    }
    unlink(empty);
    unlink(other);
    unlink(fifo);
}

/* A small file in memory to be changed, written and read. */
struct image {
    char path[PATH_BYTES];
    uint8_t *data;
    size_t n;
};

static struct image make_image(const struct pc_profile *p, unsigned flags)
{
    struct image im;
    path_in(im.path, "image.pcol");
    assert_int_equal(pc_pcol_write(p, im.path, flags, NULL), PC_OK);
    im.data = slurp(im.path, &im.n);
    return im;
}

static void drop_image(struct image *im)
{
    unlink(im->path);
    free(im->data);
}

static int read_image(const struct image *im, struct pc_error *e)
{
    struct pc_profile *p = NULL;
    spit(im->path, im->data, im->n);
    int err = pc_pcol_read(im->path, &p, e);
    if (!err)
        pc_profile_free(p);
    return err;
}

static void seal_header(uint8_t *data)
{
    pc_store_le(data + 60, crc32(0, data, 60), 4);
}

static void a_newer_version_is_refused_and_says_so(void **state)
{
    (void)state;
    struct pc_profile *p = two_ranks();
    struct image im = make_image(p, 0);
    struct pc_error e;
    pc_store_le(im.data + 8, PC_PCOL_MAJOR + 1,
                2); /* even if the header has another form by then */
    assert_int_equal(read_image(&im, &e), PC_EVERSION);
    assert_non_null(strstr(e.text, "version 2"));
    assert_non_null(strstr(e.text, "newer pcollect"));
    pc_store_le(im.data + 8, PC_PCOL_MAJOR, 2);
    pc_store_le(im.data + 10, PC_PCOL_MINOR + 7, 2);
    seal_header(im.data);
    assert_int_equal(read_image(&im, &e), PC_OK);
    pc_store_le(im.data + 64 + 4, pc_part_version(PC_PART_META) + 1, 2); /* of the first section */
    uint64_t stored = pc_load_le(im.data + 64 + 8, 8);
    uLong crc = crc32(crc32(0, im.data + 64, 28), im.data + 96, (uInt)stored);
    pc_store_le(im.data + 64 + 28, crc, 4);
    assert_int_equal(read_image(&im, &e), PC_EVERSION);
    assert_non_null(strstr(e.text, "at byte 64 is of version 3"));
    drop_image(&im);
    pc_profile_free(p);
}

/* Puts a section of an unknown type before the others. */
static void insert_section(struct image *im, unsigned type, unsigned flags)
{
    enum { CONTENT = 10, ALL = 32 + CONTENT };
    uint8_t section[ALL] = {0};
    pc_store_le(section, type, 4);
    pc_store_le(section + 4, 9, 2);
    pc_store_le(section + 6, flags, 2);
    pc_store_le(section + 8, CONTENT, 8);
    pc_store_le(section + 16, CONTENT, 8);
    memcpy(section + 32, "unexpected", CONTENT);
    pc_store_le(section + 28, crc32(crc32(0, section, 28), section + 32, CONTENT), 4);
    im->data = realloc(im->data, im->n + ALL);
    memmove(im->data + 64 + ALL, im->data + 64, im->n - 64);
    memcpy(im->data + 64, section, ALL);
    im->n += ALL;
    pc_store_le(im->data + 12, pc_load_le(im->data + 12, 4) + 1, 4);
    pc_store_le(im->data + 16, im->n, 8);
    uint64_t slots_at = pc_load_le(im->data + 32, 8);
    if (slots_at)
        pc_store_le(im->data + 32, slots_at + ALL, 8);
    seal_header(im->data);
}

static void an_unknown_section_is_passed_over(void **state)
{
    (void)state;
    struct pc_profile *p = two_ranks(), *q;
    struct image im = make_image(p, PC_PCOL_LATE_SLOTS);
    insert_section(&im, 4000, 0);
    spit(im.path, im.data, im.n);
    q = must_read(im.path);
    assert_same_bytes(p, q);
    pc_profile_free(q);
    drop_image(&im);
    pc_profile_free(p);
}

static void an_unknown_section_that_is_required_is_refused(void **state)
{
    (void)state;
    struct pc_profile *p = two_ranks();
    struct image im = make_image(p, 0);
    struct pc_error e;
    insert_section(&im, 4000, PC_SECTION_REQUIRED);
    assert_int_equal(read_image(&im, &e), PC_EVERSION);
    assert_non_null(strstr(e.text, "section 4000 at byte 64"));
    drop_image(&im);
    pc_profile_free(p);
}

static void every_damaged_byte_is_found(void **state)
{
    (void)state;
    struct pc_profile *p = two_ranks();
    struct image im = make_image(p, 0);
    struct pc_error e;
    for (size_t i = 0; i < im.n; i++) {
        im.data[i] ^= 0x10;
        if (read_image(&im, &e) == PC_OK || strncmp(e.text, im.path, strlen(im.path)) != 0)
            fail_msg("byte %zu: %s", i, e.text);
        im.data[i] ^= 0x10;
    }
    drop_image(&im);
    pc_profile_free(p);
}

static void every_truncation_is_found(void **state)
{
    (void)state;
    struct pc_profile *p = two_ranks();
    struct image im = make_image(p, 0);
    size_t n = im.n;
    struct pc_error e;
    for (im.n = 0; im.n < n; im.n++)
        if (read_image(&im, &e) != PC_EFORMAT)
            fail_msg("%zu of %zu bytes: %s", im.n, n, e.text);
    im.n = n / 2;
    char half[64];
    snprintf(half, sizeof half, "the file ends after %zu of ", im.n);
    read_image(&im, &e);
    assert_non_null(strstr(e.text, half));
    drop_image(&im);
    pc_profile_free(p);
}

/* ---- Late slots ---------------------------------------------------------------------------- */

static void data_in_pieces_inflate_to_what_they_were(void **state)
{
    (void)state;
    enum { N = 700001 };
    uint8_t *data = malloc(N);
    for (size_t i = 0; i < N; i++) /* half of it cannot become shorter */
        data[i] = (uint8_t)(i < N / 2 ? i / 1000 : pc_hash_u64(i));
    for (int quick = 0; quick < 2; quick++) {
        struct pc_deflater *d = pc_deflater_new(quick);
        struct pc_buffer b = {0};
        for (size_t at = 0, n = 0; at < N; at += n, n = 3 * n + 1) { /* the first is empty */
            n = n < N - at ? n : N - at;
            assert_true(pc_deflater_put(d, data + at, n, at + n == N, &b));
        }
        uint8_t *whole = pc_pcol_unpack(b.data, b.n, N, true, NULL);
        assert_non_null(whole);
        assert_memory_equal(whole, data, N);
        assert_true(b.n > N / 2 && b.n < N / 2 + N / 50);
        pc_deflater_free(d);
        free(whole);
        free(b.data);
    }
    free(data);
}

static void slots_written_by_many_processes_at_once_all_arrive(void **state)
{
    (void)state;
    enum { RANKS = 24 };
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[1], RANKS, 2);
    assert_int_equal(pc_pcol_write(j.main, path_in(path, "late.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                     PC_OK);
    pid_t pids[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        pids[rank] = fork();
        if (!pids[rank]) {
            int err = 0;
            for (int i = 0; i < 20 && !err; i++)
                err = pc_pcol_write_late(path, j.late[rank], true, NULL);
            _exit(err ? 1 : 0);
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        int status;
        assert_int_equal(waitpid(pids[rank], &status, 0), pids[rank]);
        assert_int_equal(status, 0);
    }
    struct pc_profile *q = must_read(path);
    assert_same_bytes(q, j.whole);
    pc_profile_free(q);
    unlink(path);
    free_late_job(&j);
}

static void a_damaged_slot_harms_only_itself(void **state)
{
    (void)state;
    struct late_job j = make_late_job(&shapes[1], 3, 2);
    struct image im = make_image(j.main, PC_PCOL_LATE_SLOTS);
    for (int rank = 0; rank < 3; rank++)
        assert_int_equal(pc_pcol_write_late(im.path, j.late[rank], true, NULL), PC_OK);
    free(im.data);
    im.data = slurp(im.path, &im.n);
    uint64_t slots_at = pc_load_le(im.data + 32, 8), slot_bytes = pc_load_le(im.data + 40, 4);
    im.data[slots_at + slot_bytes + 60] ^= 1;
    spit(im.path, im.data, im.n);
    struct pc_profile *q, *expected, *with_0;
    struct pc_error e;
    assert_int_equal(pc_pcol_read(im.path, &q, &e), PC_OK);
    assert_non_null(strstr(e.text, "what 1 of 3 ranks did after the merge is damaged and left out "
                                   "(first: rank 1)"));
    with_0 = overlaid(j.main, j.late[0]);
    expected = overlaid(with_0, j.late[2]);
    assert_same_bytes(q, expected);
    pc_profile_free(q);
    pc_profile_free(with_0);
    pc_profile_free(expected);
    im.n = slots_at + slot_bytes + 10; /* slots 1 and 2 cut off */
    spit(im.path, im.data, im.n);
    assert_int_equal(pc_pcol_read(im.path, &q, &e), PC_OK);
    assert_non_null(strstr(e.text, "what 2 of 3 ranks"));
    pc_profile_free(q);
    drop_image(&im);
    free_late_job(&j);
}

static uint64_t sum_of(const struct pc_profile *p, const char *op, const char *field)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const struct pc_profile_node *n = &p->nodes[i];
        const struct pc_profile_node *call =
            n->kind == PCOLLECT_NODE_DOMAIN ? &p->nodes[n->parent] : n;
        if (call->kind != PCOLLECT_NODE_OP || n->data == PC_NO_INDEX ||
            strcmp(p->ops[call->op].name, op) != 0)
            continue;
        for (uint32_t k = 0; k < p->n_fields; k++)
            if (!strcmp(p->fields[k].name, field))
                sum += (uint64_t)pc_data_stat(p, &p->data[n->data], k).sum;
    }
    return sum;
}

static uint64_t sum_of_points(const struct pc_profile *p)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].kind == PCOLLECT_NODE_POINT && p->nodes[i].data != PC_NO_INDEX)
            sum += (uint64_t)pc_data_stat(p, &p->data[p->nodes[i].data], p->n_comm).sum;
    return sum;
}

static uint64_t n_rows_of(const struct pc_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_tables; i++)
        n += p->tables[i].n_rows;
    return n;
}

static void contexts_without_room_collapse_and_totals_stay(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct late_job j = make_late_job(&many_contexts, 2, 600);
    struct pc_profile *q;
    assert_int_equal(pc_pcol_write(j.main, path_in(path, "tight.pcol"), PC_PCOL_LATE_SLOTS, NULL),
                     PC_OK);
    for (int rank = 0; rank < 2; rank++)
        assert_int_equal(pc_pcol_write_late(path, j.late[rank], true, NULL), PC_OK);
    q = must_read(path);
    assert_true(q->n_nodes < j.whole->n_nodes);
    for (uint32_t i = 0; i < q->n_ops; i++)
        assert_true(sum_of(q, q->ops[i].name, "count") == sum_of(j.whole, q->ops[i].name, "count"));
    assert_true(sum_of(q, "MPI_Send", "bytes") == sum_of(j.whole, "MPI_Send", "bytes"));
    assert_int_equal(pc_rank_lost(&q->ranks[0], PCOLLECT_LOST_LATE), 0);
    assert_true(sum_of_points(q) == sum_of_points(j.whole));
    for (int rank = 0; rank < 2; rank++)
        assert_true(pc_rank_lost(&q->ranks[rank], PCOLLECT_LOST_ROWS) ==
                    n_rows_of(j.late[rank]) +
                        pc_rank_lost(&j.late[rank]->ranks[0], PCOLLECT_LOST_ROWS));
    assert_true(n_rows_of(q) == n_rows_of(j.main));
    pc_profile_free(q);
    unlink(path);
    free_late_job(&j);
}

static void what_finds_no_room_at_all_is_counted(void **state)
{
    (void)state;
    struct late_job j = make_late_job(&shapes[5], 2, 20); /* figures of 64 bits */
    struct image im = make_image(j.main, PC_PCOL_LATE_SLOTS);
    pc_store_le(im.data + 40, 512, 4); /* as in a job of thousands of ranks */
    seal_header(im.data);
    spit(im.path, im.data, im.n);
    struct pc_profile *q;
    assert_int_equal(pc_pcol_write_late(im.path, j.late[1], true, NULL), PC_OK);
    q = must_read(im.path);
    uint64_t n_calls = 0;
    for (uint32_t i = 0; i < j.late[1]->n_ops; i++)
        n_calls += sum_of(j.late[1], j.late[1]->ops[i].name, "count");
    assert_true(pc_rank_lost(&q->ranks[1], PCOLLECT_LOST_LATE) ==
                n_calls + pc_rank_lost(&j.late[1]->ranks[0], PCOLLECT_LOST_LATE));
    assert_true(q->ranks[1].inside_ns == j.late[1]->ranks[0].inside_ns);
    assert_int_equal(q->n_nodes, j.main->n_nodes);
    pc_profile_free(q);
    drop_image(&im);
    free_late_job(&j);
}

static void a_slot_is_written_into_the_right_file_only(void **state)
{
    (void)state;
    char link[PATH_BYTES];
    struct late_job j = make_late_job(&shapes[1], 2, 2);
    struct image im = make_image(j.main, PC_PCOL_LATE_SLOTS);
    struct pc_error e;
    assert_int_equal(symlink(im.path, path_in(link, "link.pcol")), 0);
    assert_int_equal(pc_pcol_write_late(link, j.late[0], true, &e), PC_EIO);
    assert_int_equal(pc_pcol_write_late("/dev/null", j.late[0], true, &e), PC_EMISMATCH);
    assert_int_equal(pc_pcol_write_late("/does/not/exist", j.late[0], true, &e), PC_ENOENT);
    j.late[0]->job_key++;
    assert_int_equal(pc_pcol_write_late(im.path, j.late[0], true, &e), PC_EMISMATCH);
    assert_non_null(strstr(e.text, "another job"));
    j.late[0]->job_key--;
    spit(im.path, "something else that is longer than a header of sixty-four bytes....", 66);
    assert_int_equal(pc_pcol_write_late(im.path, j.late[0], true, &e), PC_EFORMAT);
    struct pc_profile *other = two_ranks();
    pc_profile_free(other);
    other = random_profile(&shapes[1], 1, 0, 2);
    other->job_key = j.main->job_key;
    unlink(im.path);
    assert_int_equal(pc_pcol_write(other, im.path, 0, NULL), PC_OK); /* a file without slots */
    assert_int_equal(pc_pcol_write_late(im.path, j.late[0], true, &e), PC_EMISMATCH);
    pc_profile_free(other);
    unlink(link);
    drop_image(&im);
    free_late_job(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_file_reads_back),
        cmocka_unit_test(the_file_has_the_mode_of_the_umask),
        cmocka_unit_test(a_profile_that_cannot_be_opened_is_not_called_damaged),
        cmocka_unit_test(only_a_whole_profile_of_this_user_is_replaced),
        cmocka_unit_test(errno_stays_the_callers),
        cmocka_unit_test(failures_to_write_name_path_reason_and_cure),
        cmocka_unit_test(a_file_size_limit_is_an_error_and_not_a_signal),
        cmocka_unit_test(an_unwritable_folder_is_said_and_left_alone),
        cmocka_unit_test(a_full_disk_is_said_and_leaves_nothing_behind),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(what_is_no_profile_is_refused_with_a_reason),
        cmocka_unit_test(a_newer_version_is_refused_and_says_so),
        cmocka_unit_test(an_unknown_section_is_passed_over),
        cmocka_unit_test(an_unknown_section_that_is_required_is_refused),
        cmocka_unit_test(every_damaged_byte_is_found),
        cmocka_unit_test(every_truncation_is_found),
        cmocka_unit_test(data_in_pieces_inflate_to_what_they_were),
        cmocka_unit_test(slots_written_by_many_processes_at_once_all_arrive),
        cmocka_unit_test(a_damaged_slot_harms_only_itself),
        cmocka_unit_test(contexts_without_room_collapse_and_totals_stay),
        cmocka_unit_test(what_finds_no_room_at_all_is_counted),
        cmocka_unit_test(a_slot_is_written_into_the_right_file_only),
    };
    return cmocka_run_group_tests(tests, folder_make, remove_folder);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The file of an arena: its permissions, its growth, and its state in other processes.
 */
#include "tests/cct/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NEEDS_SPOOL(state) SKIP_IF(!*(state), "/dev/shm is no tmpfs")

/* ---- The ordinary case ---- */

static void use_whole_file(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct pc_error error;
    struct stat st;
    CHECK(open_it(&a, place->spool, 4 * MIB, &error) == PC_OK);
    CHECK(error.text[0] == '\0' && a.is_file && a.header->notes == 0);
    CHECK(a.header->pid == getpid() && a.header->rank == -1 && a.header->host[0]);
    CHECK(stat(place->folder, &st) == 0 && (st.st_mode & 07777) == 0700);
    CHECK(stat(a.path, &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_size == 4 * MIB);
    CHECK(st.st_blocks * 512 <= 512 << 10); /* the rest is taken as it is needed */
    unsigned n = place_fill(&a, 1024);
    CHECK(n == (4 * MIB - a.header->header_bytes) / 1024);
    CHECK(a.header->used_bytes > 4 * MIB - 1024 && a.header->used_bytes <= 4 * MIB);
    CHECK(place_wrong(&a) == NULL && place_wrong_file(a.path) == NULL);
    pc_arena_unlink(&a);
    CHECK(access(a.path, F_OK) != 0 && access(place->folder, F_OK) != 0);
    memset(a.base, 0, a.map_bytes); /* the mapping remains after the name is removed */
    pc_arena_close(&a);
}

static void file_is_private_and_grows_to_its_bound(void **state)
{
    NEEDS_SPOOL(state);
    mode_t old = umask(0);
    in_child(use_whole_file, *state, place_ways[0]);
    umask(0277);
    in_child(use_whole_file, *state, place_ways[1]);
    umask(old);
}

static void unlink_another(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    CHECK(open_it(&a, place->spool, MIB, NULL) == PC_OK && a.is_file);
    CHECK(unlink(a.path) == 0);
    int fd = open(a.path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    CHECK(fd >= 0);
    pc_arena_unlink(&a);
    CHECK(access(a.path, F_OK) == 0);
}

static void unlink_leaves_what_is_not_ours(void **state)
{
    NEEDS_SPOOL(state);
    in_child(unlink_another, *state, place_ways[0]);
}

static void come_and_go(struct place *place, open_fn open_it)
{
    pid_t pid = fork();
    for (int i = 0; i < 300; i++) {
        struct pc_arena a;
        struct pc_error error;
        CHECK(open_it(&a, place->spool, MIB, &error) == PC_OK);
        if (!a.is_file)
            fprintf(stderr, "%s\n", error.text);
        CHECK(a.is_file);
        pc_arena_unlink(&a);
        pc_arena_close(&a);
    }
    int status = 0;
    CHECK(pid == 0 || (waitpid(pid, &status, 0) == pid && status == 0));
}

static void processes_that_come_and_go_share_the_folder(void **state)
{
    NEEDS_SPOOL(state);
    in_child(come_and_go, *state, place_ways[0]);
}

/* ---- Refused folders ---- */

static void expect_anonymous(const char *spool, const char *why)
{
    struct pc_arena a;
    struct pc_error error;
    errno = 4242;
    CHECK(pc_arena_open(&a, spool, 4 * MIB, &error) == PC_OK);
    CHECK(errno == 4242);
    if (!strstr(error.text, why))
        fprintf(stderr, "wanted \"%s\", got \"%s\"\n", why, error.text);
    CHECK(strstr(error.text, why) != NULL);
    CHECK(!a.is_file && a.fd == -1 && a.path[0] == '\0');
    CHECK(a.header->notes & PCOLLECT_NOTE_ANONYMOUS);
    CHECK(place_fill(&a, 4096) > 1000);
    CHECK(place_wrong(&a) == NULL);
    pc_arena_unlink(&a);
    pc_arena_close(&a);
}

static void try_bad_folders(struct place *place, open_fn open_it)
{
    char other[200];
    (void)open_it;
    snprintf(other, sizeof other, "%s/elsewhere", place->spool);
    CHECK(mkdir(other, 0700) == 0);
    CHECK(symlink(other, place->folder) == 0);
    expect_anonymous(place->spool, "is a link");
    CHECK(rmdir(other) == 0); /* nothing was made where the link leads */
    expect_anonymous(place->spool, "is a link");
    CHECK(unlink(place->folder) == 0);
    int fd = open(place->folder, O_CREAT | O_WRONLY, 0600);
    expect_anonymous(place->spool, "is a link or a file");
    CHECK(fd >= 0 && unlink(place->folder) == 0);
    CHECK(mkdir(place->folder, 0700) == 0 && chmod(place->folder, 0720) == 0);
    expect_anonymous(place->spool, "can be written by others");
    CHECK(chmod(place->folder, 0702) == 0);
    expect_anonymous(place->spool, "can be written by others");
    CHECK(access(place->folder, F_OK) == 0); /* must not be removed by the arena */
    snprintf(other, sizeof other, "%s/missing", place->spool);
    expect_anonymous(other, "No such file");
    expect_anonymous(NULL, "no spool");
    expect_anonymous("", "no spool");
    expect_anonymous("/proc", "cannot be created");
    static char long_path[PCOLLECT_PATH_BYTES + 100];
    memset(long_path, 'x', sizeof long_path - 1);
    expect_anonymous(long_path, "too long");
    long_path[PCOLLECT_PATH_BYTES - 20] = '\0';
    expect_anonymous(long_path, "");
}

static void bad_folder_means_anonymous_memory(void **state)
{
    NEEDS_SPOOL(state);
    in_child(try_bad_folders, *state, place_ways[0]);
}

static void try_folder_of_another(struct place *place, open_fn open_it)
{
    char theirs[128];
    (void)open_it;
    snprintf(theirs, sizeof theirs, "%s/pcollect-12345", place->spool);
    CHECK(mkdir(theirs, 0755) == 0); /* root's */
    CHECK(chmod(place->spool, 0755) == 0);
    CHECK(seteuid(12345) == 0);
    expect_anonymous(place->spool, "belongs to another user");
    CHECK(seteuid(0) == 0 && rmdir(theirs) == 0);
    CHECK(seteuid(12345) == 0);
    expect_anonymous(place->spool, "Permission denied");
}

static void folder_of_another_user_is_refused(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(geteuid() != 0, "needs root");
    in_child(try_folder_of_another, *state, place_ways[0]);
}

static void a_disk_is_a_spool(void **state)
{
    char disk[] = "/var/tmp/pc-test-XXXXXX";
    (void)state;
    SKIP_IF(!mkdtemp(disk), "/var/tmp cannot be written");
    struct pc_arena a;
    struct pc_error error;
    assert_int_equal(pc_arena_open(&a, disk, 4 * MIB, &error), PC_OK);
    bool is_file = a.is_file && !(a.header->notes & PCOLLECT_NOTE_ANONYMOUS);
    bool refused = strstr(error.text, "not local") || strstr(error.text, "no room") ||
                   strstr(error.text, "not supported");
    bool sound =
        place_fill(&a, 4096) > 100 && !place_wrong(&a) && (!is_file || !place_wrong_file(a.path));
    pc_arena_unlink(&a);
    pc_arena_close(&a);
    bool clean = rmdir(disk) == 0; /* no folder was left in it */
    assert_true(is_file || refused);
    assert_true(sound);
    assert_true(clean);
}

/* ---- Limits ---- */

static void limit(int what, uint64_t value)
{
    struct rlimit r;
    CHECK(getrlimit(what, &r) == 0);
    r.rlim_cur = value;
    CHECK(setrlimit(what, &r) == 0);
}

static void use_under_file_limit(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct pc_error error;
    limit(RLIMIT_FSIZE, MIB + 100);
    CHECK(open_it(&a, place->spool, 4 * MIB, &error) == PC_OK && a.is_file);
    CHECK(a.map_bytes == MIB);
    limit(RLIMIT_FSIZE, 1000); /* the program thinks again */
    CHECK(place_fill(&a, 4096) > 200);
    CHECK(place_wrong(&a) == NULL);
    pc_arena_unlink(&a);
    CHECK(open_it(&a, place->spool, 4 * MIB, &error) == PC_OK && !a.is_file);
    CHECK(strstr(error.text, "the file size limit is 1000 bytes"));
}

static void file_size_limit_raises_no_signal(void **state)
{
    NEEDS_SPOOL(state);
    for (int i = 0; i < 2; i++)
        in_child(use_under_file_limit, *state, place_ways[i]);
}

static uint64_t address_space_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A part of 64 MiB, less what the process took since. */
static bool is_the_part(const struct pc_arena *a)
{
    return a->map_bytes > 3 * MIB / 2 && a->map_bytes <= 2 * MIB;
}

static void use_under_address_limit(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct pc_error error;
    limit(RLIMIT_AS, address_space_bytes() + 64 * MIB);
    CHECK(open_it(&a, place->spool, 64 * MIB, &error) == PC_OK && a.is_file);
    CHECK(is_the_part(&a) && a.header->total_bytes == a.map_bytes);
    CHECK(place_fill(&a, 4096) > 200);
    pc_arena_unlink(&a);
    pc_arena_close(&a);
    CHECK(open_it(&a, NULL, 64 * MIB, &error) == PC_OK && !a.is_file && is_the_part(&a));
    pc_arena_close(&a);
    limit(RLIMIT_AS, address_space_bytes() + MIB);
    CHECK(open_it(&a, place->spool, 64 * MIB, &error) == PC_OK && a.is_file);
    CHECK(a.map_bytes == PC_ARENA_MIN_BYTES);
    pc_arena_unlink(&a);
    pc_arena_close(&a);
    limit(RLIMIT_AS, address_space_bytes() + (64 << 10));
    CHECK(open_it(&a, place->spool, 64 * MIB, &error) == PC_ENOMEM);
    CHECK(strstr(error.text, "no address space") && a.base == NULL);
    CHECK(access(place->folder, F_OK) != 0 || rmdir(place->folder) == 0); /* no file was left */
}

static void small_address_space_means_small_arena(void **state)
{
    NEEDS_SPOOL(state);
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    SKIP_IF(true, "sanitizers need address space");
#endif
    SKIP_IF(getenv("PC_TEST_EMULATED"), "qemu-user does not hold RLIMIT_AS");
    for (int i = 0; i < 2; i++)
        in_child(use_under_address_limit, *state, place_ways[i]);
}

/* ---- Full file systems ---- */

static void fill_file_system(struct place *place)
{
    char path[200];
    static char block[4096];
    snprintf(path, sizeof path, "%s/filler", place->spool);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    while (write(fd, block, sizeof block) > 0)
        ;
    close(fd);
}

static void use_full_tmpfs(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct pc_error error;
    CHECK(place_mount(place, "tmpfs", "size=16m"));
    CHECK(open_it(&a, place->spool, 64 * MIB, &error) == PC_OK && a.is_file);
    CHECK(a.map_bytes > MIB && a.map_bytes <= 2 * MIB);
    CHECK(pc_arena_alloc(&a, 100 << 10));
    fill_file_system(place);
    /* Memory that was allocated before can be used, including the reserve, but nothing more; there
     * is no SIGBUS. */
    CHECK(place_fill(&a, 64) > 100);
    CHECK(a.header->used_bytes < MIB && a.header->used_bytes == a.ready);
    CHECK(place_wrong(&a) == NULL);
    pc_arena_close(&a);
    CHECK(open_it(&a, place->spool, 64 * MIB, &error) == PC_OK && !a.is_file);
    CHECK(strstr(error.text, "has no room"));
}

static void full_tmpfs_is_refused_growth(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    for (int i = 0; i < 2; i++)
        in_child(use_full_tmpfs, *state, place_ways[i]);
}

static void take_exact_last_page(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    CHECK(place_mount(place, "tmpfs", "size=16m"));
    CHECK(open_it(&a, place->spool, 64 * MIB, NULL) == PC_OK && a.is_file);
    uint64_t page = a.granule_bytes, from = a.ready;
    fill_file_system(place);
    /* Beyond the limit of the share the system itself refuses, also a part. */
    CHECK(!pc_arena_take(&a, from, from + page));
    CHECK(!pc_arena_take(&a, from, from + 100 * page));
    char path[200];
    snprintf(path, sizeof path, "%s/filler", place->spool);
    CHECK(unlink(path) == 0);
    CHECK(pc_arena_take(&a, from, from + 100 * page));
    fill_file_system(place);
    memset(a.base + from, 1, 100 * page);
}

static void a_taken_page_stays_when_the_tmpfs_fills(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    for (int i = 0; i < 2; i++)
        in_child(take_exact_last_page, *state, place_ways[i]);
}

/* Each rank only knows the number of ranks and the free space. */
static void share_with_others(struct place *place, open_fn open_it)
{
    static struct pc_arena a[4];
    CHECK(place_mount(place, "tmpfs", "size=16m"));
    uint64_t free_bytes = place_free_bytes(place->spool);
    for (int i = 0; i < 4; i++) {
        CHECK(open_it(&a[i], place->spool, 64 * MIB, NULL) == PC_OK && a[i].is_file);
        CHECK(pc_arena_share(&a[i], 4));
    }
    CHECK(free_bytes - place_free_bytes(place->spool) <= 4 * (128 << 10)); /* small at first */
    for (int i = 0; i < 4; i++)
        place_fill(&a[i], 4096);
    CHECK(free_bytes - place_free_bytes(place->spool) <= free_bytes / 8);
    for (int i = 0; i < 4; i++)
        CHECK(a[i].header->used_bytes > (128 << 10) && place_wrong(&a[i]) == NULL);
    CHECK(!pc_arena_share(&a[0], 4096));
}

static void arenas_take_an_eighth_together(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    for (int i = 0; i < 2; i++)
        in_child(share_with_others, *state, place_ways[i]);
}

/* Memory that the program takes later reduces the share of the arena. */
static void share_with_the_program(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    char path[200];
    CHECK(place_mount(place, "tmpfs", "size=32m"));
    CHECK(open_it(&a, place->spool, 64 * MIB, NULL) == PC_OK && a.is_file);
    snprintf(path, sizeof path, "%s/program", place->spool);
    int fd = open(path, O_CREAT | O_RDWR, 0600);
    CHECK(fd >= 0 && posix_fallocate(fd, 0, (off_t)(24 * MIB)) == 0);
    place_fill(&a, 4096);
    CHECK(a.header->used_bytes <= MIB && place_wrong(&a) == NULL);
    CHECK(posix_fallocate(fd, 0, (off_t)(31 * MIB - MIB / 2)) == 0);
    close(fd);
}

static void an_arena_shrinks_with_what_is_free(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    for (int i = 0; i < 2; i++)
        in_child(share_with_the_program, *state, place_ways[i]);
}

static void use_ramfs(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    CHECK(place_mount(place, "ramfs", NULL));
    CHECK(open_it(&a, place->spool, 4 * MIB, NULL) == PC_OK && a.is_file && a.fd == -1);
    CHECK(place_fill(&a, 4096) > 1000);
    CHECK(place_wrong_file(a.path) == NULL);
}

static void ramfs_is_a_spool(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    in_child(use_ramfs, *state, place_ways[0]);
}

static void use_hugetlbfs(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct pc_error error;
    if (!place_mount(place, "hugetlbfs", "pagesize=2M")) {
        fprintf(stderr, "no hugetlbfs of 2 MiB pages: not tried\n");
        return;
    }
    /* With huge pages or none there is no signal, and the text has the reason. */
    CHECK(open_it(&a, place->spool, 4 * MIB, &error) == PC_OK);
    CHECK(a.is_file == (error.text[0] == '\0'));
    CHECK(place_fill(&a, 4096) > 200);
    CHECK(place_wrong(&a) == NULL);
}

static void hugetlbfs_is_used_or_refused(void **state)
{
    NEEDS_SPOOL(state);
    SKIP_IF(!place_may_mount(*state), "no right to mount");
    for (int i = 0; i < 2; i++)
        in_child(use_hugetlbfs, *state, place_ways[i]);
}

/* ---- Descriptors ---- */

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void count_kept(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct rlimit r;
    int before = count_descriptors();
    CHECK(open_it(&a, place->spool, MIB, NULL) == PC_OK && a.is_file);
    CHECK(getrlimit(RLIMIT_NOFILE, &r) == 0);
    CHECK(count_descriptors() == before + (a.fd >= 0));
    CHECK((a.growth == PC_ARENA_FALLOCATE) == (a.fd >= 0));
    CHECK(a.fd < 0 || (uint64_t)a.fd >= (r.rlim_cur / 2 < 4096 ? r.rlim_cur / 2 : 4096));
    CHECK(a.fd < 0 || fcntl(a.fd, F_GETFD) == FD_CLOEXEC);
    int next = dup(0);
    CHECK(next >= 0 && next < before); /* the lowest numbers are the program's */
}

static void descriptor_is_high_or_none(void **state)
{
    NEEDS_SPOOL(state);
    for (int i = 0; i < 2; i++)
        in_child(count_kept, *state, place_ways[i]);
}

/* The program has all of the upper half of its numbers: the next ones are above its limit. */
static void use_without_numbers(struct place *place, open_fn open_it)
{
    enum { SOFT = 256 };
    struct pc_arena a;
    struct pc_error error;
    limit(RLIMIT_NOFILE, SOFT);
    for (int fd = SOFT / 2; fd < SOFT; fd++)
        CHECK(dup2(0, fd) == fd);
    CHECK(open_it(&a, place->spool, MIB, &error) == PC_OK && a.is_file);
    CHECK(a.fd < 0 || a.fd >= SOFT);
    pc_arena_unlink(&a);
    pc_arena_close(&a);
}

extern char __libc_single_threaded __attribute__((weak));

static void a_program_may_have_all_high_numbers(void **state)
{
    struct rlimit r;
    NEEDS_SPOOL(state);
    SKIP_IF(!&__libc_single_threaded, "libc does not tell that there is one thread");
    SKIP_IF(getrlimit(RLIMIT_NOFILE, &r) || r.rlim_max <= 256, "the hard limit is low");
    for (int i = 0; i < 2; i++)
        in_child(use_without_numbers, *state, place_ways[i]);
}

static void lose_descriptor(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    CHECK(open_it(&a, place->spool, 4 * MIB, NULL) == PC_OK && a.is_file);
    for (int fd = 3; fd < 10000; fd++)
        close(fd);
    unsigned n = place_fill(&a, 4096);
    CHECK(a.growth == PC_ARENA_POPULATE ? n > 1000 : n > 5);
    CHECK(place_wrong(&a) == NULL);
    CHECK(pc_arena_forget(&a) == PC_OK);
}

static void program_may_close_all_descriptors(void **state)
{
    NEEDS_SPOOL(state);
    for (int i = 0; i < 2; i++)
        in_child(lose_descriptor, *state, place_ways[i]);
}

static void replace_descriptor(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    struct stat st;
    char path[200];
    snprintf(path, sizeof path, "%s/theirs", place->spool);
    CHECK(open_it(&a, place->spool, 4 * MIB, NULL) == PC_OK && a.is_file && a.fd >= 0);
    int fd = open(path, O_CREAT | O_RDWR, 0600), number = a.fd;
    CHECK(fd >= 0 && dup2(fd, number) == number);
    CHECK(place_fill(&a, 4096) > 5);
    CHECK(fstat(number, &st) == 0 && st.st_size == 0 && st.st_blocks == 0);
    CHECK(pc_arena_forget(&a) == PC_OK);
    CHECK(fcntl(number, F_GETFD) >= 0); /* theirs is still open */
}

static void another_file_under_our_number_is_left_alone(void **state)
{
    NEEDS_SPOOL(state);
    in_child(replace_descriptor, *state, place_open_on_old_kernel);
}

/* ---- fork ---- */

static void write_in_child(struct place *place, open_fn open_it)
{
    struct pc_arena a;
    int status;
    CHECK(open_it(&a, place->spool, 4 * MIB, NULL) == PC_OK);
    a.header->record_bytes = 64;
    struct pc_tree *t = pc_tree_new(&a, 1, false);
    bool collapsed = false;
    pcollect_ref op = pc_tree_op(t, t->root, 1, 64, &collapsed);
    uint64_t *calls = pc_tree_record(t, op), used = a.header->used_bytes;
    *calls = 1;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = a.fd;
        CHECK(pc_arena_forget(&a) == PC_OK);
        CHECK(fd < 0 || fcntl(fd, F_GETFD) < 0);
        *calls += 1000;
        a.header->lost[0] = 77;
        for (int i = 0; i < 10000; i++)
            pc_tree_frame(t, t->root, 0, (uint64_t)i);
        CHECK(pc_arena_alloc_reserve(&a, 64) == 0);
        pc_arena_unlink(&a);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(*calls == 1 && a.header->lost[0] == 0 && a.header->used_bytes == used);
    CHECK(!a.is_file || access(a.path, F_OK) == 0);
    CHECK(place_wrong(&a) == NULL);
    CHECK(place_fill(&a, 4096) > 900);
    pc_arena_unlink(&a);
}

static int open_anonymous(struct pc_arena *a, const char *spool, size_t bytes,
                          struct pc_error *error)
{
    (void)spool;
    return pc_arena_open(a, NULL, bytes, error);
}

static void forked_child_reaches_nothing_of_its_parent(void **state)
{
    NEEDS_SPOOL(state);
    for (int i = 0; i < 2; i++)
        in_child(write_in_child, *state, place_ways[i]);
    in_child(write_in_child, *state, open_anonymous);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_is_private_and_grows_to_its_bound),
        TEST(unlink_leaves_what_is_not_ours),
        TEST(processes_that_come_and_go_share_the_folder),
        TEST(bad_folder_means_anonymous_memory),
        TEST(folder_of_another_user_is_refused),
        TEST(a_disk_is_a_spool),
        TEST(file_size_limit_raises_no_signal),
        TEST(small_address_space_means_small_arena),
        TEST(full_tmpfs_is_refused_growth),
        TEST(a_taken_page_stays_when_the_tmpfs_fills),
        TEST(arenas_take_an_eighth_together),
        TEST(an_arena_shrinks_with_what_is_free),
        TEST(ramfs_is_a_spool),
        TEST(hugetlbfs_is_used_or_refused),
        TEST(descriptor_is_high_or_none),
        TEST(a_program_may_have_all_high_numbers),
        TEST(program_may_close_all_descriptors),
        TEST(another_file_under_our_number_is_left_alone),
        TEST(forked_child_reaches_nothing_of_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

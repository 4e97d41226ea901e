/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory that is left to a process, by the files that the kernel shows: of planted ones, and of
 * a group with a limit where one can be made.
 */
#include "merge/room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/base.h"
#include "tests/folder.h"

#define MIB ((uint64_t)1 << 20)

/* Makes a file below the test's folder, with the folders above it. */
static void plant(const char *name, const char *content)
{
    char path[PATH_BYTES];
    path_in(path, name);
    for (char *at = strchr(path + strlen(folder) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    assert_int_equal(fclose(f), 0);
}

static void plant_mib(const char *group, const char *file, unsigned mib)
{
    char name[PATH_BYTES], content[32];
    snprintf(name, sizeof name, "%s/%s", group, file);
    snprintf(content, sizeof content, "%llu\n", (unsigned long long)(mib * MIB));
    plant(name, content);
}

/* A machine with 1,000 MiB left, and the groups of the process. */
static void begin(const char *groups)
{
    plant("proc/meminfo", "MemTotal: 9999 kB\nMemFree: 1 kB\nMemAvailable:    1024000 kB\n");
    plant("proc/self/cgroup", groups);
}

static void end(void)
{
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf '%s'/proc '%s'/sys", folder, folder);
    assert_int_equal(system(command), 0);
}

#define V1 "sys/fs/cgroup/memory"
#define V2 "sys/fs/cgroup"

static void group_1(const char *group, unsigned limit, unsigned used)
{
    plant_mib(group, "memory.limit_in_bytes", limit);
    plant_mib(group, "memory.usage_in_bytes", used);
}

static void group_2(const char *group, unsigned limit, unsigned used)
{
    plant_mib(group, "memory.max", limit);
    plant_mib(group, "memory.current", used);
}

static void the_machine_is_the_limit_without_groups(void **state)
{
    (void)state;
    assert_true(pc_memory_available_in(folder) == UINT64_MAX); /* there is nothing */
    begin("");
    assert_int_equal(pc_memory_available_in(folder), 1000 * MIB);
    begin("4:memory:/job\n0::/job\n"); /* groups that are not shown here */
    assert_int_equal(pc_memory_available_in(folder), 1000 * MIB);
    group_2(V2 "/job", 5000, 10);
    assert_int_equal(pc_memory_available_in(folder), 1000 * MIB);
    end();
}

static void the_tightest_group_above_a_process_is_its_limit(void **state)
{
    (void)state;
    begin("0::/slurm/job_7/step_0\n");
    plant(V2 "/slurm/job_7/step_0/memory.max", "max\n");
    plant_mib(V2 "/slurm/job_7/step_0", "memory.current", 100);
    assert_int_equal(pc_memory_available_in(folder), 1000 * MIB);
    group_2(V2 "/slurm/job_7", 600, 200);
    assert_int_equal(pc_memory_available_in(folder), 400 * MIB);
    group_2(V2 "/slurm", 700, 400);
    assert_int_equal(pc_memory_available_in(folder), 300 * MIB);
    group_2(V2 "/slurm/job_8", 1, 1); /* another's */
    assert_int_equal(pc_memory_available_in(folder), 300 * MIB);
    group_2(V2 "/slurm/job_7", 600, 601);
    assert_int_equal(pc_memory_available_in(folder), 0);
    end();
}

static void groups_of_version_1_are_seen_as_well(void **state)
{
    (void)state;
    begin("9:name=systemd:/x\n8:xmemory:/x\n5:cpu,memory:/job/step\n0::/\n");
    group_1(V1 "/x", 1, 1);
    plant(V1 "/job/step/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    plant_mib(V1 "/job/step", "memory.usage_in_bytes", 100);
    assert_int_equal(pc_memory_available_in(folder), 1000 * MIB);
    group_1(V1 "/job", 500, 150);
    assert_int_equal(pc_memory_available_in(folder), 350 * MIB);
    group_1(V1, 400, 200); /* a container's own */
    assert_int_equal(pc_memory_available_in(folder), 200 * MIB);
    end();
}

static void pages_of_files_are_no_use_of_memory(void **state)
{
    (void)state;
    begin("0::/job\n");
    group_2(V2 "/job", 600, 500);
    plant(V2 "/job/memory.stat",
          "anon 1\nfile 314572800\ninactive_file 104857600\nactive_file 52428800\n");
    assert_int_equal(pc_memory_available_in(folder), 250 * MIB);
    end();
    begin("3:memory:/job\n");
    group_1(V1 "/job", 600, 500);
    plant(V1 "/job/memory.stat", "cache 1\ninactive_file 7\nactive_file 7\n"
                                 "total_inactive_file 104857600\ntotal_active_file 52428800\n");
    assert_int_equal(pc_memory_available_in(folder), 250 * MIB);
    end();
}

/* ---- A real group --------------------------------------------------------------------------- */

static bool write_number(const char *group, const char *file, uint64_t n)
{
    char path[PATH_BYTES], text[32];
    snprintf(path, sizeof path, "%s/%s", group, file);
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    int fd = open(path, O_WRONLY);
    bool ok = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Makes a group with a limit, of the version that the machine has. */
static bool make_group(char group[PATH_BYTES], uint64_t limit)
{
    snprintf(group, PATH_BYTES, "/%s/pcollect-room.%d", V1, (int)getpid());
    if (!mkdir(group, 0700))
        return write_number(group, "memory.limit_in_bytes", limit);
    snprintf(group, PATH_BYTES, "/%s/pcollect-room.%d", V2, (int)getpid());
    return !mkdir(group, 0700) && write_number(group, "memory.max", limit);
}

static void a_process_in_a_group_with_a_limit_sees_it(void **state)
{
    (void)state;
    char group[PATH_BYTES];
    const uint64_t limit = 64 * MIB;
    bool made = make_group(group, limit);
    int status = 1;
    pid_t child = made ? fork() : 0;
    if (made && !child) {
        bool joined = write_number(group, "cgroup.procs", (uint64_t)getpid());
        uint64_t left = pc_memory_available();
        _exit(!joined ? 2 : left > 0 && left <= limit ? 0 : 1);
    }
    if (made)
        assert_int_equal(waitpid(child, &status, 0), child);
    rmdir(group);
    if (!made || (WIFEXITED(status) && WEXITSTATUS(status) == 2)) {
        print_message("no control group can be made here\n");
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_is_the_limit_without_groups),
        cmocka_unit_test(the_tightest_group_above_a_process_is_its_limit),
        cmocka_unit_test(groups_of_version_1_are_seen_as_well),
        cmocka_unit_test(pages_of_files_are_no_use_of_memory),
        cmocka_unit_test(a_process_in_a_group_with_a_limit_sees_it),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}

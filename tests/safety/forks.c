/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An MPI program that makes processes in the way that its first argument names. Every rank calls
 * MPI_Barrier three times before and four times after. Prints on rank 0 how the child ended.
 */
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *const sh_words[] = {"sh", "-c", "exit 5", NULL};

static int wait_for(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int by_fork(const char *how)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid)
        return wait_for(pid);
    if (!strcmp(how, "fork-exit"))
        exit(5);
    if (!strcmp(how, "fork-exec"))
        execv("/bin/sh", sh_words);
    if (!strcmp(how, "fork-return"))
        return -1; /* main returns 5 */
    _exit(5);
}

/* Makes a grandchild that outlives the child and behaves like a daemon. */
static int by_double_fork(void)
{
    int pipes[2];
    char c = 0;
    if (pipe(pipes))
        return 1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid) {
        int status = wait_for(pid);
        close(pipes[1]);
        if (read(pipes[0], &c, 1) != 1 || c != 'd')
            return 2;
        if (read(pipes[0], &c, 1) != 0) /* the daemon has ended */
            return 3;
        return status;
    }
    setsid();
    if (fork() != 0)
        _exit(5);
    close(pipes[0]);
    if (chdir("/") || write(pipes[1], "d", 1) != 1)
        _exit(6);
    exit(0);
}

static pthread_barrier_t barrier;

static void *meanwhile(void *arg)
{
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return arg;
}

/* Descriptors of counters. */
static int count_events(void)
{
    char path[300], target[100];
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *e; (e = readdir(dir));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        n += strstr(target, "perf_event") != NULL;
    }
    closedir(dir);
    return n;
}

/* Forks while another thread is sampled, and counts events if that is asked for. */
static int beside_a_thread(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, meanwhile, NULL))
        return 7;
    pthread_barrier_wait(&barrier);
    int n = count_events();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(count_events() ? 6 : 5);
    fprintf(stderr, "%d descriptors of events\n", n);
    int status = wait_for(pid);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return status;
}

static int by_vfork(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execv("/bin/sh", sh_words);
        _exit(6);
    }
    return wait_for(pid);
}

static int by_spawn(void)
{
    pid_t pid;
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, sh_words, environ))
        return 6;
    return wait_for(pid);
}

static int make_child(const char *how)
{
    if (!strcmp(how, "daemon"))
        return by_double_fork();
    if (!strcmp(how, "thread"))
        return beside_a_thread();
    if (!strcmp(how, "vfork"))
        return by_vfork();
    if (!strcmp(how, "spawn"))
        return by_spawn();
    if (!strcmp(how, "system"))
        return WEXITSTATUS(system("exit 5"));
    return by_fork(how);
}

/* Executes this program again before MPI_Init; for "exec-asked" after a call of MPI_Initialized. */
static void exec_once(char **argv)
{
    int flag;
    if (argv[2] || strncmp(argv[1], "exec", 4))
        return;
    if (!strcmp(argv[1], "exec-asked"))
        MPI_Initialized(&flag);
    char again[] = "again";
    char *words[] = {argv[0], argv[1], again, NULL};
    execv(argv[0], words);
    _exit(6);
}

int main(int argc, char **argv)
{
    int rank, status = 5, sum;
    if (argc < 2)
        return 2;
    exec_once(argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strncmp(argv[1], "exec", 4))
        status = make_child(argv[1]);
    if (status < 0)
        return 5;
    for (int i = 0; i < 4; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&status, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("the children's statuses: %d\n", sum);
    return 0;
}

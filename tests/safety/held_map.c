/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program with an mmap of its own that takes a lock, as that of UCX does. A thread of it holds
 * the lock while main forks: in the child the lock stays held. Prints how the child ended.
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, give_back;

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    pthread_mutex_lock(&lock);
    void *p = (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    pthread_mutex_unlock(&lock);
    return p;
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&lock);
    sem_post(&held);
    while (sem_wait(&give_back))
        ;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int status = 0;
    MPI_Init(&argc, &argv);
    sem_init(&held, 0, 0);
    sem_init(&give_back, 0, 0);
    pthread_create(&thread, NULL, hold, NULL);
    while (sem_wait(&held))
        ;
    pid_t child = fork();
    if (!child)
        _exit(5);
    for (int left = 6000; waitpid(child, &status, left ? WNOHANG : 0) != child; left -= left > 0) {
        usleep(10000);
        if (left == 1) /* it waits for the lock */
            kill(child, SIGKILL);
    }
    sem_post(&give_back);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    MPI_Finalize();
    return 0;
}

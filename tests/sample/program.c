/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program without MPI: two threads, one below the other's function, and (argument "signals") its
 * own use of every real-time signal.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

void *half(void *unused);
int outer(void);

static volatile double sink;
static volatile sig_atomic_t n_handled;

__attribute__((noinline)) void *half(void *unused)
{
    for (int i = 0; i < 60000000; i++)
        sink = sink + i;
    return unused;
}

__attribute__((noinline)) int outer(void)
{
    half(NULL);
    return 1;
}

static void on_signal(int signal)
{
    (void)signal;
    n_handled++;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int wanted = 0;
    (void)argv;
    for (int s = SIGRTMIN; argc > 1 && s <= SIGRTMAX; s++) {
        struct sigaction action, back;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        sigaction(s, &action, NULL);
        if (sigaction(s, NULL, &back) || back.sa_handler != on_signal)
            puts("the handler is not the program's");
        raise(s);
        wanted++;
    }
    pthread_create(&thread, NULL, half, NULL);
    outer();
    pthread_join(thread, NULL);
    puts(n_handled == wanted ? "done" : "signals were lost or others came");
    return 0;
}

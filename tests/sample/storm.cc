/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does all of this at once, for a number of rounds, while it is sampled: throws across frames,
 * opens and closes a library, forks, runs children by fork + exec, vfork + exec, posix_spawn and
 * system, makes threads one after the other, some with the smallest stack, runs handlers on an
 * alternate stack, blocks all signals for a while. Prints errors, then "done".
 *
 * Arguments: rounds, path of the library.
 */
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static const char *library;
static int rounds;
static std::atomic<int> wrong;
extern char **environ;

static void complain(const char *what)
{
    wrong++;
    printf("wrong: %s\n", what);
}

static void burn(int n)
{
    volatile double x = 0;
    for (int i = 0; i < n; i++)
        x = x + i;
}

__attribute__((noinline)) static int throw_deep(int depth)
{
    burn(200);
    if (depth == 0)
        throw std::runtime_error("deep");
    int r = throw_deep(depth - 1);
    burn(10);
    return r + 1;
}

static void *throwing(void *)
{
    for (int i = 0; i < rounds * 20; i++) {
        try {
            throw_deep(i % 40);
            complain("nothing was thrown");
        } catch (const std::runtime_error &) {
            burn(100);
        }
    }
    return nullptr;
}

static void *opening(void *)
{
    for (int i = 0; i < rounds * 10; i++) {
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        auto work = handle ? reinterpret_cast<int (*)(int)>(dlsym(handle, "storm_work")) : nullptr;
        if (!work) {
            complain("dlopen");
            return nullptr;
        }
        work(20000);
        dlclose(handle);
    }
    return nullptr;
}

static void *short_thread(void *argument)
{
    burn(20000);
    return argument;
}

static void *creating(void *)
{
    for (int i = 0; i < rounds * 5; i++) {
        pthread_t threads[4];
        pthread_attr_t attr;
        pthread_attr_init(&attr);
        if (i % 2)
            pthread_attr_setstacksize(&attr, 32768);
        for (auto &thread : threads)
            if (pthread_create(&thread, &attr, short_thread, &thread))
                complain("pthread_create");
        for (auto &thread : threads) {
            void *result;
            pthread_join(thread, &result);
            if (result != &thread)
                complain("result of a thread");
        }
        pthread_attr_destroy(&attr);
    }
    return nullptr;
}

static void check_child(pid_t pid, const char *how)
{
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 3)
        complain(how);
}

static void *starting(void *)
{
    char shell[] = "/bin/sh", flag[] = "-c", command[] = "exit 3";
    char *argv[] = {shell, flag, command, nullptr};
    for (int i = 0; i < rounds; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            burn(20000);
            execl(shell, shell, flag, command, static_cast<char *>(nullptr));
            _exit(4);
        }
        check_child(pid, "fork and exec");
        pid = vfork();
        if (pid == 0) {
            execve(shell, argv, environ);
            _exit(4);
        }
        check_child(pid, "vfork and exec");
        if (posix_spawn(&pid, shell, nullptr, nullptr, argv, environ))
            pid = -1;
        check_child(pid, "posix_spawn");
        if (WEXITSTATUS(system(command)) != 3)
            complain("system");
        if (execv("/does/not/exist", argv) != -1)
            complain("an exec that fails");
        burn(100000);
    }
    return nullptr;
}

static void on_signal(int)
{
    burn(20000);
}

static void *signalling(void *)
{
    alignas(16) static char stack[65536];
    stack_t alternate = {};
    struct sigaction action = {};
    sigset_t all, before;
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, nullptr);
    for (int i = 0; i < rounds * 10; i++) {
        pthread_kill(pthread_self(), SIGUSR2);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        burn(200000);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, nullptr);
    return nullptr;
}

int main(int argc, char **argv)
{
    void *(*const works[])(void *) = {throwing, opening, creating, starting, signalling};
    pthread_t threads[5];
    if (argc != 3)
        return 2;
    rounds = atoi(argv[1]);
    library = argv[2];
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], nullptr, works[i], nullptr);
    for (auto &thread : threads)
        pthread_join(thread, nullptr);
    puts("done");
    return wrong != 0;
}

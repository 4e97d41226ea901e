/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tells a signal that was sent to this process alone from one that was sent to its process group,
 * and so to the job as well: see witness.h.
 *
 * Data structure: a child in the group that takes all signals one after the other, and for each
 * number how many it has taken, in memory that both processes have. A signal is at any time either
 * pending in the witness or counted, but for the moment between.
 */
#include "command/launch/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

enum { N_SIGNALS = 65, TRIES = 3 };

static struct {
    pid_t pid;
    atomic_uint *taken;        /* by the witness; NULL: there is none */
    unsigned known[N_SIGNALS]; /* of these, those that pct_witness_saw has told */
    char status[48];           /* its file in /proc */
} witness;

/* Closes all descriptors, above all ends of pipes that others wait for. close_range: Linux 5.9. */
static void close_all(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 0, ~0u, 0) == 0)
        return;
#endif
    struct rlimit most;
    rlim_t n = getrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_cur : 1024;
    for (rlim_t fd = 0; fd < n && fd <= INT_MAX; fd++)
        close((int)fd);
}

/* Takes signals until its parent is gone. */
static void take_signals(const sigset_t *all, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "witness"); /* not found by `pkill pcollect`, which means its parent */
    close_all();
    while (getppid() == parent) {
        int number = sigwaitinfo(all, NULL);
        if (number > 0 && number < N_SIGNALS)
            atomic_fetch_add(&witness.taken[number], 1);
    }
    _exit(0);
}

void pct_witness_start(void)
{
    sigset_t all;
    pid_t parent = getpid();
    void *shared = mmap(NULL, N_SIGNALS * sizeof *witness.taken, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    sigfillset(&all);
    witness.taken = shared;
    memset(witness.known, 0, sizeof witness.known);
    witness.pid = fork();
    if (witness.pid == 0)
        take_signals(&all, parent);
    if (witness.pid < 0)
        pct_witness_end();
    pc_format(witness.status, sizeof witness.status, "/proc/%d/status", (int)witness.pid);
}

void pct_witness_end(void)
{
    if (witness.taken)
        munmap(witness.taken, N_SIGNALS * sizeof *witness.taken);
    witness.taken = NULL;
    if (witness.pid <= 0)
        return;
    kill(witness.pid, SIGKILL);
    while (waitpid(witness.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    witness.pid = 0;
}

/* True if the signal waits to be taken. */
static bool is_pending(int number)
{
    char text[4096], *at;
    uint64_t pending = 0;
    int fd = open(witness.status, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strstr(text, "\nShdPnd:\t");
    for (at = at ? at + strlen("\nShdPnd:\t") : text + strlen(text); *at && *at != '\n'; at++)
        pending = pending << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return pending >> (number - 1) & 1;
}

bool pct_witness_saw(int number)
{
    for (int i = 0; witness.taken && i < TRIES; i++) {
        bool pending = is_pending(number);
        unsigned taken = atomic_load(&witness.taken[number]);
        if ((int)(taken - witness.known[number]) > 0 || pending) {
            witness.known[number] = taken + pending;
            return true;
        }
        pc_nap_ns(2000000);
    }
    return false;
}

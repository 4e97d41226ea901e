/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rights USER [+CAPABILITY]... COMMAND [ARG...]: as root, runs the command as the user with this
 * number, with no other rights than these capabilities, numbers of <linux/capability.h>.
 */
#include <grp.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int set_capabilities(uint64_t set)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    for (int i = 0; i < 2; i++)
        data[i].effective = data[i].permitted = data[i].inheritable = (uint32_t)(set >> 32 * i);
    return (int)syscall(SYS_capset, &head, data);
}

int main(int argc, char **argv)
{
    uint64_t set = 0;
    int i = 2;
    if (argc < 3)
        return 2;
    uid_t user = (uid_t)atoi(argv[1]);
    for (; i < argc && *argv[i] == '+'; i++)
        set |= UINT64_C(1) << atoi(argv[i] + 1);
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setregid(user, user) ||
        setreuid(user, user) || set_capabilities(set)) {
        perror("rights");
        return 1;
    }
    for (unsigned long c = 0; c < 64; c++)
        if (set >> c & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0)) {
            perror("rights");
            return 1;
        }
    execvp(argv[i], argv + i);
    perror(argv[i]);
    return 1;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints the options part of pcollect.conf(5), for manual.test.
 */
#include "config/config.h"

int main(void)
{
    pc_config_manual(stdout);
    return ferror(stdout) != 0;
}

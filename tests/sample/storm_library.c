/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opened and closed repeatedly by storm.cc.
 */
int storm_work(int n);

int storm_work(int n)
{
    volatile double x = 0;
    for (int i = 0; i < n; i++)
        x = x + i;
    return (int)x & 1;
}

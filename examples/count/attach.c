/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts a running process for some seconds, ten if not told otherwise, then leaves it.
 *
 *     cc attach.c $(pkg-config --cflags --libs libpccount)
 *     ./a.out page-faults,task-clock 4711
 */
#include <pcollect/count.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
    struct pccount_error why;
    struct pccount_values v;
    if (argc < 3)
        return fprintf(stderr, "usage: attach EVENTS PID [SECONDS]\n"), 2;
    double seconds = argc > 3 ? atof(argv[3]) : 10;
    struct timespec nap = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    struct pccount *count = pccount_new(argv[1], &why);
    struct pccount_view *view =
        count ? pccount_view_new(count, PCCOUNT_PROCESS, atoi(argv[2]), &why) : NULL;
    if (!view) {
        fprintf(stderr, "%s\n", why.text);
        pccount_free(count);
        return 1;
    }
    pccount_view_start(view);
    nanosleep(&nap, NULL);
    pccount_view_stop(view);
    if (!pccount_view_read(view, &v))
        for (size_t i = 0; i < pccount_n(count); i++)
            printf("%14llu  %s\n", (unsigned long long)v.value[i], pccount_name(count, i));
    else
        fprintf(stderr, "%s\n", pccount_view_why(view));
    pccount_view_free(view);
    pccount_free(count);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts whatever runs on this machine, each second. This needs an administrator's right, or
 * kernel.perf_event_paranoid 0.
 *
 *     cc machine.c $(pkg-config --cflags --libs libpccount)
 *     ./a.out context-switches,page-faults 5
 */
#include <pcollect/count.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct pccount_error why;
    struct pccount_values now, before = {{0}, 0, 0};
    struct pccount *count = pccount_new(argc > 1 ? argv[1] : "context-switches,page-faults", &why);
    struct pccount_view *view = count ? pccount_view_new(count, PCCOUNT_MACHINE, 0, &why) : NULL;
    if (!view) {
        fprintf(stderr, "%s\n", why.text);
        pccount_free(count);
        return 1;
    }
    pccount_view_start(view);
    for (int i = argc > 2 ? atoi(argv[2]) : 5; i > 0; i--) {
        sleep(1);
        if (pccount_view_read(view, &now)) {
            fprintf(stderr, "%s\n", pccount_view_why(view));
            break;
        }
        for (size_t k = 0; k < pccount_n(count); k++)
            printf("%14llu  %s\n", (unsigned long long)(now.value[k] - before.value[k]),
                   pccount_name(count, k));
        before = now;
    }
    pccount_view_free(view);
    pccount_free(count);
    return 0;
}

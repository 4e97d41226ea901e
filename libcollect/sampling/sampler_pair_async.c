/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Windows: two readings of a thread's counters, a short time apart, for a plugin that counts events
 * between them.
 *
 *     interrupt              program        interrupt
 *     |- sample, open, read -|- asked_ns ---|- read, close -|- rest_ns -> next sample
 *
 * The source that interrupts for samples also ends windows: it is armed for the time that the
 * program should run, and stands still while the thread waits, so that a window is not longer if
 * the thread was switched out. The time that leaving the handler takes is estimated from earlier
 * windows; the true length of the window is known after its end.
 *
 * Every function of this file may run in a signal handler.
 */
#include "libcollect/sampling/sampler.h"
#include "plugins/plugins.h"

/* ---- Random numbers -------------------------------------------------------------------------- */

/* Draws a number that is the same on all ranks for the n-th window of a thread, and adds the rank:
 * so if a plugin has a few groups, consecutive ranks take different ones. */
static uint64_t draw(const struct pc_thread *t, uint64_t n)
{
    const struct pcollect_arena_header *h = pc_header();
    int32_t rank = h->rank >= 0 ? h->rank : h->launch_rank;
    return pc_hash_u64(pc_process.config.run_key + n * 0x9e3779b97f4a7c15u) / 4 +
           (uint64_t)(rank > 0 ? rank : 0) + t->number;
}

/* ---- A window -------------------------------------------------------------------------------- */

/* Updates the mean of the armed time that leaving the handler takes; one slow handler changes it
 * little. */
static void follow_lead(struct pc_window *w, uint64_t lead_ns)
{
    uint64_t most = w->lead_ns / 8;
    if (!w->lead_ns)
        w->lead_ns = lead_ns;
    else if (lead_ns > w->lead_ns)
        w->lead_ns += lead_ns - w->lead_ns < most ? lead_ns - w->lead_ns : most;
    else
        w->lead_ns -= w->lead_ns - lead_ns < most ? w->lead_ns - lead_ns : most;
}

void pc_window_open(struct pc_thread *t, struct pc_sampler *s,
                    const struct pc_plugin_sample *sample, const struct pc_window_place *place)
{
    struct pc_window *w = &s->window;
    struct pc_plugin_sample now = *sample;
    if (!now.sample.empty)
        now.sample.draw = draw(t, w->n++);
    for (uint32_t k = 0; k < pc_process.n_compute; k++) {
        const struct pc_loaded_compute *p = &pc_process.compute[k];
        if (!p->plugin->open)
            continue;
        now.sample.own = s->own[k];
        w->plugin = p;
        w->place = *place;
        w->weight = 1u << s->lowered;
        w->asked_ns = p->plugin->open(p->state, &now.sample);
        /* Opens no window if the period is not much longer than a window. */
        w->open = w->asked_ns > 0 && s->next_ns > 2 * (w->asked_ns + w->lead_ns);
        if (!w->open && w->asked_ns && s->next_ns > 2 * w->asked_ns)
            follow_lead(w, 0); /* otherwise it could never become shorter again */
        if (w->open && s->owed_ns >= (int64_t)w->asked_ns) {
            w->open = false;
            pc_window_close(t, s, w->asked_ns, true);
        }
        return;
    }
}

void pc_window_arm(struct pc_sampler *s)
{
    const struct pc_window *w = &s->window;
    uint64_t until = w->open ? w->asked_ns + w->lead_ns : s->next_ns;
    pc_sampler_arm_for(s, until - (uint64_t)s->owed_ns);
}

static char *own_of(const struct pc_sampler *s)
{
    return s->own[s->window.plugin - pc_process.compute];
}

void pc_window_begin(const struct pc_sampler *s)
{
    const struct pc_loaded_compute *p = s->window.plugin;
    if (s->window.open)
        p->plugin->read(p->state, own_of(s), 0);
}

void pc_window_read(struct pc_sampler *s)
{
    const struct pc_loaded_compute *p = s->window.plugin;
    p->plugin->read(p->state, own_of(s), 1);
    follow_lead(&s->window, s->lead_ns);
}

uint64_t pc_window_time(const struct pc_sampler *s)
{
    int64_t ns = s->owed_ns + (int64_t)s->point_ns;
    return ns > 0 ? (uint64_t)ns : 0;
}

void pc_window_close(struct pc_thread *t, struct pc_sampler *s, uint64_t program_ns, bool stayed)
{
    const struct pc_window *w = &s->window;
    const struct pc_loaded_compute *p = w->plugin;
    const struct pc_plugin_sample to = {.sample = {.size = sizeof to.sample,
                                                   .empty = s->empty,
                                                   .period_ns = program_ns,
                                                   .thread = t,
                                                   .node = w->place.node,
                                                   .weight = w->weight,
                                                   .own = own_of(s)},
                                        .counting = t->counting};
    p->plugin->close(p->state, &to.sample, s->empty ? NULL : w->place.record + p->record_offset,
                     stayed);
}

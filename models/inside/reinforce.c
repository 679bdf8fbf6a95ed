/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/inside/reinforce.h"
#include "enum_table.h"

#include <math.h>

const char *const TABLE(reinforce_end_name, REINFORCE_ENDS) = {
    ROW(REINFORCE_RUNNING) = NULL,
    ROW(REINFORCE_UTIL) = "util",
    ROW(REINFORCE_LOCK) = "lock",
    ROW(REINFORCE_MAX) = "max",
};
TABLE_COMPLETE(reinforce_end_name);

static unsigned at_most(unsigned threads, unsigned step, unsigned t_max)
{
    return t_max - threads < step ? t_max : threads + step;
}

static unsigned half(const struct reinforce_rules *rules)
{
    return rules->t_step - rules->t_step / 2;
}

void reinforce_init(struct reinforce *reinforce, const struct reinforce_rules *rules)
{
    *reinforce = (struct reinforce){.next = rules->t_min};
}

/* By how much the last run's profile is above the best one's. */
static struct reinforce_profile rise(const struct reinforce_profile *from,
                                     const struct reinforce_profile *to)
{
    return (struct reinforce_profile){to->cpu_util - from->cpu_util, to->lock - from->lock,
                                      to->vcx - from->vcx, to->migr - from->migr};
}

/* Terminate() of the paper. */
static enum reinforce_end terminate(const struct reinforce *reinforce,
                                    const struct reinforce_rules *rules,
                                    const struct reinforce_profile *profile)
{
    const struct reinforce_thresholds *limit = &rules->thresholds;
    struct reinforce_profile delta = rise(&reinforce->best_profile, profile);
    unsigned try = reinforce->next;

    if (!(delta.cpu_util > limit->cpu_util_delta))
        return REINFORCE_UTIL;
    if (profile->lock > limit->lock &&
        (delta.lock > limit->lock_delta || (try <= rules->cores && delta.vcx > limit->vcx_delta) ||
         (try > rules->cores && delta.migr > limit->migr_delta)))
        return REINFORCE_LOCK;
    return try == rules->t_max ? REINFORCE_MAX : REINFORCE_RUNNING;
}

/* The step of ComputeNextT(). */
static unsigned step(const struct reinforce *reinforce, const struct reinforce_rules *rules,
                     const struct reinforce_profile *profile)
{
    const struct reinforce_thresholds *limit = &rules->thresholds;
    struct reinforce_profile delta = rise(&reinforce->best_profile, profile);
    bool slow = reinforce->next <= rules->cores ? delta.vcx <= limit->vcx_delta
                                                : delta.migr <= limit->migr_delta;

    if (profile->lock <= limit->lock || slow ||
        (profile->lock > limit->lock && delta.lock <= limit->lock_delta))
        return rules->t_step;
    return half(rules);
}

static unsigned end(struct reinforce *reinforce, enum reinforce_end end)
{
    if (end == REINFORCE_MAX)
        reinforce->best = reinforce->next;
    reinforce->end = end;
    reinforce->next = 0;
    return 0;
}

/* The run becomes the best one, and so many more threads are next. */
static unsigned go_on(struct reinforce *reinforce, const struct reinforce_rules *rules,
                      const struct reinforce_profile *profile, unsigned more)
{
    reinforce->best = reinforce->next;
    reinforce->best_profile = *profile;
    reinforce->next = at_most(reinforce->next, more, rules->t_max);
    return reinforce->next;
}

unsigned reinforce_run(struct reinforce *reinforce, const struct reinforce_rules *rules,
                       const struct reinforce_profile *profile)
{
    enum reinforce_end ended;

    if (reinforce->next == 0)
        return 0;
    if (reinforce->tried++ == 0)
        return reinforce->next == rules->t_max ? end(reinforce, REINFORCE_MAX)
                                               : go_on(reinforce, rules, profile, rules->t_step);
    ended = terminate(reinforce, rules, profile);
    if (ended != REINFORCE_RUNNING)
        return end(reinforce, ended);
    return go_on(reinforce, rules, profile, step(reinforce, rules, profile));
}

unsigned reinforce_most(const struct reinforce_rules *rules)
{
    return (rules->t_max - rules->t_min) / half(rules) + 2;
}

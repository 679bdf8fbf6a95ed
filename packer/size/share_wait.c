/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share_wait - see share_wait.h */
#include "packer/size/share_wait.h"

#include <math.h>

#include "packer/base/clock.h"
#include "packer/size/share_adapt.h"
#include "packer/steps/stage.h"

double share_wait_s(const struct packer *packer, const struct step *step)
{
    const struct conf *conf = &packer->world.conf;
    double wait_s = (double)(conf->startup_ms + conf->first_window_ms) / 1000;

    if (step->request.options.adapt)
        return 0;
    return fmax(step->started_mono_s + wait_s - clock_s(), 0);
}

double share_due(const struct packer *packer)
{
    const struct step *step;
    double in_s = -1;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->share.waits)
        in_s = clock_sooner(in_s, share_wait_s(packer, step));
    return in_s;
}

bool share_turn(const struct packer *packer)
{
    struct step *step;
    bool any = false;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->share.waits && share_wait_s(packer, step) == 0) {
        step->share.waits = false; /* once, even if they cannot be divided now */
        any = true;
    }
    return any;
}

/* ---- the stage: parts of cores that several jobs hold ---- */

static void divide_turn(const struct packer *packer, struct turn *turn)
{
    turn->places |= share_adapt_turn(packer);
    turn->places |= share_turn(packer);
}

const struct stage share_stage = {
    .name = "share",
    .close = share_adapt_free,
    .turn = divide_turn,
    .due = share_due,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* follow - the parallel regions of a step's programs have as many threads as it has cores at the
 * time (threads=follow): the plugin has libberth_rt preloaded, which reads the number in the step's
 * page (runtime/page.h).
 *
 * The number is the least that a task can have a CPU for each thread of. Where the step has all
 * that Slurm gave it, the page says 0, and programs have their own number. */
#include <math.h>

#include "packer/inside/policy.h"
#include "packer/size/size.h"

static bool asked(const struct step *step)
{
    return step->request.options.threads_follow;
}

/* What processes say of their regions is wanted from the first one on. */
static int follow_begin(const struct packer *packer, struct step *step, struct berth_error *err)
{
    (void)packer;
    return step_page_switch(step->inside.run->page, RT_THREADS, true, err);
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct inside_follow *follow = &run->follow;
    size_t threads = size_threads(step, true);

    (void)packer;
    follow->most = (uint32_t)size_threads(step, false);
    follow->threads = threads < follow->most ? (uint32_t)threads : 0;
    return true;
}

static bool decide(struct inside_run *run)
{
    return run->follow.threads != step_page_told(run->page);
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    const struct inside_run *run = step->inside.run;

    (void)packer;
    return step_page_tell(run->page, run->follow.threads, err);
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct step_page *opened = NULL, *page;
    int rc = 0;

    page = asked(step) ? inside_page_find(packer, step, &opened) : NULL;
    if (page && step_page_told(page) > 0)
        rc = step_page_tell(page, 0, err);
    step_page_close(opened);
    return rc;
}

static bool in_effect(const struct step *step)
{
    return step_page_told(step->inside.run->page) > 0;
}

const struct inside_policy inside_follow = {.asked = asked,
                                            .page = true,
                                            .begin = follow_begin,
                                            .sample = sample,
                                            .decide = decide,
                                            .enact = enact,
                                            .undo = undo,
                                            .in_effect = in_effect};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside_page - the step's page, which is there while a policy that needs one was asked for. */
#include "packer/inside/policy.h"

int inside_page_open(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_run *run = step->inside.run;

    if (!run->page) {
        if (step_page_open(&run->page, packer, step, err) < 0)
            return -1;
        step_page_heard(run->page, &run->said);
        if (step->request.options.size && step_page_switch(run->page, RT_REGIONS, true, err) < 0)
            return -1;
    }
    return step_page_stand(run->page, packer, step, err);
}

/* What is said outlives the page. */
static void listen(struct step *step)
{
    struct inside_run *run = step->inside.run;

    step_page_listen(run->page, &run->said);
    step->inside.region = step_said_region(&run->said);
    step->inside.throttled =
        (struct step_throttled){.times = run->said.reduced,
                                .seconds = (double)run->said.throttled_ns / 1e9,
                                .idle_thread_s = (double)run->said.idle_ns / 1e9};
}

int inside_page_turn(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_run *run = step->inside.run;

    if (!run->page)
        return 0;
    listen(step);
    return step_page_stand(run->page, packer, step, err);
}

struct step_page *inside_page_find(const struct packer *packer, const struct step *step,
                                   struct step_page **opened)
{
    const struct inside_run *run = step->inside.run;

    *opened = NULL;
    if (run || step->inside.why)
        return run ? run->page : NULL;
    return step_page_find(opened, packer, step) == 0 ? *opened : NULL;
}

int inside_page_turn_off(const struct packer *packer, const struct step *step,
                         enum rt_feature feature, struct berth_error *err)
{
    struct step_page *opened, *page = inside_page_find(packer, step, &opened);
    int rc = 0;

    if (page && step_page_has(page, feature))
        rc = step_page_switch(page, feature, false, err);
    step_page_close(opened);
    return rc;
}

void inside_page_close(const struct packer *packer, struct step *step, bool over)
{
    struct inside_run *run = step->inside.run;

    if (run && run->page) {
        listen(step);
        step_page_close(run->page);
        run->page = NULL;
    }
    if (over)
        step_page_remove(packer, step);
}

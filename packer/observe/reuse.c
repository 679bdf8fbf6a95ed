/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reuse - see reuse.h */
#include "packer/observe/reuse.h"

#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

static int open_sampler(const struct packer *packer, struct berth_error *unused)
{
    struct counters_node node = step_counts_node(packer);
    char say[COUNTERS_SAY];
    struct berth_error err;

    (void)unused;
    if (packer->world.conf.reuse_sampling != CONF_ON)
        return 0;
    if (reuse_sampler_open(&packer->state->reuse, &node, say, &err) == 0)
        log_info("reuse sampling: %s", say);
    else
        log_warn("no reuse sampling: %s", err.text);
    return 0;
}

/* False where the step's cgroup is not known to perf. */
static bool target_of(const struct step *step, struct cpus *cpus, struct reuse_target *target)
{
    enforce_union(&step->body, ENFORCE_PLACE, cpus);
    *target = (struct reuse_target){.user = step->request.uid,
                                    .cgroup = counters_cgroup(step->counts->counters),
                                    .pid = -1,
                                    .cpus = cpus};
    return target->cgroup >= 0;
}

void reuse_attach(const struct packer *packer, struct step *step)
{
    struct reuse_target target;
    struct berth_error err;
    struct cpus cpus;

    if (packer->state->reuse && target_of(step, &cpus, &target) &&
        reuse_sampler_attach(packer->state->reuse, &target, &step->counts->reuse, &err) < 0)
        log_debug("step %u.%u: reuse: %s", step->request.id.job, step->request.id.step, err.text);
}

void reuse_follow(struct step *step)
{
    struct reuse_target target;
    struct berth_error err;
    struct cpus cpus;

    if (step->counts->reuse && target_of(step, &cpus, &target) &&
        reuse_sampler_follow(step->counts->reuse, &target, &err) < 0)
        log_debug("step %u.%u: reuse: %s", step->request.id.job, step->request.id.step, err.text);
}

void reuse_window(struct step *step, bool changed)
{
    if (!step->counts->reuse)
        return;
    reuse_sampler_poll(step->counts->reuse);
    if (changed)
        reuse_sampler_forget(step->counts->reuse);
    if (!step->counts->reuse_hung && reuse_sampler_hung(step->counts->reuse)) {
        step->counts->reuse_hung = true;
        log_warn("step %u.%u: a process of it lets nobody watch its addresses: its reuse distances "
                 "are not known any more",
                 step->request.id.job, step->request.id.step);
    }
}

void reuse_end(struct step *step)
{
    reuse_sampler_detach(step->counts->reuse);
    step->counts->reuse = NULL;
}

int reuse_sdp(const struct packer *packer, const struct step *step, struct reuse_sdp *sdp)
{
    const struct topo_llc *llc = topo_cache(packer->world.topo);
    double accesses, error;
    struct berth_error err;

    if (!step->counts->reuse || !step_counts_rate(step, RATE_ACCESS_PMI, &accesses, &error) ||
        !llc->ways || !llc->line_bytes || llc->ways > REUSE_WAYS_MAX)
        return -1;
    return reuse_sampler_sdp(step->counts->reuse, llc->size_bytes / llc->line_bytes / llc->ways,
                             llc->ways, accesses, sdp, &err);
}

static void close_sampler(const struct packer *packer)
{
    reuse_sampler_close(packer->state->reuse);
}

const struct stage reuse_stage = {.name = "reuse", .open = open_sampler, .close = close_sampler};

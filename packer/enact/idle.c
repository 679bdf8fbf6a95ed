/* SPDX-License-Identifier: GPL-2.0-or-later */
/* idle - the stage that knows which cores are for no step even when Slurm has given them to nobody:
 * those that the kernel was told to keep free (isolcpus); all where Slurm keeps some for itself and
 * does not say which; and those on which something is at work that is not Slurm's.
 *
 * What is at work is seen in /proc/stat when windows have ended: on a CPU of nobody on which no
 * step stood, from one look to the next and to the one after. (A script that starts a job is over
 * by then.) It is left alone until it has been calm for CALM_S. */
#include "packer/enact/idle.h"

#include <stdio.h>
#include <stdlib.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/slurm/slurm_conf.h"
#include "packer/place/place.h"
#include "packer/steps/lacks.h"
#include "packer/steps/stage.h"
#include "packer/system/cpu_busy.h"

#define LOOK_S 1.0   /* between looks, at least: ticks are of 10 ms */
#define AT_WORK 0.5  /* of the time, from which a CPU is used */
#define CALM_S 120.0 /* for which a CPU has to be less, to be idle again */

struct idle_looks {
    double at_s; /* of the last look, CLOCK_MONOTONIC; 0: there was none */
    struct cpu_busy busy;
    struct cpus nobody;      /* those of nobody then, on which no step stood */
    struct cpus worked;      /* of these, those at work since the look before that */
    double used_s[CPUS_MAX]; /* when it was seen at work; 0: never */
};

/* ---- what is said ---- */

static const char *const specialised[] = {"CoreSpecCount", "CpuSpecList"};

/* Returns the key by which Slurm keeps cores for itself; NULL: it keeps none. */
static const char *keeps_cores(const struct conf *conf)
{
    struct berth_error err;

    for (size_t i = 0; i < sizeof(specialised) / sizeof(specialised[0]); i++) {
        char value[64] = "";

        if (slurm_conf_anywhere(slurm_conf_path(conf), specialised[i], value, sizeof(value), &err) <
            0) {
            log_warn("idle: %s", err.text);
            return "a file that cannot be read";
        }
        if (value[0])
            return specialised[i];
    }
    return NULL;
}

static bool is_off(const struct packer *packer)
{
    return packer->world.conf.idle == CONF_IDLE_OFF || !packer->world.enforce->way->touches;
}

/* No core of nobody is a place any more, and no step is said to stand on one. */
static void forget(const struct packer *packer)
{
    cpus_zero(&packer->state->idle.used);
    cpus_zero(&packer->state->idle.nobody);
    place_note_idle(packer);
}

static void read_never(const struct packer *packer)
{
    struct cpus *never = &packer->state->idle.never;
    const char *key;
    char why[64];

    cpus_zero(never);
    lacks_note(packer, LACK_IDLE, "");
    packer->state->idle.unasked = 0;
    if (is_off(packer)) {
        forget(packer);
        return;
    }
    rootfs_read_cpus(&packer->world.root, "/sys/devices/system/cpu/isolated", never, NULL);
    key = keeps_cores(&packer->world.conf);
    if (!key)
        return;
    *never = packer->world.topo->cpus;
    snprintf(why, sizeof(why), "slurm.conf has %s", key);
    lacks_note(packer, LACK_IDLE, why);
    log_warn("idle: no step stands on cores of nobody: %s", why);
}

/* ---- what is seen ---- */

/* Collects the CPUs of nobody on which no step stands. */
static void find_nobody(const struct packer *packer, struct cpus *nobody)
{
    const struct step *step;

    *nobody = packer->state->idle.nobody;
    cpus_or(nobody, &packer->state->idle.used); /* they would be places, too */
    TAILQ_FOREACH(step, &packer->steps->live, link)
    cpus_andnot(nobody, &step->place.cpus);
}

/* Finds which CPUs were at work since the look before, of those that were nobody's meanwhile. */
static void find_worked(const struct idle_looks *looks, const struct cpu_busy *busy,
                        const struct cpus *nobody, double now, struct cpus *worked)
{
    struct cpus seen = busy->known;

    cpus_and(&seen, &looks->busy.known);
    cpus_and(&seen, &looks->nobody);
    cpus_and(&seen, nobody);
    cpus_zero(worked);
    cpus_foreach(cpu, &seen) if (busy->s[cpu] - looks->busy.s[cpu] > AT_WORK * (now - looks->at_s))
        cpus_add(worked, cpu);
}

/* Returns whether other CPUs are at work than before. */
static bool find_used(const struct idle_looks *looks, double now, struct cpus *used)
{
    struct cpus before = *used;

    cpus_zero(used);
    for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
        if (looks->used_s[cpu] > 0 && now - looks->used_s[cpu] < CALM_S)
            cpus_add(used, cpu);
    return !cpus_equal(&before, used);
}

void idle_look(const struct packer *packer, double now_s)
{
    struct idle_looks *looks = packer->state->idle.looks;
    struct cpu_busy busy;
    struct cpus nobody, worked = {0}, again;

    if (cpu_busy_read(&packer->world.root, &busy, &(struct berth_error){""}) < 0)
        return;
    find_nobody(packer, &nobody);
    if (looks->at_s > 0)
        find_worked(looks, &busy, &nobody, now_s, &worked);
    again = worked;
    cpus_and(&again, &looks->worked);
    cpus_foreach(cpu, &again) looks->used_s[cpu] = now_s;
    looks->at_s = now_s;
    looks->busy = busy;
    looks->nobody = nobody;
    looks->worked = worked;
    if (find_used(looks, now_s, &packer->state->idle.used))
        packer_note_change(packer); /* there are other places */
}

/* ---- the stage ---- */

static int open_idle(const struct packer *packer, struct berth_error *err)
{
    packer->state->idle.looks = calloc(1, sizeof(struct idle_looks));
    if (!packer->state->idle.looks)
        return berth_no_memory(err);
    read_never(packer);
    return 0;
}

static void close_idle(const struct packer *packer)
{
    free(packer->state->idle.looks);
    packer->state->idle.looks = NULL;
}

static void look_turn(const struct packer *packer, struct turn *turn)
{
    double now = clock_s();

    if (!is_off(packer) && turn->windows.n > 0 && now - packer->state->idle.looks->at_s >= LOOK_S)
        idle_look(packer, now);
}

const struct stage idle_stage = {
    .name = "idle",
    .open = open_idle,
    .close = close_idle,
    .configure = read_never,
    .turn = look_turn,
};

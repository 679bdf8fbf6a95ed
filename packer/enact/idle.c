/* SPDX-License-Identifier: GPL-2.0-or-later */
/* idle - the stage that knows which cores are for no step even when Slurm has given them to nobody:
 * those that the kernel was told to keep free (isolcpus), and all where Slurm keeps some for itself
 * and does not say which. */
#include <stdio.h>

#include "packer/base/log.h"
#include "packer/conf/slurm_conf.h"
#include "packer/steps/lacks.h"
#include "packer/steps/stage.h"

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

static void read_never(const struct packer *packer)
{
    struct cpus *never = &packer->state->idle.never;
    const char *key;
    char why[64];

    cpus_zero(never);
    lacks_note(packer, LACK_IDLE, "");
    if (packer->world.conf.idle == CONF_IDLE_OFF || !packer->world.enforce->way->touches)
        return;
    rootfs_read_cpus(&packer->world.root, "/sys/devices/system/cpu/isolated", never, NULL);
    key = keeps_cores(&packer->world.conf);
    if (!key)
        return;
    *never = packer->world.topo->cpus;
    snprintf(why, sizeof(why), "slurm.conf has %s", key);
    lacks_note(packer, LACK_IDLE, why);
    log_warn("idle: no step stands on cores of nobody: %s", why);
}

static int open_idle(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    read_never(packer);
    return 0;
}

const struct stage idle_stage = {.name = "idle", .open = open_idle, .configure = read_never};

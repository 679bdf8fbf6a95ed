/* SPDX-License-Identifier: GPL-2.0-or-later */
/* near - see near.h. Here: a step's devices, and how far from them it stands. */
#include "packer/place/near.h"

#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/conf/conf.h"
#include "packer/machine/devices.h"
#include "packer/steps/stage.h"

/* Reads the node's devices: at the start, and again with berth.conf, for a driver that came later
 * says more of them. Steps that run keep what they were told. Where they cannot be read, those that
 * were read before count, and it is logged. */
static void near_read(const struct packer *packer)
{
    struct devices *gear;
    struct berth_error err;

    if (devices_read(&gear, packer->world.topo, packer->world.conf.topology, &packer->world.devices,
                     &err) < 0) {
        log_warn("devices: %s", err.text);
        return;
    }
    devices_free(packer->state->gear);
    packer->state->gear = gear;
}

size_t near_devices(const struct packer *packer, const struct step *step,
                    const struct device *device[NEAR_DEVICES_MAX])
{
    const char *at = step->request.devices ? step->request.devices : "";
    size_t n = 0;

    for (; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        char name[WIRE_DEVICES_MAX];

        snprintf(name, sizeof(name), "%.*s", (int)length, at);
        if (n < NEAR_DEVICES_MAX)
            device[n] = packer->state->gear ? devices_find(packer->state->gear, name) : NULL;
        n++;
        at += length;
    }
    return n;
}

/* Finds a new or adopted step's devices, and says whether they hold it: step->near. */
static void near_begin(const struct packer *packer, struct step *step)
{
    const struct device *device[NEAR_DEVICES_MAX];
    size_t n = near_devices(packer, step, device);
    struct step_near *near = &step->near;

    *near = (struct step_near){.holds = n > 0 && n <= NEAR_DEVICES_MAX &&
                                        packer->world.conf.device_near != CONF_NEAR_OFF &&
                                        !step->request.options.nodevice};
    for (size_t i = 0; near->holds && i < n; i++) {
        near->holds = device[i] != NULL;
        if (device[i])
            cpus_or(&near->cpus,
                    cpus_empty(&device[i]->cpus) ? &packer->world.topo->cpus : &device[i]->cpus);
    }
}

/* Returns how many of the task's CPUs are far from its step's devices. */
static size_t far_cpus(const struct scene *scene, const struct step *step, size_t task)
{
    struct cpus image;

    stand_image(scene->packer, scene->pool, &step->body.task[task].use, &image);
    cpus_andnot(&image, &step->near.cpus);
    return cpus_count(&image);
}

bool near_is_far(const struct scene *scene, const struct step *step)
{
    for (size_t i = 0; step->near.holds && i < step->body.ntasks; i++)
        if (far_cpus(scene, step, i) > 0)
            return true;
    return false;
}

size_t near_missing(const struct scene *scene)
{
    const struct step *step;
    size_t n = 0;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        if (!step->near.holds || !stand_movable(scene, step) ||
            registry_only_waits(scene->packer->steps, step))
            continue;
        for (size_t i = 0; i < step->body.ntasks; i++)
            n += far_cpus(scene, step, i);
    }
    return n;
}

/* ---- for people ---- */

/* Lists the devices, and says which ones are not known. */
static void append_devices(const struct packer *packer, const struct step *step, char *text,
                           size_t size)
{
    const struct device *device[NEAR_DEVICES_MAX];
    size_t n = near_devices(packer, step, device);
    char name[DEVICE_TEXT_MAX];

    for (size_t i = 0; i < n && i < NEAR_DEVICES_MAX; i++)
        text_append(text, size, "%s%s", i ? ", " : "",
                    device[i] ? device_text(device[i], name)
                              : "one that is not known on this node");
}

void near_text(const struct packer *packer, const struct step *step, char *text, size_t size)
{
    bool far = !cpus_subset(&step->place.cpus, &step->near.cpus);

    text[0] = '\0';
    if (!step->request.devices || !step->request.devices[0])
        return;
    text_append(text, size, "%s", !step->near.holds ? "with " : far ? "far from " : "near ");
    append_devices(packer, step, text, size);
    if (step->request.options.nodevice)
        text_append(text, size, ", which does not count (nodevice)");
    else if (step->near.holds && far && step->state == STEP_PLACED)
        text_append(text, size, ": there is no room near");
}

/* ---- the stage ---- */

static int open_devices(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    near_read(packer);
    return 0;
}

static void close_devices(const struct packer *packer)
{
    devices_free(packer->state->gear);
}

const struct stage near_stage = {
    .name = "near",
    .open = open_devices,
    .close = close_devices,
    .configure = near_read,
    .begin = near_begin,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_now - see render_now.h */
#include "packer/daemon/render_now.h"

#include <math.h>

#include "packer/base/json.h"
#include "packer/machine/devices.h"
#include "packer/place/near.h"

/* The CPUs on which steps stand that do more than wait. */
static void standing(const struct packer *packer, struct cpus *cpus)
{
    const struct step *step;

    cpus_zero(cpus);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!render_waits(packer, step))
            cpus_or(cpus, step_stands(step));
    }
}

struct json_object *render_caches(const struct packer *packer, bool hidden)
{
    const struct topo *topo = packer->world.topo;
    struct json_object *list = json_object_new_array();
    struct cpus stand;

    standing(packer, &stand);
    for (size_t i = 0; i < topo->llcs; i++) {
        const struct topo_llc *llc = &topo->llc[i];
        struct json_object *object = json_object_new_object();
        size_t cores = 0, pool = 0, used = 0;

        for (size_t core = 0; core < topo->cores; core++) {
            if (topo->core[core].llc != i)
                continue;
            cores++;
            pool += pool_has(packer->pool, core);
            used += cpus_intersect(&topo->core[core].cpus, &stand);
        }
        json_add_u64(object, "package", llc->package);
        json_add_cpus(object, "cpus", &llc->cpus);
        json_add_u64(object, "cores", cores);
        json_add_measure(object, "size_bytes", llc->size_bytes ? (double)llc->size_bytes : NAN);
        json_add(object, "pool", hidden ? NULL : json_object_new_uint64(pool));
        json_add(object, "used", hidden ? NULL : json_object_new_uint64(used));
        json_append(list, object);
    }
    return list;
}

static struct json_object *render_device(const struct device *device)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "name", device->name);
    json_add_text(object, "kind", device_kind_name[device->kind]);
    json_add_text(object, "pci", device->pci);
    json_add(object, "node", device->node >= 0 ? json_object_new_int(device->node) : NULL);
    json_add_cpus(object, "cpus", &device->cpus);
    return object;
}

struct json_object *render_devices(const struct packer *packer)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; packer->state->gear && i < packer->state->gear->n; i++)
        json_append(list, render_device(&packer->state->gear->device[i]));
    return list;
}

struct json_object *render_near(const struct packer *packer, const struct step *step)
{
    struct json_object *object, *list;
    const struct device *device[NEAR_DEVICES_MAX];
    size_t n = near_devices(packer, step, device);
    char text[512];

    if (n == 0)
        return NULL;
    object = json_object_new_object();
    list = json_object_new_array();
    for (size_t i = 0; i < n && i < NEAR_DEVICES_MAX; i++)
        if (device[i])
            json_append(list, render_device(device[i]));
    near_text(packer, step, text, sizeof(text));
    json_add_text(object, "asked", step->request.devices);
    json_add(object, "devices", list);
    json_add_bool(object, "holds", step->near.holds);
    json_add(object, "far",
             step->near.holds
                 ? json_object_new_boolean(!cpus_subset(&step->place.cpus, &step->near.cpus))
                 : NULL);
    json_add_text(object, "text", text);
    return object;
}

bool render_waits(const struct packer *packer, const struct step *step)
{
    return registry_only_waits(packer->steps, step);
}

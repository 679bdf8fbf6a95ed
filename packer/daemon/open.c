/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open - see open.h */
#include "packer/daemon/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/path_owner.h"
#include "packer/slurm/private_data.h"
#include "packer/slurm/slurm_cores.h"
#include "packer/daemon/stages.h"
#include "packer/hand/ask.h"
#include "packer/ledger/ledger.h"
#include "packer/machine/type.h"

/* Says whether each node of the profile is one of this machine, with as many cores. */
static bool fits(const struct machine_profile *profile, const struct topo *topo,
                 struct berth_error *err)
{
    for (size_t i = 0; i < profile->nodes; i++) {
        const struct machine_node *node = &profile->node[i];
        const struct topo_node *found = NULL;
        size_t cores = 0;

        for (size_t j = 0; j < topo->nodes; j++)
            if (topo->node[j].os_index == node->os_index)
                found = &topo->node[j];
        for (size_t c = 0; found && c < topo->cores; c++)
            cores += cpus_intersect(&topo->core[c].cpus, &found->cpus);
        if (cores < node->cores) {
            berth_error_set(err,
                            "of another machine: its NUMA node %u has %zu cores, this one's %zu",
                            node->os_index, node->cores, cores);
            return false;
        }
    }
    return true;
}

/* Reads the machine's profile, if there is one that fits. */
static void read_machine(struct packer *packer)
{
    const char *path = packer->world.conf.machine_profile;
    struct berth_error err;

    if (access(path, F_OK) < 0 && errno == ENOENT) {
        log_info("%s: no machine profile", path);
        return;
    }
    packer->world.machine = machine_profile_read(path, &err);
    if (!packer->world.machine) {
        log_warn("machine profile: %s; going on without", err.text);
    } else if (!fits(packer->world.machine, packer->world.topo, &err)) {
        log_warn("machine profile: %s: %s; going on without", path, err.text);
        machine_profile_free(packer->world.machine);
        packer->world.machine = NULL;
    }
}

/* Refuses folders in which a user could put something else in the place of what root keeps there.
 */
static int check_paths(const struct conf *conf, struct berth_error *err)
{
    const struct {
        const char *key, *path;
    } kept[] = {{"socket", conf->socket},
                {"state_dir", conf->state_dir},
                {"profile_db", conf->profile_db},
                {"ledger", strncmp(conf->ledger, "sqlite:", 7) == 0 ? conf->ledger + 7 : "/"},
                {"ledger_queue", conf->ledger_queue}};
    struct berth_error why;

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (path_owner_check(kept[i].path, &why) < 0)
            return berth_error_set(err, "%s: %.450s", kept[i].key, why.text);
    return 0;
}

int packer_check(const struct conf *conf, struct berth_error *err)
{
    struct topo *topo = NULL;
    struct enforce enforce;
    struct rootfs root;
    int rc;

    if (check_paths(conf, err) < 0 || ledger_check(conf, err) < 0 ||
        topo_read(&topo, conf->topology, err) < 0)
        return -1;
    topo_free(topo);
    if (rootfs_open(&root, "/", err) < 0)
        return -1;
    rc = enforce_open(&enforce, &root, conf->cgroup_root, conf_enforcement_name[conf->enforcement],
                      err);
    if (rc == 0)
        enforce_close(&enforce);
    rootfs_close(&root);
    return rc;
}

/* Who is looked for in vain elsewhere is of another kind. */
static void tell_kinds(const struct topo *topo)
{
    char text[CPUS_TEXT_MAX];
    struct cpus cpus;

    for (size_t kind = 0; topo->kinds > 1 && kind < topo->kinds; kind++) {
        topo_cpus_of_kind(topo, kind, &cpus);
        if (cpus_format(&cpus, text, sizeof(text)) == 0)
            log_info("CPUs %s are cores of one kind, which change places with each other only",
                     text);
    }
}

/* The machine has been read core by core; what steps exchange may be threads. */
static int open_places(const struct packer *packer, struct berth_error *err)
{
    struct topo *topo = packer->world.topo;

    if (cpus_count(&topo->cpus) > topo->cores &&
        slurm_cores_are_split(&packer->world.conf, cpus_count(&topo->cpus))) {
        if (topo_split(topo, err) < 0)
            return -1;
        log_info("jobs share cores: each of the %zu hardware threads is a place of its own",
                 topo->cores);
    }
    tell_kinds(topo);
    if (pool_init(packer->state->pool, topo->cores) < 0)
        return berth_no_memory(err);
    return 0;
}

/* Opens what all stages stand on; each may need what stands before it. */
static int open_world(struct packer *packer, struct berth_error *err)
{
    const struct conf *conf = &packer->world.conf;
    char text[BANDWIDTH_TEXT];

    if (check_paths(conf, err) < 0 || topo_read(&packer->world.topo, conf->topology, err) < 0 ||
        rootfs_open(&packer->world.root, "/", err) < 0 ||
        rootfs_open(&packer->world.devices, conf->device_root, err) < 0 ||
        topo_read_distances(packer->world.topo, &packer->world.root, err) < 0 ||
        enforce_open(packer->world.enforce, &packer->world.root, conf->cgroup_root,
                     conf_enforcement_name[conf->enforcement], err) < 0)
        return -1;
    hand_link_idle(packer->world.enforce->hand, conf->idle != CONF_IDLE_OFF);
    if (!conf->topology[0])
        topo_read_isolated(packer->world.topo, &packer->world.root);
    snprintf(packer->world.enforce->tree, sizeof(packer->world.enforce->tree), "%s",
             conf->cgroup_name);
    machine_type(packer->world.topo, &packer->world.root, packer->world.machine_type,
                 sizeof(packer->world.machine_type));
    read_machine(packer);
    bandwidth_find(packer->world.topo, conf->topology, packer->world.machine, &packer->world.root,
                   &packer->world.bandwidth);
    log_info("memory: %s", bandwidth_text(&packer->world.bandwidth, text));
    return open_places(packer, err);
}

/* How long berthd may take for what. Tests on slow machines have it take longer. */
static void set_patience(struct packer *packer)
{
    packer->world.turn_s = 0.005;
    packer->world.quiet_s = 0.05;
    packer->world.end_patience_s = 2;
}

int packer_open(struct packer *packer, const struct conf *conf, struct berth_error *err)
{
    if (packer_make(packer, err) < 0)
        return -1;
    packer->world.conf = *conf;
    packer->world.started_mono_s = clock_s();
    packer->world.private_data = private_data_hides(conf);
    set_patience(packer);
    registry_init(packer->steps, conf->history);
    if (open_world(packer, err) == 0 && stages_open(packer, err) == 0)
        return 0;
    packer_close(packer);
    return -1;
}

void packer_close(struct packer *packer)
{
    stages_close(packer);
    registry_free(packer->steps);
    pool_free(packer->state->pool);
    enforce_close(packer->world.enforce);
    if (packer->world.root.fd >= 0)
        rootfs_close(&packer->world.root);
    if (packer->world.devices.fd >= 0)
        rootfs_close(&packer->world.devices);
    machine_profile_free(packer->world.machine);
    topo_free(packer->world.topo);
    packer_free(packer);
}

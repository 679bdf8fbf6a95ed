/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_hardware - what the kernel and the machine offer: cgroups, counters, meters, cache
 * control, memory nodes. */
#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "packer/base/text.h"
#include "packer/base/clock.h"
#include "packer/cli/doctor/doctor.h"
#include "packer/counters/counters.h"
#include "packer/energy/energy.h"
#include "packer/enforce/enforce.h"
#include "packer/machine/bandwidth.h"
#include "packer/machine/devices.h"
#include "packer/machine/topo.h"

static void check_kernel(struct doctor *doctor)
{
    struct utsname name;

    if (uname(&name) == 0)
        doctor_add(doctor, "kernel", DOCTOR_OK, "", "%s %s %s", name.sysname, name.release,
                   name.machine);
}

/* ---- cgroups ---- */

struct mounts {
    bool v1, v2;
    char cpuset1[256]; /* where version 1's cpuset controller is; "" nowhere */
    char unified[256]; /* where version 2 is */
};

static void read_mounts(const struct doctor *doctor, struct mounts *mounts)
{
    char *text = rootfs_read(&doctor->root, "/proc/self/mounts"), *save;

    memset(mounts, 0, sizeof(*mounts));
    if (!text)
        return;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char where[256], type[32], options[512];

        if (sscanf(line, "%*s %255s %31s %511s", where, type, options) != 3)
            continue;
        if (strcmp(type, "cgroup2") == 0 && !mounts->v2) {
            mounts->v2 = true;
            strcpy(mounts->unified, where);
        } else if (strcmp(type, "cgroup") == 0) {
            mounts->v1 = true;
            if (!mounts->cpuset1[0] && text_lists(options, "cpuset"))
                strcpy(mounts->cpuset1, where); /* later ones are those of somebody's chroot */
        }
    }
    free(text);
}

/* Has version 2 the cpuset controller? */
static bool unified_has_cpuset(const struct doctor *doctor, const struct mounts *mounts)
{
    char path[320], *text;
    bool has;

    snprintf(path, sizeof(path), "%s/cgroup.controllers", mounts->unified);
    text = mounts->v2 ? rootfs_read(&doctor->root, path) : NULL;
    has = text && strstr(text, "cpuset");
    free(text);
    return has;
}

static void check_cgroups(struct doctor *doctor)
{
    struct mounts mounts;
    const char *version, *where;

    read_mounts(doctor, &mounts);
    version = mounts.v1 ? mounts.v2 ? "hybrid" : "v1" : mounts.v2 ? "v2" : "not mounted";
    where = mounts.cpuset1[0]                     ? mounts.cpuset1
            : unified_has_cpuset(doctor, &mounts) ? mounts.unified
                                                  : NULL;
    if (where)
        doctor_add(doctor, "cgroup", DOCTOR_OK, "", "%s, cpuset controller at %s", version, where);
    else
        doctor_add(doctor, "cgroup", DOCTOR_ABSENT,
                   "no step can be moved: only enforcement=dryrun works",
                   "%s, no cpuset controller", version);
}

/* ---- counters ---- */

/* Adds a row such as "counters: perf", of one way among several to do a thing. */
static void add_way(struct doctor *doctor, const char *kind, const char *name, bool used,
                    const char *without, const char *say)
{
    char row[sizeof(doctor->row[0].name)];

    snprintf(row, sizeof(row), "%s: %s", kind, name);
    doctor_add(doctor, row, used ? DOCTOR_OK : DOCTOR_ABSENT, without, "%.300s", say);
}

/* Opens each way to count, as berthd would. What keeps this user from counting keeps berthd from it
 * only if it keeps root, too. */
static void check_counters(struct doctor *doctor)
{
    struct enforce enforce = {.way = &enforce_dryrun, .root = &doctor->root};
    struct counters_node node = {.root = &doctor->root, .enforce = &enforce, .conf = &doctor->conf};
    struct counters_about about;
    struct counters *counters;
    struct topo *topo = NULL;
    struct berth_error err;

    snprintf(enforce.cgroup_root, sizeof(enforce.cgroup_root), "%.255s", doctor->conf.cgroup_root);
    snprintf(enforce.tree, sizeof(enforce.tree), "%s", doctor->conf.cgroup_name);
    if (topo_read(&topo, doctor->conf.topology, &err) < 0)
        return; /* the row of the topology says it */
    node.topo = topo;
    if (counters_open(&counters, &node, &err) < 0) {
        doctor_add(doctor, "counters", DOCTOR_ABSENT, "berthd does not start", "%.300s", err.text);
    } else {
        for (size_t i = 0; counters_about(counters, i, &about); i++)
            if (about.used || about.without)
                add_way(doctor, "counters", about.name, about.used, about.without, about.say);
        counters_close(counters);
    }
    topo_free(topo);
}

/* ---- meters, cache control, memory, shape ---- */

#define METER_LOOK_NS 20000000 /* between two readings of the meters */
#define METER_PATIENCE_S 1.5   /* until all of them should have moved */

/* Reads the meters until all have moved, or time is up. Returns how many have; *still: how many can
 * be read and have not. */
static size_t count_zones(struct energy *energy, size_t *still)
{
    const struct timespec pause = {.tv_nsec = METER_LOOK_NS};
    double until_s = clock_s() + METER_PATIENCE_S;
    struct energy_reading reading;
    size_t known;

    do {
        energy_read(energy, clock_s(), &reading);
        known = *still = 0;
        for (size_t i = 0; i < reading.zones; i++) {
            known += reading.known[i];
            *still += reading.still[i];
        }
    } while (*still && clock_s() < until_s && nanosleep(&pause, NULL) == 0);
    return known;
}

/* Says how many of the zones count now. */
static void add_zones(struct doctor *doctor, struct energy *energy)
{
    size_t still, known = count_zones(energy, &still);

    doctor_add(doctor, "meters",
               known && !still        ? DOCTOR_OK
               : energy_zones(energy) ? DOCTOR_WARN
                                      : DOCTOR_ABSENT,
               known ? "a meter that stands still is not billed" : "no energy is billed",
               "%zu zones, %zu count, %zu stand still", energy_zones(energy), known, still);
}

/* Opens each way to read meters, as berthd would. */
static void check_energy(struct doctor *doctor)
{
    struct rootfs root;
    struct energy_node node = {.root = &root, .conf = &doctor->conf};
    struct energy_about about;
    struct energy *energy = NULL;
    struct topo *topo = NULL;
    struct berth_error err;

    if (topo_read(&topo, doctor->conf.topology, &err) < 0)
        return; /* the row of the topology says it */
    node.topo = topo;
    if (rootfs_open(&root, doctor->conf.energy_root, &err) < 0) {
        doctor_add(doctor, "meters", DOCTOR_ABSENT, "no energy is billed", "energy_root: %.300s",
                   err.text);
    } else if (energy_open(&energy, &node, &err) < 0) {
        doctor_add(doctor, "meters", DOCTOR_ABSENT, "no energy is billed", "%.300s", err.text);
        rootfs_close(&root);
    } else {
        for (size_t i = 0; energy_about(energy, i, &about); i++)
            if (strcmp(about.name, energy_model.name) != 0 || doctor->conf.energy_model[0])
                add_way(doctor, "meters", about.name, about.used, about.without, about.say);
        add_zones(doctor, energy);
        energy_close(energy);
        rootfs_close(&root);
    }
    topo_free(topo);
}

static void check_resctrl(struct doctor *doctor)
{
    static const char *const flags[] = {"cqm_llc", "cqm_mbm_total", "cat_l3", "mba"};
    char *text = rootfs_read(&doctor->root, "/proc/cpuinfo"), seen[64] = "";
    bool mounted = rootfs_exists(&doctor->root, "/sys/fs/resctrl/schemata");

    for (size_t i = 0; text && i < sizeof(flags) / sizeof(flags[0]); i++)
        if (strstr(text, flags[i])) {
            strcat(seen, " ");
            strcat(seen, flags[i]);
        }
    free(text);
    doctor_add(doctor, "resctrl", mounted ? DOCTOR_OK : DOCTOR_ABSENT,
               "caches are shared, not partitioned", "%s, CPU flags:%s%s",
               mounted ? "mounted" : "not mounted", seen[0] ? seen : " none",
               mounted ? "; caches are not partitioned in this version" : "");
}

static void check_numa(struct doctor *doctor)
{
    if (numa_available() < 0)
        doctor_add(doctor, "numa", DOCTOR_ABSENT, "memory policies are left alone",
                   "the kernel has no memory policies");
    else
        doctor_add(doctor, "numa", DOCTOR_OK, "", "%d memory node%s", numa_num_configured_nodes(),
                   numa_num_configured_nodes() == 1 ? "" : "s");
}

/* Finds what berthd would go by: what was measured of this machine, else what is assumed. A profile
 * that cannot be read berthd's log tells of. */
static void check_bandwidth(struct doctor *doctor)
{
    struct machine_profile *profile = machine_profile_read(doctor->conf.machine_profile, NULL);
    struct bandwidth bandwidth;
    struct topo *topo;
    struct berth_error err;
    char text[BANDWIDTH_TEXT];

    if (topo_read(&topo, doctor->conf.topology, &err) == 0) {
        bandwidth_find(topo, doctor->conf.topology, profile, &doctor->root, &bandwidth);
        doctor_add(doctor, "bandwidth", bandwidth_assumed(&bandwidth) ? DOCTOR_WARN : DOCTOR_OK,
                   "no place is chosen that is less even than the one that there is", "%s",
                   bandwidth_text(&bandwidth, text));
        topo_free(topo);
    }
    machine_profile_free(profile);
}

static void check_topology(struct doctor *doctor)
{
    struct topo *topo;
    struct berth_error err;

    if (topo_read(&topo, doctor->conf.topology, &err) < 0) {
        doctor_add(doctor, "topology", DOCTOR_ABSENT, "berthd does not start", "%.300s", err.text);
    } else {
        doctor_add(doctor, "topology", DOCTOR_OK, "",
                   "%s: packages %zu, last-level caches %zu, cores %zu, CPUs %zu, memory nodes %zu",
                   topo->name, topo->packages, topo->llcs, topo->cores, cpus_count(&topo->cpus),
                   topo->nodes);
        topo_free(topo);
    }
    doctor_essential(doctor);
}

#define DEVICES_SHOWN 24

static void add_device(struct doctor *doctor, const struct device *device)
{
    char name[32], cpus[CPUS_TEXT_MAX], node[24] = "not known";

    snprintf(name, sizeof(name), "device %.24s", device->name);
    if (device->node >= 0)
        snprintf(node, sizeof(node), "%d", device->node);
    cpus_format(&device->cpus, cpus, sizeof(cpus));
    doctor_add(doctor, name, cpus[0] ? DOCTOR_OK : DOCTOR_WARN,
               "the kernel does not say where it is: steps that have it stay where Slurm puts them",
               "%s, PCI %s, memory node %s%s%.200s", device_kind_name[device->kind], device->pci,
               node, cpus[0] ? ", CPUs " : "", cpus);
}

/* The devices near which steps are kept. */
static void check_devices(struct doctor *doctor)
{
    struct devices *devices = NULL;
    struct topo *topo = NULL;
    struct rootfs root;
    struct berth_error err;

    if (topo_read(&topo, doctor->conf.topology, &err) < 0)
        return; /* the row of the topology says it */
    if (rootfs_open(&root, doctor->conf.device_root, &err) == 0) {
        if (devices_read(&devices, topo, doctor->conf.topology, &root, &err) == 0)
            for (size_t i = 0; i < devices->n && i < DEVICES_SHOWN; i++)
                add_device(doctor, &devices->device[i]);
        devices_free(devices);
        rootfs_close(&root);
    }
    topo_free(topo);
}

void doctor_hardware(struct doctor *doctor)
{
    check_kernel(doctor);
    check_topology(doctor);
    check_numa(doctor);
    check_bandwidth(doctor);
    check_devices(doctor);
    check_cgroups(doctor);
    check_counters(doctor);
    check_energy(doctor);
    check_resctrl(doctor);
}

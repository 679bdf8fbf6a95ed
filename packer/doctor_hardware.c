/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_hardware - what the kernel and the machine offer: cgroups, counters, meters, cache
 * control, memory nodes. */
#include <errno.h>
#include <linux/perf_event.h>
#include <numa.h>
#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor.h"
#include "topo.h"

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
            if (strstr(options, "cpuset"))
                strcpy(mounts->cpuset1, where);
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

/* errno of opening a cycle counter on this process; 0 when it works. */
static int try_counter(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .disabled = 1,
                                   .exclude_kernel = 1};
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

/* The hardware PMUs that libpfm4 recognises, "none" when there is none. */
static void list_pmus(char *text, size_t size)
{
    size_t used = 0;
    int pmu;

    snprintf(text, size, "none");
    if (pfm_initialize() != PFM_SUCCESS)
        return;
    pfm_for_all_pmus(pmu)
    {
        pfm_pmu_info_t info = {.size = sizeof(info)};

        if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present ||
            info.type == PFM_PMU_TYPE_OS_GENERIC || used + 40 > size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%.36s", used ? ", " : "", info.name);
    }
    pfm_terminate();
}

static void check_pmu(struct doctor *doctor)
{
    char *paranoid = rootfs_read(&doctor->root, "/proc/sys/kernel/perf_event_paranoid");
    int why = try_counter();
    char pmus[160];

    list_pmus(pmus, sizeof(pmus));
    if (paranoid)
        paranoid[strcspn(paranoid, "\n")] = '\0';
    doctor_add(doctor, "pmu", why ? DOCTOR_ABSENT : DOCTOR_OK,
               "miss rates come from the profile store alone",
               "%s%s (perf_event_paranoid %s; libpfm4: %s)",
               why ? "no cycle counter: " : "cycles can be counted; not used in this version",
               why ? strerror(why) : "", paranoid ? paranoid : "unknown", pmus);
    free(paranoid);
}

/* ---- meters, cache control, memory, shape ---- */

static void check_rapl(struct doctor *doctor)
{
    char **zones = rootfs_list(&doctor->root, "/sys/class/powercap"), path[512];
    size_t n = 0, readable = 0;

    for (size_t i = 0; zones && zones[i]; i++) {
        char *text;

        if (strncmp(zones[i], "intel-rapl:", 11) != 0)
            continue;
        snprintf(path, sizeof(path), "/sys/class/powercap/%.255s/energy_uj", zones[i]);
        text = rootfs_read(&doctor->root, path);
        readable += text != NULL;
        n++;
        free(text);
    }
    rootfs_list_free(zones);
    if (n)
        doctor_add(doctor, "rapl", readable == n ? DOCTOR_OK : DOCTOR_WARN, "no energy is billed",
                   "%zu zones, %zu readable; not used in this version", n, readable);
    else
        doctor_add(doctor, "rapl", DOCTOR_ABSENT, "no energy is billed", "no powercap zones");
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
               mounted ? "; not used in this version" : "");
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

void doctor_hardware(struct doctor *doctor)
{
    check_kernel(doctor);
    check_topology(doctor);
    check_numa(doctor);
    check_cgroups(doctor);
    check_pmu(doctor);
    check_rapl(doctor);
    check_resctrl(doctor);
}

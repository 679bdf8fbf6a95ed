/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_movers - who else on this node moves threads, pages and interrupts or sets the clock, and
 * what berth does about it, or leaves: a row each. Only what works against berth is a warning.
 *
 * Where things are: Linux, kernel/sched/debug.c and Documentation/scheduler/sched-ext.rst,
 * Documentation/admin-guide/{pm/intel_pstate,pm/cpufreq,sysctl/kernel}.rst; tuned(8), numad(8),
 * irqbalance(1). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/cli/doctor/doctor.h"

enum sight { AWAY, HERE, UNSEEN };

struct mover {
    const char *name;
    /* Looks for it at `where`, a file, a folder or a daemon, and says in found[size] what it saw.
     */
    enum sight (*look)(const struct rootfs *root, const char *where, char *found, size_t size);
    const char *where;
    bool against; /* berth does less, or worse, beside it */
    const char *so;
};

/* Reads the first line of a file, cleaned; "" with errno where it cannot be read. */
static void read_line(const struct rootfs *root, const char *path, char *line, size_t size)
{
    char *text = rootfs_read(root, path);

    snprintf(line, size, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
    text_clean(line);
    free(text);
}

static enum sight look_switch(const struct rootfs *root, const char *where, char *found,
                              size_t size)
{
    char line[64];
    bool on;

    errno = 0;
    read_line(root, where, line, sizeof(line));
    if (!line[0]) {
        snprintf(found, size, errno == EACCES ? "not known: root may look" : "not in this kernel");
        return errno == EACCES ? UNSEEN : AWAY;
    }
    on = !strchr("0Nn", line[0]) && !strstr(line, "[never]");
    snprintf(found, size, on ? "on" : "off");
    return on ? HERE : AWAY;
}

/* A switch below debugfs, which may not be mounted, and whose folder root alone may enter. */
static enum sight look_debug_switch(const struct rootfs *root, const char *where, char *found,
                                    size_t size)
{
    if (rootfs_exists(root, "/sys/kernel/debug/sched"))
        return look_switch(root, where, found, size);
    snprintf(found, size, "not known: debugfs is not mounted, or only for root");
    return UNSEEN;
}

/* The scheduler that a program of BPF is, while one is loaded. */
static enum sight look_scheduler(const struct rootfs *root, const char *where, char *found,
                                 size_t size)
{
    char path[128], state[32];

    snprintf(path, sizeof(path), "%s/state", where);
    read_line(root, path, state, sizeof(state));
    if (!state[0] || strcmp(state, "disabled") == 0) {
        snprintf(found, size, state[0] ? "none is loaded" : "not in this kernel");
        return AWAY;
    }
    snprintf(path, sizeof(path), "%s/root/ops", where);
    read_line(root, path, found, size);
    if (!found[0])
        snprintf(found, size, "%s", state);
    return HERE;
}

static enum sight look_daemon(const struct rootfs *root, const char *where, char *found,
                              size_t size)
{
    bool runs = doctor_daemons(root, where, NULL, NULL) > 0;

    snprintf(found, size, runs ? "runs" : "does not run");
    return runs ? HERE : AWAY;
}

static enum sight look_tuned(const struct rootfs *root, const char *where, char *found, size_t size)
{
    enum sight sight = look_daemon(root, where, found, size);
    char profile[128];

    read_line(root, "/etc/tuned/active_profile", profile, sizeof(profile));
    if (sight == HERE && profile[0])
        text_append(found, size, " with the profile %s", profile);
    return sight;
}

static enum sight look_cpus(const struct rootfs *root, const char *where, char *found, size_t size)
{
    char list[CPUS_TEXT_MAX];
    struct cpus cpus;

    if (rootfs_read_cpus(root, where, &cpus, NULL) < 0 || cpus_empty(&cpus)) {
        snprintf(found, size, "none"); /* "(null)" where the kernel has no such CPUs */
        return AWAY;
    }
    cpus_format(&cpus, list, sizeof(list));
    snprintf(found, size, "CPUs %s", list);
    return HERE;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The governors of all CPUs, each once, in the order of the first CPU that has it. */
static enum sight look_governors(const struct rootfs *root, const char *where, char *found,
                                 size_t size)
{
    char **policies = rootfs_list(root, where), path[320], governor[64];
    size_t n = 0;

    found[0] = '\0';
    while (policies && policies[n])
        n++;
    if (policies)
        qsort(policies, n, sizeof(*policies), compare_names);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s/scaling_governor", where, policies[i]);
        read_line(root, path, governor, sizeof(governor));
        if (governor[0] && !text_lists(found, governor))
            text_append(found, size, "%s%s", found[0] ? ", " : "", governor);
    }
    rootfs_list_free(policies);
    if (found[0])
        return HERE;
    snprintf(found, size, "none: the clock is not the kernel's to set");
    return AWAY;
}

static enum sight look_turbo(const struct rootfs *root, const char *where, char *found, size_t size)
{
    static const struct {
        const char *file;
        char on;
    } ways[] = {{"intel_pstate/no_turbo", '0'}, {"cpufreq/boost", '1'}};
    char path[128], value[16];

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", where, ways[i].file);
        read_line(root, path, value, sizeof(value));
        if (value[0]) {
            snprintf(found, size, value[0] == ways[i].on ? "on" : "off");
            return value[0] == ways[i].on ? HERE : AWAY;
        }
    }
    snprintf(found, size, "the kernel tells of none");
    return AWAY;
}

static const struct mover movers[] = {
    {"cache-aware scheduling", look_debug_switch, "/sys/kernel/debug/sched/llc_balancing/enabled",
     false,
     "the kernel gathers a program's threads in one of the caches where its step has CPUs; berth "
     "chooses these, and leaves that"},
    {"sched_ext", look_scheduler, "/sys/kernel/sched_ext", true,
     "it decides when and where threads run; berth's cpusets and masks hold, slices and classes "
     "(faithful) may not"},
    {"numa balancing", look_switch, "/proc/sys/kernel/numa_balancing", false,
     "it moves pages to where they are used, as berth does; both may be on"},
    {"numad", look_daemon, "numad", true,
     "berth takes its masks for the program's own: such steps stay where Slurm put them. Stop it"},
    {"tuned", look_tuned, "tuned", false,
     "berth leaves it; masks of a profile that isolates cores it takes for the program's own"},
    {"irqbalance", look_daemon, "irqbalance", false,
     "it moves interrupts, and no thread; berth leaves them"},
    {"isolcpus", look_cpus, "/sys/devices/system/cpu/isolated", false,
     "berth takes none of them as idle cores; the kernel spreads no threads over those that Slurm "
     "gives to a step"},
    {"nohz_full", look_cpus, "/sys/devices/system/cpu/nohz_full", false,
     "they have no tick while one thread runs there; berth uses them as all others"},
    {"governor", look_governors, "/sys/devices/system/cpu/cpufreq", false,
     "berth sets no clock; what a clock does to a program's speed is in all that berth measures"},
    {"turbo", look_turbo, "/sys/devices/system/cpu", false,
     "clocks fall as more cores are busy, which moving a step within its package does not change; "
     "berth leaves it"},
    {"nmi watchdog", look_switch, "/proc/sys/kernel/nmi_watchdog", true,
     "it takes one hardware counter of each core; berthd and users' tools share what is left: "
     "sysctl kernel.nmi_watchdog=0"},
};

void doctor_movers(struct doctor *doctor)
{
    for (size_t i = 0; i < sizeof(movers) / sizeof(movers[0]); i++) {
        const struct mover *mover = &movers[i];
        char found[160];
        bool here = mover->look(&doctor->root, mover->where, found, sizeof(found)) == HERE;

        if (here && mover->against)
            doctor_add(doctor, mover->name, DOCTOR_WARN, mover->so, "%s", found);
        else
            doctor_add(doctor, mover->name, DOCTOR_OK, "", "%s%s%s", found, here ? ": " : "",
                       here ? mover->so : "");
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* privileges - see privileges.h */
#include "packer/daemon/privileges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "packer/base/log.h"
#include "packer/base/text.h"
#include "packer/enforce/enforce.h"
#include "packer/steps/journal.h"
#include "packer/system/memory_nodes.h"

/* Are processes hidden from whoever may not trace them (the option hidepid of /proc)? */
static bool hides_processes(const struct rootfs *root)
{
    char *text = rootfs_read(root, "/proc/self/mountinfo");
    bool hides = text && strstr(text, "hidepid=") && !strstr(text, "hidepid=off");

    free(text);
    return hides;
}

static bool has_tracefs(const struct rootfs *root)
{
    return rootfs_exists(root, "/sys/kernel/tracing/events") ||
           rootfs_exists(root, "/sys/kernel/debug/tracing/events");
}

/* A group other than root's own and everybody. */
static bool names_group(const char *group)
{
    return group[0] && strcmp(group, "*") != 0;
}

static uint64_t for_lock_time(const struct rootfs *root)
{
    return PRIVILEGES_LOCK_TIME | (has_tracefs(root) ? 0 : CAPABILITY(CAP_SYS_ADMIN));
}

/* May processes be moved between cpusets of version 1 by a kernel that waits for their memory maps?
 * Who waits for a file server then is seen in /proc/PID/task/TID/wchan. */
static bool looks_who_waits(const struct conf *conf, const struct rootfs *root)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/cgroup.controllers", conf->cgroup_root);
    return enforce_kernel_rebinds(root) && !rootfs_exists(root, path);
}

uint64_t privileges_needed(const struct conf *conf, const struct rootfs *root)
{
    bool software = text_lists(conf->counters, "software");
    uint64_t needed = PRIVILEGES_PLACE;

    if (memory_nodes_count(root) != 1 || hides_processes(root) || looks_who_waits(conf, root))
        needed |= PRIVILEGES_MEMORY;
    if (text_lists(conf->counters, "perf") || text_lists(conf->energy, "perf"))
        needed |= PRIVILEGES_PERF;
    if (software)
        needed |= PRIVILEGES_TASKSTATS;
    if (software && conf->lock_time == CONF_ON)
        needed |= for_lock_time(root);
    if (conf->reuse_sampling == CONF_ON)
        needed |= PRIVILEGES_REUSE;
    if (text_lists(conf->allow, "prefetch") ||
        journal_left_registers(conf->state_dir)) /* to be given back, whoever may ask for it now */
        needed |= PRIVILEGES_PREFETCH;
    if (names_group(conf->metrics_group) || names_group(conf->ledger_group) ||
        names_group(conf->profile_group))
        needed |= PRIVILEGES_GROUP;
    if (strcmp(conf->user, "root") != 0)
        needed |= PRIVILEGES_APART;
    return needed;
}

void privileges_drop(const struct conf *conf)
{
    struct berth_error err;
    struct rootfs root;
    char text[512];

    if (rootfs_open(&root, "/", &err) < 0)
        return; /* packer_open says it */
    if (capabilities_keep(privileges_needed(conf, &root), &err) < 0)
        log_warn("%s: all are kept", err.text);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        log_warn("no_new_privs: %s", strerror(errno));
    capabilities_format(capabilities_held(), text, sizeof(text));
    log_info("capabilities: %s", text);
    rootfs_close(&root);
}

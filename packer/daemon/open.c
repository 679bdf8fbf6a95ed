/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open - see open.h */
#include "packer/daemon/open.h"

#include "packer/base/file.h"
#include "packer/bill/bill.h"
#include "packer/board/board.h"
#include "packer/bill/node_power.h"
#include "packer/base/path_owner.h"
#include "packer/conf/admit_names.h"
#include "packer/conf/private_data.h"
#include "packer/daemon/identify.h"
#include "packer/daemon/record_pages.h"
#include "packer/enact/memory_follow.h"
#include "packer/enact/as_if.h"
#include "packer/enact/replace.h"
#include "packer/enact/thermal.h"
#include "packer/inside/inside.h"
#include "packer/inside/prefetch_cores.h"
#include "packer/ledger/ledger.h"
#include "packer/machine/type.h"
#include "packer/observe/known_pairs.h"
#include "packer/observe/learn.h"
#include "packer/observe/seek.h"
#include "packer/observe/orders.h"
#include "packer/observe/probe.h"
#include "packer/observe/reuse.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/place/near.h"
#include "packer/probe/probe.h"
#include "packer/settle/settler.h"
#include "packer/size/judge.h"
#include "packer/size/loop.h"
#include "packer/size/share_adapt.h"
#include "packer/size/phases.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Steps of a berthd that died must be adopted or undone, whatever the store is like: one that
 * cannot be read is told of, and looked at again by each launch. */
static int open_profiles(struct packer *packer, struct berth_error *err)
{
    struct berth_error why;

    if (profiles_attach(&packer->profiles, packer->conf.profile_db, packer->conf.profile_group,
                        err) < 0)
        return -1;
    if (profiles_readable(packer->profiles, &why) < 0)
        log_warn("profiles: %s; going on without", why.text);
    return 0;
}

static int open_journal(struct packer *packer, struct berth_error *err)
{
    char path[PATH_MAX + 16];

    if (file_folder(packer->conf.state_dir, 0755) < 0)
        return berth_error_set(err, "%s: %s", packer->conf.state_dir, strerror(errno));
    snprintf(path, sizeof(path), "%s/journal", packer->conf.state_dir);
    return journal_file_open(&packer->journal, path, err);
}

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
    const char *path = packer->conf.machine_profile;
    struct berth_error err;

    if (access(path, F_OK) < 0 && errno == ENOENT) {
        log_info("%s: no machine profile", path);
        return;
    }
    packer->machine = machine_profile_read(path, &err);
    if (!packer->machine) {
        log_warn("machine profile: %s; going on without", err.text);
    } else if (!fits(packer->machine, packer->topo, &err)) {
        log_warn("machine profile: %s: %s; going on without", path, err.text);
        machine_profile_free(packer->machine);
        packer->machine = NULL;
    }
}

static int open_counters(struct packer *packer, struct berth_error *err)
{
    struct counters_about about;

    packer->counters_node =
        (struct counters_node){&packer->root, packer->topo, &packer->enforce, &packer->conf};
    if (counters_open(&packer->counters, &packer->counters_node, err) < 0)
        return -1;
    for (size_t i = 0; counters_about(packer->counters, i, &about); i++)
        log_line(about.used ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "counters: %s: %s", about.name,
                 about.say);
    return 0;
}

/* Opens the watches over job lists and over new folders. Without them, what Slurm writes is noticed
 * when the new step is registered, and who comes by the sweep. */
static void open_watch(struct packer *packer)
{
    struct berth_error err;

    if (packer->enforce.way->job_list && job_watch_open(&packer->watch, &err) < 0)
        log_warn("%s", err.text);
    if (packer->enforce.way->jobs &&
        folder_watch_open(&packer->folders, &packer->enforce, &err) < 0)
        log_warn("%s", err.text);
}

/* Opens the watch over slurmstepds. Without it, what becomes of steps is found out by the sweep. */
static void open_stepds(struct packer *packer)
{
    struct berth_error err;

    if (process_watch_open(&packer->stepds, &packer->root, &err) < 0)
        log_warn("%s", err.text);
}

/* Opens the ledger. */
static void open_ledger(struct packer *packer)
{
    struct berth_error err;

    if (ledger_open(&packer->ledger, &packer->conf, &err) < 0)
        log_error("no records of steps are kept: ledger: %s", err.text);
    if (packer->ledger && record_pages_open(&packer->record_pages, &packer->conf, &err) < 0)
        log_error("users are told no records of the ledger: %s", err.text);
}

/* Opens what tells slurmdbd, where berth.conf wants it. */
static void open_settler(struct packer *packer)
{
    struct berth_error err;

    if (!conf_settles(&packer->conf) || !packer->ledger)
        return;
    if (settler_open(&packer->settler, &packer->conf, packer->ledger, &err) < 0)
        log_error("slurmdbd is told nothing of jobs: %s", err.text);
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
    rootfs_close(&root);
    return rc;
}

/* Opens what no step can be placed without; each may need what stands before it. */
static int open_needed(struct packer *packer, struct berth_error *err)
{
    const struct conf *conf = &packer->conf;

    if (check_paths(conf, err) < 0 || topo_read(&packer->topo, conf->topology, err) < 0 ||
        rootfs_open(&packer->root, "/", err) < 0 ||
        rootfs_open(&packer->devices, conf->device_root, err) < 0 ||
        topo_read_distances(packer->topo, &packer->root, err) < 0 ||
        enforce_open(&packer->enforce, &packer->root, conf->cgroup_root,
                     conf_enforcement_name[conf->enforcement], err) < 0)
        return -1;
    snprintf(packer->enforce.tree, sizeof(packer->enforce.tree), "%s", conf->cgroup_name);
    if (pool_init(&packer->pool, packer->topo->cores) < 0)
        return berth_no_memory(err);
    if (open_profiles(packer, err) < 0 || open_journal(packer, err) < 0 ||
        admit_names_open(&packer->names, err) < 0 || identify_open(packer, err) < 0 ||
        open_counters(packer, err) < 0)
        return -1;
    return bill_open(&packer->bill, packer, err);
}

/* Opens what berth can do without: each logs what is in its way. */
static void open_optional(struct packer *packer)
{
    packer->private_data = private_data_hides(&packer->conf);
    machine_type(packer->topo, &packer->root, packer->machine_type, sizeof(packer->machine_type));
    read_machine(packer);
    near_read(packer);
    packer->forecast = forecast_open();
    packer->replace = replace_open();
    packer->power = node_power_open(packer->topo);
    learn_configure(packer);
    packer->seeker = seek_open(&packer->root);
    known_pairs_open(packer);
    probing_open(packer);
    memory_configure(packer);
    reuse_open(packer);
    open_watch(packer);
    open_stepds(packer);
    open_ledger(packer);
    open_settler(packer);
    prefetch_open(packer);
    thermal_open(packer);
    board_open(packer);
}

int packer_open(struct packer *packer, const struct conf *conf, struct berth_error *err)
{
    memset(packer, 0, sizeof(*packer));
    packer->conf = *conf;
    packer->root.fd = packer->devices.fd = -1;
    packer->started_mono_s = clock_s();
    packer->size_patience_s = 0.01;
    packer->size_together_s = 0.0005;
    packer->size_unhurried_s = 0.04; /* a launch that comes just then is answered in time still */
    packer->turn_s = 0.005;
    packer->end_patience_s = 2;
    registry_init(&packer->steps, conf->history);
    if (open_needed(packer, err) < 0) {
        packer_close(packer);
        return -1;
    }
    open_optional(packer);
    return 0;
}

/* In the reverse order; the steps first, which all the others know. */
void packer_close(struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        loop_end(packer, step);
        size_judge_end(step);
        inside_close(packer, step);
    }
    if (packer->counters)
        TAILQ_FOREACH(step, &packer->steps.live, link) window_drop(packer, step);
    board_close(packer->board);
    thermal_close(packer);
    identify_close(packer);
    settler_close(packer->settler);
    record_pages_close(packer->record_pages);
    ledger_close(packer->ledger);
    process_watch_close(packer->stepds);
    folder_watch_close(packer->folders);
    job_watch_close(packer->watch);
    memory_close(packer);
    enforce_close(&packer->enforce);
    probe_close(packer->probe);
    orders_close(packer->orders);
    seek_close(packer->seeker);
    learn_close(packer->learner);
    node_power_close(packer->power);
    replace_close(packer->replace);
    phases_close(packer->phases);
    forecast_close(packer->forecast);
    bill_close(packer->bill);
    share_adapt_free(packer);
    registry_free(&packer->steps);
    registers_free(&packer->registers);
    strangers_free(&packer->strangers);
    pairs_free(&packer->pairs);
    programs_free(&packer->programs);
    reuse_sampler_close(packer->reuse);
    counters_close(packer->counters);
    admit_names_close(packer->names);
    if (packer->journal)
        journal_file_close(packer->journal);
    if (packer->profiles)
        profiles_close(packer->profiles);
    as_if_close(packer);
    pool_free(&packer->pool);
    if (packer->root.fd >= 0)
        rootfs_close(&packer->root);
    if (packer->devices.fd >= 0)
        rootfs_close(&packer->devices);
    machine_profile_free(packer->machine);
    devices_free(packer->gear);
    topo_free(packer->topo);
}

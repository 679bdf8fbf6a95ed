/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packer - see packer.h */
#include "packer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double packer_mono_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int open_journal(struct packer *packer, struct berth_error *err)
{
    char path[PATH_MAX + 16];

    if (mkdir(packer->conf.state_dir, 0755) < 0 && errno != EEXIST)
        return berth_error_set(err, "%s: %s", packer->conf.state_dir, strerror(errno));
    snprintf(path, sizeof(path), "%s/journal", packer->conf.state_dir);
    return journal_open(&packer->journal, path, err);
}

int packer_open(struct packer *packer, const struct conf *conf, struct berth_error *err)
{
    static const char *const way[] = {"auto", "cgroup1", "cgroup2", "dryrun"};

    memset(packer, 0, sizeof(*packer));
    packer->conf = *conf;
    packer->root.fd = -1;
    packer->started_mono_s = packer_mono_s();
    registry_init(&packer->steps, conf->history);
    if (topo_read(&packer->topo, conf->topology, err) == 0 &&
        rootfs_open(&packer->root, "/", err) == 0 &&
        enforce_open(&packer->enforce, &packer->root, conf->cgroup_root, way[conf->enforcement],
                     err) == 0 &&
        profiles_open(&packer->profiles, conf->profile_db, false, err) == 0 &&
        open_journal(packer, err) == 0) {
        snprintf(packer->enforce.tree, sizeof(packer->enforce.tree), "%s", conf->cgroup_name);
        if (pool_init(&packer->pool, packer->topo->cores) == 0)
            return 0;
        berth_error_set(err, "out of memory");
    }
    packer_close(packer);
    return -1;
}

void packer_close(struct packer *packer)
{
    registry_free(&packer->steps);
    pool_free(&packer->pool);
    if (packer->journal)
        journal_close(packer->journal);
    if (packer->profiles)
        profiles_close(packer->profiles);
    if (packer->root.fd >= 0)
        rootfs_close(&packer->root);
    topo_free(packer->topo);
}

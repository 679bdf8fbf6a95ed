/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_folders - where Slurm's folders of jobs are under cgroup v2, and whose they are.
 *
 * slurmstepd's scope is NODE_slurmstepd.scope, or slurmstepd.scope where a host has one slurmd, in
 * system.slice or in any slice that CgroupSlice= names. In it a job's folder is job_NUMBER, or from
 * Slurm 26.05 on its SLUID, which does not tell the number. The number is then read from the title
 * of a slurmstepd of the job, "slurmstepd: [NUMBER.STEP]", which is root's and in a folder that
 * only root can enter. What was read once is remembered as long as the folder is there: a job whose
 * slurmstepd was killed has a number, too. */
#ifndef BERTH_SLURM_SLURM_FOLDERS_H
#define BERTH_SLURM_SLURM_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"
#include "packer/wire/wire.h"

struct slurm_folders; /* what is remembered */

/* Where Slurm's cgroups are. */
struct slurm_cgroups {
    const struct rootfs *root;
    const char *top;               /* the cgroups' root, as "/sys/fs/cgroup" */
    bool unified;                  /* of cgroup v2 */
    struct slurm_folders *folders; /* NULL: nothing is remembered */
};

typedef int slurm_visit_dir(struct slurm_cgroups slurm, const char *path, void *arg);

/* Calls visit with each folder in dir whose name begins with prefix, until it returns non-zero.
 * Returns what visit returned last, else 0. */
int slurm_each_dir(struct slurm_cgroups slurm, const char *dir, const char *prefix,
                   slurm_visit_dir *visit, void *arg);

/* Returns what the folder's cgroup.procs holds, which the caller frees; NULL: it has gone. */
char *slurm_read_procs(struct slurm_cgroups slurm, const char *dir);

/* Numbers from here on are no job's of Slurm's: a job whose number nobody tells, as before its
 * slurmstepd has named itself, is called by one that is made of its SLUID. */
#define SLURM_FOLDERS_UNKNOWN UINT32_C(0x80000000)

/* Returns an empty memory, which the caller frees, or NULL for want of memory: then everything is
 * read each time. */
struct slurm_folders *slurm_folders_new(void);
void slurm_folders_free(struct slurm_folders *folders); /* NULL is fine */

/* Calls visit with the folder of each job of the node (NULL: of any node of this host), until it
 * returns non-zero. *scopes (unless NULL): how many scopes of slurmstepd there are. Returns what
 * visit returned last, else 0. */
int slurm_folders_each(struct slurm_cgroups slurm, const char *node, size_t *scopes,
                       slurm_visit_dir *visit, void *arg);

/* Returns the number of the job whose folder this is, of either cgroup version; one of
 * SLURM_FOLDERS_UNKNOWN and above where only the SLUID is known; 0: it is no job's folder. */
uint32_t slurm_folders_job(struct slurm_cgroups slurm, const char *dir);

/* Says whether the process is the slurmstepd of this step, by its title. */
bool slurm_folders_stepd(const struct rootfs *root, pid_t pid, struct wire_step_id id);

/* Remembers whose folder this is. */
void slurm_folders_learn(struct slurm_cgroups slurm, const char *dir, uint32_t job);

#endif

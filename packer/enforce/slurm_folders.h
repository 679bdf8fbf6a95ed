/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_folders - where Slurm's folders of jobs are under cgroup v2, and whose they are.
 *
 * slurmstepd's scope is NODE_slurmstepd.scope, or slurmstepd.scope where a host has one slurmd, in
 * system.slice or in any slice that CgroupSlice= names. In it a job's folder is job_NUMBER, or from
 * Slurm 26.05 on its SLUID, which does not tell the number. The number is then read from the title
 * of a slurmstepd of the job, "slurmstepd: [NUMBER.STEP]", which is root's and in a folder that
 * only root can enter. What was read once is remembered as long as the folder is there: a job whose
 * slurmstepd was killed has a number, too. */
#ifndef BERTH_ENFORCE_SLURM_FOLDERS_H
#define BERTH_ENFORCE_SLURM_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"
#include "packer/wire/wire.h"

struct enforce;
struct slurm_folders; /* what is remembered */

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
int slurm_folders_each(struct enforce *enforce, const char *node, size_t *scopes,
                       int (*visit)(struct enforce *enforce, const char *path, void *arg),
                       void *arg);

/* Returns the number of the job whose folder this is, of either cgroup version; one of
 * SLURM_FOLDERS_UNKNOWN and above where only the SLUID is known; 0: it is no job's folder. */
uint32_t slurm_folders_job(struct enforce *enforce, const char *dir);

/* Says whether the process is the slurmstepd of this step, by its title. */
bool slurm_folders_stepd(const struct rootfs *root, pid_t pid, struct wire_step_id id);

/* Remembers whose folder this is. */
void slurm_folders_learn(const struct enforce *enforce, const char *dir, uint32_t job);

#endif

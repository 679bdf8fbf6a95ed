/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_cgroup - finds the cgroups, other than cpusets, that Slurm has made for a step, and reads
 * the CPU time, the page faults, the memory and the threads that the kernel counts in them.
 *
 * They are there where Slurm tracks or accounts by them (v1:
 * JobAcctGatherType=jobacct_gather/cgroup for cpuacct, that or ConstrainRAMSpace for memory; v2:
 * always). Which they are is read from /proc/PID/cgroup of a task: berth never moves a process in
 * any hierarchy but v1's cpuset. */
#ifndef BERTH_SLURM_STEP_CGROUP_H
#define BERTH_SLURM_STEP_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"
#include "packer/wire/wire.h"

#define CGROUP_DIR_MAX 1024 /* bytes of the path of a cgroup */

struct step_cgroup {
    int usage;       /* v1: cpuacct.usage; -1 none */
    int stat;        /* v1: cpuacct.stat; v2: cpu.stat; -1 none */
    int memory_stat; /* memory.stat; -1 none */
    int pids;        /* v2: pids.current, where the controller is enabled; -1 none */
    char *memory;    /* the folder that has memory.numa_stat; NULL none */
};

/* CPU time of all that has ever run in the cgroup. */
struct step_cgroup_cpu {
    double cpu_ns, user_ns, system_ns;
};

/* The page faults of all that has ever run in the cgroup, and what is mapped of the memory that it
 * is charged for: a page that several processes share counts once. */
struct step_cgroup_memory {
    double faults, rss_bytes;
};

#define STEP_CGROUP_NAME_MAX 64

/* Writes what Slurm calls the step's folder and that of its job: "job_J/step_S". */
void step_cgroup_name(struct wire_step_id id, char name[STEP_CGROUP_NAME_MAX]);

/* Finds the line of a hierarchy in the text of /proc/PID/cgroup: that of a v1 controller
 * ("cpuacct"), or v2's (NULL). Returns the path in it, which ends at a newline or '\0', or NULL. */
const char *step_cgroup_line(const char *text, const char *controller);

/* Says whether a folder, whose name ends at '\0', '/' or a newline, is named by a SLUID: "s" and 13
 * digits of Crockford's base 32. So Slurm 26.05 names a job's folder under cgroup v2, instead of by
 * the job's number (CgroupJobIdPaths=yes has the number again). */
bool step_cgroup_is_sluid(const char *name);

/* Finds ".../job_J/step_S" or ".../SLUID/step_S" in the path of a cgroup, which ends at '\0' or a
 * newline. Returns the end of that part, or NULL. A SLUID does not say whose job it is. */
const char *step_cgroup_find(const char *path, struct wire_step_id id);

/* Finds the step's folder in the hierarchy of a v1 controller ("cpuacct"), or in v2's (NULL), by
 * the text of /proc/PID/cgroup of one of its processes: ".../job_J/step_S" (v1), the same or
 * ".../SLUID/step_S" with "/user" (v2, without slurmstepd). 0, or -1: the process is in none of the
 * step's. */
int step_cgroup_path(const char *text, const char *controller, struct wire_step_id id, char *path,
                     size_t size);

/* Finds them by the first of pid[n] that is still there. 0, or -1: there is none with CPU time
 * (that of memory may be there). The caller closes them in any case. */
int step_cgroup_open(struct step_cgroup *cgroup, const struct rootfs *root, const char *cgroup_root,
                     struct wire_step_id id, const pid_t *pid, size_t n);
void step_cgroup_close(struct step_cgroup *cgroup);

/* Reads it. 0, or -1: there is none, or no more. */
int step_cgroup_read(const struct step_cgroup *cgroup, struct step_cgroup_cpu *cpu);

/* Reads what memory.stat has; the kernel may be 2 s late with it. 0, or -1: there is none, or no
 * more. Of v1 it is slurmstepd's, too. */
int step_cgroup_read_memory(const struct step_cgroup *cgroup, struct step_cgroup_memory *memory);

/* Returns how many threads there are now, or -1: nobody counts them there, or no more. */
long step_cgroup_threads(const struct step_cgroup *cgroup);

#endif

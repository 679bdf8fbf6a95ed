/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor - the list that `berthctl doctor` prints: what works on this node, and what berth does
 * without the rest. */
#ifndef BERTH_CLI_DOCTOR_DOCTOR_H
#define BERTH_CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/conf/conf.h"
#include "packer/slurm/plugin_file.h"
#include "packer/system/rootfs.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_ABSENT, DOCTOR_OFF, DOCTOR_STATES };

struct doctor_row {
    char name[32];
    enum doctor_state state;
    bool essential;      /* berth cannot place steps here unless this is ok */
    char found[560];     /* what was seen */
    const char *without; /* what berth does without it; shown unless ok */
};

struct doctor {
    struct rootfs root;
    struct conf conf;
    const char *socket, *conf_path; /* NULL: the usual ones */
    bool all;                       /* show each row */
    bool told; /* a running berthd has told what it found: its rows count, not those that this user
                  found about the same */
    slurm_series series; /* of this node's Slurm; 0: not known */
    size_t n;
    struct doctor_row row[128];
};

/* Appends a row. */
void doctor_add(struct doctor *doctor, const char *name, enum doctor_state state,
                const char *without, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Marks the last row as one that berth cannot do without. */
void doctor_essential(struct doctor *doctor);

/* Runs a program for 3 s at most, with no input; its output's first line goes to text[size]. 0, or
 * -1 when it is not there, fails or does not end. */
int doctor_run(const char *const *argv, char *text, size_t size);

/* Calls `seen`, unless it is NULL, for each process of root's that the kernel calls so. Returns how
 * many there are. */
typedef void doctor_daemon_seen(const struct rootfs *root, pid_t pid, void *arg);
size_t doctor_daemons(const struct rootfs *root, const char *name, doctor_daemon_seen *seen,
                      void *arg);

void doctor_slurm(
    struct doctor *doctor); /* Slurm, its plugstack.conf and cgroup.conf (doctor_slurm.c) */
void doctor_hardware(
    struct doctor *doctor); /* kernel, cgroups, counters, meters (doctor_hardware.c) */

void doctor_berthd(struct doctor *doctor); /* the running berthd (doctor_berthd.c) */

void doctor_trial(struct doctor *doctor); /* whether berth helps here (doctor_trial.c) */

void doctor_movers(struct doctor *doctor); /* who else moves things (doctor_movers.c) */

#endif

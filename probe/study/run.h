/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - one run of a program, alone or beside another, which is started again whenever it ends. It
 * ends by itself; what is left of the other one, and of what both have started, is stopped. */
#ifndef BERTH_PROBE_STUDY_RUN_H
#define BERTH_PROBE_STUDY_RUN_H

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct study_program {
    const char *command; /* for /bin/sh -c; NULL: there is none */
    struct cpus cpus;    /* where it runs */
    long node;           /* where its memory is bound to; -1: nowhere */
};

struct study_ran {
    double cpu_s, wall_s; /* of the first program and all that it has waited for; NAN */
    unsigned beside;      /* times that the other one was started */
    int signal;           /* one has come: the run was given up */
};

/* Runs it. The other one has run for warm_s before the first one starts. signals: ctl_signals()
 * with SIGCHLD. The caller has no other children, and is a subreaper. 0, or -1 and err: one of the
 * two has failed. */
int study_run(const struct study_program *first, const struct study_program *other, double warm_s,
              int signals, const struct rootfs *root, struct study_ran *ran,
              struct berth_error *err);

#endif

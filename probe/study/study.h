/* SPDX-License-Identifier: GPL-2.0-or-later */
/* study - what the parts of `berthctl study` share. */
#ifndef BERTH_PROBE_STUDY_STUDY_H
#define BERTH_PROBE_STUDY_STUDY_H

#include <json-c/json.h>

#include "models/slowdown/parts.h"
#include "packer/base/error.h"

#define STUDY_RUNS_MOST 1000

/* The times of the first program under one condition, seconds. */
struct study_times {
    size_t n;
    double seconds[STUDY_RUNS_MOST]; /* [n] */
};

struct study {
    char first[256], other[256]; /* the commands */
    struct study_times on[PARTS_PLACES], off[PARTS_PLACES];
    char lacks[PARTS_PLACES][160]; /* why it was not measured there; "": it was */
    char lacks_off[256];           /* nor without prefetchers */
};

/* Reads what --json has printed (NULL or "-": standard input). 0, or -1 and err. */
int study_read(struct study *study, const char *path, struct berth_error *err);

/* Divides the slowdown, and prints it, as JSON or for people. Returns the exit status. */
int study_put(const struct study *study, bool json);

int ctl_study(int argc, char **argv);

#endif

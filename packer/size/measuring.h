/* SPDX-License-Identifier: GPL-2.0-or-later */
/* measuring_impl - a step's traffic while it is measured (traffic_measure), and what the memories
 * tell of it. */
#ifndef BERTH_SIZE_MEASURE_IMPL_H
#define BERTH_SIZE_MEASURE_IMPL_H

#include "packer/size/traffic.h"

struct measuring {
    const struct packer *packer;
    const struct counters_sample *before, *after;
    size_t n;   /* nodes of the machine profile */
    bool alone; /* nobody else worked meanwhile */
    bool bytes; /* all traffic was counted, reads and writes together */
    double seconds;
    double *cores;  /* [n] on which it was measured */
    double *pages;  /* [n] share of the step's pages; all 0: not known */
    double *local;  /* [n] bytes that the node's cores exchanged with their own memory */
    double *remote; /* [n] and with others */
    struct size_traffic *traffic;
};

/* Returns the bytes of a line of the last-level cache. */
double measuring_line_bytes(const struct packer *packer);

/* Returns the number by which the kernel calls a node of the machine profile. */
size_t measuring_os_index(const struct measuring *m, size_t node);

/* Notes the relative standard error of a count: the greatest is kept. */
void measuring_error(struct measuring *m, double error);

/* Fills values[by_node_count] with what a kind has counted, and notes its error. Returns whether it
 * is known of all nodes of the machine profile. */
bool measuring_grown(struct measuring *m, enum by_node_kind kind, double *values);

/* Returns what so many bytes of a node's cores are for each of them, GB/s. */
double measuring_of_core(const struct measuring *m, double bytes, size_t node);

#endif

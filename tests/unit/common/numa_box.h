/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_box - a machine of several NUMA nodes on paper: what move_pages(2) does with the pages of
 * some processes, and the files of /proc and /sys that tell of them, for the tests of moving
 * memory. */
#ifndef BERTH_TESTS_NUMA_BOX_H
#define BERTH_TESTS_NUMA_BOX_H

#include <semaphore.h>

#include "packer/memory/pages.h"

#define BOX_PAGES 8192

struct box_page {
    pid_t pid;
    uint64_t address;
    int node;          /* < 0: gone */
    unsigned folio;    /* pages of one huge page; 0: alone */
    unsigned busy;     /* so many attempts to move it fail */
    bool mapped_twice; /* by another process, too */
};

struct numa_box {
    char dir[64];
    struct rootfs root;
    struct memory_system system;
    size_t n;
    struct box_page page[BOX_PAGES];
    int nodes;
    unsigned queries, moves; /* calls */
    unsigned fail_at;        /* this move fails as a whole ... */
    int fail_with;           /* ... with this errno */
    bool hidden;             /* every third page is seen by nobody */
    bool gated;              /* each move says `come` and waits for `go` */
    sem_t come, go;
};

/* One mapping. */
struct box_map {
    pid_t pid;
    uint64_t start;
    size_t pages, every; /* only each so manieth is there; 0: each */
    size_t page_kib;     /* 0: 4 */
    int node;
    const char *perms, *path, *policy; /* NULL: "rw-p", none, "default" */
};

struct numa_box *numa_box_open(int nodes);
void numa_box_close(struct numa_box *box);

/* A process of the box, begun so many seconds after its boot. */
void numa_box_start(struct numa_box *box, pid_t pid, unsigned started_s);
/* Add a mapping to it; the first of its pages that are there. */
struct box_page *numa_box_map(struct numa_box *box, struct box_map map);
/* It ends. */
void numa_box_end(struct numa_box *box, pid_t pid);
void numa_box_free(struct numa_box *box, int node, unsigned long free_kib);

/* Pages of the process on a node. */
size_t numa_box_count(const struct numa_box *box, pid_t pid, int node);

#endif

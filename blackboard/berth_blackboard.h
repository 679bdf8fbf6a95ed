/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berth_blackboard - what berthd knows of the node's shared resources, now: is the memory of this
 * NUMA node saturated (Resource Centric Reflection, Porterfield 2012, section 2.4)?
 *
 * The blackboard is a file in memory (/run/berth/blackboard) of sections, each written by one
 * process and read by any number: "node", "packageI", "memoryI" and "llcI", I as the kernel numbers
 * NUMA nodes and as `berthctl status` numbers packages and caches. A program maps it and reads a
 * section in some ten nanoseconds: no system call, no lock, nothing that a writer could wait for.
 *
 *     struct berth_blackboard *board;
 *     struct berth_blackboard_section section;
 *     int memory;
 *
 *     if (berth_blackboard_open(&board, NULL) != BERTH_BLACKBOARD_OK)
 *         return;                        (no berthd, or it keeps none: berth.conf(5), blackboard)
 *     memory = berth_blackboard_find(board, "memory0");
 *     ...
 *     switch (berth_blackboard_read(board, memory, 3000000000, &section)) {
 *     case BERTH_BLACKBOARD_OK:
 *         saturated = section.value[BERTH_BLACKBOARD_STATE] == BERTH_BLACKBOARD_SATURATED;
 *         break;
 *     default:                                     (busy, too: its writer may have been killed)
 *         berth_blackboard_follow(board);          (once a second is often enough: see there)
 *     }
 *
 * Figures that are not measured are NAN: compare so that NAN means no. A board may be used by
 * several threads at once, but for berth_blackboard_follow() and berth_blackboard_close().
 *
 * Build with `pkg-config --cflags --libs berth-blackboard`. */
#ifndef BERTH_BLACKBOARD_H
#define BERTH_BLACKBOARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_BLACKBOARD_VERSION 1 /* of the file's form: another one is refused */
#define BERTH_BLACKBOARD_NAME_SIZE 16
#define BERTH_BLACKBOARD_VALUES 16 /* room in a section */

/* What a section's values are; later versions of berth may have more of them. */
enum berth_blackboard_value {
    BERTH_BLACKBOARD_STATE,       /* one of enum berth_blackboard_state */
    BERTH_BLACKBOARD_UTILISATION, /* 0 .. 1 of what the machine was measured to deliver */
    BERTH_BLACKBOARD_TRAFFIC,     /* bytes per second from and to memory */
    BERTH_BLACKBOARD_WATTS,
    BERTH_BLACKBOARD_KNOWN_VALUES
};

enum berth_blackboard_state {
    BERTH_BLACKBOARD_IDLE,
    BERTH_BLACKBOARD_NORMAL,
    BERTH_BLACKBOARD_SATURATED
};

/* How a call has ended. */
enum berth_blackboard_result {
    BERTH_BLACKBOARD_OK,
    BERTH_BLACKBOARD_STALE,   /* it was read, but written longer ago than was allowed */
    BERTH_BLACKBOARD_BUSY,    /* it was being written at each of a hundred attempts: its writer was
                                 interrupted, and what was read last still holds, or it was killed,
                                 and it stays so; nothing was read, follow */
    BERTH_BLACKBOARD_ENDED,   /* its writer has ended, nothing was read; follow */
    BERTH_BLACKBOARD_NONE,    /* there is no such file or section */
    BERTH_BLACKBOARD_FOREIGN, /* the file is no blackboard of this version, of this boot and of
                                 root's or one's own */
    BERTH_BLACKBOARD_FAILED   /* errno says why */
};

struct berth_blackboard;

/* What was read of a section, all of it written at the same time. */
struct berth_blackboard_section {
    char name[BERTH_BLACKBOARD_NAME_SIZE];
    int32_t writer;                        /* the process, as the node numbers it */
    uint32_t n;                            /* how many values its writer knows of */
    uint64_t written_ns;                   /* CLOCK_MONOTONIC */
    double value[BERTH_BLACKBOARD_VALUES]; /* NAN: not measured, or beyond n */
};

/* Maps the blackboard at that path (NULL: where berthd keeps its own) for reading. OK and *board,
 * which berth_blackboard_close() frees; else NONE, FOREIGN or FAILED, and *board is NULL. */
enum berth_blackboard_result berth_blackboard_open(struct berth_blackboard **board,
                                                   const char *path);

/* Unmaps and frees it; NULL is fine. */
void berth_blackboard_close(struct berth_blackboard *board);

/* Returns how many sections there are. */
unsigned berth_blackboard_sections(const struct berth_blackboard *board);

/* Fills in a section's name, which it has as long as the file is mapped: OK, also while it is being
 * written; or NONE. */
enum berth_blackboard_result berth_blackboard_name(const struct berth_blackboard *board, int number,
                                                   char name[BERTH_BLACKBOARD_NAME_SIZE]);

/* Returns the number of the section of that name; -1: there is none. */
int berth_blackboard_find(const struct berth_blackboard *board, const char *name);

/* Reads a section, as it was written at one time. max_age_ns: what was written longer ago is STALE;
 * 0: any age will do. *section is filled when the result is OK or STALE, else it stays as it was.
 * Never blocks, and makes no system call where the clock is read without one. In another time
 * namespace (time_namespaces(7)) all is STALE or ages are wrong: the clock there is another one. */
enum berth_blackboard_result berth_blackboard_read(const struct berth_blackboard *board, int number,
                                                   uint64_t max_age_ns,
                                                   struct berth_blackboard_section *section);

/* Looks whether the path leads to another file than the one that is mapped, as it does once berthd
 * was started anew, and maps that one: sections are then to be found again by their names. OK: it
 * did; NONE: there is none, or still the same; else as berth_blackboard_open(), and what was mapped
 * stays so. Makes system calls: once a second, after a read that was not OK, is often enough. */
enum berth_blackboard_result berth_blackboard_follow(struct berth_blackboard *board);

/* Says a result in words. */
const char *berth_blackboard_said(enum berth_blackboard_result result);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page - what berthd and the processes of a step tell each other, without asking (Porterfield
 * 2012's blackboard, for one step).
 *
 * berthd tells by a page: a file RUNDIR/steps/JOB.STEP that root owns and the step's user may read
 * and nothing else, made whole under another name and renamed into its place. berthd writes it with
 * pwrite and never makes it shorter, so that no process that has it mapped is killed by SIGBUS; it
 * is the same file until the step has ended, when it is removed: a new one would not be seen by
 * those who have the old one. When berthd stops for good it writes `threads` 0. What it has heard
 * of the processes stands behind struct rt_page, and is berthd's own.
 *
 * The step's processes tell by a FIFO beside it, JOB.STEP.said, from which berthd takes whole
 * records without ever waiting. It is a FIFO and no page that both write, because a file that a
 * user may write can be made shorter under berthd's hands (SIGBUS), and longer until the file
 * system of RUNDIR is full. Of a FIFO the kernel holds a bounded part, and a record that finds no
 * room is said later. root owns it, too: an ACL lets the step's user in, which needs no CAP_CHOWN,
 * and nobody else can speak for him. What he writes is believed of his own step only, and it is
 * numbers.
 *
 * Both have a name and no descriptor that is handed on: descriptors are lost, and meant for others
 * again, in programs that close all of theirs.
 *
 * Included by berthd and by the library: it needs libc and nothing of berth. */
#ifndef BERTH_RUNTIME_PAGE_H
#define BERTH_RUNTIME_PAGE_H

#include <stdint.h>

/* The names of a step's environment: the page's absolute path; "off": nothing is looked at. */
#define RT_PAGE_ENV "BERTH_RT_PAGE"
#define RT_SWITCH_ENV "BERTH_RT"
#define RT_COHORT_ENV "BERTH_RT_COHORT" /* hand-overs in a row within a domain; 0: none */
#define RT_SAID_SUFFIX ".said"

#define RT_PAGE_MAGIC "BERTHRT" /* with its 0: 8 bytes */
#define RT_PAGE_VERSION 1       /* another one: the fields here mean something else */
#define RT_PAGE_CPUS 2048       /* as many as berthd knows */
#define RT_NO_DOMAIN 255

/* What berthd has turned on for the step. A bit that the library does not know is left alone. */
enum rt_feature {
    RT_THREADS = 1 << 0,  /* parallel regions of OpenMP have `threads` threads */
    RT_THROTTLE = 1 << 1, /* loops, tasks of OpenMP, oneTBB have fewer while memory is saturated */
    RT_FLEX = 1 << 2,     /* barriers, mutexes, condition variables are distributed over domains */
    RT_COHORT = 1 << 3,   /* mutexes are */
    RT_REGIONS = 1 << 4,  /* processes say in which parallel region of OpenMP they are */
};

/* How soon contention is seen (Porterfield 2012, section 4). */
enum rt_throttle { RT_UNTHROTTLED, RT_LAZY, RT_BASELINE, RT_AGGRESSIVE };

/* What is read while berthd may write it is one aligned word, and right by itself. Who reads
 * several fields that belong together reads `generation` before and after: it is odd while they
 * change, and another one when they have. */
struct rt_page {
    char magic[8];
    uint32_t version;
    uint32_t size; /* of what follows here and is filled: at least sizeof(struct rt_page) */
    uint32_t features;
    uint32_t generation; /* is counted up by 1 before a change and after it */
    /* How many threads a parallel region of one of its processes should have: never more than the
     * program would give it, who may have made room for as many as omp_get_max_threads() and no
     * more. 0: as many as that. So a program that is to grow starts with the greatest number. */
    uint32_t threads;
    uint32_t throttle; /* enum rt_throttle: the word that was asked for */
    uint32_t hold;     /* samples of the blackboard in a row that make contention, or end it */
    uint32_t spare[7];
    /* For each CPU of the step the memory node and the last level cache it belongs to, counted from
     * 0; RT_NO_DOMAIN: the step has not got the CPU. */
    uint8_t node[RT_PAGE_CPUS];
    uint8_t cache[RT_PAGE_CPUS];
};

_Static_assert(sizeof(struct rt_page) == 64 + 2 * RT_PAGE_CPUS, "the page has no holes");

#define RT_SAID_MAGIC "BERTHSAY" /* without its 0: 8 bytes */
#define RT_SAID_VERSION 1

/* Why a process does not do what the page says. Said once by a process, the first of them. */
enum rt_surprise {
    RT_NO_SURPRISE,
    RT_PAGE_UNREADABLE,    /* detail: errno */
    RT_PAGE_SHORT,         /* detail: its bytes */
    RT_PAGE_FOREIGN,       /* it does not begin with the magic */
    RT_PAGE_OTHER_VERSION, /* detail: its version */
    RT_PAGE_TOO_MANY,      /* detail: its `threads`, which no machine has */
    RT_NO_RUNTIME,         /* nobody has the function that a program called; detail: which hook */
    RT_NO_QUERY,           /* the OpenMP run-time cannot be asked for its own number of threads */
    RT_PAGE_OTHERS,        /* it is another user's; detail: his uid */
    RT_SURPRISES
};

/* A record of the FIFO, written at once (less than PIPE_BUF, so never mixed with another). Counts
 * are of what happened since the process's last record. A process says something at its first
 * parallel region or object, at the first one after the page has changed, when a second has passed,
 * and at its end. */
struct rt_said {
    char magic[8];
    uint32_t version;
    uint32_t pid;        /* as the process sees itself */
    uint32_t first;      /* 1: the first record of this process, else 0 */
    uint32_t surprise;   /* enum rt_surprise: the process has it from here on */
    int32_t detail;      /* of the surprise */
    uint32_t generation; /* of the page, at the last region */
    uint32_t threads;    /* that the last region that followed was given; 0: none did */
    uint32_t objects;    /* barriers and condition variables that were distributed (RT_FLEX) */
    uint64_t followed;   /* outermost regions that had the page's number, or their own where that is
                          * less, or the page's is 0 */
    uint64_t own;        /* outermost regions with a num_threads clause, or an if that was false */
    uint64_t nested;     /* regions within others, and within teams */
};

_Static_assert(sizeof(struct rt_said) == 64, "a FIFO has whole records");

#define RT_RESTED_MAGIC "BERTHRST" /* without its 0: 8 bytes */

/* Another record, as long as the first kind: what contention has made of a process (RT_THROTTLE).
 * Counts and times are of what happened since the process's last record. */
struct rt_rested {
    char magic[8];
    uint32_t version; /* RT_SAID_VERSION */
    uint32_t pid;     /* as the process sees itself */
    uint64_t reduced; /* how often contention began */
    uint64_t throttled_ns;
    uint64_t rests;   /* of threads that came for a chunk or a task, and slept */
    uint64_t idle_ns; /* that they slept, all together */
    uint64_t freed;   /* loops, or regions of tasks, in which nobody rested any more, because none
                         came for too long */
    uint64_t spare;
};

_Static_assert(sizeof(struct rt_rested) == sizeof(struct rt_said), "a FIFO has whole records");

#define RT_REGION_MAGIC "BERTHREG" /* without its 0: 8 bytes */

/* A third kind: which parallel regions had the process's time (RT_REGIONS), since its last record.
 * A region is told by a number that is the same in all runs of one program; 0: none. */
struct rt_region {
    char magic[8];
    uint32_t version; /* RT_SAID_VERSION */
    uint32_t pid;     /* as the process sees itself */
    uint64_t most;    /* the one that had most of it, */
    uint64_t most_ns; /* and how much: from its beginning to that of the next */
    uint64_t all_ns;  /* of all regions together */
    uint64_t now;     /* the one that began last, and whose time is not in these */
    uint64_t begun;   /* regions that began */
    uint64_t spare;
};

_Static_assert(sizeof(struct rt_region) == sizeof(struct rt_said), "a FIFO has whole records");

/* More threads in a region than this are an error in the page. */
#define RT_THREADS_MAX 65536

#endif

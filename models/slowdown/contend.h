/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - by what fraction programs slow down when they share a cache and the way to memory.
 *
 * Cache: the footprint theory of locality (Xiang 2013). What a program has touched in the cache
 * grows at the miss rate of a cache of its present size; the programs' footprints grow together
 * until they fill the cache, and that is what each one has of it.
 *
 * Waiting: a program waits while at least one of its lines is under way that it cannot do without,
 * the less for each the more of them there are at a time (little of it where a prefetcher asked). A
 * prefetched line vouches for one that was not: a program that runs through memory in order misses
 * the first of what is prefetched after it, and waits for neither; only demands beyond that are
 * alone.
 *
 * Memory: one queue per memory node over all its caches. With the load u, as part of what it can
 * give, a line takes (1 - u^p)^(-1/p) times as long, p the root of the number of channels; so that
 * n copies of a program that only waits for memory follow the soft roof (1 + v^p)^(1/p), v what
 * they would ask of an idle one. A line that no other hides is also later by `queue` * u. What a
 * program's own lines make each other wait is in its time alone.
 *
 * Where caches share a memory node, each has a port of its own, a queue alike.
 *
 * Hardware threads of one core: a program loses by how much of the core it would use alone, for the
 * other takes its part of that; who the other is matters less. How wide a core is nobody tells, so
 * both are told by how much the machine's programs use their cores on average. What one core can
 * have under way is one for its threads: where two read more than one core can, both take as much
 * longer, if that is more.
 *
 * A slower program asks for less of all: what contend_node returns is the equilibrium.
 *
 * Where only the accesses a and the misses m[w] with w = 1 .. W ways were measured (per million
 * instructions; by cache allocation, say), the profile is hits[0] = a - m[1], hits[w-1] = m[w-1] -
 * m[w], misses = m[W]; noise that makes m rise with w must be taken out first.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_CONTEND_H
#define BERTH_MODELS_SLOWDOWN_CONTEND_H

#include "models/slowdown/app.h"

#define CONTEND_GROUP_MAX 256 /* programs on one cache */
#define CONTEND_WAYS_MAX 64
#define CONTEND_PLACES_MAX 4096 /* caches, or memory nodes, of a machine */
#define CONTEND_LEAST 1e-3 /* of a machine's figures, and of an ipc or a clock that is believed */

/* What is not in the input: figures of cores and memories, the same for all programs. */
struct contend_constants {
    double hit_ns;       /* latency of the last cache */
    double miss_ns;      /* what memory adds to that while the way there is idle */
    double core_cpi;     /* least cycles per instruction of a core that waits for nothing */
    double exposed;      /* part of a line's latency for which a program stands still, where it has
                            few of them under way */
    double prefetched;   /* of that, what counts of a line that was prefetched */
    double queue;        /* by which a line is later, as part of miss_ns, the more the nearer memory
                            comes to what it can give */
    double channel_gbps; /* nominal bandwidth of one memory channel: tells how many there are */
    double reachable;    /* part of memory's nominal bandwidth that reads can have with many */
    double lost;         /* what one channel has less than that */
    double alone;        /* most of the reachable one that a program alone is taken to use */
    double port; /* where several caches share a memory node: how many times its even part one of
                    them can have */
    double port_gbps; /* that one of them can have at the most, where nobody measured it */
    double core_gbps; /* that one core can read, where nobody measured it */
    double write;     /* lines read that delay others as much as a line written: the channel turns
                         round for it twice */
    double written;   /* part of the traffic, where it is not known */
    double spread;    /* part of the cache by which 1 - 1/e of the hits are kept, where no profile
                         is known */
    double copies;    /* part of its prefetches that a program loses beside a copy of itself, where
                         they train the entries of one prefetcher */
    double sibling;   /* by what fraction of its time alone the average program takes longer beside
                         one on the other hardware thread of its core */
    double culprit;   /* part of that which goes by how much the other uses the core */
    double unclocked; /* part of its waiting by which a program's time does not go with the clock */
};

/* Those that contend_new takes where it is given none. */
extern const struct contend_constants contend_constants;

/* What was not known, and is assumed. */
enum contend_assumed {
    CONTEND_IPC = 1 << 0,       /* one instruction per cycle */
    CONTEND_SDP = 1 << 1,       /* hits fall off exponentially with the share of the cache */
    CONTEND_HITS = 1 << 2,      /* neither profile nor accesses: no hits, the cache has no effect */
    CONTEND_MISSES = 1 << 3,    /* no misses */
    CONTEND_SHARE = 1 << 4,     /* all that hits is demands */
    CONTEND_DEMAND = 1 << 5,    /* all accesses are demands */
    CONTEND_WRITES = 1 << 6,    /* a part of all traffic is written */
    CONTEND_CLOCK = 1 << 7,     /* of the machine: 3 GHz */
    CONTEND_BYTES = 1 << 8,     /* 1 MiB of cache */
    CONTEND_WAYS = 1 << 9,      /* as many ways as the largest profile has, or 16 */
    CONTEND_LINE = 1 << 10,     /* 64 bytes */
    CONTEND_BANDWIDTH = 1 << 11 /* one channel, or what was seen of it */
};

struct contend;

/* Studies the programs for this machine (constants NULL: contend_constants). What is unknown is
 * NAN, has no ways, or is 0 where it is a count; what is known is finite and not negative, and of a
 * machine at least CONTEND_LEAST. A profile's ways are the machine's: where it has fewer, nothing
 * hits in the others; where it has more, what hits there misses here. The inputs may go away
 * afterwards. Returns NULL with errno EINVAL (a program with no core, more than CONTEND_WAYS_MAX
 * ways, a figure out of range) or ENOMEM. */
struct contend *contend_new(size_t n, const struct app *app, const struct app_machine *machine,
                            const struct contend_constants *constants);
void contend_free(struct contend *contend); /* NULL is fine */

/* Studies one program and gives it the number `slot`, in place of the one that had it. Programs
 * grow up to it: between there are idle ones, which slow nobody down. Returns 0; -1 with errno
 * EINVAL or ENOMEM as of contend_new, with *contend as it was; else *contend may have moved. */
int contend_set(struct contend **contend, size_t slot, const struct app *app);

/* Says that so much came from one memory node, GB/s: it can give that much. Counts where what it
 * can give was not measured. */
void contend_seen(struct contend *contend, double gbps);

/* Returns the most that was seen to come from one memory node, that of its programs alone included,
 * GB/s. */
double contend_most_seen(const struct contend *contend);

/* Returns the bits of contend_assumed of program i; of the machine, for i beyond the programs. */
unsigned contend_assumed(const struct contend *contend, size_t i);

/* Fills in how much each of the n programs member[0..n-1] (a program may be there more than once)
 * slows down beside the others on one cache that has its memory node to itself: slowdown[i] >= 0 is
 * the fraction of its time alone that it takes longer. Returns 0; 1 when the equilibrium did not
 * settle and this is the last step towards it; -1 with errno EINVAL (no program, more than
 * CONTEND_GROUP_MAX, an index out of range). */
int contend_group(const struct contend *contend, size_t n, const size_t *member, double *slowdown);

/* What else there is to a core whose program has others of its cores here or on other caches, or
 * whose cache is not as large as the machine's largest. All zero: nothing. */
struct contend_apart {
    double lost;  /* 0 to 1: part of its hits that it loses, for what it shares with others of its
                     kind is in another cache; it is taken to be that part of its time without any */
    double crowd; /* more than -1: 1 + crowd footprints are its own. Below 0 it has one in common
                     with others here, which they fill together, that much faster */
    double small; /* 0 to less than 1: part of the machine's cache that this one lacks; one figure
                     of all who are on it */
    double siblings; /* not negative: part of its time alone that it takes longer for the programs
                        on its core's other hardware threads (contend_sibling, summed) */
};

/* Does the same while other caches ask others_gbps (1e9 bytes/s, not negative) of the same memory
 * node, and fills in what this one asks of it (gbps may be NULL). A line written counts in both as
 * constants.write lines. 0 where the node's bandwidth is not known. apart may be NULL. */
int contend_cache(const struct contend *contend, double others_gbps, size_t n, const size_t *member,
                  const struct contend_apart *apart, double *slowdown, double *gbps);

/* Where one runs (all cores of a program whose app.cores is not 1): on cache number `cache`, with
 * its pages in memory node number `memory`. Numbers are small: they index arrays. */
struct contend_stand {
    size_t program, cache, memory;
    struct contend_apart apart;
};

/* Fills in the same for a whole node: the programs of a cache share its space, those of a memory
 * node one way to memory, whichever cache they are on. Nobody (n 0) is fine. Returns as
 * contend_group, or -1 with errno EINVAL (a program or a place out of range) or ENOMEM. */
int contend_node(const struct contend *contend, size_t n, const struct contend_stand *stand,
                 double *slowdown);

/* Returns the same of two programs, whose indices must be in range, on one cache. */
struct app_pair contend_pair(const struct contend *contend, size_t a, size_t b);

/* Returns the same of two programs on hardware threads of one core. */
struct app_pair contend_siblings(const struct contend *contend, size_t a, size_t b);

/* Returns by what fraction of its time alone program a takes longer for program b on another
 * hardware thread of its core, beside what they do to each other in the cache and on the way to
 * memory. Both indices must be in range. */
double contend_sibling(const struct contend *contend, size_t a, size_t b);

/* Returns how much of its core program i, whose index must be in range, uses alone: 1 is what the
 * average program does. */
double contend_use(const struct contend *contend, size_t i);

/* Returns by what fraction of its time alone program i, whose index must be in range, takes longer
 * while the average program runs on the other hardware thread of its core. */
double contend_sibling_mean(const struct contend *contend, size_t i);

/* Returns what part of its time alone goes with the clock, of program i, whose index must be in
 * range: where the core works, and what of its waiting grows with it. */
double contend_works(const struct contend *contend, size_t i);

/* Returns by what fraction of its time alone program i, whose index must be in range, takes longer
 * because of the clock, where that many cores of its package are busy, its own among them. Moving
 * it within the package changes nothing of that, so it is in no other figure here. 0 where the
 * machine's clock is not known. */
double contend_clock(const struct contend *contend, size_t i, double busy);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles - the store of what programs do to a machine, measured once and looked up at launch.
 *
 * SQLite, of six kinds of rows:
 *
 *   profile  a stack-distance profile (`berthctl profile`): of one run, for one cache geometry; the
 *            newest wins; stays until forgotten
 *   sample   what berthd counted while a step ran, on a type of machine: runs are averaged, solo
 * ones apart from those beside other steps, and by what counted them; ages out
 *   pair     how much slower than alone the program was beside others on one cache, on a type of
 * machine: runs are averaged; ages out
 *   demand   what a program asks of memory: measured elsewhere, and told by somebody; else by
 * berthd in a run of the program, which never replaces the other, and ages out
 *   threads  how many threads it should have on so many cores of a type of machine (`berthctl
 *            threads`); the newest wins; stays until forgotten
 *   binding  that runs of the program bound threads of theirs to CPUs, which nothing had said
 *            before they did; runs are counted; ages out
 *
 * All have a key: "tag:NAME", or "exe:PATH#HASH" (what the program is called, by its canonical
 * path, and the hash of what it is: wire_program_identify), and the uid of the user whose run it
 * was. A user's rows say nothing to others but, where the site wants that, as one of several that a
 * median is taken of: else a stranger's run, made for that, would decide how somebody else's
 * program is placed. Root's rows (PROFILE_EVERYBODY) count for all. Profiles and samples have a
 * shape (wire_args_shape) and a geometry ("4x2": tasks on the node, CPUs of each) besides; "" is
 * unknown. Written by berthd and `berthctl profile`, safe with many processes. A missing store is
 * an empty store. */
#ifndef BERTH_PROFILES_PROFILES_H
#define BERTH_PROFILES_PROFILES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "packer/base/error.h"
#include "packer/wire/wire.h"

#define PROFILE_WAYS_MAX 64
#define PROFILE_KEY_MAX 4400
#define PROFILE_GEOMETRY_MAX 24
#define PROFILE_MACHINE_MAX 128 /* machine/type.h */
#define PROFILE_SOURCE_MAX 32
#define PROFILE_COMMAND_MAX 256

#define PROFILE_EVERYBODY 0 /* the uid of root's rows, which count for all users */
#define PROFILE_NOBODY                                                                             \
    0xfffffffeu /* of rows that were counted before rows had a uid: they are one                   \
                   voice among those of a median */

struct profile {
    uint32_t uid; /* whose it is */
    char key[PROFILE_KEY_MAX];
    char shape[WIRE_SHAPE_MAX];
    char geometry[PROFILE_GEOMETRY_MAX];
    char machine[PROFILE_MACHINE_MAX]; /* type of the machine where it was measured */
    char command[PROFILE_COMMAND_MAX]; /* the program that was run, without its arguments */
    uint64_t llc_bytes;                /* geometry it was measured for */
    unsigned llc_ways, line_bytes;     /* llc_ways 0: counted, there are no hits; line_bytes 0:
                                          unknown */
    double hits[PROFILE_WAYS_MAX];     /* stack-distance profile: hits per million instructions by
                                          LRU position, [0] MRU */
    double misses;         /* per million instructions: DI's miss rate (MODELS.md section 1) */
    double misses_error;   /* half the width of its 95 % confidence interval; NAN unknown */
    double accesses;       /* per million instructions; NAN unknown */
    double accesses_error; /* as misses_error */
    uint64_t instructions; /* how many were seen */
    uint64_t references;   /* memory references simulated */
    bool truncated;        /* the limit on references was reached: the rates are those of the
                              program's beginning */
    bool co_run;           /* counted beside other steps, which raises misses */
    uint64_t runs;         /* how many it is an average of */
    int64_t measured_at;   /* unix seconds */
    char source[PROFILE_SOURCE_MAX]; /* "valgrind"; from a lookup also "perf", "perf, co-run" */
    double instructions_per_s;       /* of one core, in a run at full speed; <= 0: not measured */
    double cycles; /* from a lookup, counted: per million instructions; NAN not known */
};

/* What is counted of a step; each rate may be absent. Per million instructions unless said
 * otherwise. */
enum profile_rate {
    PROFILE_MISSES,
    PROFILE_ACCESSES,
    PROFILE_CYCLES,
    PROFILE_STALLS,
    PROFILE_READS_REMOTE,
    PROFILE_INSTRUCTIONS_PER_S, /* per second of CPU time: of one core */
    PROFILE_BYTES_PER_S,        /* memory traffic of the whole step */
    PROFILE_CPUS,               /* CPU seconds per second */
    PROFILE_RUN_DELAY,          /* seconds that its threads waited for a CPU, per second */
    PROFILE_LOCK_WAIT,          /* seconds that its threads waited for a futex, per second */
    PROFILE_SWITCHES_PER_S,     /* context switches of both kinds */
    PROFILE_OCCUPANCY_BYTES,    /* mean of the windows */
    PROFILE_RSS_BYTES,
    PROFILE_INTENSITY, /* the fraction by which a probe beside it slows down */
    PROFILE_SYSTEM,    /* of PROFILE_CPUS, in the kernel */
    PROFILE_THREADS,   /* mean of the windows */
    PROFILE_RATES
};
extern const char *const profile_rate_name[PROFILE_RATES]; /* "misses", ...: columns, JSON */

struct profile_estimate {
    double mean;  /* NAN: not known */
    double error; /* half the width of its 95 % confidence interval; NAN: not known */
};

struct profile_sample {
    uint32_t uid; /* whose run it was */
    char key[PROFILE_KEY_MAX];
    char shape[WIRE_SHAPE_MAX];
    char geometry[PROFILE_GEOMETRY_MAX];
    char machine[PROFILE_MACHINE_MAX];
    bool co_run;                     /* other steps ran on its cache or node meanwhile */
    char source[PROFILE_SOURCE_MAX]; /* who counted: "perf", "resctrl", "software", "probe",
                                        "replay" */
    char command[PROFILE_COMMAND_MAX];
    uint64_t llc_bytes;  /* 0 unknown */
    unsigned line_bytes; /* 0 unknown */
    double windows;      /* of counting, in all; > 0 */
    double seconds, instructions;
    uint64_t runs; /* how many were averaged; put: 1 */
    int64_t measured_at;
    struct profile_estimate rate[PROFILE_RATES];
};

/* All strings "", all rates NAN, one run. */
void profile_sample_init(struct profile_sample *sample);

/* A program at work on so many cores of a cache. */
#define PROFILE_BESIDE_MAX 32
struct profile_beside {
    const char *key;
    uint32_t cores; /* > 0 */
    uint32_t uid;   /* of the user who runs it */
};

/* How a program fared beside others on one cache. The texts are borrowed. */
struct profile_pair {
    uint32_t uid;              /* of the user who runs the program */
    const char *key, *machine; /* machine: "" unknown */
    uint32_t cores;            /* of the program itself on the cache; > 0 */
    size_t n;                  /* programs beside it; 1 to PROFILE_BESIDE_MAX */
    struct profile_beside beside[PROFILE_BESIDE_MAX]; /* [n] each program once, in any order */
    double slowdown; /* against the same cores of it with the cache to themselves: the fraction of
                        its time that it took longer; > -1 */
    double error;    /* its standard deviation; > 0 */
    double windows, seconds; /* of counting, in all; > 0 */
    uint64_t runs; /* how many were averaged; put: 1, or 0 for more of a run that was put before */
    int64_t measured_at;
};

/* What requests of one core find in the memory's row buffers, alone on its node: DraMon's software
 * figures (Wang 2015, Table 4.2), which the memory controllers' counters tell (Table 4.3) where
 * berthd knows them (counters/memory_events.h), or a trace (berthctl profile --dram). */
struct profile_dram {
    double hit, miss,
        conflict;             /* ratios that sum to 1, else nothing is known: profile_dram_known */
    double read_ratio;        /* of requests; the others are writes */
    double issue_rate_single; /* requests/s for each channel; NAN: as its bandwidth says */
    double wtr, rtr; /* ratios of requests that switch from write to read, and between ranks */
    double ranks;    /* of a channel that it accesses; NAN: all */
};

/* How the matrices of a demand were measured. */
enum profile_matrix {
    PROFILE_MATRIX_TOLD,  /* by whom, only he knows who has told them */
    PROFILE_MATRIX_PAGES, /* remote traffic was counted, and divided by where the pages lie */
    PROFILE_MATRIX_COUNTED,
    PROFILE_MATRICES
};

/* What a program asks of a machine's memory: each part may be absent. Bandwidths in GB/s, 1e9
 * bytes/s. */
/* How fast a run of the program was on all its cores, alone, when it was measured. */
struct profile_speed {
    uint32_t cores; /* 0: it is not known */
    char shape[WIRE_SHAPE_MAX];
    double instructions_per_s; /* of the whole step */
    double error;              /* of that, relative: standard error */
    double windows;            /* that it was seen in */
    double misses, bytes;      /* per million instructions; NAN: not known */
};

struct profile_demand {
    size_t cores;       /* 0: no curve */
    double *curve;      /* [cores + 1] that so many cores ask of their own node; [0] is 0 */
    size_t nodes;       /* 0: no traffic between nodes is known: none is assumed */
    double *read_solo;  /* [nodes * nodes] what one core of node `to` reads from node `from` */
    double *write_solo; /* [nodes * nodes] what one core of node `from` writes to node `to` */
    struct profile_dram dram;
    /* Not told, but measured by berthd: then the diagonals are known as well, and what cores of a
     * node ask for that had none is NAN. */
    enum profile_matrix matrix;
    char machine[PROFILE_MACHINE_MAX]; /* machine/type.h */
    int64_t measured_at;               /* unix seconds */
    double seconds;                    /* of measuring */
    double error;                      /* relative standard error of what was counted */
    bool disturbed;                    /* others ran beside it */
    struct profile_speed speed;
};

/* How many threads a program should have. */
struct profile_threads {
    uint32_t uid; /* who has found it */
    char key[PROFILE_KEY_MAX];
    char shape[WIRE_SHAPE_MAX];
    char machine[PROFILE_MACHINE_MAX];
    uint32_t cores, threads; /* > 0 */
    bool environment;        /* it has the number from OMP_NUM_THREADS; else from an argument */
    int64_t measured_at;     /* unix seconds */
};

/* In how many runs a program was seen to bind its threads. */
struct profile_binding {
    uint32_t uid; /* whose runs they were */
    char key[PROFILE_KEY_MAX];
    uint64_t runs;       /* > 0 */
    uint64_t clean;      /* runs after the last of these in which it bound none */
    int64_t measured_at; /* unix seconds: when the last of them was seen */
};

/* So many such runs for each that bound, and it is trusted again. */
#define PROFILE_BINDING_CLEAN 3

/* Is it? */
bool profile_binding_over(const struct profile_binding *binding);

/* Says whether the ratios are there. */
bool profile_dram_known(const struct profile_dram *dram);

struct profiles; /* an open store; of one thread at a time */

/* Opens for reading (a missing file is an empty store) or writing (created with its folder). The
 * file's mode becomes 0640, its group `group`; NULL or "": it stays as it is. A store of an older
 * schema is brought to the present one by the first who may write it. Returns 0 and *out, or -1 and
 * err. */
int profiles_open(struct profiles **out, const char *path, bool writable, struct berth_error *err);
int profiles_open_group(struct profiles **out, const char *path, bool writable, const char *group,
                        struct berth_error *err);
void profiles_close(struct profiles *store); /* NULL is fine */

/* Open for reading without looking at the file yet, which may be damaged: each lookup then returns
 * -1 and says what is wrong, until the file has been mended or replaced. 0 and *out, or -1 and err:
 * the path is no path, or there is no memory. */
int profiles_attach(struct profiles **out, const char *path, const char *group,
                    struct berth_error *err);

/* Is there anything to read? 1 yes, 0 the store is empty or missing, -1 and err: it cannot be read.
 */
int profiles_readable(struct profiles *store, struct berth_error *err);

/* ---- looking up ---- */

/* Whose profile is wanted; NULL and 0: unknown, so that anything will do. */
struct profile_query {
    const char *key; /* must be given */
    uint32_t uid;    /* who asks: his own rows are seen, and root's */
    bool median;     /* where these say nothing, the median of what others' runs were counted */
    const char *shape, *geometry, *machine;
    uint64_t llc_bytes;
    uint64_t max_age_days; /* counted samples older than that are not seen; 0: any age */
};

/* The best that is known of the program's miss rate: 1 found (profile filled), 0 nothing, -1 and
 * err. Best is what was counted solo on this type of machine; then a profile for a cache of
 * llc_bytes, then any profile, then what was counted beside other steps on this type of machine;
 * among these the same shape, then the same geometry, then the newest (of samples with
 * another shape the newest 16 are looked at). But what was counted beside other steps goes before a
 * simulated profile that it contradicts (profile_apart). Of two that are alike the asker's own is
 * taken before root's. Where neither has any, and the query wants it: profiles_get_median. A reader
 * (a store that is not writable) never waits longer than 10 ms for a writer. */
int profiles_get(struct profiles *store, const struct profile_query *query, struct profile *profile,
                 struct berth_error *err);

/* The same; also says when a run of the program, of the asker's or root's, was last seen to bind
 * its threads: unix seconds, of those that are not too old; 0: none was, or it is trusted again. */
int profiles_get_bound(struct profiles *store, const struct profile_query *query,
                       struct profile *profile, int64_t *bound_at, struct berth_error *err);

/* The median user of the program: of each user but the asker and root the best sample, solo before
 * beside others, and of these the medians of misses, accesses and cycles. It takes
 * PROFILE_MEDIAN_LEAST users: of fewer, one alone would say what the median is. Returns as
 * profiles_get; runs is the number of users, and nothing tells who they are. */
#define PROFILE_MEDIAN_LEAST 3
int profiles_get_median(struct profiles *store, const struct profile_query *query,
                        struct profile *profile, struct berth_error *err);

/* Gets the best stack-distance profile in the same way: for a cache of llc_bytes before any other.
 */
int profiles_get_distances(struct profiles *store, const struct profile_query *query,
                           struct profile *profile, struct berth_error *err);

/* Tells whether two miss rates, per million instructions, cannot be those of one program doing the
 * same: one is more than twice the other, and more than a hundred more. */
bool profile_apart(double a, double b);

/* Tells whether the program, of which that was counted, cannot be the one of a stack-distance
 * profile: alone, the rates are apart; beside others, which may take cache away but give none, the
 * rate is above its accesses, or as far below its misses. */
bool profile_contradicts(const struct profile *counted, const struct profile *distances);

/* The best sample of this type of machine that knows the rate, solo before beside others. Returns
 * as profiles_get. */
int profiles_get_sample(struct profiles *store, const struct profile_query *query,
                        enum profile_rate rate, struct profile_sample *sample,
                        struct berth_error *err);

/* The key's demand, one that was told before one that was measured, the user's own before root's: 1
 * found (*demand is the caller's,
 * profile_demand_free), 0 not there, -1 and err. */
int profiles_get_demand(struct profiles *store, uint32_t uid, const char *key,
                        struct profile_demand **demand, struct berth_error *err);

/* How many threads the program should have on that many cores of the query's type of machine, where
 * it has the number from OMP_NUM_THREADS: of the same shape first, the user's own before root's.
 * Returns as profiles_get. */
int profiles_get_threads(struct profiles *store, const struct profile_query *query, uint32_t cores,
                         struct profile_threads *threads, struct berth_error *err);

/* The key that a person means by `text`: a key, a tag, a program's path or base name, or how a key
 * (or what follows its "tag:" or "exe:") begins; the first of these that fits at all must fit one
 * key. 1 and key, 0 none fits, -1 and err, which lists them when several do. */
int profiles_resolve(struct profiles *store, const char *text, char key[PROFILE_KEY_MAX],
                     struct berth_error *err);

/* Call visit for each row of the kind and the key (NULL: all keys), newest first (demands: by key),
 * until it returns non-zero. Writers wait meanwhile: visit must not. 0, or -1 and err. */
int profiles_each(struct profiles *store, const char *key,
                  int (*visit)(const struct profile *, void *), void *arg, struct berth_error *err);
int profiles_each_sample(struct profiles *store, const char *key,
                         int (*visit)(const struct profile_sample *, void *), void *arg,
                         struct berth_error *err);
/* Which pairs: of the key (NULL: any) and of that user, on that type of machine (NULL: any),
 * measured at `oldest` or later. */
enum profile_pairs {
    PROFILE_PAIRS_ALL,   /* of all users */
    PROFILE_PAIRS_USERS, /* of all but root */
    PROFILE_PAIRS_OF,    /* of the user */
    PROFILE_PAIRS_PAGE,  /* of the user, in the order in which they are found soonest */
    PROFILE_PAIRS_ROOT,  /* root's, in which the key has any part */
    PROFILE_PAIRS_WAYS
};
struct profile_pairs_query {
    const char *key, *machine;
    enum profile_pairs which;
    uint32_t uid;
    int64_t oldest;
    size_t most, skip; /* most 0: all */
};

/* Visits the pairs that are asked for, newest first, `most` of them at most, in the same way. */
int profiles_each_pair(struct profiles *store, const struct profile_pairs_query *query,
                       int (*visit)(const struct profile_pair *, void *), void *arg,
                       struct berth_error *err);
int profiles_each_demand(struct profiles *store, const char *key,
                         int (*visit)(uint32_t uid, const char *key, const struct profile_demand *,
                                      void *),
                         void *arg, struct berth_error *err);

int profiles_each_threads(struct profiles *store, const char *key,
                          int (*visit)(const struct profile_threads *, void *), void *arg,
                          struct berth_error *err);

int profiles_each_binding(struct profiles *store, const char *key,
                          int (*visit)(const struct profile_binding *, void *), void *arg,
                          struct berth_error *err);

/* Writes a page of what the store holds for a user of the key (NULL: all), his rows and root's, as
 * JSON lines, appended to out. `*at` is 0 for the first page, and what the last one left for the
 * next. No row is locked between two pages: one that comes or goes meanwhile may be missed. Returns
 * the rows written, 0 at the end, -1 and err. */
int profiles_page(struct profiles *store, uint32_t uid, const char *key, uint64_t *at, size_t most,
                  FILE *out, struct berth_error *err);

/* Writes the median of what others' runs of the program were counted to do, as a line of a sample
 * of PROFILE_NOBODY. Returns as profiles_get_median. */
int profiles_export_median(struct profiles *store, const struct profile_query *query, FILE *out,
                           struct berth_error *err);

/* ---- writing ---- */

/* Each is done as a whole, or -1 and err and the store is unchanged. A writer waits up to 30 s for
 * others. */

/* Runs body inside one transaction, of a file that was created and brought to the present schema
 * where it was not; what body writes by the functions below is in it. Returns 0 when body returned
 * 0 or more and all is on disk; else -1 and err, and nothing has changed. */
int profiles_write(struct profiles *store,
                   int (*body)(struct profiles *store, void *arg, struct berth_error *err),
                   void *arg, struct berth_error *err);

/* Store or replace what has the same key, shape, geometry and cache. */
int profiles_put(struct profiles *store, const struct profile *profile, struct berth_error *err);

/* Take in n samples, each of one run, all in one transaction. A sample is averaged with the stored
 * one of the same key, shape, geometry, machine, co_run and source: profile_sample_merge. */
int profiles_put_samples(struct profiles *store, const struct profile_sample *sample, size_t n,
                         struct berth_error *err);

/* Average a newer run into what is known, rate by rate. The newer one weighs by its windows among
 * those of all runs, and at least 20 %: what a program did long ago fades out. Half widths add as
 * those of independent estimates do; where the two differ by more than that explains, they are
 * widened to it (the scale factor of the Particle Data Group's averages). windows, seconds,
 * instructions and runs are summed. */
void profile_sample_merge(struct profile_sample *known, const struct profile_sample *newer);

/* Store or replace it; one that was measured replaces one that was measured before, unless it was
 * disturbed and the other was not, and none that was told. It must make sense
 * (profile_demand_parse). 0, or -1 and err. */
int profiles_put_demand(struct profiles *store, uint32_t uid, const char *key,
                        const struct profile_demand *demand, struct berth_error *err);

/* Counts a run of the user's program that was seen to bind its threads at that moment; or, with
 * `bound` false, one that ended and bound none, where another is stored. */
int profiles_put_binding(struct profiles *store, uint32_t uid, const char *key, bool bound,
                         int64_t at, struct berth_error *err);

/* Take in n pairs, all in one transaction. One is averaged with the stored one of the same
 * programs, cores and machine: profile_pair_merge. */
int profiles_put_pairs(struct profiles *store, const struct profile_pair *pair, size_t n,
                       struct berth_error *err);

/* Average a newer measurement of the same pair into what is known: each weighs by the inverse
 * square of its error, the newer one at least 20 %, and at least half where the two contradict each
 * other by more than three times what their errors explain: the program has changed. The error is
 * widened to what they differ by. */
void profile_pair_merge(struct profile_pair *known, const struct profile_pair *newer);

/* Whose rows are meant: *uid is a user's, NULL all users'. */

/* Forgets what is stored under the key (NULL: under all keys), and the pairs in which it has a
 * part, of a user only his own; with samples_only what was seen of runs only: samples, pairs and
 * bindings. Returns the number of rows forgotten, or -1 and err. */
int profiles_forget(struct profiles *store, const uint32_t *uid, const char *key, bool samples_only,
                    struct berth_error *err);

/* Returns how many rows that would be, or -1 and err. */
int profiles_count(struct profiles *store, const uint32_t *uid, const char *key, bool samples_only,
                   struct berth_error *err);

/* Forgets samples, pairs and bindings older than so many days (0: none for its age), a user's
 * oldest beyond PROFILE_ROWS_OF_ONE of a kind, and the oldest of all beyond PROFILE_SAMPLES_MAX and
 * PROFILE_PAIRS_MAX. Returns the number forgotten, or -1 and err. */
#define PROFILE_ROWS_OF_ONE 10000
#define PROFILE_SAMPLES_MAX 100000
#define PROFILE_PAIRS_MAX 100000
int profiles_age(struct profiles *store, uint64_t days, struct berth_error *err);

/* ---- as text ---- */

/* The rows of the key (NULL: of all keys) as JSON lines, appended to out. 0, or -1 and err. */
int profiles_export(struct profiles *store, const char *key, FILE *out, struct berth_error *err);

/* Those of pairs only. */
int profiles_export_pairs(struct profiles *store, const char *key, FILE *out,
                          struct berth_error *err);

/* Writes one as such a line; out is a FILE. Returns 0, or -1. */
int profiles_export_profile(const struct profile *profile, void *out);

/* Writes how many threads a program should have as such a line. */
int profiles_export_threads(const struct profile_threads *threads, void *out);

/* Writes in how many runs it bound its threads, and in how many since then it did not. */
int profiles_export_binding(const struct profile_binding *binding, void *out);

/* Takes in such lines, for a user: each is his own, and one that names another user is wrong. What
 * root (uid 0) takes in stays whose the line says, and counts for all where it says nothing. A row
 * that is there is replaced by a newer one only, with `replace` by any;
 * a demand has no date: only with `replace`. All or nothing: -1 and err names the line and the
 * field that is wrong. */
struct profiles_imported {
    size_t taken, kept; /* kept: the store's own stayed */
};
int profiles_import(struct profiles *store, uint32_t uid, const char *text, size_t length,
                    bool replace, struct profiles_imported *imported, struct berth_error *err);

/* Says whether the lines could be taken in for that user, without a store. Returns 0, or -1 and
 * err.
 */
int profiles_check(uint32_t uid, const char *text, size_t length, struct berth_error *err);

/* A sample's rates that are known, {"misses":[mean, error],...}; an error that is not known is
 * null.
 */
struct json_object *profile_rates_json(const struct profile_sample *sample);

/* A pair as a JSON object {"key","machine","beside":[{"key","cores","uid"},..],"uid","cores",
 * "slowdown","error",..}, and back: 0, with texts borrowed of the object, or -1 and err that names
 * the field. A pair that names no user is one of `uid`; the programs beside it are its user's,
 * where nothing else is said.
 */
struct json_object *profile_pair_json(const struct profile_pair *pair);
int profile_pair_parse(struct json_object *object, uint32_t uid, struct profile_pair *pair,
                       struct berth_error *err);

/* From its JSON object
 * {"curve_gbps":[0,..],"read_solo_gbps":[[..],..],"write_solo_gbps":[[..],..]}, each part of which
 * may be absent or null. NULL and err that names the field. */
struct profile_demand *profile_demand_parse(struct json_object *object, struct berth_error *err);
struct json_object *profile_demand_json(const struct profile_demand *demand);
void profile_demand_free(struct profile_demand *demand); /* NULL is fine */

/* ---- small things ---- */

/* What one core that runs the program alone reads from memory, in GB/s: the lines that it misses.
 * NAN where it was not timed, or its lines are not known. */
double profile_core_gbps(const struct profile *profile);

/* The clock at which a profile was counted, in GHz. NAN where cycles were not counted, or it was
 * not timed. */
double profile_clock_ghz(const struct profile *profile);

/* Write the key of a program (path, hash) or of a tag into key[PROFILE_KEY_MAX]. */
void profile_key_exe(char *key, const char *path, const char *hash);
void profile_key_tag(char *key, const char *tag);

/* Is it the key of a program that starts others, by its own path alone? A berth before this one
 * stored rows of whatever that started under it; no step asks for them any more. */
bool profile_key_starts_others(const char *key);

/* "4x2": that many tasks on this node, of that many CPUs each; "" where either is 0. */
void profile_geometry(char geometry[PROFILE_GEOMETRY_MAX], uint32_t tasks, uint32_t cpus_per_task);

#endif

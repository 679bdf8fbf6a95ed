/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles - the store of what programs do to the last-level cache, measured once and looked up at
 * launch.
 *
 * SQLite. Keys: "tag:NAME", or "exe:PATH#HASH" (canonical path, and wire_program_hash of its
 * content). One profile per key and cache geometry; the newest wins. Written by `berthctl profile`,
 * read by berthd; safe with several processes. A missing store is an empty store. */
#ifndef BERTH_PROFILES_H
#define BERTH_PROFILES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define PROFILE_WAYS_MAX 64
#define PROFILE_KEY_MAX 4400

struct profile {
    char key[PROFILE_KEY_MAX];
    char command[256];  /* what was run, for people */
    uint64_t llc_bytes; /* geometry it was measured for */
    unsigned llc_ways, line_bytes;
    double hits[PROFILE_WAYS_MAX]; /* stack-distance profile: hits per million instructions by LRU
                                      position, [0] MRU */
    double misses;         /* per million instructions: DI's miss rate (MODELS.md section 1) */
    double accesses;       /* per million instructions */
    uint64_t instructions; /* how many were seen */
    uint64_t references;   /* memory references simulated */
    bool truncated; /* the limit on references was reached: the rates are those of the program's
                       beginning */
    int64_t measured_at;       /* unix seconds */
    char source[32];           /* "valgrind" */
    double instructions_per_s; /* of one core, in a run at full speed; <= 0: not measured */
};

/* What a program asks of a machine's memory, measured elsewhere: each part may be absent.
 * Bandwidths in GB/s, 1e9 bytes/s. */
struct profile_demand {
    size_t cores;       /* 0: no curve */
    double *curve;      /* [cores + 1] that so many cores ask of their own node; [0] is 0 */
    size_t nodes;       /* 0: no traffic between nodes is known: none is assumed */
    double *read_solo;  /* [nodes * nodes] what one core of node `to` reads from node `from` */
    double *write_solo; /* [nodes * nodes] what one core of node `from` writes to node `to` */
};

struct profiles; /* an open store */

/* Open for reading (a missing file is an empty store) or writing (created with its folder, mode
 * 0644). 0 and *out, or -1 and err. */
int profiles_open(struct profiles **out, const char *path, bool writable, struct berth_error *err);
void profiles_close(struct profiles *store);

/* Look a key up: 1 found (profile filled), 0 not there, -1 and err. Prefers llc_bytes when several
 * geometries are stored; 0: any. Never waits longer than 5 ms for a writer. */
int profiles_get(struct profiles *store, const char *key, uint64_t llc_bytes,
                 struct profile *profile, struct berth_error *err);

/* Store or replace. 0, or -1 and err (store unchanged). */
int profiles_put(struct profiles *store, const struct profile *profile, struct berth_error *err);

/* Call visit for each profile, newest first, until it returns non-zero. 0, or -1 and err. */
int profiles_each(struct profiles *store, int (*visit)(const struct profile *, void *), void *arg,
                  struct berth_error *err);

/* The key's demand: 1 found (*demand is the caller's, profile_demand_free), 0 not there, -1 and
 * err.
 */
int profiles_get_demand(struct profiles *store, const char *key, struct profile_demand **demand,
                        struct berth_error *err);
/* Store or replace it. It must make sense (profile_demand_parse). 0, or -1 and err. */
int profiles_put_demand(struct profiles *store, const char *key,
                        const struct profile_demand *demand, struct berth_error *err);

/* From its JSON object
 * {"curve_gbps":[0,..],"read_solo_gbps":[[..],..],"write_solo_gbps":[[..],..]}, each part of which
 * may be absent or null. NULL and err that names the field. */
struct profile_demand *profile_demand_parse(struct json_object *object, struct berth_error *err);
struct json_object *profile_demand_json(const struct profile_demand *demand);
void profile_demand_free(struct profile_demand *demand); /* NULL is fine */

/* Forget a key, and its demand. 1 forgotten, 0 not there, -1 and err. */
int profiles_forget(struct profiles *store, const char *key, struct berth_error *err);

/* What one core that runs the program alone reads from memory, in GB/s: the lines that it misses.
 * NAN where it was not timed. */
double profile_core_gbps(const struct profile *profile);

/* Write the key of a program (path, hash) or of a tag into key[PROFILE_KEY_MAX]. */
void profile_key_exe(char *key, const char *path, const char *hash);
void profile_key_tag(char *key, const char *tag);

#endif

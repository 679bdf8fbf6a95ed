/* SPDX-License-Identifier: GPL-2.0-or-later */
/* putprofile DB TAG MISS_PMI [INSTRUCTIONS_PER_S [HITS]] - stores a profile with a known miss rate,
 * so that a test of placement need not measure one. HITS are those per million instructions at each
 * place of the LRU stack of 16 ways, most recent first, with commas; 0 instructions: not timed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/profiles/profiles.h"

static int put(const char *path, const struct profile *profile, struct berth_error *err)
{
    struct profiles *store;
    int rc;

    if (profiles_open(&store, path, true, err) < 0)
        return -1;
    rc = profiles_put(store, profile, err);
    profiles_close(store);
    return rc;
}

/* A number that is not negative. 0, or -1 after saying that it is none. */
static int read_number(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value >= 0)
        return 0;
    fprintf(stderr, "putprofile: %s: not a number of 0 or more\n", text);
    return -1;
}

/* Reads at most a profile's number of hits, and adds them to its accesses. */
static int read_hits(char *text, struct profile *profile)
{
    char *rest = text;
    size_t n = 0;

    for (char *word; (word = strsep(&rest, ",")); n++) {
        if (n == profile->llc_ways || read_number(word, &profile->hits[n]) < 0)
            return -1;
        profile->accesses += profile->hits[n];
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct profile profile = {
        .llc_bytes = 1 << 20, .llc_ways = 16, .line_bytes = 64, .instructions = 1000000};
    struct berth_error err;

    if (argc < 4 || argc > 6) {
        fprintf(stderr, "usage: putprofile DB TAG MISS_PMI [INSTRUCTIONS_PER_S [HITS]]\n");
        return 2;
    }
    if (read_number(argv[3], &profile.misses) < 0 ||
        (argc > 4 && read_number(argv[4], &profile.instructions_per_s) < 0))
        return 2;
    profile.accesses = profile.misses;
    if (argc > 5 && read_hits(argv[5], &profile) < 0)
        return 2;
    profile.measured_at = time(NULL);
    profile_key_tag(profile.key, argv[2]);
    snprintf(profile.command, sizeof(profile.command), "test");
    snprintf(profile.source, sizeof(profile.source), "test");
    if (put(argv[1], &profile, &err) < 0) {
        fprintf(stderr, "putprofile: %s\n", err.text);
        return 1;
    }
    return 0;
}

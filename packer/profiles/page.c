/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_page - what the store holds for one user, in pages (profiles.h).
 *
 * berthd answers with them: between two pages the file is not locked, so that a user who reads
 * slowly keeps no writer waiting. Where a page begins is told by how many rows stand before it. */
#include "packer/profiles/db.h"

/* What is gone through, one after the other: each table's rows of the user, then those of root. */
enum table {
    TABLE_PROFILE,
    TABLE_SAMPLE,
    TABLE_PAIR,
    TABLE_DEMAND,
    TABLE_THREADS,
    TABLE_BINDING,
    TABLES
};
#define PASSES 2
#define SKIP_BITS 32

struct page {
    FILE *out;
    const char *key;
    uint32_t asker;
    int64_t seen, written;
};

static int take_profile(const struct profile *profile, void *arg)
{
    struct page *page = arg;

    page->seen++;
    page->written++;
    return profiles_export_profile(profile, page->out);
}

static int take_sample(const struct profile_sample *sample, void *arg)
{
    struct page *page = arg;

    page->seen++;
    page->written++;
    return profiles_export_sample(sample, page->out);
}

/* Takes a pair unless it names a program that another user runs. */
static int take_pair(const struct profile_pair *pair, void *arg)
{
    struct page *page = arg;

    page->seen++;
    for (size_t i = 0; i < pair->n; i++)
        if (pair->beside[i].uid != page->asker && pair->beside[i].uid != PROFILE_EVERYBODY)
            return 0;
    page->written++;
    return profiles_export_one_pair(pair, page->out);
}

static int take_demand(uint32_t uid, const char *key, const struct profile_demand *demand,
                       void *arg)
{
    struct page *page = arg;

    page->seen++;
    page->written++;
    return profiles_export_demand(uid, key, demand, page->out);
}

static int take_threads(const struct profile_threads *threads, void *arg)
{
    struct page *page = arg;

    page->seen++;
    page->written++;
    return profiles_export_threads(threads, page->out);
}

static int take_binding(const struct profile_binding *binding, void *arg)
{
    struct page *page = arg;

    page->seen++;
    page->written++;
    return profiles_export_binding(binding, page->out);
}

static int read_table(struct profiles *store, enum table table, uint32_t uid, int64_t skip,
                      size_t most, struct page *page, struct berth_error *err)
{
    const struct profile_rows rows = {
        .key = page->key, .uid = &uid, .most = (int64_t)most, .skip = skip};
    const struct profile_pairs_query pairs = {.key = page->key,
                                              .which = PROFILE_PAIRS_PAGE,
                                              .uid = uid,
                                              .most = most,
                                              .skip = (size_t)skip};

    switch (table) {
    case TABLE_PROFILE:
        return profiles_each_row(store, &rows, take_profile, page, err);
    case TABLE_SAMPLE:
        return profiles_each_sample_row(store, &rows, take_sample, page, err);
    case TABLE_PAIR:
        return profiles_each_pair(store, &pairs, take_pair, page, err);
    case TABLE_THREADS:
        return profiles_each_threads_row(store, &rows, take_threads, page, err);
    case TABLE_BINDING:
        return profiles_each_binding_row(store, &rows, take_binding, page, err);
    default:
        return profiles_each_demand_row(store, &rows, take_demand, page, err);
    }
}

int profiles_page(struct profiles *store, uint32_t uid, const char *key, uint64_t *at, size_t most,
                  FILE *out, struct berth_error *err)
{
    uint64_t part = *at >> SKIP_BITS;
    int64_t skip = (int64_t)(*at & UINT32_MAX);
    struct page page = {.out = out, .key = key, .asker = uid};

    for (; part < PASSES * TABLES && page.written == 0; page.seen = 0) {
        uint32_t owner = part % PASSES ? PROFILE_EVERYBODY : uid;
        bool again = part % PASSES && uid == PROFILE_EVERYBODY; /* root's rows are his own */

        if (!again &&
            read_table(store, (enum table)(part / PASSES), owner, skip, most, &page, err) < 0)
            return -1;
        skip += page.seen;
        if (page.seen < (int64_t)most) {
            part++;
            skip = 0;
        }
    }
    *at = part << SKIP_BITS | (uint64_t)skip;
    return (int)page.written;
}

int profiles_export_median(struct profiles *store, const struct profile_query *query, FILE *out,
                           struct berth_error *err)
{
    struct profile_sample sample;
    int rc = profiles_median_sample(store, query, &sample, err);

    if (rc == 1 && profiles_export_sample(&sample, out) < 0)
        return berth_no_memory(err);
    return rc;
}

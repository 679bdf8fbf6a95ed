/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_store - a profile store in a folder of its own, for the tests of its parts. */
#ifndef BERTH_TESTS_PROFILE_STORE_H
#define BERTH_TESTS_PROFILE_STORE_H

#include "packer/profiles/profiles.h"

struct profile_store {
    char folder[64], path[128]; /* path is in a folder in it that does not exist yet */
};

/* cmocka's setup and teardown: *state is a struct profile_store. Whatever lies in the folder is
 * removed. */
int profile_store_setup(void **state);
int profile_store_teardown(void **state);

/* Open it, or fail the test. */
struct profiles *profile_store_open(const struct profile_store *files, bool writable);

/* Run SQL on the file behind the store's back. */
void profile_store_sql(const struct profile_store *files, const char *text);

/* A profile with something in every field; a sample of 10 windows that knows its misses, +-1. */
struct profile profile_store_profile(const char *key, uint64_t llc_bytes, double misses);
struct profile_sample profile_store_sample(const char *key, double misses);

/* Store them, or fail the test. */
void profile_store_put(struct profiles *store, const struct profile *profile);
void profile_store_put_sample(struct profiles *store, const struct profile_sample *sample);

/* The misses stored under the key for that cache; -1 when there is no such profile. */
double profile_store_misses(struct profiles *store, const char *key, uint64_t llc_bytes);

/* Returns the store as text, which the caller frees: all of it, or, page by page, what the reader
 * (a user's number) may see of it. */
char *profile_store_export(struct profiles *store, const uint32_t *reader);

/* Takes lines of text into the store, as that user; fails the test where it cannot. Returns how
 * many were taken. */
struct profiles_imported profile_store_import(struct profiles *store, uint32_t uid,
                                              const char *text, bool replace);

#endif

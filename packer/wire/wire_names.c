/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_names - how options and programs are named on both sides of the socket (wire.h). */
#include "packer/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define SAMPLE_BYTES (1 << 20)

/* Append ",WORD" (or "WORD" as the first) to text[size]. */
static void append_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s%s", used ? "," : "", word);
}

/* Writes "size" or "size=PCT". */
static void format_size(const struct wire_options *o, char *word, size_t size)
{
    if (o->size_loss_pct < 0)
        snprintf(word, size, "size");
    else
        snprintf(word, size, "size=%g", o->size_loss_pct);
}

/* Append a bound that was given: "cores=MIN-MAX". */
static void append_bounds(const struct wire_options *o, char *text, size_t size)
{
    char word[64];

    if (o->cores_max) {
        snprintf(word, sizeof(word), "cores=%u-%u", o->cores_min, o->cores_max);
        append_word(text, size, word);
    }
    if (o->max_slowdown_pct >= 0) {
        snprintf(word, sizeof(word), "max-slowdown=%g", o->max_slowdown_pct);
        append_word(text, size, word);
    }
}

void wire_options_format(const struct wire_options *o, char *text, size_t size)
{
    char sized[64], flexible[64];
    const struct {
        bool given;
        const char *key, *value;
    } word[] = {{true, wire_mode_name[o->mode], ""},
                {o->isolate, "isolate", ""},
                {o->edp, "edp", ""},
                {o->size, sized, ""},
                {o->spread, "spread", ""},
                {o->pack, "pack", ""},
                {o->policy_given, "policy=", wire_policy_name[o->policy]},
                {o->mem != WIRE_MEM_AUTO || o->mem_auto, "mem=", wire_mem_name[o->mem]},
                {o->threads_auto, "threads=auto", ""},
                {o->threads_follow, "threads=follow", ""},
                {o->throttle != WIRE_THROTTLE_OFF, "throttle=", wire_throttle_name[o->throttle]},
                {o->flex, flexible, ""},
                {o->locks_cohort, "locks=cohort", ""},
                {o->faithful, "faithful", ""},
                {o->tranquil, "tranquil", ""},
                {o->shuffle, "shuffle", ""},
                {o->adapt, "adapt", ""},
                {o->nocount, "nocount", ""},
                {o->nodevice, "nodevice", ""},
                {o->prefetch, "prefetch=", wire_prefetch_name[o->prefetch]},
                {o->tag[0] != '\0', "tag=", o->tag},
                {o->require, "require", ""},
                {o->verbose, "verbose", ""}};
    char joined[128];

    if (size == 0)
        return;
    format_size(o, sized, sizeof(sized));
    snprintf(flexible, sizeof(flexible), o->flex_threads ? "flex=%u" : "flex", o->flex_threads);
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
        if (word[i].given) {
            snprintf(joined, sizeof(joined), "%s%s", word[i].key, word[i].value);
            append_word(text, size, joined);
        }
    append_bounds(o, text, size);
}

/* Feed up to SAMPLE_BYTES of the file from offset into the hash. */
static int hash_sample(XXH3_state_t *state, int fd, off_t offset)
{
    static const size_t chunk = 64 << 10;
    char *buffer = malloc(chunk);
    size_t left = SAMPLE_BYTES;
    ssize_t got = 0;

    if (!buffer)
        return -1;
    while (left && (got = pread(fd, buffer, left < chunk ? left : chunk, offset)) > 0) {
        XXH3_128bits_update(state, buffer, (size_t)got);
        offset += got;
        left -= (size_t)got;
    }
    free(buffer);
    return got < 0 ? -1 : 0;
}

/* Hash size, head and tail of an open file. */
static int hash_file(XXH3_state_t *state, int fd)
{
    struct stat st;
    uint64_t size;

    if (fstat(fd, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    size = (uint64_t)st.st_size;
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, &size, sizeof(size));
    if (hash_sample(state, fd, 0) < 0)
        return -1;
    return size > SAMPLE_BYTES ? hash_sample(state, fd, st.st_size - SAMPLE_BYTES) : 0;
}

int wire_program_hash(const char *path, char hash[WIRE_HASH_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = -1, saved;
    XXH3_state_t *state = XXH3_createState();
    XXH128_hash_t digest;

    if (fd >= 0 && state && hash_file(state, fd) == 0) {
        digest = XXH3_128bits_digest(state);
        snprintf(hash, WIRE_HASH_MAX, "%016llx%016llx", (unsigned long long)digest.high64,
                 (unsigned long long)digest.low64);
        rc = 0;
    }
    saved = errno;
    XXH3_freeState(state);
    if (fd >= 0)
        close(fd);
    errno = saved;
    return rc;
}

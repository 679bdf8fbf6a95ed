/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_names - how steps, options and programs are named on both sides of the socket (wire.h). */
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

static const struct {
    uint32_t step;
    const char *name;
} special_step[] = {{WIRE_STEP_BATCH, "batch"},
                    {WIRE_STEP_EXTERN, "extern"},
                    {WIRE_STEP_INTERACTIVE, "interactive"}};

#define SPECIAL_STEPS (sizeof(special_step) / sizeof(special_step[0]))

/* The first bit, 7 bits of the component and 24 of the step; below Slurm's own numbers. */
#define HET_FIRST 0x80000000u
#define HET_END 0xff000000u
#define HET_SHIFT 24
#define HET_STEPS (1u << HET_SHIFT)

uint32_t wire_step_component(uint32_t step, uint32_t component)
{
    if (step >= HET_STEPS || component >= (HET_END - HET_FIRST) >> HET_SHIFT)
        return UINT32_MAX;
    return HET_FIRST | component << HET_SHIFT | step;
}

static bool is_component(uint32_t step)
{
    return step >= HET_FIRST && step < HET_END;
}

uint32_t wire_step_number(uint32_t step)
{
    return is_component(step) ? step % HET_STEPS : step;
}

void wire_step_name(struct wire_step_id id, char name[WIRE_STEP_NAME_MAX])
{
    if (id.step == UINT32_MAX) {
        snprintf(name, WIRE_STEP_NAME_MAX, "%u", id.job);
        return;
    }
    for (size_t i = 0; i < SPECIAL_STEPS; i++)
        if (special_step[i].step == id.step) {
            snprintf(name, WIRE_STEP_NAME_MAX, "%u.%s", id.job, special_step[i].name);
            return;
        }
    if (is_component(id.step))
        snprintf(name, WIRE_STEP_NAME_MAX, "%u.%u+%u", id.job, id.step % HET_STEPS,
                 (id.step - HET_FIRST) >> HET_SHIFT);
    else
        snprintf(name, WIRE_STEP_NAME_MAX, "%u.%u", id.job, id.step);
}

/* Read a whole unsigned number of digits only. */
static int parse_u32(const char *text, uint32_t *number)
{
    unsigned long long value;
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || *end || value > UINT32_MAX)
        return -1;
    *number = (uint32_t)value;
    return 0;
}

/* Reads "0+1". */
static int parse_component(const char *text, const char *plus, uint32_t *step)
{
    uint32_t whole, component, number;
    char digits[16];

    if ((size_t)(plus - text) >= sizeof(digits))
        return -1;
    memcpy(digits, text, (size_t)(plus - text));
    digits[plus - text] = '\0';
    if (parse_u32(digits, &whole) < 0 || parse_u32(plus + 1, &component) < 0)
        return -1;
    number = wire_step_component(whole, component);
    if (number == UINT32_MAX)
        return -1;
    *step = number;
    return 0;
}

static int parse_step(const char *text, uint32_t *step)
{
    const char *plus = strchr(text, '+');

    for (size_t i = 0; i < SPECIAL_STEPS; i++)
        if (strcmp(text, special_step[i].name) == 0) {
            *step = special_step[i].step;
            return 0;
        }
    return plus ? parse_component(text, plus, step) : parse_u32(text, step);
}

int wire_step_parse(const char *text, struct wire_step_id *id)
{
    const char *dot = strchr(text, '.');
    size_t length = dot ? (size_t)(dot - text) : strlen(text);
    struct wire_step_id read = {.step = UINT32_MAX};
    char job[16];

    if (length == 0 || length >= sizeof(job))
        goto wrong;
    memcpy(job, text, length);
    job[length] = '\0';
    if (parse_u32(job, &read.job) < 0 || (dot && parse_step(dot + 1, &read.step) < 0))
        goto wrong;
    *id = read;
    return 0;
wrong:
    errno = EINVAL;
    return -1;
}

int wire_step_of_title(const char *title, struct wire_step_id *id)
{
    static const char before[] = "slurmstepd: [";
    char name[WIRE_STEP_NAME_MAX];
    size_t length;

    if (strncmp(title, before, strlen(before)) != 0)
        return -1;
    title += strlen(before);
    length = strcspn(title, "] ");
    if (!title[length] || length >= sizeof(name))
        return -1;
    memcpy(name, title, length);
    name[length] = '\0';
    return strchr(name, '.') ? wire_step_parse(name, id) : -1;
}

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

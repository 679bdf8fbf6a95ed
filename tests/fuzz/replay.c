/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay - every fuzz target, fed with its seeds and with mutations of them, the same in every run.
 *
 *   replay [RUNS [TARGET]]     RUNS mutations for each target (20000)
 *   replay --seeds DIR TARGET  write its seeds into the folder, to begin a corpus for libFuzzer */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX 70000 /* more than a message may have */

static const struct fuzz_target *const targets[] = {
    &fuzz_wire_request,   &fuzz_wire_answer,    &fuzz_cpus,         &fuzz_step_name,
    &fuzz_conf,           &fuzz_journal,        &fuzz_ledger_line,  &fuzz_machine_profile,
    &fuzz_profile_demand, &fuzz_profile_text,   &fuzz_samples,      &fuzz_event_table,
    &fuzz_metrics_accept, &fuzz_metrics_label,  &fuzz_metrics_address,
};

/* What breaks parsers. */
static const char *const token[] = {"0",
                                    "-1",
                                    "1e999",
                                    "4294967296",
                                    "18446744073709551616",
                                    "-9223372036854775809",
                                    "null",
                                    "true",
                                    "{}",
                                    "[]",
                                    "\"\"",
                                    "\\u0000",
                                    "\n",
                                    ",",
                                    "-",
                                    "[[[[[[[[",
                                    "2047",
                                    "2048",
                                    "0.0.0",
                                    "%s%n",
                                    "../",
                                    "\xff\xfe",
                                    "\xc2\x80",
                                    "batch",
                                    ":",
                                    "=",
                                    "#",
                                    ";",
                                    " ",
                                    "\t"};

#define TARGETS (sizeof(targets) / sizeof(targets[0]))
#define TOKENS (sizeof(token) / sizeof(token[0]))

struct input {
    size_t size;
    uint8_t data[INPUT_MAX];
};

/* xorshift64*: good enough, and the same everywhere. */
static size_t any(uint64_t *state, size_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return below ? (size_t)((*state * UINT64_C(2685821657736338717)) >> 33) % below : 0;
}

static void insert(struct input *input, size_t at, const void *data, size_t size)
{
    if (input->size + size > INPUT_MAX)
        return;
    memmove(input->data + at + size, input->data + at, input->size - at);
    memcpy(input->data + at, data, size);
    input->size += size;
}

static void cut(struct input *input, size_t at, size_t size)
{
    memmove(input->data + at, input->data + at + size, input->size - at - size);
    input->size -= size;
}

/* Say a run of the input again, a few or very many times. */
static void repeat(struct input *input, uint64_t *state)
{
    size_t at = any(state, input->size), size = 1 + any(state, input->size - at);
    size_t room = (INPUT_MAX - input->size) / size, times;
    uint8_t *runs;

    times = any(state, 50) ? 1 + any(state, 3) : any(state, room + 1);
    times = times < room ? times : room;
    runs = malloc(times * size + 1);
    for (size_t i = 0; i < times; i++)
        memcpy(runs + i * size, input->data + at, size);
    insert(input, at, runs, times * size);
    free(runs);
}

static void mutate(struct input *input, const struct input *other, uint64_t *state)
{
    size_t at = any(state, input->size + 1), kind = any(state, 8), from;
    const char *word = token[any(state, TOKENS)];

    if (kind == 0 || input->size == 0) {
        insert(input, at, word, strlen(word));
        return;
    }
    at = any(state, input->size);
    switch (kind) {
    case 1:
        input->data[at] ^= (uint8_t)(1 << any(state, 8));
        break;
    case 2:
        input->data[at] = (uint8_t)any(state, 256);
        break;
    case 3:
        cut(input, at, 1 + any(state, input->size - at));
        break;
    case 4:
        repeat(input, state);
        break;
    case 5:
        cut(input, at, 1);
        insert(input, at, word, strlen(word));
        break;
    case 6: /* a piece of another seed */
        from = any(state, other->size);
        insert(input, at, other->data + from, any(state, other->size - from + 1));
        break;
    default:
        input->size = at;
    }
}

static void load(struct input *input, const char *seed)
{
    input->size = strlen(seed);
    memcpy(input->data, seed, input->size);
}

/* In memory of exactly its size, so that AddressSanitizer sees the first byte beyond. */
static void feed(const struct fuzz_target *target, const struct input *input)
{
    uint8_t *data = malloc(input->size ? input->size : 1);

    memcpy(data, input->data, input->size);
    target->one(data, input->size);
    free(data);
}

static void replay(const struct fuzz_target *target, size_t runs)
{
    static struct input input, other;
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    size_t seeds = 0;

    for (; target->seed[seeds]; seeds++) {
        load(&input, target->seed[seeds]);
        feed(target, &input);
    }
    for (size_t run = 0; run < runs; run++) {
        load(&input, target->seed[any(&state, seeds)]);
        load(&other, target->seed[any(&state, seeds)]);
        for (size_t times = 1 + any(&state, 5); times; times--)
            mutate(&input, &other, &state);
        feed(target, &input);
    }
    printf("%s: %zu inputs\n", target->name, seeds + runs);
}

static int write_seeds(const char *folder, const struct fuzz_target *target)
{
    char path[256];

    for (size_t i = 0; target->seed[i]; i++) {
        FILE *file;

        snprintf(path, sizeof(path), "%s/seed-%zu", folder, i);
        file = fopen(path, "w");
        if (!file || fputs(target->seed[i], file) < 0 || fclose(file) != 0) {
            perror(path);
            return 1;
        }
    }
    return 0;
}

static const struct fuzz_target *find(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    return NULL;
}

int main(int argc, char **argv)
{
    bool seeds = argc == 4 && strcmp(argv[1], "--seeds") == 0;
    const struct fuzz_target *one = argc > 2 ? find(argv[argc - 1]) : NULL;
    uintmax_t runs = 20000;

    if (argc > (seeds ? 4 : 3) || (argc > 2 && !one) ||
        (!seeds && argc > 1 && sscanf(argv[1], "%" SCNuMAX, &runs) != 1)) {
        fputs("usage: replay [RUNS [TARGET]] | replay --seeds DIR TARGET\n", stderr);
        return 2;
    }
    if (seeds)
        return write_seeds(argv[2], one);
    for (size_t i = 0; i < TARGETS; i++)
        if (!one || one == targets[i])
            replay(targets[i], (size_t)runs);
    return 0;
}

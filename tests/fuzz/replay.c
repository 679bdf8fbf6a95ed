/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay - every fuzz target, fed with its seeds, with what is stored for it (tests/fuzz/corpus),
 * and with mutations of both, the same in every run.
 *
 *   replay [RUNS [TARGET]]        RUNS mutations for each target (20000; fewer of slow ones)
 *   replay --file TARGET FILE..   feeds the files, as an input that crashed
 *   replay --seeds DIR TARGET     writes its seeds into the folder
 *   replay --targets              prints the names of all targets
 *   replay --dictionary           prints what breaks parsers, as libFuzzer reads it */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX 70000 /* more than a message may have */
#define SEEDS_MAX 2048

#define FUZZ_TARGET(name) &fuzz_##name,
static const struct fuzz_target *const targets[] = {
#include "tests/fuzz/targets.def"
};
#undef FUZZ_TARGET

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

struct seeds {
    size_t n;
    struct input *seed[SEEDS_MAX];
};

static void seeds_add(struct seeds *seeds, const void *data, size_t size)
{
    struct input *seed = malloc(sizeof(*seed));

    if (!seed || seeds->n == SEEDS_MAX || size > INPUT_MAX) {
        fputs("replay: a stored input too many, or too large\n", stderr);
        exit(1);
    }
    seed->size = size;
    memcpy(seed->data, data, size);
    seeds->seed[seeds->n++] = seed;
}

static void seeds_add_file(struct seeds *seeds, const char *path)
{
    static uint8_t data[INPUT_MAX + 1];
    FILE *file = fopen(path, "r");

    if (!file) {
        perror(path);
        exit(1);
    }
    seeds_add(seeds, data, fread(data, 1, sizeof(data), file));
    fclose(file);
}

static int no_dots(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* What is stored, in the order of the names, wherever the tree lies. */
static void seeds_add_folder(struct seeds *seeds, const char *name)
{
    const char *source = getenv("srcdir");
    struct dirent **entry;
    char folder[512], path[1024];
    int n;

    snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", source ? source : ".", name);
    n = scandir(folder, &entry, no_dots, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
        seeds_add_file(seeds, path);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

static void seeds_free(struct seeds *seeds)
{
    for (size_t i = 0; i < seeds->n; i++)
        free(seeds->seed[i]);
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
    static struct input input;
    struct seeds seeds = {.n = 0};
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

    for (size_t i = 0; target->seed[i]; i++)
        seeds_add(&seeds, target->seed[i], strlen(target->seed[i]));
    seeds_add_folder(&seeds, target->name);
    for (size_t i = 0; i < seeds.n; i++)
        feed(target, seeds.seed[i]);
    runs /= target->slow ? target->slow : 1;
    for (size_t run = 0; run < runs; run++) {
        const struct input *seed = seeds.seed[any(&state, seeds.n)];
        const struct input *other = seeds.seed[any(&state, seeds.n)];

        input.size = seed->size;
        memcpy(input.data, seed->data, seed->size);
        for (size_t times = 1 + any(&state, 5); times; times--)
            mutate(&input, other, &state);
        feed(target, &input);
    }
    printf("%s: %zu inputs\n", target->name, seeds.n + runs);
    seeds_free(&seeds);
}

static int replay_files(const char *name, char *const *path)
{
    const struct fuzz_target *target = fuzz_find(name);
    struct seeds seeds = {.n = 0};

    if (!target) {
        fprintf(stderr, "replay: %s: no such target\n", name);
        return 2;
    }
    for (; *path; path++)
        seeds_add_file(&seeds, *path);
    for (size_t i = 0; i < seeds.n; i++)
        feed(target, seeds.seed[i]);
    printf("%s: %zu inputs\n", name, seeds.n);
    seeds_free(&seeds);
    return 0;
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

static void print_targets(void)
{
    for (size_t i = 0; i < TARGETS; i++)
        puts(targets[i]->name);
}

static void print_dictionary(void)
{
    for (size_t i = 0; i < TOKENS; i++) {
        putchar('"');
        for (const char *c = token[i]; *c; c++)
            if (isprint((unsigned char)*c) && *c != '"' && *c != '\\')
                putchar(*c);
            else
                printf("\\x%02x", (unsigned char)*c);
        puts("\"");
    }
}

static int usage(void)
{
    fputs("usage: replay [RUNS [TARGET]] | --file TARGET FILE.. | --seeds DIR TARGET | --targets | "
          "--dictionary\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const struct fuzz_target *one = NULL;
    uintmax_t runs = 20000;

    if (argc > 3 && strcmp(argv[1], "--file") == 0)
        return replay_files(argv[2], argv + 3);
    if (argc == 4 && strcmp(argv[1], "--seeds") == 0)
        return (one = fuzz_find(argv[3])) ? write_seeds(argv[2], one) : usage();
    if (argc == 2 && strcmp(argv[1], "--targets") == 0)
        return print_targets(), 0;
    if (argc == 2 && strcmp(argv[1], "--dictionary") == 0)
        return print_dictionary(), 0;
    if (argc > 3 || (argc > 1 && sscanf(argv[1], "%" SCNuMAX, &runs) != 1) ||
        (argc > 2 && !(one = fuzz_find(argv[2]))))
        return usage();
    for (size_t i = 0; i < TARGETS; i++)
        if (!one || one == targets[i])
            replay(targets[i], (size_t)runs);
    return 0;
}

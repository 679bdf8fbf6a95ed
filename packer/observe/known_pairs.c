/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_pairs - see known_pairs.h */
#include "packer/observe/known_pairs.h"

#include <math.h>
#include <time.h>

#include "packer/steps/program.h"

struct loading {
    struct packer *packer;
    time_t now;
};

/* Translates a row. Returns -1 where there are no numbers for its programs. */
static int pair_of(struct packer *packer, const struct profile_pair *row, time_t now,
                   struct pair *pair)
{
    size_t number = programs_number(&packer->programs, row->key);

    *pair = (struct pair){.slowdown = row->slowdown,
                          .error = row->error,
                          .windows = row->windows,
                          .age_s = fmax((double)(now - row->measured_at), 0)};
    if (number == PROGRAM_NONE || row->cores > UINT16_MAX)
        return -1;
    pair->self = (struct pair_part){(uint16_t)number, (uint16_t)row->cores};
    for (size_t i = 0; i < row->n; i++) {
        number = programs_number(&packer->programs, row->beside[i].key);
        if (number == PROGRAM_NONE || row->beside[i].cores > UINT16_MAX ||
            pair_add(pair, (uint16_t)number, (uint16_t)row->beside[i].cores) < 0)
            return -1;
    }
    return 0;
}

static int load(const struct profile_pair *row, void *arg)
{
    struct loading *loading = arg;
    struct program *program;
    struct pair pair;

    if (pair_of(loading->packer, row, loading->now, &pair) < 0)
        return 0;
    pairs_put(&loading->packer->pairs, &pair);
    program = &loading->packer->programs.program[pair.self.program];
    program->windows += pair.windows;
    program->asked = true;
    return 0;
}

static void load_pairs(struct packer *packer, const char *key, size_t most)
{
    struct loading loading = {packer, time(NULL)};
    uint64_t days = packer->conf.profile_age_days;
    struct berth_error err;

    if (profiles_each_pair(packer->profiles, key, packer->machine_type,
                           days ? loading.now - (int64_t)days * 86400 : 0, most, load, &loading,
                           &err) < 0)
        log_debug("profiles: %s", err.text); /* who opened the store has told it */
}

void known_pairs_open(struct packer *packer)
{
    load_pairs(packer, NULL, KNOWN_PAIRS_MAX);
}

void known_pairs_begin(struct packer *packer, const struct step *step)
{
    struct program *program;
    char key[PROFILE_KEY_MAX];

    if (step->program == PROGRAM_NONE)
        return;
    program = &packer->programs.program[step->program];
    if (program->asked)
        return;
    program->asked = true;
    program_key(step, key);
    load_pairs(packer, key, KNOWN_PAIRS_OF_ONE);
}

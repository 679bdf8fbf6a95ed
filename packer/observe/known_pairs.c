/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_pairs - see known_pairs.h */
#include "packer/observe/known_pairs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/profiles/profiles.h"
#include "packer/steps/pairs.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"

struct loading {
    const struct packer *packer;
    size_t program; /* the one that is asked for; PROGRAM_NONE: all */
    time_t now;
};

/* Returns the number of a program that a row names. One of root's stands for every user's: for that
 * which is asked for, or for one that runs now. */
static size_t number_of(const struct loading *loading, uint32_t uid, const char *key)
{
    struct programs *programs = &loading->packer->steps->programs;
    size_t number = PROGRAM_NONE;

    if (uid == PROFILE_EVERYBODY && loading->program != PROGRAM_NONE)
        number = strcmp(programs->program[loading->program].key, key) == 0
                     ? loading->program
                     : programs_find_live(programs, key);
    return number != PROGRAM_NONE ? number : programs_number(programs, uid, key);
}

/* Translates a row. Returns -1 where there are no numbers for its programs. */
static int pair_of(const struct loading *loading, const struct profile_pair *row, struct pair *pair)
{
    size_t number = number_of(loading, row->uid, row->key);

    *pair = (struct pair){.slowdown = row->slowdown,
                          .error = row->error,
                          .windows = row->windows,
                          .age_s = fmax((double)(loading->now - row->measured_at), 0)};
    if (number == PROGRAM_NONE || row->cores > UINT16_MAX)
        return -1;
    pair->self = (struct pair_part){(uint16_t)number, (uint16_t)row->cores};
    for (size_t i = 0; i < row->n; i++) {
        number = number_of(loading, row->beside[i].uid, row->beside[i].key);
        if (number == PROGRAM_NONE || row->beside[i].cores > UINT16_MAX ||
            pair_add(pair, (uint16_t)number, (uint16_t)row->beside[i].cores) < 0)
            return -1;
    }
    return 0;
}

static int load(const struct profile_pair *row, void *arg)
{
    const struct loading *loading = arg;
    struct program *program;
    struct pair pair;

    if (pair_of(loading, row, &pair) < 0)
        return 0;
    pairs_put(&loading->packer->steps->pairs, &pair);
    program = &loading->packer->steps->programs.program[pair.self.program];
    program->windows += pair.windows;
    if (row->uid == program->uid)
        program->asked = true;
    return 0;
}

static void load_pairs(const struct packer *packer, size_t program, enum profile_pairs which,
                       size_t most)
{
    struct loading loading = {packer, program, time(NULL)};
    uint64_t days = packer->world.conf.profile_age_days;
    struct profile_pairs_query query = {.machine = packer->world.machine_type,
                                        .which = which,
                                        .oldest = days ? loading.now - (int64_t)days * 86400 : 0,
                                        .most = most};
    struct berth_error err;
    char key[PROFILE_KEY_MAX];

    if (program != PROGRAM_NONE) {
        query.uid = packer->steps->programs.program[program].uid;
        snprintf(key, sizeof(key), "%s", packer->steps->programs.program[program].key);
        query.key = key;
    }
    if (profiles_each_pair(packer->state->profiles, &query, load, &loading, &err) < 0)
        log_debug("profiles: %s", err.text); /* who opened the store has told it */
}

static void known_pairs_open(const struct packer *packer)
{
    load_pairs(packer, PROGRAM_NONE, PROFILE_PAIRS_USERS, KNOWN_PAIRS_MAX);
}

void known_pairs_begin(const struct packer *packer, struct step *step)
{
    struct program *program;

    if (step->program == PROGRAM_NONE)
        return;
    program = &packer->steps->programs.program[step->program];
    if (!program->asked_root) {
        program->asked_root = true;
        load_pairs(packer, step->program, PROFILE_PAIRS_ROOT, KNOWN_PAIRS_OF_ONE);
        program = &packer->steps->programs.program[step->program]; /* more programs may have come */
    }
    if (program->asked || program->uid == PROFILE_EVERYBODY)
        return;
    program->asked = true;
    load_pairs(packer, step->program, PROFILE_PAIRS_OF, KNOWN_PAIRS_OF_ONE);
}

/* ---- the stage ---- */

static int open_pairs(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    known_pairs_open(packer);
    return 0;
}

static void free_pairs(const struct packer *packer)
{
    pairs_free(&packer->steps->pairs);
}

const struct stage pairs_stage = {
    .name = "pairs",
    .open = open_pairs,
    .close = free_pairs,
    .begin = known_pairs_begin,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* phases - see phases.h */
#include "packer/size/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* The phases of one program. */
struct owner {
    TAILQ_ENTRY(owner) link;
    uint64_t id;
    unsigned numbers; /* given out */
    size_t n;
    struct size_phase phase[PHASES_OF_ONE];
};

struct phases {
    TAILQ_HEAD(owners, owner) owners; /* the one that was asked for last is the first */
    size_t n;
    uint64_t asked;
};

struct phases *phases_open(void)
{
    struct phases *phases = calloc(1, sizeof(*phases));

    if (phases)
        TAILQ_INIT(&phases->owners);
    return phases;
}

static void owner_drop(struct phases *phases, struct owner *owner)
{
    TAILQ_REMOVE(&phases->owners, owner, link);
    for (size_t i = 0; i < owner->n; i++)
        traffic_free(&owner->phase[i].traffic);
    free(owner);
    phases->n--;
}

void phases_close(struct phases *phases)
{
    struct owner *owner;

    while (phases && (owner = TAILQ_FIRST(&phases->owners)))
        owner_drop(phases, owner);
    free(phases);
}

/* Finds an owner, and puts it in front. */
static struct owner *owner_of(struct phases *phases, uint64_t id)
{
    struct owner *owner;

    TAILQ_FOREACH(owner, &phases->owners, link)
    if (owner->id == id)
        break;
    if (!owner)
        return NULL;
    TAILQ_REMOVE(&phases->owners, owner, link);
    TAILQ_INSERT_HEAD(&phases->owners, owner, link);
    return owner;
}

static struct owner *owner_add(struct phases *phases, uint64_t id)
{
    struct owner *owner = calloc(1, sizeof(*owner));

    if (!owner)
        return NULL;
    owner->id = id;
    TAILQ_INSERT_HEAD(&phases->owners, owner, link);
    if (++phases->n > PHASES_PROGRAMS)
        owner_drop(phases, TAILQ_LAST(&phases->owners, owners));
    return owner;
}

static bool looks_like(const struct size_phase *phase, const struct opticore_signature *signature)
{
    for (size_t i = 0; i < phase->signatures; i++)
        if (opticore_same(&phase->signature[i], signature))
            return true;
    return false;
}

struct size_phase *phases_find(struct phases *phases, uint64_t id,
                               const struct opticore_signature *signature, const struct cpus *nodes)
{
    struct owner *owner = owner_of(phases, id);

    for (size_t i = 0; owner && i < owner->n; i++) {
        struct size_phase *phase = &owner->phase[i];

        if (!cpus_subset(nodes, &phase->nodes) || !looks_like(phase, signature))
            continue;
        phase->used = ++phases->asked;
        return phase;
    }
    return NULL;
}

struct size_phase *phases_get(struct phases *phases, uint64_t id, unsigned number)
{
    struct owner *owner = owner_of(phases, id);

    for (size_t i = 0; owner && i < owner->n; i++)
        if (owner->phase[i].number == number)
            return &owner->phase[i];
    return NULL;
}

/* Returns the room of the phase that was seen longest ago. */
static struct size_phase *oldest(struct owner *owner)
{
    struct size_phase *oldest = &owner->phase[0];

    for (size_t i = 1; i < owner->n; i++)
        if (owner->phase[i].used < oldest->used)
            oldest = &owner->phase[i];
    return oldest;
}

struct size_phase *phases_add(struct phases *phases, uint64_t id,
                              const struct opticore_signature *signature, const struct cpus *nodes)
{
    struct owner *owner = owner_of(phases, id);
    struct size_phase *phase;

    if (!owner && !(owner = owner_add(phases, id)))
        return NULL;
    phase = owner->n < PHASES_OF_ONE ? &owner->phase[owner->n++] : oldest(owner);
    traffic_free(&phase->traffic);
    *phase = (struct size_phase){
        .number = ++owner->numbers, .nodes = *nodes, .stay_s = NAN, .used = ++phases->asked};
    phase_looks(phase, signature);
    return phase;
}

void phase_looks(struct size_phase *phase, const struct opticore_signature *signature)
{
    if (looks_like(phase, signature))
        return;
    if (phase->signatures == PHASES_SIGNATURES)
        memmove(&phase->signature[1], &phase->signature[2],
                (PHASES_SIGNATURES - 2) * sizeof(phase->signature[0]));
    else
        phase->signatures++;
    phase->signature[phase->signatures - 1] = *signature;
}

void phase_stayed(struct size_phase *phase, double stay_s)
{
    double sum = phase->stays ? phase->stay_s * phase->stays : 0;

    phase->stay_s = (sum + stay_s) / (phase->stays + 1);
    phase->stays++;
}

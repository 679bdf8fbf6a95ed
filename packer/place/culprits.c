/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprits - see culprits.h. Of each cache those few are noted that press on it most, so that many
 * steps on one cache cost no more than a look at each. */
#include "packer/place/culprits.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/place/forecast.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"

#define ON_A_CACHE 4 /* who presses most */
#define TOLD 3
#define WORTH 0.1 /* of what all press, to be named */

struct presser {
    const struct step *step;
    double presses;
};

/* ---- who is on a cache ---- */

/* Keeps the presser among the most, in their order. */
static void keep_most(struct presser most[ON_A_CACHE], struct presser one)
{
    for (size_t i = 0; i < ON_A_CACHE; i++)
        if (one.presses > most[i].presses) {
            struct presser next = most[i];

            most[i] = one;
            one = next;
        }
}

/* Returns how hard a step presses on the cache: each of its cores there. */
static double pressure(const struct packer *packer, const struct step *step, const struct cpus *llc)
{
    struct cpus there = *step_stands(step);

    cpus_and(&there, llc);
    if (step->slot == FORECAST_IDLE || cpus_count(&there) == 0)
        return 0;
    return (double)cpus_count(&there) *
           forecast_figures(packer->state->forecast, step->slot).presses;
}

/* ---- what is noted of a step ---- */

/* What has pressed on it until now is added up. */
static void settle(struct step_slowdown *slowdown, double now_s)
{
    for (size_t i = 0; i < STEP_CULPRITS; i++) {
        struct culprit *culprit = &slowdown->culprit[i];

        culprit->sum += culprit->presses * (now_s - slowdown->culprits_s);
        culprit->presses = 0;
    }
    slowdown->culprits_s = now_s;
}

/* Returns the row of a program: its own, or else that of who has pressed least until now. */
static struct culprit *row_of(struct step_slowdown *slowdown, const char *program)
{
    struct culprit *least = NULL;

    for (size_t i = 0; i < STEP_CULPRITS; i++) {
        struct culprit *row = &slowdown->culprit[i];

        if (strcmp(row->program, program) == 0)
            return row;
        if (row->presses == 0 && (!least || row->sum < least->sum))
            least = row;
    }
    if (least) {
        *least = (struct culprit){.sum = 0};
        snprintf(least->program, sizeof(least->program), "%s", program);
    }
    return least;
}

/* Notes that somebody presses on the step. */
static void note(const struct packer *packer, struct step *step, const struct presser *presser)
{
    char program[STEP_CULPRIT_MAX];
    struct culprit *row;

    if (presser->step == step ||
        (packer->world.private_data && presser->step->request.uid != step->request.uid))
        return;
    snprintf(program, sizeof(program), "%.*s", (int)sizeof(program) - 1,
             program_command(&presser->step->request));
    row = program[0] ? row_of(&step->slowdown, program) : NULL;
    if (row)
        row->presses += presser->presses;
}

void culprits_note(const struct packer *packer, double now_s)
{
    const struct topo *topo = packer->world.topo;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link) settle(&step->slowdown, now_s);
    for (size_t llc = 0; forecast_known(packer) && llc < topo->llcs; llc++) {
        struct presser most[ON_A_CACHE] = {{0}};

        TAILQ_FOREACH(step, &packer->steps->live, link)
        keep_most(most, (struct presser){step, pressure(packer, step, &topo->llc[llc].cpus)});
        TAILQ_FOREACH(step, &packer->steps->live, link)
        for (size_t i = 0; i < ON_A_CACHE && most[i].step; i++)
            if (cpus_intersect(step_stands(step), &topo->llc[llc].cpus))
                note(packer, step, &most[i]);
    }
}

/* ---- what is told ---- */

/* Returns who of those that were not told yet has pressed most; NULL: nobody. */
static struct culprit *next_of(struct step_slowdown *slowdown)
{
    struct culprit *most = NULL;

    for (size_t i = 0; i < STEP_CULPRITS; i++)
        if (slowdown->culprit[i].sum > (most ? most->sum : 0))
            most = &slowdown->culprit[i];
    return most;
}

const char *culprits_of(const struct step *step, double now_s, char *text, size_t size)
{
    struct step_slowdown slowdown = step->slowdown;
    struct culprit *next;
    double all = 0;

    settle(&slowdown, now_s);
    for (size_t i = 0; i < STEP_CULPRITS; i++)
        all += slowdown.culprit[i].sum;
    text[0] = '\0';
    for (size_t i = 0; i < TOLD && (next = next_of(&slowdown)) && next->sum >= WORTH * all; i++) {
        text_append(text, size, "%s%s", text[0] ? ", " : "", next->program);
        next->sum = 0;
    }
    return text[0] ? text : NULL;
}

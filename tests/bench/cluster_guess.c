/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_guess - see cluster_guess.h */
#include "tests/bench/cluster_guess.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"

static void count(struct app *app, const double factor[DAY_NOISIES])
{
    double misses = app->llc_mpki * factor[DAY_MISSES] / factor[DAY_INSTRUCTIONS];

    app->ipc *= factor[DAY_INSTRUCTIONS];
    app->llc_apki *= factor[DAY_ACCESSES] / factor[DAY_INSTRUCTIONS];
    app->llc_mpki = misses > app->llc_apki ? app->llc_apki : misses;
    app->mem_gbps *= factor[DAY_BYTES];
}

static void draw(struct day_truth *guess, const struct day_truth *truth,
                 const struct day_noise *noise, uint64_t seed)
{
    for (size_t k = 0; k < guess->apps.n; k++) {
        double factor[DAY_NOISIES];

        guess->apps.app[k] = truth->apps.app[k / CLUSTER_KINDS];
        guess->apps.name[k] = truth->apps.name[k / CLUSTER_KINDS];
        day_noise_at(noise, seed, (uint32_t)k + 1, 0, factor);
        if (day_noise_is_on(noise))
            count(&guess->apps.app[k], factor);
    }
}

/* What i on its cores takes longer beside j on its. */
static int predict(struct day_truth *guess, const struct contend *contend, size_t i, size_t j)
{
    size_t own = guess->apps.app[i].cores, other = guess->apps.app[j].cores,
           member[CONTEND_GROUP_MAX];
    double slow[CONTEND_GROUP_MAX], alone[CONTEND_GROUP_MAX];

    if (own + other > CONTEND_GROUP_MAX)
        return -1;
    for (size_t c = 0; c < own + other; c++)
        member[c] = c < own ? i : j;
    if (contend_group(contend, own, member, alone) < 0 ||
        contend_group(contend, own + other, member, slow) < 0)
        return -1;
    slow[0] = (1 + slow[0]) / (1 + alone[0]) - 1;
    guess->slowdown[i * guess->apps.n + j] = slow[0] > 0 ? slow[0] : 0;
    return 0;
}

static int fill(struct day_truth *guess, const struct contend *contend)
{
    for (size_t i = 0; i < guess->apps.n; i++)
        for (size_t j = 0; j < guess->apps.n; j++)
            if (predict(guess, contend, i, j) < 0)
                return -1;
    return 0;
}

static void learn(struct day_truth *guess, const struct day_truth *truth, double learned)
{
    for (size_t i = 0; i < guess->apps.n; i++)
        for (size_t j = 0; j < guess->apps.n; j++) {
            double *pair = &guess->slowdown[i * guess->apps.n + j];

            *pair = learned * day_truth_pair(truth, i / CLUSTER_KINDS, j / CLUSTER_KINDS) +
                    (1 - learned) * *pair;
        }
}

int cluster_guess_open(struct day_truth *guess, const struct day_truth *truth,
                       const struct day_noise *noise, uint64_t seed, double learned,
                       struct berth_error *err)
{
    size_t n = truth->apps.n * CLUSTER_KINDS;
    struct contend *contend = NULL;
    int rc = -1;

    *guess = *truth;
    guess->input = NULL;
    guess->apps.hits = NULL;
    guess->apps.n = n;
    guess->apps.app = calloc(n, sizeof(*guess->apps.app));
    guess->apps.name = calloc(n, sizeof(*guess->apps.name));
    guess->slowdown = calloc(n * n, sizeof(*guess->slowdown));
    if (guess->apps.app && guess->apps.name && guess->slowdown) {
        draw(guess, truth, noise, seed);
        contend = contend_new(n, guess->apps.app, &guess->apps.machine, NULL);
        rc = contend ? fill(guess, contend) : -1;
        learn(guess, truth, learned);
    }
    contend_free(contend);
    if (rc == 0)
        return 0;
    cluster_guess_free(guess);
    return berth_error_set(err, "the programs cannot be studied: %s", strerror(errno));
}

void cluster_guess_free(struct day_truth *guess)
{
    free(guess->apps.app);
    free(guess->apps.name);
    free(guess->slowdown);
    *guess = (struct day_truth){0};
}

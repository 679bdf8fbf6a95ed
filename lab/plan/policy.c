/* SPDX-License-Identifier: GPL-2.0-or-later */
/* policy - the policies of `berthctl plan`: how each places a workload, and how well.
 *
 * DI and DIO-POWER place by rule. The others have an opinion of what a group of programs suffers on
 * one cache, and the division of least suffering is searched for (partition.h). All of them are
 * judged by one standard: the measured degradations, else what contend predicts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/partition.h"
#include "models/placing/cluster.h"
#include "models/placing/dio_power.h"
#include "models/slowdown/animal.h"
#include "models/slowdown/missrate.h"
#include "models/slowdown/pain.h"
#include "models/slowdown/sdc.h"
#include "packer/base/clock.h"
#include "lab/plan/plan.h"
#include "lab/plan/predict.h"
#include "lab/plan/siblings.h"

#define PATIENCE 60 /* disturbances in vain: apps are many, and costs take microseconds */

/* Searches end by what they have looked at, and not by the clock, so that every machine finds the
 * same: units whose cost was asked for, for the policy that places, and for those that are only
 * compared with it. */
#define LOOKS 500000
#define LOOKS_ASIDE 50000

struct policy {
    const char *name;
    /* 0, or -1 and what the input lacks for it; NULL: it needs nothing. */
    int (*has)(const struct ctl_plan *plan, struct berth_error *why);
    /* By rule: fill core[]. */
    int (*place)(const struct ctl_plan *plan, size_t *core);
    /* By search: what two apps suffer from each other, from one core of the other each. */
    struct app_pair (*pair)(const struct ctl_plan *plan, size_t a, size_t b);
    bool judge; /* it searches for what it will be judged by, where it is the judge */
};

/* ---- what a policy needs ---- */

static int has_profiles(const struct ctl_plan *plan, struct berth_error *why)
{
    for (size_t i = 0; i < plan->apps.n; i++)
        if (plan->apps.app[i].sdp.ways == 0)
            return berth_error_set(why, "apps[%zu].sdp: missing", i);
    return 0;
}

static int has_rates(const struct ctl_plan *plan, struct berth_error *why)
{
    for (size_t i = 0; i < plan->apps.n; i++)
        if (isnan(missrate_of(&plan->apps.app[i])))
            return berth_error_set(why, "apps[%zu].llc_mpki: missing, and there is no sdp", i);
    return 0;
}

static int has_matrix(const struct ctl_plan *plan, struct berth_error *why)
{
    return plan->measured.file ? 0
                               : berth_error_set(why, "measured degradations: --matrix is missing");
}

static int has_contend(const struct ctl_plan *plan, struct berth_error *why)
{
    return plan->contend ? 0 : berth_error_set(why, "too little is known of the programs");
}

/* ---- by rule ---- */

static int place_di(const struct ctl_plan *plan, size_t *core)
{
    memcpy(core, plan->by_di, plan->cores * sizeof(*core));
    return 0;
}

static int place_dio_power(const struct ctl_plan *plan, size_t *core)
{
    const struct cluster_rule rule = {DIO_POWER_DEVIL_MISS_PMI, plan->printed};
    struct cluster_unit *unit = calloc(plan->cores, sizeof(*unit));
    size_t n = 0;
    int rc = -1;

    for (size_t i = 0; unit && i < plan->apps.n; i++) {
        size_t cores = plan->apps.app[i].cores, pieces = ctl_plan_apart(plan, i) ? cores : 1;

        for (size_t j = 0; j < pieces; j++)
            unit[n++] = (struct cluster_unit){{ctl_plan_rank(plan, i), cores / pieces}, true};
    }
    if (unit)
        rc = cluster_place(&plan->tree.machine, &rule, NULL, n, unit, core);
    free(unit);
    return rc;
}

/* ---- by search: opinions of pairs ---- */

static struct app_pair pair_missrate(const struct ctl_plan *plan, size_t a, size_t b)
{
    return missrate_pair(missrate_of(&plan->apps.app[a]), missrate_of(&plan->apps.app[b]));
}

static struct app_pair pair_pain(const struct ctl_plan *plan, size_t a, size_t b)
{
    struct pain first = pain_of(&plan->apps.app[a].sdp), second = pain_of(&plan->apps.app[b].sdp);

    return pain_pair(&first, &second);
}

/* Scores a pair on the machine's cache, else on one with the ways of the larger profile. */
static struct app_pair pair_sdc(const struct ctl_plan *plan, size_t a, size_t b)
{
    const struct app_sdp *first = &plan->apps.app[a].sdp, *second = &plan->apps.app[b].sdp;
    size_t ways = plan->apps.machine.llc_ways;

    if (ways == 0)
        ways = first->ways > second->ways ? first->ways : second->ways;
    return sdc_pair(first, second, ways);
}

static struct app_pair pair_animal(const struct ctl_plan *plan, size_t a, size_t b)
{
    const struct animal_limits limits = {.devil_miss_pmi = ANIMAL_DEVIL_MISS_PMI,
                                         .turtle_access_pmi = ANIMAL_TURTLE_ACCESS_PMI,
                                         .rabbit_loss_pmi = ANIMAL_RABBIT_LOSS_PMI};

    return animal_pair(animal_of(&plan->apps.app[a].sdp, &limits),
                       animal_of(&plan->apps.app[b].sdp, &limits));
}

static struct app_pair pair_measured(const struct ctl_plan *plan, size_t a, size_t b)
{
    size_t x = (size_t)ctl_matrix_index(&plan->measured, plan->apps.name[a]);
    size_t y = (size_t)ctl_matrix_index(&plan->measured, plan->apps.name[b]);

    return (struct app_pair){.a_given_b = ctl_matrix_at(&plan->measured, x, y),
                             .b_given_a = ctl_matrix_at(&plan->measured, y, x)};
}

static const struct policy policies[CTL_PLAN_POLICIES] = {
    {"perfect", has_matrix, NULL, pair_measured, true},
    {"contend", has_contend, NULL, NULL, true},
    {"di", NULL, place_di, NULL, false},
    {"dio-power", NULL, place_dio_power, NULL, false},
    {"missrate", has_rates, NULL, pair_missrate, false},
    {"pain", has_profiles, NULL, pair_pain, false},
    {"sdc", has_profiles, NULL, pair_sdc, false},
    {"animal", has_profiles, NULL, pair_animal, false},
};

static const struct policy *find_policy(const char *name)
{
    for (size_t i = 0; i < CTL_PLAN_POLICIES; i++)
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    return NULL;
}

bool ctl_plan_policy_known(const char *name, struct nearest *meant)
{
    *meant = nearest_begin(name);
    for (size_t i = 0; i < CTL_PLAN_POLICIES; i++)
        nearest_try(meant, policies[i].name);
    return find_policy(name) != NULL;
}

/* ---- what a group suffers ---- */

/* Holds a policy's opinion of units. */
struct opinion {
    const struct ctl_plan *plan;
    double *suffers; /* [units * units] row i: what i suffers beside each; NULL: ask contend */
    double *each;    /* [units] the last answer */
    struct ctl_plan_limit *limit; /* of the search; NULL: none is under way */
};

/* Finds what each of n units suffers beside the others, into each[0..n-1]. */
static void suffer(const struct opinion *opinion, size_t n, const size_t *member)
{
    double *each = opinion->each;

    if (!opinion->suffers) {
        ctl_plan_beside(opinion->plan, n, member, each);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double *row = &opinion->suffers[member[i] * opinion->plan->units];

        each[i] = 0;
        for (size_t j = 0; j < n; j++)
            each[i] += row[member[j]];
    }
}

static double cost(const size_t *member, size_t n, void *arg)
{
    const struct opinion *opinion = arg;
    double sum = 0;

    opinion->limit->looks += n;
    suffer(opinion, n, member);
    if (!opinion->suffers)
        return ctl_plan_lost(opinion->plan, n, member, opinion->each) +
               ctl_plan_broken(opinion->plan, n, member);
    for (size_t i = 0; i < n; i++)
        sum += opinion->each[i] * opinion->plan->unit[member[i]].part;
    return sum + ctl_plan_broken(opinion->plan, n, member);
}

/* Asks the policy about each pair of units. Two parts of one app suffer nothing from each other,
 * but where its threads count as one each. Measured degradation is that beside the whole app; the
 * schemes' scores grow with the other's cores. */
static int opinion_form(struct opinion *opinion, const struct ctl_plan *plan,
                        const struct policy *policy)
{
    size_t n = plan->units;

    *opinion = (struct opinion){.plan = plan, .each = calloc(n, sizeof(*opinion->each))};
    if (!opinion->each)
        return -1;
    if (!policy->pair)
        return 0;
    opinion->suffers = calloc(n * n, sizeof(*opinion->suffers));
    if (!opinion->suffers)
        return -1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const struct ctl_plan_unit *a = &plan->unit[i], *b = &plan->unit[j];
            struct app_pair pair = {0};

            if (a->app != b->app || (!policy->judge && ctl_plan_apart(plan, a->app)))
                pair = policy->pair(plan, a->app, b->app);
            if (!policy->judge) {
                pair.a_given_b *= (double)plan->unit_cores[j];
                pair.b_given_a *= (double)plan->unit_cores[i];
            }
            opinion->suffers[i * n + j] = pair.a_given_b;
            opinion->suffers[j * n + i] = pair.b_given_a;
        }
    return 0;
}

static void opinion_free(struct opinion *opinion)
{
    free(opinion->suffers);
    free(opinion->each);
}

/* ---- between placements and divisions ---- */

static size_t caches(const struct ctl_plan *plan)
{
    return plan->tree.level[TOPO_CACHE].count;
}

static void divide(const struct ctl_plan *plan, const size_t *core, size_t *cache)
{
    for (size_t i = 0; i < plan->units; i++)
        cache[i] = plan->tree.parent[TOPO_CORE][core[plan->unit[i].first]];
}

/* Spreads the groups of a division over the caches as DI spreads threads. Which cache a group is on
 * makes no difference to the group where the caches are alike, but to the memory behind them. */
static int spread(const struct ctl_plan *plan, size_t *cache)
{
    struct di_machine machine = {.depth = TOPO_CACHE + 1, .level = plan->tree.level};
    struct di_unit *group = calloc(caches(plan), sizeof(*group));
    size_t *place = calloc(caches(plan), sizeof(*place));
    int rc = group && place ? 0 : -1;
    bool alike = true;

    for (size_t i = 0; rc == 0 && i < caches(plan); i++) {
        alike = alike && plan->room[i] == plan->room[0];
        group[i].cores = 1;
    }
    for (size_t i = 0; rc == 0 && i < plan->units; i++)
        group[cache[i]].miss_pmi +=
            ctl_plan_rank(plan, plan->unit[i].app) * (double)plan->unit_cores[i];
    if (rc == 0 && alike)
        rc = di_place(&machine, caches(plan), group, place);
    for (size_t i = 0; rc == 0 && alike && i < plan->units; i++)
        cache[i] = place[cache[i]];
    free(group);
    free(place);
    return rc;
}

/* Gives each unit the next free cores of its cache. */
static int settle(const struct ctl_plan *plan, const size_t *cache, size_t *core)
{
    size_t *next = calloc(caches(plan), sizeof(*next));

    if (!next)
        return -1;
    for (size_t i = plan->tree.level[TOPO_CORE].count; i-- > 0;)
        next[plan->tree.parent[TOPO_CORE][i]] = i;
    for (size_t i = 0; i < plan->units; i++)
        for (size_t j = 0; j < plan->unit_cores[i]; j++)
            core[plan->unit[i].first + j] = next[cache[i]]++;
    free(next);
    return 0;
}

/* Searches for the division that suffers least in the policy's opinion. */
static int place_by_search(const struct ctl_plan *plan, const struct policy *policy,
                           struct ctl_plan_limit *limit, size_t *core,
                           struct partition_found *found)
{
    size_t *start = calloc(2 * plan->units, sizeof(*start)), *cache = start + plan->units;
    struct opinion opinion = {0};
    int rc = -1;

    if (start && opinion_form(&opinion, plan, policy) == 0) {
        const struct partition partition = {.n = plan->units,
                                            .cores = plan->unit_cores,
                                            .kind = plan->unit_kind,
                                            .groups = caches(plan),
                                            .room = plan->room,
                                            .cost = cost,
                                            .arg = &opinion,
                                            .pairwise = opinion.suffers != NULL,
                                            .stop = ctl_plan_limit_is_over,
                                            .stop_arg = limit,
                                            .start = start,
                                            .patience = PATIENCE};

        opinion.limit = limit;
        divide(plan, plan->by_di, start);
        rc = partition_solve(&partition, cache, found);
        if (rc == 0)
            rc = spread(plan, cache);
        if (rc == 0 && (plan->joined || plan->assumed) && !opinion.suffers) {
            bool best = false;

            rc = ctl_plan_improve(plan, limit, cache, &best);
            found->optimal = best;
        }
        if (rc == 0)
            rc = settle(plan, cache, core);
    }
    opinion_free(&opinion);
    free(start);
    return rc;
}

static int place(const struct ctl_plan *plan, const struct policy *policy,
                 struct ctl_plan_limit *limit, size_t *core, struct partition_found *found)
{
    *found = (struct partition_found){.total = NAN};
    return policy->place ? policy->place(plan, core)
                         : place_by_search(plan, policy, limit, core, found);
}

/* ---- how well ---- */

/* Returns the policy that judges; NULL: none can. */
static const struct policy *judge_of(const struct ctl_plan *plan)
{
    if (plan->measured.file)
        return find_policy("perfect");
    return plan->contend ? find_policy("contend") : NULL;
}

/* Fills in what each unit suffers, in the judge's opinion. */
static int suffer_all(const struct ctl_plan *plan, const struct policy *by, const size_t *cache,
                      double *each)
{
    size_t *member = calloc(plan->units, sizeof(*member));
    struct opinion opinion = {0};
    int rc = -1;

    if (!by->pair)
        rc = ctl_plan_predict(plan, cache, each);
    else if (member)
        rc = opinion_form(&opinion, plan, by);
    for (size_t i = 0; rc == 0 && by->pair && i < caches(plan); i++) {
        size_t n = 0;

        for (size_t j = 0; j < plan->units; j++)
            if (cache[j] == i)
                member[n++] = j;
        suffer(&opinion, n, member);
        for (size_t j = 0; j < n; j++)
            each[member[j]] = opinion.each[j];
    }
    opinion_free(&opinion);
    free(member);
    return rc;
}

/* Holds how good a placement is: the average slowdown of an app, the work that is lost, cores, and
 * how evenly the apps bear it: the least of their speeds by the greatest. NAN without a judge. */
struct verdict {
    double average, lost, fairness;
};

/* Returns the least of n speeds, of these slowdowns, by the greatest. */
static double fairness_of(size_t n, const double *slowdown)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, slowdown[i]);
        most = fmax(most, slowdown[i]);
    }
    return (1 + least) / (1 + most);
}

/* Judges a placement; each[] receives each app's slowdown. */
static int judge(const struct ctl_plan *plan, const size_t *core, double *each,
                 struct verdict *verdict)
{
    const struct policy *by = judge_of(plan);
    size_t *cache = calloc(plan->units, sizeof(*cache));
    double *unit = calloc(plan->units, sizeof(*unit));
    int rc = cache && unit ? 0 : -1;

    *verdict = by ? (struct verdict){0} : (struct verdict){NAN, NAN, NAN};
    for (size_t i = 0; i < plan->apps.n; i++)
        each[i] = verdict->average;
    if (rc == 0 && by) {
        divide(plan, core, cache);
        rc = suffer_all(plan, by, cache, unit);
    }
    for (size_t i = 0; rc == 0 && by && i < plan->units; i++) {
        each[plan->unit[i].app] += unit[i] * plan->unit[i].part;
        verdict->lost += (double)plan->unit_cores[i] * unit[i] / (1 + unit[i]);
    }
    for (size_t i = 0; i < plan->apps.n; i++)
        verdict->average += each[i] / (double)plan->apps.n;
    if (rc == 0 && by)
        verdict->fairness = fairness_of(plan->apps.n, each);
    free(cache);
    free(unit);
    return rc;
}

/* Returns the sum of the apps' slowdowns. */
static double sum_of(const struct ctl_plan *plan)
{
    double sum = 0;

    for (size_t i = 0; i < plan->apps.n; i++)
        sum += plan->slowdown[i];
    return sum;
}

/* Returns the miss rate of the cache that misses most, which DI evens out: the sum over its cores.
 */
static double worst_rate(const struct ctl_plan *plan, const size_t *core)
{
    double *rate = calloc(caches(plan), sizeof(*rate)), worst = rate ? 0 : NAN;

    for (size_t i = 0; rate && i < plan->units; i++)
        rate[plan->tree.parent[TOPO_CORE][core[plan->unit[i].first]]] +=
            missrate_of(&plan->apps.app[plan->unit[i].app]) * (double)plan->unit_cores[i];
    for (size_t i = 0; rate && i < caches(plan); i++)
        if (isnan(rate[i]) || rate[i] > worst)
            worst = isnan(worst) ? worst : rate[i];
    free(rate);
    return worst;
}

static void note_verdict(struct ctl_plan *plan, const struct policy *policy,
                         const struct verdict *verdict)
{
    plan->other[plan->compared].policy = policy->name;
    plan->other[plan->compared].lost = verdict->lost;
    plan->other[plan->compared].fairness = verdict->fairness;
    plan->other[plan->compared++].average = verdict->average;
}

/* Places by the other policies and judges them, as far as the input allows. */
static int compare(struct ctl_plan *plan, const struct policy *chosen)
{
    size_t *core = calloc(plan->cores, sizeof(*core));
    double *each = calloc(plan->apps.n, sizeof(*each));
    int rc = core && each ? 0 : -1;

    for (size_t i = 0; rc == 0 && i < CTL_PLAN_POLICIES; i++) {
        struct berth_error why;
        struct ctl_plan_limit limit = {.most = LOOKS_ASIDE, .end_s = INFINITY};
        struct partition_found found;
        struct verdict verdict;

        if (&policies[i] == chosen || (policies[i].has && policies[i].has(plan, &why) < 0))
            continue;
        rc = place(plan, &policies[i], &limit, core, &found);
        if (rc == 0)
            rc = judge(plan, core, each, &verdict);
        if (rc == 0)
            note_verdict(plan, &policies[i], &verdict);
        if (rc == 0 && ctl_plan_limit_is_over(&limit))
            ctl_plan_note(plan, "the search of %s, to compare with, ended after %d looks",
                          policies[i].name, LOOKS_ASIDE);
    }
    free(core);
    free(each);
    return rc;
}

int ctl_plan_place(struct ctl_plan *plan, struct berth_error *err)
{
    const struct policy *policy;
    struct ctl_plan_limit limit = {.most = plan->limit_s < 0 ? LOOKS : UINT64_MAX,
                                   .end_s =
                                       plan->limit_s < 0 ? INFINITY : clock_s() + plan->limit_s};
    struct partition_found found;
    struct berth_error why;
    struct verdict verdict;

    if (!plan->policy)
        plan->policy = judge_of(plan) ? judge_of(plan)->name : "di";
    policy = find_policy(plan->policy);
    if (policy->has && policy->has(plan, &why) < 0)
        return berth_error_set(err, "policy %s: %.400s", policy->name, why.text);
    if (place(plan, policy, &limit, plan->core, &found) < 0 ||
        ctl_plan_seat(plan, plan->core) < 0 ||
        judge(plan, plan->core, plan->slowdown, &verdict) < 0)
        return berth_error_set(err, "policy %s: %s", policy->name, strerror(errno));
    plan->lost = verdict.lost;
    plan->score = policy->place  ? worst_rate(plan, plan->core)
                  : policy->pair ? found.total
                                 : sum_of(plan);
    plan->exact = found.optimal;
    if (ctl_plan_limit_is_over(&limit) && !found.optimal && !policy->place) {
        if (plan->limit_s < 0)
            ctl_plan_note(plan,
                          "the search ended after %d looks: --time-limit S lets it "
                          "go on",
                          LOOKS);
        else
            ctl_plan_note(plan, "the time limit of %g s ended the search", plan->limit_s);
    }
    if (isnan(verdict.average))
        return 0;
    note_verdict(plan, policy, &verdict);
    if (policy == judge_of(plan) && compare(plan, policy) < 0)
        return berth_error_set(err, "policies: %s", strerror(errno));
    return 0;
}

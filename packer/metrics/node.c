/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - see node.h: the node's series, and the page that all of them make. */
#include "packer/metrics/node.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "packer/bill/bill.h"
#include "packer/energy/temperatures.h"
#include "packer/ledger/ledger.h"
#include "enum_table.h"
#include "packer/conf/conf.h"
#include "packer/counters/counters.h"

/* A sample without labels. */
static void add(struct metrics_text *text, enum metrics_id id, double value)
{
    metrics_text_add(text, &metrics_family[id], NULL, 0, value);
}

/* "perf,software", in the order in which they are asked. */
static void used_backends(const struct packer *packer, char *list, size_t size)
{
    struct counters_about about;
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; used < size && counters_about(packer->state->counters, i, &about); i++)
        if (about.used)
            used += (size_t)snprintf(list + used, size - used, "%s%s", used ? "," : "", about.name);
}

static bool has_meters(const struct packer *packer)
{
    struct bill_account account;
    struct energy_zone zone;

    return bill_zone(packer, 0, &zone, &account);
}

static void add_info(const struct packer *packer, struct metrics_text *text)
{
    char counters[64];
    const struct metrics_label label[] = {
        {"node", packer->steps->node},
        {"version", PACKAGE_VERSION},
        {"topology", packer->world.topo->name},
        {"enforcement", packer->world.enforce->way->name},
        {"counters", counters},
        {"idle_energy",
         has_meters(packer) ? conf_idle_energy_name[packer->world.conf.idle_energy] : NULL}};

    used_backends(packer, counters, sizeof(counters));
    metrics_text_add(text, &metrics_family[METRICS_NODE], label, sizeof(label) / sizeof(label[0]),
                     1);
}

static void add_states(const struct packer *packer, struct metrics_text *text)
{
    size_t count[STEP_STATES] = {0};
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    count[step->state]++;
    for (enum step_state state = STEP_NEW; state < STEP_ENDED; state++) {
        const struct metrics_label label = {"state", step_state_name[state]};

        metrics_text_add(text, &metrics_family[METRICS_STEPS], &label, 1, (double)count[state]);
    }
}

static uint64_t micro_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

/* ---- does it help? ---- */

static const char *const steps_word[] = {"placed", "observed"};

/* Gained and lost are told apart: a counter only grows. */
static void add_gains(struct metrics_text *text, enum metrics_id id, const double gain[2][2])
{
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t lost = 0; lost < 2; lost++) {
            const struct metrics_label label[] = {{"steps", steps_word[kind]},
                                                  {"outcome", lost ? "lost" : "gained"}};

            metrics_text_add(text, &metrics_family[id], label, 2, gain[kind][lost]);
        }
}

static void add_slowdowns(struct metrics_text *text, enum metrics_id id, const struct tally *tally)
{
    static const char *const by[] = {"slurm_predicted", "berth_predicted", "measured"};

    for (size_t kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < 3; i++) {
            const struct metrics_label label[] = {{"steps", steps_word[kind]}, {"by", by[i]}};
            const struct tally_slowdown *slowdown = &tally->slowdown[kind][i];

            metrics_text_add(text, &metrics_family[id], label, 2,
                             id == METRICS_SLOWDOWN ? slowdown->sum : slowdown->core_s);
        }
}

static void add_benefit(const struct packer *packer, struct metrics_text *text)
{
    static const char *const TABLE(why, PACKER_MISSED) = {ROW(PACKER_LATE) = "late",
                                                          ROW(PACKER_UNHEARD) = "unheard"};
    TABLE_COMPLETE(why);
    const struct tally *tally = packer->state->tally;

    for (size_t i = 0; i < PACKER_MISSED; i++) {
        const struct metrics_label label = {"why", why[i]};

        metrics_text_add(text, &metrics_family[METRICS_FAILED_OPEN], &label, 1,
                         (double)tally->failed_open[i]);
    }
    if (strcmp(packer->world.conf.ledger, "off") == 0) /* no slowdown is predicted of steps then */
        return;
    for (size_t known = 0; known < 2; known++) {
        const struct metrics_label label = {"predicted", known ? "yes" : "no"};

        metrics_text_add(text, &metrics_family[METRICS_ENDED], &label, 1,
                         (double)tally->steps[known]);
    }
    add_gains(text, METRICS_GAINED_CORE_TIME, tally->core_s);
    add_gains(text, METRICS_GAINED_ENERGY, tally->energy_j);
    add(text, METRICS_FREED_CORE_TIME, tally->freed_core_s);
    add_slowdowns(text, METRICS_SLOWDOWN, tally);
    add_slowdowns(text, METRICS_SLOWDOWN_CORE_TIME, tally);
}

/* What berthd itself takes of the node. */
static void add_own(const struct packer *packer, struct metrics_text *text)
{
    const struct metrics_label user = {"mode", "user"}, system = {"mode", "system"};
    char *statm = rootfs_read(&packer->world.root, "/proc/self/statm");
    struct rusage usage;
    unsigned long pages;

    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        const struct metrics_family *cpu = &metrics_family[METRICS_CPU];

        metrics_text_add_micro(text, cpu, &user, 1, micro_of(usage.ru_utime));
        metrics_text_add_micro(text, cpu, &system, 1, micro_of(usage.ru_stime));
    }
    if (statm && sscanf(statm, "%*u %lu", &pages) == 1)
        add(text, METRICS_MEMORY, (double)pages * (double)sysconf(_SC_PAGESIZE));
    free(statm);
}

static void metrics_node(const struct packer *packer, struct metrics_text *text)
{
    char why[256];

    add_info(packer, text);
    add(text, METRICS_UPTIME, clock_s() - packer->world.started_mono_s);
    add(text, METRICS_RELEASED, packer->steps->released);
    add_states(packer, text);
    add(text, METRICS_CORES, (double)packer->world.topo->cores);
    add(text, METRICS_POOL_CORES, (double)pool_count(packer->pool));
    add(text, METRICS_REGISTRATIONS, (double)packer->state->tally->registrations);
    add(text, METRICS_DECISIONS, (double)packer->state->tally->decisions);
    add(text, METRICS_MOVES, (double)packer->state->tally->moves);
    add(text, METRICS_FAILURES, (double)packer->state->tally->failures);
    add_benefit(packer, text);
    add_own(packer, text);
    if (packer->state->ledger)
        add(text, METRICS_LEDGER_WAITING, (double)ledger_waiting(packer->state->ledger, why));
}

/* ---- energy ---- */

struct zone_labels {
    char package[16];
    struct metrics_label label[4]; /* domain, package, source; room for one more */
};

static void label_zone(const struct energy_zone *zone, struct zone_labels *labels)
{
    labels->package[0] = '\0';
    if (zone->domain != ENERGY_NODE)
        snprintf(labels->package, sizeof(labels->package), "%u", zone->package);
    labels->label[0] = (struct metrics_label){"domain", energy_domain_name[zone->domain]};
    labels->label[1] = (struct metrics_label){"package", labels->package};
    labels->label[2] = (struct metrics_label){"source", zone->source};
}

static void add_shares(struct metrics_text *text, struct zone_labels *labels,
                       const struct bill_account *account)
{
    const struct {
        const char *who;
        uint64_t uj;
    } share[] = {{"steps", account->steps_uj},
                 {"idle", account->idle_uj},
                 {"unmanaged", account->unmanaged_uj}};

    for (size_t i = 0; i < sizeof(share) / sizeof(share[0]); i++) {
        labels->label[3] = (struct metrics_label){"to", share[i].who};
        metrics_text_add_micro(text, &metrics_family[METRICS_ENERGY], labels->label, 4,
                               share[i].uj);
    }
}

static void metrics_energy(const struct packer *packer, struct metrics_text *text)
{
    static const enum metrics_id ids[] = {METRICS_METERED, METRICS_ENERGY, METRICS_GAPS};
    struct bill_account account;
    struct zone_labels labels;
    struct energy_zone zone;

    for (size_t f = 0; packer->state->bill && f < sizeof(ids) / sizeof(ids[0]); f++)
        for (size_t i = 0; bill_zone(packer, i, &zone, &account); i++) {
            const struct metrics_family *family = &metrics_family[ids[f]];

            if (!account.counts && account.metered_uj == 0)
                continue;
            label_zone(&zone, &labels);
            if (ids[f] == METRICS_METERED)
                metrics_text_add_micro(text, family, labels.label, 3, account.metered_uj);
            else if (ids[f] == METRICS_ENERGY)
                add_shares(text, &labels, &account);
            else
                metrics_text_add(text, family, labels.label, 3, (double)account.gaps);
        }
}

static void metrics_cores(const struct packer *packer, struct metrics_text *text)
{
    for (size_t i = 0; packer->state->temperatures && i < packer->world.topo->cores; i++) {
        struct temperature is;
        char cpu[24];

        temperatures_read(packer->state->temperatures, i, &is);
        snprintf(cpu, sizeof(cpu), "%zu", cpus_next(&packer->world.topo->core[i].cpus, 0));
        if (!isnan(is.celsius))
            metrics_text_add(text, &metrics_family[METRICS_CELSIUS],
                             &(struct metrics_label){"cpu", cpu}, 1, is.celsius);
    }
}

/* ---- the page ---- */

char *metrics_page(const struct packer *packer, enum metrics_format format, bool with_steps,
                   size_t *length)
{
    struct metrics_text text;

    packer->state->tally->scraped = true;
    metrics_text_begin(&text, format);
    metrics_node(packer, &text);
    metrics_energy(packer, &text);
    metrics_cores(packer, &text);
    metrics_caches(packer, &text);
    if (with_steps)
        metrics_steps(packer, &text);
    metrics_text_end(&text);
    *length = text.used;
    return text.text;
}

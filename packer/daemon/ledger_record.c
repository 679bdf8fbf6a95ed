/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_record - see ledger_record.h */
#include "packer/daemon/ledger_record.h"

#include <stdio.h>

#include "packer/bill/bill.h"
#include "packer/daemon/record_pages.h"
#include "packer/daemon/tally.h"
#include "packer/figures/figures.h"
#include "packer/ledger/ledger.h"
#include "packer/ledger/schema.h"
#include "packer/place/reason.h"
#include "packer/settle/settler.h"
#include "packer/size/cores.h"
#include "packer/steps/rank_tasks.h"
#include "packer/steps/stage.h"

/* ---- who, where, when ---- */

/* The node, as Slurm calls it. */
static const char *node_of(const struct packer *packer, const struct step *step)
{
    return step->request.node[0] ? step->request.node : packer->steps->node;
}

/* The cores that Slurm gave: a launcher's ranks may have only some of them. */
static size_t cores_given(const struct packer *packer, const struct step *step)
{
    struct cpus whole;

    if (!step->registered)
        return step->size.cores;
    rank_tasks_whole(step, &whole);
    return size_cores_touched(packer->world.topo, &whole);
}

/* What a record says otherwise than explain, or in addition. */
static void fill_who(const struct packer *packer, const struct step *step,
                     struct ledger_record *record)
{
    const struct wire_identity *is = &step->identity.is;

    snprintf(record->node, sizeof(record->node), "%s", node_of(packer, step));
    record->id = step->request.id;
    record->cores_given = (uint32_t)cores_given(packer, step);
    if (is->source == WIRE_SOURCE_NONE)
        return;
    record->array_job = is->array_job;
    record->array_task = is->array_task;
}

static void fill_times(const struct step *step, struct ledger_record *record)
{
    record->start = step->started_at;
    record->end = step->ended_at;
    if (step->started_ms / 1000 == step->started_at) /* else of an older berthd's journal */
        record->start_ms = step->started_ms;
    if (step->ended_ms / 1000 == step->ended_at)
        record->end_ms = step->ended_ms;
    record->exit_status = step->exit_status;
}

/* ---- what was counted ---- */

static void fill_counts(const struct packer *packer, const struct step *step,
                        struct ledger_record *record)
{
    if (!step->counts || !step->counts->last.known)
        return;
    snprintf(record->counters_source, sizeof(record->counters_source), "%s",
             counters_source(packer->state->counters));
}

/* ---- what it took ---- */

static void fill_energy(const struct step *step, struct ledger_record *record)
{
    uint64_t idle_uj;

    for (size_t i = 0; i < ENERGY_DOMAINS; i++)
        if (step->bill.known[i])
            record->uj[i] = (double)step->bill.uj[i];
    if (bill_idle(step, &idle_uj))
        record->uj_idle = (double)idle_uj;
}

/* Of one that was placed, why it stands where it stands; of others the facts say it. */
static void fill_reason(const struct step *step, struct ledger_record *record)
{
    if (!record->reason[0])
        place_why(step, record->reason, sizeof(record->reason));
}

void ledger_record_fill(const struct packer *packer, const struct step *step,
                        struct ledger_record *record)
{
    ledger_record_init(record);
    figures_record(step, record);
    fill_who(packer, step, record);
    fill_times(step, record);
    fill_reason(step, record);
    fill_counts(packer, step, record);
    fill_energy(step, record);
}

static void keep_record(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    struct ledger_record record;

    (void)end;
    if (!packer->state->ledger)
        return;
    ledger_record_fill(packer, step, &record);
    tally_step(packer, &record);
    ledger_add(packer->state->ledger, &record, NULL); /* says itself what is wrong */
}

/* ---- the job ---- */

/* As slurmdbd has the run: a little before its last step here ended, as clocks differ. */
static int64_t time_in(const struct known_job *job)
{
    const int64_t before = job->until - LEDGER_CLOCKS_DIFFER_S;

    return before > job->from ? before : job->from;
}

void ledger_record_settle(const struct packer *packer, const struct known_job *job)
{
    const struct wire_identity *is = &job->is;
    struct ledger_run run = {
        .job = is->job, .restart = is->restart, .uid = is->uid, .at = time_in(job)};

    if (!packer->state->settler || is->source == WIRE_SOURCE_NONE || !is->cluster[0] || job->live)
        return;
    snprintf(run.cluster, sizeof(run.cluster), "%s", is->cluster);
    settler_put(packer->state->settler, &run);
}

void ledger_record_identify(const struct packer *packer, const struct known_job *job)
{
    struct ledger_identity identity = {.from = job->from, .to = job->until, .is = job->is};

    if (!packer->state->ledger || !job->until) /* no step has ended: there is no record of it */
        return;
    snprintf(identity.node, sizeof(identity.node), "%s", packer->steps->node);
    ledger_identify(packer->state->ledger, &identity, NULL); /* says itself what is wrong */
    ledger_record_settle(packer, job);
}

static bool is_live(uint32_t job, const void *packer)
{
    return registry_job_lives(((const struct packer *)packer)->steps, job);
}

void ledger_record_resume(const struct packer *packer)
{
    settler_resume(packer->state->settler, is_live, packer);
}

/* ---- the stage ---- */

/* Opens what tells slurmdbd, where berth.conf wants it. */
static void open_settler(const struct packer *packer)
{
    struct berth_error err;

    if (!conf_settles(&packer->world.conf) || !packer->state->ledger)
        return;
    if (settler_open(&packer->state->settler, &packer->world.conf, packer->state->ledger, &err) < 0)
        log_error("slurmdbd is told nothing of jobs: %s", err.text);
}

static int open_ledger(const struct packer *packer, struct berth_error *err)
{
    struct berth_error why;

    (void)err;
    if (ledger_open(&packer->state->ledger, &packer->world.conf, &why) < 0)
        log_error("no records of steps are kept: ledger: %s", why.text);
    if (packer->state->ledger &&
        record_pages_open(&packer->state->record_pages, &packer->world.conf, &why) < 0)
        log_error("users are told no records of the ledger: %s", why.text);
    open_settler(packer);
    return 0;
}

static void close_ledger(const struct packer *packer)
{
    settler_close(packer->state->settler);
    record_pages_close(packer->state->record_pages);
    ledger_close(packer->state->ledger);
}

const struct stage ledger_stage = {
    .name = "ledger",
    .open = open_ledger,
    .close = close_ledger,
    .end = keep_record,
};

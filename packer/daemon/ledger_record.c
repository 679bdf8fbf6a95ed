/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_record - see ledger_record.h */
#include "packer/daemon/ledger_record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"
#include "packer/bill/bill.h"
#include "packer/daemon/record_pages.h"
#include "packer/daemon/tally.h"
#include "packer/figures/figures.h"
#include "packer/ledger/ledger.h"
#include "packer/ledger/schema.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/settle/settler.h"
#include "packer/size/cores.h"
#include "packer/size/judge.h"
#include "packer/steps/effect.h"
#include "packer/steps/program.h"
#include "packer/steps/rank_tasks.h"
#include "packer/steps/stage.h"

/* ---- who, where, when ---- */

/* The node, as Slurm calls it. */
static const char *node_of(const struct packer *packer, const struct step *step)
{
    return step->request.node[0] ? step->request.node : packer->steps->node;
}

/* What Slurm says of the job, where it has said so by now. */
static void fill_identity(const struct wire_identity *is, struct ledger_record *record)
{
    snprintf(record->identity, sizeof(record->identity), "%s", wire_source_name[is->source]);
    if (is->source == WIRE_SOURCE_NONE)
        return;
    snprintf(record->cluster, sizeof(record->cluster), "%s", is->cluster);
    record->array_job = is->array_job;
    record->array_task = is->array_task;
    record->restart = is->restart;
    record->nodes = is->nodes;
    snprintf(record->account, sizeof(record->account), "%s", is->account);
    snprintf(record->qos, sizeof(record->qos), "%s", is->qos);
    snprintf(record->partition, sizeof(record->partition), "%s", is->partition);
    snprintf(record->job_name, sizeof(record->job_name), "%s", is->job_name);
}

static void fill_who(const struct packer *packer, const struct step *step,
                     struct ledger_record *record)
{
    const struct wire_register *request = &step->request;

    fill_identity(&step->identity.is, record);
    snprintf(record->node, sizeof(record->node), "%s", node_of(packer, step));
    record->id = request->id;
    record->uid = request->uid;
    record->gid = request->gid;
    snprintf(record->program, sizeof(record->program), "%.127s", program_command(request));
    snprintf(record->tag, sizeof(record->tag), "%s", request->options.tag);
}

/* A list of CPUs; one that is too long ends in ",.." where it was cut. */
static void fill_cpus(const struct cpus *set, char *text, size_t size)
{
    char whole[CPUS_TEXT_MAX];
    char *comma;

    if (cpus_format(set, whole, sizeof(whole)) < 0)
        return;
    if (strlen(whole) >= size) {
        whole[size - 3] = '\0';
        comma = strrchr(whole, ',');
        strcpy(comma ? comma : whole, ",..");
    }
    strcpy(text, whole);
}

/* A launch that berth would have had a say in, had it been heard of in time. */
static bool is_late(const struct step *step)
{
    return step->late && step->request.options.mode != WIRE_MODE_OFF;
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

static void fill_place(const struct packer *packer, const struct step *step,
                       struct ledger_record *record)
{
    bool decided =
        step->state == STEP_PLACED || step->state == STEP_OBSERVED || step->state == STEP_FAILED;

    snprintf(record->state, sizeof(record->state), "%s",
             is_late(step) && !decided ? "late" : step_state_name[step->state]);
    snprintf(record->reason, sizeof(record->reason), "%.*s",
             (int)text_fit(step->enacted.reason, sizeof(record->reason) - 1), step->enacted.reason);
    if (step->state == STEP_LEFT && step->enacted.left_for != WIRE_NOT_LEFT)
        strcpy(record->left_for, wire_left_name[step->enacted.left_for]);
    snprintf(record->knowledge, sizeof(record->knowledge), "%s",
             step_rung_name[step->knowledge.rung]);
    record->tasks = (uint32_t)step->request.ntasks;
    record->cores_given = (uint32_t)cores_given(packer, step);
    record->cores_used = (uint32_t)step->size.given;
    fill_cpus(&step->place.home, record->home, sizeof(record->home));
    fill_cpus(step->state == STEP_OBSERVED ? &step->place.home : &step->place.cpus, record->cpus,
              sizeof(record->cpus));
    if (step->state == STEP_OBSERVED)
        fill_cpus(&step->place.cpus, record->proposed, sizeof(record->proposed));
    if (decided)
        snprintf(record->policy, sizeof(record->policy), "%s",
                 wire_policy_name[step->place.policy]);
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

void ledger_record_fill(const struct packer *packer, const struct step *step,
                        struct ledger_record *record)
{
    ledger_record_init(record);
    fill_who(packer, step, record);
    fill_place(packer, step, record);
    fill_times(step, record);
    figures_record(step, record);
    effect_words(step, record->inside);
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
    return registry_job_lives(((const struct packer *)packer)->steps, job, false);
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

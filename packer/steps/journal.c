/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal - see journal.h */
#include "packer/steps/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/base/log.h"
#include "packer/steps/effect.h"
#include "packer/steps/journal_file.h"
#include "packer/steps/registers.h"
#include "packer/steps/stage.h"

#define COMPACT_BYTES (1 << 20)

struct journal {
    struct journal_file *file;
    bool stale;       /* it could not be written: to be written anew by the next sweep */
    bool settling;    /* it says that threads are on their way to their CPUs */
    bool interrupted; /* it said so when it was read: a berthd was killed before they had them */
};

/* ---- entries ---- */

static const struct json_field id_fields[] = {
    JSON_FIELD(struct wire_step_id, "job", job, REQUIRED),
    JSON_FIELD(struct wire_step_id, "step", step, REQUIRED),
    JSON_END,
};

/* Of a run that is asked for: its records are those of steps that began and ended in this time. */
static const struct json_field run_fields[] = {
    JSON_FIELD(struct known_job, "job", run.job, REQUIRED),
    JSON_FIELD(struct known_job, "uid", run.uid, REQUIRED),
    JSON_FIELD(struct known_job, "at", run.at, REQUIRED),
    JSON_FIELD(struct known_job, "from", from, REQUIRED),
    JSON_FIELD(struct known_job, "until", until, REQUIRED),
    JSON_END,
};
/* The node as the records have it: there may be no live step that tells. */
static const struct json_field node_fields[] = {
    JSON_FIELD(struct registry, "node", node, REQUIRED),
    JSON_END,
};

/* What locate() found: without it a step could not be put back. */
static const struct json_field body_fields[] = {
    JSON_FIELD(struct enforce_step, "leaf", leaf, REQUIRED),
    JSON_FIELD(struct enforce_step, "job_home", job_home, REQUIRED),
    JSON_FIELD(struct enforce_step, "step_home", step_home, REQUIRED),
    JSON_FIELD(struct enforce_step, "mems_home", mems_home, REQUIRED),
    JSON_FIELD(struct enforce_step, "stepd", stepd, OPTIONAL),
    JSON_FIELD(struct enforce_step, "stepd_started", stepd_started, OPTIONAL),
    JSON_FIELD(struct enforce_step, "begun", begun, OPTIONAL),
    JSON_END,
};
static const struct json_field pid_item = {
    .kind = JSON_SIGNED, .need = JSON_REQUIRED, .size = sizeof(pid_t)};
static const struct json_field started_item = {
    .kind = JSON_UNSIGNED, .need = JSON_REQUIRED, .size = sizeof(uint64_t)};
static const struct json_field cpus_item = {.kind = JSON_CPUS, .need = JSON_REQUIRED};

static const struct json_field identity_fields[] = {
    JSON_NESTED(struct step_identity, "is", is, OPTIONAL, wire_identity_fields),
    JSON_FIELD(struct step_identity, "isolate_waits", isolate_waits, OPTIONAL),
    JSON_FIELD(struct step_identity, "slowdown_waits_pct", slowdown_waits_pct, OPTIONAL),
    JSON_END,
};

static const struct json_field step_fields[] = {
    JSON_FIELD(struct step, "started_at", started_at, OPTIONAL),
    JSON_FIELD(struct step, "started_ms", started_ms, OPTIONAL),
    JSON_FIELD(struct step, "started_mono_s", started_mono_s, OPTIONAL),
    JSON_FIELD(struct step, "moves", enacted.moves, OPTIONAL),
    JSON_FIELD(struct step, "late", late, OPTIONAL),
    JSON_CHOICE(struct step, "state", state, REQUIRED, step_state_name),
    JSON_FIELD(struct step, "refused", refused, OPTIONAL),
    JSON_FIELD(struct step, "isolate_refused", isolate_refused, OPTIONAL),
    JSON_FIELD(struct step, "slowdown_refused", slowdown_refused, OPTIONAL),
    JSON_NESTED(struct step, "identity", identity, OPTIONAL, identity_fields),
    JSON_FIELD(struct step, "reason", enacted.reason, OPTIONAL),
    JSON_FIELD(struct step, "why", place.why, OPTIONAL),
    JSON_CHOICE(struct step, "left_for", enacted.left_for, OPTIONAL, wire_left_name),
    JSON_CHOICE(struct step, "trial", enacted.trial, OPTIONAL, step_trial_name),
    JSON_CHOICE(struct step, "released", released, OPTIONAL, step_released_name),
    JSON_FIELD(struct step, "away", enacted.away, OPTIONAL),
    JSON_FIELD(struct step, "unread", enacted.unread, OPTIONAL),
    JSON_FIELD(struct step, "kept", enacted.kept, OPTIONAL),
    JSON_FIELD(struct step, "sliced", inside.sliced, OPTIONAL),
    JSON_FIELD(struct step, "slices_ms", inside.given_ms, OPTIONAL),
    JSON_FIELD(struct step, "shuffled", inside.shuffled, OPTIONAL),
    JSON_NESTED(struct step, "effects", inside, OPTIONAL, effect_fields),
    JSON_FIELD(struct step, "dealt", inside.deal.dealt, OPTIONAL),
    JSON_FIELD(struct step, "hot", thermal.hot, OPTIONAL),
    JSON_NESTED(struct step, "size", size, OPTIONAL, step_size_fields),
    JSON_FIELD(struct step, "size_others", size.others, OPTIONAL),
    JSON_FIELD(struct step, "size_others_at", size.others_at, OPTIONAL),
    JSON_NESTED(struct step, "loop", size.loop, OPTIONAL, step_loop_fields),
    JSON_NESTED(struct step, "body", body, REQUIRED, body_fields),
    JSON_END,
};

/* Starts an entry; NULL when memory has run out. json-c leaves out what it has no memory for, and
 * says so by errno alone, which nobody clears until entry_whole() looks at it. */
static struct json_object *entry_new(const char *op)
{
    struct json_object *entry;

    errno = 0;
    entry = json_object_new_object();
    if (entry)
        json_add_text(entry, "op", op);
    return entry;
}

/* Returns the entry; NULL, and it is released, when memory ran out since entry_new(): it has less
 * in it than was put there. */
static struct json_object *entry_whole(struct json_object *entry)
{
    if (errno != ENOMEM)
        return entry;
    json_object_put(entry);
    return NULL;
}

static struct json_object *id_entry(const char *op, struct wire_step_id id)
{
    struct json_object *entry = entry_new(op);

    if (!entry)
        return NULL;
    json_write(entry, id_fields, &id);
    return entry_whole(entry);
}

static struct json_object *plain_entry(const char *op)
{
    struct json_object *entry = entry_new(op);

    return entry ? entry_whole(entry) : NULL;
}

static struct json_object *run_entry(const char *op, const struct packer *packer,
                                     const struct known_job *job)
{
    struct json_object *entry = entry_new(op);

    if (!entry)
        return NULL;
    json_write(entry, run_fields, job);
    json_write(entry, node_fields, packer->steps);
    return entry_whole(entry);
}

/* Who the tasks are (the registration may have told other numbers of them), where they were, what
 * sizing left of it, if it took any, and their parts of that, if they share cores. */
static void add_tasks(struct json_object *object, size_t n, const struct enforce_task *task)
{
    bool sized = false, shared = false;

    for (size_t i = 0; i < n; i++) {
        sized |= !cpus_equal(&task[i].sized, &task[i].home);
        shared |= !cpus_equal(&task[i].use, &task[i].sized) && !cpus_empty(&task[i].use);
    }
    json_add(object, "pids", json_new_list(n, &pid_item, &task->pid, sizeof(*task)));
    json_add(object, "started", json_new_list(n, &started_item, &task->started, sizeof(*task)));
    json_add(object, "homes", json_new_list(n, &cpus_item, &task->home, sizeof(*task)));
    if (sized)
        json_add(object, "uses", json_new_list(n, &cpus_item, &task->sized, sizeof(*task)));
    if (shared)
        json_add(object, "parts", json_new_list(n, &cpus_item, &task->use, sizeof(*task)));
}

/* The tasks that Slurm has started, and the ranks that are the step's tasks now. */
static void add_body(struct json_object *object, const struct step *step)
{
    struct json_object *ranks;

    if (!step->registered) {
        add_tasks(object, step->body.ntasks, step->body.task);
        return;
    }
    add_tasks(object, step->nregistered, step->registered);
    ranks = json_object_new_object();
    if (ranks)
        add_tasks(ranks, step->body.ntasks, step->body.task);
    json_add(object, "ranks", ranks);
}

/* Adds which threads the program has bound, and to what (enact/bindings.h). */
static void add_masks(struct json_object *object, const struct enforce_masks *masks)
{
    const struct enforce_mask *mask = masks->mask;

    if (masks->n == 0)
        return;
    json_add(object, "threads", json_new_list(masks->n, &pid_item, &mask->tid, sizeof(*mask)));
    json_add(object, "threads_started",
             json_new_list(masks->n, &started_item, &mask->started, sizeof(*mask)));
    json_add(object, "threads_cpus",
             json_new_list(masks->n, &cpus_item, &mask->home, sizeof(*mask)));
}

/* Returns the registration as an object that says all that its line says; NULL and errno ENOMEM, or
 * 0 when it does not fit a message: it could not be read back. */
static struct json_object *request_object(const struct step *step)
{
    struct wire_request request = {.op = WIRE_OP_REGISTER, .reg = step->request};
    struct json_object *object = NULL;
    const char *text;
    char *line;

    errno = 0;
    line = wire_request_encode(&request);
    if (line && errno != ENOMEM) {
        object = json_parse(line, strlen(line), NULL);
        text = object ? json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN) : NULL;
        if (!text || strncmp(text, line, strlen(text)) != 0 || line[strlen(text)] != '\n') {
            json_object_put(object);
            object = NULL;
            errno = ENOMEM; /* whatever the parser made of it */
        }
    }
    free(line);
    return object;
}

/* Returns NULL and errno as request_object() does. */
static struct json_object *start_entry(const struct step *step)
{
    struct json_object *request = request_object(step), *entry;

    if (!request)
        return NULL;
    entry = entry_new("start");
    if (!entry) {
        json_object_put(request);
        return NULL;
    }
    json_add(entry, "request", request);
    json_write(entry, step_fields, step);
    if (errno != ENOMEM) {
        add_body(json_object_object_get(entry, "body"), step);
        add_masks(json_object_object_get(entry, "body"), &step->body.masks);
    }
    return entry_whole(entry);
}

static struct json_object *stand_entry(const struct pool *pool)
{
    struct json_object *entry = entry_new("stand"), *pairs;

    if (!entry)
        return NULL;
    pairs = json_object_new_array();
    for (size_t core = 0; core < pool->cores && errno != ENOMEM; core++) {
        struct json_object *pair;

        if (!pool_has(pool, core))
            continue;
        pair = json_object_new_array_ext(2);
        if (!pair)
            break;
        json_append(pair, json_object_new_uint64(core));
        json_append(pair, json_object_new_uint64(pool->stand[core]));
        json_append(pairs, pair);
    }
    json_add(entry, "stand", pairs);
    return entry_whole(entry);
}

static struct json_object *registers_entry(const struct packer *packer)
{
    struct json_object *entry = entry_new("registers");

    if (!entry)
        return NULL;
    registers_write(packer->state->registers, entry);
    return entry_whole(entry);
}

/* Append an entry and let it go; NULL: it could not be made. */
static int append(const struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    int rc = entry ? journal_file_append(packer->state->journal->file, entry, err)
                   : berth_error_set(err, "journal: out of memory");

    json_object_put(entry);
    packer->state->journal->stale |= rc < 0;
    return rc;
}

int journal_start(const struct packer *packer, const struct step *step, struct berth_error *err)
{
    struct json_object *entry = start_entry(step);

    if (!entry && errno != ENOMEM)
        return berth_error_set(err, "journal: the registration is too long");
    return append(packer, entry, err);
}

void journal_note(const struct packer *packer, const struct step *step)
{
    struct berth_error err;

    if (journal_start(packer, step, &err) < 0)
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}

int journal_end(const struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    return append(packer, id_entry("end", id), err);
}

int journal_stand(const struct packer *packer, const struct pool *pool, struct berth_error *err)
{
    return append(packer, stand_entry(pool), err);
}

int journal_release(const struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    return append(packer, id_entry("release", id), err);
}

int journal_manage(const struct packer *packer, struct berth_error *err)
{
    return append(packer, plain_entry("manage"), err);
}

int journal_ask(const struct packer *packer, const struct known_job *job, struct berth_error *err)
{
    return append(packer, run_entry("ask", packer, job), err);
}

int journal_told(const struct packer *packer, const struct known_job *job, struct berth_error *err)
{
    return append(packer, run_entry("told", packer, job), err);
}

int journal_settle(const struct packer *packer, bool on_their_way, struct berth_error *err)
{
    struct journal *journal = packer->state->journal;

    if (journal->settling == on_their_way)
        return 0;
    journal->settling = on_their_way;
    return append(packer, plain_entry(on_their_way ? "settle" : "settled"), err);
}

bool journal_interrupted(const struct packer *packer)
{
    return packer->state->journal->interrupted;
}

void journal_resumed(const struct packer *packer)
{
    packer->state->journal->interrupted = false;
}

int journal_registers(const struct packer *packer, struct berth_error *err)
{
    return append(packer, registers_entry(packer), err);
}

/* Adds the runs that are asked for, the oldest first. Returns 0, or -1 when memory ran out. */
static int list_runs(const struct packer *packer, struct json_object **entry, size_t *n)
{
    const struct known_job *job;

    TAILQ_FOREACH_REVERSE(job, &packer->state->jobs->list, known_job_list, link)
    if (job->asked && job->until && !(entry[(*n)++] = run_entry("ask", packer, job)))
        return -1;
    return 0;
}

/* Makes the n entries that say what is true now. A step whose registration does not fit a message
 * never had one. Returns 0, or -1 when memory ran out; the caller releases the n entries. */
static int list_entries(const struct packer *packer, struct json_object **entry, size_t *n)
{
    struct step *step;
    bool whole = true;

    *n = 0;
    if (packer->steps->released)
        whole = (entry[(*n)++] = id_entry("release", WIRE_ALL));
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if ((entry[*n] = start_entry(step)))
            ++*n;
        else
            whole &= errno != ENOMEM;
    }
    whole &= list_runs(packer, entry, n) == 0;
    if (packer->state->journal->settling && !(entry[(*n)++] = plain_entry("settle")))
        return -1;
    if (registers_changed(packer->state->registers) && !(entry[(*n)++] = registers_entry(packer)))
        return -1;
    return (entry[(*n)++] = stand_entry(packer->pool)) && whole ? 0 : -1;
}

static bool is_there(const struct packer *packer)
{
    if (journal_file_is_there(packer->state->journal->file))
        return true;
    log_warn("somebody has removed the journal: it is written anew");
    return false;
}

size_t journal_size(const struct packer *packer)
{
    return journal_file_size(packer->state->journal->file);
}

bool journal_is_stale(const struct packer *packer)
{
    return packer->state->journal->stale;
}

int journal_compact(const struct packer *packer, bool now, struct berth_error *err)
{
    struct json_object **entry;
    size_t n;
    int rc = -1;

    if (!now && !journal_is_stale(packer) && journal_size(packer) < COMPACT_BYTES &&
        is_there(packer))
        return 0;
    entry = calloc(packer->steps->nlive + packer->state->jobs->n + 4, sizeof(struct json_object *));
    if (!entry)
        return berth_error_set(err, "journal: out of memory");
    if (list_entries(packer, entry, &n) == 0)
        rc = journal_file_rewrite(packer->state->journal->file, n, entry, err);
    else
        berth_error_set(err, "journal: out of memory");
    while (n)
        json_object_put(entry[--n]);
    free(entry);
    packer->state->journal->stale = rc < 0;
    return rc;
}

/* ---- reading it back ---- */

/* Reads the tasks' parts of the cores that they share; none where nothing is said of that. */
static int load_parts(struct json_object *object, size_t n, struct enforce_task *task,
                      struct berth_error *err)
{
    struct json_object *parts = json_object_object_get(object, "parts");

    if (parts && json_get_list(parts, "parts", n, &cpus_item, &task->use, sizeof(*task), err) < 0)
        return -1;
    for (size_t i = 0; parts && i < n; i++)
        if (cpus_empty(&task[i].use) || !cpus_subset(&task[i].use, &task[i].home))
            return berth_error_set(err, "parts[%zu]: not of its home", i);
    return 0;
}

/* Reads who the tasks are and when they began (a berth before this one did not say it), where they
 * were, and what of it they use: all, where sizing took nothing. */
static int load_tasks(struct json_object *object, size_t n, struct enforce_task *task,
                      struct berth_error *err)
{
    struct json_object *pids = json_object_object_get(object, "pids");
    struct json_object *started = json_object_object_get(object, "started");
    struct json_object *uses = json_object_object_get(object, "uses");

    if ((pids && json_get_list(pids, "pids", n, &pid_item, &task->pid, sizeof(*task), err) < 0) ||
        (started && json_get_list(started, "started", n, &started_item, &task->started,
                                  sizeof(*task), err) < 0) ||
        json_get_list(json_object_object_get(object, "homes"), "homes", n, &cpus_item, &task->home,
                      sizeof(*task), err) < 0 ||
        (uses && json_get_list(uses, "uses", n, &cpus_item, &task->sized, sizeof(*task), err) < 0))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (!uses)
            task[i].sized = task[i].home;
        else if (cpus_empty(&task[i].sized) || !cpus_subset(&task[i].sized, &task[i].home))
            return berth_error_set(err, "uses[%zu]: not of its home", i);
        task[i].cpus = task[i].home;
        task[i].use = task[i].sized;
    }
    return load_parts(object, n, task, err);
}

/* Reads which threads the program had bound; none where nothing is said of that. */
static int load_masks(struct json_object *object, struct enforce_masks *masks,
                      struct berth_error *err)
{
    struct json_object *list = NULL;
    size_t n, stride = sizeof(*masks->mask);

    if (json_get_array(object, "threads", JSON_OPTIONAL, &list, err) < 0)
        return -1;
    n = list ? json_object_array_length(list) : 0;
    for (size_t i = 0; i < n; i++)
        if (!enforce_masks_add(masks, 0))
            return berth_no_memory(err);
    if (n == 0)
        return 0;
    if (json_get_list(list, "threads", n, &pid_item, &masks->mask->tid, stride, err) < 0 ||
        json_get_list(json_object_object_get(object, "threads_started"), "threads_started", n,
                      &started_item, &masks->mask->started, stride, err) < 0 ||
        json_get_list(json_object_object_get(object, "threads_cpus"), "threads_cpus", n, &cpus_item,
                      &masks->mask->home, stride, err) < 0)
        return -1;
    enforce_masks_sort(masks);
    return 0;
}

/* Reads the ranks that are the step's tasks, beside those that Slurm has started. */
static int load_ranks(struct json_object *object, struct step *step, struct berth_error *err)
{
    struct json_object *pids = json_object_object_get(object, "pids");
    size_t n = json_object_is_type(pids, json_type_array) ? json_object_array_length(pids) : 0;
    struct enforce_task *task = calloc(n + 1, sizeof(*task));

    if (!task)
        return berth_no_memory(err);
    if (n == 0 || load_tasks(object, n, task, err) < 0) {
        free(task);
        return n ? berth_error_before(err, "ranks.") : berth_error_set(err, "ranks.pids: none");
    }
    step->registered = step->body.task;
    step->nregistered = step->body.ntasks;
    step->body.task = task;
    step->body.ntasks = n;
    step->body.ranks = true;
    return 0;
}

static int load_body(struct json_object *object, struct step *step, struct berth_error *err)
{
    struct json_object *ranks = json_object_object_get(object, "ranks");

    if (load_tasks(object, step->body.ntasks, step->body.task, err) < 0)
        return -1;
    return ranks ? load_ranks(ranks, step, err) : 0;
}

static int fill_step(struct json_object *entry, struct step *step, struct berth_error *err)
{
    struct json_object *body;

    if (json_read(entry, step_fields, step, err) < 0)
        return -1;
    body = json_object_object_get(entry, "body");
    return load_body(body, step, err) < 0 || load_masks(body, &step->body.masks, err) < 0
               ? berth_error_before(err, "body.")
               : 0;
}

/* Forget a step that was read. */
static void drop(const struct packer *packer, struct wire_step_id id)
{
    struct step *step = registry_find(packer->steps, id);

    if (step)
        registry_drop(packer->steps, step);
}

/* A step that starts again has ended before, even if that could not be written. */
static int load_start(const struct packer *packer, struct json_object *entry,
                      struct berth_error *err)
{
    struct json_object *object = NULL;
    struct wire_request request;
    const char *line;
    struct step *step;

    if (json_get_object(entry, "request", JSON_REQUIRED, &object, err) < 0)
        return -1;
    line = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
    if (wire_request_decode(line, strlen(line), &request, err) < 0)
        return -1;
    if (request.op == WIRE_OP_REGISTER)
        drop(packer, request.reg.id);
    step = request.op == WIRE_OP_REGISTER ? registry_add(packer->steps, &request.reg) : NULL;
    wire_request_clear(&request);
    if (!step)
        return berth_error_set(err, "request: no registration");
    if (fill_step(entry, step, err) == 0)
        return 0;
    registry_drop(packer->steps, step);
    return -1;
}

static int load_end(const struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    struct wire_step_id id = {0};

    if (json_read(entry, id_fields, &id, err) < 0)
        return -1;
    drop(packer, id);
    return 0;
}

/* Is the table a permutation of the cores that it names? */
static bool is_permutation(const struct pool *pool)
{
    struct pool seen;
    bool fine = pool_init(&seen, pool->cores) == 0;

    for (size_t core = 0; fine && core < pool->cores; core++) {
        if (!pool_has(pool, core))
            continue;
        fine = pool_has(pool, pool->stand[core]) && !pool_has(&seen, pool->stand[core]);
        if (fine)
            pool_join(&seen, pool->stand[core]);
    }
    pool_free(&seen);
    return fine;
}

static int load_stand(const struct packer *packer, struct json_object *entry,
                      struct berth_error *err)
{
    struct json_object *pairs = NULL;
    struct pool read;

    if (json_get_array(entry, "stand", JSON_REQUIRED, &pairs, err) < 0)
        return -1;
    if (pool_init(&read, packer->pool->cores) < 0)
        return berth_error_set(err, "out of memory");
    for (size_t i = 0; i < json_object_array_length(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        size_t core = read.cores;

        if (json_object_is_type(pair, json_type_array) && json_object_array_length(pair) == 2)
            core = json_object_get_uint64(json_object_array_get_idx(pair, 0));
        if (core < read.cores)
            read.stand[core] = json_object_get_uint64(json_object_array_get_idx(pair, 1));
    }
    if (!is_permutation(&read)) { /* another topology since: everybody starts from home */
        pool_free(&read);
        log_warn("journal: placement of another topology ignored");
        return 0;
    }
    pool_free(packer->state->pool);
    *packer->state->pool = read;
    return 0;
}

static int load_release(const struct packer *packer, struct json_object *entry,
                        struct berth_error *err)
{
    struct wire_step_id id = {0};

    if (json_read(entry, id_fields, &id, err) < 0)
        return -1;
    registry_release(packer->steps, id);
    return 0;
}

static int load_manage(const struct packer *packer, struct json_object *entry,
                       struct berth_error *err)
{
    (void)entry, (void)err;
    registry_manage(packer->steps);
    return 0;
}

static int load_run(const struct packer *packer, struct json_object *entry, bool asked,
                    struct berth_error *err)
{
    struct known_job read = {0}, *job;

    if (json_read(entry, run_fields, &read, err) < 0 ||
        json_read(entry, node_fields, packer->steps, err) < 0)
        return -1;
    job = known_jobs_again(packer->state->jobs, &read.run);
    if (!job)
        return berth_no_memory(err);
    job->from = read.from;
    job->until = read.until;
    job->asked = asked;
    job->over = !asked; /* a step of it that lives still joins a run of its own */
    return 0;
}

static int load_ask(const struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    return load_run(packer, entry, true, err);
}

static int load_told(const struct packer *packer, struct json_object *entry,
                     struct berth_error *err)
{
    return load_run(packer, entry, false, err);
}

static int load_settle(const struct packer *packer, struct json_object *entry,
                       struct berth_error *err)
{
    (void)entry, (void)err;
    packer->state->journal->settling = packer->state->journal->interrupted = true;
    return 0;
}

static int load_settled(const struct packer *packer, struct json_object *entry,
                        struct berth_error *err)
{
    (void)entry, (void)err;
    packer->state->journal->settling = packer->state->journal->interrupted = false;
    return 0;
}

static int load_registers(const struct packer *packer, struct json_object *entry,
                          struct berth_error *err)
{
    return registers_read(packer->state->registers, entry, err);
}

struct loading {
    const struct packer *packer;
    struct berth_error *err;
    int rc;
};

static int load_entry(struct json_object *entry, void *arg)
{
    static const char *const ops[] = {"start", "end",  "stand",  "release", "manage",
                                      "ask",   "told", "settle", "settled", "registers"};
    static int (*const load[])(const struct packer *, struct json_object *,
                               struct berth_error *) = {
        load_start, load_end,  load_stand,  load_release, load_manage,
        load_ask,   load_told, load_settle, load_settled, load_registers};
    struct loading *loading = arg;
    int op = 0;

    loading->rc = json_get_word(entry, "op", JSON_REQUIRED, ops, sizeof(ops) / sizeof(ops[0]), &op,
                                loading->err);
    if (loading->rc == 0)
        loading->rc = load[op](loading->packer, entry, loading->err);
    return loading->rc;
}

int journal_load(const struct packer *packer, struct berth_error *err)
{
    struct loading loading = {.packer = packer, .err = err};

    if (journal_file_replay(packer->state->journal->file, load_entry, &loading, err) < 0)
        return -1;
    return loading.rc;
}

static int peek_registers(struct json_object *entry, void *arg)
{
    const char *op = json_object_get_string(json_object_object_get(entry, "op"));

    return op && strcmp(op, "registers") == 0 ? registers_read(arg, entry, NULL) : 0;
}

bool journal_left_registers(const char *state_dir)
{
    struct registers registers = {0};
    char path[PATH_MAX + 16];
    bool left;

    snprintf(path, sizeof(path), "%s/journal", state_dir);
    journal_file_peek(path, peek_registers, &registers, NULL); /* the load says what is wrong */
    left = registers_changed(&registers);
    registers_free(&registers);
    return left;
}

int journal_set_aside(const struct packer *packer, struct berth_error *err)
{
    char path[PATH_MAX + 16], bad[PATH_MAX + 16];
    struct step *step;

    snprintf(path, sizeof(path), "%s/journal", packer->world.conf.state_dir);
    snprintf(bad, sizeof(bad), "%s/journal.bad", packer->world.conf.state_dir);
    log_error("%s; kept as %s, all steps go home", err->text, bad);
    unlink(bad);
    if (link(path, bad) < 0)
        log_warn("%s: %s", bad, strerror(errno));
    while ((step = TAILQ_FIRST(&packer->steps->live)))
        registry_drop(packer->steps, step);
    for (size_t core = 0; core < packer->pool->cores; core++)
        packer->pool->stand[core] = POOL_OUTSIDE;
    return journal_compact(packer, true, err);
}

/* ---- the stage ---- */

int journal_open(const struct packer *packer, const char *path, struct berth_error *err)
{
    struct journal *journal = calloc(1, sizeof(*journal));

    if (!journal)
        return berth_no_memory(err);
    if (journal_file_open(&journal->file, path, err) < 0) {
        free(journal);
        return -1;
    }
    packer->state->journal = journal;
    return 0;
}

void journal_close(const struct packer *packer)
{
    if (packer->state->journal)
        journal_file_close(packer->state->journal->file);
    free(packer->state->journal);
    packer->state->journal = NULL;
}

static int open_journal(const struct packer *packer, struct berth_error *err)
{
    char path[PATH_MAX + 16];

    if (file_folder(packer->world.conf.state_dir, 0755) < 0)
        return berth_error_set(err, "%s: %s", packer->world.conf.state_dir, strerror(errno));
    snprintf(path, sizeof(path), "%s/journal", packer->world.conf.state_dir);
    return journal_open(packer, path, err);
}

static void write_end(const struct packer *packer, struct wire_step_id id)
{
    struct berth_error err;

    if (journal_end(packer, id, &err) < 0)
        log_error("%s", err.text);
    enforce_unregister(packer->world.enforce, id);
}

const struct stage journal_stage = {
    .name = "journal",
    .open = open_journal,
    .close = journal_close,
    .gone = write_end,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store - see steps/journal.h */
#include "packer/steps/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/steps/step_size.h"

#define COMPACT_BYTES (1 << 20)

/* ---- entries ---- */

static struct json_object *entry_new(const char *op)
{
    struct json_object *entry = json_object_new_object();

    json_add_text(entry, "op", op);
    return entry;
}

static void add_list(struct json_object *list, const struct cpus *cpus)
{
    char text[CPUS_TEXT_MAX];

    if (cpus_format(cpus, text, sizeof(text)) == 0)
        json_object_array_add(list, json_object_new_string(text));
}

/* What locate() found: without it a step could not be put back. And what sizing left of it, if it
 * took any. */
static struct json_object *body_to_json(const struct enforce_step *body)
{
    struct json_object *object = json_object_new_object(), *homes = json_object_new_array(),
                       *uses = json_object_new_array();
    bool sized = false;

    json_add_text(object, "leaf", body->leaf);
    json_add_cpus(object, "job_home", &body->job_home);
    json_add_cpus(object, "step_home", &body->step_home);
    json_add_cpus(object, "mems_home", &body->mems_home);
    for (size_t i = 0; i < body->ntasks; i++) {
        add_list(homes, &body->task[i].home);
        add_list(uses, &body->task[i].sized);
        sized |= !cpus_equal(&body->task[i].sized, &body->task[i].home);
    }
    json_object_object_add(object, "homes", homes);
    if (sized)
        json_object_object_add(object, "uses", uses);
    else
        json_object_put(uses);
    return object;
}

/* NULL when the registration does not fit a message: it could not be read back. */
static struct json_object *start_entry(const struct step *step)
{
    struct wire_request request = {.op = WIRE_OP_REGISTER, .reg = step->request};
    char *line = wire_request_encode(&request);
    struct json_object *entry;

    if (!line)
        return NULL;
    entry = entry_new("start");
    json_object_object_add(entry, "request", json_parse(line, strlen(line), NULL));
    free(line);
    json_add_u64(entry, "started_at", (uint64_t)step->started_at);
    json_add_double(entry, "started_mono_s", step->started_mono_s);
    json_add_u64(entry, "moves", step->hold.moves);
    json_add_text(entry, "state", step_state_name[step->state]);
    if (step->refused[0])
        json_add_text(entry, "refused", step->refused);
    json_add_text(entry, "reason", step->hold.reason);
    json_add_text(entry, "released", step_released_name[step->released]);
    json_add_bool(entry, "away", step->hold.away);
    json_object_object_add(entry, "size", step_size_to_json(&step->size));
    json_object_object_add(entry, "body", body_to_json(&step->body));
    return entry;
}

static struct json_object *stand_entry(const struct pool *pool)
{
    struct json_object *entry = entry_new("stand"), *pairs = json_object_new_array();

    for (size_t core = 0; core < pool->cores; core++) {
        struct json_object *pair;

        if (!pool_has(pool, core))
            continue;
        pair = json_object_new_array_ext(2);
        json_object_array_add(pair, json_object_new_uint64(core));
        json_object_array_add(pair, json_object_new_uint64(pool->stand[core]));
        json_object_array_add(pairs, pair);
    }
    json_object_object_add(entry, "stand", pairs);
    return entry;
}

static struct json_object *release_entry(struct wire_step_id id)
{
    struct json_object *entry = entry_new("release");

    json_add_u64(entry, "job", id.job);
    json_add_u64(entry, "step", id.step);
    return entry;
}

/* Append an entry and let it go. */
static int append(struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    int rc = journal_append(packer->journal, entry, err);

    json_object_put(entry);
    packer->stale |= rc < 0;
    return rc;
}

int store_start(struct packer *packer, const struct step *step, struct berth_error *err)
{
    struct json_object *entry = start_entry(step);

    if (!entry)
        return berth_error_set(err, "journal: the registration is too long");
    return append(packer, entry, err);
}

int store_end(struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    struct json_object *entry = entry_new("end");

    json_add_u64(entry, "job", id.job);
    json_add_u64(entry, "step", id.step);
    return append(packer, entry, err);
}

int store_stand(struct packer *packer, const struct pool *pool, struct berth_error *err)
{
    return append(packer, stand_entry(pool), err);
}

int store_release(struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    return append(packer, release_entry(id), err);
}

int store_manage(struct packer *packer, struct berth_error *err)
{
    return append(packer, entry_new("manage"), err);
}

int store_compact(struct packer *packer, bool now, struct berth_error *err)
{
    struct json_object **entry;
    struct step *step;
    size_t n = 0;
    int rc;

    if (!now && journal_size(packer->journal) < COMPACT_BYTES)
        return 0;
    entry = calloc(packer->steps.nlive + 2, sizeof(struct json_object *));
    if (!entry)
        return berth_error_set(err, "journal: out of memory");
    if (packer->steps.released)
        entry[n++] = release_entry(WIRE_ALL);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if ((entry[n] = start_entry(step)))
        n++;
    entry[n++] = stand_entry(&packer->pool);
    rc = journal_rewrite(packer->journal, n, entry, err);
    while (n)
        json_object_put(entry[--n]);
    free(entry);
    packer->stale = rc < 0;
    return rc;
}

/* ---- reading it back ---- */

static int cpus_from(struct json_object *object, const char *key, struct cpus *set,
                     struct berth_error *err)
{
    char text[CPUS_TEXT_MAX];

    if (json_get_text(object, key, JSON_REQUIRED, text, sizeof(text), err) < 0)
        return -1;
    return cpus_parse(set, text) < 0 ? berth_error_set(err, "%s: no CPU list", key) : 0;
}

/* The i-th of a list of CPU lists. */
static int list_from(struct json_object *list, size_t i, const char *key, struct cpus *set,
                     struct berth_error *err)
{
    const char *text = json_text(json_object_array_get_idx(list, i));

    if (!text || cpus_parse(set, text) < 0)
        return berth_error_set(err, "%s: no CPU list at %zu", key, i);
    return 0;
}

/* Where the tasks were, and what of it they use: all, in a journal of a berth that did not size. */
static int tasks_from(struct json_object *homes, struct json_object *uses,
                      struct enforce_step *body, struct berth_error *err)
{
    if (json_object_array_length(homes) != body->ntasks ||
        (uses && json_object_array_length(uses) != body->ntasks))
        return berth_error_set(err, "homes and uses: %zu expected", body->ntasks);
    for (size_t i = 0; i < body->ntasks; i++) {
        struct enforce_task *task = &body->task[i];

        if (list_from(homes, i, "homes", &task->home, err) < 0)
            return -1;
        task->cpus = task->sized = task->home;
        if (uses && list_from(uses, i, "uses", &task->sized, err) < 0)
            return -1;
        if (uses && (cpus_empty(&task->sized) || !cpus_subset(&task->sized, &task->home)))
            return berth_error_set(err, "uses: not of its home at %zu", i);
        task->use = task->sized;
    }
    return 0;
}

static int body_from_json(struct json_object *entry, struct enforce_step *body,
                          struct berth_error *err)
{
    struct json_object *object = NULL, *homes = NULL, *uses = NULL;

    if (json_get_object(entry, "body", JSON_REQUIRED, &object, err) < 0 ||
        json_get_text(object, "leaf", JSON_REQUIRED, body->leaf, sizeof(body->leaf), err) < 0 ||
        cpus_from(object, "job_home", &body->job_home, err) < 0 ||
        cpus_from(object, "step_home", &body->step_home, err) < 0 ||
        cpus_from(object, "mems_home", &body->mems_home, err) < 0 ||
        json_get_array(object, "homes", JSON_REQUIRED, &homes, err) < 0 ||
        json_get_array(object, "uses", JSON_OPTIONAL, &uses, err) < 0)
        return -1;
    return tasks_from(homes, uses, body, err);
}

static int fill_step(struct json_object *entry, struct step *step, struct berth_error *err)
{
    struct json_object *size = NULL;
    int state = STEP_PLACED, released = STEP_NOT_RELEASED;
    int64_t started_at = 0;

    if (json_get_i64(entry, "started_at", JSON_OPTIONAL, &started_at, err) < 0 ||
        json_get_double(entry, "started_mono_s", JSON_OPTIONAL, &step->started_mono_s, err) < 0 ||
        json_get_u64(entry, "moves", JSON_OPTIONAL, &step->hold.moves, err) < 0 ||
        json_get_word(entry, "state", JSON_REQUIRED, step_state_name, STEP_STATES, &state, err) <
            0 ||
        json_get_text(entry, "reason", JSON_OPTIONAL, step->hold.reason, sizeof(step->hold.reason),
                      err) < 0 ||
        json_get_text(entry, "refused", JSON_OPTIONAL, step->refused, sizeof(step->refused), err) <
            0 ||
        json_get_word(entry, "released", JSON_OPTIONAL, step_released_name, STEP_RELEASES,
                      &released, err) < 0 ||
        json_get_bool(entry, "away", JSON_OPTIONAL, &step->hold.away, err) < 0 ||
        json_get_object(entry, "size", JSON_OPTIONAL, &size, err) < 0 ||
        (size && step_size_from_json(size, &step->size, err) < 0))
        return -1;
    step->started_at = started_at;
    step->state = (enum step_state)state;
    step->released = (enum step_released)released;
    return body_from_json(entry, &step->body, err);
}

/* Forget a step that was read. */
static void drop(struct packer *packer, struct wire_step_id id)
{
    struct step *step = registry_find(&packer->steps, id);

    if (step)
        registry_drop(&packer->steps, step);
}

/* A step that starts again has ended before, even if that could not be written. */
static int load_start(struct packer *packer, struct json_object *entry, struct berth_error *err)
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
    step = request.op == WIRE_OP_REGISTER ? registry_add(&packer->steps, &request.reg) : NULL;
    wire_request_clear(&request);
    if (!step)
        return berth_error_set(err, "request: no registration");
    if (fill_step(entry, step, err) == 0)
        return 0;
    registry_drop(&packer->steps, step);
    return -1;
}

static int load_end(struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    struct wire_step_id id = {0};

    if (json_get_u32(entry, "job", JSON_REQUIRED, &id.job, err) < 0 ||
        json_get_u32(entry, "step", JSON_REQUIRED, &id.step, err) < 0)
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

static int load_stand(struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    struct json_object *pairs = NULL;
    struct pool read;

    if (json_get_array(entry, "stand", JSON_REQUIRED, &pairs, err) < 0 ||
        pool_init(&read, packer->pool.cores) < 0)
        return -1;
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
    pool_free(&packer->pool);
    packer->pool = read;
    return 0;
}

static int load_release(struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    struct wire_step_id id = {0};

    if (json_get_u32(entry, "job", JSON_REQUIRED, &id.job, err) < 0 ||
        json_get_u32(entry, "step", JSON_REQUIRED, &id.step, err) < 0)
        return -1;
    registry_release(&packer->steps, id);
    return 0;
}

static int load_manage(struct packer *packer, struct json_object *entry, struct berth_error *err)
{
    (void)entry, (void)err;
    registry_manage(&packer->steps);
    return 0;
}

struct loading {
    struct packer *packer;
    struct berth_error *err;
    int rc;
};

static int load_entry(struct json_object *entry, void *arg)
{
    static const char *const ops[] = {"start", "end", "stand", "release", "manage"};
    static int (*const load[])(struct packer *, struct json_object *, struct berth_error *) = {
        load_start, load_end, load_stand, load_release, load_manage};
    struct loading *loading = arg;
    int op = 0;

    loading->rc = json_get_word(entry, "op", JSON_REQUIRED, ops, 5, &op, loading->err);
    if (loading->rc == 0)
        loading->rc = load[op](loading->packer, entry, loading->err);
    return loading->rc;
}

int store_load(struct packer *packer, struct berth_error *err)
{
    struct loading loading = {.packer = packer, .err = err};

    if (journal_replay(packer->journal, load_entry, &loading, err) < 0)
        return -1;
    return loading.rc;
}

int store_set_aside(struct packer *packer, struct berth_error *err)
{
    char path[PATH_MAX + 16], bad[PATH_MAX + 16];
    struct step *step;

    snprintf(path, sizeof(path), "%s/journal", packer->conf.state_dir);
    snprintf(bad, sizeof(bad), "%s/journal.bad", packer->conf.state_dir);
    log_error("%s; kept as %s, all steps go home", err->text, bad);
    unlink(bad);
    if (link(path, bad) < 0)
        log_warn("%s: %s", bad, strerror(errno));
    while ((step = TAILQ_FIRST(&packer->steps.live)))
        registry_drop(&packer->steps, step);
    for (size_t core = 0; core < packer->pool.cores; core++)
        packer->pool.stand[core] = POOL_OUTSIDE;
    return store_compact(packer, true, err);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find_ledger - see find_ledger.h */
#include "packer/cli/find/find_ledger.h"

#include <string.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/find/records.h"

#define PATIENCE_S 3 /* with berthd, which has said already what it remembers */

struct finding {
    const struct job_id *id;
    struct json_object *steps;
    size_t before; /* steps that were there */
};

/* ---- a record as an explanation ---- */

static void add_known(struct json_object *object, const char *key, const char *text)
{
    json_add_text(object, key, text[0] ? text : NULL);
}

/* Adds the facts that explain tells in that object. */
static void add_facts(struct json_object *object, const char *of,
                      const struct ledger_record *record)
{
    for (enum fact_id id = fact_next(of, 0); id < FACTS; id = fact_next(of, id + 1))
        if (!ledger_tells(id))
            continue;
        else if (fact[id].kind == FACT_TEXT || fact[id].kind == FACT_CPU_LIST)
            add_known(object, fact[id].key, ledger_word(record, id));
        else
            fact_add(object, id, ledger_fact(record, id));
}

static struct json_object *request_of(const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "job", record->id.job);
    json_add_u64(object, "step", record->id.step);
    json_add_u64(object, "array_job", record->array_job);
    json_add_u64(object, "array_task", record->array_task);
    add_facts(object, "request", record);
    add_known(object, "exe", record->program);
    return object;
}

/* Where it would stand, of one that was only observed. */
static struct json_object *place_of(const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object();

    add_known(object, "policy", record->policy);
    add_known(object, "policy_asked", record->policy);
    add_facts(object, "place", record);
    add_known(object, "cpus", record->proposed[0] ? record->proposed : record->cpus);
    add_known(object, "reason", record->reason);
    json_add_measure(object, "predicted_slowdown", record->slowdown_proposed);
    return object;
}

static struct json_object *facts_of(const char *of, const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object();

    add_facts(object, of, record);
    return object;
}

static struct json_object *enforce_of(const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object();
    bool off = strcmp(record->state, "placed") != 0;

    add_facts(object, "enforce", record);
    add_known(object, "reason", off ? record->reason : "");
    return object;
}

static struct json_object *explanation_of(const struct ledger_record *record)
{
    struct json_object *object = json_object_new_object(), *size = json_object_new_object();
    bool late = strcmp(record->state, "late") == 0;
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(record->id, name);
    json_add_text(object, "id", name);
    json_add_text(object, "from", "ledger");
    json_add_text(object, "node_name", record->node);
    json_add_text(object, "state", late ? "left" : record->state);
    json_add_u64(object, "started_at", (uint64_t)record->start);
    json_add_u64(object, "ended_at", (uint64_t)record->end);
    json_add(object, "exit_status",
             record->exit_status >= 0 ? json_object_new_int(record->exit_status) : NULL);
    json_add(object, "request", request_of(record));
    json_add_u64(size, "cores", record->cores_given);
    json_add_u64(size, "given", record->cores_used);
    json_add(object, "size", record->cores_used ? size : NULL);
    if (!record->cores_used)
        json_object_put(size);
    json_add(object, "place", place_of(record));
    json_add(object, "enforce", enforce_of(record));
    json_add(object, "observe", facts_of("observe", record));
    json_add(object, "bill", facts_of("bill", record));
    json_add(object, "slowdown", facts_of("slowdown", record));
    json_add(object, "loss", facts_of("loss", record));
    return object;
}

/* ---- the records ---- */

static bool is_there(const struct finding *finding, struct wire_step_id id)
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(id, name);
    for (size_t i = 0; i < finding->before; i++)
        if (strcmp(ctl_text(json_object_array_get_idx(finding->steps, i), "id"), name) == 0)
            return true;
    return false;
}

static int on_record(const struct ledger_record *record, void *arg)
{
    struct finding *finding = arg;

    if (job_id_means(finding->id, record->id, record->array_job, record->array_task) &&
        !is_there(finding, record->id))
        json_append(finding->steps, explanation_of(record));
    return 0;
}

int find_ledger(const struct conf *conf, const struct job_id *id, struct json_object *steps,
                struct berth_error *err)
{
    const struct wire_step_id job = {id->job, UINT32_MAX};
    const struct ledger_filter filter = {.njobs = 1, .job = &job};
    struct records records = {.conf = conf, .patience_s = PATIENCE_S};
    struct finding finding = {id, steps, ctl_length(steps)};

    return records_read(&records, &filter, on_record, &finding, err);
}

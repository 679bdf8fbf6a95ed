/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_records - see wire_records.h. The words stay where they were parsed: there may be many. */
#include "packer/wire/wire_records.h"

#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"

#define TIME_MAX 9e15
#define PLACE(member) JSON_FIELD(struct wire_record_place, #member, member, REQUIRED)

const struct json_field wire_record_place_fields[] = {
    JSON_RANGE(struct wire_record_place, "end", end, REQUIRED, 0, TIME_MAX),
    JSON_RANGE(struct wire_record_place, "start", start, REQUIRED, 0, TIME_MAX),
    JSON_FIELD(struct wire_record_place, "job", id.job, REQUIRED),
    JSON_FIELD(struct wire_record_place, "step", id.step, REQUIRED),
    PLACE(cluster),
    PLACE(node),
    PLACE(restart),
    JSON_END,
};

static const struct json_field records_fields[] = {
    JSON_RANGE(struct wire_records, "since", since, OPTIONAL, 0, TIME_MAX),
    JSON_RANGE(struct wire_records, "until", until, OPTIONAL, 0, TIME_MAX),
    JSON_END,
};

/* [job, step], the step null where all are meant */
static const struct json_field job_fields[] = {
    JSON_FIELD(struct wire_step_id, "job", job, REQUIRED),
    JSON_RANGE(struct wire_step_id, "step", step, OPTIONAL, 0, UINT32_MAX - 1),
    JSON_END,
};
static const struct json_field job_item = {
    .kind = JSON_TUPLE, .need = JSON_REQUIRED, .fields = job_fields};

static const struct {
    const char *key;
    size_t offset;
} lists[] = {
    {"users", offsetof(struct wire_records, users)},
    {"accounts", offsetof(struct wire_records, accounts)},
    {"partitions", offsetof(struct wire_records, partitions)},
    {"nodes", offsetof(struct wire_records, nodes)},
};

#define LISTS (sizeof(lists) / sizeof(lists[0]))

static struct wire_words *words_of(const struct wire_records *records, size_t i)
{
    return (struct wire_words *)(void *)((char *)records + lists[i].offset);
}

/* ---- encoding ---- */

static void encode_words(struct json_object *object, const char *key,
                         const struct wire_words *words)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < words->n; i++)
        json_append(list, json_object_new_string(words->word[i]));
    json_add(object, key, list);
}

void wire_records_encode(struct json_object *object, const struct wire_records *records)
{
    struct json_object *after;

    json_write(object, records_fields, records);
    if (records->njobs)
        json_add(object, "jobs",
                 json_new_list(records->njobs, &job_item, records->job, sizeof(records->job[0])));
    for (size_t i = 0; i < LISTS; i++)
        if (words_of(records, i)->n)
            encode_words(object, lists[i].key, words_of(records, i));
    if (!records->next)
        return;
    after = json_object_new_object();
    json_write(after, wire_record_place_fields, &records->after);
    json_add(object, "after", after);
}

/* ---- decoding ---- */

/* Finds a list. Returns 0, with *n 0 where there is none, or -1 and err. */
static int get_list(struct json_object *object, const char *key, struct json_object **list,
                    size_t *n, struct berth_error *err)
{
    *list = NULL;
    if (json_get_array(object, key, JSON_OPTIONAL, list, err) < 0)
        return -1;
    *n = *list ? json_object_array_length(*list) : 0;
    if (*n <= WIRE_RECORDS_WORDS)
        return 0;
    return berth_error_set(err, "%s: at most %d expected, not %zu", key, WIRE_RECORDS_WORDS, *n);
}

static int decode_jobs(struct json_object *object, struct wire_records *records,
                       struct berth_error *err)
{
    struct json_object *list;
    struct wire_step_id *job;

    if (get_list(object, "jobs", &list, &records->njobs, err) < 0)
        return -1;
    records->job = job = calloc(records->njobs + 1, sizeof(*job));
    if (!job)
        return berth_no_memory(err);
    for (size_t i = 0; i < records->njobs; i++)
        job[i].step = UINT32_MAX;
    return records->njobs
               ? json_get_list(list, "jobs", records->njobs, &job_item, job, sizeof(*job), err)
               : 0;
}

static int decode_words(struct json_object *object, const char *key, struct wire_words *words,
                        struct berth_error *err)
{
    struct json_object *list;
    const char **word;

    if (get_list(object, key, &list, &words->n, err) < 0)
        return -1;
    words->word = word = calloc(words->n + 1, sizeof(*word));
    if (!word)
        return berth_no_memory(err);
    for (size_t i = 0; i < words->n; i++) {
        word[i] = json_text(json_object_array_get_idx(list, i));
        if (!word[i])
            return berth_error_set(err, "%s[%zu]: string expected", key, i);
    }
    return 0;
}

static int decode_after(struct json_object *object, struct wire_records *records,
                        struct berth_error *err)
{
    struct json_object *after = NULL;

    if (json_get_object(object, "after", JSON_OPTIONAL, &after, err) < 0)
        return -1;
    records->next = after != NULL;
    if (!after || json_read(after, wire_record_place_fields, &records->after, err) == 0)
        return 0;
    return berth_error_before(err, "after.");
}

int wire_records_decode(struct json_object *object, struct wire_records *records,
                        struct berth_error *err)
{
    int rc;

    *records = (struct wire_records){.kept = json_object_get(object)};
    rc = json_read(object, records_fields, records, err);
    if (rc == 0)
        rc = decode_jobs(object, records, err);
    for (size_t i = 0; rc == 0 && i < LISTS; i++)
        rc = decode_words(object, lists[i].key, words_of(records, i), err);
    if (rc == 0)
        rc = decode_after(object, records, err);
    if (rc < 0)
        wire_records_clear(records);
    return rc;
}

void wire_records_clear(struct wire_records *records)
{
    for (size_t i = 0; i < LISTS; i++)
        free((void *)words_of(records, i)->word);
    free((void *)records->job);
    json_object_put(records->kept);
    *records = (struct wire_records){0};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored - see stored.h. Rows are read from the store a few at a time, as a launch reads them: the
 * event loop waits 10 ms for a writer at most, and nothing is locked between two pages. */
#include "packer/daemon/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/observe/orders.h"
#include "packer/profiles/profiles.h"

#define PAGE_ROWS 16

/* What is left of a page that was read, and where the next one begins. */
struct stored {
    char *text;
    size_t length, used;
    uint64_t at;
    bool any, over;
    int forgotten;
};

static void stored_free(void *own)
{
    struct stored *stored = own;

    free(stored->text);
    free(stored);
}

static struct stored *stored_new(struct reply *reply, struct berth_error *err)
{
    struct stored *stored = calloc(1, sizeof(*stored));

    if (!stored)
        berth_no_memory(err);
    reply->own = stored;
    reply->own_free = stored ? stored_free : NULL;
    return stored;
}

int stored_begin(struct reply *reply, struct berth_error *err)
{
    if (profiles_readable(reply->packer->state->profiles, err) < 0)
        return -1;
    return stored_new(reply, err) ? 0 : -1;
}

/* Writes the next rows: their number, 0 where there are none more, -1 and err. */
static int write_page(const struct reply *reply, struct stored *stored, FILE *out,
                      struct berth_error *err)
{
    const struct packer *packer = reply->packer;
    const char *key = reply->request.profile.key;
    const struct profile_query query = {
        .key = key, .uid = reply->uid, .max_age_days = packer->world.conf.profile_age_days};
    int rows =
        profiles_page(packer->state->profiles, reply->uid, key, &stored->at, PAGE_ROWS, out, err);

    stored->any |= rows > 0;
    if (rows != 0)
        return rows;
    stored->over = true;
    if (!key || stored->any || packer->world.conf.profile_sharing != CONF_SHARING_MEDIAN)
        return 0;
    return profiles_export_median(packer->state->profiles, &query, out, err);
}

static int read_page(struct reply *reply, struct stored *stored, struct berth_error *err)
{
    FILE *out;
    int rows;

    free(stored->text);
    stored->text = NULL;
    stored->used = 0;
    out = open_memstream(&stored->text, &stored->length);
    if (!out)
        return berth_no_memory(err);
    rows = write_page(reply, stored, out, err);
    return fclose(out) == 0 ? rows : berth_no_memory(err);
}

/* Says what is wrong, as the last part: the rows before it are not all. */
static struct json_object *tell_trouble(struct stored *stored, const char *why, const char **name)
{
    stored->over = true;
    *name = "failed";
    return json_object_new_string(why);
}

struct json_object *stored_tell(struct reply *reply, const char **name)
{
    struct stored *stored = reply->own;
    struct json_object *row;
    struct berth_error err;
    const char *line;
    size_t length;

    if (stored->used >= stored->length || !stored->text) {
        int rows = stored->over ? 0 : read_page(reply, stored, &err);

        if (rows < 0)
            return tell_trouble(stored, err.text, name);
        if (rows == 0)
            return NULL;
    }
    line = stored->text + stored->used;
    length = strcspn(line, "\n");
    stored->used += length + 1;
    row = json_parse(line, length, &err);
    if (!row)
        return tell_trouble(stored, err.text, name);
    *name = "row";
    return row;
}

/* Who asks, who is charged here with what his former orders took. */
static struct order_user charge(struct reply *reply)
{
    reply->cpu_s += orders_owed(reply->packer->state->orders, reply->payer);
    return (struct order_user){.uid = reply->uid, .payer = reply->payer};
}

int stored_put(struct reply *reply, struct berth_error *err)
{
    const struct wire_profile *asked = &reply->request.profile;
    const struct order_user user = charge(reply);

    return orders_put(reply->packer, &user, asked->row, asked->replace, err);
}

int stored_forget(struct reply *reply, struct berth_error *err)
{
    const struct wire_profile *asked = &reply->request.profile;
    const struct order_user user = charge(reply);
    struct stored *stored = stored_new(reply, err);

    if (!stored)
        return -1;
    stored->forgotten =
        profiles_count(reply->packer->state->profiles, &user.uid, asked->key, asked->samples, err);
    if (stored->forgotten <= 0)
        return stored->forgotten;
    return orders_forget(reply->packer, &user, asked->key, asked->samples, err);
}

char *stored_tell_forgotten(struct reply *reply)
{
    const struct stored *stored = reply->own;
    char *line = NULL;

    if (asprintf(&line, "{\"version\":%d,\"ok\":true,\"forgotten\":%d}\n", WIRE_VERSION,
                 stored->forgotten) < 0)
        return NULL;
    return line;
}

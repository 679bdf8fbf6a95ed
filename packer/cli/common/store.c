/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store - see store.h. What berthd tells is put into a store of our own, in a folder that goes with
 * us: then all verbs read one thing. */
#include "packer/cli/common/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"

#define DEADLINE_S 30
#define AGAIN_US 100000 /* before berthd is asked again that has no room, or waits for a writer */
#define AGAIN_TIMES 300

bool ctl_store_is_asked(const struct ctl_store *store)
{
    return store->folder[0] != '\0';
}

/* ---- one question ---- */

struct taken {
    FILE *out;      /* rows go there; or NULL */
    int *forgotten; /* a number of rows; or NULL */
};

/* Takes over one line of an answer. */
static int on_line(struct json_object *line, void *arg, struct berth_error *err)
{
    struct json_object *row = ctl_object(line, "row");
    const struct taken *taken = arg;

    if (!ctl_true(line, "ok") || ctl_object(line, "failed"))
        return berth_error_set(err, "%.400s",
                               ctl_text(line, ctl_true(line, "ok") ? "failed" : "error"));
    if (row && taken->out)
        fprintf(taken->out, "%s\n",
                json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN |
                                                        JSON_C_TO_STRING_NOSLASHESCAPE));
    if (taken->forgotten && ctl_object(line, "forgotten"))
        *taken->forgotten = json_object_get_int(ctl_object(line, "forgotten"));
    return ctl_true(line, "more");
}

/* Asks again while somebody writes the store, or too much waits to be written. A row that is told
 * twice is one row. */
static int ask(const struct ctl_store *store, const struct wire_request *request, FILE *out,
               int *forgotten, struct berth_error *err)
{
    struct taken taken = {out, forgotten};
    int rc = -1;

    for (int i = 0; i < AGAIN_TIMES; i++) {
        rc = ctl_ask_lines(store->socket, request, DEADLINE_S, on_line, &taken, err);
        if (rc == 0 || !(strstr(err->text, "try again") || strstr(err->text, "busy")))
            break;
        usleep(AGAIN_US);
    }
    return rc;
}

/* ---- the copy ---- */

static int make_copy(struct ctl_store *store, struct berth_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[sizeof(store->folder) + 16];

    if (!folder || strlen(folder) > sizeof(store->folder) - 20)
        folder = "/tmp";
    snprintf(store->folder, sizeof(store->folder), "%s/berthctl.XXXXXX", folder);
    if (!mkdtemp(store->folder)) {
        berth_error_set(err, "%s: %s", store->folder, strerror(errno));
        store->folder[0] = '\0';
        return -1;
    }
    snprintf(path, sizeof(path), "%s/rows.db", store->folder);
    return profiles_open(&store->rows, path, true, err);
}

/* Adds to the copy what berthd tells of the key (NULL: of all). */
static int fetch(const struct ctl_store *store, const char *key, struct berth_error *err)
{
    const struct wire_request request = {.op = WIRE_OP_PROFILES,
                                         .profile.key = (char *)(uintptr_t)key};
    struct profiles_imported imported;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    int rc = out ? ask(store, &request, out, NULL, err) : berth_no_memory(err);

    if (out && fclose(out) != 0)
        rc = berth_no_memory(err);
    if (rc == 0)
        rc = profiles_import(store->rows, PROFILE_EVERYBODY, text, length, true, &imported, err);
    free(text);
    return rc;
}

int ctl_store_ask_median(const struct ctl_store *store, const char *key, struct berth_error *err)
{
    return ctl_store_is_asked(store) ? fetch(store, key, err) : 0;
}

/* ---- open and close ---- */

/* May we open the store's file? */
static bool have_file(const char *path, bool writes)
{
    return geteuid() == 0 || access(path, writes ? W_OK : R_OK) == 0;
}

int ctl_store_open(struct ctl_store *store, const struct conf *conf, const char *db,
                   const char *socket, bool writes, struct berth_error *err)
{
    const char *path = db ? db : conf->profile_db;
    bool missing = !writes && access(path, F_OK) < 0 && errno == ENOENT;
    struct berth_error why;

    *store = (struct ctl_store){.rows = NULL};
    snprintf(store->socket, sizeof(store->socket), "%s", socket ? socket : conf->socket);
    if (db && missing) /* only of the site's store nothing may have been written yet */
        return berth_error_set(err, "%.300s: %s", db, strerror(ENOENT));
    if (db || (have_file(path, writes) && !missing))
        return profiles_open(&store->rows, path, writes, err);
    if (make_copy(store, &why) == 0 && fetch(store, NULL, &why) == 0)
        return 0;
    ctl_store_close(store);
    return berth_error_set(err, "%.200s: %s; and berthd cannot be asked: %.250s", path,
                           strerror(missing ? ENOENT : EACCES), why.text);
}

void ctl_store_close(struct ctl_store *store)
{
    static const char *const name[] = {"rows.db", "rows.db-journal", "rows.db-wal", "rows.db-shm"};
    char path[sizeof(store->folder) + 24];

    profiles_close(store->rows);
    store->rows = NULL;
    for (size_t i = 0; store->folder[0] && i < sizeof(name) / sizeof(name[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", store->folder, name[i]);
        unlink(path);
    }
    if (store->folder[0])
        rmdir(store->folder);
    store->folder[0] = '\0';
}

/* ---- changes ---- */

static int offer(const struct ctl_store *store, const char *line, size_t length, bool replace,
                 struct berth_error *err)
{
    struct wire_request request = {.op = WIRE_OP_PROFILE_PUT, .profile.replace = replace};
    int rc;

    request.profile.row = strndup(line, length);
    if (!request.profile.row)
        return berth_no_memory(err);
    rc = ask(store, &request, NULL, NULL, err);
    free(request.profile.row);
    return rc;
}

int ctl_store_import(struct ctl_store *store, const char *text, size_t length, bool replace,
                     struct profiles_imported *imported, struct berth_error *err)
{
    const char *end = text + length, *next;

    if (!ctl_store_is_asked(store))
        return profiles_import(store->rows, geteuid(), text, length, replace, imported, err);
    *imported = (struct profiles_imported){0};
    if (profiles_check(geteuid(), text, length, err) < 0)
        return -1;
    for (; text < end; text = next) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((newline ? newline : end) - text);

        next = newline ? newline + 1 : end;
        if (line > 0 && offer(store, text, line, replace, err) < 0)
            return -1;
        imported->taken += line > 0;
    }
    return 0;
}

int ctl_store_forget(struct ctl_store *store, const char *key, bool samples,
                     struct berth_error *err)
{
    const struct wire_request request = {
        .op = WIRE_OP_PROFILE_FORGET,
        .profile = {.key = (char *)(uintptr_t)key, .samples = samples}};
    int rows = 0;

    if (!ctl_store_is_asked(store))
        return profiles_forget(store->rows, NULL, key, samples, err);
    return ask(store, &request, NULL, &rows, err) < 0 ? -1 : rows;
}

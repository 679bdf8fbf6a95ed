/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_state - the file by which the bill outlives berthd: STATE_DIR/bill.
 *
 * One JSON object, written anew beside it and renamed, not synced: like the journal it has to
 * outlive the daemon, not the kernel. It is written by hand, for that is done once a second, or
 * less often where it takes long (a disk, many steps). What cannot be read is set aside and said;
 * accounts then begin anew. */
#include "packer/bill/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"

#define STATE_VERSION 1
#define STATE_MAX (16u << 20) /* bytes: more is none of ours */

/* ---- accounts begin ---- */

void bill_zones_init(struct bill *bill, const struct energy_zone *zone, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bill_zone *fresh = &bill->zone[i];
        struct energy_zone what = zone ? zone[i] : fresh->zone;

        *fresh = (struct bill_zone){.zone = what, .busy_known = true};
        nnls_fit_init(&fresh->fit, BILL_FEATURES, BILL_MEMORY);
        nnls_fit_init(&fresh->fit_busy, BILL_BUSY + 1, BILL_MEMORY);
    }
    bill->zones = n;
}

/* ---- writing ---- */

static void put_fit(FILE *out, const char *name, const struct nnls_fit *fit)
{
    fprintf(out, ",\"%s\":[%.17g,%.17g", name, fit->samples, fit->yy);
    for (size_t i = 0; i < fit->n; i++)
        fprintf(out, ",%.17g", fit->h[i]);
    for (size_t i = 0; i < fit->n; i++)
        for (size_t k = 0; k <= i; k++)
            fprintf(out, ",%.17g", fit->g[i][k]);
    fputc(']', out);
}

static void put_zone(FILE *out, const struct bill_zone *zone)
{
    const struct bill_account *account = &zone->account;

    fprintf(
        out,
        "{\"domain\":\"%s\",\"package\":%u,\"metered_uj\":%" PRIu64 ",\"steps_uj\":%" PRIu64
        ",\"idle_uj\":%" PRIu64 ",\"unmanaged_uj\":%" PRIu64 ",\"gaps\":%" PRIu64 ",\"columns\":%u",
        energy_domain_name[zone->zone.domain], zone->zone.package, account->metered_uj,
        account->steps_uj, account->idle_uj, account->unmanaged_uj, account->gaps, zone->columns);
    put_fit(out, "fit", &zone->fit);
    put_fit(out, "fit_busy", &zone->fit_busy);
    fputc('}', out);
}

static void put_step(FILE *out, const struct step *step)
{
    const struct step_bill *bill = &step->bill;

    fprintf(out,
            "{\"job\":%u,\"step\":%u,\"started_at\":%" PRId64 ",\"gaps\":%" PRIu64
            ",\"source\":\"%s\",\"modelled\":%s,\"by\":%u,\"idle\":\"%s\"",
            step->request.id.job, step->request.id.step, step->started_at, bill->gaps, bill->source,
            bill->modelled ? "true" : "false", bill->running->by,
            conf_idle_energy_name[bill->idle]);
    for (size_t d = 0; d < ENERGY_DOMAINS; d++)
        if (bill->known[d])
            fprintf(out, ",\"%s_uj\":%" PRIu64 ",\"%s_idle_uj\":%" PRIu64, energy_domain_name[d],
                    bill->uj[d], energy_domain_name[d], bill->idle_uj[d]);
    fputc('}', out);
}

static void put_all(FILE *out, const struct packer *packer, const struct bill *bill)
{
    const struct step *step;
    bool first = true;

    fprintf(out, "{\"version\":%d,", STATE_VERSION);
    if (bill->stopping)
        bill_stop_put(out, packer, bill);
    fputs("\"zones\":[", out);
    for (size_t i = 0; i < bill->zones; i++) {
        fputs(i ? "," : "", out);
        put_zone(out, &bill->zone[i]);
    }
    fputs("],\"steps\":[", out);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!step->bill.running)
            continue;
        fputs(first ? "" : ",", out);
        put_step(out, step);
        first = false;
    }
    fputs("]}\n", out);
}

static void path_of(const struct packer *packer, const char *suffix, char path[PATH_MAX + 16])
{
    snprintf(path, PATH_MAX + 16, "%s/bill%s", packer->world.conf.state_dir, suffix);
}

void bill_save(const struct packer *packer, struct bill *bill)
{
    size_t length = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    char path[PATH_MAX + 16];
    bool written = false;

    path_of(packer, "", path);
    if (out) {
        put_all(out, packer, bill);
        written = fclose(out) == 0 && file_replace(path, 0600, 0, text, length) == 0;
    }
    if (!written && !bill->save_failed)
        log_error("bill: totals are not kept for the next berthd: %s", strerror(errno));
    bill->save_failed = !written;
    bill->saved_s = bill->at_s;
    bill->save_took_s = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) * 1e-9;
    free(text);
}

/* ---- reading ---- */

/* The i-th of a list of numbers. */
static double at(struct json_object *list, size_t i)
{
    return json_object_get_double(json_object_array_get_idx(list, i));
}

/* A list that is none of ours leaves the fit as it is: what is not known is learned. */
static void get_fit(struct json_object *object, const char *name, struct nnls_fit *fit)
{
    struct json_object *list = NULL;
    size_t n = fit->n, next = 2;

    if (json_get_array(object, name, JSON_OPTIONAL, &list, NULL) < 0 || !list ||
        json_object_array_length(list) != 2 + n + n * (n + 1) / 2)
        return;
    fit->samples = at(list, 0);
    fit->yy = at(list, 1);
    for (size_t i = 0; i < n; i++)
        fit->h[i] = at(list, next++);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++)
            fit->g[i][k] = fit->g[k][i] = at(list, next++);
}

static int get_zone(struct bill *bill, struct json_object *object, struct berth_error *err)
{
    struct bill_account account = {0};
    uint32_t package = 0, columns = 0;
    int domain = 0;

    if (json_get_word(object, "domain", JSON_REQUIRED, energy_domain_name, ENERGY_DOMAINS, &domain,
                      err) < 0 ||
        json_get_u32(object, "package", JSON_REQUIRED, &package, err) < 0 ||
        json_get_u64(object, "metered_uj", JSON_REQUIRED, &account.metered_uj, err) < 0 ||
        json_get_u64(object, "steps_uj", JSON_REQUIRED, &account.steps_uj, err) < 0 ||
        json_get_u64(object, "idle_uj", JSON_REQUIRED, &account.idle_uj, err) < 0 ||
        json_get_u64(object, "unmanaged_uj", JSON_REQUIRED, &account.unmanaged_uj, err) < 0 ||
        json_get_u64(object, "gaps", JSON_REQUIRED, &account.gaps, err) < 0 ||
        json_get_u32(object, "columns", JSON_OPTIONAL, &columns, err) < 0)
        return -1;
    if (account.steps_uj + account.idle_uj + account.unmanaged_uj != account.metered_uj)
        return berth_error_set(err, "a zone's account does not add up");
    for (size_t i = 0; i < bill->zones; i++) {
        struct bill_zone *zone = &bill->zone[i];

        if ((int)zone->zone.domain != domain || zone->zone.package != package)
            continue;
        zone->account = account;
        zone->account.gaps += !zone->resumed; /* else nobody has metered in between */
        zone->columns = columns;
        get_fit(object, "fit", &zone->fit);
        get_fit(object, "fit_busy", &zone->fit_busy);
    }
    return 0;
}

/* What a meter's kind has told of the step: nothing, or its energy and the idle part of that. */
static int get_domain(struct step_bill *bill, size_t d, struct json_object *object,
                      struct berth_error *err)
{
    char name[32], idle[32];

    snprintf(name, sizeof(name), "%s_uj", energy_domain_name[d]);
    snprintf(idle, sizeof(idle), "%s_idle_uj", energy_domain_name[d]);
    bill->known[d] = json_object_object_get_ex(object, name, NULL);
    if (json_get_u64(object, name, JSON_OPTIONAL, &bill->uj[d], err) < 0 ||
        json_get_u64(object, idle, JSON_OPTIONAL, &bill->idle_uj[d], err) < 0)
        return -1;
    if (bill->idle_uj[d] > bill->uj[d])
        return berth_error_set(err, "a step's bill does not add up");
    return 0;
}

/* A berthd that had no rule has billed by cores; one that did not say whether a model did so had
 * that as its source. */
static int get_step(struct bill *bill, struct json_object *object, struct berth_error *err)
{
    struct bill_saved *saved = &bill->saved[bill->saved_n];
    int idle = CONF_IDLE_CORES;

    *saved = (struct bill_saved){.bill.gaps = 0};
    if (json_get_u32(object, "job", JSON_REQUIRED, &saved->id.job, err) < 0 ||
        json_get_u32(object, "step", JSON_REQUIRED, &saved->id.step, err) < 0 ||
        json_get_i64(object, "started_at", JSON_REQUIRED, &saved->started_at, err) < 0 ||
        json_get_u64(object, "gaps", JSON_REQUIRED, &saved->bill.gaps, err) < 0 ||
        json_get_u32(object, "by", JSON_REQUIRED, &saved->by, err) < 0 ||
        json_get_word(object, "idle", JSON_OPTIONAL, conf_idle_energy_name, CONF_IDLES, &idle,
                      err) < 0 ||
        json_get_text(object, "source", JSON_REQUIRED, saved->bill.source,
                      sizeof(saved->bill.source), err) < 0)
        return -1;
    saved->bill.modelled = strcmp(saved->bill.source, energy_model.name) == 0;
    if (json_get_bool(object, "modelled", JSON_OPTIONAL, &saved->bill.modelled, err) < 0)
        return -1;
    saved->bill.idle = (enum conf_idle_energy)idle;
    for (size_t d = 0; d < ENERGY_DOMAINS; d++)
        if (get_domain(&saved->bill, d, object, err) < 0)
            return -1;
    bill->saved_n++;
    return 0;
}

static int get_all(const struct packer *packer, struct bill *bill, struct json_object *object,
                   double now_s, struct berth_error *err)
{
    struct json_object *zones = NULL, *steps = NULL;
    uint32_t version = 0;

    if (json_get_u32(object, "version", JSON_REQUIRED, &version, err) < 0 ||
        json_get_array(object, "zones", JSON_REQUIRED, &zones, err) < 0 ||
        json_get_array(object, "steps", JSON_REQUIRED, &steps, err) < 0)
        return -1;
    if (version != STATE_VERSION)
        return berth_error_set(err, "version %u is not known", version);
    if (bill_stop_get(packer, bill, object, now_s, err) < 0)
        return -1;
    for (size_t i = 0; i < json_object_array_length(zones); i++)
        if (get_zone(bill, json_object_array_get_idx(zones, i), err) < 0)
            return -1;
    bill->saved = calloc(json_object_array_length(steps) + 1, sizeof(*bill->saved));
    for (size_t i = 0; bill->saved && i < json_object_array_length(steps); i++)
        if (get_step(bill, json_object_array_get_idx(steps, i), err) < 0)
            return -1;
    return 0;
}

/* Keep the file for whoever wants to know, and begin anew. */
static void set_aside(const struct packer *packer, struct bill *bill, const char *path,
                      const char *why)
{
    char bad[PATH_MAX + 16];

    path_of(packer, ".bad", bad);
    log_error("%s: %s; it is kept as %s, and accounts begin anew", path, why, bad);
    rename(path, bad);
    bill_zones_init(bill, NULL, bill->zones);
    bill->saved_n = 0;
    bill->bridging = false;
}

void bill_load(const struct packer *packer, struct bill *bill, double now_s)
{
    struct berth_error err = {""};
    struct json_object *object;
    char path[PATH_MAX + 16];
    size_t length = 0;
    char *text;

    path_of(packer, "", path);
    text = file_read(path, STATE_MAX, &length, &err);
    if (!text && errno == ENOENT)
        return;
    object = text ? json_parse(text, length, &err) : NULL;
    free(text);
    if (!json_object_is_type(object, json_type_object) && !err.text[0])
        berth_error_set(&err, "not a JSON object");
    if (err.text[0] || get_all(packer, bill, object, now_s, &err) < 0)
        set_aside(packer, bill, path, err.text);
    json_object_put(object);
}

void bill_state_pass(const struct packer *packer)
{
    struct json_object *object;
    char path[PATH_MAX + 16];
    size_t length = 0;
    const char *less;
    char *text;

    path_of(packer, "", path);
    text = file_read(path, STATE_MAX, &length, NULL);
    object = text ? json_parse(text, length, NULL) : NULL;
    free(text);
    if (json_object_is_type(object, json_type_object) &&
        json_object_object_get_ex(object, "stopped", NULL)) {
        json_object_object_del(object, "stopped");
        less = json_object_to_json_string(object);
        if (!less || file_replace(path, 0600, 0, less, strlen(less)) < 0)
            unlink(path);
    }
    json_object_put(object);
}

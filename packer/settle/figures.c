/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_figures - see settle/figures.h */
#include "packer/settle/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/ledger/ledger.h"

/* Joules, exactly, in as few digits as tell them. */
static void add_energy(struct json_object *object, const struct report_energy *energy)
{
    char text[64];
    size_t length;

    snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu32, energy->j, energy->uj);
    length = strlen(text);
    while (text[length - 1] == '0')
        text[--length] = '\0';
    if (text[length - 1] == '.')
        text[--length] = '\0';
    json_add(object, "energy_j", json_object_new_double_s(report_energy_j(energy), text));
}

static void add_edp(struct json_object *object, double edp)
{
    char text[64];

    if (isnan(edp))
        return;
    snprintf(text, sizeof(text), "%.6g", edp);
    json_add(object, "edp", json_object_new_double_s(edp, text));
}

/* A visitor's job: *arg becomes its figures. */
static int tell_job(const struct report_row *job, const struct report_row *steps, size_t n,
                    void *arg)
{
    const struct report_energy *energy = &job->energy[REPORT_ENERGY];
    struct json_object *object = json_object_new_object();
    struct settle_figures *figures = arg;

    (void)steps, (void)n;
    figures->joules = 0;
    json_add_u64(object, "version", 1);
    json_add_u64(object, "nodes", (uint64_t)job->number[REPORT_NNODES]);
    json_add_u64(object, "steps", (uint64_t)job->number[REPORT_STEPS]);
    json_add_u64(object, "moves", (uint64_t)job->number[REPORT_MOVES]);
    if (energy->metered && energy->metered == job->records) {
        if (!text_lists(job->text[REPORT_ENERGY_SOURCE], "model"))
            figures->joules = energy->j + (energy->uj >= 500000);
        add_energy(object, energy);
        add_edp(object, job->number[REPORT_EDP]);
        json_add_text(object, "source", job->text[REPORT_ENERGY_SOURCE]);
        if (job->text[REPORT_IDLE_ENERGY][0])
            json_add_text(object, "idle_energy", job->text[REPORT_IDLE_ENERGY]);
    }
    free(figures->json);
    figures->json = strdup(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
    return figures->json ? 0 : -1;
}

int settle_figures_of(struct report *report, struct settle_figures *figures)
{
    struct report_visitor visitor = {.job = tell_job, .arg = figures};

    *figures = (struct settle_figures){NULL, 0};
    return report_walk(report, NULL, false, &visitor, NULL);
}

/* ---- the ledger ---- */

struct reading {
    const struct ledger_run *run;
    struct report *report;
    int rc; /* of report_add */
};

static int on_record(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    if (ledger_is_known(record) && record->restart == reading->run->restart &&
        record->uid == reading->run->uid && strcmp(record->cluster, reading->run->cluster) == 0)
        reading->rc = report_add(reading->report, record);
    return reading->rc;
}

int settle_figures_read(const char *url, const char *defaults_file, const struct ledger_run *run,
                        struct settle_figures *figures, struct berth_error *err)
{
    struct wire_step_id id = {run->job, UINT32_MAX};
    struct ledger_filter filter = {.njobs = 1, .job = &id};
    struct reading reading = {run, report_new(), 0};
    int rc = -1;

    *figures = (struct settle_figures){NULL, 0};
    if (!reading.report)
        return berth_no_memory(err);
    if (ledger_read(url, defaults_file, &filter, on_record, &reading, err) == 0) {
        rc = reading.rc < 0 ? -1 : settle_figures_of(reading.report, figures);
        if (rc < 0)
            berth_no_memory(err);
    }
    report_free(reading.report);
    return rc;
}

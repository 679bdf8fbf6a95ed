/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - see verdict.h */
#include "packer/cli/node/verdict.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/find/records.h"

#define PATIENCE_S 5 /* with berthd, where that tells of the records */

struct reading {
    struct benefit *benefit;
    int64_t trial; /* when the first of it ended; 0: none has */
    int error;     /* errno; 0: none */
};

static int on_record(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    if (record->trial[0] && (!reading->trial || record->end < reading->trial))
        reading->trial = record->end;
    if (benefit_add(reading->benefit, record) == 0)
        return 0;
    reading->error = errno;
    return 1;
}

struct benefit *verdict_read(const char *config, const char *node, struct verdict_read *read,
                             struct berth_error *err)
{
    struct conf conf;
    struct records records = {.conf = &conf, .patience_s = PATIENCE_S};
    struct ledger_filter filter = {.nnodes = node ? 1 : 0,
                                   .node = &node,
                                   .by_job = true,
                                   .since = time(NULL) - VERDICT_DAYS * 86400};
    struct reading reading = {0};
    int rc;

    if (ctl_conf(config, &conf, err) < 0)
        return NULL;
    reading.benefit = benefit_new();
    if (!reading.benefit) {
        berth_no_memory(err);
        return NULL;
    }
    rc = records_read(&records, &filter, on_record, &reading, err);
    if (rc == 0 && reading.error)
        rc = berth_error_set(err, "%s", strerror(reading.error));
    *read = (struct verdict_read){.own = records.own, .trial = reading.trial};
    if (rc == 0)
        return reading.benefit;
    benefit_free(reading.benefit);
    return NULL;
}

/* ---- how long until it can be told ---- */

/* Returns "about 9 days", "about 5 hours"; at least one. */
static void put_duration(char *text, size_t size, double seconds)
{
    bool days = seconds > 2 * 86400.0;
    double n = ceil(seconds / (days ? 86400 : 3600));

    text_append(text, size, "about %.0f %s%s", n, days ? "day" : "hour", n == 1 ? "" : "s");
}

static void say_untold(const struct benefit_verdict *verdict, const struct verdict_read *read,
                       int64_t now, char *text)
{
    double measured = verdict->trial ? (double)verdict->slurm_n : 0;
    double missing = (double)verdict->needed - measured, passed = (double)(now - read->trial);

    text_append(text, BENEFIT_SENTENCE_MAX, "cannot be told yet: ");
    if (measured < 1) {
        text_append(text, BENEFIT_SENTENCE_MAX,
                    "no program was measured both where the lot left it and where berth put it");
        return;
    }
    text_append(text, BENEFIT_SENTENCE_MAX, "%.0f job%s that the lot left where Slurm put %s",
                measured, measured == 1 ? "" : "s", measured == 1 ? "it" : "them");
    if (!(missing > 0))
        return;
    text_append(text, BENEFIT_SENTENCE_MAX, ", of about %zu that it takes", verdict->needed);
    if (read->trial && passed > 0) {
        text_append(text, BENEFIT_SENTENCE_MAX, "; at this rate that is ");
        put_duration(text, BENEFIT_SENTENCE_MAX, passed / measured * missing);
        text_append(text, BENEFIT_SENTENCE_MAX, " more");
    }
}

void verdict_say(const struct benefit_result *result, const struct verdict_read *read, int64_t now,
                 char text[BENEFIT_SENTENCE_MAX])
{
    text[0] = '\0';
    if (result->verdict.word == BENEFIT_UNTOLD)
        say_untold(&result->verdict, read, now, text);
    else
        benefit_sentence(result, text);
}

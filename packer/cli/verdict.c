/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verdict - see verdict.h */
#include "packer/cli/verdict.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/records.h"

#define PATIENCE_S 5 /* with berthd, where that tells of the records */

struct reading {
    struct benefit *benefit;
    int error; /* errno; 0: none */
};

static int take(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    if (benefit_add(reading->benefit, record) == 0)
        return 0;
    reading->error = errno;
    return 1;
}

struct benefit *verdict_read(const char *config, const char *node, bool *own,
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
    rc = records_read(&records, &filter, take, &reading, err);
    if (rc == 0 && reading.error)
        rc = berth_error_set(err, "%s", strerror(reading.error));
    *own = records.own;
    if (rc == 0)
        return reading.benefit;
    benefit_free(reading.benefit);
    return NULL;
}

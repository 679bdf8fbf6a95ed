/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_box - see ledger_box.h */
#include "tests/unit/common/ledger_box.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/ledger/schema.h"
#include "tests/unit/common/folder.h"

void ledger_box_open(struct ledger_box *box)
{
    memset(box, 0, sizeof(*box));
    folder_new(box->folder, sizeof(box->folder), "berth-ledger");
    conf_init(&box->conf);
    sprintf(box->conf.ledger, "sqlite:%s/ledger.db", box->folder);
    sprintf(box->conf.state_dir, "%s/state", box->folder);
    sprintf(box->conf.ledger_queue, "%s/queue", box->folder);
}

void ledger_box_close(struct ledger_box *box)
{
    folder_remove(box->folder);
}

/* Something in every field, different in each. */
struct ledger_record ledger_box_record(unsigned n)
{
    struct ledger_record record;

    ledger_record_init(&record);
    for (size_t i = 0; ledger_fields[i].name; i++) {
        const struct json_field *field = &ledger_fields[i];
        char *at = (char *)&record + field->offset;

        if (field->kind == JSON_TEXT)
            snprintf(at, field->size, "%.8s %zu", field->name, i);
        else if (field->kind == JSON_NUMBER)
            *(double *)at = field->whole ? 9007199254740991 - (double)i : (double)(i + 1) / 3;
        else if (field->kind == JSON_UNSIGNED && field->size == sizeof(uint32_t))
            *(uint32_t *)at = UINT32_MAX - (uint32_t)i;
        else if (field->kind == JSON_UNSIGNED)
            *(uint64_t *)at = INT64_MAX - i;
    }
    strcpy(record.identity, "slurmctld");
    record.id = (struct wire_step_id){n + 1, WIRE_STEP_BATCH};
    record.start = 1000 + n;
    record.end = 2000 + n;
    record.exit_status = 256;
    return record;
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool ledger_box_same(const struct ledger_record *a, const struct ledger_record *b)
{
    for (const struct json_field *field = ledger_fields; field->name; field++) {
        const char *x = (const char *)a + field->offset, *y = (const char *)b + field->offset;
        bool same = field->kind == JSON_TEXT ? strcmp(x, y) == 0
                    : field->kind == JSON_NUMBER
                        ? same_number(*(const double *)x, *(const double *)y)
                        : memcmp(x, y, field->size) == 0;

        if (!same) {
            print_error("%s differs\n", field->name);
            return false;
        }
    }
    return true;
}

bool ledger_box_arrived(struct ledger *ledger)
{
    char why[256] = "";

    for (int i = 0; i < 6000; i++) {
        if (ledger_waiting(ledger, why) == 0)
            return true;
        usleep(10000);
    }
    print_error("still waiting: %s\n", why);
    return false;
}

static int count_one(const struct ledger_record *record, void *arg)
{
    (void)record;
    ++*(size_t *)arg;
    return 0;
}

size_t ledger_box_stored(const struct ledger_box *box)
{
    struct ledger_filter filter = {.njobs = 0};
    struct berth_error err;
    size_t n = 0;

    if (ledger_read(box->conf.ledger, "", &filter, count_one, &n, &err) < 0)
        fail_msg("%s", err.text);
    return n;
}

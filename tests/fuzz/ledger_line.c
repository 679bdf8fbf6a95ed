/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the ledger's lines: a record that is read can be written, and comes back the same.
 */
#include <stdlib.h>
#include <string.h>

#include "packer/ledger/line.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"cluster\":\"north\",\"node\":\"n1\",\"job\":4711,\"step\":4294967291,\"uid\":1000,"
    "\"user\":\"ann\",\"start\":1700000000,\"end\":1700000600,\"elapsed_s\":600.25,"
    "\"exit_status\":256,\"state\":\"placed\",\"moves\":3,\"uj_package\":38000000000,"
    "\"uj_dram\":null,\"power_w\":70.1,\"slowdown_source\":\"contend, profile\"}\n",
    "{\"job\":1,\"start\":1}", "{\"job\":1,\"start\":1,\"job_name\":\"\\ud800\\u0000\"}", "[]",
    NULL};

static void one(const uint8_t *data, size_t size)
{
    struct ledger_record record, again;
    struct berth_error err = {""};
    char *line, *second;

    if (ledger_line_decode((const char *)data, size, &record, &err) < 0) {
        fuzz_assert(err.text[0]);
        return;
    }
    line = ledger_line_encode(&record);
    fuzz_assert(line && strchr(line, '\n') == line + strlen(line) - 1);
    fuzz_assert(ledger_line_decode(line, strlen(line), &again, &err) == 0);
    second = ledger_line_encode(&again);
    fuzz_assert(second && strcmp(line, second) == 0);
    free(second);
    free(line);
}

const struct fuzz_target fuzz_ledger_line = {.name = "ledger_line", .one = one, .seed = seeds};

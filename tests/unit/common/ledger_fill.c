/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_fill URL - put records into a ledger, for tests: each line of stdin is one, as the queue
 * has them (ledger/line.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/ledger/line.h"
#include "packer/ledger/store.h"

#define BATCH 4096

static int put(struct ledger_store *store, const struct ledger_record *records, size_t n)
{
    struct berth_error err;
    bool refused;

    if (ledger_store_put(store, records, n, &refused, &err) == 0)
        return 0;
    fprintf(stderr, "ledger_fill: %s\n", err.text);
    return -1;
}

/* Every line of stdin. */
static int fill(struct ledger_store *store, struct ledger_record *records)
{
    char *line = NULL;
    size_t room = 0, n = 0;
    struct berth_error err;
    int rc = 0;

    while (rc == 0 && getline(&line, &room, stdin) > 0) {
        if (ledger_line_decode(line, strlen(line), &records[n], &err) < 0) {
            fprintf(stderr, "ledger_fill: %s: %s", err.text, line);
            rc = -1;
        } else if (++n == BATCH) {
            rc = put(store, records, n);
            n = 0;
        }
    }
    free(line);
    return rc == 0 && n ? put(store, records, n) : rc;
}

int main(int argc, char **argv)
{
    struct ledger_record *records = malloc(BATCH * sizeof(*records));
    struct ledger_store *store;
    struct berth_error err;
    struct conf conf;
    int rc;

    if (argc != 2 || !records) {
        fputs("usage: ledger_fill URL\n", stderr);
        return 2;
    }
    conf_init(&conf);
    snprintf(conf.ledger, sizeof(conf.ledger), "%s", argv[1]);
    if (ledger_store_open(&store, &conf, &err) < 0) {
        fprintf(stderr, "ledger_fill: %s\n", err.text);
        return 1;
    }
    rc = fill(store, records);
    ledger_store_close(store);
    free(records);
    return rc == 0 ? 0 : 1;
}

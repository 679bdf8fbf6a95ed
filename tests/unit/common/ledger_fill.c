/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_fill URL [nodes] - put records into a ledger, for tests: each line of stdin is one, as the
 * queue has them (ledger/line.h). With `nodes` each is a node's last news: its name, when that was
 * told, since when berthd runs, steps, released, denied, refused, missed. */
#include <inttypes.h>
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

/* Every line of stdin, of a node each. */
static int fill_nodes(struct ledger_store *store)
{
    struct ledger_node node = {.berth = "0.1.0"};
    struct berth_error err;
    int released, denied;

    while (scanf("%63s %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %d %" SCNd64 " %" SCNd64, node.node,
                 &node.at, &node.up_at, &node.steps, &released, &denied, &node.refused,
                 &node.missed) == 8) {
        node.released = released;
        node.denied = denied;
        if (ledger_store_node(store, &node, &err) < 0) {
            fprintf(stderr, "ledger_fill: %s\n", err.text);
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct ledger_record *records = malloc(BATCH * sizeof(*records));
    struct ledger_store *store;
    struct berth_error err;
    struct conf conf;
    int rc;

    if (argc < 2 || argc > 3 || !records) {
        fputs("usage: ledger_fill URL [nodes]\n", stderr);
        return 2;
    }
    conf_init(&conf);
    snprintf(conf.ledger, sizeof(conf.ledger), "%s", argv[1]);
    if (ledger_store_open(&store, &conf, &err) < 0) {
        fprintf(stderr, "ledger_fill: %s\n", err.text);
        return 1;
    }
    rc = argc == 3 ? fill_nodes(store) : fill(store, records);
    ledger_store_close(store);
    free(records);
    return rc == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of berth-steer: its file of state, and the rows that somebody has written into the
 * ledger's database. Whatever they say, a node's weight is its admin's, or one of the levels
 * above. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/steer.h"
#include "packer/sql/sql.h"
#include "steer/news.h"
#include "steer/round.h"
#include "steer/state.h"
#include "tests/fuzz/fuzz.h"

#define NOW 1700000000
#define NODES 3
#define ROW "cn1\f1700000000\f0.5"

static const char *const state_seeds[] = {
    "{\"at\":1700000000,\"until\":1700000300,\"own\":{\"cn1\":10,\"cn2\":20,\"gone\":1}}",
    "{\"at\":-1,\"until\":9223372036854775807,\"own\":{\"cn1\":-1,\"cn2\":4294967296,\"cn3\":\"7\"}"
    "}",
    "{\"own\":{\"cn1\":null,\"cn2\":1e9,\"cn3\":[]}}",
    "{\"at\":1,\"until\":2,\"most\":32,\"own\":{\"cn1\":1,\"cn2\":8,\"cn3\":10}}",
    "{\"most\":9223372036854775807,\"own\":{\"cn1\":0,\"cn2\":0}}",
    "{\"own\":{}}",
    "",
    NULL};
static const char *const news_seeds[] = {ROW "\f" ROW,  "cn2\f1700000061\f0.1",   "cn3\fnow\fmuch",
                                         "cn1\f-1\f-1", "cn1\f1700000000\f1e999", "",
                                         NULL};

static void make_nodes(struct steer_node node[NODES])
{
    for (int i = 0; i < NODES; i++) {
        node[i] = (struct steer_node){.chosen = true, .up = true, .in_use = i > 0};
        snprintf(node[i].name, sizeof(node[i].name), "cn%d", i + 1);
        node[i].weight = node[i].own = node[i].wanted = 10u + (unsigned)i;
        node[i].pressure = NAN;
    }
}

static void assert_sound(const struct steer_nodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        fuzz_assert(nodes->node[i].wanted >= nodes->node[i].own &&
                    nodes->node[i].wanted - nodes->node[i].own <= STEER_FINE);
}

/* What is read is written and read again as the same. */
static void one_state(const uint8_t *data, size_t size)
{
    struct steer_node node[NODES], again[NODES];
    struct steer_nodes nodes = {NODES, node, STEER_FINE}, other = {NODES, again, STEER_FINE};
    struct steer_state state, same;
    struct berth_error err = {""};
    const char *path = fuzz_file("state.json", data, size);

    make_nodes(node);
    make_nodes(again);
    if (state_read(path, &state, &nodes, &err) < 0) {
        fuzz_assert(err.text[0]);
        return;
    }
    for (size_t i = 0; i < NODES; i++)
        fuzz_assert(node[i].weight - node[i].own <= STEER_FINE);
    round_want(&nodes, NOW);
    assert_sound(&nodes);
    fuzz_assert(state_write(path, &state, &nodes, &err) == 0);
    fuzz_assert(state_read(path, &same, &other, &err) == 0);
    for (size_t i = 0; i < NODES; i++)
        fuzz_assert(again[i].own == node[i].own);
    fuzz_assert(state.at < 0 || same.at == state.at);
}

/* Writes rows as text, which SQLite keeps where it is no number. */
static void write_rows(const char *url, char *text)
{
    const struct sql_options options = {.defaults = "", .writable = true};
    char *part[3 * NODES];
    struct sql_statement *insert;
    struct berth_error err;
    struct sql *sql;

    fuzz_parts(text, part, 3 * NODES);
    fuzz_assert(sql_open(&sql, url, &options, &err) == 0);
    fuzz_assert(
        sql_run(sql, "CREATE TABLE IF NOT EXISTS steer_node (node, \"at\", pressure)", &err) == 0);
    fuzz_assert(sql_run(sql, "DELETE FROM steer_node", &err) == 0);
    fuzz_assert(sql_prepare(sql, "INSERT INTO steer_node VALUES (?, ?, ?)", &insert, &err) == 0);
    for (int i = 0; i < NODES; i++) {
        for (size_t k = 0; k < 3; k++)
            sql_bind_text(insert, k, part[3 * i + (int)k]);
        fuzz_assert(sql_step(insert, &err) == 0);
        sql_reset(insert);
    }
    sql_finish(insert);
    sql_close(sql);
}

static void one_news(const uint8_t *data, size_t size)
{
    struct steer_node node[NODES];
    struct steer_nodes nodes = {NODES, node, STEER_FINE};
    char *text = fuzz_text(data, size), url[160];
    struct berth_error err = {""};

    snprintf(url, sizeof(url), "sqlite:%s/news.db", fuzz_folder());
    write_rows(url, text);
    free(text);
    make_nodes(node);
    fuzz_assert(news_read(url, "", &nodes, NOW, &err) == 0);
    for (size_t i = 0; i < NODES; i++)
        fuzz_assert(isnan(node[i].pressure) ||
                    (node[i].pressure >= 0 && isfinite(node[i].pressure)));
    round_want(&nodes, NOW);
    assert_sound(&nodes);
}

const struct fuzz_target fuzz_steer_state = {
    .name = "steer_state", .one = one_state, .seed = state_seeds};
const struct fuzz_target fuzz_steer_news = {
    .name = "steer_news", .one = one_news, .seed = news_seeds, .slow = 20};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of files of samples: a refused file is named, with its line; what was read plays with
 * counts that never fall, and its samples, written again, are read as the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/counters/recorded.h"
#include "packer/counters/sample_line.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"version\":1,\"step\":\"a\",\"at\":1.5,\"instructions\":1200000000,\"cycles\":2e9,"
    "\"threads\":2,\"rss_node\":[4096,0],\"error\":{\"cycles\":0.01},\"other\":[null]}\n"
    "{\"version\":1,\"step\":\"b c\",\"at\":0,\"faults\":7}\n"
    "{\"version\":1,\"step\":\"a\",\"at\":2.5,\"instructions\":2400000000,\"threads\":1}\n",
    "step,at,instructions,note,cpu_ns,threads\na,1,5,\"x, \"\"y\"\"\",1e9,3\n\"b,\",0.25,,,7,\n"
    "a,2,6,,1.5e9,1\n",
    "{\"step\":\"a\",\"at\":1,\"by_node\":{\"reads_local\":[1e9,5],\"bytes\":[3,4],"
    "\"reads_from\":[[1,2],[3,4]],\"error\":{\"bytes\":0.5}}}\n"
    "{\"step\":\"a\",\"at\":2,\"by_node\":{\"reads_local\":[2e9,5],\"writes_to\":[[1,2],[3,4]]}}\n",
    "{\"step\":\"a\",\"at\":0}",
    "step,at\n",
    NULL};

static void assert_same(const struct counters_sample *a, const struct counters_sample *b)
{
    fuzz_assert(a->at_s == b->at_s && a->known == b->known && a->nodes == b->nodes);
    for (int i = 0; i < COUNTERS; i++)
        fuzz_assert(a->value[i] == b->value[i] && a->error[i] == b->error[i]);
    for (size_t i = 0; i < a->nodes; i++)
        fuzz_assert(a->rss_node[i] == b->rss_node[i]);
    if (!a->by_node || !b->by_node)
        return; /* CSV has none */
    fuzz_assert(a->by_node->known == b->by_node->known && a->by_node->nodes == b->by_node->nodes);
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        fuzz_assert(a->by_node->error[kind] == b->by_node->error[kind]);
        for (size_t i = 0; i < by_node_count(a->by_node->nodes, kind); i++)
            fuzz_assert(by_node_values(a->by_node, kind)[i] == by_node_values(b->by_node, kind)[i]);
    }
}

static void json_again(const char *name, const struct counters_sample *sample)
{
    char *line = sample_line_json(name, sample), step[SAMPLES_NAME_MAX];
    struct counters_sample back;
    struct by_node by;

    fuzz_assert(line && sample_line_read_json(line, strlen(line), step, &back, &by, NULL) == 0);
    fuzz_assert(strcmp(step, name) == 0);
    assert_same(sample, &back);
    free(line);
}

static void csv_again(const char *name, struct counters_sample sample)
{
    char *header = sample_line_csv_header(), *line = sample_line_csv(name, &sample);
    struct sample_line_columns columns;
    struct counters_sample back;
    char step[SAMPLES_NAME_MAX];

    fuzz_assert(header && sample_line_read_header(header, strlen(header), &columns, NULL) == 0);
    fuzz_assert(line && sample_line_read_csv(line, strlen(line), &columns, step, &back, NULL) == 0);
    fuzz_assert(strlen(step) == strlen(name));
    sample.nodes = 0;
    memset(sample.error, 0, sizeof(sample.error));
    assert_same(&sample, &back);
    free(header);
    free(line);
}

static void play(const struct recorded *replay, size_t step)
{
    struct counters_sample before = {0}, now, last;
    struct by_node by[2] = {{.nodes = 0}};
    double length_s;

    recorded_sample(replay, step, recorded_samples_of(replay, step) - 1, &last, NULL);
    length_s = last.at_s > 0 ? last.at_s : 1;
    for (int i = 0; i <= 50; i++) {
        by[1] = (struct by_node){.nodes = 0};
        now = (struct counters_sample){.by_node = &by[1]};
        recorded_at(replay, step, length_s * i / 20, &now);
        fuzz_assert((now.known & ~recorded_known(replay, step)) == 0);
        for (int j = 0; j < COUNTERS; j++) {
            if (!(now.known & 1u << j))
                continue;
            fuzz_assert(counter_info[j].gauge || now.value[j] >= before.value[j]);
            before.value[j] = now.value[j];
        }
        fuzz_assert(by_node_fallen(&by[0], &by[1]) == BY_NODE_KINDS);
        by_node_update(&by[0], &by[1]);
    }
}

static void one(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct recorded *replay;

    if (recorded_read(&replay, fuzz_file("samples", data, size), &err) < 0) {
        fuzz_assert(strstr(err.text, "samples:"));
        return;
    }
    fuzz_assert(recorded_steps(replay) > 0);
    for (size_t i = 0; i < recorded_steps(replay); i++) {
        const char *name = recorded_name(replay, i);

        fuzz_assert(name[0] && recorded_find(replay, name) == (long)i);
        for (size_t j = 0; j < recorded_samples_of(replay, i); j++) {
            struct counters_sample sample;
            struct by_node by;

            recorded_sample(replay, i, j, &sample, &by);
            json_again(name, &sample);
            csv_again(name, sample);
        }
        play(replay, i);
    }
    recorded_free(replay);
}

const struct fuzz_target fuzz_samples = {.name = "samples", .one = one, .seed = seeds};

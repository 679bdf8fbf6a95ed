/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of berth.conf: a refused file changes nothing and is named; what was read can be
 * printed and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/conf/conf.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "# a comment\nsocket = /run/berth/berthd.sock\nstate_dir=/run/berth\nprofile_db = /x/p.db\n"
    "topology = package:2 l3:2 core:4 pu:1\ncgroup_root = /sys/fs/cgroup\nallow = auto,off,policy\n"
    "enforcement = dryrun\nlog = stderr\nlog_level = debug\ndevil_miss_pmi = 12.5\n"
    "neutral_miss_pmi = 100\nsweep = 5s\nhistory = 256\n",
    "tune = counters=perf,software, sweep=2s\n  history=3\nreaders = hpc, metrics=*\n"
    "grant = isolate=anna,ben, isolate:group=chem, throttle=\nisolate_qos = high\n",
    "\n; nothing\n", "history = 7", NULL};

/* Print, read and print: the same text. */
static void again(const struct conf *conf)
{
    char *first = NULL, *second = NULL;
    size_t first_size, second_size;
    struct conf back;
    FILE *out = open_memstream(&first, &first_size);

    conf_print(conf, out);
    fclose(out);
    conf_init(&back);
    fuzz_assert(conf_read(&back, fuzz_file("again.conf", (uint8_t *)first, first_size), NULL) == 0);
    out = open_memstream(&second, &second_size);
    conf_print(&back, out);
    fclose(out);
    fuzz_assert(strcmp(first, second) == 0);
    free(first);
    free(second);
}

static void one(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("berth.conf", data, size);
    struct berth_error err = {""};
    struct conf conf, before;

    memset(&conf, 0, sizeof(conf));
    conf_init(&conf);
    before = conf;
    if (conf_read(&conf, path, &err) == 0) {
        again(&conf);
    } else {
        fuzz_assert(memcmp(&conf, &before, sizeof(conf)) == 0);
        fuzz_assert(strstr(err.text, "berth.conf"));
    }
}

const struct fuzz_target fuzz_conf = {.name = "conf", .one = one, .seed = seeds};

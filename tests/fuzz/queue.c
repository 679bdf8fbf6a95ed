/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of the ledger's queue: its files as a crash, a full disk or somebody else may have
 * left them. What is opened can be read, added to and emptied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "packer/ledger/outbox.h"
#include "packer/ledger/spool.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/common/folder.h"

#define LINE "{\"job\":1,\"start\":1,\"cluster\":\"c\"}\n"

static const char *const spool_seeds[] = {LINE LINE "{\"jo", "", LINE, "\f" LINE "x\n\n", NULL};
/* What it says replaces bytes of a sound file: three bytes of the place, and one. */
static const char *const outbox_seeds[] = {"", "abcdefghijkl", NULL};

/* Whole lines, and all of them. */
static void take(struct spool *spool)
{
    struct spool_text lines;

    fuzz_assert(spool_read(spool, &lines, NULL) == 0);
    fuzz_assert(strlen(lines.text) == lines.length);
    fuzz_assert(!lines.length || lines.text[lines.length - 1] == '\n');
    free(lines.text);
    fuzz_assert(spool_clear(spool, NULL) == 0);
}

static void one_spool(const uint8_t *data, size_t size)
{
    const uint8_t *second = memchr(data, '\f', size);
    size_t first = second ? (size_t)(second - data) : size, counted;
    char folder[128];
    struct spool spool;

    snprintf(folder, sizeof(folder), "%s", fuzz_folder());
    fuzz_file("0.jsonl", data, first);
    fuzz_file("1.jsonl", second ? second : data, size - first);
    fuzz_assert(spool_open(&spool, folder, NULL) == 0);
    fuzz_assert(spool_count(folder, &counted, NULL) == 0 && counted == spool_lines(&spool));
    fuzz_assert(spool_append(&spool, LINE, NULL) == 0 && spool_lines(&spool) == counted + 1);
    if (size % 2 && truncate(fuzz_file("x", data, 0), 0) == 0) /* a file is shorter than it was */
        fuzz_file(spool.at ? "0.jsonl" : "1.jsonl", data, size / 3);
    for (int turns = 0; spool_lines(&spool) > 0 && turns < 4; turns++)
        if (spool_turn(&spool))
            take(&spool);
    fuzz_assert(spool_lines(&spool) == 0);
    spool_close(&spool);
}

/* ---- outbox.db ---- */

static int see(const char *text, void *arg)
{
    *(size_t *)arg += text ? strlen(text) : 0;
    return 0;
}

static void see_run(const struct ledger_run *run, void *arg)
{
    *(size_t *)arg += strnlen(run->cluster, sizeof(run->cluster));
}

/* A sound file with two entries, made once. */
static const uint8_t *sound(const char *folder, size_t *size)
{
    static uint8_t file[1 << 17];
    static size_t length;
    struct outbox *outbox;
    char path[160];
    FILE *in;

    if (!length) {
        fuzz_assert(outbox_open(&outbox, folder, NULL) == 0);
        fuzz_assert(outbox_put(outbox, LINE LINE, 2, true, NULL) == 0);
        fuzz_assert(outbox_put(outbox, LINE, 1, true, NULL) == 0);
        outbox_close(outbox);
        snprintf(path, sizeof(path), "%s/outbox.db", folder);
        in = fopen(path, "r");
        fuzz_assert(in);
        length = fread(file, 1, sizeof(file), in);
        fclose(in);
    }
    *size = length;
    return file;
}

static void damage(uint8_t *file, size_t length, const uint8_t *data, size_t size)
{
    for (; size >= 4; data += 4, size -= 4)
        file[(data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % length] = data[3];
}

static void use(struct outbox *outbox)
{
    const struct ledger_run run = {.cluster = "c", .job = 1};
    struct berth_error err;
    int64_t last = 0;
    size_t seen = 0;

    outbox_put(outbox, LINE, 1, true, &err);
    outbox_read(outbox, &last, see, &seen, &err);
    outbox_each_run(outbox, see_run, &seen, &err);
    outbox_drop_run(outbox, &run, &err);
    outbox_drop(outbox, 0, last, &err);
}

static void one_outbox(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct outbox *outbox;
    char folder[128];
    uint8_t *file;
    size_t length, n;

    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    snprintf(folder, sizeof(folder), "%s/outbox", fuzz_folder());
    folder_remove(folder);
    folder_make(fuzz_folder(), "outbox");
    sound(folder, &length);
    file = malloc(length);
    memcpy(file, sound(folder, &length), length);
    damage(file, length, data, size);
    fuzz_file("outbox/outbox.db", file, size % 5 == 3 ? length / 2 : length);
    free(file);
    if (outbox_count(folder, &n, &err) < 0)
        fuzz_assert(err.text[0]);
    if (outbox_open(&outbox, folder, &err) == 0) {
        use(outbox);
        outbox_close(outbox);
    } else {
        fuzz_assert(err.text[0]);
    }
}

const struct fuzz_target fuzz_ledger_spool = {
    .name = "ledger_spool", .one = one_spool, .seed = spool_seeds};
const struct fuzz_target fuzz_ledger_outbox = {
    .name = "ledger_outbox", .one = one_outbox, .seed = outbox_seeds, .slow = 40};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of what slurmdbd is told: figures in a comment that anybody may have written, and
 * the list of runs that wait, under any order of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/settle/comment.h"
#include "packer/settle/list.h"
#include "tests/fuzz/fuzz.h"

static const char *const comment_seeds[] = {"{\"a\":1.50,\"b\":[1e3, 2]}",
                                            "bad node ",
                                            "text {\"berth\":{\"nodes\":9}} more",
                                            "{\"berth\":null,\"a\":\"}\"}",
                                            "{\"nodes\":1,\"energy_kwh\":0.5}\f",
                                            "",
                                            NULL};
static const char *const list_seeds[] = {"p11p21h1n1d1x", "p11p12p11h1nnnddxx", "zzz", NULL};

/* With the figures in it, and the same when they are put there again. The input: figures and \f, or
 * none, and what was there. */
static void one_comment(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size), *part[2], *merged, *again;
    const char *figures = "{\"nodes\": 1}", *old = input;
    struct berth_error err = {""};

    if (strchr(input, '\f')) {
        fuzz_parts(input, part, 2);
        figures = part[0];
        old = part[1];
    }
    merged = comment_merge(old, figures, &err);
    if (merged) {
        fuzz_assert(strlen(merged) <= COMMENT_MAX && strstr(merged, "\"berth\""));
        again = comment_merge(merged, figures, &err);
        fuzz_assert(again && strcmp(merged, again) == 0);
        free(again);
    } else {
        fuzz_assert(err.text[0]);
    }
    free(merged);
    free(input);
}

static struct ledger_run run_of(uint8_t job, uint8_t restart)
{
    struct ledger_run run = {.job = job % 8, .restart = restart % 3, .at = job};

    snprintf(run.cluster, sizeof(run.cluster), "c%d", restart % 2);
    return run;
}

static void assert_list(const struct settle_list *list)
{
    const struct settle_entry *next = settle_list_next(list), *entry;

    fuzz_assert(!next == TAILQ_EMPTY(list));
    TAILQ_FOREACH(entry, list, link)
    {
        fuzz_assert(settle_list_find(list, &entry->run) == entry);
        fuzz_assert(next->due_s <= entry->due_s && entry->delay_s > 0 && entry->puts > 0);
    }
}

/* Three bytes a call. */
static void one_list(const uint8_t *data, size_t size)
{
    struct settle_list list = TAILQ_HEAD_INITIALIZER(list);
    double now = 0;

    for (size_t i = 0; i + 2 < size && i < 3 * 256; i += 3, now++) {
        struct ledger_run run = run_of(data[i + 1], data[i + 2]);
        struct settle_entry *entry = settle_list_find(&list, &run);

        switch (data[i] % 4) {
        case 0:
            fuzz_assert(settle_list_put(&list, &run, now + data[i + 2], NULL) == 0);
            fuzz_assert(settle_list_find(&list, &run)->delay_s == 1);
            break;
        case 1:
            settle_list_hurry(&list, run.job, now);
            fuzz_assert(!entry || entry->due_s <= now);
            break;
        case 2:
            if (entry)
                settle_list_delay(entry, now, 64);
            fuzz_assert(!entry || (entry->due_s > now && entry->delay_s <= 64));
            break;
        default:
            if (entry)
                settle_list_drop(&list, entry);
            fuzz_assert(!settle_list_find(&list, &run));
        }
        assert_list(&list);
    }
    settle_list_free(&list);
}

const struct fuzz_target fuzz_comment = {
    .name = "comment", .one = one_comment, .seed = comment_seeds};
const struct fuzz_target fuzz_settle_list = {
    .name = "settle_list", .one = one_list, .seed = list_seeds};

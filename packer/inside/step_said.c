/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_said - see step_said.h */
#include "packer/inside/step_said.h"
#include "enum_table.h"

#include <string.h>
#include <unistd.h>

#define RECORDS 64  /* that are read at once */
#define READINGS 16 /* in a row: a FIFO holds about as many records */

static const char *const TABLE(surprise_text, RT_SURPRISES) = {
    ROW(RT_NO_SURPRISE) = NULL,
    ROW(RT_PAGE_UNREADABLE) = "a process could not read its page",
    ROW(RT_PAGE_SHORT) = "the page was too short",
    ROW(RT_PAGE_FOREIGN) = "what stood in the page's place was none",
    ROW(RT_PAGE_OTHER_VERSION) = "the page was of another berth",
    ROW(RT_PAGE_TOO_MANY) = "the page had more threads than a machine has",
    ROW(RT_NO_RUNTIME) = "a process's OpenMP run-time was not found",
    ROW(RT_NO_QUERY) = "a process's OpenMP run-time does not tell its number of threads",
    ROW(RT_PAGE_OTHERS) = "what stood in the page's place was another user's",
};
TABLE_COMPLETE(surprise_text);

const char *step_said_surprise(enum rt_surprise surprise)
{
    return surprise < RT_SURPRISES ? surprise_text[surprise] : NULL;
}

union record {
    struct rt_said said;
    struct rt_rested rested;
    struct rt_region region;
};

/* Adds what is said: what a user may say is no more than the ledger and JSON can hold. */
static void add(uint64_t *sum, uint64_t more)
{
    *sum = more < STEP_SAID_MOST - *sum ? *sum + more : STEP_SAID_MOST;
}

static void hear_regions(const struct rt_said *record, struct step_said *said)
{
    add(&said->processes, record->first == 1);
    add(&said->followed, record->followed);
    add(&said->own, record->own);
    add(&said->nested, record->nested);
    add(&said->objects, record->objects);
    if (record->threads > 0 && record->threads <= RT_THREADS_MAX)
        said->threads = record->threads;
    if (said->surprise == RT_NO_SURPRISE && record->surprise < RT_SURPRISES)
        said->surprise = record->surprise;
}

static void hear_rests(const struct rt_rested *record, struct step_said *said)
{
    add(&said->reduced, record->reduced);
    add(&said->throttled_ns, record->throttled_ns);
    add(&said->rests, record->rests);
    add(&said->idle_ns, record->idle_ns);
    add(&said->freed, record->freed);
}

static void hear_region(const struct rt_region *record, struct step_said *said)
{
    struct step_said_regions *regions = &said->regions;
    size_t i = 0;

    while (i < STEP_SAID_REGIONS && regions->of[i].number && regions->of[i].number != record->most)
        i++;
    if (i < STEP_SAID_REGIONS) {
        regions->of[i].number = record->most;
        add(&regions->of[i].ns, record->most_ns);
    }
    add(&regions->all_ns, record->all_ns);
    regions->now = record->now;
    regions->any = true;
}

uint64_t step_said_region(struct step_said *said)
{
    struct step_said_regions seen = said->regions;
    size_t most = 0;

    said->regions = (struct step_said_regions){.now = seen.now};
    if (!seen.any || seen.all_ns == 0)
        return seen.now;
    for (size_t i = 1; i < STEP_SAID_REGIONS; i++)
        most = seen.of[i].ns > seen.of[most].ns ? i : most;
    return (double)seen.of[most].ns >= STEP_SAID_MOSTLY * (double)seen.all_ns ? seen.of[most].number
                                                                              : 0;
}

static void hear(const union record *record, struct step_said *said)
{
    if (record->said.version != RT_SAID_VERSION)
        return;
    if (memcmp(record->said.magic, RT_SAID_MAGIC, sizeof(record->said.magic)) == 0)
        hear_regions(&record->said, said);
    else if (memcmp(record->rested.magic, RT_RESTED_MAGIC, sizeof(record->rested.magic)) == 0)
        hear_rests(&record->rested, said);
    else if (memcmp(record->region.magic, RT_REGION_MAGIC, sizeof(record->region.magic)) == 0)
        hear_region(&record->region, said);
}

bool step_said_read(int fifo, struct step_said *said)
{
    union record record[RECORDS];
    bool any = false;

    for (unsigned i = 0; i < READINGS; i++) {
        ssize_t got = read(fifo, record, sizeof(record));

        for (ssize_t k = 0; k < got / (ssize_t)sizeof(*record); k++)
            hear(&record[k], said);
        any |= got > 0;
        if (got < (ssize_t)sizeof(record))
            break;
    }
    return any;
}

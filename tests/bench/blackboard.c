/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blackboard - reads a section of a blackboard while it is written at full speed, and counts what
 * was torn: none may be, on whatever machine. It needs nothing of berth but the blackboard, so that
 * it can be built by hand for another machine (tests/vm/aarch64).
 *
 *     blackboard [-u] [-r READERS] [-n READS] [-p PAUSE] [-f FILE]
 *
 * READS are those of each reader. The writer waits between two writings for up to PAUSE turns of a
 * loop: by 0 it writes all the time, but then most reads come while it does not run at all. -u
 * reads without the counter, which shows that torn sections are seen where there are some. Exit
 * status: 0 none was torn, 1 some were, or it could not run. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/common/torn.h"

int main(int argc, char **argv)
{
    const char *path = "/dev/shm/berth-blackboard";
    struct torn_plan plan = {.readers = 1, .reads = 10000000};
    struct torn_counts counts;
    int option;

    while ((option = getopt(argc, argv, "ur:n:p:f:")) != -1)
        switch (option) {
        case 'u':
            plan.unguarded = true;
            break;
        case 'r':
            plan.readers = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'n':
            plan.reads = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            plan.pause = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'f':
            path = optarg;
            break;
        default:
            return 2;
        }
    if (plan.readers < 1 || plan.readers > TORN_READERS_MAX)
        return fprintf(stderr, "blackboard: -r: 1 to %d expected\n", TORN_READERS_MAX), 2;
    if (torn_run(path, &plan, &counts) < 0)
        return fprintf(stderr, "blackboard: %s: %s\n", path, strerror(errno)), 1;
    printf("%" PRIu64 " reads by %u readers in %.1f s, %" PRIu64 " writes meanwhile: %" PRIu64
           " torn, %" PRIu64 " of another writing than the one before, %" PRIu64 " busy\n",
           counts.reads, plan.readers, counts.seconds, counts.writes, counts.torn, counts.changes,
           counts.busy);
    return counts.torn ? 1 : 0;
}

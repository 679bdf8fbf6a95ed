/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_release - `berthctl release`: everybody, a job or a step goes home and is left alone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"

static const char usage[] =
    "usage: berthctl release [--json] [--socket PATH] [--end | JOB[.STEP]]\n\n"
    "Steps go back to the cores that Slurm gave them and are left alone to their end, and new\n"
    "steps of the node, or of the job, are left alone too. For root.\n"
    "STEP is a number, batch or interactive; without JOB the whole node is meant.\n\n"
    "  --end          nothing is released any more: new steps are placed again\n"
    "  --json         {\"node\":{...},\"steps\":[...]}: the steps that were released\n"
    "  --socket PATH  ask the berthd that listens there\n";

/* Take "--end" out of the arguments. */
static bool take_end(int *argc, char **argv)
{
    bool end = false;
    int kept = 0;

    for (int i = 0; i < *argc; i++)
        if (strcmp(argv[i], "--end") == 0)
            end = true;
        else
            argv[kept++] = argv[i];
    argv[kept] = NULL;
    *argc = kept;
    return end;
}

/* A line for each step. How many are not home yet. */
static size_t put_steps(struct json_object *steps)
{
    size_t away = 0;

    for (size_t i = 0; i < ctl_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);
        bool home = ctl_true(step, "verified");

        away += !home;
        printf("%-12s %-8s CPUs %s%s\n", ctl_text(step, "id"), ctl_text(step, "state"),
               ctl_text(step, "home"), home ? "" : ", not yet seen there: berthd tries again");
    }
    return away;
}

static int put_answer(struct json_object *answer, bool json)
{
    struct json_object *node = ctl_object(answer, "node");
    bool dry = strcmp(ctl_text(node, "enforcement"), "dryrun") == 0;
    size_t away;

    if (json)
        return ctl_print_json(answer);
    away = put_steps(ctl_object(answer, "steps"));
    printf("node %s: new steps are %s\n", ctl_text(node, "name"),
           ctl_true(node, "released") ? "left alone (berthctl release --end)" : "placed");
    json_object_put(answer);
    return away && !dry;
}

int ctl_release(int argc, char **argv)
{
    struct wire_request request = {.op = WIRE_OP_RELEASE, .release.id = {UINT32_MAX, UINT32_MAX}};
    struct ctl_query query = {0};
    struct json_object *answer;
    struct berth_error err;
    int status;

    request.release.end = take_end(&argc, argv);
    status = ctl_query_options(argc, argv, usage, &query);
    if (status >= 0)
        return status;
    if (optind + 1 < argc)
        return ctl_usage("release", "at most one JOB or JOB.STEP expected");
    if (optind < argc && request.release.end)
        return ctl_usage("release", "--end is for the whole node: %s", argv[optind]);
    if (optind < argc && wire_step_parse(argv[optind], &request.release.id) < 0)
        return ctl_usage("release", "'%s' is no JOB[.STEP], as 4711 or 4711.0", argv[optind]);
    answer = ctl_ask(query.socket, &request, &err);
    if (!answer)
        return ctl_fail("berthd", "%s", err.text);
    return put_answer(answer, query.json);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release - `berthctl release`: everybody, a job or a step goes home and is left alone. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/find/job_raw.h"
#include "packer/cli/common/verbs.h"

/* Holds what is asked, and of whom. */
struct release {
    const char *socket;
    bool json, end;
};

static const struct ctl_option option_rows[] = {
    {"end", 0, NULL, "nothing is released any more: new steps are placed again",
     CTL_FLAG(struct release, end)},
    {"json", 0, NULL, "{\"node\":{...},\"steps\":[...]}: the steps that were released",
     CTL_FLAG(struct release, json)},
    CTL_OPTION_SOCKET(struct release),
};
static const struct ctl_options options = {
    .verb = "release",
    .synopsis = "[--json] [--socket PATH] [--end | JOB[_TASK][.STEP]]",
    .about =
        "Steps go back to the cores that Slurm gave them and are left alone to their end, and new\n"
        "steps of the node, or of the job, are left alone too. For root.\n"
        "STEP is a number, batch or interactive; without JOB the whole node is meant.",
    CTL_OPTIONS(option_rows),
    .most = 1,
    .takes = "one JOB or JOB.STEP at most",
};

/* Prints a line for each step. Returns how many are not home yet. */
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
    struct release release = {0};
    struct json_object *answer;
    struct berth_error err;
    struct job_id id;
    int status;

    status = ctl_options_read(&options, argc, argv, &release);
    if (status >= 0)
        return status;
    request.release.end = release.end;
    if (optind < argc && release.end)
        return ctl_usage("release", "--end is for the whole node: %s", argv[optind]);
    if (optind < argc && job_id_parse(argv[optind], &id) < 0)
        return ctl_usage("release", "'%s' is no " JOB_ID_FORMS, argv[optind]);
    if (optind < argc && job_raw_find(release.socket, &id, &err) < 0)
        return ctl_fail(argv[optind], "%s", err.text);
    if (optind < argc)
        request.release.id = (struct wire_step_id){id.job, id.step};
    answer = ctl_ask(release.socket, &request, &err);
    if (!answer)
        return ctl_fail("berthd", "%s", err.text);
    return put_answer(answer, release.json);
}

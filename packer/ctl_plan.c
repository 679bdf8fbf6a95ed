/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_plan - `berthctl plan`: place a workload on a machine, real or not, as berthd would or
 * better; no daemon needed.
 *
 * Read the applications, read the machine, let the policy place them, say what follows from the
 * placement: the score, each one's slowdown, and how much worse the other policies are. A figure
 * that nobody measured and nothing predicts is null. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_input.h"
#include "ctl_plan.h"
#include "json.h"

static const char usage[] =
    "usage: berthctl plan [--topology XML|SYNTHETIC] [--policy P] [--matrix FILE] [--json]\n"
    "                     [--samples FILE] [--time-limit S] [FILE]\n\n"
    "Place a workload on a machine. FILE (or stdin) is a JSON object:\n"
    "  {\"apps\":[{\"name\":\"mcf\",\"cores\":1,\"ipc\":0.4,\"llc_apki\":40,\"llc_mpki\":21.5,"
    "\"mem_gbps\":3,\n"
    "            \"sdp\":{\"hits\":[...],\"misses\":21500}},...],\n"
    "   \"machine\":{\"llc_bytes\",\"llc_ways\",\"line_bytes\",\"dram_gbps\",\"clock_ghz\"}}\n"
    "What of the cache is not in \"machine\" is the topology's. The miss rate is llc_mpki * 1000, "
    "else\n"
    "sdp.misses (per million instructions), else unknown: such an application ranks as neutral.\n\n"
    "  --topology T     an hwloc XML file, or a synthetic topology (\"package:2 l3:2 core:4 "
    "pu:1\");\n"
    "                   this machine where not given\n"
    "  --policy P       contend: least slowdown as predicted; the default where ipc, llc_mpki and\n"
    "                   sdp (or llc_apki) are known of every application, else di\n"
    "                   perfect: least measured slowdown; the default with --matrix\n"
    "                   di: Distributed Intensity; dio-power: as few caches as keep devils apart\n"
    "                   missrate, pain, sdc, animal: least score of all pairs "
    "(Blagodurov 2010)\n"
    "  --matrix FILE    measured degradation, {\"apps\":[names],\"degradation\":[[fractions]]}, "
    "row i\n"
    "                   what i suffers beside each: slowdown is then the sum over an "
    "application's\n"
    "                   neighbours in its cache\n"
    "  --samples FILE   applications from a file of samples (berthctl record), one of each step:\n"
    "                   ipc, llc_apki, llc_mpki, mem_gbps and cores as they were counted; fields "
    "of\n"
    "                   the same application in FILE win, and FILE is not needed\n"
    "  --time-limit S   seconds to search for a placement, 1 where not given\n"
    "  --json           "
    "{\"placement\":[{\"name\",\"cpus\",\"llc\",\"node\"}],\"score\",\"predicted\":[{\"name\",\n"
    "                   \"slowdown\"}],\"policy\",\"exact\",\"policies\":[{\"policy\","
    "\"average_slowdown\",\n"
    "                   \"above_best\"}],\"notes\"}; \"llcs\" and \"nodes\" list them where an "
    "application\n"
    "                   has several\n\n"
    "score: what the policy makes small. contend, perfect: the sum of slowdowns; di, dio-power: "
    "the "
    "sum\n"
    "over the cores of one last-level cache of the miss rates of what runs there (misses per "
    "million\n"
    "instructions), at the cache where it is greatest (null: a miss rate is unknown); else the sum "
    "of\n"
    "the pairs' scores.\n";

static int read_time_limit(struct ctl_plan *plan, const char *text)
{
    char *end;

    errno = 0;
    plan->limit_s = strtod(text, &end);
    if (errno || end == text || *end || !(plan->limit_s >= 0) || plan->limit_s > 86400)
        return ctl_usage("plan", "--time-limit %s: 0 to 86400 seconds expected", text);
    return 0;
}

/* Read the options. 0, 2 after saying what is wrong with them, -1 after --help. */
static int read_options(struct ctl_plan *plan, int argc, char **argv)
{
    static const struct option options[] = {
        {"topology", required_argument, NULL, 't'}, {"policy", required_argument, NULL, 'p'},
        {"matrix", required_argument, NULL, 'm'},   {"samples", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},           {"time-limit", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},           {0}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1)
        switch (option) {
        case 't':
            plan->topology = optarg;
            break;
        case 'p':
            plan->policy = optarg;
            break;
        case 'm':
            plan->matrix = optarg;
            break;
        case 's':
            plan->samples = optarg;
            break;
        case 'l':
            if (read_time_limit(plan, optarg) != 0)
                return 2;
            break;
        case 'j':
            plan->json = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return -1;
        case ':':
            return ctl_usage("plan", "%s: a value is missing", argv[optind - 1]);
        default:
            return ctl_usage("plan", "%s: no such option", argv[optind - 1]);
        }
    if (optind + 1 < argc)
        return ctl_usage("plan", "%s: one FILE only", argv[optind + 1]);
    plan->input = argv[optind];
    return 0;
}

/* From FILE or stdin; with samples neither is needed. NULL after saying what is wrong. */
static struct json_object *read_workload(const struct ctl_plan *plan)
{
    struct json_object *workload;
    struct berth_error err;

    workload = plan->samples && !plan->input ? json_object_new_object()
                                             : ctl_input_read(plan->input, &err);
    if (!workload) {
        ctl_fail(ctl_input_name(plan->input), "%s", err.text);
        return NULL;
    }
    if (!plan->samples || ctl_plan_add_samples(workload, plan->samples, &err) == 0)
        return workload;
    ctl_fail("plan", "%s", err.text);
    json_object_put(workload);
    return NULL;
}

int ctl_plan(int argc, char **argv)
{
    struct ctl_plan plan = {.limit_s = 1};
    struct json_object *workload;
    struct berth_error err;
    int rc = read_options(&plan, argc, argv);

    if (rc != 0)
        return rc < 0 ? 0 : rc;
    if (plan.policy && !ctl_plan_policy_known(plan.policy))
        return ctl_fail("plan", "policy %s: unknown; there are " CTL_PLAN_POLICY_NAMES,
                        plan.policy);
    workload = read_workload(&plan);
    if (!workload)
        return 1;
    rc = ctl_plan_read(&plan, workload);
    if (rc == 0 && ctl_plan_place(&plan, &err) < 0)
        rc = ctl_fail("plan", "%s", err.text);
    if (rc == 0)
        rc = plan.json ? ctl_plan_print_json(&plan) : ctl_plan_print_table(&plan);
    ctl_plan_clear(&plan);
    json_object_put(workload);
    return rc;
}

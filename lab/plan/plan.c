/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan - `berthctl plan`: place a workload on a machine, real or not, as berthd would or
 * better; no daemon needed.
 *
 * Read the applications, read the machine, let the policy place them, say what follows from the
 * placement: the score, each one's slowdown, and how much worse the other policies are. A figure
 * that nobody measured and nothing predicts is null. */

#include <unistd.h>
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"
#include "packer/cli/options/options.h"
#include "lab/plan/plan.h"
#include "lab/plan/siblings.h"

static const struct ctl_option option_rows[] = {
    {"topology", 0, "T",
     "an hwloc XML file, or a synthetic topology (\"package:2 l3:2 core:4 pu:1\"); this machine "
     "where not given",
     CTL_TEXT(struct ctl_plan, topology)},
    {"policy", 0, "P",
     "contend: least work lost as predicted, over all cores s / (1 + s) of the slowdown s there; "
     "the default where ipc, llc_mpki and sdp (or llc_apki) "
     "are known of every application, else di. perfect: least measured slowdown; the default with "
     "--matrix. di: Distributed Intensity. dio-power: as few caches as keep devils apart. "
     "missrate, pain, sdc, animal: least score of all pairs (Blagodurov 2010)",
     CTL_TEXT(struct ctl_plan, policy)},
    {"threads", 0, NULL,
     "each hardware thread is a place, as to berthd where Slurm lets jobs share cores",
     CTL_FLAG(struct ctl_plan, threads)},
    {"printed", 0, NULL,
     "dio-power fills caches in the order of the paper's Algorithm 4 to the letter, as berthd does "
     "with dio_power_order = printed of berth.conf",
     CTL_FLAG(struct ctl_plan, printed)},
    {"matrix", 0, "FILE",
     "measured degradation, {\"apps\":[names],\"degradation\":[[fractions]]}, row i what i suffers "
     "beside each: slowdown is then the sum over an application's neighbours in its cache",
     CTL_TEXT(struct ctl_plan, matrix)},
    {"samples", 0, "FILE",
     "applications from a file of samples (berthctl record), one of each step: ipc, llc_apki, "
     "llc_mpki, mem_gbps and cores as they were counted; fields of the same application in FILE "
     "win, and FILE is not needed",
     CTL_TEXT(struct ctl_plan, samples)},
    {"pairs", 0, "FILE",
     "measured pairs, as 'berthctl pairs --export' writes them: those of programs that are "
     "applications here (by \"key\" or \"tag\" of the application, else by its name) correct what "
     "contend predicts; where not given, and neither is --topology, those of this machine's "
     "profile "
     "store",
     CTL_TEXT(struct ctl_plan, pairs)},
    {"time-limit", 0, "S",
     "seconds to search for a placement; where not given the search ends after as many costs as "
     "are "
     "looked at on every machine alike",
     CTL_NUMBER(struct ctl_plan, limit_s, "seconds", 0, 86400)},
    {"svg", 0, "FILE", "a picture of the placement, for a browser (-: stdout)",
     CTL_TEXT(struct ctl_plan, svg)},
    {"json", 0, NULL,
     "{\"placement\":[{\"name\",\"cpus\",\"llc\",\"node\"}], \"score\", \"lost_cores\", "
     "\"predicted\":[{\"name\",\"slowdown\"}], \"policy\", \"exact\", "
     "\"policies\":[{\"policy\",\"average_slowdown\",\"above_best\",\"fairness\"}], "
     "\"notes\"}; \"llcs\" and \"nodes\" list them where an application has several",
     CTL_FLAG(struct ctl_plan, json)},
};
static const struct ctl_options options = {
    .verb = "plan",
    .synopsis = "[--topology XML|SYNTHETIC] [--policy P] [--printed] [--matrix FILE] "
                "[--samples FILE] [--pairs FILE] [--time-limit S] "
                "[--json | --svg FILE] [FILE]",
    .about =
        "Place a workload on a machine. FILE (or stdin) is a JSON object:\n"
        "  "
        "{\"apps\":[{\"name\":\"mcf\",\"cores\":1,\"ipc\":0.4,\"llc_apki\":40,\"llc_mpki\":21.5,\n"
        "            \"mem_gbps\":3,\"sdp\":{\"hits\":[...],\"misses\":21500}},...],\n"
        "   \"machine\":{\"llc_bytes\",\"llc_ways\",\"line_bytes\",\"dram_gbps\",\"clock_ghz\"},\n"
        "   "
        "\"observed\":[{\"app\":\"mcf\",\"beside\":[\"lbm\"],\"slowdown\":0.3,\"error\":0.05},...]}"
        "\n"
        "What of the cache is not in \"machine\" is the topology's; dram_gbps is that of one NUMA\n"
        "node. What was observed corrects what contend predicts. The miss rate is llc_mpki *\n"
        "1000, else sdp.misses (per million instructions), else unknown: such an application "
        "ranks\n"
        "as neutral.",
    .more =
        "score: what the policy makes small. contend, perfect: the sum of slowdowns (contend's\n"
        "search makes lost_cores small, the work that is lost by them); di, dio-power: the\n"
        "sum over the cores of one last-level cache of the miss rates of what runs there\n"
        "(misses per million instructions), at the cache where it is greatest (null: a miss\n"
        "rate is unknown); else the sum of the pairs' scores.",
    CTL_OPTIONS(option_rows),
    .most = 1,
    .takes = "one FILE only",
};

/* Reads the workload from FILE or stdin; with samples neither is needed. Returns NULL after saying
 * what is wrong. */
static struct json_object *read_workload(struct ctl_plan *plan)
{
    struct json_object *workload;
    struct berth_error err;
    size_t shells = 0;

    workload = plan->samples && !plan->input ? json_object_new_object()
                                             : ctl_input_read(plan->input, &err);
    if (!workload) {
        ctl_fail(ctl_input_name(plan->input), "%s", err.text);
        return NULL;
    }
    if (!plan->samples || ctl_plan_add_samples(workload, plan->samples, &shells, &err) == 0) {
        if (shells)
            ctl_plan_note(plan, "%zu batch script%s or shell%s of %s that only waited: left out",
                          shells, shells == 1 ? "" : "s", shells == 1 ? "" : "s", plan->samples);
        return workload;
    }
    ctl_fail("plan", "%s", err.text);
    json_object_put(workload);
    return NULL;
}

int ctl_plan(int argc, char **argv)
{
    struct ctl_plan plan = {.limit_s = -1};
    struct json_object *workload;
    struct nearest meant;
    char said[NEAREST_SAY_MAX];
    struct berth_error err;
    int rc = ctl_options_read(&options, argc, argv, &plan);

    if (rc >= 0)
        return rc;
    plan.input = argv[optind];
    if (plan.policy && !ctl_plan_policy_known(plan.policy, &meant))
        return ctl_fail("plan", "policy %s: unknown; there are " CTL_PLAN_POLICY_NAMES "%s",
                        plan.policy, nearest_say(&meant, said));
    workload = read_workload(&plan);
    if (!workload)
        return 1;
    rc = ctl_plan_read(&plan, workload);
    if (!plan.samples)
        ctl_input_tell_unread(ctl_input_name(plan.input), workload, rc == 0);
    if (rc == 0 && ctl_plan_place(&plan, &err) < 0)
        rc = ctl_fail("plan", "%s", err.text);
    if (rc == 0)
        ctl_plan_note_siblings(&plan);
    if (rc == 0)
        rc = plan.svg    ? ctl_plan_write_svg(&plan)
             : plan.json ? ctl_plan_print_json(&plan)
                         : ctl_plan_print_table(&plan);
    ctl_plan_clear(&plan);
    json_object_put(workload);
    return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* families - has the list of the series: names, units and help, for the page, the manual page
 * and the test of the dashboard. */
#include "packer/metrics/node.h"
#include "enum_table.h"

const struct metrics_family TABLE(metrics_family, METRICS_FAMILIES) = {
    ROW(METRICS_NODE) =
        {"berth_node", METRICS_INFO, "",
         "This node, and how its steps are placed and counted, and by which rule they "
         "are billed idle energy."},
    ROW(METRICS_UPTIME) = {"berth_uptime_seconds", METRICS_GAUGE, "seconds",
                           "Since the start of berthd."},
    ROW(METRICS_RELEASED) = {"berth_released", METRICS_GAUGE, "",
                             "1 where root wants new steps left alone (berthctl release), else 0."},
    ROW(METRICS_STEPS) = {"berth_steps", METRICS_GAUGE, "", "Live steps by state."},
    ROW(METRICS_STEPS_LEFT_OUT) = {"berth_steps_left_out", METRICS_GAUGE, "",
                                   "Steps that have no series of their own here, because there are "
                                   "more than metrics_steps of berth.conf."},
    ROW(METRICS_CORES) = {"berth_cores", METRICS_GAUGE, "", "Cores of the node."},
    ROW(METRICS_POOL_CORES) = {"berth_pool_cores", METRICS_GAUGE, "",
                               "Cores of jobs that opted in, which berth may permute."},
    ROW(METRICS_REGISTRATIONS) = {"berth_registrations", METRICS_COUNTER, "",
                                  "Steps that were registered since the start."},
    ROW(METRICS_DECISIONS) = {"berth_decisions", METRICS_COUNTER, "",
                              "Proposals to move running steps since the start, whatever came of "
                              "them."},
    ROW(METRICS_MOVES) = {"berth_moves", METRICS_COUNTER, "",
                          "Times that a step was moved since the start."},
    ROW(METRICS_FAILURES) = {"berth_failures", METRICS_COUNTER, "",
                             "Placements that could not be made to hold since the start."},
    ROW(METRICS_FAILED_OPEN) =
        {"berth_launches_failed_open", METRICS_COUNTER, "",
         "Launches since the start that went on without berth though their user "
         "wanted it, by why: late (berthd answered too late) or unheard "
         "(berthd was not reached, or refused, and heard of the step at its "
         "end)."},
    ROW(METRICS_ENDED) =
        {"berth_ended_steps", METRICS_COUNTER, "",
         "Steps that ended since the start, without batch scripts, by whether it was "
         "predicted what berth's help comes to."},
    ROW(METRICS_GAINED_CORE_TIME) = {"berth_predicted_core_seconds", METRICS_COUNTER, "seconds",
                                     "Core time of ended steps that berth has gained (or lost), or "
                                     "would have had it placed those that it only observed. It is "
                                     "predicted, not measured."},
    ROW(METRICS_GAINED_ENERGY) = {"berth_predicted_energy_joules", METRICS_COUNTER, "joules",
                                  "Energy that berth has saved (or cost) ended steps that were "
                                  "metered, predicted from their core time at the same power."},
    ROW(METRICS_FREED_CORE_TIME) = {"berth_freed_core_seconds", METRICS_COUNTER, "seconds",
                                    "Core time of cores that ended steps gave up by their size."},
    ROW(METRICS_SLOWDOWN) =
        {"berth_slowed_core_seconds", METRICS_COUNTER, "seconds",
         "Core time of ended steps times one plus their slowdown, by how that is "
         "known. Divided by berth_slowed_known_core_seconds, less 1, it is the "
         "mean slowdown."},
    ROW(METRICS_SLOWDOWN_CORE_TIME) = {"berth_slowed_known_core_seconds", METRICS_COUNTER,
                                       "seconds",
                                       "Core time of the ended steps of which that slowdown is "
                                       "known."},
    ROW(METRICS_CPU) = {"berth_cpu_seconds", METRICS_COUNTER, "seconds",
                        "CPU time of berthd itself, by mode."},
    ROW(METRICS_MEMORY) = {"berth_resident_memory_bytes", METRICS_GAUGE, "bytes",
                           "Resident memory of berthd itself."},
    ROW(METRICS_LEDGER_WAITING) = {"berth_ledger_waiting_records", METRICS_GAUGE, "records",
                                   "Records of ended steps that wait for the ledger's database."},
    ROW(METRICS_METERED) = {"berth_energy_metered_joules", METRICS_COUNTER, "joules",
                            "What the meters said, by zone. The node's own meter measures what the "
                            "others measure, too."},
    ROW(METRICS_ENERGY) = {"berth_energy_joules", METRICS_COUNTER, "joules",
                           "The same, by who got it: steps, nobody (idle cores, and what the rule "
                           "idle_energy bills nobody), or processes that berth does "
                           "not know. These three are what was metered."},
    ROW(METRICS_GAPS) = {"berth_energy_gaps", METRICS_COUNTER, "",
                         "Times that energy of the zone was lost, unmeasured."},
    ROW(METRICS_CELSIUS) = {"berth_core_celsius", METRICS_GAUGE, "celsius",
                            "How hot the core is, by its first CPU (thermal)."},
    ROW(METRICS_CACHE_SIZE) = {"berth_cache_size_bytes", METRICS_GAUGE, "bytes",
                               "Size of a last-level cache."},
    ROW(METRICS_CACHE_CORES) = {"berth_cache_cores", METRICS_GAUGE, "", "Cores of the cache."},
    ROW(METRICS_CACHE_CORES_HELD) = {"berth_cache_cores_held", METRICS_GAUGE, "",
                                     "Of them, cores on which live steps stand."},
    ROW(METRICS_CACHE_TASKS) =
        {"berth_cache_tasks", METRICS_GAUGE, "",
         "Tasks of live steps that may run on the cache, by class of the step. "
         "One that may run on several caches is counted on each."},
    ROW(METRICS_CACHE_MISS_PMI) =
        {"berth_cache_miss_pmi", METRICS_GAUGE, "",
         "Intensity on the cache: cache misses per million instructions, as "
         "the placement goes by, summed over the tasks for which they are "
         "known; one that may run on several caches counts for each by its "
         "cores there."},
    ROW(METRICS_CACHE_OCCUPANCY) =
        {"berth_cache_occupancy_bytes", METRICS_GAUGE, "bytes",
         "What the steps on it hold of the cache, where it is known of all "
         "of them and they may run on no other cache."},
    ROW(METRICS_STEP) = {"berth_step", METRICS_INFO, "",
                         "A step: what is known of it and does not change."},
    ROW(METRICS_STEP_CORES) = {"berth_step_cores", METRICS_GAUGE, "",
                               "Cores that it uses, of those that Slurm gave."},
    ROW(METRICS_STEP_TASKS) = {"berth_step_tasks", METRICS_GAUGE, "", "Its tasks on this node."},
    ROW(METRICS_STEP_CPU) = {"berth_step_cpu_seconds", METRICS_COUNTER, "seconds",
                             "CPU time since its counting began."},
    ROW(METRICS_STEP_ENERGY) = {"berth_step_energy_joules", METRICS_COUNTER, "joules",
                                "Its part of the node's energy."},
    ROW(METRICS_STEP_DOMAIN_ENERGY) =
        {"berth_step_domain_energy_joules", METRICS_COUNTER, "joules",
         "The same by what is metered. The domain node has the others "
         "in it."},
    ROW(METRICS_STEP_INSIDE_CHANGES) =
        {"berth_step_inside_changes", METRICS_COUNTER, "",
         "Times that the policy (faithful, tranquil, shuffle, adapt, "
         "follow, throttle, flex, locks, prefetch, frequency) "
         "gave its threads or its memory something else."},
    ROW(METRICS_STEP_INSIDE_SECONDS) = {"berth_step_inside_seconds", METRICS_COUNTER, "seconds",
                                        "For how long something of the policy was in effect."},
#define FACT_SERIES(ID, name, type, unit)                                                          \
    ROW(METRICS_STEP_##ID) = {name, METRICS_##type, unit, fact_help_##ID},
#include "packer/fact/facts.def"
    ROW(METRICS_STEP_SLOWDOWN) = {"berth_step_slowdown_ratio", METRICS_GAUGE, "ratio",
                                  "How much slower than alone it has been until now, measured: its "
                                  "CPU time, by what its instructions take alone, less 1. The same "
                                  "as explain's slowdown.measured, and in the end the report's."},
};
TABLE_COMPLETE(metrics_family);

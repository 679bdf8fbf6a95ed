/* SPDX-License-Identifier: GPL-2.0-or-later */
/* features - see features.h. One row a feature; what it needs is in privileges.h. */
#include "packer/daemon/features.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/bill/bill.h"
#include "packer/board/board.h"
#include "packer/daemon/privileges.h"
#include "packer/enact/trial.h"
#include "packer/energy/temperatures.h"
#include "packer/hand/ask.h"
#include "packer/identity/asker.h"
#include "packer/inside/inside.h"
#include "packer/place/forecast.h"
#include "packer/settle/settler.h"
#include "packer/system/prefetchers.h"
#include "enum_table.h"
#include "packer/conf/conf.h"
#include "packer/counters/counters.h"
#include "packer/steps/registers.h"
#include "packer/steps/stand.h"
#include "packer/slurm/steps/strangers.h"
#include "packer/system/process_watch.h"

const char *const TABLE(feature_state_name, FEATURE_STATES) = {
    ROW(FEATURE_ON) = "on",
    ROW(FEATURE_OFF) = "off",
    ROW(FEATURE_ABSENT) = "absent",
    ROW(FEATURE_DENIED) = "not allowed",
};
TABLE_COMPLETE(feature_state_name);

static void set(struct feature *feature, enum feature_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set(struct feature *feature, enum feature_state state, const char *format, ...)
{
    va_list args;

    feature->state = state;
    va_start(args, format);
    vsnprintf(feature->say, sizeof(feature->say), format, args);
    va_end(args);
}

/* ---- where steps stand ---- */

static void placement(const struct packer *packer, struct feature *feature)
{
    const struct enforce_way *way = packer->world.enforce->way;

    if (way->touches && packer->state->tally->refused.in_a_row > 0)
        set(feature, FEATURE_ABSENT,
            "the last %llu steps were left where Slurm put them: the log says why",
            (unsigned long long)packer->state->tally->refused.in_a_row);
    else if (way->touches)
        set(feature, FEATURE_ON, "steps are moved (%s)", way->name);
    else
        set(feature, FEATURE_OFF, "%s: steps are not moved", way->name);
}

/* Are jobs drawn that are only observed, so that it can be told whether berth helps? */
static void trial(const struct packer *packer, struct feature *feature)
{
    const char *why;
    bool nodes;

    if (!(packer->world.conf.control > 0))
        set(feature, FEATURE_OFF, "control=0");
    else if (trial_runs(packer, &nodes, &why))
        set(feature, FEATURE_ON, "%g %% of the jobs%s are only observed, by lot",
            packer->world.conf.control, nodes ? "" : " of one node");
    else
        set(feature, FEATURE_ABSENT, "no job is drawn: %s", why);
}

/* Returns the CPUs of cores of nobody on which steps stand, in all. */
static size_t stood_on(const struct packer *packer)
{
    const struct step *step;
    struct cpus sum = {0};

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step_movable(step))
        cpus_or(&sum, &step->place.idle);
    return cpus_count(&sum);
}

/* May steps stand on cores that Slurm has given to nobody? */
static void idle_cores(const struct packer *packer, struct feature *feature)
{
    const char *why = lacks_why(packer, LACK_IDLE);
    bool wanted = stand_idle(&(struct scene){packer, packer->state->pool, false});

    if (packer->world.conf.idle == CONF_IDLE_OFF)
        set(feature, FEATURE_OFF, "idle=off");
    else if (!packer->world.enforce->way->touches)
        set(feature, FEATURE_OFF, "steps are not moved");
    else if (why[0])
        set(feature, FEATURE_ABSENT, "%.200s", why);
    else if (wanted && !packer->state->idle.marked)
        set(feature, FEATURE_ABSENT, "who starts cannot be told to ask for his cores");
    else if (!stand_idle_proved(packer))
        set(feature, FEATURE_OFF,
            "idle=auto: not before %d jobs in a row have asked for their cores (%u so far)",
            STRANGERS_ASKED_MIN, packer->state->idle.asked);
    else if (packer->steps->nlive > 0 && !wanted)
        set(feature, FEATURE_ABSENT, "not now: no step may move, or one has no cpuset");
    else
        set(feature, FEATURE_ON, "steps stand on %zu CPUs that Slurm has given to nobody",
            stood_on(packer));
}

/* Is a slurmstepd that is killed heard of? */
static void ends(const struct packer *packer, struct feature *feature)
{
    if (!packer->state->stepds)
        set(feature, FEATURE_ABSENT, "slurmstepds are not watched: the log says why");
    else if (process_watch_at_once(packer->state->stepds))
        set(feature, FEATURE_ON, "a slurmstepd that is killed is heard of at once (pidfd_open)");
    else
        set(feature, FEATURE_ON, "slurmstepds are looked at once a second: no pidfd_open for all");
}

/* Is what memory gives measured, or assumed? */
static void bandwidth(const struct packer *packer, struct feature *feature)
{
    struct bandwidth known = forecast_bandwidth(packer);
    char text[BANDWIDTH_TEXT];

    set(feature, bandwidth_assumed(&known) ? FEATURE_ABSENT : FEATURE_ON, "%s",
        bandwidth_text(&known, text));
}

static void memory(const struct packer *packer, struct feature *feature)
{
    if (packer->world.conf.memory_rate == 0)
        set(feature, FEATURE_OFF, "memory_rate=0");
    else if (!packer->world.enforce->way->touches)
        set(feature, FEATURE_OFF, "steps are not moved");
    else if (packer->world.topo->nodes < 2)
        set(feature, FEATURE_ABSENT, "there is one NUMA node");
    else if (!packer->state->mover)
        set(feature, FEATURE_ABSENT, "its thread could not be started");
    else
        set(feature, FEATURE_ON, "follows a step to another NUMA node (move_pages)");
}

static void thermal(const struct packer *packer, struct feature *feature)
{
    if (packer->world.conf.thermal == CONF_OFF)
        set(feature, FEATURE_OFF, "thermal=off");
    else if (!packer->state->thermal)
        set(feature, FEATURE_ABSENT, "%s", lacks_why(packer, LACK_THERMAL));
    else
        set(feature, FEATURE_ON, "steps leave cores that are too hot: %zu of %zu have a sensor",
            temperatures_count(packer->state->temperatures), packer->world.topo->cores);
}

/* A word of what threads of a step are given. */
static void inside(const struct packer *packer, struct feature *feature)
{
    struct inside_about about;

    for (size_t i = 0; inside_about(packer, i, &about); i++) {
        if (strcmp(about.word, feature->name) != 0)
            continue;
        if (!about.allowed)
            set(feature, FEATURE_OFF, "berth.conf does not allow it");
        else if (about.lacks)
            set(feature, FEATURE_ABSENT, "%s", about.lacks);
        else
            set(feature, FEATURE_ON, "steps may have it%s%s",
                about.model ? "; how it decides: berthctl model " : "",
                about.model ? about.model : "");
    }
}

/* ---- counting ---- */

/* Takes over what the counters say of one of their ways; state off where berth.conf leaves it
 * out. */
static void take_way(const struct counters_about *about, bool wanted, struct feature *feature)
{
    set(feature,
        about->used ? FEATURE_ON
        : wanted    ? FEATURE_ABSENT
                    : FEATURE_OFF,
        "%s", about->say);
}

static void backend(const struct packer *packer, struct feature *feature)
{
    const struct conf *conf = &packer->world.conf;
    struct counters_about about;

    for (size_t i = 0; counters_about(packer->state->counters, i, &about); i++)
        if (strcmp(about.name, feature->name) == 0)
            take_way(&about, !conf->counters_replay[0] && text_lists(conf->counters, about.name),
                     feature);
}

/* A way of the backend `software`. */
static void part(const struct packer *packer, struct feature *feature, bool wanted)
{
    struct counters_about about;

    set(feature, FEATURE_OFF, "counters=software is not used");
    for (size_t i = 0; counters_part(packer->state->counters, i, &about); i++)
        if (strcmp(about.name, feature->name) == 0)
            take_way(&about, wanted, feature);
}

static void taskstats(const struct packer *packer, struct feature *feature)
{
    part(packer, feature, true);
}

static void numa_maps(const struct packer *packer, struct feature *feature)
{
    part(packer, feature, true);
}

static void lock_time(const struct packer *packer, struct feature *feature)
{
    part(packer, feature, packer->world.conf.lock_time == CONF_ON);
}

static void reuse(const struct packer *packer, struct feature *feature)
{
    if (packer->world.conf.reuse_sampling == CONF_OFF)
        set(feature, FEATURE_OFF, "reuse_sampling=off");
    else if (packer->state->reuse)
        set(feature, FEATURE_ON, "stack distances from sampled addresses");
    else
        set(feature, FEATURE_ABSENT, "addresses cannot be sampled: the log says why");
}

/* Are the prefetchers of this machine's cores berth's to switch? Whose word it is stands in
 * explain.
 */
static void prefetch(const struct packer *packer, struct feature *feature)
{
    size_t cpu = cpus_next(&packer->world.topo->cpus, 0);
    struct berth_error err;
    uint64_t value;

    if (!text_lists(packer->world.conf.allow, "prefetch"))
        set(feature, FEATURE_OFF, "berth.conf does not allow it");
    else if (!packer->state->registers->prefetchers)
        set(feature, FEATURE_ABSENT, "%s", lacks_why(packer, LACK_PREFETCHERS));
    else if (prefetchers_get(&packer->world.devices, cpu, &value, &err) < 0)
        set(feature, FEATURE_ABSENT, "%.250s", err.text);
    else
        set(feature, FEATURE_ON, "cores' prefetchers are switched (MSR 0x1A4)");
}

/* Can a site's own policy have the greatest frequency of cores changed? */
static void frequency(const struct packer *packer, struct feature *feature)
{
    const char *users = packer->world.conf.propose_users;

    if (!users[0])
        set(feature, FEATURE_OFF, "nobody is granted propose: only root's policies may propose it");
    else if (!packer->state->registers->clock)
        set(feature, FEATURE_ABSENT, "%s", lacks_why(packer, LACK_FREQUENCY));
    else if (!packer->world.enforce->way->touches)
        set(feature, FEATURE_ABSENT, "nothing is changed on this node (enforcement=dryrun)");
    else
        set(feature, FEATURE_ON, "where a policy of root or of users %.100s proposes it", users);
}

static void probing(const struct packer *packer, struct feature *feature)
{
    if (packer->world.conf.probe == CONF_OFF)
        set(feature, FEATURE_OFF, "probe=off");
    else if (packer->state->probe)
        set(feature, FEATURE_ON, "idle cores tell how busy their caches are");
    else
        set(feature, FEATURE_ABSENT, "no cache can be probed: the log says why");
}

static void energy(const struct packer *packer, struct feature *feature)
{
    size_t used = 0, length = 0;
    struct energy_about about;

    feature->say[0] = '\0';
    for (size_t i = 0; bill_meter(packer, i, &about); i++) {
        used += about.used;
        if (length < sizeof(feature->say))
            length += (size_t)snprintf(feature->say + length, sizeof(feature->say) - length,
                                       "%s%s: %.100s", length ? "; " : "", about.name, about.say);
    }
    feature->state = used                            ? FEATURE_ON
                     : !packer->world.conf.energy[0] ? FEATURE_OFF
                                                     : FEATURE_ABSENT;
}

/* ---- what others read ---- */

static void blackboard(const struct packer *packer, struct feature *feature)
{
    char say[BOARD_SAY];

    if (packer->world.conf.blackboard == CONF_OFF)
        set(feature, FEATURE_OFF, "blackboard=off");
    else if (!packer->state->board)
        set(feature, FEATURE_ABSENT, "%s", lacks_why(packer, LACK_BOARD));
    else
        set(feature, board_say(packer->state->board, say) ? FEATURE_ON : FEATURE_ABSENT, "%s", say);
}

static void ledger(const struct packer *packer, struct feature *feature)
{
    if (strcmp(packer->world.conf.ledger, "off") == 0)
        set(feature, FEATURE_OFF, "ledger=off");
    else if (packer->state->ledger)
        set(feature, FEATURE_ON, "records of steps go to %.200s", packer->world.conf.ledger);
    else
        set(feature, FEATURE_ABSENT, "no records are kept: the log says why");
}

static void shown(const char *where, const char *why, struct feature *feature)
{
    if (!where[0] || strcmp(where, "off") == 0)
        set(feature, FEATURE_OFF, "%s is not set", feature->name);
    else if (why[0])
        set(feature, FEATURE_ABSENT, "%s", why);
    else
        set(feature, FEATURE_ON, "%.200s", where);
}

static void metrics(const struct packer *packer, struct feature *feature)
{
    shown(packer->world.conf.metrics, lacks_why(packer, LACK_METRICS), feature);
}

static void textfile(const struct packer *packer, struct feature *feature)
{
    shown(packer->world.conf.metrics_textfile, lacks_why(packer, LACK_TEXTFILE), feature);
}

static void admin_comment(const struct packer *packer, struct feature *feature)
{
    if (packer->world.conf.admin_comment == CONF_OFF)
        set(feature, FEATURE_OFF, "admin_comment=off");
    else if (packer->state->settler)
        set(feature, FEATURE_ON, "slurmdbd is told the figures of ended jobs");
    else
        set(feature, FEATURE_ABSENT, "slurmdbd is told nothing: the log says why");
}

static void tres_energy(const struct packer *packer, struct feature *feature)
{
    char why[256] = "";

    if (packer->world.conf.tres_energy == CONF_OFF)
        set(feature, FEATURE_OFF, "tres_energy=off");
    else if (!packer->state->settler)
        set(feature, FEATURE_ABSENT, "slurmdbd is told nothing: the log says why");
    else if (settler_may_tell_energy(packer->state->settler, why))
        set(feature, FEATURE_ON, "AllocTRES of ended jobs gets their energy");
    else
        set(feature, FEATURE_ABSENT, "no energy goes into AllocTRES: %.200s", why);
}

/* Who jobs are. */
static void identity(const struct packer *packer, struct feature *feature)
{
    struct asker_state state;

    asker_state(packer->state->asker, &state);
    if (strcmp(packer->world.conf.job_program, "off") == 0)
        set(feature, FEATURE_OFF, "job_program=off: slurmd says who a job is when it ends");
    else if (!packer->state->asker)
        set(feature, FEATURE_ABSENT, "berth-job is not there: slurmd says it when a job ends");
    else if (state.why[0])
        set(feature, FEATURE_ABSENT, "slurmctld does not say who jobs are: %.200s", state.why);
    else
        set(feature, FEATURE_ON, "slurmctld has said who %llu of %llu jobs are",
            (unsigned long long)state.answered, (unsigned long long)state.asked);
}

/* ---- what watches and bounds berthd ---- */

static void watchdog(const struct packer *packer, struct feature *feature)
{
    if (packer->world.watchdog_s > 0)
        set(feature, FEATURE_ON, "systemd starts berthd again after %.0f s without a sign of life",
            packer->world.watchdog_s);
    else
        set(feature, FEATURE_OFF, "nobody ends a berthd that hangs (systemd's WatchdogSec=)");
}

static void filters(const struct packer *packer, struct feature *feature)
{
    (void)packer;
    if (prctl(PR_GET_SECCOMP) == 2) /* SECCOMP_MODE_FILTER; no file of /proc is read for it */
        set(feature, FEATURE_ON, "system calls are filtered");
    else
        set(feature, FEATURE_OFF, "any system call is possible (systemd's SystemCallFilter=)");
}

static void capabilities(const struct packer *packer, struct feature *feature)
{
    char text[FEATURE_SAY - 16];

    (void)packer;
    capabilities_format(capabilities_held(), text, sizeof(text));
    set(feature, FEATURE_ON, "held: %s", text);
}

/* ---- all ---- */

static const struct {
    const char *name;
    uint64_t needs; /* capabilities without which it is denied, not absent */
    void (*look)(const struct packer *packer, struct feature *feature);
} features[] = {
    {"placement", PRIVILEGES_PLACE, placement},
    {"idle", 0, idle_cores},
    {"trial", 0, trial},
    {"ends", 0, ends},
    {"bandwidth", 0, bandwidth},
    {"memory", PRIVILEGES_MEMORY, memory},
    {"thermal", 0, thermal},
    {"faithful", 0, inside},
    {"tranquil", 0, inside},
    {"shuffle", 0, inside},
    {"adapt", 0, inside},
    {"follow", 0, inside},
    {"throttle", 0, inside},
    {"flex", 0, inside},
    {"locks", 0, inside},
    {"perf", PRIVILEGES_PERF, backend},
    {"resctrl", 0, backend},
    {"uncore", PRIVILEGES_PERF, backend},
    {"software", 0, backend},
    {"taskstats", PRIVILEGES_TASKSTATS, taskstats},
    {"numa_maps", 0, numa_maps},
    {"lock_time", PRIVILEGES_LOCK_TIME, lock_time},
    {"reuse_sampling", PRIVILEGES_REUSE, reuse},
    {"prefetch", PRIVILEGES_PREFETCH, prefetch},
    {"frequency", 0, frequency},
    {"probe", 0, probing},
    {"energy", 0, energy},
    {"blackboard", 0, blackboard},
    {"ledger", 0, ledger},
    {"metrics", PRIVILEGES_GROUP, metrics},
    {"metrics_textfile", PRIVILEGES_GROUP, textfile},
    {"admin_comment", 0, admin_comment},
    {"tres_energy", 0, tres_energy},
    {"identity", 0, identity},
    {"watchdog", 0, watchdog},
    {"seccomp", 0, filters},
    {"capabilities", 0, capabilities},
};

/* Returns what a feature needs; what metrics need is for a group alone. */
static uint64_t needs_of(const struct packer *packer, size_t i)
{
    bool group =
        packer->world.conf.metrics_group[0] && strcmp(packer->world.conf.metrics_group, "*") != 0;

    return features[i].needs == PRIVILEGES_GROUP && !group ? 0 : features[i].needs;
}

/* Steps are moved, and their memory is, by a way that is there even where each try will fail. */
static bool denied(const struct feature *feature, uint64_t missing)
{
    bool tried = strcmp(feature->name, "placement") == 0 || strcmp(feature->name, "memory") == 0;

    return missing && feature->state == (tried ? FEATURE_ON : FEATURE_ABSENT);
}

bool features_get(const struct packer *packer, size_t i, struct feature *feature)
{
    uint64_t missing;

    if (i >= sizeof(features) / sizeof(features[0]))
        return false;
    *feature = (struct feature){.name = features[i].name, .state = FEATURE_ABSENT};
    features[i].look(packer, feature);
    missing = needs_of(packer, i) & ~capabilities_held();
    if (hand_is_apart())
        missing &= ~PRIVILEGES_HAND;
    if (denied(feature, missing)) {
        feature->state = FEATURE_DENIED;
        feature->missing = missing;
    }
    return true;
}

static struct json_object *render_missing(uint64_t missing)
{
    struct json_object *list = missing ? json_object_new_array() : NULL;

    for (unsigned i = 0; i < CAPABILITIES_MAX; i++)
        if (missing & CAPABILITY(i))
            json_append(list, json_object_new_string(capability_name(i)));
    return list;
}

struct json_object *features_render(const struct packer *packer)
{
    struct json_object *list = json_object_new_array();
    struct feature feature;

    for (size_t i = 0; features_get(packer, i, &feature); i++) {
        struct json_object *object = json_object_new_object();

        json_add_text(object, "name", feature.name);
        json_add_text(object, "state", feature_state_name[feature.state]);
        json_add_text(object, "say", feature.say);
        json_add(object, "missing", render_missing(feature.missing));
        json_append(list, object);
    }
    return list;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render - see render.h */
#include "packer/daemon/render.h"

#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/conf/admit.h"
#include "packer/daemon/features.h"
#include "packer/daemon/render_bill.h"
#include "packer/daemon/render_counts.h"
#include "packer/daemon/render_course.h"
#include "packer/daemon/render_now.h"
#include "packer/enact/thermal.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/observe/window.h"
#include "packer/place/bound.h"
#include "packer/place/forecast.h"
#include "packer/place/isolation.h"
#include "packer/place/threads.h"
#include "packer/profiles/profiles.h"
#include "packer/size/cores.h"
#include "packer/size/size.h"
#include "packer/size/traffic.h"
#include "packer/steps/program.h"
#include "packer/steps/rest.h"
#include "packer/steps/stranger_list.h"
#include "packer/system/process_look.h"

/* How many live steps are on each rung: {"stack distances": 2, ..}. */
static struct json_object *render_rungs(const struct packer *packer)
{
    struct json_object *object = json_object_new_object();
    size_t n[STEP_RUNGS] = {0};
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link) n[step->knowledge.rung]++;
    for (size_t i = STEP_RUNGS; i-- > 0;)
        json_add_u64(object, step_rung_name[i], n[i]);
    return object;
}

static void pool_cpus(const struct packer *packer, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t core = 0; core < packer->pool->cores; core++)
        if (pool_has(packer->pool, core))
            cpus_or(cpus, &packer->world.topo->core[core].cpus);
}

/* The CPUs that sizing took from steps and nobody uses. */
static void idle_cpus(const struct packer *packer, struct cpus *cpus)
{
    struct cpus idle, offered;
    const struct step *step;

    cpus_zero(cpus);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (step->size.given == step->size.cores)
            continue;
        size_cores_freed(packer, step, &idle, &offered);
        cpus_or(cpus, &idle);
    }
}

/* How many nodes the widest step has that stands here; 0: none does. */
static uint32_t widest(const struct packer *packer)
{
    const struct step *step;
    uint32_t nodes = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->request.nodes > nodes)
        nodes = step->request.nodes;
    return nodes;
}

/* What berthd does by itself, and what that costs the widest step that stands here, if it waits for
 * the slowest node each 1, 5, 20 or 100 ms. */
static struct json_object *render_silence(const struct packer *packer)
{
    static const unsigned iteration_ms[] = {1, 5, 20, 100};
    const struct os_noise *noise = &packer->state->tally->noise;
    struct json_object *object = json_object_new_object(), *longer = json_object_new_object();
    double now_s = clock_s();
    struct os_noise_told told = os_noise_told(noise, now_s);
    uint32_t nodes = widest(packer);
    char key[16];

    json_add_bool(object, "rests", rest_nothing_to_decide(packer));
    json_add_bool(object, "together", packer->world.conf.together == CONF_ON);
    json_add_double(object, "seconds", told.seconds);
    json_add_double(object, "bursts_per_s", told.per_s);
    json_add_double(object, "core", told.core);
    json_add_double(object, "longest_ms", 1e3 * told.longest_s);
    json_add_u64(object, "nodes", nodes);
    for (size_t i = 0; nodes && i < sizeof(iteration_ms) / sizeof(iteration_ms[0]); i++) {
        snprintf(key, sizeof(key), "%ums", iteration_ms[i]);
        json_add_double(longer, key,
                        os_noise_longer(noise, now_s, nodes, iteration_ms[i] / 1e3,
                                        packer->world.conf.together == CONF_ON));
    }
    json_add(object, "longer", longer);
    return object;
}

/* What a memory node gives, as far as it is known. */
static struct json_object *render_bandwidth(const struct packer *packer)
{
    struct bandwidth known = forecast_bandwidth(packer);
    struct json_object *object = json_object_new_object();
    char text[BANDWIDTH_TEXT];

    json_add_double(object, "gbps", known.gbps);
    json_add_u64(object, "nodes", known.nodes);
    json_add_text(object, "source", bandwidth_source_name[known.source]);
    json_add_measure(object, "cache_gbps", known.port_gbps);
    json_add_text(object, "text", bandwidth_text(&known, text));
    return object;
}

/* How many launches went on without berth, by why. */
static struct json_object *render_failed_open(const struct packer *packer)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "late", packer->state->tally->failed_open[PACKER_LATE]);
    json_add_u64(object, "unheard", packer->state->tally->failed_open[PACKER_UNHEARD]);
    return object;
}

struct json_object *render_node(const struct packer *packer)
{
    struct json_object *node = json_object_new_object();
    struct cpus pool, idle;

    pool_cpus(packer, &pool);
    idle_cpus(packer, &idle);
    json_add_text(node, "name", packer->steps->node[0] ? packer->steps->node : NULL);
    json_add_text(node, "berth", PACKAGE_VERSION);
    json_add_text(node, "topology", packer->world.topo->name);
    json_add_u64(node, "packages", packer->world.topo->packages);
    json_add_u64(node, "llcs", packer->world.topo->llcs);
    json_add_u64(node, "cores", packer->world.topo->cores);
    json_add_text(node, "places", packer->world.topo->split ? "threads" : "cores");
    json_add_cpus(node, "pool", &pool);
    json_add_cpus(node, "idle", &idle);
    json_add_bool(node, "released", packer->steps->released);
    json_add_u64(node, "steps", packer->steps->nlive);
    json_add_text(node, "enforcement", packer->world.enforce->way->name);
    json_add_text(node, "policy", wire_policy_name[packer->world.conf.policy]);
    json_add(node, "rungs", render_rungs(packer));
    json_add_text(node, "profiles", packer->world.conf.profile_db);
    json_add(node, "counters", render_backends(packer));
    json_add(node, "energy", render_accounts(packer));
    json_add(node, "features", features_render(packer));
    json_add(node, "devices", render_devices(packer));
    json_add(node, "bandwidth", render_bandwidth(packer));
    json_add(node, "silence", render_silence(packer));
    json_add_u64(node, "history", packer->world.conf.history);
    json_add_double(node, "uptime_s", clock_s() - packer->world.started_mono_s);
    json_add_u64(node, "registrations", packer->state->tally->registrations);
    json_add_u64(node, "moves", packer->state->tally->moves);
    json_add_u64(node, "failures", packer->state->tally->failures);
    json_add_u64(node, "refused", packer->state->tally->refused.n);
    json_add_u64(node, "refused_in_a_row", packer->state->tally->refused.in_a_row);
    json_add(node, "failed_open", render_failed_open(packer));
    return node;
}

static void add_name(struct json_object *object, const char *key, struct wire_step_id id)
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(id, name);
    json_add_text(object, key, name);
}

/* Who stands on these CPUs (NULL: on any) and is not in berth's care. */
static struct json_object *render_strangers(const struct packer *packer, const struct cpus *cpus,
                                            uid_t viewer)
{
    struct json_object *list = json_object_new_array();
    const struct stranger *stranger;

    for (size_t i = 0; (stranger = strangers_at(packer, i)); i++) {
        struct json_object *object;

        if (!stranger->counts || (cpus && !cpus_intersect(cpus, &stranger->cpus)))
            continue;
        object = json_object_new_object();
        if (viewer == 0 || viewer == stranger->uid)
            add_name(object, "id", stranger->id);
        else
            json_add_text(object, "id", NULL);
        json_add_cpus(object, "cpus", &stranger->cpus);
        json_append(list, object);
    }
    return list;
}

/* Is the viewer told nothing of others? */
static bool hides(const struct packer *packer, uid_t viewer)
{
    return packer->world.private_data && viewer != 0;
}

/* What of the node's line is of all steps. */
static const char *const of_others[] = {
    "pool",     "steps",     "rungs",   "energy",           "registrations", "moves",
    "failures", "strangers", "refused", "refused_in_a_row", "failed_open",   "silence"};

struct json_object *render_node_to(const struct packer *packer, uid_t viewer)
{
    struct json_object *node = render_node(packer);

    json_add(node, "caches", render_caches(packer, hides(packer, viewer)));
    json_add(node, "strangers", render_strangers(packer, NULL, viewer));
    /* it names a step */
    json_add_text(node, "refused_why",
                  viewer == 0 && packer->state->tally->refused.n ? packer->state->tally->refused.why
                                                                 : NULL);
    for (size_t i = 0; hides(packer, viewer) && i < sizeof(of_others) / sizeof(of_others[0]); i++)
        json_add(node, of_others[i], NULL);
    return node;
}

struct json_object *render_step(const struct packer *packer, const struct step *step)
{
    struct json_object *object = json_object_new_object();

    add_name(object, "id", step->request.id);
    json_add_u64(object, "job", step->request.id.job);
    json_add_u64(object, "step", step->request.id.step);
    json_add_text(object, "state", step_state_name[step->state]);
    json_add_bool(object, "verified", step->enacted.verified);
    figures_add(object, NULL, packer, step, false);
    json_add(object, "slowdown", figures_object("slowdown", packer, step, false));
    return object;
}

static struct json_object *render_request(const struct packer *packer, const struct step *step)
{
    const struct wire_register *request = &step->request;
    const struct wire_identity *is = &step->identity.is;
    const bool said = is->source != WIRE_SOURCE_NONE;
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "job", request->id.job);
    json_add_u64(object, "step", request->id.step);
    json_add_u64(object, "array_job", said ? is->array_job : request->array_job);
    json_add_u64(object, "array_task", said ? is->array_task : request->array_task);
    figures_add(object, "request", packer, step, false);
    return object;
}

static struct json_object *render_profile(const struct packer *packer, const struct step *step)
{
    struct json_object *object = figures_object("profile", packer, step, false);

    if (step->profile.known) {
        json_add_bool(object, "truncated", step->profile.truncated);
        json_add_u64(object, "measured_at", (uint64_t)step->profile.measured_at);
    }
    if (step->profile.bound_at)
        json_add_u64(object, "bound_at", (uint64_t)step->profile.bound_at);
    return object;
}

/* Its cores on each NUMA node, and of them those it uses. */
static struct json_object *render_vector(const struct packer *packer, const struct step *step)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < packer->world.topo->nodes; i++) {
        struct json_object *node;
        size_t cores, used;

        size_on_node(packer, step, i, &cores, &used);
        if (cores == 0)
            continue;
        node = json_object_new_object();
        json_add_u64(node, "node", packer->world.topo->node[i].os_index);
        json_add_u64(node, "cores", cores);
        json_add_u64(node, "given", used);
        json_append(list, node);
    }
    return list;
}

/* The cores that it uses on each NUMA node of the machine: NuCore's vector. */
static struct json_object *render_used(const struct packer *packer, const struct step *step)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < packer->world.topo->nodes; i++) {
        size_t cores, used;

        size_on_node(packer, step, i, &cores, &used);
        json_append(list, json_object_new_uint64(used));
    }
    return list;
}

/* Where what limits it is, and how what it asks of the memories is known. */
static void render_matrix(struct json_object *object, const struct step_size *size)
{
    struct json_object *at = json_object_new_object();
    bool limited = size->modelled && size->constraint != NUMEM_NONE;
    bool measured = size->modelled && size->measured;

    if (limited && size->constraint == NUMEM_LINK) {
        json_add_u64(at, "from", size->where[0]);
        json_add_u64(at, "to", size->where[1]);
    } else {
        json_add_u64(at, "node", size->where[0]);
    }
    json_add(object, "constraint_at", limited ? at : NULL);
    if (!limited)
        json_object_put(at);
    json_add_text(object, "matrix", size->modelled ? size_matrix_name[size->matrix] : NULL);
    json_add_measure(object, "measured_s", measured ? size->measured_s : NAN);
    json_add_measure(object, "matrix_error", measured ? size->error : NAN);
    if (measured)
        json_add_bool(object, "disturbed", size->disturbed);
}

static struct json_object *render_size(const struct packer *packer, const struct step *step,
                                       uid_t viewer)
{
    struct json_object *object = json_object_new_object();
    char reason[sizeof(step->size.reason) + sizeof(step->size.others)];
    struct cpus idle, offered;

    size_cores_freed(packer, step, &idle, &offered);
    json_write(object, step_size_fields, &step->size);
    size_reason(step, !hides(packer, viewer), reason, sizeof(reason));
    json_add_text(object, "reason", reason);
    json_add_cpus(object, "idle", &idle);
    json_add_cpus(object, "offered", &offered);
    json_add_text(object, "source", step->size.modelled ? "model" : NULL);
    json_add(object, "nodes", render_vector(packer, step));
    json_add(object, "vector", render_used(packer, step));
    json_write(object, step_loop_fields, &step->size.loop);
    json_add(object, "loss", figures_object("size.loss", packer, step, false));
    json_add(object, "gain", figures_object("size.gain", packer, step, false));
    render_matrix(object, &step->size);
    return object;
}

/* Live steps that share a last-level cache with this one, without shells that only wait; whose they
 * are is only for root and their owner, and their program for all whom nothing is hidden from. */
static struct json_object *render_neighbours(const struct packer *packer, const struct step *step,
                                             uid_t viewer)
{
    struct json_object *list = json_object_new_array();
    const struct step *other;

    TAILQ_FOREACH(other, &packer->steps->live, link)
    for (size_t i = 0; i < packer->world.topo->llcs && other != step; i++) {
        const struct cpus *llc = &packer->world.topo->llc[i].cpus;
        bool theirs = viewer != 0 && viewer != other->request.uid;
        struct json_object *object;
        struct cpus shared;

        if ((theirs && hides(packer, viewer)) || !cpus_intersect(llc, &step->place.cpus) ||
            !cpus_intersect(llc, step_stands(other)) || render_waits(packer, other))
            continue;
        object = json_object_new_object();
        if (theirs)
            json_add_text(object, "id", NULL);
        else
            add_name(object, "id", other->request.id);
        json_add_text(object, "program",
                      program_command(&other->request)[0] ? program_command(&other->request)
                                                          : NULL);
        json_add_text(object, "class", step_class_name[other->class.id]);
        json_add_measure(object, "miss_pmi", theirs ? -1 : other->profile.miss_pmi);
        json_add_u64(object, "llc", i);
        topo_shared(packer->world.topo, step_stands(step), step_stands(other), &shared);
        cpus_and(&shared, llc);
        json_add_cpus(object, "shared", &shared);
        json_append(list, object);
    }
    return list;
}

static struct json_object *render_isolation(const struct packer *packer, const struct step *step)
{
    struct json_object *object = json_object_new_object();
    struct isolation isolation;

    isolation_of(packer, step, &isolation);
    json_add_bool(object, "asked", isolation.asked);
    json_add_bool(object, "granted", isolation.granted);
    json_add_bool(
        object, "allowed",
        !admit_priority(&packer->world.conf, &step->request, &step->identity.is, "isolate"));
    json_add_text(object, "domain", isolation.domain[0] ? isolation.domain : NULL);
    json_add_text(object, "reason", isolation.reason[0] ? isolation.reason : NULL);
    return object;
}

/* What came of max-slowdown; null where it was not asked for. */
static struct json_object *render_bound(const struct packer *packer, const struct step *step)
{
    struct json_object *object;
    struct bound bound;

    bound_of(packer, step, &bound);
    if (!bound.asked)
        return NULL;
    object = json_object_new_object();
    json_add_measure(object, "asked", bound.limit);
    json_add_measure(object, "predicted", bound.predicted);
    json_add(object, "met", bound.known ? json_object_new_boolean(bound.met) : NULL);
    json_add_text(object, "reason", bound.reason);
    return object;
}

/* Says over how many caches its tasks stand, and why. */
static struct json_object *render_threads(const struct packer *packer, const struct step *step)
{
    struct json_object *object;
    struct threads_state state;

    threads_state(packer, step, &state);
    if (!state.reason[0] && state.asked == THREADS_MODEL)
        return NULL;
    object = json_object_new_object();
    json_add_text(object, "asked", threads_word_name[state.asked]);
    json_add_u64(object, "caches", state.caches);
    json_add_measure(object, "shared", state.shared);
    json_add_text(object, "reason", state.vain ? state.vain : state.reason);
    return object;
}

static struct json_object *render_place(const struct packer *packer, const struct step *step,
                                        uid_t viewer)
{
    struct json_object *object = json_object_new_object();

    figures_add(object, "place", packer, step, hides(packer, viewer));
    json_add(object, "spread", render_threads(packer, step));
    json_add(object, "isolate", render_isolation(packer, step));
    json_add(object, "max_slowdown", render_bound(packer, step));
    json_add(object, "near", render_near(packer, step));
    json_add(object, "bandwidth", render_bandwidth(packer));
    json_add(object, "share",
             step->share.others ? figures_object("place.share", packer, step, hides(packer, viewer))
                                : NULL);
    json_add(object, "strangers",
             hides(packer, viewer) ? NULL
             : step->ended_at      ? json_object_new_array()
                                   : render_strangers(packer, &step->body.step_home, viewer));
    json_add(object, "neighbours",
             step->ended_at ? json_object_new_array() : render_neighbours(packer, step, viewer));
    return object;
}

/* Tasks that are told of one by one: with more the line would be longer than a message may be, and
 * take long to make. */
#define TASKS_TOLD 512

static struct json_object *render_enforce(const struct packer *packer, const struct step *step)
{
    struct json_object *object = json_object_new_object(), *tasks = json_object_new_array();

    json_add_text(object, "way", packer->world.enforce->way->name);
    figures_add(object, "enforce", packer, step, false);
    for (size_t i = 0; i < step->body.ntasks && i < TASKS_TOLD; i++) {
        struct json_object *task = json_object_new_object();

        json_add_u64(task, "id", step->body.ranks ? i : step->request.task[i].id);
        json_add_u64(task, "pid", (uint64_t)step->body.task[i].pid);
        json_add_bool(task, "rank", step->body.ranks);
        if (step->body.ranks)
            json_add_u64(task, "of", step->body.ntasks);
        json_add_cpus(task, "home", &step->body.task[i].home);
        json_add_cpus(task, "cpus", &step->body.task[i].cpus);
        json_append(tasks, task);
    }
    json_add(object, "tasks", tasks);
    return object;
}

/* The CPUs of a rank: where it shall stand, or, where it is no task, where it was seen. */
static const struct cpus *rank_cpus(const struct step *step, const struct step_rank *rank)
{
    for (size_t i = 0; step->body.ranks && i < step->body.ntasks; i++)
        if (step->body.task[i].pid == rank->pid &&
            process_same(step->body.task[i].started, rank->started))
            return &step->body.task[i].cpus;
    return &rank->cpus;
}

/* The ranks that a launcher has started in it, of an MPI program; null where there are none. */
static struct json_object *render_ranks(const struct step *step)
{
    const struct step_ranks *ranks = &step->ranks;
    struct json_object *object, *list;

    if (!ranks->n)
        return NULL;
    object = json_object_new_object();
    list = json_object_new_array();
    json_add_text(object, "launcher", ranks->launcher);
    json_add_u64(object, "n", ranks->n);
    json_add_bool(object, "tasks", step->body.ranks);
    json_add_text(object, "reason", step->enacted.ranks_why[0] ? step->enacted.ranks_why : NULL);
    for (size_t i = 0; i < ranks->n && i < TASKS_TOLD; i++) {
        struct json_object *rank = json_object_new_object();

        json_add_u64(rank, "id", i);
        json_add_u64(rank, "pid", (uint64_t)ranks->rank[i].pid);
        json_add_cpus(rank, "cpus", rank_cpus(step, &ranks->rank[i]));
        json_append(list, rank);
    }
    json_add(object, "ranks", list);
    return object;
}

/* A thread that looked has hung, or none may look. */
static void add_unread(struct json_object *list, const char *what, enum hands_state state)
{
    struct json_object *object;

    if (state != HANDS_HUNG && state != HANDS_REFUSED)
        return;
    object = json_object_new_object();
    json_add_text(object, "what", what);
    json_add_bool(object, "hung", state == HANDS_HUNG);
    json_append(list, object);
}

/* What is not known of the step because its processes let nobody look. */
static struct json_object *render_unread(const struct step *step)
{
    struct json_object *list = json_object_new_array();
    const struct step_counts *counts = step->counts;

    add_unread(list, "program", step->seek.looked);
    add_unread(list, "ranks", step->ranks.looked);
    if (counts) {
        add_unread(list, "processes", counts->last.processes_read);
        add_unread(list, "rss_node", counts->last.nodes_read);
        add_unread(list, "sdp", counts->reuse_hung ? HANDS_HUNG : HANDS_DONE);
    }
    return list;
}

static struct json_object *render_observe(const struct packer *packer, const struct step *step)
{
    struct json_object *object = figures_object("observe", packer, step, false);

    json_add(object, "counts", render_counts(packer, step));
    json_add(object, "unread", render_unread(step));
    return object;
}

/* Adds an object of facts; null where there is nothing to tell. */
static void add_if(struct json_object *object, bool told, const char *of,
                   const struct packer *packer, const struct step *step)
{
    json_add(object, of, told ? figures_object(of, packer, step, false) : NULL);
}

struct json_object *render_explanation(const struct packer *packer, const struct step *step,
                                       uid_t viewer)
{
    struct json_object *object = json_object_new_object();

    add_name(object, "id", step->request.id);
    json_add_text(object, "state", step_state_name[step->state]);
    json_add_text(object, "was", step->state == STEP_ENDED ? step_state_name[step->was] : NULL);
    json_add_u64(object, "started_at", (uint64_t)step->started_at);
    json_add(object, "ended_at", step->ended_at ? json_object_new_int64(step->ended_at) : NULL);
    json_add(object, "exit_status",
             step->exit_status >= 0 ? json_object_new_int(step->exit_status) : NULL);
    json_add(object, "request", render_request(packer, step));
    json_add(object, "identity", figures_object("identity", packer, step, false));
    json_add(object, "profile", render_profile(packer, step));
    json_add(object, "class", figures_object("class", packer, step, false));
    json_add(object, "size", render_size(packer, step, viewer));
    json_add(object, "place", render_place(packer, step, viewer));
    json_add(object, "enforce", render_enforce(packer, step));
    json_add(object, "ranks", render_ranks(step));
    add_if(object, step->replace.decisions, "replace", packer, step);
    add_if(object, thermal_tells(step), "thermal", packer, step);
    add_if(object, step->proposed.by[0], "proposed", packer, step);
    add_if(object, step->memory.asked, "memory", packer, step);
    figures_inside(packer, step, object);
    json_add(object, "observe", render_observe(packer, step));
    json_add(object, "bill", figures_object("bill", packer, step, false));
    json_add(object, "slowdown", figures_object("slowdown", packer, step, false));
    json_add(object, "loss", figures_object("loss", packer, step, false));
    json_add(object, "course", render_course(step, hides(packer, viewer), viewer));
    return object;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fixture - see fixture.h */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/steps/step_counts.h"
#include "packer/base/clock.h"
#include "packer/conf/conf.h"
#include "packer/daemon/open.h"
#include "packer/enact/rearrange.h"
#include "packer/place/place.h"
#include "packer/profiles/profiles.h"
#include "packer/size/size_impl.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/stand.h"
#include "tests/unit/common/folder.h"

#define FIRST_PID 2000000000 /* pid_max is 4194304 at most */

/* ---- a way on paper ---- */

#define AT_ONCE 16

static struct fixture *opened[AT_ONCE]; /* [i] or NULL */

struct fixture *fixture_of(const struct enforce *enforce)
{
    for (size_t i = 0; i < AT_ONCE; i++)
        if (opened[i] && opened[i]->packer.world.enforce == enforce)
            return opened[i];
    fail_msg("a way on paper of no fixture");
    return NULL;
}

/* Puts the fixture where `was` is in the list. */
static void list(struct fixture *was, struct fixture *f)
{
    for (size_t i = 0; i < AT_ONCE; i++)
        if (opened[i] == was) {
            opened[i] = f;
            return;
        }
}

static void write_down(struct fixture *f, const char *what, const struct enforce_step *step,
                       enum enforce_where where)
{
    char name[WIRE_STEP_NAME_MAX], text[CPUS_TEXT_MAX];
    size_t used = strlen(f->calls);
    struct cpus cpus;

    enforce_union(step, where, &cpus);
    wire_step_name(step->id, name);
    assert_int_equal(cpus_format(&cpus, text, sizeof(text)), 0);
    snprintf(f->calls + used, sizeof(f->calls) - used, "%s %s %s; ", what, name, text);
}

static int paper_locate(struct enforce *enforce, const char *node, struct enforce_step *step,
                        struct berth_error *err)
{
    size_t each = cpus_count(&step->step_home) / step->ntasks, task = 0;

    (void)enforce, (void)node;
    if (each == 0)
        return berth_error_set(err, "no CPUs");
    for (size_t i = 0; i < step->ntasks; i++)
        cpus_zero(&step->task[i].home);
    cpus_foreach(cpu, &step->step_home)
    {
        while (cpus_count(&step->task[task].home) == each && task + 1 < step->ntasks)
            task++;
        cpus_add(&step->task[task].home, cpu);
    }
    return 0;
}

static int paper_apply(struct enforce *enforce, const struct enforce_step *step,
                       struct berth_error *err)
{
    struct fixture *f = fixture_of(enforce);

    write_down(f, enforce->anew ? "set" : "apply", step, ENFORCE_PLACE);
    if (step->id.job == f->fails)
        return berth_error_set(err, "the paper tore");
    return 0;
}

static int paper_restore(struct enforce *enforce, const struct enforce_step *step,
                         struct berth_error *err)
{
    struct fixture *f = fixture_of(enforce);

    write_down(f, "restore", step, ENFORCE_HOME);
    if (step->id.job == f->stuck)
        return berth_error_set(err, "the paper sticks");
    return 0;
}

static int paper_pids(struct enforce *enforce, const struct enforce_step *step,
                      struct enforce_pids *list)
{
    for (size_t i = 0; i < step->ntasks && step->id.job != fixture_of(enforce)->dead; i++)
        if (enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    return 0;
}

void fixture_paper(struct fixture *f)
{
    f->way = enforce_dryrun;
    f->way.touches = true;
    f->way.name = "paper";
    f->way.locate = paper_locate;
    f->way.apply = paper_apply;
    f->way.restore = paper_restore;
    f->way.pids = paper_pids;
    f->packer.world.enforce->way = &f->way;
}

void fixture_forget(struct fixture *f)
{
    f->calls[0] = '\0';
}

/* ---- the folder ---- */

static void open_packer(struct fixture *f)
{
    struct berth_error err = {""};

    if (packer_open(&f->packer, &f->conf, &err) < 0)
        fail_msg("%s", err.text);
    f->packer.state->size->patience_s = f->packer.state->size->together_s =
        60; /* a slow machine is no failure */
    f->packer.world.turn_s = 60;
    f->packer.world.quiet_s = 0;
    f->packer.world.end_patience_s = 0;
}

struct fixture *fixture_open(const char *topology)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    folder_new(f->dir, sizeof(f->dir), "berth-unit");
    conf_init(&f->conf);
    f->conf.private_data = CONF_PRIVATE_OFF; /* whatever Slurm of this machine says */
    f->conf.places = CONF_PLACES_CORES;
    f->conf.enforcement = CONF_ENFORCE_DRYRUN;
    f->conf.counters[0] = '\0'; /* of this machine: nothing */
    f->conf.energy[0] = '\0';
    f->conf.learn = CONF_OFF;
    f->conf.control = 0; /* no lot decides what a test sees */
    f->conf.policy = WIRE_POLICY_DI;
    strcpy(f->conf.ledger, "off");
    strcpy(f->conf.job_program, "off");
    snprintf(f->conf.state_dir, sizeof(f->conf.state_dir), "%s", f->dir);
    snprintf(f->conf.socket, sizeof(f->conf.socket), "%s/berthd.sock", f->dir);
    snprintf(f->conf.ledger_queue, sizeof(f->conf.ledger_queue), "%s/queue", f->dir);
    snprintf(f->conf.profile_db, sizeof(f->conf.profile_db), "%s/profiles.db", f->dir);
    snprintf(f->conf.ledger_queue, sizeof(f->conf.ledger_queue), "%s/ledger.queue", f->dir);
    snprintf(f->conf.machine_profile, sizeof(f->conf.machine_profile), "%s/machine.json", f->dir);
    snprintf(f->conf.topology, sizeof(f->conf.topology), "%s", topology);
    open_packer(f);
    list(NULL, f);
    pool_marker_update_all(&f->packer);
    return f;
}

void fixture_split(struct fixture *f)
{
    f->conf.places = CONF_PLACES_THREADS;
    snprintf(f->conf.slurm_conf, sizeof(f->conf.slurm_conf), "%s/none", f->dir);
    fixture_restart(f);
}

int fixture_on_paper(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    fixture_paper(f);
    *state = f;
    return 0;
}

void fixture_restart(struct fixture *f)
{
    bool own = f->packer.world.enforce->way == &f->way;

    packer_close(&f->packer);
    open_packer(f);
    if (own)
        f->packer.world.enforce->way = &f->way;
}

bool fixture_journal_has(const struct fixture *f, const char *key)
{
    char path[8192], text[65536], quoted[64], *last = NULL;
    FILE *file;

    snprintf(path, sizeof(path), "%s/journal", f->packer.world.conf.state_dir);
    file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    for (char *at = text; (at = strstr(at, quoted)); at++)
        last = at + strlen(quoted);
    return last && strncmp(last, "true", 4) == 0;
}

void fixture_limit_files(rlim_t bytes)
{
    struct rlimit limit;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void fixture_close(struct fixture *f)
{
    list(f, NULL);
    packer_close(&f->packer);
    folder_remove(f->dir);
    free(f);
}

int fixture_teardown(void **state)
{
    fixture_close(*state);
    return 0;
}

/* ---- profiles and steps ---- */

void fixture_profile(struct fixture *f, const char *tag, double miss_pmi)
{
    fixture_timed(f, tag, miss_pmi, 0);
}

void fixture_timed(struct fixture *f, const char *tag, double miss_pmi, double instructions_per_s)
{
    struct profile profile = {.misses = miss_pmi,
                              .accesses = miss_pmi,
                              .source = "valgrind",
                              .instructions_per_s = instructions_per_s};
    struct profiles *store = NULL;
    struct berth_error err = {""};

    profile_key_tag(profile.key, tag);
    profile.llc_ways = 16;
    profile.line_bytes = 64;
    profile.llc_bytes = f->packer.world.topo->llc[0].size_bytes;
    profile.instructions = 1000000;
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put(store, &profile, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
}

/* All nodes alike; each pair has a link of its own. */
void fixture_machine(struct fixture *f, size_t nodes, size_t cores, const double *local)
{
    size_t each[8];
    struct machine_profile *machine;
    struct berth_error err = {""};

    assert_true(nodes <= 8);
    for (size_t i = 0; i < nodes; i++)
        each[i] = cores;
    machine = machine_profile_new(nodes, each);
    assert_non_null(machine);
    strcpy(machine->source, "fixture");
    for (size_t i = 0; i < nodes; i++) {
        struct machine_node *node = &machine->node[i];

        for (size_t c = 1; c <= cores; c++)
            node->local[c] = (struct machine_figure){local[c], 0.02};
        node->alpha = (struct machine_figure){local[cores], 0.02};
        node->beta = (struct machine_figure){0.25, 0.02};
        for (size_t j = 0; j < nodes; j++)
            if (j != i)
                machine->uni[i * nodes + j].value = 4, machine->bi[i * nodes + j].value = 6;
    }
    if (machine_profile_write(machine, f->conf.machine_profile, true, &err) < 0)
        fail_msg("%s", err.text);
    machine_profile_free(machine);
    fixture_restart(f);
    assert_non_null(f->packer.world.machine);
}

static void put_pci(const struct fixture *f, const char *pci, const char *file, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", pci, file);
    folder_put(f->dir, path, text);
}

void fixture_gpu(struct fixture *f, const char *pci, const char *node, const char *cpus)
{
    put_pci(f, pci, "class", "0x030200\n");
    put_pci(f, pci, "vendor", "0x10de\n");
    put_pci(f, pci, "numa_node", node);
    put_pci(f, pci, "local_cpulist", cpus);
    strcpy(f->conf.device_root, f->dir);
}

struct wire_register fixture_request(uint32_t job, uint32_t step, const char *job_cpus,
                                     const char *step_cpus, size_t ntasks, const char *tag)
{
    struct wire_register request = {.id = {job, step}, .uid = 1000, .gid = 1000, .node = "here"};

    wire_options_init(&request.options);
    request.options.mode = WIRE_MODE_AUTO;
    snprintf(request.options.tag, sizeof(request.options.tag), "%s", tag ? tag : "");
    request.job_cores = job_cpus;
    request.step_cores = step_cpus;
    request.exe = "/usr/bin/prog";
    snprintf(request.hash, sizeof(request.hash), "0123456789abcdef0123456789abcdef");
    request.ntasks = ntasks;
    request.task = calloc(ntasks, sizeof(*request.task));
    assert_non_null(request.task);
    for (size_t i = 0; i < ntasks; i++)
        request.task[i] = (struct wire_task){.id = (uint32_t)i, .pid = FIRST_PID + (pid_t)i};
    return request;
}

struct step *fixture_start(struct fixture *f, struct wire_register request)
{
    struct wire_step_id id = request.id;
    struct wire_answer answer;

    pipeline_start(&f->packer, &request, &answer);
    if (!answer.ok)
        fail_msg("%s", answer.error);
    wire_answer_clear(&answer);
    free(request.task); /* of one that is not registered */
    return registry_find(f->packer.steps, id);
}

struct step *fixture_run(struct fixture *f, uint32_t job, const char *cpus, const char *tag)
{
    return fixture_start(f, fixture_request(job, 0, cpus, cpus, 1, tag));
}

void fixture_exchange(struct fixture *f, size_t a, size_t b)
{
    struct berth_error err = {""};
    struct pool next;

    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    assert_int_equal(pool_assign(&next, 2, (size_t[]){a, b}, (size_t[]){b, a}), 0);
    if (rearrange_as(&f->packer, &next, 0, &err) < 0)
        fail_msg("%s", err.text);
}

void fixture_age(struct fixture *f, double age_s)
{
    struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    {
        step->started_mono_s = clock_s() - age_s;
        if (step->counts)
            step->counts->due_s = 0;
    }
    pipeline_observe(&f->packer);
}

void fixture_end(struct fixture *f, uint32_t job, uint32_t step)
{
    pipeline_end(&f->packer, &(struct wire_end){.id = {job, step}, .user_s = 1, .system_s = 0.5});
}

struct step *fixture_put(struct fixture *f, uint32_t job, uint32_t step, const char *job_cpus,
                         double miss_pmi, const char *const *homes)
{
    struct wire_register request;
    struct step *put;
    size_t ntasks = 0;

    while (homes[ntasks])
        ntasks++;
    request = fixture_request(job, step, job_cpus, job_cpus, ntasks, NULL);
    put = registry_add(f->packer.steps, &request);
    assert_non_null(put);
    put->profile.known = !isnan(miss_pmi);
    put->profile.miss_pmi = miss_pmi;
    put->body.job_home = cpus_of(job_cpus);
    for (size_t i = 0; i < ntasks; i++) {
        put->body.task[i].home = put->body.task[i].sized = cpus_of(homes[i]);
        put->body.task[i].use = put->body.task[i].cpus = put->body.task[i].home;
        cpus_or(&put->body.step_home, &put->body.task[i].home);
    }
    assert_int_equal(step_go(put, STEP_PLACED), 0);
    return put;
}

int fixture_open_swapped(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    fixture_paper(f);
    fixture_profile(f, "low", 10);
    fixture_profile(f, "high", 9000);
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    fixture_forget(f);
    *state = f;
    return 0;
}

struct step *fixture_step(struct fixture *f, uint32_t job, uint32_t step)
{
    struct step *found = registry_find(f->packer.steps, (struct wire_step_id){job, step});

    assert_non_null(found);
    return found;
}

/* ---- what is what ---- */

struct cpus cpus_of(const char *text)
{
    struct cpus set = {0};

    if (cpus_parse(&set, text) < 0)
        fail_msg("'%s' is no CPU list", text);
    return set;
}

void assert_cpus(const struct cpus *set, const char *text)
{
    char now[CPUS_TEXT_MAX];

    assert_int_equal(cpus_format(set, now, sizeof(now)), 0);
    assert_string_equal(now, text);
}

void assert_stand(const struct pool *pool, const char *text)
{
    char now[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < pool->cores && used + 24 < sizeof(now); i++)
        used +=
            (size_t)(pool_has(pool, i) ? sprintf(now + used, "%s%zu", i ? " " : "", pool->stand[i])
                                       : sprintf(now + used, "%s-", i ? " " : ""));
    assert_string_equal(now, text);
}

void fixture_decide(struct fixture *f)
{
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct berth_error err = {""};

    stand_sync(&scene);
    if (place_decide(&scene, NULL, &err) < 0)
        fail_msg("%s", err.text);
}

void fixture_busy(struct fixture *f, const unsigned *busy)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/proc", f->dir);
    mkdir(path, 0755);
    strcat(path, "/stat");
    file = fopen(path, "w");
    assert_non_null(file);
    for (unsigned cpu = 0; cpu < 8; cpu++)
        fprintf(file, "cpu%u %u 0 0 0 0 0 0 0 0 0\n", cpu, busy ? busy[cpu] : 0);
    fclose(file);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_items - see job_items.h */
#include "job_items.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "bind.h"
#include "devices.h"
#include "pin.h"
#include "program.h"

static const char *env_find(char **env, const char *name)
{
    size_t length = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, length) == 0 && (*env)[length] == '=')
            return *env + length + 1;
    return NULL;
}

/* A number that is only for people, or 0 where Slurm has none. */
static uint32_t read_number(spank_t spank, spank_item_t item)
{
    uint32_t number = 0;

    if (spank_get_item(spank, item, &number) != ESPANK_SUCCESS || number == NO_VAL ||
        number == INFINITE)
        return 0;
    return number;
}

static void read_text(spank_t spank, spank_item_t item, char *text, size_t size)
{
    char *value = NULL;

    if (spank_get_item(spank, item, &value) == ESPANK_SUCCESS && value)
        snprintf(text, size, "%s", value);
}

/* The node's name for Slurm: slurmstepd has it in its own environment. (The job's environment has
 * the same variable, but an inner srun brings along the one of the node where it was called.) */
static void read_node(char *node, size_t size)
{
    const char *name = getenv("SLURMD_NODENAME");

    if (name)
        snprintf(node, size, "%s", name);
    else if (gethostname(node, size) == 0)
        node[strcspn(node, ".")] = '\0';
    node[size - 1] = '\0';
}

/* The groups that slurmctld found for the user, or the node; those beyond the first are left out.
 */
static void read_groups(spank_t spank, struct wire_register *reg, uint32_t *group)
{
    gid_t *gids = NULL;
    int n = 0;

    if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &gids, &n) != ESPANK_SUCCESS || !gids)
        return;
    for (int i = 0; i < n && reg->ngroups < WIRE_GROUPS_MAX; i++)
        group[reg->ngroups++] = gids[i];
    reg->group = group;
}

/* Slurm tells a plugin no component of a heterogeneous step; its slurmstepd has it in its title. */
static void read_component(struct wire_step_id *id)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    struct wire_step_id titled;
    char title[128] = "";

    if (!file)
        return;
    if (fread(title, 1, sizeof(title) - 1, file) > 0 && wire_step_of_title(title, &titled) == 0 &&
        titled.job == id->job && wire_step_number(titled.step) == id->step)
        *id = titled;
    fclose(file);
}

int job_items_read(spank_t spank, struct wire_register *reg, struct job_texts *texts,
                   size_t *ntasks, struct berth_error *err)
{
    uint32_t count = 0;
    uid_t uid;
    gid_t gid;

    if (spank_get_item(spank, S_JOB_ID, &reg->id.job) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &reg->id.step) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &gid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &count) != ESPANK_SUCCESS)
        return berth_error_set(err, "Slurm does not say which step this is");
    read_component(&reg->id);
    reg->uid = uid;
    reg->gid = gid;
    *ntasks = count;
    reg->cpus_per_task = read_number(spank, S_STEP_CPUS_PER_TASK);
    reg->nodes = read_number(spank, S_JOB_NNODES);
    read_text(spank, S_JOB_ALLOC_CORES, texts->job_cores, sizeof(texts->job_cores));
    read_text(spank, S_STEP_ALLOC_CORES, texts->step_cores, sizeof(texts->step_cores));
    reg->job_cores = texts->job_cores;
    reg->step_cores = texts->step_cores;
    read_groups(spank, reg, texts->group);
    read_node(reg->node, sizeof(reg->node));
    return 0;
}

static uint32_t env_number(char **env, const char *name)
{
    const char *text = env_find(env, name);
    unsigned long number = text ? strtoul(text, NULL, 10) : 0;

    return number < NO_VAL ? (uint32_t)number : 0;
}

/* Reads who bound the tasks, and takes the note about it out of their environment. */
static void read_binding(spank_t spank, char **env, struct wire_register *reg,
                         struct job_texts *texts)
{
    const char *type = env_find(env, "SLURM_CPU_BIND_TYPE");
    const char *list = env_find(env, "SLURM_CPU_BIND_LIST"), *left = env_find(env, BIND_LEFT);

    reg->bound_by_hand = bind_by_hand(type, list, left);
    if (reg->bound_by_hand)
        bind_common(type, list, texts->bound_cpus, sizeof(texts->bound_cpus));
    reg->bound_cpus = texts->bound_cpus;
    if (left)
        spank_unsetenv(spank, BIND_LEFT);
}

/* Reads what the command line runs. A batch script is Slurm's copy, in a folder of the job's
 * number: what it starts is the program. */
static void read_command(struct wire_register *reg, struct job_texts *texts, int argc, char **argv,
                         char *const *env, unsigned limit_ms, struct pin *pin)
{
    struct wire_program program;

    if (reg->id.step == WIRE_STEP_BATCH) {
        *pin = (struct pin){WIRE_PIN_STARTS, "a batch script"};
        snprintf(texts->exe, sizeof(texts->exe), "%s", argv[0]);
        reg->exe = texts->exe;
        reg->by_cpu = true;
        return;
    }
    wire_program_read(argc, argv, &program);
    wire_program_shape(&program, argc, argv, reg->shape);
    reg->by_cpu = program.by_cpu;
    if (program_find(&program, argc, argv, env, limit_ms, texts->exe, reg->hash, pin) == 0)
        reg->exe = texts->exe;
}

void job_items_read_program(spank_t spank, struct wire_register *reg, struct job_texts *texts,
                            unsigned limit_ms)
{
    char **argv = NULL, **env = NULL;
    struct pin pin = {WIRE_PIN_UNREAD, ""}, said;
    int argc = 0;

    if (spank_get_item(spank, S_JOB_ENV, &env) != ESPANK_SUCCESS)
        env = NULL;
    reg->user_omp_threads = env_find(env, "OMP_NUM_THREADS") != NULL;
    /* S_JOB_ARRAY_ID is right in batch steps only; the others get their own job's number. */
    reg->array_job = env_number(env, "SLURM_ARRAY_JOB_ID");
    reg->array_task = reg->array_job ? env_number(env, "SLURM_ARRAY_TASK_ID") : 0;
    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) == ESPANK_SUCCESS && argc > 0 && argv &&
        argv[0])
        read_command(reg, texts, argc, argv, env, limit_ms, &pin);
    said = pin_stronger(pin_of_environment(env), pin);
    reg->pin = said.pin;
    reg->pin_within = (pin.pin == WIRE_PIN_NONE || pin.pin == WIRE_PIN_LOOKS) && pin_is_within(env);
    snprintf(reg->pin_by, sizeof(reg->pin_by), "%s", said.by);
    devices_of_environment(env, texts->devices);
    reg->devices = texts->devices;
    read_binding(spank, env, reg, texts);
}

/* ---- an epilog ---- */

static void read_word(const char *name, char *text, size_t size)
{
    const char *value = getenv(name);

    snprintf(text, size, "%s", value && strlen(value) < size ? value : "");
}

/* Returns 0 where slurmd does not say it. */
static uint64_t read_count(const char *name)
{
    const char *value = getenv(name);
    unsigned long long count;
    char *end;

    if (!value || *value == '-')
        return 0;
    count = strtoull(value, &end, 10);
    return end != value && !*end ? count : 0;
}

void job_items_read_epilog(struct wire_identity *said)
{
    const char *context = getenv("SLURM_SCRIPT_CONTEXT");

    *said = (struct wire_identity){.source = WIRE_SOURCE_NONE};
    if (!context || strcmp(context, "epilog_slurmd") != 0 || !getenv("SLURM_JOB_UID") ||
        !getenv("SLURM_JOB_RESTART_COUNT"))
        return;
    said->source = WIRE_SOURCE_SLURMD;
    said->job = (uint32_t)read_count("SLURM_JOB_ID");
    said->uid = (uint32_t)read_count("SLURM_JOB_UID");
    said->start = (int64_t)read_count("SLURM_JOB_START_TIME");
    said->restart = (uint32_t)read_count("SLURM_JOB_RESTART_COUNT");
    said->nodes = (uint32_t)read_count("SLURM_JOB_NUM_NODES");
    read_word("SLURM_CLUSTER_NAME", said->cluster, sizeof(said->cluster));
    read_word("SLURM_JOB_ACCOUNT", said->account, sizeof(said->account));
    read_word("SLURM_JOB_QOS", said->qos, sizeof(said->qos));
    read_word("SLURM_JOB_PARTITION", said->partition, sizeof(said->partition));
    wire_identity_clean(said);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host - see host.h */
#include "tests/spank/host.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *plugin;
static struct host *host; /* the one whose callback runs */
static int task_now;      /* the task that the callback is about */
static spank_opt_cb_f option_callback;

/* ---- what the plugin calls ---- */

static bool call_fails(void)
{
    return host->calls++ == host->fail_call;
}

spank_context_t spank_context(void)
{
    return host->context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    (void)spank;
    if (call_fails())
        return ESPANK_BAD_ARG;
    option_callback = option->cb;
    return option->name && option->usage ? ESPANK_SUCCESS : ESPANK_BAD_ARG;
}

/* Where the variable stands, or the end. */
static size_t find_env(const char *name)
{
    size_t i, length = strlen(name);

    for (i = 0; host->env[i]; i++)
        if (strncmp(host->env[i], name, length) == 0 && host->env[i][length] == '=')
            break;
    return i;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    size_t i;

    (void)spank;
    if (call_fails())
        return ESPANK_BAD_ARG;
    i = find_env(name);
    if (host->env[i] && !overwrite)
        return ESPANK_ENV_EXISTS;
    if (i + 1 >= HOST_ENV_MAX || asprintf(&host->env[i], "%s=%s", name, value) < 0)
        return ESPANK_NOSPACE;
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    size_t i;

    (void)spank;
    if (call_fails())
        return ESPANK_BAD_ARG;
    i = find_env(name);
    for (; host->env[i]; i++)
        host->env[i] = host->env[i + 1];
    return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *text, int size)
{
    const char *line;

    (void)spank;
    if (call_fails())
        return ESPANK_BAD_ARG;
    line = host->env[find_env(name)];
    if (!line)
        return ESPANK_ENV_NOEXIST;
    return snprintf(text, (size_t)size, "%s", strchr(line, '=') + 1) < size ? ESPANK_SUCCESS
                                                                            : ESPANK_NOSPACE;
}

/* The numbers among the items. */
static spank_err_t get_u32(spank_item_t item, uint32_t *out)
{
    const struct {
        spank_item_t item;
        uint32_t value;
    } table[] = {{S_JOB_UID, getuid()},
                 {S_JOB_GID, getgid()},
                 {S_JOB_ID, host->job},
                 {S_JOB_STEPID, host->step},
                 {S_JOB_LOCAL_TASK_COUNT, host->tasks},
                 {S_STEP_CPUS_PER_TASK, 1},
                 {S_JOB_NNODES, host->nodes}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].item == item) {
            *out = table[i].value;
            return ESPANK_SUCCESS;
        }
    return ESPANK_BAD_ARG;
}

static int words(char *const *argv)
{
    int n = 0;

    while (argv[n])
        n++;
    return n;
}

/* The items about a task; the child of Slurm's does not know its own pid yet. */
static spank_err_t get_task(spank_item_t item, int *out)
{
    if (task_now < 0)
        return ESPANK_NOT_TASK;
    if (item == S_TASK_ID)
        *out = task_now;
    else if (item == S_TASK_PID)
        *out = host->pid[task_now] ? host->pid[task_now] : -1;
    else
        *out = host->status[task_now];
    return ESPANK_SUCCESS;
}

/* What Slurm gives out in this context. */
static bool item_available(spank_item_t item)
{
    if (host->context == S_CTX_JOB_SCRIPT)
        return item == S_JOB_ID || item == S_JOB_UID || item == S_JOB_GID;
    return host->context == S_CTX_REMOTE;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    spank_err_t rc = ESPANK_SUCCESS;
    va_list args;

    (void)spank;
    if (call_fails() || (int)item == host->fail_item || !item_available(item))
        return ESPANK_NOT_AVAIL;
    va_start(args, item);
    switch (item) {
    case S_JOB_ARGV:
        *va_arg(args, int *) = words(host->argv);
        *va_arg(args, char ***) = host->argv;
        break;
    case S_JOB_ENV:
        *va_arg(args, char ***) = host->env;
        break;
    case S_JOB_ALLOC_CORES:
        *va_arg(args, char **) = host->job_cores;
        break;
    case S_STEP_ALLOC_CORES:
        *va_arg(args, char **) = host->step_cores;
        break;
    case S_JOB_SUPPLEMENTARY_GIDS:
        *va_arg(args, gid_t **) = host->groups;
        *va_arg(args, int *) = host->ngroups;
        break;
    case S_TASK_ID:
    case S_TASK_PID:
    case S_TASK_EXIT_STATUS:
        rc = get_task(item, va_arg(args, int *));
        break;
    default:
        rc = get_u32(item, va_arg(args, uint32_t *));
    }
    va_end(args);
    return rc;
}

static void log_append(const char *format, va_list args)
{
    size_t used = strlen(host->log);

    vsnprintf(host->log + used, sizeof(host->log) - used, format, args);
}

#define LOG_FUNCTION(name)                                                                         \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        log_append(format, args);                                                                  \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(slurm_error)
LOG_FUNCTION(slurm_info)
LOG_FUNCTION(slurm_spank_log)

/* Of no interest to users, so not kept. */
void slurm_verbose(const char *format, ...)
{
    (void)format;
}

/* ---- what drives the plugin ---- */

void host_init(struct host *fresh)
{
    memset(fresh, 0, sizeof(*fresh));
    fresh->context = S_CTX_REMOTE;
    fresh->job = 4711;
    fresh->tasks = 2;
    fresh->argv[0] = (char *)"/bin/sh";
    fresh->env[0] = (char *)"PATH=/nowhere:/bin:/usr/bin";
    fresh->job_cores = (char *)"0-1";
    fresh->step_cores = (char *)"0-1";
    fresh->fail_item = fresh->fail_call = -1;
}

/* Ends this program where the plugin is not of our Slurm's series, as Slurm would go on without it:
 * major and minor must match. */
static void check_version(const char *path)
{
    const uint32_t *version = dlsym(plugin, "plugin_version");

    if (version && *version >> 8 == SLURM_VERSION_NUMBER >> 8)
        return;
    fprintf(stderr, "Incompatible Slurm plugin %s version (%u.%02u.%u)\n", path,
            version ? SLURM_VERSION_MAJOR(*version) : 0,
            version ? SLURM_VERSION_MINOR(*version) : 0,
            version ? SLURM_VERSION_MICRO(*version) : 0);
    exit(98);
}

void host_load(void)
{
    const char *path = getenv("BERTH_PLUGIN");

    path = path ? path : ".libs/spank_berth.so";
    plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(99);
    }
    check_version(path);
}

int host_call(struct host *which, const char *callback, int task)
{
    spank_f *function = (spank_f *)dlsym(plugin, callback);
    int argc = 0, rc = 0;

    host = which;
    task_now = task;
    while (argc < 4 && which->argument[argc])
        argc++;
    for (int i = 0; function && i < (which->twice ? 2 : 1); i++) {
        rc = function(NULL, argc, (char **)which->argument);
        if (abs(rc) > abs(which->worst))
            which->worst = rc;
    }
    return rc;
}

int host_option(struct host *which, const char *argument, int remote)
{
    host = which;
    return option_callback(0, argument, remote);
}

/* The task, in place of exec. */
static void report_self(struct host_report *report)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[CPUS_TEXT_MAX];

    memset(report, 0, sizeof(*report));
    report->ran = true;
    snprintf(report->said, sizeof(report->said), "%.255s", host->log);
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, "Cpus_allowed_list:", 18) == 0)
            cpus_parse(&report->cpus, line + 18);
    if (status)
        fclose(status);
    if (syscall(SYS_get_mempolicy, &report->mempolicy, NULL, 0UL, NULL, 0UL) < 0)
        report->mempolicy = -1;
    for (char **env = host->env; *env; env++) {
        sscanf(*env, "BERTH_CPUS=%63s", report->berth_cpus);
        sscanf(*env, "OMP_NUM_THREADS=%63s", report->omp_threads);
        sscanf(*env, "BERTH_RT_PAGE=%127s", report->page);
        sscanf(*env, "ASAN_OPTIONS=%127s", report->asan);
        if (strncmp(*env, "LD_PRELOAD=", 11) == 0)
            snprintf(report->preload, sizeof(report->preload), "%.511s", *env + 11);
    }
}

/* Ends the task. The plugin is let go of before, which is when a build for gcov counts its lines.
 */
static void __attribute__((noreturn)) leave(int status)
{
    dlclose(plugin);
    _exit(status);
}

/* Fork a task: it waits until the pipe `go` is closed, runs task_init and reports through `out`. */
static pid_t fork_task(struct host *which, int task, const int go[2], int out)
{
    struct host_report report;
    pid_t pid = fork();
    char byte;

    if (pid != 0)
        return pid;
    alarm(20);
    close(go[1]);
    host_call(which, "slurm_spank_task_init_privileged", task);
    while (read(go[0], &byte, 1) < 0 && errno == EINTR)
        ;
    if (host_call(which, "slurm_spank_task_init", task) < 0)
        leave(1);
    report_self(&report);
    if (write(out, &report, sizeof(report)) != sizeof(report))
        leave(2);
    leave(0);
}

static void reap(struct host *which, int task, int in)
{
    if (read(in, &which->report[task], sizeof(which->report[task])) <= 0)
        which->report[task].ran = false;
    close(in);
    while (waitpid(which->pid[task], &which->status[task], 0) < 0 && errno == EINTR)
        ;
    host_call(which, "slurm_spank_task_exit", task);
}

void host_run_step(struct host *which)
{
    int go[2], report[HOST_TASKS_MAX][2];

    host_call(which, "slurm_spank_init", -1);
    if (which->has_option && host_option(which, which->option, 1) != 0)
        which->worst = -1;
    host_call(which, "slurm_spank_init_post_opt", -1);
    host_call(which, "slurm_spank_user_init", -1);
    if (pipe(go) < 0)
        abort();
    for (int i = 0; i < (int)which->tasks; i++) {
        if (pipe(report[i]) < 0)
            abort();
        which->pid[i] = 0;
        which->pid[i] = fork_task(which, i, go, report[i][1]);
        close(report[i][1]);
    }
    close(go[0]);
    if (which->forked)
        which->forked(which);
    for (int i = 0; i < (int)which->tasks; i++)
        host_call(which, "slurm_spank_task_post_fork", i);
    close(go[1]);
    for (int i = 0; i < (int)which->tasks; i++)
        reap(which, i, report[i][0]);
    host_call(which, "slurm_spank_exit", -1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node - see node.h */
#include "tests/fault/node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/clock.h"
#include "tests/fault/trace.h"
#include "tests/unit/common/cpusets.h"
#include "tests/unit/common/folder.h"

const char *node_missing(void)
{
    cpu_set_t set;

    if (geteuid() != 0)
        return "not root";
    if (access(CPUSET "/cpuset.cpus", W_OK) < 0)
        return "no cpusets of cgroup v1";
    if (sched_getaffinity(0, sizeof(set), &set) < 0 || !CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
        return "no CPUs 0 and 1";
    return NULL;
}

static bool has_patience(double since_s)
{
    return clock_s() - since_s < NODE_PATIENCE_S;
}

bool node_await(struct node *node, bool (*is_so)(struct node *node, char *why), char *why)
{
    double since_s = clock_s();

    while (!is_so(node, why)) {
        if (!has_patience(since_s))
            return false;
        usleep(1000);
    }
    return true;
}

/* ---- Slurm's part ---- */

static void start_step(struct node *node, size_t i)
{
    const char *cpus = node->kind->step[i].cpus;
    char dir[200];

    snprintf(dir, sizeof(dir), CPUSET "/slurm_%s", node->name);
    cpuset_make(dir, "0-1");
    strcat(dir, "/uid_0");
    cpuset_make(dir, "0-1");
    snprintf(dir + strlen(dir), 32, "/job_%u", NODE_JOB(i));
    cpuset_make(dir, cpus);
    snprintf(node->step[i].leaf, sizeof(node->step[i].leaf), "%s/step_0", dir);
    cpuset_make(node->step[i].leaf, cpus);
    node->kind->start(&node->step[i], i);
}

void node_end_tasks(struct node *node, size_t i)
{
    step_end_tasks(&node->step[i].run);
    node->step[i].gone = true;
}

/* What is in use cannot be removed yet: its processes are moved by berthd just now, or exit. */
static void remove_leaf(const char *leaf)
{
    for (int i = 0; i < 1000 && rmdir(leaf) < 0 && errno == EBUSY; i++)
        usleep(1000);
}

void node_end_step(struct node *node, size_t i)
{
    node_end_tasks(node, i);
    step_stop(&node->step[i].run);
    remove_leaf(node->step[i].leaf);
}

void node_revive(struct node *node)
{
    for (size_t i = 0; i < node->kind->steps; i++) {
        if (!node->step[i].gone)
            continue;
        step_stop(&node->step[i].run);
        node->step[i].gone = false;
        start_step(node, i);
    }
}

void node_rewrite(struct node *node, size_t i, const char *cpus)
{
    char path[512], cgroup[256];
    int fd;

    step_cpuset(node->step[i].run.task[0], cgroup, sizeof(cgroup));
    snprintf(path, sizeof(path), CPUSET "%s/cpuset.cpus", cgroup);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, cpus, strlen(cpus)) < 0)
        errno = 0; /* the kernel may refuse: EBUSY, EACCES */
    if (fd >= 0)
        close(fd);
}

void node_configure(struct node *node, bool allowed)
{
    FILE *file = fopen(node->conf, "w");

    assert_non_null(file);
    node->allowed = allowed;
    fprintf(file,
            "control = 0\nsocket = %s\nstate_dir = %s/state\nprofile_db = %s/profiles.db\n"
            "machine_profile = %s/machine\ntopology = package:2 l3:1 core:1 pu:1\n"
            "cgroup_name = berth_%s\nsweep = 1000s\ncounters = software\nlearn = off\n"
            "ledger = off\nenforcement = cgroup1\n"
            "policy = dio-power\n", /* by rule: it exchanges two steps on so small a machine */
            node->socket, node->dir, node->dir, node->dir, node->name);
    if (allowed && node->kind->allow)
        node->kind->allow(node, file);
    if (node->kind->always)
        node->kind->always(node, file);
    fclose(file);
}

static FILE *open_log(const struct node *node)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/log", node->dir);
    return fopen(path, "r");
}

bool node_logged(const struct node *node, const char *text)
{
    FILE *log = open_log(node);
    char line[1024];
    bool found = false;

    while (log && !found && fgets(line, sizeof(line), log))
        found = strstr(line, text);
    if (log)
        fclose(log);
    return found;
}

void node_print_log(const struct node *node)
{
    FILE *log = open_log(node);
    char line[1024];

    while (log && fgets(line, sizeof(line), log))
        print_error("    %s", line);
    if (log)
        fclose(log);
}

struct node *node_open(const struct node_kind *kind)
{
    struct node *node = calloc(1, sizeof(*node));

    assert_non_null(node);
    node->kind = kind;
    node->fd = -1;
    snprintf(node->name, sizeof(node->name), "fault%d", (int)getpid());
    folder_new(node->dir, sizeof(node->dir), "berth-fault");
    snprintf(node->conf, sizeof(node->conf), "%s/berth.conf", node->dir);
    snprintf(node->socket, sizeof(node->socket), "%s/berthd.sock", node->dir);
    if (kind->files)
        kind->files(node);
    node_configure(node, true);
    for (size_t i = 0; i < kind->steps; i++)
        start_step(node, i);
    return node;
}

static int remove_cgroup(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    if (type == FTW_DP)
        rmdir(path);
    return 0;
}

void node_close(struct node *node)
{
    char dir[128];

    node_kill(node);
    for (size_t i = 0; i < node->kind->steps; i++)
        step_stop(&node->step[i].run);
    snprintf(dir, sizeof(dir), CPUSET "/slurm_%s", node->name);
    nftw(dir, remove_cgroup, 8, FTW_DEPTH | FTW_PHYS);
    snprintf(dir, sizeof(dir), CPUSET "/berth_%s", node->name);
    nftw(dir, remove_cgroup, 8, FTW_DEPTH | FTW_PHYS);
    folder_remove(node->dir);
    free(node);
}

/* ---- the daemon ---- */

void node_hang_up(struct node *node)
{
    if (node->fd >= 0)
        close(node->fd);
    node->fd = -1;
}

bool node_up(struct node *node)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (node->fd >= 0)
        return true;
    memcpy(address.sun_path, node->socket, strlen(node->socket) + 1);
    node->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(node->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return true;
    node_hang_up(node);
    return false;
}

bool node_start(struct node *node, bool traced)
{
    char path[128];
    int status;

    node_hang_up(node);
    node->started_s = clock_s();
    unlink(node->socket);
    snprintf(path, sizeof(path), "%s/log", node->dir);
    node->daemon = fork();
    assert_true(node->daemon >= 0);
    if (node->daemon == 0) {
        int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

        dup2(log, STDERR_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing survives a test that is killed */
        if (!traced || trace_me() == 0)
            execl(node->kind->berthd, node->kind->berthd, "-c", node->conf, NULL);
        dprintf(STDERR_FILENO, "%s: %s\n", node->kind->berthd, strerror(errno));
        _exit(127);
    }
    if (traced)
        return waitpid(node->daemon, &status, 0) == node->daemon && WIFSTOPPED(status);
    while (!node_up(node) && has_patience(node->started_s)) {
        if (waitpid(node->daemon, &status, WNOHANG) == node->daemon) {
            node->daemon = 0;
            return false;
        }
        usleep(1000);
    }
    return node->fd >= 0;
}

void node_kill(struct node *node)
{
    node_hang_up(node);
    if (node->daemon > 0) {
        kill(node->daemon, SIGKILL);
        waitpid(node->daemon, NULL, 0);
    }
    node->daemon = 0;
}

int node_stop(struct node *node)
{
    double since_s = clock_s();
    int status = -1;

    node_hang_up(node);
    if (node->daemon <= 0)
        return -1;
    kill(node->daemon, SIGTERM);
    while (node->daemon > 0 && has_patience(since_s)) {
        if (waitpid(node->daemon, &status, WNOHANG) == node->daemon)
            node->daemon = 0;
        else
            usleep(1000);
    }
    if (node->daemon > 0) {
        node_kill(node);
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void node_reset(struct node *node)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/state", node->dir);
    folder_remove(path);
    snprintf(path, sizeof(path), "%s/log", node->dir);
    unlink(path);
}

/* ---- a conversation ---- */

bool node_say(struct node *node, const char *text)
{
    return node_up(node) &&
           send(node->fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* The last line of an answer has no "more", or says that there are no more. */
static bool is_whole(const char *text)
{
    size_t length = strlen(text);

    return length > 0 && text[length - 1] == '\n' &&
           (strstr(text, "\"more\":false") || !strstr(text, "\"more\":true"));
}

bool node_answered(struct node *node)
{
    char text[16384];
    ssize_t got =
        node->fd < 0 ? -1 : recv(node->fd, text, sizeof(text) - 1, MSG_PEEK | MSG_DONTWAIT);

    text[got > 0 ? got : 0] = '\0';
    return is_whole(text);
}

struct json_object *node_answer(struct node *node)
{
    struct json_object *lines = json_object_new_array();
    char text[16384], *line, *rest;
    double since_s = clock_s();

    while (!node_answered(node) && has_patience(since_s)) {
        struct pollfd wait = {.fd = node->fd, .events = POLLIN};

        poll(&wait, 1, 100);
        if (wait.revents & POLLHUP)
            break;
        usleep(1000);
    }
    if (node_answered(node)) {
        text[recv(node->fd, text, sizeof(text) - 1, 0)] = '\0';
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            json_object_array_add(lines, json_tokener_parse(line));
        return lines;
    }
    json_object_put(lines);
    return NULL;
}

void node_registration(const struct node *node, size_t i, char *text, size_t size)
{
    const char *cpus = node->kind->step[i].cpus;

    snprintf(text, size,
             "{\"version\":1,\"op\":\"register\",\"job\":%u,\"step\":0,\"uid\":0,\"node\":\"%s\","
             "\"job_cores\":\"%s\",\"step_cores\":\"%s\",\"options\":{%s},\"tasks\":[[0,%d]]}\n",
             NODE_JOB(i), node->name, cpus, cpus, node->kind->step[i].options,
             (int)node->step[i].run.task[0]);
}

/* ---- what holds ---- */

bool node_in_leaf(const struct node *node, size_t i, pid_t pid, char *why)
{
    char path[512];

    step_cpuset(pid, path, sizeof(path));
    if (strcmp(path, node->step[i].leaf + strlen(CPUSET)) == 0)
        return true;
    snprintf(why, NODE_WHY, "step %zu: process %d is in %.200s", i, (int)pid, path);
    return false;
}

bool node_leaf_is_slurms(const struct node *node, size_t i, char *why)
{
    char path[512], text[64];

    snprintf(path, sizeof(path), "%s/cpuset.cpus", node->step[i].leaf);
    file_line(path, text, sizeof(text));
    if (strcmp(text, node->kind->step[i].cpus) == 0)
        return true;
    snprintf(why, NODE_WHY, "step %zu: Slurm's cpuset has %.60s", i, text);
    return false;
}

bool node_is_clean(struct node *node, char *why)
{
    char path[128];

    for (size_t i = 0; i < node->kind->steps; i++)
        if (!node->step[i].gone &&
            (!node->kind->is_home(node, i, why) || !node_leaf_is_slurms(node, i, why)))
            return false;
    snprintf(path, sizeof(path), CPUSET "/berth_%s", node->name);
    if (access(path, F_OK) == 0) {
        snprintf(why, NODE_WHY, "%s is left", path);
        return false;
    }
    snprintf(path, sizeof(path), "%s/pool", node->dir);
    if (access(path, F_OK) == 0) {
        snprintf(why, NODE_WHY, "%s is left", path);
        return false;
    }
    snprintf(path, sizeof(path), "%s/state/journal.bad", node->dir);
    if (access(path, F_OK) == 0) {
        snprintf(why, NODE_WHY, "the journal could not be read");
        return false;
    }
    return true;
}

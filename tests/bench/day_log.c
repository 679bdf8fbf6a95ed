/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_log - see day_log.h */
#include "tests/bench/day_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES_MAX 4096 /* of one job */

/* What is read, and for whom. */
struct reading {
    int (*each)(void *arg, const struct day_log_job *job);
    void *arg;
    size_t jobs;
    long node[NODES_MAX];
    size_t cores[NODES_MAX];
};

/* ---- one line ---- */

/* "{17,17,18}": two pieces, of two cores and of one. Returns how many pieces there are. */
static size_t cores_by_node(struct reading *reading, const char *text)
{
    size_t n = 0, i;

    for (char *end; *text == '{' || *text == ','; text = end) {
        long node = strtol(text + 1, &end, 10);

        if (end == text + 1)
            break;
        for (i = 0; i < n && reading->node[i] != node; i++)
            ;
        if (i == NODES_MAX)
            continue;
        if (i == n) {
            reading->node[n] = node;
            reading->cores[n++] = 0;
        }
        reading->cores[i]++;
    }
    return n;
}

/* The fields are: job, submitted, waited, ran, processors, CPU time, memory, and of each what was
 * asked, status, user, group, program, .. */
static int read_line(struct reading *reading, const char *line)
{
    struct day_log_job job = {.user = -1, .program = -1, .cores = reading->cores};
    const char *nodes = strchr(line, '{');
    double waited;
    long cores;

    if (sscanf(line, "%*d %lf %lf %lf %ld %*f %*f %*f %lf %*f %*d %ld %*d %ld", &job.submitted_s,
               &waited, &job.ran_s, &cores, &job.asked_s, &job.user, &job.program) < 4 ||
        job.ran_s <= 0 || cores <= 0)
        return 0; /* a comment, or a job that never ran */
    reading->cores[0] = (size_t)cores;
    job.by_node = nodes;
    job.exclusive = nodes && strstr(nodes, "#excl");
    job.pieces = nodes ? cores_by_node(reading, nodes) : 1;
    reading->jobs++;
    return reading->each(reading->arg, &job);
}

/* ---- the file ---- */

/* gzip hands on as it is what it has not packed. */
static FILE *unpack(const char *path, pid_t *pid)
{
    int fd[2];

    if (access(path, R_OK) < 0 || pipe(fd) < 0)
        return NULL;
    *pid = fork();
    if (*pid == 0) {
        dup2(fd[1], STDOUT_FILENO);
        close(fd[0]);
        close(fd[1]);
        execlp("gzip", "gzip", "-cdf", "--", path, (char *)NULL);
        _exit(127);
    }
    close(fd[1]);
    if (*pid > 0)
        return fdopen(fd[0], "r");
    close(fd[0]);
    return NULL;
}

static int read_lines(struct reading *reading, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &size, file) >= 0)
        rc = read_line(reading, line);
    free(line);
    return rc;
}

int day_log_read(const char *path, int (*each)(void *arg, const struct day_log_job *job), void *arg,
                 struct berth_error *err)
{
    struct reading *reading = calloc(1, sizeof(*reading));
    int rc = -1, status = -1;
    FILE *file = NULL;
    pid_t pid;

    if (!reading)
        return berth_no_memory(err);
    *reading = (struct reading){.each = each, .arg = arg};
    file = unpack(path, &pid);
    if (!file) {
        free(reading);
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    }
    rc = read_lines(reading, file);
    fclose(file);
    if (waitpid(pid, &status, 0) < 0 || (rc == 0 && status != 0))
        rc = berth_error_set(err, "%s: gzip cannot read it", path);
    else if (rc < 0)
        berth_no_memory(err);
    else if (reading->jobs == 0)
        rc = berth_error_set(err, "%s: no job in it (Standard Workload Format expected)", path);
    free(reading);
    return rc;
}

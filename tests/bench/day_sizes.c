/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_sizes - see day_sizes.h */
#include "tests/bench/day_sizes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/day_random.h"

#define NODES_MAX 4096 /* of one job */

/* ---- one line ---- */

static int add(struct day_sizes *sizes, size_t cores, bool ranks)
{
    size_t room = sizes->n + 1;
    struct day_size *more;

    if ((sizes->n & room) == 0) { /* it is full at each power of two */
        more = realloc(sizes->size, 2 * room * sizeof(*more));
        if (!more)
            return -1;
        sizes->size = more;
    }
    sizes->size[sizes->n++] = (struct day_size){cores, ranks};
    return 0;
}

/* "{17,17,18}": two pieces, of two cores and of one. */
static int add_by_nodes(struct day_sizes *sizes, const char *text)
{
    static struct {
        long node;
        size_t cores;
    } piece[NODES_MAX];
    size_t n = 0, i;

    for (char *end; *text == '{' || *text == ','; text = end) {
        long node = strtol(text + 1, &end, 10);

        if (end == text + 1)
            break;
        for (i = 0; i < n && piece[i].node != node; i++)
            ;
        if (i == NODES_MAX)
            continue;
        if (i == n)
            piece[n++].cores = 0;
        piece[i].node = node;
        piece[i].cores++;
    }
    for (i = 0; i < n; i++)
        if (add(sizes, piece[i].cores, n > 1) < 0)
            return -1;
    return 0;
}

/* The fields are: job, submitted, waited, ran, processors, .. */
static int add_line(struct day_sizes *sizes, const char *line)
{
    const char *nodes = strchr(line, '{');
    double submitted, waited, ran;
    long cores;

    if (sscanf(line, "%*d %lf %lf %lf %ld", &submitted, &waited, &ran, &cores) != 4 || ran <= 0 ||
        cores <= 0)
        return 0; /* a comment, or a job that never ran */
    return nodes ? add_by_nodes(sizes, nodes) : add(sizes, (size_t)cores, false);
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

static int read_lines(struct day_sizes *sizes, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &size, file) >= 0)
        rc = add_line(sizes, line);
    free(line);
    return rc;
}

int day_sizes_read(struct day_sizes *sizes, const char *path, struct berth_error *err)
{
    int rc, status = -1;
    FILE *file;
    pid_t pid;

    *sizes = (struct day_sizes){0};
    file = unpack(path, &pid);
    if (!file)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    rc = read_lines(sizes, file);
    fclose(file);
    if (waitpid(pid, &status, 0) < 0 || (rc == 0 && status != 0))
        rc = berth_error_set(err, "%s: gzip cannot read it", path);
    else if (rc < 0)
        berth_no_memory(err);
    else if (sizes->n == 0)
        rc = berth_error_set(err, "%s: no job in it (Standard Workload Format expected)", path);
    if (rc < 0)
        day_sizes_free(sizes);
    return rc;
}

void day_sizes_free(struct day_sizes *sizes)
{
    free(sizes->size);
    *sizes = (struct day_sizes){0};
}

void day_sizes_draw(const struct day_sizes *sizes, uint64_t *seed, size_t most, size_t *tasks,
                    size_t *width)
{
    const struct day_size *size = &sizes->size[(size_t)(day_random(seed) * (double)sizes->n)];
    size_t cores = size->cores < most ? size->cores : most;
    bool ranks = day_random(seed) < 0.5;

    *tasks = size->ranks || ranks ? cores : 1;
    *width = cores / *tasks;
}

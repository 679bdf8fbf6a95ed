/* SPDX-License-Identifier: GPL-2.0-or-later */
/* remote - see remote.h. What srun and berthctl on each node say is lines: those that are pieces
 * are the answers, others say what went wrong. */
#include "packer/cli/find/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/pieces.h"
#include "packer/system/run_program.h"

#define SAID_MAX (16u << 20)

void remote_add(struct json_object *answer, struct json_object *said)
{
    struct json_object *steps = ctl_object(said, "steps"), *node = ctl_object(said, "node");

    if (node && !ctl_object(answer, "node"))
        json_add(answer, "node", json_object_get(node));
    for (size_t i = 0; i < ctl_length(steps); i++)
        json_append(ctl_object(answer, "steps"),
                    json_object_get(json_object_array_get_idx(steps, i)));
}

/* Reads the lines into what each node says. why[] is the first that berthctl says and that is no
 * answer, or the last one. */
static void read_lines(char *said, struct pieces *nodes, size_t max, char why[512])
{
    char *save = NULL;

    for (char *line = strtok_r(said, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (!pieces_take(nodes, max, line) && strncmp(why, "berthctl: ", 10) != 0)
            snprintf(why, 512, "%.511s", line);
}

/* Adds the answers. Returns how many there are; why[] is also, that one did not come whole. */
static size_t add_answers(struct pieces *nodes, size_t max, struct json_object *answer,
                          char why[512])
{
    size_t n = 0;

    for (size_t i = 0; i < max && nodes[i].from[0]; i++) {
        struct json_object *said = pieces_value(&nodes[i]);

        if (said) {
            n++;
            remote_add(answer, said);
            json_object_put(said);
        } else {
            snprintf(why, 512, "a part of the answer is missing");
        }
    }
    return n;
}

/* Reads what was said. Returns how many answers there are; 0: why[] says why. */
static size_t read_answers(const struct remote *remote, char *said, struct json_object *answer,
                           char why[512])
{
    size_t max = remote->job->nodes + 1u, n = 0;
    struct pieces *nodes = calloc(max, sizeof(*nodes));

    if (!nodes) {
        snprintf(why, 512, "%s", strerror(ENOMEM));
        return 0;
    }
    read_lines(said, nodes, max, why);
    n = add_answers(nodes, max, answer, why);
    free(nodes);
    return n;
}

/* Writes the path of this program: it is where it is on the other nodes, too. */
static void own_path(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    if (length > 0)
        path[length] = '\0';
    else
        strcpy(path, "berthctl");
}

/* Runs it, into said[SAID_MAX]. */
static void run_there(const struct remote *remote, const char *verb, const char *argument,
                      char *said)
{
    char job[32], nodes[16], tasks[16], path[PATH_MAX];
    const char *argv[24] = {"srun", "--overlap", "--quiet", "--mpi=none", "-c1", job, nodes, tasks};
    size_t n = 8;

    snprintf(job, sizeof(job), "--jobid=%u", remote->job->job);
    snprintf(nodes, sizeof(nodes), "-N%u", remote->node ? 1 : remote->job->nodes);
    snprintf(tasks, sizeof(tasks), "-n%u", remote->node ? 1 : remote->job->nodes);
    own_path(path);
    /* Without a word of its own it would be a stranger, before whom berth leaves these cores; so
     * berthd knows it (program_asks). */
    setenv("_SLURM_SPANK_OPTION_berth_contention_aware", "observe", 1);
    if (remote->node) {
        argv[n++] = "-w";
        argv[n++] = remote->node;
    }
    argv[n++] = path;
    argv[n++] = verb;
    argv[n++] = "--json";
    argv[n++] = "--pieces";
    if (remote->config) {
        argv[n++] = "--config";
        argv[n++] = remote->config;
    }
    argv[n++] = argument; /* which may be the end */
    argv[n] = NULL;
    run_program((char *const *)argv, RUN_ALL, remote->wait_s, NULL, said, SAID_MAX);
}

/* Has berthctl said the line, of what it was asked? *text is then what it says of that. */
static bool is_told(const char *line, const char *argument, const char **text)
{
    char before[64];

    snprintf(before, sizeof(before), "berthctl: %.40s: ", argument ? argument : "");
    if (!argument || strncmp(line, before, strlen(before)) != 0)
        return false;
    *text = line + strlen(before);
    return true;
}

int remote_ask(const struct remote *remote, const char *verb, const char *argument,
               struct json_object *answer, bool *told, struct berth_error *err)
{
    char *said = malloc(SAID_MAX), why[512] = "it said nothing";
    const char *text = why;
    size_t n;

    if (!said)
        return berth_no_memory(err);
    run_there(remote, verb, argument, said);
    n = read_answers(remote, said, answer, why);
    free(said);
    if (n > 0)
        return 0;
    if (told && (*told = is_told(why, argument, &text)))
        return berth_error_set(err, "%s", text);
    return berth_error_set(err, "by srun into job %u: %s", remote->job->job, why);
}

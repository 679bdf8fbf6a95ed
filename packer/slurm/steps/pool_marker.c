/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool_marker - see pool_marker.h */
#include "packer/slurm/steps/pool_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "packer/base/file.h"
#include "packer/identity/jobs.h"
#include "packer/steps/run_folder.h"
#include "packer/steps/stage.h"
#include "packer/wire/wire_guest.h"

/* Does the job keep its marker: has it a live step that opted in? */
static bool opted_in(const struct packer *packer, uint32_t job)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->request.id.job == job && step->request.options.mode != WIRE_MODE_OFF)
        return true;
    return false;
}

#define MARK_PATH_MAX (PATH_MAX + 32)

static void mark_path(const struct packer *packer, const char *name, char path[MARK_PATH_MAX])
{
    char dir[PATH_MAX];

    run_folder(packer, WIRE_POOL_DIR, dir);
    snprintf(path, MARK_PATH_MAX, "%s/%s", dir, name);
}

/* Makes or removes a marker. Returns whether it is there then. */
static bool mark_name(const struct packer *packer, const char *name, bool there)
{
    char path[MARK_PATH_MAX];
    int fd;

    mark_path(packer, name, path);
    if (!there)
        return unlink(path) < 0 && errno != ENOENT;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        log_error("%s: %s", path, strerror(errno));
    else
        close(fd);
    return fd >= 0;
}

/* Does anybody wait to be told of the job's end? */
static bool is_awaited(const struct packer *packer, uint32_t job)
{
    return packer->state->jobs && known_jobs_find(packer->state->jobs, job);
}

/* Has the job's marker only ask for its end from now on. */
static void await_end(const struct packer *packer, const char *name, const char *name_end)
{
    char path[MARK_PATH_MAX], path_end[MARK_PATH_MAX];

    mark_path(packer, name, path);
    mark_path(packer, name_end, path_end);
    if (rename(path, path_end) < 0)
        mark_name(packer, name_end, true);
}

void pool_marker_update(const struct packer *packer, uint32_t job)
{
    char name[32], name_end[32];

    snprintf(name, sizeof(name), "%u", job);
    snprintf(name_end, sizeof(name_end), "%u%s", job, WIRE_WATCH_SUFFIX);
    if (opted_in(packer, job)) {
        mark_name(packer, name, true);
        return;
    }
    if (is_awaited(packer, job)) {
        await_end(packer, name, name_end);
        return;
    }
    mark_name(packer, name, false);
    mark_name(packer, name_end, false);
}

void pool_marker_idle(const struct packer *packer, bool idle)
{
    if (packer->state->idle.marked != idle)
        packer->state->idle.marked = mark_name(packer, WIRE_IDLE_MARK, idle);
}

/* Adds the step's line to the text. */
static void add_guest(const struct packer *packer, const struct step *step, FILE *text)
{
    struct enforce *enforce = packer->world.enforce;
    char line[WIRE_GUEST_LINE_MAX];
    struct wire_guest guest = {.on = step->place.idle, .home = step->body.step_home};

    _Static_assert(sizeof(guest.dir) >= CGROUP_DIR_MAX, "a folder's path has its place");
    enforce->way->folder(enforce, &step->body, guest.dir);
    wire_guest_write(&guest, line);
    fputs(line, text);
}

/* Returns the lines of all that stand on cores of nobody, for the caller to free; NULL: out of
 * memory. */
static char *guests_of(const struct packer *packer)
{
    size_t size;
    char *lines = NULL;
    FILE *text = open_memstream(&lines, &size);
    const struct step *step;

    if (!text)
        return NULL;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step_movable(step) && !cpus_empty(&step->place.idle))
        add_guest(packer, step, text);
    if (fclose(text) == 0)
        return lines;
    free(lines);
    return NULL;
}

void pool_marker_guests(const struct packer *packer)
{
    struct idle_cores *idle = &packer->state->idle;
    char *lines, path[MARK_PATH_MAX];
    uint64_t said;

    if (!idle->marked || !packer->world.enforce->way->folder)
        return;
    lines = guests_of(packer);
    said = lines ? XXH3_64bits(lines, strlen(lines)) : 0;
    mark_path(packer, WIRE_IDLE_MARK, path);
    if (lines && said != idle->guests && file_replace(path, 0600, 0, lines, strlen(lines)) == 0)
        idle->guests = said;
    free(lines);
}

bool pool_marker_sent(const struct packer *packer, bool forget)
{
    char path[MARK_PATH_MAX];

    if (packer->world.conf.idle == CONF_IDLE_OFF)
        return false;
    mark_path(packer, WIRE_SENT_MARK, path);
    return (forget ? unlink(path) : access(path, F_OK)) == 0;
}

/* Is it the mark of a job whose end nobody waits for? */
static bool is_unawaited(const char *name, const void *packer)
{
    char *end;
    unsigned long job = strtoul(name, &end, 10);

    return end != name && strcmp(end, WIRE_WATCH_SUFFIX) == 0 && job <= UINT32_MAX &&
           !is_awaited(packer, (uint32_t)job);
}

void pool_marker_tidy(const struct packer *packer)
{
    char path[PATH_MAX];

    run_folder(packer, WIRE_POOL_DIR, path);
    file_sweep(path, is_unawaited, packer);
}

static bool is_any(const char *name, const void *arg)
{
    (void)name, (void)arg;
    return true;
}

void pool_marker_update_all(const struct packer *packer)
{
    const struct known_job *job;
    const struct step *step;
    char path[PATH_MAX];

    run_folder(packer, WIRE_POOL_DIR, path);
    if (run_folder_make(path) < 0)
        log_error("%s: %s", path, strerror(errno));
    file_sweep(path, is_any, NULL);
    packer->state->idle.marked = false;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    pool_marker_update(packer, step->request.id.job);
    if (packer->state->jobs)
        TAILQ_FOREACH(job, &packer->state->jobs->list, link)
    pool_marker_update(packer, job->run.job);
}

void pool_marker_remove_all(const struct packer *packer)
{
    char path[PATH_MAX];

    run_folder(packer, WIRE_POOL_DIR, path);
    file_sweep(path, is_any, NULL);
    packer->state->idle.marked = false;
    rmdir(path);
}

/* ---- the stage ---- */

static void mark_job(const struct packer *packer, struct step *step)
{
    pool_marker_update(packer, step->request.id.job);
}

static void unmark_job(const struct packer *packer, struct wire_step_id id)
{
    pool_marker_update(packer, id.job);
}

const struct stage marker_stage = {
    .name = "marker",
    .begin = mark_job,
    .adopt = stage_keeps, /* all are made at once when all are adopted */
    .gone = unmark_job,
};

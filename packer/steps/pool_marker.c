/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool_marker - see pool_marker.h */
#include "packer/steps/pool_marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "packer/base/file.h"
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

/* Makes or removes a marker. Returns whether it is there then. */
static bool mark_name(const struct packer *packer, const char *name, bool there)
{
    char dir[PATH_MAX], path[PATH_MAX + 32];
    int fd;

    run_folder(packer, WIRE_POOL_DIR, dir);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!there)
        return unlink(path) < 0 && errno != ENOENT;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        log_error("%s: %s", path, strerror(errno));
    else
        close(fd);
    return fd >= 0;
}

/* Makes or removes a job's marker of that kind. */
static void mark(const struct packer *packer, uint32_t job, const char *suffix, bool there)
{
    char name[32];

    snprintf(name, sizeof(name), "%u%s", job, suffix);
    mark_name(packer, name, there);
}

void pool_marker_update(const struct packer *packer, uint32_t job)
{
    mark(packer, job, "", opted_in(packer, job));
}

void pool_marker_watch(const struct packer *packer, uint32_t job, bool watch)
{
    mark(packer, job, WIRE_WATCH_SUFFIX, watch);
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
    char *lines, dir[PATH_MAX], path[PATH_MAX + 32];
    uint64_t said;

    if (!idle->marked || !packer->world.enforce->way->folder)
        return;
    lines = guests_of(packer);
    said = lines ? XXH3_64bits(lines, strlen(lines)) : 0;
    run_folder(packer, WIRE_POOL_DIR, dir);
    snprintf(path, sizeof(path), "%s/%s", dir, WIRE_IDLE_MARK);
    if (lines && said != idle->guests && file_replace(path, 0600, 0, lines, strlen(lines)) == 0)
        idle->guests = said;
    free(lines);
}

bool pool_marker_sent(const struct packer *packer, bool forget)
{
    char dir[PATH_MAX], path[PATH_MAX + 32];

    if (packer->world.conf.idle == CONF_IDLE_OFF)
        return false;
    run_folder(packer, WIRE_POOL_DIR, dir);
    snprintf(path, sizeof(path), "%s/%s", dir, WIRE_SENT_MARK);
    return (forget ? unlink(path) : access(path, F_OK)) == 0;
}

struct unwatch {
    const struct packer *packer;
    bool (*wanted)(const struct packer *packer, uint32_t job);
};

/* Is it the mark of a job that nobody waits for? */
static bool is_unwatched(const char *name, const void *arg)
{
    const struct unwatch *unwatch = arg;
    char *end;
    unsigned long job = strtoul(name, &end, 10);

    return end != name && strcmp(end, WIRE_WATCH_SUFFIX) == 0 && job <= UINT32_MAX &&
           !unwatch->wanted(unwatch->packer, (uint32_t)job);
}

void pool_marker_unwatch(const struct packer *packer,
                         bool (*wanted)(const struct packer *packer, uint32_t job))
{
    char path[PATH_MAX];

    run_folder(packer, WIRE_POOL_DIR, path);
    file_sweep(path, is_unwatched, &(struct unwatch){packer, wanted});
}

static bool is_any(const char *name, const void *arg)
{
    (void)name, (void)arg;
    return true;
}

void pool_marker_update_all(const struct packer *packer)
{
    const struct step *step;
    char path[PATH_MAX];

    run_folder(packer, WIRE_POOL_DIR, path);
    if (run_folder_make(path) < 0)
        log_error("%s: %s", path, strerror(errno));
    file_sweep(path, is_any, NULL);
    packer->state->idle.marked = false;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        pool_marker_update(packer, step->request.id.job);
        pool_marker_watch(packer, step->request.id.job, true);
    }
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

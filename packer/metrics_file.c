/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_file - see metrics_file.h */
#include "metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"
#include "metrics_listen.h"

#define CLOSE_WAIT_S 2

struct metrics_file {
    struct packer *packer; /* of the event loop */
    struct event *timer;
    char path[PATH_MAX], temporary[PATH_MAX + 8];
    struct metrics_readers readers;
    pthread_t thread;
    pthread_mutex_t mutex; /* for all that follows */
    pthread_cond_t changed;
    char *text; /* the page to be written next; NULL: none */
    size_t length;
    bool stopping, stopped;
};

/* ---- the thread ---- */

static int write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t done = write(fd, text, length);

        if (done < 0 && errno != EINTR)
            return -1;
        text += done > 0 ? done : 0;
        length -= (size_t)(done > 0 ? done : 0);
    }
    return 0;
}

/* Nobody but root sees it before it has its group. */
static int write_file(const struct metrics_file *file, const char *text, size_t length,
                      struct berth_error *err)
{
    mode_t mode = file->readers.everybody ? 0644 : 0640;
    int fd, rc = -1;

    unlink(file->temporary);
    fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return berth_error_set(err, "%s: %s", file->temporary, strerror(errno));
    if (fchown(fd, (uid_t)-1, file->readers.group) == 0 && fchmod(fd, mode) == 0)
        rc = write_all(fd, text, length);
    if (close(fd) == 0 && rc == 0 && rename(file->temporary, file->path) == 0)
        return 0;
    berth_error_set(err, "%s: %s", file->path, strerror(errno));
    unlink(file->temporary);
    return -1;
}

static void *run(void *arg)
{
    struct metrics_file *file = arg;
    struct berth_error err;
    bool failing = false;

    pthread_mutex_lock(&file->mutex);
    while (!file->stopping) {
        char *text = file->text;
        size_t length = file->length;
        bool fails;

        file->text = NULL;
        if (!text) {
            pthread_cond_wait(&file->changed, &file->mutex);
            continue;
        }
        pthread_mutex_unlock(&file->mutex);
        fails = write_file(file, text, length, &err) < 0;
        if (fails && !failing) /* once, not every time */
            log_warn("metrics_textfile: %s", err.text);
        failing = fails;
        free(text);
        pthread_mutex_lock(&file->mutex);
    }
    file->stopped = true;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->mutex);
    return NULL;
}

/* Signals are for the event loop's thread. */
static int start_thread(struct metrics_file *file)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&file->thread, NULL, run, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

/* ---- the event loop's side ---- */

/* A page that the thread has not come to is replaced. */
static void hand_over(struct metrics_file *file)
{
    size_t length;
    char *text = metrics_page(file->packer, METRICS_PLAIN, true, &length);

    if (!text)
        return;
    pthread_mutex_lock(&file->mutex);
    free(file->text);
    file->text = text;
    file->length = length;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->mutex);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct metrics_file *file = arg;
    uint64_t ms = file->packer->conf.metrics_interval_ms;
    const struct timeval next = {.tv_sec = (time_t)(ms / 1000),
                                 .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

    (void)fd, (void)what;
    hand_over(file);
    event_add(file->timer, &next);
}

static struct metrics_file *file_new(struct event_base *base, struct packer *packer)
{
    struct metrics_file *file = calloc(1, sizeof(*file));
    pthread_condattr_t clock;

    if (!file)
        return NULL;
    file->packer = packer;
    file->timer = evtimer_new(base, on_time, file);
    snprintf(file->path, sizeof(file->path), "%s", packer->conf.metrics_textfile);
    snprintf(file->temporary, sizeof(file->temporary), "%s.tmp", file->path);
    pthread_mutex_init(&file->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&file->changed, &clock);
    pthread_condattr_destroy(&clock);
    return file;
}

static void file_free(struct metrics_file *file)
{
    if (file->timer)
        event_free(file->timer);
    free(file->text);
    pthread_cond_destroy(&file->changed);
    pthread_mutex_destroy(&file->mutex);
    free(file);
}

int metrics_file_open(struct metrics_file **out, struct event_base *base, struct packer *packer,
                      struct berth_error *err)
{
    struct metrics_readers readers;
    struct metrics_file *file;
    int rc;

    *out = NULL;
    if (!packer->conf.metrics_textfile[0])
        return 0;
    if (metrics_readers(&packer->conf, &readers, err) < 0)
        return -1;
    file = file_new(base, packer);
    if (!file)
        return berth_error_set(err, "out of memory");
    file->readers = readers;
    rc = file->timer ? start_thread(file) : ENOMEM;
    if (rc != 0) {
        file_free(file);
        return berth_error_set(err, "metrics_textfile: no thread: %s", strerror(rc));
    }
    on_time(-1, 0, file);
    *out = file;
    return 0;
}

/* A disk that hangs is not waited for: the thread is then left alone with its memory. */
void metrics_file_close(struct metrics_file *file)
{
    struct timespec until;
    bool stopped;
    int rc = 0;

    if (!file)
        return;
    event_free(file->timer);
    file->timer = NULL;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CLOSE_WAIT_S;
    pthread_mutex_lock(&file->mutex);
    file->stopping = true;
    pthread_cond_broadcast(&file->changed);
    while (!file->stopped && rc == 0)
        rc = pthread_cond_timedwait(&file->changed, &file->mutex, &until);
    stopped = file->stopped;
    pthread_mutex_unlock(&file->mutex);
    if (!stopped) {
        pthread_detach(file->thread);
        return;
    }
    pthread_join(file->thread, NULL);
    unlink(file->path);
    file_free(file);
}

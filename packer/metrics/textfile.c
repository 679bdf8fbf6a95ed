/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/metrics/textfile.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/worker.h"
#include "packer/metrics/listen.h"
#include "packer/metrics/node.h"
#include "packer/system/capabilities.h"

struct metrics_textfile {
    const struct packer *packer; /* of the event loop */
    struct event *timer;
    char path[PATH_MAX];
    struct metrics_readers readers;
    struct worker worker;
    char *text; /* under the worker's mutex: the page to be written next; NULL: none */
    size_t length;
};

/* ---- the thread ---- */

/* Nobody but root sees it before it has its group. */
static int write_file(const struct metrics_textfile *file, const char *text, size_t length,
                      struct berth_error *err)
{
    mode_t mode = file->readers.everybody ? 0644 : 0640;
    struct file_draft draft;
    bool whole;

    if (file_draft_open(&draft, file->path, 0) < 0)
        return berth_error_set(err, "%s: %s", draft.temporary, strerror(errno));
    whole = fchown(draft.fd, (uid_t)-1, file->readers.group) == 0 &&
            file_write_fd(draft.fd, text, length) == length;
    if (file_draft_close(&draft, mode, whole) == 0)
        return 0;
    return berth_error_set(err, "%s: %s", file->path,
                           capabilities_why(CAPABILITY(CAP_CHOWN), errno));
}

static void write_files(void *arg)
{
    struct metrics_textfile *file = arg;
    struct berth_error err;
    bool failing = false;

    while (!file->worker.stopping) {
        char *text = file->text;
        size_t length = file->length;
        bool fails;

        file->text = NULL;
        if (!text) {
            worker_wait_until(&file->worker, INFINITY);
            continue;
        }
        worker_unlock(&file->worker);
        fails = write_file(file, text, length, &err) < 0;
        if (fails && !failing) /* once, not every time */
            log_warn("metrics_textfile: %s", err.text);
        failing = fails;
        free(text);
        worker_lock(&file->worker);
    }
}

/* ---- the event loop's side ---- */

/* A page that the thread has not come to is replaced. */
static void hand_over(struct metrics_textfile *file)
{
    size_t length;
    char *text = metrics_page(file->packer, METRICS_PLAIN, true, &length);

    if (!text)
        return;
    worker_lock(&file->worker);
    free(file->text);
    file->text = text;
    file->length = length;
    worker_changed(&file->worker);
    worker_unlock(&file->worker);
}

static void on_time(evutil_socket_t fd, short what, void *arg)
{
    struct metrics_textfile *file = arg;
    uint64_t ms = file->packer->world.conf.metrics_interval_ms;
    const struct timeval next = {.tv_sec = (time_t)(ms / 1000),
                                 .tv_usec = (suseconds_t)(ms % 1000 * 1000)};

    (void)fd, (void)what;
    hand_over(file);
    event_add(file->timer, &next);
}

static struct metrics_textfile *file_new(struct event_base *base, const struct packer *packer)
{
    struct metrics_textfile *file = calloc(1, sizeof(*file));

    if (!file)
        return NULL;
    file->packer = packer;
    file->timer = evtimer_new(base, on_time, file);
    snprintf(file->path, sizeof(file->path), "%s", packer->world.conf.metrics_textfile);
    return file;
}

static void file_free(struct metrics_textfile *file)
{
    if (file->timer)
        event_free(file->timer);
    free(file->text);
    free(file);
}

int metrics_textfile_open(struct metrics_textfile **out, struct event_base *base,
                          const struct packer *packer, struct berth_error *err)
{
    struct berth_error why = {"out of memory"};
    struct metrics_readers readers;
    struct metrics_textfile *file;

    *out = NULL;
    if (!packer->world.conf.metrics_textfile[0])
        return 0;
    if (metrics_readers(&packer->world.conf, &readers, err) < 0)
        return -1;
    file = file_new(base, packer);
    if (!file)
        return berth_no_memory(err);
    file->readers = readers;
    if (!file->timer || worker_open(&file->worker, write_files, file, &why) < 0) {
        file_free(file);
        return berth_error_set(err, "metrics_textfile: %s", why.text);
    }
    on_time(-1, 0, file);
    *out = file;
    return 0;
}

void metrics_textfile_close(struct metrics_textfile *file)
{
    if (!file)
        return;
    event_free(file->timer);
    file->timer = NULL;
    if (!worker_close(&file->worker))
        return;
    unlink(file->path);
    file_free(file);
}

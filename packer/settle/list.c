/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_list - see settle/list.h */
#include "packer/settle/list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"

#define FIRST_DELAY_S 1

/* ---- lines ---- */

static void line_print(const struct settle_run *run, char *line, size_t size)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "cluster", run->cluster);
    json_add_u64(object, "job", run->job);
    json_add_u64(object, "restart", run->restart);
    json_add_u64(object, "at", (uint64_t)run->at);
    snprintf(line, size, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
}

static int line_parse(const char *line, struct settle_run *run, struct berth_error *err)
{
    struct json_object *object = json_parse(line, strlen(line), err);
    int rc = -1;

    memset(run, 0, sizeof(*run));
    if (object &&
        json_get_text(object, "cluster", JSON_REQUIRED, run->cluster, sizeof(run->cluster), err) ==
            0 &&
        json_get_u32(object, "job", JSON_REQUIRED, &run->job, err) == 0 &&
        json_get_u32(object, "restart", JSON_REQUIRED, &run->restart, err) == 0 &&
        json_get_i64(object, "at", JSON_REQUIRED, &run->at, err) == 0)
        rc = 0;
    json_object_put(object);
    return rc;
}

/* ---- the file ---- */

/* Append the entry's line: one write, so that no reader sees a half. */
static int append(const struct settle_list *list, const struct settle_run *run,
                  struct berth_error *err)
{
    char line[512];
    int fd = open(list->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), rc = 0;

    if (fd < 0)
        return berth_error_set(err, "%s: %s", list->path, strerror(errno));
    line_print(run, line, sizeof(line));
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        rc = berth_error_set(err, "%s: %s", list->path, strerror(errno ? errno : EIO));
    close(fd);
    return rc;
}

/* All entries, beside the old file and then into its place. */
static int write_anew(const struct settle_list *list, struct berth_error *err)
{
    const struct settle_entry *entry;
    char path[PATH_MAX + 8], line[512];
    FILE *file;
    int rc = 0;

    snprintf(path, sizeof(path), "%s.new", list->path);
    file = fopen(path, "we");
    if (!file)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    TAILQ_FOREACH(entry, &list->entries, link)
    {
        line_print(&entry->run, line, sizeof(line));
        fputs(line, file);
    }
    if (ferror(file))
        rc = -1;
    if (fclose(file) != 0 || rc < 0 || rename(path, list->path) < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    return 0;
}

static struct settle_entry *entry_add(struct settle_list *list, const struct settle_run *run)
{
    struct settle_entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->run = *run;
    TAILQ_INSERT_TAIL(&list->entries, entry, link);
    return entry;
}

/* Add it, or bring it up to date. NULL: out of memory. */
static struct settle_entry *entry_put(struct settle_list *list, const struct settle_run *run,
                                      double due_s)
{
    struct settle_entry *entry = settle_list_find(list, run);

    if (!entry)
        entry = entry_add(list, run);
    if (!entry)
        return NULL;
    entry->run.at = run->at;
    entry->due_s = due_s;
    entry->delay_s = FIRST_DELAY_S;
    entry->puts++;
    return entry;
}

static void read_lines(struct settle_list *list, FILE *file, double now_s)
{
    struct settle_run run;
    struct berth_error err;
    char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, file) > 0)
        if (line_parse(line, &run, &err) == 0)
            entry_put(list, &run, now_s);
    free(line);
}

int settle_list_open(struct settle_list *list, const char *path, double now_s,
                     struct berth_error *err)
{
    FILE *file;

    snprintf(list->path, sizeof(list->path), "%s", path);
    TAILQ_INIT(&list->entries);
    file = fopen(path, "re");
    if (file) {
        read_lines(list, file, now_s);
        fclose(file);
    } else if (errno != ENOENT) {
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    }
    if (write_anew(list, err) == 0)
        return 0;
    settle_list_close(list);
    return -1;
}

void settle_list_close(struct settle_list *list)
{
    struct settle_entry *entry;

    while ((entry = TAILQ_FIRST(&list->entries))) {
        TAILQ_REMOVE(&list->entries, entry, link);
        free(entry);
    }
}

/* ---- entries ---- */

int settle_list_put(struct settle_list *list, const struct settle_run *run, double due_s,
                    struct berth_error *err)
{
    if (!entry_put(list, run, due_s))
        return berth_error_set(err, "out of memory");
    return append(list, run, err);
}

void settle_list_hurry(struct settle_list *list, uint32_t job, double due_s)
{
    struct settle_entry *entry;

    TAILQ_FOREACH(entry, &list->entries, link)
    if (entry->run.job == job && entry->due_s > due_s) {
        entry->due_s = due_s;
        entry->delay_s = FIRST_DELAY_S;
    }
}

struct settle_entry *settle_list_next(const struct settle_list *list)
{
    struct settle_entry *entry, *next = NULL;

    TAILQ_FOREACH(entry, &list->entries, link)
    if (!next || entry->due_s < next->due_s)
        next = entry;
    return next;
}

struct settle_entry *settle_list_find(const struct settle_list *list, const struct settle_run *run)
{
    struct settle_entry *entry;

    TAILQ_FOREACH(entry, &list->entries, link)
    if (entry->run.job == run->job && entry->run.restart == run->restart &&
        strcmp(entry->run.cluster, run->cluster) == 0)
        return entry;
    return NULL;
}

void settle_list_delay(struct settle_entry *entry, double now_s, double limit_s)
{
    entry->due_s = now_s + entry->delay_s;
    entry->delay_s = 2 * entry->delay_s < limit_s ? 2 * entry->delay_s : limit_s;
}

int settle_list_drop(struct settle_list *list, struct settle_entry *entry, struct berth_error *err)
{
    TAILQ_REMOVE(&list->entries, entry, link);
    free(entry);
    return write_anew(list, err);
}

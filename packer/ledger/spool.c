/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_spool - see ledger/spool.h */
#include "packer/ledger/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/log.h"

static int fail(const struct spool *spool, struct berth_error *err)
{
    return berth_error_set(err, "%.300s: %s", spool->folder, strerror(errno));
}

/* The file that lines are taken from. */
static struct spool_file *other(struct spool *spool)
{
    return &spool->file[1 - spool->at];
}

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 0;

    for (const char *end = text + length; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        lines++;
    return lines;
}

static char *read_all(int fd, size_t *length)
{
    return lseek(fd, 0, SEEK_SET) < 0 ? NULL : file_read_fd(fd, SIZE_MAX - 1, length);
}

/* Opens one of the files with its whole lines. */
static int open_file(struct spool *spool, size_t i)
{
    struct spool_file *file = &spool->file[i];
    char path[PATH_MAX + 16], *text, *end;
    size_t length;

    snprintf(path, sizeof(path), "%s/%zu.jsonl", spool->folder, i);
    file->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    text = file->fd < 0 ? NULL : read_all(file->fd, &length);
    if (!text)
        return -1;
    end = memrchr(text, '\n', length);
    file->length = end ? end + 1 - text : 0;
    file->lines = count_lines(text, (size_t)file->length);
    free(text);
    return ftruncate(file->fd, file->length);
}

int spool_open(struct spool *spool, const char *folder, struct berth_error *err)
{
    *spool = (struct spool){.file = {{.fd = -1}, {.fd = -1}}};
    snprintf(spool->folder, sizeof(spool->folder), "%s", folder);
    return open_file(spool, 0) < 0 || open_file(spool, 1) < 0 ? fail(spool, err) : 0;
}

void spool_close(struct spool *spool)
{
    for (size_t i = 0; i < 2; i++) {
        if (spool->file[i].fd >= 0)
            close(spool->file[i].fd);
        spool->file[i].fd = -1;
    }
    free(spool->memory.text);
}

size_t spool_lines(const struct spool *spool)
{
    return spool->file[0].lines + spool->file[1].lines + spool->memory.lines + spool->away;
}

int spool_count(const char *folder, size_t *lines, struct berth_error *err)
{
    char path[PATH_MAX + 16], *text;
    size_t length;

    *lines = 0;
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%zu.jsonl", folder, i);
        text = file_read(path, SIZE_MAX - 1, &length, err);
        if (!text && errno != ENOENT)
            return -1;
        *lines += text ? count_lines(text, length) : 0;
        free(text);
    }
    return 0;
}

/* ---- memory ---- */

/* Makes room for as many lines as there may be: the oldest ones are lost. */
static void lose_oldest(struct spool *spool)
{
    struct spool_text *memory = &spool->memory;
    const char *rest = memory->text, *end = memory->text + memory->length;
    size_t lost = 0;

    for (; memory->lines - lost > SPOOL_MEMORY; lost++)
        rest = (const char *)memchr(rest, '\n', (size_t)(end - rest)) + 1;
    if (lost == 0)
        return;
    if (spool->lost % SPOOL_MEMORY == 0)
        log_error("ledger: records are lost: there is no room for them on the disk, and no ledger");
    spool->lost += lost;
    memory->lines -= lost;
    memory->length -= (size_t)(rest - memory->text);
    memmove(memory->text, rest, memory->length + 1);
}

/* Adds lines behind those that are in memory. */
static void add_memory(struct spool *spool, const char *text, size_t length, size_t lines)
{
    struct spool_text *memory = &spool->memory;
    char *grown = realloc(memory->text, memory->length + length + 1);

    if (!grown) {
        spool->lost += lines;
        return;
    }
    memory->text = grown;
    memcpy(grown + memory->length, text, length);
    memory->length += length;
    grown[memory->length] = '\0';
    memory->lines += lines;
    lose_oldest(spool);
}

struct spool_text spool_take_memory(struct spool *spool)
{
    struct spool_text taken = spool->memory;

    spool->memory = (struct spool_text){0};
    spool->away = taken.lines;
    return taken;
}

void spool_return_memory(struct spool *spool, struct spool_text taken, bool done)
{
    struct spool_text newer = spool->memory;

    spool->away = 0;
    if (done) {
        free(taken.text);
        return;
    }
    spool->memory = taken;
    if (newer.length)
        add_memory(spool, newer.text, newer.length, newer.lines);
    free(newer.text);
}

/* ---- the files ---- */

static int append(struct spool *spool, const char *line, struct berth_error *err)
{
    struct spool_file *file = &spool->file[spool->at];
    size_t length = strlen(line);
    ssize_t wrote = pwrite(file->fd, line, length, file->length);

    if (wrote != (ssize_t)length) { /* a part of it is overwritten by the next line */
        errno = wrote < 0 ? errno : ENOSPC;
        return fail(spool, err);
    }
    file->length += wrote;
    file->lines++;
    return 0;
}

int spool_append(struct spool *spool, const char *line, struct berth_error *err)
{
    if (append(spool, line, err) == 0)
        return 0;
    add_memory(spool, line, strlen(line), 1);
    return -1;
}

bool spool_turn(struct spool *spool)
{
    if (other(spool)->length == 0)
        spool->at = 1 - spool->at;
    return other(spool)->length > 0;
}

int spool_read(struct spool *spool, struct spool_text *out, struct berth_error *err)
{
    const struct spool_file *file = other(spool);
    char *nul, *end;
    size_t got;

    out->text = read_all(file->fd, &got);
    if (!out->text)
        return fail(spool, err);
    if (got > (size_t)file->length)
        got = (size_t)file->length;
    end = memrchr(out->text, '\n', got); /* somebody else may have cut the file */
    out->length = end ? (size_t)(end + 1 - out->text) : 0;
    out->lines = count_lines(out->text, out->length);
    out->text[out->length] = '\0';
    while ((nul = memchr(out->text, '\0', out->length)))
        *nul = '?';
    return 0;
}

int spool_clear(struct spool *spool, struct berth_error *err)
{
    struct spool_file *file = other(spool);

    if (ftruncate(file->fd, 0) < 0)
        return fail(spool, err);
    file->length = 0;
    file->lines = 0;
    return 0;
}

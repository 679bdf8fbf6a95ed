/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ini_file - see ini_file.h */
#include "packer/base/ini_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reading {
    FILE *file;
    const char *path;
    int (*take)(void *arg, const struct ini_pair *pair, struct berth_error *err);
    void *arg;
    char *line; /* getline's */
    size_t line_size;
    unsigned number; /* of the line in hand */
    bool pairs;      /* there was one */
    bool failed;
    struct berth_error why; /* the first error, with FILE:LINE */
};

static int refuse(struct reading *reading, const char *why)
{
    if (!reading->failed)
        berth_error_set(&reading->why, "%s:%u: %s", reading->path, reading->number, why);
    reading->failed = true;
    return 0; /* inih's "error" */
}

static int hand_over(struct reading *reading, const struct ini_pair *pair)
{
    struct berth_error err;

    return reading->take(reading->arg, pair, &err) == 0 ? 1 : refuse(reading, err.text);
}

/* Tells of a section that begins: inih does so only with its first pair. */
static void take_section(struct reading *reading, const char *text)
{
    const char *begin = text + strspn(text, " \t"), *end = strchr(begin, ']');
    struct ini_pair pair = {.line = reading->number};
    char *name;

    if (*begin != '[' || !end || (begin > text && reading->pairs)) /* the last: of a value */
        return;
    name = strndup(begin + 1, (size_t)(end - begin - 1));
    if (!name) {
        refuse(reading, strerror(ENOMEM));
        return;
    }
    pair.section = name;
    hand_over(reading, &pair);
    free(name);
}

/* inih's reader: the next line, or NULL at the end or at a line that inih would cut. */
static char *next_line(char *text, int size, void *arg)
{
    struct reading *reading = arg;
    ssize_t length;

    if (reading->failed)
        return NULL;
    length = getline(&reading->line, &reading->line_size, reading->file);
    reading->number++;
    if (length < 0) {
        if (ferror(reading->file))
            refuse(reading, strerror(errno));
        return NULL;
    }
    if (length >= size || strlen(reading->line) != (size_t)length) {
        refuse(reading, "the line is too long or has a NUL in it");
        return NULL;
    }
    take_section(reading, reading->line);
    return reading->failed ? NULL : memcpy(text, reading->line, (size_t)length + 1);
}

/* inih's handler. */
static int take_pair(void *arg, const char *section, const char *name, const char *value)
{
    struct reading *reading = arg;
    struct ini_pair pair = {section, name, value, reading->number,
                            reading->line[0] == ' ' || reading->line[0] == '\t'};

    reading->pairs = true;
    return hand_over(reading, &pair);
}

int ini_file_open(const char *path, bool trusted, struct berth_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        berth_error_set(err, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        berth_error_set(err, "%s: not a regular file", path);
    else if (trusted && st.st_uid != 0 && st.st_uid != geteuid())
        berth_error_set(err, "%s: owned by user %u: must be owned by root", path, st.st_uid);
    else if (trusted && st.st_mode & (S_IWGRP | S_IWOTH))
        berth_error_set(err, "%s: mode %04o: must not be writable by group or others", path,
                        st.st_mode & 07777);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int parse(struct reading *reading, const char *expected, struct berth_error *err)
{
    int line = ini_parse_stream(next_line, reading, take_pair, reading);
    struct berth_error why;

    if (line < 0)
        return berth_error_set(err, "%s: out of memory", reading->path);
    if (line > 0 && !reading->failed) { /* no '=', or an unclosed '[': the handler never saw it */
        reading->number = (unsigned)line;
        berth_error_set(&why, "%s expected", expected);
        refuse(reading, why.text);
    }
    return reading->failed ? berth_error_set(err, "%s", reading->why.text) : 0;
}

int ini_file_read(int fd, const char *path, const char *expected,
                  int (*take)(void *arg, const struct ini_pair *pair, struct berth_error *err),
                  void *arg, struct berth_error *err)
{
    struct reading reading = {.file = fdopen(fd, "re"), .path = path, .take = take, .arg = arg};
    int rc;

    if (!reading.file) {
        berth_error_set(err, "%s: %s", path, strerror(errno));
        close(fd);
        return -1;
    }
    rc = parse(&reading, expected, err);
    free(reading.line);
    fclose(reading.file);
    return rc;
}

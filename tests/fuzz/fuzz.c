/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz - see fuzz.h */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 96

static char folder[PATH_BYTES / 2];

void fuzz_broken(const char *promise, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    fuzz_assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static void remove_folder(void)
{
    static const char *const names[] = {"berth.conf",          "again.conf",  "journal",
                                        "journal.lock",        "journal.new", "profiles.db",
                                        "profiles.db-journal", "samples"};
    char path[PATH_BYTES];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* In memory where there is such a folder: a disk would be waited for at each input. */
static void make_folder(void)
{
    strcpy(folder, "/dev/shm/berth-fuzz-XXXXXX");
    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/berth-fuzz-XXXXXX");
        fuzz_assert(mkdtemp(folder));
    }
    atexit(remove_folder);
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    static char path[PATH_BYTES];
    int fd;

    if (!folder[0])
        make_folder();
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    return path;
}

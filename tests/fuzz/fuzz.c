/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz - see fuzz.h */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"

#define PATH_BYTES 256

int fuzz_report_fd = STDERR_FILENO;

static char folder[PATH_BYTES / 2];

void fuzz_broken(const char *promise, const char *file, int line)
{
    dprintf(fuzz_report_fd, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

const struct fuzz_target *fuzz_find(const char *name)
{
#define FUZZ_TARGET(name) &fuzz_##name,
    static const struct fuzz_target *const targets[] = {
#include "tests/fuzz/targets.def"
        &fuzz_selftest};
#undef FUZZ_TARGET

    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    return NULL;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    fuzz_assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

void fuzz_parts(char *text, char *part[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = i + 1 < n ? strcspn(text, "\f") : strlen(text);

        part[i] = text;
        text += length;
        if (*text)
            *text++ = '\0';
    }
}

static void remove_folder(void)
{
    folder_remove(folder);
}

/* In memory where there is such a folder: a disk would be waited for at each input. */
static void make_folder(void)
{
    const char *in = getenv("FUZZ_FOLDER");

    if (!in)
        in = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof(folder), "%s/berth-fuzz-XXXXXX", in);
    fuzz_assert(mkdtemp(folder));
    atexit(remove_folder);
}

const char *fuzz_folder(void)
{
    if (!folder[0])
        make_folder();
    return folder;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
    static char path[PATH_BYTES];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    return path;
}

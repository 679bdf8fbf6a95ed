/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blackboard/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blackboard/layout.h"

#define NEW ".new"

struct blackboard_writer {
    void *base;
    size_t bytes;
    char *path;
    unsigned n;
    struct berth_blackboard_section section[]; /* [n], as they were written last */
};

static void read_boot_id(char id[BLACKBOARD_BOOT_ID])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (file && fgets(id, BLACKBOARD_BOOT_ID, file))
        id[strcspn(id, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Fills the mapped file: nobody else knows of it yet. */
static void fill(struct blackboard_writer *writer, const char *const *name)
{
    struct blackboard_header *header = writer->base;
    const double nothing = NAN;

    memcpy(header->magic, BLACKBOARD_MAGIC, sizeof(header->magic));
    header->version = BERTH_BLACKBOARD_VERSION;
    header->page_bytes = BLACKBOARD_PAGE;
    header->sections = writer->n;
    read_boot_id(header->boot_id);
    for (unsigned i = 0; i < writer->n; i++) {
        struct berth_blackboard_section *section = &writer->section[i];

        snprintf(section->name, sizeof(section->name), "%s", name[i]);
        section->writer = (int32_t)getpid();
        blackboard_write(writer, i, 0, 0, &nothing);
    }
}

/* Makes a file of that size, which all may read. Returns its descriptor, or -1 with errno. */
static int make_file(const char *path, size_t bytes)
{
    int fd, why;

    unlink(path); /* of a writer that was killed */
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    why = posix_fallocate(fd, 0, (off_t)bytes); /* a full tmpfs says so now, not by SIGBUS */
    if (why == 0 && fchmod(fd, 0644) == 0)
        return fd;
    why = why ? why : errno;
    unlink(path);
    close(fd);
    errno = why;
    return -1;
}

static int map_new(struct blackboard_writer *writer, const char *path, const char *const *name)
{
    int fd = make_file(path, writer->bytes);

    if (fd < 0)
        return -1;
    writer->base = mmap(NULL, writer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (writer->base == MAP_FAILED) {
        unlink(path);
        return -1;
    }
    fill(writer, name);
    if (rename(path, writer->path) == 0)
        return 0;
    munmap(writer->base, writer->bytes);
    unlink(path);
    return -1;
}

int blackboard_create(struct blackboard_writer **out, const char *path, unsigned n,
                      const char *const *name)
{
    struct blackboard_writer *writer = calloc(1, sizeof(*writer) + n * sizeof(writer->section[0]));
    char *fresh = malloc(strlen(path) + sizeof(NEW));
    int rc = -1, why;

    if (writer && fresh && (writer->path = strdup(path))) {
        sprintf(fresh, "%s" NEW, path);
        writer->n = n;
        writer->bytes = (size_t)BLACKBOARD_PAGE * (n + 1);
        rc = map_new(writer, fresh, name);
    }
    why = errno;
    free(fresh);
    if (rc == 0) {
        *out = writer;
    } else if (writer) {
        free(writer->path);
        free(writer);
    }
    errno = why;
    return rc;
}

void blackboard_write(struct blackboard_writer *writer, unsigned number, uint64_t at_ns, unsigned n,
                      const double *value)
{
    struct berth_blackboard_section *section = &writer->section[number];

    section->written_ns = at_ns;
    section->n = n;
    for (unsigned i = 0; i < BERTH_BLACKBOARD_VALUES; i++)
        section->value[i] = i < n ? value[i] : NAN;
    blackboard_put(blackboard_page(writer->base, number), section);
}

void blackboard_end(struct blackboard_writer *writer)
{
    struct blackboard_header *header;

    if (!writer)
        return;
    header = writer->base;
    atomic_store_explicit(&header->ended, 1, memory_order_relaxed);
    unlink(writer->path);
    munmap(writer->base, writer->bytes);
    free(writer->path);
    free(writer);
}

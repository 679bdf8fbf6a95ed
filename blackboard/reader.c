/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reader - see berth_blackboard.h. A file that passes check() is root's or one's own, so that
 * nobody else can cut it while it is mapped. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "blackboard/layout.h"
#include "enum_table.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

struct mapping {
    void *base;
    size_t bytes;
    dev_t dev;
    ino_t ino;
};

struct berth_blackboard {
    struct mapping mapping;
    char path[];
};

static const struct blackboard_header *header(const struct mapping *mapping)
{
    return mapping->base;
}

/* ---- opening ---- */

/* Says whether the blackboard was written since this boot; where /proc does not tell it is. */
static bool is_of_this_boot(const struct blackboard_header *header)
{
    char text[BLACKBOARD_BOOT_ID] = "";
    int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return true;
    text[strcspn(text, "\n")] = '\0';
    return strncmp(header->boot_id, text, sizeof(text)) == 0;
}

static bool is_blackboard(const struct mapping *mapping)
{
    const struct blackboard_header *head = header(mapping);

    return memcmp(head->magic, BLACKBOARD_MAGIC, sizeof(head->magic)) == 0 &&
           head->version == BERTH_BLACKBOARD_VERSION && head->page_bytes == BLACKBOARD_PAGE &&
           head->sections <= BLACKBOARD_SECTIONS_MAX &&
           mapping->bytes >= (size_t)BLACKBOARD_PAGE * (head->sections + 1) &&
           is_of_this_boot(head);
}

static enum berth_blackboard_result map(int fd, struct mapping *mapping)
{
    struct stat stat;

    if (fstat(fd, &stat) < 0)
        return BERTH_BLACKBOARD_FAILED;
    if (!S_ISREG(stat.st_mode) || (stat.st_uid != 0 && stat.st_uid != geteuid()) ||
        stat.st_size < BLACKBOARD_PAGE ||
        stat.st_size > (off_t)BLACKBOARD_PAGE * (BLACKBOARD_SECTIONS_MAX + 1))
        return BERTH_BLACKBOARD_FOREIGN;
    *mapping =
        (struct mapping){.bytes = (size_t)stat.st_size, .dev = stat.st_dev, .ino = stat.st_ino};
    mapping->base = mmap(NULL, mapping->bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping->base == MAP_FAILED)
        return BERTH_BLACKBOARD_FAILED;
    if (is_blackboard(mapping))
        return BERTH_BLACKBOARD_OK;
    munmap(mapping->base, mapping->bytes);
    return BERTH_BLACKBOARD_FOREIGN;
}

static enum berth_blackboard_result map_path(const char *path, struct mapping *mapping)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), why;
    enum berth_blackboard_result result;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? BERTH_BLACKBOARD_NONE
                                                   : BERTH_BLACKBOARD_FAILED;
    result = map(fd, mapping);
    why = errno;
    close(fd);
    errno = why;
    return result;
}

enum berth_blackboard_result berth_blackboard_open(struct berth_blackboard **board,
                                                   const char *path)
{
    enum berth_blackboard_result result;
    size_t size;

    *board = NULL;
    path = path ? path : BLACKBOARD_PATH;
    size = strlen(path) + 1;
    struct berth_blackboard *fresh = calloc(1, sizeof(*fresh) + size);
    if (!fresh)
        return BERTH_BLACKBOARD_FAILED;
    memcpy(fresh->path, path, size);
    result = map_path(path, &fresh->mapping);
    if (result == BERTH_BLACKBOARD_OK)
        *board = fresh;
    else
        free(fresh);
    return result;
}

void berth_blackboard_close(struct berth_blackboard *board)
{
    if (!board)
        return;
    munmap(board->mapping.base, board->mapping.bytes);
    free(board);
}

enum berth_blackboard_result berth_blackboard_follow(struct berth_blackboard *board)
{
    struct mapping fresh, gone, *old = &board->mapping;
    enum berth_blackboard_result result;
    struct stat now;

    if (stat(board->path, &now) < 0)
        return errno == ENOENT ? BERTH_BLACKBOARD_NONE : BERTH_BLACKBOARD_FAILED;
    if (now.st_dev == old->dev && now.st_ino == old->ino)
        return BERTH_BLACKBOARD_NONE;
    result = map_path(board->path, &fresh);
    if (result != BERTH_BLACKBOARD_OK)
        return result;
    gone = *old;
    *old = fresh; /* before the other is unmapped: a fork in between leaves the child one to read */
    munmap(gone.base, gone.bytes);
    return BERTH_BLACKBOARD_OK;
}

/* ---- reading ---- */

unsigned berth_blackboard_sections(const struct berth_blackboard *board)
{
    return header(&board->mapping)->sections;
}

/* Tells the processor that this is a loop that waits. */
static void pause_attempt(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* yield is nothing on most of them */
#endif
}

static bool get(const struct berth_blackboard *board, unsigned number,
                struct berth_blackboard_section *section)
{
    const struct blackboard_page *page = blackboard_page(board->mapping.base, number);

    for (unsigned i = 0; i < BLACKBOARD_ATTEMPTS; i++) {
        if (blackboard_get(page, section))
            return true;
        pause_attempt();
    }
    return false;
}

/* Says whether it was written so long ago, or at a time that the clock has not come to: then it is
 * another clock. */
static bool is_stale(uint64_t written_ns, uint64_t max_age_ns)
{
    struct timespec now;
    uint64_t now_ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return written_ns > now_ns || now_ns - written_ns > max_age_ns;
}

enum berth_blackboard_result berth_blackboard_read(const struct berth_blackboard *board, int number,
                                                   uint64_t max_age_ns,
                                                   struct berth_blackboard_section *section)
{
    const struct blackboard_header *head = header(&board->mapping);
    struct berth_blackboard_section now;

    if (number < 0 || (unsigned)number >= head->sections)
        return BERTH_BLACKBOARD_NONE;
    if (atomic_load_explicit(&head->ended, memory_order_relaxed))
        return BERTH_BLACKBOARD_ENDED;
    if (!get(board, (unsigned)number, &now))
        return BERTH_BLACKBOARD_BUSY;
    now.name[sizeof(now.name) - 1] = '\0';
    for (size_t i = now.n; i < BERTH_BLACKBOARD_VALUES; i++)
        now.value[i] = NAN;
    *section = now;
    return max_age_ns && is_stale(now.written_ns, max_age_ns) ? BERTH_BLACKBOARD_STALE
                                                              : BERTH_BLACKBOARD_OK;
}

enum berth_blackboard_result berth_blackboard_name(const struct berth_blackboard *board, int number,
                                                   char name[BERTH_BLACKBOARD_NAME_SIZE])
{
    if (number < 0 || (unsigned)number >= berth_blackboard_sections(board))
        return BERTH_BLACKBOARD_NONE;
    blackboard_get_name(blackboard_page(board->mapping.base, (unsigned)number), name);
    return BERTH_BLACKBOARD_OK;
}

int berth_blackboard_find(const struct berth_blackboard *board, const char *name)
{
    char its[BERTH_BLACKBOARD_NAME_SIZE];

    for (int i = 0; berth_blackboard_name(board, i, its) == BERTH_BLACKBOARD_OK; i++)
        if (strcmp(its, name) == 0)
            return i;
    return -1;
}

const char *berth_blackboard_said(enum berth_blackboard_result result)
{
    static const char *const TABLE(said, BERTH_BLACKBOARD_FAILED + 1) = {
        ROW(BERTH_BLACKBOARD_OK) = "read",
        ROW(BERTH_BLACKBOARD_STALE) = "not written for too long",
        ROW(BERTH_BLACKBOARD_BUSY) = "being written",
        ROW(BERTH_BLACKBOARD_ENDED) = "its writer has ended",
        ROW(BERTH_BLACKBOARD_NONE) = "there is none",
        ROW(BERTH_BLACKBOARD_FOREIGN) = "not a blackboard of this version and boot, or not root's",
        ROW(BERTH_BLACKBOARD_FAILED) = "it cannot be opened",
    };
    TABLE_COMPLETE(said);

    return result <= BERTH_BLACKBOARD_FAILED ? said[result] : "";
}

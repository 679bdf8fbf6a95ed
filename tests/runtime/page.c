/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page - a step's page and its FIFO, as berthd has them.
 *
 *   page make FILE [FIELD=N].. [bytes=N]    makes a page, and the FIFO where there is none
 *   page said FILE                          prints the sums of what processes have said, and takes
 * it out
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/page.h"

static const struct {
    const char *name;
    size_t offset;
} fields[] = {{"magic", offsetof(struct rt_page, magic)},
              {"version", offsetof(struct rt_page, version)},
              {"size", offsetof(struct rt_page, size)},
              {"features", offsetof(struct rt_page, features)},
              {"generation", offsetof(struct rt_page, generation)},
              {"threads", offsetof(struct rt_page, threads)},
              {"throttle", offsetof(struct rt_page, throttle)},
              {"hold", offsetof(struct rt_page, hold)}};

static void set(struct rt_page *page, const char *word)
{
    const char *number = strchr(word, '=');
    uint32_t value = number ? (uint32_t)strtoul(number + 1, NULL, 0) : 0;

    for (size_t i = 0; number && i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strncmp(word, fields[i].name, (size_t)(number - word)) == 0) {
            memcpy((char *)page + fields[i].offset, &value, sizeof(value));
            return;
        }
    fprintf(stderr, "page: what is %s?\n", word);
    exit(2);
}

static int make(const char *file, char **words)
{
    struct rt_page page = {.magic = RT_PAGE_MAGIC,
                           .version = RT_PAGE_VERSION,
                           .size = sizeof(page),
                           .features = RT_THREADS};
    size_t bytes = sizeof(page);
    char name[4096];
    int fd;

    for (; *words; words++)
        if (strncmp(*words, "bytes=", 6) == 0)
            bytes = strtoul(*words + 6, NULL, 0);
        else
            set(&page, *words);
    snprintf(name, sizeof(name), "%s" RT_SAID_SUFFIX, file);
    mkfifo(name, 0600);
    snprintf(name, sizeof(name), "%s.new", file);
    fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, &page, bytes) != (ssize_t)bytes || rename(name, file) < 0)
        return 1;
    close(fd);
    return 0;
}

union record {
    struct rt_said said;
    struct rt_rested rested;
    struct rt_region region;
};

/* Sums over the records; of what is no sum, the last that was said. */
static void add(struct rt_said *sum, const struct rt_said *one)
{
    sum->first += one->first;
    sum->followed += one->followed;
    sum->own += one->own;
    sum->nested += one->nested;
    sum->objects += one->objects;
    sum->surprise = one->surprise;
    sum->detail = one->detail;
    sum->generation = one->generation;
    sum->threads = one->threads;
}

static void add_rested(struct rt_rested *sum, const struct rt_rested *one)
{
    sum->reduced += one->reduced;
    sum->throttled_ns += one->throttled_ns;
    sum->rests += one->rests;
    sum->idle_ns += one->idle_ns;
    sum->freed += one->freed;
}

static void add_region(struct rt_region *sum, const struct rt_region *one)
{
    sum->begun += one->begun;
    sum->now = one->now;
    sum->spare += one->most_ns > one->all_ns;
}

static void add_record(union record *sum, struct rt_rested *rested, struct rt_region *region,
                       const union record *one)
{
    if (one->said.version != RT_SAID_VERSION || one->said.pid == 0)
        printf("not a record\n");
    else if (memcmp(one->said.magic, RT_SAID_MAGIC, sizeof(one->said.magic)) == 0)
        add(&sum->said, &one->said);
    else if (memcmp(one->said.magic, RT_RESTED_MAGIC, sizeof(one->said.magic)) == 0)
        add_rested(rested, &one->rested);
    else if (memcmp(one->said.magic, RT_REGION_MAGIC, sizeof(one->said.magic)) == 0)
        add_region(region, &one->region);
    else
        printf("not a record\n");
}

static int read_said(const char *file)
{
    union record sum = {0}, one;
    struct rt_rested rested = {0};
    struct rt_region region = {.spare = 0};
    char name[4096];
    int fd;

    snprintf(name, sizeof(name), "%s" RT_SAID_SUFFIX, file);
    fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 1;
    while (read(fd, &one, sizeof(one)) == sizeof(one))
        add_record(&sum, &rested, &region, &one);
    printf("processes %u followed %lu own %lu nested %lu surprise %u detail %d generation %u "
           "threads %u",
           sum.said.first, (unsigned long)sum.said.followed, (unsigned long)sum.said.own,
           (unsigned long)sum.said.nested, sum.said.surprise, sum.said.detail, sum.said.generation,
           sum.said.threads);
    if (sum.said.objects)
        printf(" objects %u", sum.said.objects);
    putchar('\n');
    if (rested.rests > 0 || rested.reduced > 0 || rested.throttled_ns > 0)
        printf("reduced %lu throttled %s rested %s freed %lu\n", (unsigned long)rested.reduced,
               rested.throttled_ns > 0 ? "yes" : "no",
               rested.rests > 0 && rested.idle_ns > 0 ? "yes" : "no", (unsigned long)rested.freed);
    if (region.begun > 0)
        printf("begun %lu now %016lx%s\n", (unsigned long)region.begun, (unsigned long)region.now,
               region.spare ? " more than all" : "");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "make") == 0)
        return make(argv[2], argv + 3);
    if (argc == 3 && strcmp(argv[1], "said") == 0)
        return read_said(argv[2]);
    fprintf(stderr, "usage: page make FILE [FIELD=N].. | page said FILE\n");
    return 2;
}

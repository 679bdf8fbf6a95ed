/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places - see places.h. What cannot be read is one domain of all CPUs. */
#include "tasks/places.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODES_ENV "BERTH_TASKS_NODES"
#define NODES_MAX 1024 /* of the kernel's numbers */
#define CACHE_LEVELS 8
#define NOT_KNOWN UINT16_MAX
#define SYS_CPU "/sys/devices/system/cpu"
#define SYS_NODE "/sys/devices/system/node"

struct cpus {
    cpu_set_t set[PLACES_CPUS / CPU_SETSIZE];
};

/* Which memory node and which cache each CPU has, in any numbers; NOT_KNOWN. */
struct belongs {
    uint16_t node[PLACES_CPUS], cache[PLACES_CPUS];
};

/* ---- sets and lists of CPUs ---- */

static bool has_cpu(const struct cpus *cpus, unsigned cpu)
{
    return CPU_ISSET_S(cpu, sizeof(*cpus), cpus->set);
}

/* Gives each CPU of a list as "0-3,8" a number. Returns the first one; -1: there is none. */
static long each_cpu(const char *list, uint16_t *of_cpu, uint16_t number)
{
    long first = -1;

    while (*list >= '0' && *list <= '9') {
        char *end;
        long from = strtol(list, &end, 10), to = *end == '-' ? strtol(end + 1, &end, 10) : from;

        for (long cpu = from; cpu <= to && cpu < PLACES_CPUS; cpu++)
            of_cpu[cpu] = number;
        first = first < 0 ? from : first;
        list = *end == ',' ? end + 1 : end;
    }
    return first;
}

/* Reads a file's first line. Returns -1: it cannot. */
static int read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    char *got = file ? fgets(line, size, file) : NULL;

    if (file)
        fclose(file);
    return got ? 0 : -1;
}

/* ---- /sys ---- */

static void read_nodes(uint16_t *node)
{
    char path[128], line[4096];

    for (unsigned i = 0; i < NODES_MAX; i++) {
        snprintf(path, sizeof(path), SYS_NODE "/node%u/cpulist", i);
        if (read_line(path, line, sizeof(line)) == 0)
            each_cpu(line, node, (uint16_t)i);
    }
}

/* Gives the CPUs that share the CPU's largest cache the number of the first of them. */
static void read_cache(unsigned cpu, uint16_t *cache)
{
    char path[128], line[4096], shared[4096] = "";
    long level, largest = 0;

    for (unsigned i = 0; i < CACHE_LEVELS; i++) {
        snprintf(path, sizeof(path), SYS_CPU "/cpu%u/cache/index%u/level", cpu, i);
        if (read_line(path, line, sizeof(line)) < 0 || (level = strtol(line, NULL, 10)) < largest)
            continue;
        snprintf(path, sizeof(path), SYS_CPU "/cpu%u/cache/index%u/shared_cpu_list", cpu, i);
        if (read_line(path, shared, sizeof(shared)) == 0)
            largest = level;
    }
    each_cpu(shared, cache, (uint16_t)cpu);
}

static void read_sys(const struct cpus *cpus, struct belongs *belongs)
{
    read_nodes(belongs->node);
    for (unsigned cpu = 0; cpu < PLACES_CPUS; cpu++)
        if (has_cpu(cpus, cpu) && belongs->cache[cpu] == NOT_KNOWN)
            read_cache(cpu, belongs->cache);
}

/* ---- the step's page ---- */

static bool is_page(const struct rt_page *page)
{
    return memcmp(page->magic, RT_PAGE_MAGIC, sizeof(page->magic)) == 0 &&
           page->version == RT_PAGE_VERSION && page->size >= sizeof(*page);
}

static const struct rt_page *map_page(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const struct rt_page *page = MAP_FAILED;
    struct stat file;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size >= (off_t)sizeof(*page))
        page = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (page == MAP_FAILED || is_page(page))
        return page == MAP_FAILED ? NULL : page;
    munmap((void *)page, sizeof(*page));
    return NULL;
}

static uint16_t domain_in_page(const uint8_t *domain)
{
    uint8_t number = __atomic_load_n(domain, __ATOMIC_RELAXED);

    return number == RT_NO_DOMAIN ? NOT_KNOWN : number;
}

/* Says whether berthd has said of any CPU where it belongs. */
static bool read_page(const struct rt_page *page, struct belongs *belongs)
{
    bool any = false;

    for (unsigned cpu = 0; cpu < PLACES_CPUS; cpu++) {
        belongs->node[cpu] = domain_in_page(&page->node[cpu]);
        belongs->cache[cpu] = domain_in_page(&page->cache[cpu]);
        any = any || belongs->node[cpu] != NOT_KNOWN;
    }
    return any;
}

/* ---- places ---- */

/* Says whether two of the CPUs belong to different ones. */
static bool are_several(const struct places *places, const uint16_t *of_cpu)
{
    for (unsigned i = 1; i < places->n; i++)
        if (of_cpu[places->place[i].cpu] != of_cpu[places->place[0].cpu])
            return true;
    return false;
}

static int by_domain(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->domain != y->domain ? (x->domain > y->domain) - (x->domain < y->domain)
                                  : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Numbers the domains that there are from 0, and puts each one's places together. */
static void set_domains(struct places *places, const uint16_t *of_cpu)
{
    long last = -1;

    for (unsigned i = 0; i < places->n; i++)
        places->place[i].domain = of_cpu[places->place[i].cpu];
    qsort(places->place, places->n, sizeof(places->place[0]), by_domain);
    places->domains = 0;
    for (unsigned i = 0; i < places->n; i++) {
        long domain = places->place[i].domain;

        if (domain != last && places->domains < BERTH_TASKS_DOMAINS_MAX)
            places->domains++;
        last = domain;
        places->place[i].domain = places->domains - 1;
    }
}

/* Takes those of the CPUs (NULL: of all) that belong to something (NULL: need not). */
static void take_cpus(struct places *places, const struct cpus *cpus, const uint16_t *of_cpu)
{
    for (unsigned cpu = 0; cpu < PLACES_CPUS; cpu++)
        if ((!cpus || has_cpu(cpus, cpu)) && (!of_cpu || of_cpu[cpu] != NOT_KNOWN))
            places->place[places->n++] = (struct place){.cpu = (int)cpu, .exists = true};
}

static void fake(const char *text, struct places *places, const struct cpus *cpus)
{
    struct belongs belongs;
    uint16_t node = 0;

    memset(&belongs, 0xff, sizeof(belongs));
    for (const char *list = text; list; list = strchr(list, '|')) {
        list += *list == '|';
        each_cpu(list, belongs.node, node++);
    }
    take_cpus(places, NULL, belongs.node);
    for (unsigned i = 0; i < places->n; i++)
        places->place[i].exists = has_cpu(cpus, (unsigned)places->place[i].cpu);
    places->faked = true;
    set_domains(places, belongs.node);
}

/* A step's page may have the CPUs that the step was moved to before the kernel has moved its
 * threads: then it is believed. */
static void find_places(const struct rt_page *page, struct places *places, const struct cpus *cpus)
{
    struct belongs belongs;

    memset(&belongs, 0xff, sizeof(belongs));
    if (page && read_page(page, &belongs)) {
        take_cpus(places, cpus, belongs.node);
        if (!places->n)
            take_cpus(places, NULL, belongs.node);
    } else {
        take_cpus(places, cpus, NULL);
        read_sys(cpus, &belongs);
    }
    set_domains(places, are_several(places, belongs.node) ? belongs.node : belongs.cache);
}

/* The process's first thread is not pinned by us: it has the CPUs that the process may use. */
void places_read(const struct places_source *source, struct places *places)
{
    struct cpus cpus = {0};

    places->n = 0;
    places->faked = false;
    if (sched_getaffinity(getpid(), sizeof(cpus), cpus.set) < 0)
        cpus = (struct cpus){0};
    if (source->faked)
        fake(source->faked, places, &cpus);
    else
        find_places(source->page, places, &cpus);
    if (!places->n) {
        places->place[0] = (struct place){.cpu = 0};
        places->n = places->domains = 1;
    }
}

uint32_t places_generation(const struct places_source *source)
{
    return source->page ? __atomic_load_n(&source->page->generation, __ATOMIC_ACQUIRE) : 0;
}

void places_open(struct places_source *source)
{
    const char *page = getenv(RT_PAGE_ENV), *faked = getenv(NODES_ENV),
               *wanted = getenv(RT_SWITCH_ENV);
    bool trusted = !getauxval(AT_SECURE);

    *source = (struct places_source){0};
    if (trusted && faked && *faked)
        source->faked = strdup(faked);
    else if (trusted && page && !(wanted && strcmp(wanted, "off") == 0))
        source->page = map_page(page);
}

void places_close(struct places_source *source)
{
    if (source->page)
        munmap((void *)source->page, sizeof(*source->page));
    free((char *)source->faked);
}

struct places *places_read_whole(const struct places_source *source, uint32_t generation)
{
    struct places *places = malloc(sizeof(*places));

    if (!places)
        return NULL;
    places_read(source, places);
    if (places_generation(source) == generation)
        return places;
    free(places);
    return NULL;
}

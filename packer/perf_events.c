/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_events - see perf_events.h.
 *
 * inih splits the lines and joins continued ones; as in conf.c its reader counts them and refuses
 * those that inih would cut. */
#include "perf_events.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ini.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GENERIC "generic"
#define SECTION_MAX 48 /* inih cuts longer ones */
#define TERM_MAX 256   /* bytes of an event's name with its PMU's */

struct section {
    char words[SECTION_MAX];
    char *value[COUNTERS]; /* "A | B + C"; NULL: not mentioned */
};

struct perf_table {
    size_t n;
    struct section *section; /* [n] */
};

/* ---- the file ---- */

struct reading {
    struct perf_table *table;
    FILE *file;
    const char *path;
    char *line; /* getline's */
    size_t line_size;
    unsigned number; /* of the line in hand */
    bool continued;  /* the line in hand begins with a blank */
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
        refuse(reading, "the line is too long or has a NUL in it (a line that begins with blanks "
                        "continues the one before)");
        return NULL;
    }
    reading->continued = reading->line[0] == ' ' || reading->line[0] == '\t';
    return memcpy(text, reading->line, (size_t)length + 1);
}

/* The section of these words; a new one at the end where there is none. NULL when out of memory. */
static struct section *section_of(struct perf_table *table, const char *words)
{
    struct section *grown;

    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->section[i].words, words) == 0)
            return &table->section[i];
    grown = realloc(table->section, (table->n + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    table->section = grown;
    grown[table->n] = (struct section){.value = {NULL}};
    snprintf(grown[table->n].words, SECTION_MAX, "%s", words);
    return &grown[table->n++];
}

/* Split a value: call visit with each event, and whether it begins a new alternative. An event that
 * is missing is "". Ends when visit returns false. */
static void each_term(const char *value, bool (*visit)(const char *term, bool first, void *arg),
                      void *arg)
{
    bool first = true;

    for (;;) {
        size_t length = strcspn(value, "|+"), from = strspn(value, " \t"), to = length;
        char term[TERM_MAX];

        while (to > from && strchr(" \t", value[to - 1]))
            to--;
        snprintf(term, sizeof(term), "%.*s", (int)(to > from ? to - from : 0), value + from);
        if (!visit(term, first, arg) || !value[length])
            return;
        first = value[length] == '|';
        value += length + 1;
    }
}

static bool is_event(const char *term, bool first, void *arg)
{
    bool *good = arg;

    (void)first;
    *good = term[0] && !strpbrk(term, " \t") && strlen(term) < TERM_MAX - 1;
    return *good;
}

/* Keep a value, or a line that continues it. */
static int take_value(struct reading *reading, char **value, const char *text)
{
    char *joined;
    bool good;

    if (asprintf(&joined, "%s%s%s", *value ? *value : "", *value ? " " : "", text) < 0)
        return refuse(reading, "out of memory");
    free(*value);
    *value = joined;
    /* What continues begins with '+' or '|': so each line is whole in itself. */
    each_term(joined, is_event, &good);
    return good ? 1 : refuse(reading, "EVENT + EVENT | EVENT ... expected");
}

/* inih's handler: one COUNTER = EVENTS. */
static int take_pair(void *arg, const char *section, const char *name, const char *text)
{
    struct reading *reading = arg;
    int counter = counter_by_name(name);
    struct section *into;

    if (!section[0])
        return refuse(reading, "a [SECTION] expected first: the names of its core PMUs");
    if (strlen(section) >= SECTION_MAX)
        return refuse(reading, "the section's line is too long");
    if (counter < 0 || counter_info[counter].gauge)
        return refuse(reading, "no such counter (etc/events.conf lists them)");
    into = section_of(reading->table, section);
    if (!into)
        return refuse(reading, "out of memory");
    if (into->value[counter] && !reading->continued)
        return refuse(reading, "set before in this section");
    return take_value(reading, &into->value[counter], text);
}

static int parse(struct reading *reading, struct berth_error *err)
{
    int line = ini_parse_stream(next_line, reading, take_pair, reading);

    if (line < 0)
        return berth_error_set(err, "%s: out of memory", reading->path);
    if (line > 0 && !reading->failed) { /* no '=', or an unclosed '[': the handler never saw it */
        reading->number = (unsigned)line;
        refuse(reading, "COUNTER = EVENTS expected");
    }
    return reading->failed ? berth_error_set(err, "%s", reading->why.text) : 0;
}

static FILE *open_table(const char *path, struct berth_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    FILE *file = NULL;

    if (fd < 0 || fstat(fd, &st) < 0)
        berth_error_set(err, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        berth_error_set(err, "%s: not a regular file", path);
    else if (!(file = fdopen(fd, "re")))
        berth_error_set(err, "%s: %s", path, strerror(errno));
    if (!file && fd >= 0)
        close(fd);
    return file;
}

int perf_table_read(struct perf_table **table, const char *path, struct berth_error *err)
{
    struct reading reading = {.path = path, .table = calloc(1, sizeof(**table))};
    int rc = -1;

    if (!reading.table)
        return berth_error_set(err, "%s: out of memory", path);
    reading.file = open_table(path, err);
    if (reading.file) {
        rc = parse(&reading, err);
        free(reading.line);
        fclose(reading.file);
    }
    if (rc < 0)
        perf_table_free(reading.table);
    else
        *table = reading.table;
    return rc;
}

void perf_table_free(struct perf_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n; i++)
        for (size_t c = 0; c < COUNTERS; c++)
            free(table->section[i].value[c]);
    free(table->section);
    free(table);
}

const char *perf_table_section(const struct perf_table *table, size_t i)
{
    return i < table->n ? table->section[i].words : NULL;
}

/* The first section of which a word fits the PMU's name; NULL none. */
static const struct section *fitting(const struct perf_table *table, const char *pmu)
{
    for (size_t i = 0; i < table->n; i++) {
        char words[SECTION_MAX], *save;

        strcpy(words, table->section[i].words);
        for (char *word = strtok_r(words, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
            if (fnmatch(word, pmu, 0) == 0)
                return &table->section[i];
    }
    return NULL;
}

bool perf_table_mentions(const struct perf_table *table, const char *pmu, enum counter counter)
{
    const struct section *section = fitting(table, pmu);

    return section && section->value[counter];
}

/* ---- encoding ---- */

struct encoding {
    struct perf_events *events;
    perf_usable *usable;
    void *arg;
    size_t kept;         /* events before this counter's alternative */
    struct perf_sum sum; /* the alternative in hand */
    bool good;           /* so far all of its events can be counted */
};

/* What the kernel wants for this name; a name without "PMU::" is one of the section's PMU. */
static bool encode(const struct encoding *encoding, const char *term, struct perf_event_attr *attr)
{
    const char *pmu = encoding->events->pmu;
    char name[TERM_MAX + PERF_PMU_MAX];
    pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof(arg)};

    *attr = (struct perf_event_attr){.size = sizeof(*attr)};
    if (strstr(term, "::"))
        snprintf(name, sizeof(name), "%s", term);
    else
        snprintf(name, sizeof(name), "%s::%s", strcmp(pmu, GENERIC) == 0 ? "perf" : pmu, term);
    errno = 0; /* libpfm4 4.13 takes an old ERANGE for one of perf_raw's numbers */
    return pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) ==
           PFM_SUCCESS;
}

static bool same_event(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
    return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
           a->config2 == b->config2;
}

/* The event's index among those of the PMU, added where it is new. -1: it cannot be counted. */
static int add_event(const struct encoding *encoding, const struct perf_event_attr *attr)
{
    struct perf_events *events = encoding->events;

    for (size_t i = 0; i < events->n; i++)
        if (same_event(&events->event[i], attr))
            return (int)i;
    if (events->n == PERF_EVENTS_MAX ||
        (encoding->usable && !encoding->usable(attr, encoding->arg)))
        return -1;
    events->event[events->n] = *attr;
    return (int)events->n++;
}

/* One event of an alternative; the first alternative that is good to its end is taken. */
static bool take_term(const char *term, bool first, void *arg)
{
    struct encoding *encoding = arg;
    struct perf_event_attr attr;
    int event;

    if (first && encoding->good)
        return false;
    if (first) {
        encoding->good = true;
        encoding->sum.n = 0;
        encoding->events->n = encoding->kept;
    }
    if (!encoding->good)
        return true;
    event = encode(encoding, term, &attr) ? add_event(encoding, &attr) : -1;
    encoding->good = event >= 0 && encoding->sum.n < PERF_SUM_MAX;
    if (encoding->good)
        encoding->sum.event[encoding->sum.n++] = (unsigned char)event;
    return true;
}

static void encode_section(struct perf_events *events, const struct section *section,
                           perf_usable *usable, void *arg)
{
    for (size_t c = 0; c < COUNTERS; c++) {
        struct encoding encoding = {
            .events = events, .usable = usable, .arg = arg, .kept = events->n};

        if (!section->value[c])
            continue;
        each_term(section->value[c], take_term, &encoding);
        if (encoding.good)
            events->sum[c] = encoding.sum;
        else
            events->n = encoding.kept;
    }
}

/* This machine's core PMU into name, the first one that the table knows; else "generic". */
static void find_pmu(const struct perf_table *table, char name[PERF_PMU_MAX])
{
    int pmu;

    strcpy(name, GENERIC);
    pfm_for_all_pmus(pmu)
    {
        pfm_pmu_info_t info = {.size = sizeof(info)};

        if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && info.is_present &&
            info.type == PFM_PMU_TYPE_CORE && fitting(table, info.name)) {
            snprintf(name, PERF_PMU_MAX, "%s", info.name);
            return;
        }
    }
}

int perf_events_find(struct perf_events *events, const struct perf_table *table, const char *pmu,
                     perf_usable *usable, void *arg, struct berth_error *err)
{
    const struct section *section;
    int rc = pfm_initialize();

    memset(events, 0, sizeof(*events));
    if (rc != PFM_SUCCESS)
        return berth_error_set(err, "libpfm4: %s", pfm_strerror(rc));
    if (pmu)
        snprintf(events->pmu, sizeof(events->pmu), "%s", pmu);
    else
        find_pmu(table, events->pmu);
    section = fitting(table, events->pmu);
    if (section)
        encode_section(events, section, usable, arg);
    pfm_terminate();
    return section ? 0 : berth_error_set(err, "no section of the event table fits %s", events->pmu);
}

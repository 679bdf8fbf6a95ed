/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/counters/perf_events.h"

#include <errno.h>
#include <fnmatch.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/ini_file.h"
#include "packer/base/library.h"

#define GENERIC "generic"
#define SECTION_MAX 48 /* inih cuts longer ones */
#define TERM_MAX 256   /* bytes of an event's name with its PMU's */

/* libpfm4: 2 MiB of tables, which are wanted until the events have their codes. */
#define SONAME "libpfm.so.4"
#define FUNCTION(name)                                                                             \
    {                                                                                              \
        "pfm_" #name, offsetof(struct pfm, name)                                                   \
    }

struct pfm {
    __typeof__(pfm_initialize) *initialize;
    __typeof__(pfm_terminate) *terminate;
    __typeof__(pfm_strerror) *strerror;
    __typeof__(pfm_get_pmu_info) *get_pmu_info;
    __typeof__(pfm_get_os_event_encoding) *get_os_event_encoding;
};

static const struct library_function functions[] = {
    FUNCTION(initialize),
    FUNCTION(terminate),
    FUNCTION(strerror),
    FUNCTION(get_pmu_info),
    FUNCTION(get_os_event_encoding),
};

struct section {
    char words[SECTION_MAX];
    char *value[COUNTERS]; /* "A | B + C"; NULL: not mentioned */
};

struct perf_table {
    size_t n, room;
    struct section *section; /* [n] */
};

/* ---- the file ---- */

/* The section of these words; a new one at the end where there is none. NULL when out of memory. */
static struct section *section_of(struct perf_table *table, const char *words)
{
    struct section *added;

    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->section[i].words, words) == 0)
            return &table->section[i];
    if (array_grow(&table->section, &table->room, table->n + 1, sizeof(*added)) < 0)
        return NULL;
    added = &table->section[table->n++];
    *added = (struct section){.value = {NULL}};
    snprintf(added->words, SECTION_MAX, "%s", words);
    return added;
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
static int take_value(char **value, const char *text, struct berth_error *err)
{
    char *joined;
    bool good;

    if (asprintf(&joined, "%s%s%s", *value ? *value : "", *value ? " " : "", text) < 0)
        return berth_no_memory(err);
    free(*value);
    *value = joined;
    /* What continues begins with '+' or '|': so each line is whole in itself. */
    each_term(joined, is_event, &good);
    return good ? 0 : berth_error_set(err, "EVENT + EVENT | EVENT ... expected");
}

static int take_pair(void *arg, const struct ini_pair *pair, struct berth_error *err)
{
    struct section *into;
    int counter;

    if (!pair->name)
        return 0;
    counter = counter_by_name(pair->name);
    if (!pair->section[0])
        return berth_error_set(err, "a [SECTION] expected first: the names of its core PMUs");
    if (strlen(pair->section) >= SECTION_MAX)
        return berth_error_set(err, "the section's line is too long");
    if (counter < 0 || counter_info[counter].gauge)
        return berth_error_set(err, "no such counter (etc/events.conf lists them)");
    into = section_of(arg, pair->section);
    if (!into)
        return berth_no_memory(err);
    if (into->value[counter] && !pair->continued)
        return berth_error_set(err, "set before in this section");
    return take_value(&into->value[counter], pair->value, err);
}

int perf_table_read(struct perf_table **table, const char *path, struct berth_error *err)
{
    struct perf_table *read = calloc(1, sizeof(*read));
    int fd =
        read ? ini_file_open(path, false, err) : berth_error_set(err, "%s: out of memory", path);

    if (fd < 0 || ini_file_read(fd, path, "COUNTER = EVENTS", take_pair, read, err) < 0) {
        perf_table_free(read);
        return -1;
    }
    *table = read;
    return 0;
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
    const struct pfm *pfm;
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
    return encoding->pfm->get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT,
                                                &arg) == PFM_SUCCESS;
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

/* Encodes what the section says, as `how` has it. */
static void encode_section(const struct encoding *how, const struct section *section)
{
    struct perf_events *events = how->events;

    for (size_t c = 0; c < COUNTERS; c++) {
        struct encoding encoding = *how;

        if (!section->value[c])
            continue;
        encoding.kept = events->n;
        each_term(section->value[c], take_term, &encoding);
        if (encoding.good)
            events->sum[c] = encoding.sum;
        else
            events->n = encoding.kept;
    }
}

/* This machine's core PMU into name, the first one that the table knows; else "generic". */
static void find_pmu(const struct pfm *pfm, const struct perf_table *table, char name[PERF_PMU_MAX])
{
    int pmu;

    strcpy(name, GENERIC);
    pfm_for_all_pmus(pmu)
    {
        pfm_pmu_info_t info = {.size = sizeof(info)};

        if (pfm->get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS && info.is_present &&
            info.type == PFM_PMU_TYPE_CORE && fitting(table, info.name)) {
            snprintf(name, PERF_PMU_MAX, "%s", info.name);
            return;
        }
    }
}

/* Finds the section that fits, and its events. */
static int find_event(const struct encoding *how, const struct perf_table *table, const char *pmu,
                      struct berth_error *err)
{
    struct perf_events *events = how->events;
    const struct section *section;

    if (pmu)
        snprintf(events->pmu, sizeof(events->pmu), "%s", pmu);
    else
        find_pmu(how->pfm, table, events->pmu);
    section = fitting(table, events->pmu);
    if (section)
        encode_section(how, section);
    return section ? 0 : berth_error_set(err, "no section of the event table fits %s", events->pmu);
}

int perf_events_find(struct perf_events *events, const struct perf_table *table, const char *pmu,
                     perf_usable *usable, void *arg, struct berth_error *err)
{
    struct pfm pfm;
    struct encoding how = {.pfm = &pfm, .events = events, .usable = usable, .arg = arg};
    void *library =
        library_open(SONAME, functions, sizeof(functions) / sizeof(functions[0]), &pfm, err);
    int rc;

    memset(events, 0, sizeof(*events));
    if (!library)
        return -1;
    rc = pfm.initialize();
    if (rc != PFM_SUCCESS) {
        berth_error_set(err, "libpfm4: %s", pfm.strerror(rc));
        rc = -1;
    } else {
        rc = find_event(&how, table, pmu, err);
        pfm.terminate();
    }
    library_close(library);
    return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print - what is stored of a program, for people and for programs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "models/slowdown/animal.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/ctl.h"
#include "probe/profile/store.h"
#include "enum_table.h"

#define BAR 40

/* Names what a rate is per, for people. */
static const char *const TABLE(rate_unit, PROFILE_RATES) = {
    ROW(PROFILE_MISSES) = " per million instructions",
    ROW(PROFILE_ACCESSES) = " per million instructions",
    ROW(PROFILE_CYCLES) = " per million instructions",
    ROW(PROFILE_STALLS) = " per million instructions",
    ROW(PROFILE_READS_REMOTE) = " per million instructions",
    ROW(PROFILE_INSTRUCTIONS_PER_S) = " of one core",
    ROW(PROFILE_BYTES_PER_S) = " of memory",
    ROW(PROFILE_CPUS) = " in use",
    ROW(PROFILE_RUN_DELAY) = " s waiting for a CPU, per second",
    ROW(PROFILE_LOCK_WAIT) = " s waiting for a lock, per second",
    ROW(PROFILE_SWITCHES_PER_S) = "",
    ROW(PROFILE_OCCUPANCY_BYTES) = " of cache",
    ROW(PROFILE_RSS_BYTES) = " of memory",
    ROW(PROFILE_INTENSITY) = " by which a probe beside it slows down",
    ROW(PROFILE_SYSTEM) = " of the CPUs in use, in the kernel",
    ROW(PROFILE_THREADS) = "",
};
TABLE_COMPLETE(rate_unit);

static const char *class_name(double misses, double devil_miss_pmi)
{
    return misses >= devil_miss_pmi ? "devil" : "turtle";
}

/* Prints one line of the chart: a bar in proportion to the greatest value, one mark for all that is
 * not 0. */
static void print_bar(FILE *out, const char *label, double value, double greatest)
{
    static const char marks[BAR + 1] = "########################################";
    int length = greatest > 0 ? (int)(BAR * value / greatest + 0.5) : 0;

    if (length == 0 && value > 0)
        length = 1;
    fprintf(out, "    %5s %11.1f%s%.*s\n", label, value, length ? " " : "", length, marks);
}

/* Returns how many positions from this one on have next to nothing. */
static unsigned empty_from(const struct profile *profile, unsigned i)
{
    unsigned n = 0;

    while (i + n < profile->llc_ways && profile->hits[i + n] < 0.05)
        n++;
    return n;
}

static void print_chart(const struct profile *profile, FILE *out)
{
    double greatest = profile->misses;
    char label[16];

    for (unsigned i = 0; i < profile->llc_ways; i++)
        if (profile->hits[i] > greatest)
            greatest = profile->hits[i];
    fprintf(out, "  hits by LRU position (1 is the most recent), and misses:\n");
    for (unsigned i = 0, n; i < profile->llc_ways; i += n) {
        n = empty_from(profile, i);
        if (n > 1)
            snprintf(label, sizeof(label), "%u-%u", i + 1, i + n);
        else
            snprintf(label, sizeof(label), "%u", i + 1);
        print_bar(out, label, n ? 0 : profile->hits[i], greatest);
        n = n ? n : 1;
    }
    print_bar(out, "miss", profile->misses, greatest);
}

/* ---- one row, for people ---- */

static void print_class(double misses, double devil_miss_pmi, FILE *out)
{
    fprintf(out, "  class         %s (a devil has %g misses or more)\n",
            class_name(misses, devil_miss_pmi), devil_miss_pmi);
}

/* Says what that means for its neighbours, and for itself. */
static void print_meaning(const struct profile *profile, double devil_miss_pmi, FILE *out)
{
    bool disturbs = profile->misses >= devil_miss_pmi;
    double lost = 0; /* hits, with half of the ways */

    for (unsigned i = profile->llc_ways / 2; i < profile->llc_ways; i++)
        lost += profile->hits[i];
    fprintf(out, "  so            it %s others in the cache, %s %s\n",
            disturbs ? "disturbs" : "hardly disturbs",
            disturbs == (lost >= ANIMAL_RABBIT_LOSS_PMI) ? "and" : "but",
            lost >= ANIMAL_RABBIT_LOSS_PMI ? "suffers from who disturbs it"
                                           : "has little there to lose");
}

static void print_time(FILE *out, const char *title, int64_t measured_at)
{
    char when[64] = "?";
    struct tm tm;
    time_t at = measured_at;

    if (localtime_r(&at, &tm))
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    fprintf(out, "  %-12s  %s", title, when);
}

/* Prints a line where the text is known. */
static void print_text(FILE *out, const char *title, const char *text)
{
    if (!text[0])
        return;
    fprintf(out, "  %-12s  ", title);
    ctl_put_line(out, text, 0);
}

/* At which clock it was counted, where that is known. */
static void print_clock(double ghz, FILE *out)
{
    if (ghz > 0)
        fprintf(out, "  clock         %.2f GHz\n", ghz);
}

/* Prints what the profile is of. */
static void print_identity(FILE *out, const char *key, const char *command, const char *shape,
                           const char *geometry)
{
    ctl_put_line(out, key, 0);
    print_text(out, "command", command);
    print_text(out, "arguments", shape);
    print_text(out, "tasks x CPUs", geometry);
}

/* Prints " +- 12.0" where the error is known. */
static void print_error(FILE *out, double error)
{
    if (!isnan(error))
        fprintf(out, " +- %.1f", error);
}

void profile_print(const struct profile *profile, double devil_miss_pmi, FILE *out)
{
    print_identity(out, profile->key, profile->command, profile->shape, profile->geometry);
    print_time(out, "measured", profile->measured_at);
    fprintf(out, " by %s: %.1f million instructions, %.1f million references\n", profile->source,
            (double)profile->instructions / 1e6, (double)profile->references / 1e6);
    if (profile->truncated)
        fprintf(out, "                stopped at the limit: the rates are of the last part seen\n");
    print_text(out, "machine", profile->machine);
    fprintf(out, "  cache         %.1f MiB, %u ways, lines of %u bytes\n",
            (double)profile->llc_bytes / (1 << 20), profile->llc_ways, profile->line_bytes);
    fprintf(out, "  miss rate     %.1f", profile->misses);
    print_error(out, profile->misses_error);
    fprintf(out, " per million instructions\n  LLC accesses  %.1f", profile->accesses);
    print_error(out, profile->accesses_error);
    fprintf(out, " per million instructions\n");
    if (profile->instructions_per_s > 0)
        fprintf(out, "  speed         %.1f million instructions a second: %.3f GB/s by one core\n",
                profile->instructions_per_s / 1e6, profile_core_gbps(profile));
    print_clock(profile_clock_ghz(profile), out);
    print_class(profile->misses, devil_miss_pmi, out);
    print_meaning(profile, devil_miss_pmi, out);
    print_chart(profile, out);
}

/* Returns the clock at which a sample was counted, in GHz; NAN not known. */
static double sample_clock_ghz(const struct profile_sample *sample)
{
    return sample->rate[PROFILE_CYCLES].mean / 1e6 * sample->rate[PROFILE_INSTRUCTIONS_PER_S].mean /
           1e9;
}

void profile_sample_print(const struct profile_sample *sample, double devil_miss_pmi, FILE *out)
{
    double misses = sample->rate[PROFILE_MISSES].mean;

    print_identity(out, sample->key, sample->command, sample->shape, sample->geometry);
    print_time(out, "counted", sample->measured_at);
    fprintf(out, " by %s, %s: %" PRIu64 " run%s, %.0f windows in %.0f s\n", sample->source,
            sample->co_run ? "beside other steps" : "solo", sample->runs,
            sample->runs == 1 ? "" : "s", sample->windows, sample->seconds);
    print_text(out, "machine", sample->machine);
    for (int i = 0; i < PROFILE_RATES; i++) {
        if (isnan(sample->rate[i].mean))
            continue;
        fprintf(out, "  %-18s  %.4g", profile_rate_name[i], sample->rate[i].mean);
        if (sample->rate[i].error > 0)
            fprintf(out, " +- %.3g", sample->rate[i].error);
        fputs(rate_unit[i], out);
        fputc('\n', out);
    }
    print_clock(sample_clock_ghz(sample), out);
    if (!isnan(misses))
        print_class(misses, devil_miss_pmi, out);
    else if (isnan(sample->rate[PROFILE_INTENSITY].mean))
        fprintf(out, "  class         not known: no cache misses were counted; "
                     "berthctl profile -- COMMAND measures them\n");
}

/* ---- a line for each ---- */

void profile_list_head(FILE *out)
{
    fprintf(out, "%12s %9s  %-6s  %-17s %6s %5s  %s\n", "misses/Minst", "+-", "class", "source",
            "age", "runs", "key, arguments, tasks x CPUs, machine");
}

/* Writes "5 min", "3 h" or "12 d". */
static void age_text(int64_t measured_at, char text[32])
{
    double age_s = difftime(time(NULL), (time_t)measured_at);

    if (!measured_at)
        snprintf(text, 32, "-");
    else if (age_s < 7200)
        snprintf(text, 32, "%.0f min", fmax(age_s, 0) / 60);
    else if (age_s < 2 * 86400)
        snprintf(text, 32, "%.0f h", age_s / 3600);
    else
        snprintf(text, 32, "%.0f d", age_s / 86400);
}

/* Holds what a line tells of either kind of row. */
struct line {
    double misses, error, devil_miss_pmi;
    const char *source, *note;
    int64_t measured_at;
    uint64_t runs;
    const char *key, *shape, *geometry, *machine;
    uint32_t uid;
};

static void put_row(const struct line *line, FILE *out)
{
    const char *more[] = {line->shape, line->geometry, line->machine};
    char misses[32], error[32], age[32], source[64], text[PROFILE_KEY_MAX + 512];
    size_t used;

    age_text(line->measured_at, age);
    snprintf(source, sizeof(source), "%s%s", line->source, line->note);
    used =
        (size_t)snprintf(text, sizeof(text), "%12s %9s  %-6s  %-17s %6s %5" PRIu64 "  %s",
                         ctl_measure(line->misses, 1, misses), ctl_measure(line->error, 1, error),
                         isnan(line->misses) ? "-" : class_name(line->misses, line->devil_miss_pmi),
                         source, age, line->runs, line->key);
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]) && used < sizeof(text); i++)
        if (more[i][0])
            used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s", more[i]);
    if (line->uid != PROFILE_EVERYBODY && line->uid != PROFILE_NOBODY && used < sizeof(text))
        snprintf(text + used, sizeof(text) - used, ", user %u", line->uid);
    ctl_put_line(out, text, ctl_columns());
}

void profile_list_line(const struct profile *profile, double devil_miss_pmi, FILE *out)
{
    const struct line line = {.misses = profile->misses,
                              .error = profile->misses_error,
                              .devil_miss_pmi = devil_miss_pmi,
                              .source = profile->source,
                              .note = profile->truncated ? ", cut" : "",
                              .measured_at = profile->measured_at,
                              .runs = profile->runs,
                              .key = profile->key,
                              .shape = profile->shape,
                              .geometry = profile->geometry,
                              .machine = profile->machine,
                              .uid = profile->uid};

    put_row(&line, out);
}

void profile_list_sample(const struct profile_sample *sample, double devil_miss_pmi, FILE *out)
{
    const struct line line = {.misses = sample->rate[PROFILE_MISSES].mean,
                              .error = sample->rate[PROFILE_MISSES].error,
                              .devil_miss_pmi = devil_miss_pmi,
                              .source = sample->source,
                              .note = sample->co_run ? ", co-run" : ", solo",
                              .measured_at = sample->measured_at,
                              .runs = sample->runs,
                              .key = sample->key,
                              .shape = sample->shape,
                              .geometry = sample->geometry,
                              .machine = sample->machine,
                              .uid = sample->uid};

    put_row(&line, out);
}

/* What is stored of a program beside its misses: a line that has none. */
static void put_other(struct line line, FILE *out)
{
    line.misses = line.error = NAN;
    put_row(&line, out);
}

void profile_list_threads(const struct profile_threads *threads, FILE *out)
{
    char note[32];

    snprintf(note, sizeof(note), ", %u on %u", threads->threads, threads->cores);
    put_other((struct line){.source = "threads",
                            .note = note,
                            .measured_at = threads->measured_at,
                            .key = threads->key,
                            .shape = threads->shape,
                            .geometry = "",
                            .machine = threads->machine,
                            .uid = threads->uid},
              out);
}

void profile_list_binding(const struct profile_binding *binding, FILE *out)
{
    put_other((struct line){.source = "binds",
                            .note = profile_binding_over(binding) ? ", trusted" : "",
                            .measured_at = binding->measured_at,
                            .runs = binding->runs,
                            .key = binding->key,
                            .shape = "",
                            .geometry = "",
                            .machine = "",
                            .uid = binding->uid},
              out);
}

void profile_list_demand(uint32_t uid, const char *key, const struct profile_demand *demand,
                         FILE *out)
{
    put_other((struct line){.source = "demand",
                            .note = demand->measured_at ? ", measured" : ", told",
                            .measured_at = demand->measured_at,
                            .key = key,
                            .shape = "",
                            .geometry = "",
                            .machine = demand->machine,
                            .uid = uid},
              out);
}

/* ---- for programs ---- */

/* Makes what both kinds of rows have. */
static struct json_object *identity_json(const char *key, const char *command, const char *shape,
                                         const char *geometry, const char *class)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "key", key);
    json_add_text(object, "command", command);
    json_add_text(object, "shape", shape[0] ? shape : NULL);
    json_add_text(object, "geometry", geometry[0] ? geometry : NULL);
    json_add_text(object, "class", class);
    return object;
}

/* Adds a number, null where it is 0: not known. */
static void add_known(struct json_object *object, const char *name, uint64_t value)
{
    json_add(object, name, value ? json_object_new_uint64(value) : NULL);
}

/* ways 0: not of a sample. */
static void add_machine(struct json_object *object, const char *type, uint64_t llc_bytes,
                        unsigned ways, unsigned line_bytes)
{
    struct json_object *machine = json_object_new_object();

    add_known(machine, "llc_bytes", llc_bytes);
    if (ways)
        json_add_u64(machine, "llc_ways", ways);
    add_known(machine, "line_bytes", line_bytes);
    json_add(object, "machine", machine);
    json_add_text(object, "machine_type", type[0] ? type : NULL);
}

/* Adds whose the row is; null where that is not known. */
static void add_owner(struct json_object *object, uint32_t uid)
{
    json_add(object, "uid", uid == PROFILE_NOBODY ? NULL : json_object_new_uint64(uid));
}

struct json_object *profile_json(const struct profile *profile, double devil_miss_pmi)
{
    struct json_object *object =
        identity_json(profile->key, profile->command, profile->shape, profile->geometry,
                      class_name(profile->misses, devil_miss_pmi));
    struct json_object *sdp = json_object_new_object();

    json_add(
        sdp, "hits",
        json_new_list(profile->llc_ways, &json_number, profile->hits, sizeof(profile->hits[0])));
    json_add_double(sdp, "misses", profile->misses);
    json_add(object, "sdp", sdp);
    json_add_measure(object, "llc_apki", profile->accesses / 1000);
    json_add_double(object, "llc_mpki", profile->misses / 1000);
    json_add_measure(object, "llc_apki_error", profile->accesses_error / 1000);
    json_add_measure(object, "llc_mpki_error", profile->misses_error / 1000);
    json_add_measure(object, "instructions_per_s",
                     profile->instructions_per_s > 0 ? profile->instructions_per_s : NAN);
    json_add_measure(object, "core_gbps", profile_core_gbps(profile));
    json_add_measure(object, "clock_ghz", profile_clock_ghz(profile));
    json_add_u64(object, "instructions", profile->instructions);
    json_add_u64(object, "references", profile->references);
    json_add_bool(object, "truncated", profile->truncated);
    json_add_u64(object, "measured_at", (uint64_t)profile->measured_at);
    json_add_text(object, "source", profile->source);
    add_machine(object, profile->machine, profile->llc_bytes, profile->llc_ways,
                profile->line_bytes);
    add_owner(object, profile->uid);
    return object;
}

struct json_object *profile_sample_json(const struct profile_sample *sample, double devil_miss_pmi)
{
    const struct profile_estimate *misses = &sample->rate[PROFILE_MISSES];
    const struct profile_estimate *accesses = &sample->rate[PROFILE_ACCESSES];
    struct json_object *object =
        identity_json(sample->key, sample->command, sample->shape, sample->geometry,
                      isnan(misses->mean) ? NULL : class_name(misses->mean, devil_miss_pmi));

    json_add_measure(object, "llc_apki", accesses->mean / 1000);
    json_add_measure(object, "llc_mpki", misses->mean / 1000);
    json_add_measure(object, "llc_apki_error", accesses->error / 1000);
    json_add_measure(object, "llc_mpki_error", misses->error / 1000);
    json_add(object, "rates", profile_rates_json(sample));
    json_add_bool(object, "co_run", sample->co_run);
    json_add_u64(object, "runs", sample->runs);
    json_add_double(object, "windows", sample->windows);
    json_add_double(object, "seconds", sample->seconds);
    json_add_double(object, "instructions", sample->instructions);
    json_add_u64(object, "measured_at", (uint64_t)sample->measured_at);
    json_add_text(object, "source", sample->source);
    add_machine(object, sample->machine, sample->llc_bytes, 0, sample->line_bytes);
    add_owner(object, sample->uid);
    return object;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_profile_print - one profile, for people and for programs. */
#include "ctl_profile.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "json.h"

#define BAR 40

static const char *class_name(const struct profile *profile, double devil_miss_pmi)
{
    return profile->misses >= devil_miss_pmi ? "devil" : "turtle";
}

/* One line of the chart: a bar in proportion to the greatest value, one mark for all that is not 0.
 */
static void print_bar(FILE *out, const char *label, double value, double greatest)
{
    static const char marks[BAR + 1] = "########################################";
    int length = greatest > 0 ? (int)(BAR * value / greatest + 0.5) : 0;

    if (length == 0 && value > 0)
        length = 1;
    fprintf(out, "    %4s %12.1f %.*s\n", label, value, length, marks);
}

static void print_chart(const struct profile *profile, FILE *out)
{
    double greatest = profile->misses;
    char label[16];

    for (unsigned i = 0; i < profile->llc_ways; i++)
        if (profile->hits[i] > greatest)
            greatest = profile->hits[i];
    fprintf(out, "  hits by LRU position (1 is the most recent), and misses:\n");
    for (unsigned i = 0; i < profile->llc_ways; i++) {
        snprintf(label, sizeof(label), "%u", i + 1);
        print_bar(out, label, profile->hits[i], greatest);
    }
    print_bar(out, "miss", profile->misses, greatest);
}

void profile_print(const struct profile *profile, double devil_miss_pmi, FILE *out)
{
    char when[64] = "?";
    struct tm tm;
    time_t at = profile->measured_at;

    if (localtime_r(&at, &tm))
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
    fprintf(out, "%s\n", profile->key);
    fprintf(out, "  command       %s\n", profile->command);
    fprintf(out, "  measured      %s by %s: %.1f million instructions, %.1f million references\n",
            when, profile->source, (double)profile->instructions / 1e6,
            (double)profile->references / 1e6);
    if (profile->truncated)
        fprintf(out, "                stopped at the limit: the rates are of the last part seen\n");
    fprintf(out, "  cache         %.1f MiB, %u ways, lines of %u bytes\n",
            (double)profile->llc_bytes / (1 << 20), profile->llc_ways, profile->line_bytes);
    fprintf(out, "  miss rate     %.1f per million instructions\n", profile->misses);
    fprintf(out, "  LLC accesses  %.1f per million instructions\n", profile->accesses);
    if (profile->instructions_per_s > 0)
        fprintf(out, "  speed         %.1f million instructions a second: %.3f GB/s by one core\n",
                profile->instructions_per_s / 1e6, profile_core_gbps(profile));
    fprintf(out, "  class         %s (a devil has %g misses or more)\n",
            class_name(profile, devil_miss_pmi), devil_miss_pmi);
    print_chart(profile, out);
}

struct json_object *profile_json(const struct profile *profile, double devil_miss_pmi)
{
    struct json_object *object = json_object_new_object(), *sdp = json_object_new_object();
    struct json_object *hits = json_object_new_array(), *machine = json_object_new_object();

    for (unsigned i = 0; i < profile->llc_ways; i++)
        json_object_array_add(hits, json_object_new_double(profile->hits[i]));
    json_object_object_add(sdp, "hits", hits);
    json_add_double(sdp, "misses", profile->misses);
    json_add_u64(machine, "llc_bytes", profile->llc_bytes);
    json_add_u64(machine, "llc_ways", profile->llc_ways);
    json_add_u64(machine, "line_bytes", profile->line_bytes);
    json_add_text(object, "key", profile->key);
    json_add_text(object, "command", profile->command);
    json_add_text(object, "class", class_name(profile, devil_miss_pmi));
    json_object_object_add(object, "sdp", sdp);
    json_add_double(object, "llc_apki", profile->accesses / 1000);
    json_add_double(object, "llc_mpki", profile->misses / 1000);
    json_add_measure(object, "instructions_per_s",
                     profile->instructions_per_s > 0 ? profile->instructions_per_s : NAN);
    json_add_measure(object, "core_gbps", profile_core_gbps(profile));
    json_add_u64(object, "instructions", profile->instructions);
    json_add_u64(object, "references", profile->references);
    json_add_bool(object, "truncated", profile->truncated);
    json_add_u64(object, "measured_at", (uint64_t)profile->measured_at);
    json_add_text(object, "source", profile->source);
    json_object_object_add(object, "machine", machine);
    return object;
}

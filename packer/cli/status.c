/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status - `berthctl status`: the node on one page. berthctl top draws the same page again and
 * again. */
#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/text.h"
#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/options.h"
#include "packer/cli/verbs.h"

static const struct ctl_option option_rows[] = {
    {"json", 0, NULL, "{\"node\":{...},\"steps\":[...]}", CTL_FLAG(struct ctl_query, json)},
    CTL_OPTION_SOCKET(struct ctl_query),
};
static const struct ctl_options options = {
    .verb = "status",
    .synopsis = "[--json] [--socket PATH]",
    .about = "The node, which steps stand on which last-level cache, and a line for each step.",
    CTL_OPTIONS(option_rows),
};

/* Holds the page so far: lines are counted, and nothing is put beyond the last row. */
struct page {
    FILE *out;
    size_t columns, rows, used; /* rows 0: no limit */
};

static bool page_full(const struct page *page, size_t spare)
{
    return page->rows && page->used + spare >= page->rows;
}

static void put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct page *page, const char *format, ...)
{
    char line[4096];
    va_list args;

    if (page_full(page, 0))
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    ctl_put_line(page->out, line, page->columns);
    page->used++;
}

/* Returns "1.2 kJ"; "-" where nothing is metered. */
static const char *energy(double joules, char text[32])
{
    static const char *const unit[] = {"J", "kJ", "MJ", "GJ"};
    size_t i = 0;

    while (joules >= 999.95 && i < 3)
        joules /= 1000, i++;
    snprintf(text, 32, "%.1f %s", joules, unit[i]);
    return isnan(joules) ? "-" : text;
}

/* An older berthd does not say it. */
static bool zone_counts(struct json_object *zone)
{
    return !isnan(ctl_number(zone, "metered_j")) &&
           (!ctl_object(zone, "counts") || ctl_true(zone, "counts"));
}

static bool zone_of_node(struct json_object *zone)
{
    return strcmp(ctl_text(zone, "domain"), "node") == 0;
}

/* Appends a word to a list, once. */
static void list_once(char *list, size_t size, const char *word)
{
    size_t used = strlen(list);

    if (!text_lists(list, word))
        snprintf(list + used, size - used, "%s%s", used ? "," : "", word);
}

/* Sums up what the zones of the node, or those of packages and their memory, have counted. Returns
 * how many they are; source lists who reads them. */
static size_t sum_zones(struct json_object *zones, bool node, double sum[4], char source[64])
{
    static const char *const key[] = {"metered_j", "steps_j", "idle_j", "unmanaged_j"};
    size_t n = 0;

    for (size_t i = 0; i < ctl_length(zones); i++) {
        struct json_object *zone = json_object_array_get_idx(zones, i);

        if (zone_of_node(zone) != node || !zone_counts(zone))
            continue;
        n++;
        list_once(source, 64, ctl_text(zone, "source"));
        for (size_t k = 0; k < 4; k++)
            sum[k] += ctl_number(zone, key[k]);
    }
    return n;
}

static void put_still(struct page *page, struct json_object *zones)
{
    char source[64] = "";
    size_t n = 0;

    for (size_t i = 0; i < ctl_length(zones); i++) {
        struct json_object *zone = json_object_array_get_idx(zones, i);

        if (zone_counts(zone))
            continue;
        n++;
        list_once(source, sizeof(source), ctl_text(zone, "source"));
    }
    if (n)
        put(page, "energy: %zu meter%s of %s not counted: %s still or cannot be read", n,
            n > 1 ? "s" : "", source, n > 1 ? "they stand" : "it stands");
}

/* Puts the energy of the packages and their memory, or of the node where they have no meters. */
static void put_energy(struct page *page, struct json_object *zones)
{
    double sum[4] = {0};
    char text[4][32], source[64] = "";

    if (sum_zones(zones, false, sum, source) || sum_zones(zones, true, sum, source)) {
        for (size_t k = 0; k < 4; k++)
            energy(sum[k], text[k]);
        put(page, "energy %s by %s: steps %s, idle %s, unmanaged %s", text[0], source, text[1],
            text[2], text[3]);
    }
    put_still(page, zones);
}

/* Puts what is known of the steps: "known by stack distances 2, miss rate 1". */
static void put_rungs(struct page *page, struct json_object *rungs)
{
    char line[256] = "";
    size_t used = 0;

    if (!rungs) /* of an older berthd */
        return;
    json_object_object_foreach(rungs, name, count)
    {
        if (json_object_get_uint64(count) == 0 || used > sizeof(line) - 64)
            continue;
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %.32s %" PRIu64,
                                 used ? "," : "", name, json_object_get_uint64(count));
    }
    if (used)
        put(page, "steps known by:%s", line);
}

/* Puts who runs on the pool's cores and is not in berth's care: "step 12.3 on 1". */
static void put_strangers(struct page *page, struct json_object *strangers)
{
    char line[1024] = "";
    size_t used = 0;

    for (size_t i = 0; i < ctl_length(strangers) && used < sizeof(line) - 128; i++) {
        struct json_object *stranger = json_object_array_get_idx(strangers, i);
        const char *id = ctl_text(stranger, "id");

        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s%.32s on %.64s",
                                 used ? "," : "",
                                 !id[0]            ? "another user's"
                                 : strchr(id, '.') ? "step "
                                                   : "job ",
                                 id, ctl_text(stranger, "cpus"));
    }
    if (used)
        put(page, "not in berth's care:%s", line);
}

/* Puts how many steps berth could not place, and why the last one. */
static void put_refused(struct page *page, struct json_object *node)
{
    double n = ctl_number(node, "refused"), in_a_row = ctl_number(node, "refused_in_a_row");

    if (n > 0)
        put(page, "left where Slurm put them: %.0f steps%s%s%.200s", n,
            in_a_row > 0 ? ", and none was placed since" : "",
            ctl_text(node, "refused_why")[0] ? "; the last one: " : "",
            ctl_text(node, "refused_why"));
}

static void put_node(struct page *page, struct json_object *node)
{
    char up[CTL_TIME_MAX];
    const char *pool = ctl_text(node, "pool");
    const char *idle = json_text(json_object_object_get(node, "idle"));
    bool has_idle = idle && idle[0];

    ctl_time(ctl_number(node, "uptime_s"), up);
    put(page,
        "node %s: %.0f steps; CPUs of the pool: %s%s%s; %.0f cores, %.0f caches, %.0f packages",
        ctl_text(node, "name"), ctl_number(node, "steps"), pool[0] ? pool : "none",
        has_idle ? ", idle by size: " : "", has_idle ? idle : "", ctl_number(node, "cores"),
        ctl_number(node, "llcs"), ctl_number(node, "packages"));
    put(page, "berth %s up %s: %s by %s; %.0f registrations, %.0f moves, %.0f failures",
        ctl_text(node, "berth"), up, ctl_text(node, "policy"), ctl_text(node, "enforcement"),
        ctl_number(node, "registrations"), ctl_number(node, "moves"), ctl_number(node, "failures"));
    put_refused(page, node);
    put_strangers(page, ctl_object(node, "strangers"));
    put_rungs(page, ctl_object(node, "rungs"));
    put_energy(page, ctl_object(node, "energy"));
}

static bool on_cache(struct json_object *step, size_t cache)
{
    struct json_object *caches = ctl_object(step, "llc");

    for (size_t i = 0; i < ctl_length(caches); i++)
        if (json_object_get_uint64(json_object_array_get_idx(caches, i)) == cache)
            return true;
    return false;
}

/* Puts "LLC 0    4711.0 devil 0-1 | 4712.0 turtle 2" for each cache on which a step stands. */
static void put_caches(struct page *page, struct json_object *node, struct json_object *steps)
{
    double caches = ctl_number(node, "llcs");

    put(page, "%s", "");
    for (size_t cache = 0; cache < caches && !page_full(page, 0); cache++) {
        char line[4096];
        size_t used = (size_t)snprintf(line, sizeof(line), "LLC %-4zu", cache), standing = 0;

        for (size_t i = 0; i < ctl_length(steps) && used < sizeof(line) - 256; i++) {
            struct json_object *step = json_object_array_get_idx(steps, i);

            if (on_cache(step, cache))
                used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%.32s %.16s %.64s",
                                         standing++ ? " | " : " ", ctl_text(step, "id"),
                                         ctl_text(step, "class"), ctl_text(step, "cpus"));
        }
        if (standing)
            put(page, "%s", line);
    }
}

static void user_name(struct json_object *step, char *text, size_t size)
{
    double uid = ctl_number(step, "uid");
    const struct passwd *user = isnan(uid) ? NULL : getpwuid((uid_t)uid);

    if (user)
        snprintf(text, size, "%s", user->pw_name);
    else
        snprintf(text, size, "%.0f", uid);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void put_step(struct page *page, struct json_object *step)
{
    char user[64], elapsed[CTL_TIME_MAX], cpu[CTL_TIME_MAX], miss[32], share[32], joules[32];

    user_name(step, user, sizeof(user));
    ctl_time(ctl_number(step, "elapsed_s"), elapsed);
    ctl_time(ctl_number(step, "user_s") + ctl_number(step, "system_s"), cpu);
    put(page, "%-12s %-8s %-10s %5.0f %-10s %8s %-9s %-9s %10s %9s %9s %6s %s",
        ctl_text(step, "id"), ctl_text(step, "state"), user, ctl_number(step, "tasks"),
        ctl_text(step, "class"), ctl_measure(ctl_number(step, "miss_pmi"), 0, miss),
        ctl_text(step, "home"), ctl_text(step, "cpus"), elapsed, cpu,
        energy(ctl_number(step, "energy_j"), joules),
        ctl_measure(ctl_number(step, "cpu_pct"), 1, share), base_name(ctl_text(step, "command")));
}

static void put_steps(struct page *page, struct json_object *steps)
{
    size_t n = ctl_length(steps);

    put(page, "%s", "");
    put(page, "%-12s %-8s %-10s %5s %-10s %8s %-9s %-9s %10s %9s %9s %6s %s", "STEP", "STATE",
        "USER", "TASKS", "CLASS", "MISS/MI", "HOME", "CPUS", "ELAPSED", "CPU TIME", "ENERGY",
        "CPU%", "COMMAND");
    for (size_t i = 0; i < n; i++) {
        if (page_full(page, 1) && i + 1 < n) {
            put(page, "... and %zu more", n - i);
            return;
        }
        put_step(page, json_object_array_get_idx(steps, i));
    }
    if (n == 0)
        put(page, "%s", "no step is registered here");
}

void ctl_put_status(FILE *out, struct json_object *answer, size_t columns, size_t rows)
{
    struct page page = {.out = out, .columns = columns, .rows = rows};
    struct json_object *node = ctl_object(answer, "node"), *steps = ctl_object(answer, "steps");

    put_node(&page, node);
    if (ctl_length(steps) > 0)
        put_caches(&page, node, steps);
    put_steps(&page, steps);
}

int ctl_status(int argc, char **argv)
{
    struct wire_request request = {.op = WIRE_OP_STATUS};
    struct ctl_query query = {0};
    struct json_object *answer;
    struct berth_error err;
    int status = ctl_options_read(&options, argc, argv, &query);

    if (status >= 0)
        return status;
    answer = ctl_ask(query.socket, &request, &err);
    if (!answer)
        return ctl_fail("berthd", "%s", err.text);
    if (query.json)
        return ctl_print_json(answer);
    ctl_put_status(stdout, answer, ctl_columns(), 0);
    json_object_put(answer);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status - `berthctl status`: the node on one page, with a drawing of the machine. berthctl top
 * draws the same page again and again. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/cpus.h"
#include "packer/base/json.h"
#include "packer/base/text.h"
#include "packer/cli/node/cluster.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/drawing.h"
#include "packer/cli/options/options.h"
#include "packer/cli/find/find.h"
#include "packer/cli/node/outage.h"
#include "packer/cli/node/silence.h"
#include "packer/cli/node/steps_table.h"
#include "packer/cli/common/verbs.h"
#include "packer/cli/node/status.h"
#include "packer/cli/node/verdict.h"
#include "enum_table.h"

#define INDENT 2 /* of what is continued on another line */

struct status {
    struct find find;
    bool json, benefit, cluster;
    const char *ledger; /* with `cluster`; NULL: that of berth.conf */
    const char *node;   /* NULL: this one */
    const char *svg;    /* where the picture goes; NULL: a page is printed */
};

static const struct ctl_option option_rows[] = {
    {"json", 0, NULL, "{\"node\":{...},\"steps\":[...]}", CTL_FLAG(struct status, json)},
    {"nodelist", 'w', "NODE", "another node, where a job of yours runs",
     CTL_TEXT(struct status, node)},
    {"cluster", 0, NULL, "all nodes, a row each; first those on which berth does nothing",
     CTL_FLAG(struct status, cluster)},
    {"ledger", 0, "URL", "with --cluster: the ledger that the nodes share (that of berth.conf)",
     CTL_TEXT(struct status, ledger)},
    {"svg", 0, "FILE", "a picture of the machine and who is in it, for a browser (-: stdout)",
     CTL_TEXT(struct status, svg)},
    {"benefit", 0, NULL, "does it help here? by the last 30 days, before all else",
     CTL_FLAG(struct status, benefit)},
    FIND_OPTIONS(struct status),
};
static const struct ctl_options options = {
    .verb = "status",
    .synopsis = "[--json | --svg FILE] [--benefit] [-w NODE | --cluster [--ledger URL]] "
                "[--config FILE] [--here] [--wait S] "
                "[--socket PATH]",
    .about = "The node, who stands on which last-level cache, and a line for each step.\n"
             "Exit status 1: no berthd answers, or it places no new step, which is said first.",
    .more = "A slowdown with a ~ is predicted, one without it measured. NO_COLOR=1: no colour.",
    CTL_OPTIONS(option_rows),
};

/* Returns "1.2 kJ (34 %)" of so many joules. */
static void put_part(char *text, size_t size, const char *what, double part, double of)
{
    char joules[32], percent[32];
    size_t used = strlen(text);

    snprintf(text + used, size - used, "%s %s", what, ctl_joules(part, joules));
    used = strlen(text);
    if (of > 0)
        snprintf(text + used, size - used, " (%s)", screen_percent(part / of, percent));
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

/* Appends who is billed idle energy: all zones say the same, an older berthd's none. */
static void name_rule(char *line, size_t size, struct json_object *zones)
{
    const char *rule = ctl_text(json_object_array_get_idx(zones, 0), "idle_energy");
    size_t used = strlen(line);

    if (strcmp(rule, "-") != 0)
        snprintf(line + used, size - used, "; idle_energy=%.16s", rule);
}

static void put_still(struct screen *screen, struct json_object *zones)
{
    char source[64] = "", line[256];
    size_t n = 0;

    for (size_t i = 0; i < ctl_length(zones); i++) {
        struct json_object *zone = json_object_array_get_idx(zones, i);

        if (zone_counts(zone))
            continue;
        n++;
        list_once(source, sizeof(source), ctl_text(zone, "source"));
    }
    if (n == 0)
        return;
    snprintf(line, sizeof(line),
             "energy: %zu meter%s of %s not counted: %s still or cannot be read", n,
             n > 1 ? "s" : "", source, n > 1 ? "they stand" : "it stands");
    screen_wrap(screen, SCREEN_WARN, INDENT, line);
}

/* Puts the energy of the packages and their memory, or of the node where they have no meters. */
static void put_energy(struct screen *screen, struct json_object *zones)
{
    static const char *const what[] = {": steps", ", idle", ", outside steps"};
    char line[512], joules[32], source[64] = "";
    double sum[4] = {0};

    if (sum_zones(zones, false, sum, source) || sum_zones(zones, true, sum, source)) {
        snprintf(line, sizeof(line), "energy %s by %s", ctl_joules(sum[0], joules), source);
        for (size_t k = 1; k < 4; k++)
            put_part(line, sizeof(line), what[k - 1], sum[k], sum[0]);
        name_rule(line, sizeof(line), zones);
        screen_wrap(screen, SCREEN_PLAIN, INDENT, line);
    }
    put_still(screen, zones);
}

/* Puts what is known of the steps: "stack distances of 2, nothing of 1". */
static void put_rungs(struct screen *screen, struct json_object *rungs)
{
    char line[256] = "what is known of the steps:";
    size_t begun = strlen(line), used = begun;

    if (!rungs) /* of an older berthd */
        return;
    json_object_object_foreach(rungs, name, count)
    {
        if (json_object_get_uint64(count) == 0 || used > sizeof(line) - 64)
            continue;
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %.32s of %" PRIu64,
                                 used > begun ? "," : "", name, json_object_get_uint64(count));
    }
    if (used > begun)
        screen_wrap(screen, SCREEN_PLAIN, INDENT, line);
}

/* Puts the devices, and where they are: "devices: gpu0 (PCI 0000:3b:00.0, node 0, CPUs 0-15)". */
static void put_devices(struct screen *screen, struct json_object *devices)
{
    char line[2048] = "devices:";
    size_t used = strlen(line), n = ctl_length(devices), i = 0;

    for (; i < n && used < sizeof(line) - 256; i++) {
        struct json_object *device = json_object_array_get_idx(devices, i);
        const char *cpus = ctl_text(device, "cpus"), *name = ctl_text(device, "name");
        const char *pci = ctl_text(device, "pci");
        double node = ctl_number(device, "node");

        used +=
            (size_t)snprintf(line + used, sizeof(line) - used, "%s %.32s (", i ? "," : "", name);
        if (strcmp(name, pci) != 0)
            used += (size_t)snprintf(line + used, sizeof(line) - used, "PCI %.16s, ", pci);
        used +=
            (size_t)(isnan(node) ? snprintf(line + used, sizeof(line) - used, "node not known")
                                 : snprintf(line + used, sizeof(line) - used, "node %.0f", node));
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%.64s)",
                                 cpus[0] ? ", CPUs " : "", cpus);
    }
    if (i < n)
        snprintf(line + used, sizeof(line) - used, ", and %zu more", n - i);
    if (n)
        screen_wrap(screen, SCREEN_PLAIN, INDENT, line);
}

/* Puts what the memory gives, and how that is known. An older berthd does not say it. */
static void put_bandwidth(struct screen *screen, struct json_object *bandwidth)
{
    bool measured = strcmp(ctl_text(bandwidth, "source"), "calibrated") == 0;
    char line[256];

    if (!bandwidth)
        return;
    snprintf(line, sizeof(line), "memory %.200s", ctl_text(bandwidth, "text"));
    screen_wrap(screen, measured ? SCREEN_PLAIN : SCREEN_WARN, INDENT, line);
}

/* Puts who runs on the pool's cores and is not in berth's care: "step 12.3 on 1". */
static void put_strangers(struct screen *screen, struct json_object *strangers)
{
    char line[1024] = "not in berth's care:";
    size_t begun = strlen(line), used = begun;

    for (size_t i = 0; i < ctl_length(strangers) && used < sizeof(line) - 128; i++) {
        struct json_object *stranger = json_object_array_get_idx(strangers, i);
        const char *id = ctl_text(stranger, "id");

        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s%.32s on %.64s",
                                 used > begun ? "," : "",
                                 !id[0]            ? "another user's"
                                 : strchr(id, '.') ? "step "
                                                   : "job ",
                                 id, ctl_text(stranger, "cpus"));
    }
    if (used > begun)
        screen_wrap(screen, SCREEN_WARN, INDENT, line);
}

/* Puts how many steps berth could not place, and why the last one. */
static void put_refused(struct screen *screen, struct json_object *node)
{
    double n = ctl_number(node, "refused"), in_a_row = ctl_number(node, "refused_in_a_row");
    char line[512];

    if (!(n > 0))
        return;
    snprintf(line, sizeof(line), "left where Slurm put them: %.0f steps%s%s%.200s", n,
             in_a_row > 0 ? ", and none was placed since" : "",
             ctl_text(node, "refused_why")[0] ? "; the last one: " : "",
             ctl_text(node, "refused_why"));
    screen_wrap(screen, SCREEN_WARN, INDENT, line);
}

/* Puts how many launches went on without berth. */
static void put_missed(struct screen *screen, struct json_object *node)
{
    char line[256];

    if (outage_missed(node, line, sizeof(line)))
        screen_wrap(screen, SCREEN_WARN, INDENT, line);
}

/* Puts that the node places no new step, and what to do. */
static void put_outage(struct screen *screen, struct json_object *node)
{
    char why[256], line[512];

    if (!outage_say(node, why, sizeof(why)))
        return;
    snprintf(line, sizeof(line), "NOT PLACING: %s", why);
    screen_wrap(screen, SCREEN_BAD, INDENT, line);
}

/* Puts what berthd does by itself. */
static void put_silence(struct screen *screen, struct json_object *node)
{
    char line[320] = "berthd by itself: ";
    size_t used = strlen(line);
    double longer = silence_say(node, line + used, sizeof(line) - used);

    if (line[used])
        screen_wrap(screen, longer > SILENCE_MOST ? SCREEN_WARN : SCREEN_PLAIN, INDENT, line);
}

static const char *plural(double n)
{
    return n == 1 ? "" : "s";
}

/* Sums up a number that each cache has; NAN where one does not have it. */
static double sum_caches(struct json_object *caches, const char *key)
{
    double sum = ctl_length(caches) ? 0 : NAN;

    for (size_t i = 0; i < ctl_length(caches); i++)
        sum += ctl_number(json_object_array_get_idx(caches, i), key);
    return sum;
}

/* What steps exchange on the node; an older berthd knows cores only. */
static const char *places_of(struct json_object *node)
{
    const char *places = json_text(json_object_object_get(node, "places"));

    return places && strcmp(places, "threads") == 0 ? "hardware thread" : "core";
}

/* Puts how many of the cores the pool has, and how many of them are in use. */
static void put_cores(struct screen *screen, struct json_object *node)
{
    struct json_object *caches = ctl_object(node, "caches");
    double cores = ctl_number(node, "cores"), pool = sum_caches(caches, "pool");
    double used = sum_caches(caches, "used");
    const char *idle = json_text(json_object_object_get(node, "idle"));
    const char *cpus = ctl_text(node, "pool");
    char line[CPUS_TEXT_MAX + 256], part[2][32];

    if (isnan(pool) || isnan(used))
        return;
    snprintf(line, sizeof(line),
             "%ss: %.0f of %.0f in the pool (%s), %.0f in use (%s); CPUs of the pool: %s%s%s",
             places_of(node), pool, cores, screen_percent(pool / cores, part[0]), used,
             screen_percent(used / cores, part[1]), cpus[0] ? cpus : "none",
             idle && idle[0] ? ", idle by size: " : "", idle ? idle : "");
    screen_wrap(screen, SCREEN_PLAIN, INDENT, line);
}

static void put_node(struct screen *screen, struct json_object *node)
{
    double steps = ctl_number(node, "steps"), cores = ctl_number(node, "cores");
    double caches = ctl_number(node, "llcs"), packages = ctl_number(node, "packages");
    double registered = ctl_number(node, "registrations"), moves = ctl_number(node, "moves");
    double failures = ctl_number(node, "failures");
    char up[CTL_TIME_MAX], line[512] = "";

    ctl_time(ctl_number(node, "uptime_s"), up);
    screen_put(screen, SCREEN_STRONG, "node %s:", ctl_text(node, "name"));
    if (!isnan(steps))
        snprintf(line, sizeof(line), "%.0f step%s;", steps, plural(steps));
    snprintf(line + strlen(line), sizeof(line) - strlen(line),
             " %.0f %s%s, %.0f cache%s, %.0f package%s", cores, places_of(node), plural(cores),
             caches, plural(caches), packages, plural(packages));
    screen_wrap(screen, SCREEN_PLAIN, INDENT, line);
    put_cores(screen, node);
    snprintf(line, sizeof(line),
             "berth %.64s up %s: %.32s by %.32s; %.0f registration%s, %.0f move%s, %.0f failure%s",
             ctl_text(node, "berth"), up, ctl_text(node, "policy"), ctl_text(node, "enforcement"),
             registered, plural(registered), moves, plural(moves), failures, plural(failures));
    screen_wrap(screen, SCREEN_PLAIN, INDENT, line);
    put_silence(screen, node);
    put_refused(screen, node);
    put_missed(screen, node);
    put_strangers(screen, ctl_object(node, "strangers"));
    put_rungs(screen, ctl_object(node, "rungs"));
    put_devices(screen, ctl_object(node, "devices"));
    put_bandwidth(screen, ctl_object(node, "bandwidth"));
    put_energy(screen, ctl_object(node, "energy"));
}

/* ---- the machine ---- */

/* Says whether the step is a batch script or a shell that only waits for other steps of its job. */
static bool only_waits(struct json_object *steps, struct json_object *step)
{
    const char *id = ctl_text(step, "id"), *name = strchr(id, '.');

    if (!name || (strcmp(name, ".batch") != 0 && strcmp(name, ".interactive") != 0))
        return false;
    for (size_t i = 0; i < ctl_length(steps); i++) {
        struct json_object *other = json_object_array_get_idx(steps, i);
        const char *digits = strchr(ctl_text(other, "id"), '.');

        if (ctl_number(other, "job") == ctl_number(step, "job") && digits && digits[1] >= '0' &&
            digits[1] <= '9' && strcmp(ctl_text(other, "state"), "ended") != 0)
            return true;
    }
    return false;
}

/* Adds a step to the caches on which it stands. Returns 0, or -1 with ENOMEM. */
static int draw_step(struct drawing *drawing, struct json_object *caches, struct json_object *step)
{
    struct drawing_who who = {.style = steps_style(step)};
    const char *command = ctl_text(step, "command");
    struct cpus cpus, cache;
    bool measured;
    int rc = 0;

    snprintf(who.name, sizeof(who.name), "%.24s %.*s", ctl_text(step, "id"),
             (int)text_fit(command, 32), command);
    who.slowdown = steps_slowdown(step, &measured);
    who.predicted = !measured;
    if (cpus_parse(&cpus, ctl_text(step, "cpus")) < 0)
        return 0;
    for (size_t i = 0; rc == 0 && i < drawing->n; i++)
        if (cpus_parse(&cache, ctl_text(json_object_array_get_idx(caches, i), "cpus")) == 0)
            rc = drawing_add(&drawing->cache[i], &cache, &cpus, &who);
    return rc;
}

/* Fills in what a cache is; `used` by those who are shown where berthd does not tell. */
static void draw_cache(struct drawing_cache *cache, struct json_object *object, size_t number)
{
    double size = ctl_number(object, "size_bytes"), pool = ctl_number(object, "pool");
    double used = ctl_number(object, "used");

    cache->number = number;
    cache->package = (size_t)fmax(0, ctl_number(object, "package"));
    cache->cores = (size_t)fmax(0, ctl_number(object, "cores"));
    cache->size_bytes = size > 0 ? (size_t)size : 0;
    cache->known = used >= 0 && pool >= 0 && pool <= (double)cache->cores;
    if (cache->known) {
        cache->used = (size_t)fmin(used, pool);
        cache->others = cache->cores - (size_t)pool;
    }
}

/* Makes the drawing of an answer. Returns 0, or -1 with ENOMEM; an answer of an older berthd has no
 * caches to draw. */
static int draw(struct drawing *drawing, struct json_object *answer)
{
    struct json_object *steps = ctl_object(answer, "steps");
    struct json_object *caches = ctl_object(ctl_object(answer, "node"), "caches");
    int rc = drawing_new(drawing, ctl_length(caches));

    for (size_t i = 0; i < drawing->n; i++)
        draw_cache(&drawing->cache[i], json_object_array_get_idx(caches, i), i);
    for (size_t i = 0; rc == 0 && i < ctl_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);

        if (!only_waits(steps, step))
            rc = draw_step(drawing, caches, step);
    }
    for (size_t i = 0; i < drawing->n; i++)
        for (size_t j = 0; !drawing->cache[i].known && j < drawing->cache[i].n; j++)
            drawing->cache[i].used += drawing->cache[i].who[j].cores;
    return rc;
}

static void put_machine(struct screen *screen, struct json_object *answer)
{
    struct drawing drawing = {0};

    if (draw(&drawing, answer) == 0)
        drawing_put(&drawing, screen);
    drawing_free(&drawing);
}

static int write_svg(struct json_object *answer, const char *path)
{
    struct json_object *node = ctl_object(answer, "node");
    struct drawing drawing = {0};
    struct berth_error err;
    char title[256];
    int rc = draw(&drawing, answer);

    snprintf(title, sizeof(title), "node %.64s: %.0f steps, by %.32s", ctl_text(node, "name"),
             ctl_number(node, "steps"), ctl_text(node, "policy"));
    drawing.title = title;
    if (rc < 0)
        ctl_fail("status", "%m");
    else if ((rc = drawing_write_svg(&drawing, path, &err)) < 0)
        ctl_fail(path, "%s", err.text);
    drawing_free(&drawing);
    return rc < 0 ? 1 : 0;
}

/* ---- the page ---- */

void ctl_put_status(struct screen *screen, struct json_object *answer, bool top, bool machine)
{
    put_outage(screen, ctl_object(answer, "node"));
    put_node(screen, ctl_object(answer, "node"));
    screen_line(screen, SCREEN_PLAIN, "%s", "");
    if (machine) {
        put_machine(screen, answer);
        screen_line(screen, SCREEN_PLAIN, "%s", "");
    }
    steps_put(screen, ctl_object(answer, "steps"), top);
}

/* Puts whether berth helps on the node, before all else: into the answer, or as a line. */
static void tell_benefit(const struct status *status, struct json_object *answer,
                         struct screen *screen)
{
    static const enum screen_style TABLE(style, BENEFIT_WORDS) = {
        ROW(BENEFIT_HELPS) = SCREEN_GOOD,
        ROW(BENEFIT_HURTS) = SCREEN_BAD,
        ROW(BENEFIT_NO_GAIN) = SCREEN_PLAIN,
        ROW(BENEFIT_UNTOLD) = SCREEN_PLAIN,
    };
    TABLE_COMPLETE(style);
    const char *node = ctl_text(ctl_object(answer, "node"), "name");
    char sentence[BENEFIT_SENTENCE_MAX + 64];
    const struct benefit_result *result;
    struct berth_error err;
    struct verdict_read read;
    struct benefit *benefit = verdict_read(status->find.config, node, &read, &err);

    if (!benefit) {
        snprintf(sentence, sizeof(sentence), "Whether berth helps cannot be told: %.400s",
                 err.text);
        if (status->json)
            json_add(answer, "benefit", NULL);
        else
            screen_wrap(screen, SCREEN_WARN, INDENT, sentence);
        return;
    }
    result = benefit_conclude(benefit);
    benefit_sentence(result, sentence);
    if (read.own)
        strcat(sentence, " (Your own steps.)");
    if (status->json)
        json_add(answer, "benefit", benefit_verdict_json(result));
    else
        screen_wrap(screen, style[result->verdict.word], INDENT, sentence);
    benefit_free(benefit);
}

/* Prints the answer in the form that was asked for. Returns 0 or 1. */
static int print(const struct status *status, struct json_object *answer)
{
    struct screen screen = screen_stdout();

    if (status->benefit && !status->svg)
        tell_benefit(status, answer, &screen);
    if (status->json)
        return find_print_json(&status->find, json_object_get(answer));
    if (status->svg)
        return write_svg(answer, status->svg);
    ctl_put_status(&screen, answer, false, true);
    return 0;
}

int ctl_status(int argc, char **argv)
{
    struct status status = {0};
    struct json_object *answer;
    struct berth_error err;
    char why[256];
    bool outage;
    int rc = ctl_options_read(&options, argc, argv, &status);

    if (rc >= 0)
        return rc;
    if (status.cluster)
        return cluster_status(status.find.config, status.ledger, status.json);
    answer = find_node(&status.find, status.node, &err);
    if (!answer)
        return ctl_fail(status.node ? status.node : "berthd", "%s", err.text);
    outage = outage_say(ctl_object(answer, "node"), why, sizeof(why));
    rc = print(&status, answer);
    json_object_put(answer);
    return rc || outage;
}

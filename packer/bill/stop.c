/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_stop - a planned restart is no gap: the last reading of a berthd that was stopped.
 *
 * It is in the state file only when berthd has ended by itself: when that was, what each meter said
 * and how long each CPU had been busy. The next berthd of the same boot reads the meters, and the
 * interval that ends with that reading began with the one before. It is divided among the steps
 * that are there still, where Slurm put them: there they were meanwhile. What a step used that has
 * ended in between is unmanaged, and its gap: nobody knows when that was. */
#include "packer/bill/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_MAX 64

/* "" where it is not known: then nothing is gone on from. */
static void boot_id(const struct packer *packer, char id[BOOT_ID_MAX])
{
    char *text = rootfs_read(&packer->world.root, BOOT_ID);

    snprintf(id, BOOT_ID_MAX, "%.*s", text ? (int)strcspn(text, "\n\"\\") : 0, text ? text : "");
    free(text);
}

/* Writes the CPUs of a zone's package. With other CPUs it is another zone. */
static void zone_cpus(const struct packer *packer, const struct energy_zone *zone,
                      char text[CPUS_TEXT_MAX])
{
    const struct topo *topo = packer->world.topo;
    struct cpus cpus = {0};

    for (size_t i = 0; i < topo->cores; i++)
        if (topo->core[i].package == zone->package || zone->domain == ENERGY_NODE)
            cpus_or(&cpus, &topo->core[i].cpus);
    cpus_format(&cpus, text, CPUS_TEXT_MAX);
}

/* ---- writing ---- */

static void put_busy(FILE *out, const struct bill *bill)
{
    const struct cpu_busy *busy = bill->busy;
    size_t n = 0;

    if (!bill->busy_known)
        return;
    cpus_foreach(cpu, &busy->known) n = cpu + 1;
    fputs(",\"busy_s\":[", out);
    for (size_t cpu = 0; cpu < n; cpu++)
        fprintf(out, "%s%.17g", cpu ? "," : "", cpus_has(&busy->known, cpu) ? busy->s[cpu] : -1.0);
    fputc(']', out);
}

static void put_zone(FILE *out, const struct packer *packer, const struct bill_zone *zone,
                     const struct energy_kept *kept)
{
    char cpus[CPUS_TEXT_MAX];

    zone_cpus(packer, &zone->zone, cpus);
    fprintf(out,
            "{\"domain\":\"%s\",\"package\":%u,\"cpus\":\"%s\",\"source\":\"%s\",\"moved\":%s,"
            "\"moved_s\":%.17g,",
            energy_domain_name[zone->zone.domain], zone->zone.package, cpus, zone->zone.source,
            kept->moved ? "true" : "false", kept->moved_s);
    fputs("\"last\":[", out);
    for (size_t i = 0; i < kept->n; i++)
        fprintf(out, "%s[%.17g,%" PRIu64 ",%.17g]", i ? "," : "", kept->last[i].at_s,
                kept->last[i].uj, kept->last[i].figure);
    fputs("]}", out);
}

/* A zone that was not known at the last reading is not in it: its claims end with this berthd. Of
 * one that has never moved there are none. */
void bill_stop_put(FILE *out, const struct packer *packer, const struct bill *bill)
{
    char id[BOOT_ID_MAX];
    const char *between = "";

    boot_id(packer, id);
    if (!id[0] || bill->at_s != bill->reading.at_s)
        return;
    fprintf(out, "\"stopped\":{\"boot_id\":\"%s\",\"at_s\":%.17g", id, bill->at_s);
    put_busy(out, bill);
    fputs(",\"zones\":[", out);
    for (size_t i = 0; i < bill->zones; i++) {
        struct energy_kept kept;

        if (!bill->zone[i].based || (bill->zone[i].seconds > 0 && bill->zone[i].known_once) ||
            !energy_keep(bill->energy, i, &kept))
            continue;
        fputs(between, out);
        put_zone(out, packer, &bill->zone[i], &kept);
        between = ",";
    }
    fputs("]},", out);
}

/* ---- reading ---- */

static void get_busy(struct bill *bill, struct json_object *list)
{
    size_t n = list ? json_object_array_length(list) : 0;

    for (size_t cpu = 0; cpu < n && cpu < CPUS_MAX; cpu++) {
        double s = json_object_get_double(json_object_array_get_idx(list, cpu));

        bill->busy->s[cpu] = s;
        if (s >= 0)
            cpus_add(&bill->busy->known, cpu);
    }
    bill->busy_known = n > 0;
}

static int get_last(struct json_object *list, struct energy_kept *kept, struct berth_error *err)
{
    kept->n = json_object_array_length(list);
    if (kept->n == 0 || kept->n > ENERGY_LASTS)
        return berth_error_set(err, "last: 1 to %d meters expected", ENERGY_LASTS);
    for (size_t i = 0; i < kept->n; i++) {
        struct json_object *one = json_object_array_get_idx(list, i);

        if (!json_object_is_type(one, json_type_array) || json_object_array_length(one) != 3)
            return berth_error_set(err, "last[%zu]: three numbers expected", i);
        kept->last[i] = (struct energy_last){
            .at_s = json_object_get_double(json_object_array_get_idx(one, 0)),
            .uj = json_object_get_uint64(json_object_array_get_idx(one, 1)),
            .figure = json_object_get_double(json_object_array_get_idx(one, 2))};
    }
    return 0;
}

/* Is it the zone that was read so? One that is now read another way is another meter's, and one of
 * other CPUs would take what these did since the boot for what they did meanwhile. */
static bool is_same(const struct packer *packer, const struct energy_zone *zone,
                    const struct energy_zone *stopped, const char *cpus)
{
    char now[CPUS_TEXT_MAX];

    if (zone->domain != stopped->domain || zone->package != stopped->package ||
        strcmp(zone->source, stopped->source) != 0)
        return false;
    zone_cpus(packer, zone, now);
    return !cpus[0] || strcmp(now, cpus) == 0; /* an older berthd has not written them */
}

static int get_zone(const struct packer *packer, struct bill *bill, struct json_object *object,
                    struct berth_error *err)
{
    struct json_object *last = NULL;
    struct energy_kept kept = {0};
    struct energy_zone stopped = {0};
    uint32_t package = 0;
    char source[32] = "", cpus[CPUS_TEXT_MAX] = "";
    int domain = 0;

    if (json_get_word(object, "domain", JSON_REQUIRED, energy_domain_name, ENERGY_DOMAINS, &domain,
                      err) < 0 ||
        json_get_u32(object, "package", JSON_REQUIRED, &package, err) < 0 ||
        json_get_text(object, "cpus", JSON_OPTIONAL, cpus, sizeof(cpus), err) < 0 ||
        json_get_text(object, "source", JSON_REQUIRED, source, sizeof(source), err) < 0 ||
        json_get_bool(object, "moved", JSON_REQUIRED, &kept.moved, err) < 0 ||
        json_get_double(object, "moved_s", JSON_REQUIRED, &kept.moved_s, err) < 0 ||
        json_get_array(object, "last", JSON_REQUIRED, &last, err) < 0 ||
        get_last(last, &kept, err) < 0)
        return -1;
    stopped = (struct energy_zone){(enum energy_domain)domain, package, source, false};
    for (size_t i = 0; i < bill->zones; i++) {
        struct bill_zone *zone = &bill->zone[i];

        if (!is_same(packer, &zone->zone, &stopped, cpus) || !energy_resume(bill->energy, i, &kept))
            continue;
        zone->resumed = zone->based = true;
        zone->known_once = kept.moved;
    }
    return 0;
}

/* Why nobody may go on from there; NULL: one may. */
static const char *refusal(const struct packer *packer, const char *boot, double away_s)
{
    char now[BOOT_ID_MAX];

    boot_id(packer, now);
    if (!now[0] || strcmp(boot, now) != 0)
        return "the node was booted since";
    if (!(away_s >= 0))
        return "its clock does not fit";
    return away_s > ENERGY_BRIDGE_S ? "that is too long ago" : NULL;
}

int bill_stop_get(const struct packer *packer, struct bill *bill, struct json_object *object,
                  double now_s, struct berth_error *err)
{
    struct json_object *stopped = NULL, *busy = NULL, *zones = NULL;
    char boot[BOOT_ID_MAX] = "";
    const char *why;
    double at_s = 0;

    if (json_get_object(object, "stopped", JSON_OPTIONAL, &stopped, err) < 0)
        return -1;
    if (!stopped) {
        log_info("bill: the berthd before was not stopped but killed: what was used since its last "
                 "second is billed to nobody, a gap");
        return 0;
    }
    if (json_get_text(stopped, "boot_id", JSON_REQUIRED, boot, sizeof(boot), err) < 0 ||
        json_get_double(stopped, "at_s", JSON_REQUIRED, &at_s, err) < 0 ||
        json_get_array(stopped, "busy_s", JSON_OPTIONAL, &busy, err) < 0 ||
        json_get_array(stopped, "zones", JSON_REQUIRED, &zones, err) < 0)
        return -1;
    why = refusal(packer, boot, now_s - at_s);
    if (why) {
        log_info("bill: the berthd before was stopped, but %s: what was used since is billed to "
                 "nobody, a gap",
                 why);
        return 0;
    }
    for (size_t i = 0; i < json_object_array_length(zones); i++)
        if (get_zone(packer, bill, json_object_array_get_idx(zones, i), err) < 0)
            return -1;
    get_busy(bill, busy);
    bill->at_s = at_s;
    bill->bridging = true;
    return 0;
}

/* ---- steps ---- */

bool bill_stop_lost(const struct bill *bill, const struct step_bill *step)
{
    if (!bill->bridging)
        return true;
    for (size_t d = 0; d < ENERGY_DOMAINS; d++) {
        size_t zones = 0, resumed = 0;

        for (size_t i = 0; i < bill->zones; i++) {
            zones += bill->zone[i].zone.domain == d;
            resumed += bill->zone[i].zone.domain == d && bill->zone[i].resumed;
        }
        if (step->known[d] && (zones == 0 || resumed < zones))
            return true;
    }
    return false;
}

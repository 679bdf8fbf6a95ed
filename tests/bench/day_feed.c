/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_feed - see day_feed.h */
#include "tests/bench/day_feed.h"

#include <errno.h>
#include <hwloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/counters/sample_line.h"
#include "packer/machine/profile.h"
#include "packer/profiles/profiles.h"
#include "tests/bench/day_clock.h"
#include "tests/bench/day_memory.h"
#include "tests/bench/known.h"
#include "tests/bench/played.h"
#include "tests/unit/common/folder.h"

#define TRIAL_KEY "trial.key"

static void path_of(const struct day_feed *feed, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", feed->folder, name);
}

/* Writes a file that nobody reads meanwhile. */
static int put(const struct day_feed *feed, const char *name, const char *text, size_t length,
               struct berth_error *err)
{
    char path[PATH_MAX];
    FILE *file;
    bool whole;

    path_of(feed, name, path);
    file = fopen(path, "we");
    whole = file && fwrite(text, 1, length, file) == length;
    if (file && fclose(file) != 0)
        whole = false;
    return whole ? 0 : berth_error_set(err, "%s: %s", path, strerror(errno));
}

/* ---- the machine ---- */

/* Gives the last-level caches the size of the truth's. */
static void set_caches(hwloc_topology_t hwloc, const struct app_machine *machine)
{
    hwloc_obj_type_t last = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_L3CACHE) > 0
                                ? HWLOC_OBJ_L3CACHE
                                : HWLOC_OBJ_L2CACHE;
    hwloc_obj_t cache = NULL;

    while ((cache = hwloc_get_next_obj_by_type(hwloc, last, cache))) {
        if (!isnan(machine->llc_bytes))
            cache->attr->cache.size = (hwloc_uint64_t)machine->llc_bytes;
        cache->attr->cache.linesize = (unsigned)machine->line_bytes;
        cache->attr->cache.associativity = (int)machine->llc_ways;
    }
}

int day_feed_machine(const char *folder, const char *topology, const struct day_truth *truth,
                     struct berth_error *err)
{
    struct day_feed feed = {.folder = folder};
    char path[PATH_MAX];
    hwloc_topology_t hwloc;
    int rc = -1;

    path_of(&feed, "machine.xml", path);
    if (hwloc_topology_init(&hwloc) < 0)
        return berth_no_memory(err);
    if (hwloc_topology_set_synthetic(hwloc, topology) < 0 || hwloc_topology_load(hwloc) < 0) {
        berth_error_set(err, "%s: no synthetic topology", topology);
    } else {
        set_caches(hwloc, &truth->apps.machine);
        rc = hwloc_topology_export_xml(hwloc, path, 0);
        if (rc < 0)
            berth_error_set(err, "%s: %s", path, strerror(errno));
    }
    hwloc_topology_destroy(hwloc);
    return rc;
}

/* What `berthctl calibrate` would measure between the nodes. */
static void set_ways(const struct topo *topo, struct machine_profile *profile)
{
    for (size_t i = 0; i < topo->nodes * topo->nodes; i++) {
        size_t from = i / topo->nodes, to = i % topo->nodes;
        double local = profile->node[from].local[profile->node[from].cores].value;

        profile->latency_ns[i].value = DAY_NEAR_NS * day_memory_ratio(topo, from, to);
        profile->latency_ns[i].spread = 0;
        if (from != to)
            profile->uni[i] = (struct machine_figure){local * DAY_LINK_PART, 0};
    }
}

/* Each cache of the truth has its bandwidth to itself: a NUMA node has that of its caches
 * together. */
static int put_bandwidth(const struct day_feed *feed, struct berth_error *err)
{
    const struct topo *topo = feed->sim->topo;
    double cache_gbps = feed->sim->truth->apps.machine.dram_gbps;
    size_t cores[MACHINE_NODES_MAX] = {0};
    struct machine_profile *profile;
    char path[PATH_MAX];
    int rc;

    if (topo->nodes == 0 || topo->nodes > MACHINE_NODES_MAX || isnan(cache_gbps))
        return 0;
    for (size_t i = 0; i < topo->nodes; i++)
        cores[i] = cpus_count(&topo->node[i].cpus);
    profile = machine_profile_new(topo->nodes, cores);
    if (!profile)
        return berth_no_memory(err);
    snprintf(profile->source, sizeof(profile->source), "measured");
    for (size_t i = 0; i < topo->nodes; i++) {
        profile->node[i].os_index = topo->node[i].os_index;
        profile->node[i].cpus = topo->node[i].cpus;
        profile->node[i].local[cores[i]] = (struct machine_figure){
            cache_gbps * (double)topo->llcs * (double)cores[i] / (double)topo->cores, 0};
    }
    if (feed->sim->memory)
        set_ways(topo, profile);
    path_of(feed, "machine.json", path);
    rc = machine_profile_write(profile, path, true, err);
    machine_profile_free(profile);
    return rc;
}

/* What the kernel says of the distances from a memory node, as topo_read_distances() reads it. */
static int put_distances(const struct day_feed *feed, size_t node, struct berth_error *err)
{
    const struct topo *topo = feed->sim->topo;
    char name[64], text[16 * CPUS_MAX];
    size_t at = 0;

    for (size_t i = 0; i < topo->nodes; i++) {
        double ratio = day_memory_ratio(topo, node, i);
        int tenths = ratio > DAY_FAR_PACKAGE ? DAY_SLIT_ELSEWHERE
                     : ratio > 1             ? DAY_SLIT_PACKAGE
                                             : 10;

        at += (size_t)snprintf(text + at, sizeof(text) - at, "%d%c", tenths,
                               i + 1 < topo->nodes ? ' ' : '\n');
    }
    snprintf(name, sizeof(name), "nodes/node%u", topo->node[node].os_index);
    folder_make(feed->folder, name);
    snprintf(name, sizeof(name), "nodes/node%u/distance", topo->node[node].os_index);
    return put(feed, name, text, at, err);
}

static int put_nodes(const struct day_feed *feed, struct berth_error *err)
{
    int rc = 0;

    folder_make(feed->folder, "nodes");
    for (size_t i = 0; rc == 0 && i < feed->sim->topo->nodes; i++)
        rc = put_distances(feed, i, err);
    return rc;
}

/* ---- what is known beforehand ---- */

void day_feed_exe(const struct day_truth *truth, size_t app, char exe[DAY_EXE_MAX], char hash[33])
{
    snprintf(exe, DAY_EXE_MAX, "/opt/day/%s", truth->apps.name[app]);
    snprintf(hash, 33, "%032zx", app + 1);
}

static void profile_of(const struct day_truth *truth, size_t app, bool timed,
                       struct profile *profile)
{
    const struct app *from = &truth->apps.app[app];
    char exe[DAY_EXE_MAX], hash[33];

    *profile = (struct profile){.llc_ways = (unsigned)from->sdp.ways,
                                .line_bytes = (unsigned)truth->line_bytes,
                                .misses = from->sdp.misses,
                                .misses_error = NAN,
                                .accesses = from->sdp.misses,
                                .accesses_error = NAN,
                                .instructions = 1000000000,
                                .references = 1000000000,
                                .runs = 1,
                                .measured_at = DAY_CLOCK_UNIX_S,
                                .source = "valgrind"};
    day_feed_exe(truth, app, exe, hash);
    profile_key_exe(profile->key, exe, hash);
    snprintf(profile->command, sizeof(profile->command), "%.200s", exe);
    snprintf(profile->shape, sizeof(profile->shape), "()");
    profile_geometry(profile->geometry, 1, (uint32_t)from->cores);
    profile->llc_bytes = (uint64_t)truth->apps.machine.llc_bytes;
    for (size_t i = 0; i < from->sdp.ways && i < PROFILE_WAYS_MAX; i++) {
        profile->hits[i] = from->sdp.hits[i];
        profile->accesses += from->sdp.hits[i];
    }
    if (timed)
        profile->instructions_per_s = from->ipc * truth->clock_ghz * 1e9;
}

static int put_profiles(const struct day_feed *feed, bool timed, struct berth_error *err)
{
    const struct day_truth *truth = feed->sim->truth;
    struct profiles *store;
    struct profile profile;
    char path[PATH_MAX];
    int rc = 0;

    path_of(feed, "profiles.db", path);
    if (profiles_open(&store, path, true, err) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < truth->apps.n; i++) {
        if (truth->apps.app[i].sdp.ways == 0)
            continue;
        profile_of(truth, i, timed, &profile);
        rc = profiles_put(store, &profile, err);
    }
    profiles_close(store);
    return rc;
}

/* Writes those of the lines of berth.conf that the berthd knows. */
static int put_known(const struct day_feed *feed, const char *build, const char *lines,
                     struct berth_error *err)
{
    char path[PATH_MAX], *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    int rc;

    if (!file)
        return berth_no_memory(err);
    played_path(build, "berthd", path, sizeof(path));
    rc = known_lines(path, lines, file);
    fclose(file);
    rc = rc < 0 ? berth_error_set(err, "%s: %s", path, strerror(errno))
                : put(feed, "berth.conf", text, length, err);
    free(text);
    return rc;
}

/* The lot's key is the seed's: a run is the same each time. */
static int put_key(const struct day_feed *feed, struct berth_error *err)
{
    unsigned long long seed = feed->sim->plan.seed;
    char text[64], path[PATH_MAX];
    int n = snprintf(text, sizeof(text), "%016llx%016llx\n", seed * 0x9e3779b97f4a7c15, seed);

    path_of(feed, TRIAL_KEY, path);
    return file_replace(path, 0600, 0, text, (size_t)n) == 0
               ? 0
               : berth_error_set(err, "%s: %s", path, strerror(errno));
}

static int put_conf(const struct day_feed *feed, const struct day_study *study,
                    struct berth_error *err)
{
    const char *folder = feed->folder;
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    int rc;

    if (!file)
        return berth_no_memory(err);
    fprintf(
        file,
        "socket = %s/berthd.sock\nstate_dir = %s\nprofile_db = %s/profiles.db\n"
        "machine_profile = %s/machine.json\ntopology = %s/machine.xml\ncontrol = %g\n"
        "counters_replay = %s/counters\nenforcement = dryrun\nsweep = 3600s\n"
        "energy =\nenergy_interval = 20s\nmemory_rate = %d\nlog_level = warn\nwindow = %.0fms\n",
        folder, folder, folder, folder, folder, study->control, folder,
        feed->sim->memory ? (int)(DAY_FOLLOW_BYTES_S / 1e6) : 0, study->window_s * 1000);
    if (study->control > 0)
        fprintf(file,
                "ledger = sqlite:%s/ledger.db\njob_program = off\n"
                "control_key = %s/" TRIAL_KEY "\n",
                folder, folder);
    else
        fprintf(file, "ledger = off\n");
    fprintf(file, "ledger_queue = %s/queue\n", folder); /* not the one of who works here */
    if (study->policy)
        fprintf(file, "policy = %s\n", study->policy);
    if (feed->sim->plan.idle)
        fprintf(file, "idle = on\n");
    if (feed->sim->plan.threads)
        fprintf(file, "places = threads\n");
    for (const char *const *line = study->conf; line && *line; line++)
        fprintf(file, "%s\n", *line);
    fclose(file);
    rc = put_known(feed, study->build, text, err);
    free(text);
    return rc;
}

int day_feed_begin(const struct day_feed *feed, const struct day_study *study,
                   struct berth_error *err)
{
    folder_make(feed->folder, "pool");
    folder_make(feed->folder, "counters");
    if ((feed->sim->memory && put_nodes(feed, err) < 0) || put_conf(feed, study, err) < 0 ||
        (study->control > 0 && put_key(feed, err) < 0) ||
        (study->calibrated && put_bandwidth(feed, err) < 0) ||
        (study->sdp && put_profiles(feed, study->timed, err) < 0))
        return -1;
    return day_feed_now(feed, err);
}

/* ---- what is counted ---- */

static void set(struct counters_sample *sample, enum counter counter, double value)
{
    if (!isnan(value))
        counters_set(sample, counter, floor(value));
}

/* Tells where a job's memory is, as memory.numa_stat of its cgroup would. */
static void set_memory(const struct day_feed *feed, const struct day_job *job,
                       struct counters_sample *sample)
{
    const double *bytes = day_memory_bytes(feed->sim, job);
    const struct topo *topo = feed->sim->topo;
    double sum = 0;

    for (size_t i = 0; bytes && i < topo->nodes; i++) {
        size_t node = topo->node[i].os_index;

        if (node >= COUNTERS_NODES_MAX)
            continue;
        if (node >= sample->nodes)
            sample->nodes = node + 1;
        sample->rss_node[node] = floor(bytes[i]);
        sum += floor(bytes[i]);
    }
    if (bytes)
        counters_set(sample, COUNTER_RSS_BYTES, sum);
}

static int put_counts(const struct day_feed *feed, const struct day_job *job,
                      struct berth_error *err)
{
    struct counters_sample sample = {.at_s = (double)(feed->sim->now - job->starts) / 1e9};
    char name[64];
    char *line;
    int rc;

    set(&sample, COUNTER_INSTRUCTIONS, job->counts.instructions);
    set(&sample, COUNTER_CYCLES, job->counts.cycles);
    set(&sample, COUNTER_LLC_ACCESSES, job->counts.accesses);
    set(&sample, COUNTER_LLC_MISSES, job->counts.misses);
    set(&sample, COUNTER_BYTES, job->counts.bytes);
    set(&sample, COUNTER_CPU_NS, job->counts.cpu_s * 1e9);
    set(&sample, COUNTER_USER_NS, job->counts.cpu_s * 1e9);
    set(&sample, COUNTER_SYSTEM_NS, 0);
    set_memory(feed, job, &sample);
    snprintf(name, sizeof(name), "%u.0", job->id);
    line = sample_line_json(name, &sample);
    if (!line)
        return berth_no_memory(err);
    snprintf(name, sizeof(name), "counters/%u.0", job->id);
    rc = put(feed, name, line, strlen(line), err);
    free(line);
    return rc;
}

/* As /proc/stat has it: all of a core's time is that of its first thread. */
static int put_busy(const struct day_feed *feed, struct berth_error *err)
{
    const struct topo *topo = feed->sim->topo;
    double ticks = (double)sysconf(_SC_CLK_TCK);
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    int rc;

    if (!file)
        return berth_no_memory(err);
    fputs("cpu  0 0 0 0 0 0 0 0 0 0\n", file);
    for (size_t c = 0; c < topo->cores; c++)
        fprintf(file, "cpu%zu %.0f 0 0 0 0 0 0 0 0 0\n", cpus_next(&topo->core[c].cpus, 0),
                feed->sim->busy_s[c] * ticks);
    fclose(file);
    rc = put(feed, "stat", text, length, err);
    free(text);
    return rc;
}

int day_feed_now(const struct day_feed *feed, struct berth_error *err)
{
    for (size_t i = 0; i < feed->sim->live; i++)
        if (put_counts(feed, feed->sim->running[i], err) < 0)
            return -1;
    return put_busy(feed, err);
}

void day_feed_end(const struct day_feed *feed, const struct day_job *job)
{
    char name[64], path[PATH_MAX];

    snprintf(name, sizeof(name), "counters/%u.0", job->id);
    path_of(feed, name, path);
    unlink(path);
}

void day_feed_folder(char folder[PATH_MAX])
{
    const char *wish = getenv("TMPDIR");

    if (!wish || !*wish)
        wish = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, PATH_MAX, "%.1000s/berth-day.XXXXXX", wish);
}

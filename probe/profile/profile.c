/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile - `berthctl profile -- COMMAND`: run a program once under valgrind, simulate what its
 * memory references ask of the last-level cache, and store the stack-distance profile under the key
 * by which berthd looks the program up at launch.
 *
 * Where the rates are taken. A program that ends by itself within the limit is counted whole, with
 * the misses of its first touches: that is all it ever does. One that is stopped at the limit would
 * go on, and its beginning would be counted at many times its weight: it starts with empty caches,
 * so everything that would later hit misses once. Of such a program the first half of what was seen
 * only warms the caches, and the rates are those of the second half: a program whose data fit has
 * then filled its lines, and one that streams misses as before.
 *
 * A program that was counted whole is then run as it is, on one CPU: its instructions and the CPU
 * time of that run give instructions per second, and with the misses what one core reads from
 * memory. More threads than one do not spoil that: what they spin is in both numbers of
 * instructions.
 *
 * The program's own streams are passed through, so the summary goes to stderr; with --json the
 * result is on stdout, and the program's standard output joins stderr. */
#include "probe/profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/program.h"
#include "packer/cli/common/store.h"
#include "packer/machine/topo.h"
#include "packer/machine/type.h"
#include "probe/profile/dram.h"
#include "probe/trace/cachesim.h"
#include "probe/trace/tracer.h"

#define SHORT_INSTRUCTIONS 10000000 /* a shorter run mostly shows how a program starts */
#define TIMED_MIN_S 0.01            /* of CPU time: in less, mostly the program's start is timed */
#define TIMED_MIN_INSTRUCTIONS 500000 /* and in fewer of these: a start alone has 200,000 */
#define TIMED_MARGIN_S 10 /* a run at full speed may take as long as the traced one, and this */
#define PROGRESS_AFTER_S 2
#define PROGRESS_TTY_S 0.5
#define PROGRESS_PLAIN_S 5

/* ---- the caches ---- */

/* This machine's caches, with --llc over them. A private cache that is not known is left out (an L1
 * of 32 KiB, 8 ways assumed): that changes which accesses reach the LLC and hit there, hardly which
 * miss. */
static int read_geometry(const struct profile_args *args, struct cachesim_geometry *geometry,
                         char machine[PROFILE_MACHINE_MAX], struct berth_error *err)
{
    const char *spec = args->topology;
    struct rootfs root;
    struct topo *topo;

    if (topo_read(&topo, spec, err) < 0)
        return -1;
    if (rootfs_open(&root, "/", NULL) == 0) {
        machine_type(topo, &root, machine, PROFILE_MACHINE_MAX);
        rootfs_close(&root);
    }
    *geometry = (struct cachesim_geometry){
        .l1 = {topo->l1_bytes, topo->l1_ways},
        .l2 = {topo->l2_bytes, topo->l2_ways},
        .llc = {topo_cache(topo)->size_bytes, topo_cache(topo)->ways},
        .line_bytes = topo_cache(topo)->line_bytes,
        .sample = (uint32_t)args->sample,
    };
    topo_free(topo);
    if (args->llc_bytes) {
        geometry->llc = (struct cachesim_cache){args->llc_bytes, args->llc_ways};
        geometry->line_bytes = args->line_bytes;
    }
    if (!geometry->llc.bytes || !geometry->llc.ways || !geometry->line_bytes)
        return berth_error_set(err,
                               "size, ways or line of the last-level cache are not known %s%.200s: "
                               "give --llc BYTES:WAYS:LINE, as `lscpu -C` has them",
                               spec && *spec ? "by topology = " : "here",
                               spec && *spec ? spec : "");
    if (!geometry->l1.bytes || !geometry->l1.ways)
        geometry->l1 = (struct cachesim_cache){32 << 10, 8};
    if (!geometry->l2.ways || geometry->l2.bytes >= geometry->llc.bytes) /* the L2 is the LLC */
        geometry->l2 = (struct cachesim_cache){0, 0};
    return cachesim_check(geometry, err);
}

/* ---- progress ---- */

struct progress {
    uint64_t limit;
    double limit_s;
    double every_s, last_s; /* every_s 0: none is shown */
    bool tty;
};

/* Returns how much of the limit that is nearer was used, 0 to 1. */
static double used_of_limit(const struct progress *progress, double references, double elapsed_s)
{
    double counted = references / (double)progress->limit;
    double timed = progress->limit_s > 0 ? elapsed_s / progress->limit_s : 0;

    return counted > timed ? counted : timed;
}

static void show_progress(const struct tracer_seen *seen, double elapsed_s, void *arg)
{
    struct progress *progress = arg;
    double references = (double)seen->counts.references;
    char line[256];

    if (progress->every_s == 0 || elapsed_s < PROGRESS_AFTER_S ||
        elapsed_s - progress->last_s < progress->every_s)
        return;
    progress->last_s = elapsed_s;
    snprintf(line, sizeof(line),
             "berthctl: profile: %.0f %% of the limit, %.1f M references, %.1f M/s, "
             "%.0f misses/Minst",
             100 * used_of_limit(progress, references, elapsed_s), references / 1e6,
             references / 1e6 / elapsed_s,
             seen->instructions
                 ? cachesim_misses(&seen->counts, 1, NULL) * 1e6 / (double)seen->instructions
                 : 0);
    if (progress->tty)
        ctl_put_progress("%s", line);
    else
        fprintf(stderr, "%s\n", line);
}

static struct progress start_progress(const struct profile_args *args)
{
    struct progress progress = {
        .limit = args->limit, .limit_s = (double)args->seconds, .tty = isatty(STDERR_FILENO)};

    if (progress.tty || args->progress)
        progress.every_s = progress.tty ? PROGRESS_TTY_S : PROGRESS_PLAIN_S;
    return progress;
}

static void end_progress(const struct progress *progress)
{
    if (progress->tty && progress->last_s > 0)
        fprintf(stderr, "\r\033[K");
}

/* ---- the run ---- */

static double per_million(double count, uint64_t instructions)
{
    return count * 1e6 / (double)instructions;
}

/* Is how many standard errors there are to each side of the 95 % confidence interval (Student's t,
 * 31 degrees of freedom: one less than CACHESIM_GROUPS). */
#define INTERVAL_95 2.04

static void fill_rates(struct profile *profile, const struct tracer_seen *counted, uint32_t sample)
{
    double scale = cachesim_scale(&counted->counts), error;

    for (unsigned i = 0; i < profile->llc_ways; i++)
        profile->hits[i] =
            per_million(scale * (double)counted->counts.hits[i], counted->instructions);
    profile->misses =
        per_million(cachesim_misses(&counted->counts, sample, &error), counted->instructions);
    profile->misses_error = INTERVAL_95 * per_million(error, counted->instructions);
    profile->accesses = per_million((double)counted->counts.accesses, counted->instructions);
    profile->accesses_error = 0;
}

/* Fills the profile. A program that was stopped would have gone on: how far its rates are off is
 * not known. */
static void fill_profile(struct profile *profile, const struct tracer_result *result,
                         const struct cachesim_geometry *geometry)
{
    profile->llc_bytes = geometry->llc.bytes;
    profile->llc_ways = geometry->llc.ways;
    profile->line_bytes = geometry->line_bytes;
    fill_rates(profile, &result->counted, geometry->sample);
    if (result->truncated)
        profile->misses_error = profile->accesses_error = NAN;
    profile->instructions = result->seen.instructions;
    profile->references = result->seen.counts.references;
    profile->truncated = result->truncated;
    profile->runs = 1;
    profile->measured_at = time(NULL);
    snprintf(profile->source, sizeof(profile->source), "valgrind");
}

/* Is the run one to store? 0, or 1 after saying why not. */
static int check_result(const struct profile_args *args, const struct tracer_result *result)
{
    const char *command = args->command[0];
    int status = result->status;

    if (result->signal)
        return ctl_fail("profile", "stopped by SIG%s: nothing stored",
                        sigabbrev_np(result->signal));
    if (result->seen.instructions == 0)
        return ctl_fail("profile", "%s: valgrind did not run it (exit status %d): nothing stored",
                        command, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    if (result->counted.instructions == 0)
        return ctl_fail("profile",
                        "%s made %" PRIu64 " references, not more than --skip: nothing "
                        "stored",
                        command, result->seen.counts.references);
    if (result->truncated || args->force || status == 0)
        return 0;
    if (WIFSIGNALED(status))
        return ctl_fail("profile", "%s was ended by SIG%s: nothing stored (--force stores)",
                        command, sigabbrev_np(WTERMSIG(status)));
    return ctl_fail("profile", "%s failed with exit status %d: nothing stored (--force stores)",
                    command, WEXITSTATUS(status));
}

/* Says what to know before the rates are believed. */
static void say_how_it_ended(const struct profile_args *args, const struct tracer_result *result)
{
    uint64_t warmup = result->seen.counts.references - result->counted.counts.references;

    if (result->truncated && result->late)
        fprintf(stderr,
                "berthctl: profile: stopped %s after %.0f seconds and %.1f million references; the "
                "first %.1f million warmed the caches\n",
                args->command[0], (double)args->seconds,
                (double)result->seen.counts.references / 1e6, (double)warmup / 1e6);
    else if (result->truncated)
        fprintf(stderr,
                "berthctl: profile: stopped %s at the limit of %" PRIu64
                " references; the first %" PRIu64 " warmed the caches\n",
                args->command[0], args->limit, warmup);
    if (result->seen.instructions < SHORT_INSTRUCTIONS)
        fprintf(stderr,
                "berthctl: profile: only %.1f million instructions: mostly the misses of a start\n",
                (double)result->seen.instructions / 1e6);
}

/* ---- how fast it is ---- */

/* Says whether standard input can be read from `offset` on once more, as a pipe cannot. */
static bool rewind_input(off_t offset)
{
    struct stat st;

    if (fstat(STDIN_FILENO, &st) < 0 || S_ISCHR(st.st_mode)) /* closed, a terminal, /dev/null */
        return true;
    return offset >= 0 && lseek(STDIN_FILENO, offset, SEEK_SET) == offset;
}

/* Returns why the timed run says nothing, or NULL. */
static const char *untimed(const struct tracer_time *time, const struct tracer_result *result)
{
    if (time->late)
        return "its second run did not end in time";
    if (time->status != result->status)
        return "its second run ended otherwise than the first";
    if (time->cpu_s < TIMED_MIN_S || result->seen.instructions < TIMED_MIN_INSTRUCTIONS)
        return "it is too short";
    return NULL;
}

/* Runs the command once more as it is. All its instructions must have been counted: else it is not
 * known what took that time. 0, or 1 after saying that it was interrupted. */
static int measure_speed(const struct profile_args *args, char *path,
                         const struct tracer_result *result, off_t input, double limit_s,
                         struct profile *profile, struct tracer_time *time)
{
    const char *why = NULL;
    char *typed = args->command[0];
    struct berth_error err;

    if (args->no_timing)
        return 0;
    if (result->truncated)
        why = "it was stopped at the limit";
    else if (!rewind_input(input))
        why = "its input cannot be read twice";
    args->command[0] = path;
    if (!why)
        why =
            tracer_time(time, args->command, limit_s, &err) < 0 ? err.text : untimed(time, result);
    args->command[0] = typed;
    if (time->signal)
        return ctl_fail("profile", "stopped by SIG%s: nothing stored", sigabbrev_np(time->signal));
    if (why)
        fprintf(stderr, "berthctl: profile: instructions per second not known: %s\n", why);
    else
        profile->instructions_per_s = (double)result->seen.instructions / time->cpu_s;
    return 0;
}

/* Runs the command in the simulated caches and fills the profile. 0, or 1 after saying why not. */
static int measure(const struct profile_args *args, char *path,
                   const struct cachesim_geometry *geometry, const struct dramsim_geometry *memory,
                   struct profile *profile, struct tracer_result *result, struct tracer_time *timed)
{
    struct progress progress = start_progress(args);
    struct tracer_want want = {.command = args->command,
                               .geometry = *geometry,
                               .dram = *memory,
                               .limit = args->limit,
                               .limit_s = (double)args->seconds,
                               .skip = args->skip,
                               .skip_always = args->skip_given,
                               .stdout_fd = args->json ? STDERR_FILENO : STDOUT_FILENO,
                               .progress = show_progress,
                               .arg = &progress};
    struct berth_error err;
    char *typed = args->command[0];
    off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
    time_t began = time(NULL);
    int rc;

    args->command[0] = path;
    rc = tracer_run(result, &want, &err);
    args->command[0] = typed;
    end_progress(&progress);
    if (rc < 0)
        return ctl_fail("profile", "%s", err.text);
    if (check_result(args, result) != 0)
        return 1;
    say_how_it_ended(args, result);
    fill_profile(profile, result, geometry);
    return measure_speed(args, path, result, input, difftime(time(NULL), began) + TIMED_MARGIN_S,
                         profile, timed);
}

/* Adds what only this run tells: how many sets were sampled, and the standard error of the miss
 * rate that comes from that, per million instructions. */
static void add_run(struct json_object *object, const struct tracer_result *result, uint32_t sample)
{
    double error;

    cachesim_misses(&result->counted.counts, sample, &error);
    json_add_u64(object, "sampling", sample);
    json_add_measure(object, "miss_pmi_error", per_million(error, result->counted.instructions));
    json_add_u64(object, "processes", result->processes);
}

/* Adds which share of the memory was on each NUMA node. */
static void add_nodes(struct json_object *object, const struct memory_nodes *memory)
{
    struct json_object *shares;
    double all = 0;

    for (size_t i = 0; i < memory->n; i++)
        all += memory->bytes[i];
    if (all <= 0)
        return;
    shares = json_object_new_array();
    for (size_t i = 0; i < memory->n; i++)
        json_append(shares, json_object_new_double(memory->bytes[i] / all));
    json_add(object, "node_share", shares);
}

/* Where the profile goes: the store, or a file of ours where we may write no store and no berthd
 * takes it for us. */
#define LEFT_IN "berth-profile.jsonl"
struct target {
    struct ctl_store store;
    FILE *file; /* NULL: the store */
};

static int open_target(struct target *target, const struct profile_args *args,
                       const struct conf *conf, struct berth_error *err)
{
    *target = (struct target){.file = NULL};
    if (ctl_store_open(&target->store, conf, args->db, args->socket, true, err) == 0)
        return 0;
    if (args->db || args->socket || geteuid() == 0)
        return -1;
    target->file = fopen(LEFT_IN, "ae");
    if (!target->file)
        return -1;
    fprintf(stderr,
            "berthctl: profile: %s: it will be in " LEFT_IN ", for 'berthctl profile import'\n",
            err->text);
    return 0;
}

static void close_target(struct target *target)
{
    ctl_store_close(&target->store);
    if (target->file)
        fclose(target->file);
}

/* Writes the profile, and what it asks of memory where that is known, as lines of an export. */
static int write_lines(const struct profile *profile, const struct profile_dram *dram, FILE *out)
{
    struct profile_demand demand = {.dram = dram ? *dram : (struct profile_dram){.hit = NAN}};
    char *line = dram ? profile_demand_line(profile->key, &demand) : NULL;
    int rc = profiles_export_profile(profile, out) < 0 || (dram && !line) ? -1 : 0;

    if (rc == 0 && line && fputs(line, out) < 0)
        rc = -1;
    free(line);
    return rc;
}

/* dram: NULL: not known. */
static int put_profile(struct target *target, const struct profile *profile,
                       const struct profile_dram *dram, struct berth_error *err)
{
    struct profiles_imported imported;
    char *line = NULL;
    size_t length;
    FILE *out;
    int rc;

    if (target->file)
        return write_lines(profile, dram, target->file) < 0 || fflush(target->file) != 0
                   ? berth_error_set(err, LEFT_IN ": %s", strerror(errno))
                   : 0;
    out = open_memstream(&line, &length);
    if (!out)
        return berth_no_memory(err);
    rc = write_lines(profile, dram, out);
    if (fclose(out) != 0 || rc < 0)
        rc = berth_no_memory(err);
    else
        rc = ctl_store_import(&target->store, line, length, true, &imported, err);
    free(line);
    return rc;
}

/* Stores the profile and shows it, also when it cannot be stored, for it took a while to measure.
 */
static int finish(const struct profile_args *args, const struct conf *conf, struct target *target,
                  const struct profile *profile, const struct dramsim_geometry *memory,
                  const struct tracer_result *result, const struct tracer_time *timed)
{
    struct json_object *object;
    struct profile_dram dram;
    struct berth_error err;
    bool asked = args->dram && profile_dram_fill(result, profile, memory, &dram);
    int stored = put_profile(target, profile, asked ? &dram : NULL, &err), rc = 0;

    if (args->json) {
        object = profile_json(profile, conf->devil_miss_pmi);
        add_run(object, result, (uint32_t)args->sample);
        add_nodes(object, &timed->memory);
        if (asked)
            json_add(object, "dram", profile_dram_json(&dram, &result->counted.dram));
        rc = ctl_print_json(object);
    } else {
        profile_print(profile, conf->devil_miss_pmi, stderr);
        if (args->sample > 1)
            fprintf(stderr, "  sampled       one of %" PRIu64 " sets of the cache\n", args->sample);
        if (asked)
            profile_dram_print(&dram, &result->counted.dram, stderr);
        if (stored == 0)
            fputs("stored: it counts from the next run of this program on\n", stderr);
    }
    return stored < 0 ? ctl_fail("profile", "%s", err.text) : rc;
}

/* Measures and stores. All that can fail is tried before the program runs: a minute is long to wait
 * for "permission denied". */
static int profile_program(const struct profile_args *args)
{
    struct profile profile = {0};
    struct tracer_result result;
    struct tracer_time timed = {0};
    struct cachesim_geometry geometry;
    struct dramsim_geometry memory;
    struct target target;
    struct berth_error err;
    struct ctl_program program;
    struct conf conf;
    char path[PATH_MAX];
    int rc = 1;

    if (ctl_conf(NULL, &conf, &err) < 0 || ctl_program_find(args->command[0], path, &err) < 0 ||
        ctl_program_identify(&program, args->tag, args->command, path, &err) < 0 ||
        read_geometry(args, &geometry, profile.machine, &err) < 0 ||
        profile_dram_memory(args, &conf, geometry.line_bytes, &memory, &err) < 0 ||
        open_target(&target, args, &conf, &err) < 0)
        return ctl_fail("profile", "%s", err.text);
    profile.uid = geteuid();
    snprintf(profile.key, sizeof(profile.key), "%s", program.key);
    snprintf(profile.command, sizeof(profile.command), "%.*s", PROFILE_COMMAND_MAX - 1,
             program.exe);
    snprintf(profile.shape, sizeof(profile.shape), "%s", program.shape);
    if (measure(args, path, &geometry, &memory, &profile, &result, &timed) == 0)
        rc = finish(args, &conf, &target, &profile, &memory, &result, &timed);
    close_target(&target);
    return rc;
}

int ctl_profile(int argc, char **argv)
{
    struct profile_args args;
    int status = argc > 1 ? profile_stored(argc - 1, argv + 1) : -1;

    if (status < 0)
        status = profile_args_parse(&args, argc, argv);
    return status < 0 ? profile_program(&args) : status;
}

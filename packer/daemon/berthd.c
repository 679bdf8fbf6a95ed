/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthd - the node daemon: init, config, listen, run, stop.
 *
 * berthd stays in the foreground, as systemd wants it. SIGTERM and SIGINT undo everything and stop,
 * SIGHUP reads berth.conf again. All happens in one event loop; threads of their own
 * (base/worker.h) do what has to wait for disks, servers and firmware. */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/nearest.h"
#include "packer/conf/admit_names.h"
#include "packer/conf/conf.h"
#include "packer/serve/client.h"
#include "packer/daemon/apart.h"
#include "packer/daemon/identify.h"
#include "packer/daemon/notify.h"
#include "packer/daemon/open.h"
#include "packer/daemon/own_cpus.h"
#include "packer/daemon/record_pages.h"
#include "packer/daemon/pipeline.h"
#include "packer/daemon/privileges.h"
#include "packer/daemon/requests.h"
#include "packer/hand/ask.h"
#include "packer/slurm/folder_watch.h"
#include "packer/slurm/job_watch.h"
#include "packer/serve/server.h"
#include "packer/system/urgency.h"
#include "packer/identity/asker.h"
#include "packer/metrics/http.h"
#include "packer/metrics/textfile.h"
#include "packer/observe/probe.h"
#include "packer/reuse/sampler.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/rest.h"
#include "packer/steps/together.h"
#include "packer/system/process_watch.h"

enum {
    ON_TERM,
    ON_INT,
    ON_HUP,
    SIGNALS,
    SWEEP = SIGNALS,
    OBSERVE,
    BURST,
    PROBE,
    REUSE,
    WATCH,
    FOLDERS,
    FOLDERS_LATER,
    STEPDS,
    NAMES,
    JOBS,
    PAGES,
    EVENTS
};

struct daemon {
    const char *conf_path;
    struct conf conf;
    struct packer packer;
    struct own_cpus own;
    bool rests; /* the next sweep comes when berthd has rested (steps/rest.h) */
    struct event_base *base;
    struct event *event[EVENTS];
    struct server *server;
    struct notify *notify; /* NULL: not started by systemd */
    struct metrics_http *metrics;
    struct metrics_textfile *textfile;
};

static void usage(FILE *out)
{
    fputs("usage: berthd [-c FILE] [--check | --print-config [--changed]]\n"
          "The node daemon of berth: places the job steps that asked for --contention-aware.\n"
          "  -c, --config FILE   configuration (default " CONF_DEFAULT_PATH "; may be absent)\n"
          "      --check         say what keeps berthd from starting with this configuration, and "
          "exit\n"
          "      --print-config  print every key with its value and meaning, and exit\n"
          "      --changed       with --print-config: only what is not at its default\n"
          "      --test-keys     take also the keys that are for tests\n"
          "  -h, --help          print this, and exit\n"
          "      --version       print the version, and exit\n"
          "It stays in the foreground. SIGTERM undoes everything and stops, SIGHUP reads the file "
          "again.\n",
          out);
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "berthd: %s: %s\n", what, why);
    return EXIT_FAILURE;
}

/* Reads the file, or the default one, which may be absent. */
static int read_conf(const char *path, bool for_tests, struct conf *conf, struct berth_error *err)
{
    conf_init(conf);
    conf->for_tests = for_tests;
    if (!path && access(CONF_DEFAULT_PATH, F_OK) < 0)
        return 0;
    return conf_read(conf, path ? path : CONF_DEFAULT_PATH, err);
}

static void on_stop(evutil_socket_t sig, short what, void *arg)
{
    (void)what;
    log_info("%s: stopping", strsignal((int)sig));
    event_base_loopbreak(((struct daemon *)arg)->base);
}

/* Never too short: who wakes before an instant has to wake once more. */
static struct timeval seconds(double s)
{
    double us = ceil(s * 1e6);

    return (struct timeval){.tv_sec = (time_t)(us / 1e6), .tv_usec = (suseconds_t)fmod(us, 1e6)};
}

/* Sets the time of the next sweep. */
static void sweep_later(struct daemon *daemon)
{
    const struct packer *packer = &daemon->packer;
    double every_s = (double)packer->world.conf.sweep_ms / 1000, now_s = clock_s();
    double in_s = together_next(packer, now_s, every_s) - now_s;
    struct timeval next = seconds(rest_until(packer, in_s));

    daemon->rests = rest_may(packer);
    event_add(daemon->event[SWEEP], &next);
}

/* Says which keys of berth.conf are those of older versions. */
static void tell_older(const struct conf *conf)
{
    if (conf->older[0])
        log_warn("berth.conf is of an older version: %s; berthd --print-config --changed prints it "
                 "anew",
                 conf->older);
}

static void on_reload(evutil_socket_t sig, short what, void *arg)
{
    struct daemon *daemon = arg;
    struct conf next;
    struct berth_error err;

    (void)sig, (void)what;
    if (read_conf(daemon->conf_path, daemon->conf.for_tests, &next, &err) < 0) {
        log_error("%s; the old configuration stays", err.text);
        return;
    }
    tell_older(&next);
    pipeline_reload(&daemon->packer, &next);
    sweep_later(daemon);
}

/* Has pipeline_observe() called in so many seconds, if not sooner: a window of a step ends then. */
static void wake(void *arg, double in_s)
{
    struct daemon *daemon = arg;
    struct timeval now, pending, next = seconds(in_s);

    event_base_gettimeofday_cached(daemon->base, &now);
    evutil_timeradd(&now, &next, &now);
    if (!event_pending(daemon->event[OBSERVE], EV_TIMEOUT, &pending) ||
        evutil_timercmp(&now, &pending, <))
        event_add(daemon->event[OBSERVE], &next);
}

static void on_burst(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *daemon = arg;
    double in_s = pipeline_bursts(&daemon->packer);
    struct timeval next = seconds(fmax(in_s, 0));

    (void)fd, (void)what;
    if (in_s >= 0)
        event_add(daemon->event[BURST], &next);
}

/* What berthd does by itself ends now, and began when this thread had so much CPU time. */
static void note_burst(struct daemon *daemon, uint64_t began_ns)
{
    double run_s = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / 1e9;

    os_noise_add(&daemon->packer.state->tally->noise, clock_s(), run_s);
}

/* A window may have shown that a step needs a burst. */
static void on_observe(evutil_socket_t fd, short what, void *arg)
{
    uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct daemon *daemon = arg;
    double in_s = pipeline_observe(&daemon->packer);

    if (in_s >= 0)
        wake(daemon, in_s);
    if (daemon->rests != rest_may(&daemon->packer))
        sweep_later(daemon);
    own_cpus_follow(&daemon->own, &daemon->packer);
    on_burst(fd, what, arg);
    note_burst(daemon, began_ns);
}

static void on_reuse(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    pipeline_reuse(&((struct daemon *)arg)->packer);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    pipeline_rewritten(&((struct daemon *)arg)->packer);
}

/* Hears of new folders of Slurm's, and looks again at those that it cannot tell yet. */
static void on_folders(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *daemon = arg;
    double in_s = pipeline_folders(&daemon->packer);
    struct timeval next = seconds(fmax(in_s, 0));

    (void)fd, (void)what;
    if (in_s >= 0)
        event_add(daemon->event[FOLDERS_LATER], &next);
}

static void on_stepds(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    pipeline_stepds(&((struct daemon *)arg)->packer);
}

static void on_names(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    pipeline_named(&((struct daemon *)arg)->packer);
}

static void on_jobs(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    pipeline_identified(&((struct daemon *)arg)->packer);
}

static void on_pages(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    record_pages_tell(((struct daemon *)arg)->packer.state->record_pages);
}

/* Lets the interference probe take its turn, and waits for the next one: for its descriptor or for
 * the time. */
static void on_probe(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *daemon = arg;
    struct probing_wait wait = pipeline_probe(&daemon->packer);
    struct timeval in = seconds(fmax(wait.in_s, 0));

    (void)fd, (void)what;
    event_del(daemon->event[PROBE]);
    event_assign(daemon->event[PROBE], daemon->base, wait.fd, wait.fd < 0 ? 0 : EV_READ, on_probe,
                 daemon);
    if (wait.in_s >= 0)
        event_add(daemon->event[PROBE], &in);
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
    uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct daemon *daemon = arg;

    (void)fd, (void)what;
    if (server_check(daemon->server))
        pool_marker_update_all(&daemon->packer); /* its folder may have gone with it */
    pipeline_cpus(&daemon->packer);
    pipeline_sweep(&daemon->packer);
    sweep_later(daemon);
    note_burst(daemon, began_ns);
}

/* Keeps what stops berthd, or has it read its file, until there is somebody to hear it: a signal
 * that comes while it starts ends nothing halfway. how: SIG_BLOCK or SIG_UNBLOCK. */
static void keep_signals(int how)
{
    sigset_t kept;

    sigemptyset(&kept);
    sigaddset(&kept, SIGTERM);
    sigaddset(&kept, SIGINT);
    sigaddset(&kept, SIGHUP);
    sigprocmask(how, &kept, NULL);
}

static int init(struct daemon *daemon, struct berth_error *err)
{
    keep_signals(SIG_BLOCK);
    signal(SIGPIPE, SIG_IGN);
    mallopt(M_ARENA_MAX, 1); /* threads that wait for a disk need no memory pools of their own */
    umask(077);              /* what others may read says so itself */
    log_open(daemon->conf.log, daemon->conf.log_level);
    tell_older(&daemon->conf);
    privileges_drop(&daemon->conf);
    admit_prepare(&daemon->conf);
    if (packer_open(&daemon->packer, &daemon->conf, err) < 0)
        return -1;
    daemon->base = server_loop();
    return daemon->base ? 0 : berth_error_set(err, "no event loop");
}

/* Serves metrics where berth.conf says so; a failure is logged, and berthd goes on without. */
static void show_metrics(struct daemon *daemon)
{
    struct berth_error err;

    if (metrics_http_open(&daemon->metrics, daemon->base, &daemon->packer, &err) < 0) {
        log_error("metrics: %s; going on without", err.text);
        lacks_note(&daemon->packer, LACK_METRICS, err.text);
    }
    if (metrics_textfile_open(&daemon->textfile, daemon->base, &daemon->packer, &err) < 0) {
        log_error("%s; going on without the text file", err.text);
        lacks_note(&daemon->packer, LACK_TEXTFILE, err.text);
    }
}

/* Has `on` called whenever the descriptor can be read. What Slurm gives away (WATCH) cannot wait.
 */
static int read_by(struct daemon *daemon, size_t event, int fd, event_callback_fn on,
                   struct berth_error *err)
{
    daemon->event[event] = event_new(daemon->base, fd, EV_READ | EV_PERSIST, on, daemon);
    if (daemon->event[event])
        event_priority_set(daemon->event[event], event == WATCH ? PRIORITY_ROOT : PRIORITY_SELF);
    if (!daemon->event[event] || event_add(daemon->event[event], NULL) < 0)
        return berth_error_set(err, "a descriptor cannot be waited for");
    return 0;
}

static int listen_on(struct daemon *daemon, struct berth_error *err)
{
    struct event_base *base = daemon->base;
    struct packer *packer = &daemon->packer;

    if (server_open(&daemon->server, base, packer, request_ops, err) < 0)
        return -1;
    daemon->event[ON_TERM] = evsignal_new(base, SIGTERM, on_stop, daemon);
    daemon->event[ON_INT] = evsignal_new(base, SIGINT, on_stop, daemon);
    daemon->event[ON_HUP] = evsignal_new(base, SIGHUP, on_reload, daemon);
    daemon->event[SWEEP] = evtimer_new(base, on_sweep, daemon);
    daemon->event[OBSERVE] = evtimer_new(base, on_observe, daemon);
    daemon->event[BURST] = evtimer_new(base, on_burst, daemon);
    daemon->event[PROBE] = evtimer_new(base, on_probe, daemon);
    daemon->event[FOLDERS_LATER] = evtimer_new(base, on_folders, daemon);
    for (size_t i = 0; i < SIGNALS; i++)
        if (!daemon->event[i] || event_add(daemon->event[i], NULL) < 0)
            return berth_error_set(err, "no signal handlers");
    keep_signals(SIG_UNBLOCK);
    if (!daemon->event[SWEEP] || !daemon->event[OBSERVE] || !daemon->event[BURST] ||
        !daemon->event[PROBE] || !daemon->event[FOLDERS_LATER])
        return berth_error_set(err, "no timers");
    if (read_by(daemon, NAMES, admit_names_fd(packer->state->names), on_names, err) < 0 ||
        (packer->state->asker &&
         read_by(daemon, JOBS, asker_fd(packer->state->asker), on_jobs, err) < 0) ||
        (packer->state->record_pages &&
         read_by(daemon, PAGES, record_pages_fd(packer->state->record_pages), on_pages, err) < 0) ||
        (packer->state->reuse &&
         read_by(daemon, REUSE, reuse_sampler_fd(packer->state->reuse), on_reuse, err) < 0) ||
        (packer->state->stepds &&
         read_by(daemon, STEPDS, process_watch_fd(packer->state->stepds), on_stepds, err) < 0) ||
        (packer->state->watch &&
         read_by(daemon, WATCH, job_watch_fd(packer->state->watch), on_watch, err) < 0) ||
        (packer->state->folders &&
         read_by(daemon, FOLDERS, folder_watch_fd(packer->state->folders), on_folders, err) < 0))
        return -1;
    packer->wake = (struct wake){wake, daemon};
    on_sweep(-1, 0, daemon);
    on_observe(-1, 0, daemon);
    on_probe(-1, 0, daemon);
    show_metrics(daemon);
    return 0;
}

static void serve_until_told(struct daemon *daemon)
{
    struct berth_error err;

    log_info("berthd " PACKAGE_VERSION ": %zu cores, %zu last-level caches, %zu packages (%s), %s",
             daemon->packer.world.topo->cores, daemon->packer.world.topo->llcs,
             daemon->packer.world.topo->packages, daemon->packer.world.topo->name,
             daemon->packer.world.enforce->way->name);
    daemon->notify = notify_open(daemon->base, &daemon->packer);
    daemon->packer.world.watchdog_s = notify_watchdog_s(daemon->notify);
    if (!hand_is_apart() && urgency_raise(&err) < 0)
        log_warn("%s", err.text);
    event_base_dispatch(daemon->base);
    notify_close(daemon->notify);
    identify_stop(&daemon->packer);
    pipeline_undo(&daemon->packer);
}

static void stop(struct daemon *daemon)
{
    for (size_t i = 0; i < EVENTS; i++)
        if (daemon->event[i])
            event_free(daemon->event[i]);
    metrics_textfile_close(daemon->textfile);
    metrics_http_close(daemon->metrics);
    if (daemon->server)
        server_close(daemon->server);
    if (daemon->base)
        event_base_free(daemon->base);
    packer_close(&daemon->packer);
    libevent_global_shutdown();
}

/* What berthd is started for. */
enum job { JOB_SERVE, JOB_PRINT, JOB_CHECK };

struct args {
    enum job job;
    bool changed; /* print: only what is not the default */
};

static int misused(const char *what, const char *why)
{
    fprintf(stderr, "berthd: %s: %s; try 'berthd --help'\n", what, why);
    return 2;
}

/* Says what is wrong with an option that getopt_long refused. */
static int wrong_option(const struct option *options, int returned, const char *typed)
{
    char letter[] = {'-', (char)optopt, '\0'}, word[64], why[128];
    bool is_word = strncmp(typed, "--", 2) == 0;
    struct nearest nearest;

    if (returned == ':')
        return misused(typed, "a value is missing");
    if (is_word && optopt)
        return misused(typed, "takes no value");
    snprintf(word, sizeof(word), "%s", is_word ? typed + 2 : "");
    nearest = nearest_begin(word);
    for (; options->name; options++)
        nearest_try(&nearest, options->name);
    snprintf(why, sizeof(why), "no such option%s%s%s", nearest.best ? " (--" : "",
             nearest.best ? nearest.best : "", nearest.best ? "?)" : "");
    return misused(is_word ? typed : letter, why);
}

/* Returns the exit status where the options alone tell it, else -1. */
static int parse_options(int argc, char **argv, struct daemon *daemon, struct args *args)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"check", no_argument, NULL, 'k'},
        {"print-config", no_argument, NULL, 'p'}, {"changed", no_argument, NULL, 'd'},
        {"test-keys", no_argument, NULL, 't'},    {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},      {0}};
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":c:h", options, NULL)) != -1) {
        if (option == 'c')
            daemon->conf_path = optarg;
        else if (option == 'k')
            args->job = JOB_CHECK;
        else if (option == 'p')
            args->job = JOB_PRINT;
        else if (option == 'd')
            args->changed = true;
        else if (option == 't')
            daemon->conf.for_tests = true;
        else if (option == 'h')
            return usage(stdout), EXIT_SUCCESS;
        else if (option == 'v')
            return puts("berthd " PACKAGE_VERSION), EXIT_SUCCESS;
        else
            return wrong_option(options, option, argv[optind - 1]);
    }
    if (args->changed && args->job != JOB_PRINT)
        return misused("--changed", "goes with --print-config");
    return optind == argc ? -1 : misused(argv[optind], "no such argument");
}

static int print_conf(const struct conf *conf, bool changed)
{
    if (changed)
        conf_print_changed(conf, stdout);
    else
        conf_print(conf, stdout);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : fail("print-config", strerror(errno));
}

/* Says that the configuration, which was read, can be started with on this machine. Nothing is
 * opened that a running berthd has. */
static int check(const struct daemon *daemon)
{
    const char *path = daemon->conf_path ? daemon->conf_path : CONF_DEFAULT_PATH;
    struct berth_error err;

    if (apart_check(&daemon->conf, &err) < 0 || packer_check(&daemon->conf, &err) < 0)
        return fail("check", err.text);
    tell_older(&daemon->conf);
    printf("berthd: %s: %s\n", path,
           access(path, F_OK) == 0 ? "ok" : "is not there: the defaults hold");
    return EXIT_SUCCESS;
}

/* Is this the berthd of a build folder, where tests run? */
static bool is_of_build(void)
{
    static const char name[] = "/config.status";
    char path[PATH_MAX + sizeof(name)];

    if (!realpath("/proc/self/exe", path))
        return false;
    memcpy(strrchr(path, '/'), name, sizeof(name));
    return access(path, F_OK) == 0;
}

int main(int argc, char **argv)
{
    static struct daemon daemon;
    struct berth_error err;
    struct args args = {0};
    int status = parse_options(argc, argv, &daemon, &args);

    if (status >= 0)
        return status;
    daemon.conf.for_tests |= args.job != JOB_PRINT && is_of_build();
    if (read_conf(daemon.conf_path, daemon.conf.for_tests, &daemon.conf, &err) < 0)
        return fail("configuration", err.text);
    if (args.job == JOB_PRINT)
        return print_conf(&daemon.conf, args.changed);
    if (args.job == JOB_CHECK)
        return check(&daemon);
    if (apart_start(&daemon.conf, argv, &err) < 0 || init(&daemon, &err) < 0)
        return fail("start", err.text);
    pipeline_cpus(&daemon.packer);
    if (pipeline_resume(&daemon.packer, &err) < 0)
        status = fail("journal", err.text);
    else if (listen_on(&daemon, &err) < 0)
        status = fail("socket", err.text);
    else
        serve_until_told(&daemon), status = EXIT_SUCCESS;
    stop(&daemon);
    return status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf - berth.conf, the daemon's configuration.
 *
 * One table, keys.c, says everything about a key: its section, name, type, unit, default and help,
 * and when a change takes effect. The parser, `berthd --print-config`, the man page berth.conf(5)
 * and what berthd does at SIGHUP come from it. */
#ifndef BERTH_CONF_CONF_H
#define BERTH_CONF_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "packer/base/error.h"
#include "packer/base/log.h"
#include "packer/wire/wire.h"

enum conf_enforcement {
    CONF_ENFORCE_AUTO,
    CONF_ENFORCE_CGROUP1,
    CONF_ENFORCE_CGROUP2,
    CONF_ENFORCE_DRYRUN,
    CONF_ENFORCEMENTS
};

extern const char *const conf_enforcement_name[]; /* "auto", "cgroup1", .., NULL */
extern const char *const conf_idle_energy_name[]; /* "cores", .., NULL */

enum conf_switch { CONF_OFF, CONF_ON, CONF_SWITCHES };
enum conf_private { CONF_PRIVATE_SLURM, CONF_PRIVATE_ON, CONF_PRIVATE_OFF, CONF_PRIVATES };
enum conf_tranquil_rule { CONF_TRANQUIL_SIGNIFICANT, CONF_TRANQUIL_PRINTED, CONF_TRANQUIL_RULES };
enum conf_dio_power_order { CONF_BALANCED, CONF_AS_PRINTED, CONF_DIO_POWER_ORDERS };
enum conf_edp_power { CONF_EDP_TOTAL, CONF_EDP_ABOVE_IDLE, CONF_EDP_POWERS };
enum conf_share { CONF_SHARE_NEED, CONF_SHARE_ADAPT, CONF_SHARES };
/* What the pool exchanges: whole cores, hardware threads, or what Slurm gives jobs. */
enum conf_places { CONF_PLACES_AUTO, CONF_PLACES_CORES, CONF_PLACES_THREADS, CONF_PLACES };
enum conf_idle {
    CONF_IDLE_OFF,
    CONF_IDLE_NEAR,
    CONF_IDLE_ON,
    CONF_IDLE_AUTO, /* on, once those who start were seen to ask for their cores */
    CONF_IDLE_CHOICES
};
enum conf_near { CONF_NEAR_OFF, CONF_NEAR_PREFER, CONF_NEAR_MUST, CONF_NEARS };
enum conf_move { CONF_MOVE_NEVER, CONF_MOVE_KNOWN, CONF_MOVE_ALL, CONF_MOVES };
enum conf_idle_energy { CONF_IDLE_CORES, CONF_IDLE_EVENLY, CONF_IDLE_NOBODY, CONF_IDLES };
enum conf_sharing { CONF_SHARING_OFF, CONF_SHARING_MEDIAN, CONF_SHARINGS };

struct conf {
    /* Keys that are for tests are taken; set after conf_init() and before the file is read. */
    bool for_tests;
    /* Keys of older versions that its file has, and how they are written now, for one line of the
     * log: "sweep (line 2) is tune = sweep=2s"; "" none. */
    char older[512];
    char socket[108]; /* Unix socket that plugin and berthctl connect to (as long as sun_path) */
    char user[64];             /* whom berthd runs as */
    char state_dir[PATH_MAX];  /* journal and pool markers; gone after a reboot is fine, even wanted
                                */
    char profile_db[PATH_MAX]; /* profile store (SQLite) */
    char profile_group[64];    /* who may read its file, beside root; "" nobody */
    enum conf_private private_data;    /* users are told nothing of others */
    char slurm_conf[PATH_MAX];         /* "" where Slurm has it */
    enum conf_sharing profile_sharing; /* what a user's runs tell of others' */
    char machine_profile[PATH_MAX]; /* bandwidths and latencies of the node; absent: none known */
    char topology[PATH_MAX];    /* "" this machine, else an hwloc XML file or a synthetic string */
    char cgroup_name[64];       /* name of berth's own cgroup */
    char cgroup_root[PATH_MAX]; /* where cgroupfs is mounted, e.g. /sys/fs/cgroup */
    char allow[256]; /* words of --contention-aware that users may ask for, comma separated */
    char isolate_users[512], isolate_groups[512], isolate_accounts[512], isolate_qos[512];
    char throttle_users[512], prefetch_users[512]; /* who may, where `allow` has the word */
    char propose_users[512];                       /* whose programs may move others' steps */
    enum wire_policy policy;                       /* of steps that ask for none */
    enum conf_dio_power_order dio_power_order; /* who shares an open cache (struct cluster_rule) */
    enum conf_edp_power edp_power;             /* the power that the energy-delay product counts */
    enum conf_enforcement enforcement;
    enum log_target log;
    enum log_level log_level;
    double devil_miss_pmi; /* at or above: a devil (Blagodurov 2010, section 6) */
    enum conf_tranquil_rule tranquil_rule;
    double tranquil_miss_pmi; /* above: memory-intensive (Pusukuri 2012, section 3.3) */
    uint64_t tranquil_pass_ms;
    double adapt_light_mpa, adapt_light_lock; /* at most: light (Pusukuri 2012, section 6.2.1) */
    double neutral_miss_pmi; /* rank of an unprofiled program, for the order only */
    uint64_t sweep_ms;       /* how often steps that vanished without a word are looked for */
    uint64_t history;        /* ended steps remembered for explain */
    char counters[64];       /* backends that may be used, comma separated */
    char counters_replay[PATH_MAX];  /* "" or a file of samples, played instead */
    char event_table[PATH_MAX];      /* hardware events by micro-architecture */
    enum conf_switch lock_time;      /* count waiting for futexes, by eBPF */
    enum conf_switch reuse_sampling; /* stack distances by sampled addresses */
    uint64_t startup_ms, first_window_ms, window_ms;
    uint64_t rest_ms;           /* between two looks while there is nothing to decide; 0: as ever */
    enum conf_switch together;  /* what is done by time is done on multiples on the wall clock */
    double phase_change;        /* relative distance from the average that begins a new phase */
    enum conf_switch learn;     /* store what was counted */
    uint64_t profile_age_days;  /* 0: counted samples are kept for ever */
    enum conf_move move;        /* which steps are moved at all, and narrowed */
    double control;             /* percent of the jobs that are only observed (enact/trial.h) */
    char control_key[PATH_MAX]; /* "" one of this node's own */
    enum conf_near device_near; /* steps stand near their devices */
    enum conf_places places;    /* what steps exchange */
    enum conf_idle idle;        /* steps stand on cores that Slurm has given nobody */
    enum conf_switch replace;   /* move running steps */
    uint64_t replace_horizon_ms, replace_limit;
    double regret;    /* of speed, after a move */
    double sacrifice; /* beyond the slowdown at home, as a fraction */
    uint64_t regret_ms;
    uint64_t memory_rate;   /* MB/s at which memory follows; 0: it does not */
    enum conf_switch probe; /* the interference probe */
    uint64_t probe_every_ms, probe_time_ms;
    char metrics[120];               /* where they are served (conf/address.h) */
    uint64_t metrics_steps;          /* at most so many steps have series of their own */
    char metrics_group[64];          /* who may read these: "" root, "*" everybody */
    char metrics_textfile[PATH_MAX]; /* "" none */
    uint64_t metrics_interval_ms;    /* between two of them */
    char energy[64];                 /* ways to read meters that may be used, comma separated */
    uint64_t energy_interval_ms;     /* between two readings of them */
    double energy_price;             /* of a kWh; 0: not told */
    char energy_currency[16];        /* of it */
    char energy_tariff[1024];        /* the price by time (conf/tariff.h) */
    double energy_co2;               /* g a kWh; 0: not told */
    char energy_co2_tariff[1024];    /* the CO2 by time */
    char report_fields[256];         /* of berthctl report, which tables have beside their own */
    char energy_root[PATH_MAX];      /* below it are the meters' files */
    char device_root[PATH_MAX];  /* below it are processors' registers and sensors, PCI devices */
    char energy_model[96];       /* "" or what packages take: conf/watts.h */
    enum conf_switch thermal;    /* move steps from cores that are too hot */
    enum conf_switch blackboard; /* publish what is known of shared resources */
    uint64_t rcr_rate, rcr_hold; /* Hz; samples in a row that make a state */
    double rcr_saturated, rcr_idle; /* utilisations; 0: by the machine profile, by the other one */
    char ledger[PATH_MAX];          /* "off", or the URL (sql.h) of the steps' records */
    char ledger_defaults[PATH_MAX]; /* "" or a MariaDB option file with its credentials */
    char ledger_queue[PATH_MAX];    /* folder of the records that wait for it */
    char ledger_group[64];          /* "" or a group that may read a ledger in a file */
    enum conf_switch steer;         /* tell berth-steer how busy the memory is */
    enum conf_switch admin_comment; /* tell slurmdbd a job's figures */
    char comment_program[PATH_MAX]; /* "" or what to start in place of berth-comment */
    char job_program[PATH_MAX];     /* "" or what to start in place of berth-job; "off": nothing */
    /* Tell slurmdbd their energy, too, as a TRES that they had. */
    enum conf_switch tres_energy;
    enum conf_share share; /* how jobs on the same cores divide these (size/share.h) */
    /* Who is billed what a package takes when idle (bill.h), of steps that begin now. */
    enum conf_idle_energy idle_energy;
};

#define CONF_DEFAULT_PATH SYSCONFDIR "/berth/berth.conf"
#define CONF_NEUTRAL_MISS_PMI 1000 /* the default of neutral_miss_pmi */

/* Fills conf with the defaults. */
void conf_init(struct conf *conf);

/* Reads the file over what conf holds. The file must be a regular file owned by root or the caller
 * and not writable by group or others. Returns 0, or -1 and err "FILE:LINE: what is wrong, and what
 * would be right". Keys of older versions are read, and noted in conf->older. */
int conf_read(struct conf *conf, const char *path, struct berth_error *err);

/* Keys with their values, as a file has them, "log_level = debug, tune = sweep=2s"; "" none. */
struct conf_changes {
    char taken[4096];   /* those that were taken over, with the new value */
    char waiting[4096]; /* those that wait for the next start */
};

/* Takes over into `now` what `next` says of the keys that can change while berthd runs, and tells
 * which keys differed. */
void conf_reload(struct conf *now, const struct conf *next, struct conf_changes *changes);

/* Is slurmdbd told anything of jobs that have ended? */
bool conf_settles(const struct conf *conf);

/* Writes every key with its help as a comment and its present value, by sections, and of a list
 * those entries that are not at their defaults; conf_read() can read what was written over the
 * defaults. */
void conf_print(const struct conf *conf, FILE *out);

/* Writes only what is not at its default, without help: what a site has decided. */
void conf_print_changed(const struct conf *conf, FILE *out);

/* Writes the table as mdoc(7) list items, for berth.conf(5). */
void conf_print_mdoc(FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keys - everything about a key of berth.conf, in one row. */
#include <stddef.h>

#include "packer/conf/key.h"
#include "enum_table.h"

#define USERS CONF_USERS
#define GRANT CONF_GRANT
#define PLACING CONF_PLACING
#define RECORDS CONF_RECORDS
#define METRICS CONF_METRICS
#define READERS CONF_READERS
#define ENERGY CONF_ENERGY
#define LOG CONF_LOG
#define TUNE CONF_TUNE
#define TEST CONF_TEST
#define START CONF_START
#define LIVE CONF_LIVE

/* The members from type to word. */
#define PATH CONF_TYPE_PATH, "", 0, 0, NULL
#define NAME CONF_TYPE_NAME, "", 0, 0, NULL
#define TEXT CONF_TYPE_TEXT, "", 0, 0, NULL
#define ADDRESS CONF_TYPE_ADDRESS, "", 0, 0, NULL
#define WATTS CONF_TYPE_WATTS, "", 0, 0, NULL
#define TARIFF CONF_TYPE_TARIFF, "", 0, 0, NULL
#define WORDS(words) CONF_TYPE_WORDS, "", 0, 0, words
#define CHOICE(words) CONF_TYPE_CHOICE, "", 0, 0, words
#define NUMBER(unit, min, max) CONF_TYPE_NUMBER, unit, min, max, NULL
#define COUNT(unit, min, max) CONF_TYPE_COUNT, unit, min, max, NULL
#define TIME(min, max) CONF_TYPE_TIME, "ms or s", min, max, NULL
#define FIELD(name) offsetof(struct conf, name), sizeof(((struct conf *)NULL)->name)

#define TEXT_OF(number) TEXT_OF_ITS_VALUE(number)
#define TEXT_OF_ITS_VALUE(number) #number

static const char *const option_words[] = {
    "off",      "auto",   "observe", "isolate",      "edp",      "size",    "spread",
    "pack",     "policy", "cores",   "max-slowdown", "mem",      "threads", "follow",
    "throttle", "flex",   "locks",   "faithful",     "tranquil", "shuffle", "adapt",
    "prefetch", "tag",    "require", "verbose",      NULL};
const char *const TABLE(conf_enforcement_name, CONF_ENFORCEMENTS + 1) = {
    ROW(CONF_ENFORCE_AUTO) = "auto",       ROW(CONF_ENFORCE_CGROUP1) = "cgroup1",
    ROW(CONF_ENFORCE_CGROUP2) = "cgroup2", ROW(CONF_ENFORCE_DRYRUN) = "dryrun",
    ROW(CONF_ENFORCEMENTS) = NULL,
};
TABLE_COMPLETE(conf_enforcement_name);
static const char *const TABLE(policy_words, WIRE_POLICIES + 1) = {
    ROW(WIRE_POLICY_DI) = "di",           ROW(WIRE_POLICY_DIO_POWER) = "dio-power",
    ROW(WIRE_POLICY_PAIN) = "pain",       ROW(WIRE_POLICY_SDC) = "sdc",
    ROW(WIRE_POLICY_ANIMAL) = "animal",   ROW(WIRE_POLICY_MISSRATE) = "missrate",
    ROW(WIRE_POLICY_CONTEND) = "contend", ROW(WIRE_POLICIES) = NULL,
};
TABLE_COMPLETE(policy_words);
static const char *const TABLE(target_words, LOG_TARGETS + 1) = {
    ROW(LOG_TARGET_STDERR) = "stderr", ROW(LOG_TARGET_SYSLOG) = "syslog", ROW(LOG_TARGETS) = NULL};
TABLE_COMPLETE(target_words);
static const char *const counters_words[] = {"perf", "resctrl", "uncore", "software", NULL};
static const char *const energy_words[] = {"powercap", "perf", "hwmon", NULL};
static const char *const TABLE(switch_words, CONF_SWITCHES + 1) = {
    ROW(CONF_OFF) = "off", ROW(CONF_ON) = "on", ROW(CONF_SWITCHES) = NULL};
TABLE_COMPLETE(switch_words);
static const char *const TABLE(private_words, CONF_PRIVATES + 1) = {
    ROW(CONF_PRIVATE_SLURM) = "slurm",
    ROW(CONF_PRIVATE_ON) = "on",
    ROW(CONF_PRIVATE_OFF) = "off",
    ROW(CONF_PRIVATES) = NULL,
};
TABLE_COMPLETE(private_words);
static const char *const TABLE(dio_power_order_words, CONF_DIO_POWER_ORDERS + 1) = {
    ROW(CONF_BALANCED) = "balanced", ROW(CONF_AS_PRINTED) = "printed",
    ROW(CONF_DIO_POWER_ORDERS) = NULL};
TABLE_COMPLETE(dio_power_order_words);
static const char *const TABLE(tranquil_rule_words, CONF_TRANQUIL_RULES + 1) = {
    ROW(CONF_TRANQUIL_SIGNIFICANT) = "significant",
    ROW(CONF_TRANQUIL_PRINTED) = "printed",
    ROW(CONF_TRANQUIL_RULES) = NULL,
};
TABLE_COMPLETE(tranquil_rule_words);
static const char *const TABLE(edp_power_words, CONF_EDP_POWERS + 1) = {
    ROW(CONF_EDP_TOTAL) = "total", ROW(CONF_EDP_ABOVE_IDLE) = "above-idle",
    ROW(CONF_EDP_POWERS) = NULL};
TABLE_COMPLETE(edp_power_words);
const char *const TABLE(conf_idle_energy_name, CONF_IDLES + 1) = {
    ROW(CONF_IDLE_CORES) = "cores",
    ROW(CONF_IDLE_EVENLY) = "evenly",
    ROW(CONF_IDLE_NOBODY) = "nobody",
    ROW(CONF_IDLES) = NULL,
};
TABLE_COMPLETE(conf_idle_energy_name);
static const char *const TABLE(move_words, CONF_MOVES + 1) = {
    ROW(CONF_MOVE_NEVER) = "never", ROW(CONF_MOVE_KNOWN) = "known", ROW(CONF_MOVE_ALL) = "all",
    ROW(CONF_MOVES) = NULL};
TABLE_COMPLETE(move_words);
static const char *const TABLE(idle_words, CONF_IDLE_CHOICES + 1) = {
    ROW(CONF_IDLE_OFF) = "off", ROW(CONF_IDLE_NEAR) = "near", ROW(CONF_IDLE_ON) = "on",
    ROW(CONF_IDLE_AUTO) = "auto", ROW(CONF_IDLE_CHOICES) = NULL};
TABLE_COMPLETE(idle_words);
static const char *const TABLE(places_words, CONF_PLACES + 1) = {
    ROW(CONF_PLACES_AUTO) = "auto", ROW(CONF_PLACES_CORES) = "cores",
    ROW(CONF_PLACES_THREADS) = "threads", ROW(CONF_PLACES) = NULL};
TABLE_COMPLETE(places_words);
static const char *const TABLE(near_words, CONF_NEARS + 1) = {
    ROW(CONF_NEAR_OFF) = "off", ROW(CONF_NEAR_PREFER) = "prefer", ROW(CONF_NEAR_MUST) = "must",
    ROW(CONF_NEARS) = NULL};
TABLE_COMPLETE(near_words);
static const char *const TABLE(share_words, CONF_SHARES + 1) = {
    ROW(CONF_SHARE_NEED) = "need", ROW(CONF_SHARE_ADAPT) = "adapt", ROW(CONF_SHARES) = NULL};
TABLE_COMPLETE(share_words);
static const char *const TABLE(sharing_words, CONF_SHARINGS + 1) = {
    ROW(CONF_SHARING_OFF) = "off", ROW(CONF_SHARING_MEDIAN) = "median", ROW(CONF_SHARINGS) = NULL};
TABLE_COMPLETE(sharing_words);
static const char *const TABLE(level_words, LOG_LEVELS + 1) = {
    ROW(LOG_LEVEL_ERROR) = "error", ROW(LOG_LEVEL_WARN) = "warn", ROW(LOG_LEVEL_INFO) = "info",
    ROW(LOG_LEVEL_DEBUG) = "debug", ROW(LOG_LEVELS) = NULL,
};
TABLE_COMPLETE(level_words);

const struct conf_section TABLE(conf_section, CONF_SECTIONS) = {
    ROW(CONF_USERS) = {"Users", NULL, "What users may ask for, and what they are told."},
    ROW(CONF_GRANT) = {"Users who may do more", "grant",
                       "Who may do what others may not: NAME=WHO, NAME=WHO, with the names below, "
                       "as grant = isolate=anna,ben, isolate:group=chem, throttle=cleo."},
    ROW(CONF_PLACING) = {"Placing", NULL, "Which steps are moved, and by what rule."},
    ROW(CONF_RECORDS) = {"Records", NULL, "What is kept of steps that have ended."},
    ROW(CONF_METRICS) = {"Metrics", NULL, "What monitoring is told."},
    ROW(CONF_READERS) =
        {"Who may read", "readers",
         "A group that may read, beside root, what berth keeps of all users: GROUP for all of the "
         "names below, or NAME=GROUP, NAME=GROUP. Empty: only root may."},
    ROW(CONF_ENERGY) = {"Energy", NULL, "What energy costs, and who pays for it."},
    ROW(CONF_LOG) = {"Log", NULL, "What berthd says of itself."},
    ROW(CONF_TUNE) =
        {"Tuning", "tune",
         "What few sites change, paths, windows, thresholds and what is off by default: "
         "NAME=VALUE, NAME=VALUE, with the names below, as tune = window=2s, history=1000."},
    ROW(CONF_TEST) =
        {"Tests", NULL,
         "What only tests change: without effect unless berthd is started with --test-keys."},
};
TABLE_COMPLETE(conf_section);

const struct conf_renamed conf_renamed[] = {
    {"isolate_users", GRANT, "isolate"},
    {"isolate_groups", GRANT, "isolate:group"},
    {"isolate_accounts", GRANT, "isolate:account"},
    {"isolate_qos", GRANT, "isolate:qos"},
    {"throttle_users", GRANT, "throttle"},
    {"prefetch_users", GRANT, "prefetch"},
    {"propose_users", GRANT, "propose"},
    {"metrics_group", READERS, "metrics"},
    {"ledger_group", READERS, "ledger"},
    {"profile_group", READERS, "profiles"},
    {0},
};

const struct conf_key conf_key[] = {
    {USERS, "allow", LIVE,
     "off,auto,observe,isolate,edp,size,spread,pack,policy,cores,max-slowdown,mem,threads,tag,"
     "require,verbose",
     WORDS(option_words), FIELD(allow),
     "What users may ask for with --contention-aware; off, require and verbose are always allowed. "
     "These are not allowed unless they are written here: faithful, tranquil and adapt, which may "
     "give threads another scheduling class; shuffle, which gives them their CPUs one by one; "
     "follow (threads=follow), throttle, flex and locks, for which a library of berth's is "
     "preloaded; and prefetch, which writes registers of the cores that a step has to itself."},
    {USERS, "private_data", LIVE, "slurm", CHOICE(private_words), FIELD(private_data),
     "Whether users are told nothing of what others do on the node: not how many steps there are "
     "and on which cores, nor how their neighbours are classed. slurm: where PrivateData of "
     "slurm.conf has jobs, nodes or usage, and where that file cannot be read. Others' steps "
     "themselves are told to nobody but root, whatever stands here."},
    {USERS, "profile_sharing", LIVE, "off", CHOICE(sharing_words), FIELD(profile_sharing),
     "What is known of a program where its user has not run it yet, and root has not profiled it: "
     "nothing (off), or the median of what it was counted to do for at least three other users. "
     "The median tells nobody who they are, but that there are some."},
    {GRANT, "isolate", LIVE, "", WORDS(NULL), FIELD(isolate_users),
     "Users, by name or number, who may ask for isolate and max-slowdown; * is everybody, here and "
     "in the entries below. By default nobody may: their neighbours pay for these two words. allow "
     "takes either word from all users."},
    {GRANT, "isolate:group", LIVE, "", WORDS(NULL), FIELD(isolate_groups),
     "Groups, by name or number, whose users may ask for isolate and max-slowdown."},
    {GRANT, "isolate:account", LIVE, "", WORDS(NULL), FIELD(isolate_accounts),
     "Slurm accounts whose jobs may ask for them. slurmctld says which account and QOS a job has, "
     "never the step's environment: a step waits for the word to take effect until slurmctld has "
     "said so."},
    {GRANT, "isolate:qos", LIVE, "", WORDS(NULL), FIELD(isolate_qos),
     "Slurm QOS whose jobs may ask for them."},
    {GRANT, "throttle", LIVE, "*", WORDS(NULL), FIELD(throttle_users),
     "Users, by name or number, who may ask for throttle where allow has it."},
    {GRANT, "prefetch", LIVE, "*", WORDS(NULL), FIELD(prefetch_users),
     "Users, by name or number, who may ask for prefetch where allow has it."},
    {GRANT, "propose", LIVE, "", WORDS(NULL), FIELD(propose_users),
     "Users, by name or number, whose programs may propose where steps stand, and the greatest "
     "frequency and the prefetchers of their cores, beside root's: a policy of the site's own, as "
     "in contrib/policies. They are told of all steps, whatever private_data says. See "
     "berth-protocol(7), PROPOSE."},
    {PLACING, "policy", LIVE, "contend", CHOICE(policy_words), FIELD(policy),
     "How steps are placed that ask for no policy: contend so that they lose the least work by its "
     "prediction; pain, sdc, animal and missrate by their scores of who should share a cache; di "
     "spreads them over packages and caches by miss rate, dio-power clusters them on few, so that "
     "the other packages sleep, where that does not cost more than it saves (berth-energy(7)). "
     "Where nothing is known of any step, di. See berth-models(7)."},
    {PLACING, "move", LIVE, "known", CHOICE(move_words), FIELD(move),
     "Which steps may stand elsewhere than Slurm put them, or on fewer cores: none (never); those "
     "whose program is known to bear it (known), so none that binds its threads or its memory, or "
     "did so in an earlier run, remembers its CPUs, has a device whose place is not known, or "
     "starts what is not known; all (all), and some programs then fail. A user who asks by name "
     "for isolate, edp, size, cores, spread, pack or policy takes his step out of this. See "
     "berth(7)."},
    {PLACING, "idle", LIVE, "auto", CHOICE(idle_words), FIELD(idle),
     "Whether steps may stand on cores that Slurm has given to nobody: not at all (off), on those "
     "of memory nodes on which Slurm has given cores to a step that berth may move (near), on all "
     "(on), or on all once three jobs in a row have asked for their cores when they started "
     "(auto), as those of a Slurm do whose plugstack.conf has berth's line. A step never has more "
     "cores than Slurm gave it."},
    {PLACING, "control", LIVE, "5", NUMBER("percent of the jobs", 0, 100), FIELD(control),
     "Of the jobs that berth would place and whose users have not asked for berth, since the "
     "site's default places them, so many are only observed, by lot: berthctl report --benefit "
     "then measures what the others gain. Where the default places nobody there are none. Who asks "
     "for berth is always placed. 0: all are placed, and nobody can tell any more what that "
     "brings. See berth-guide(7), THE TRIAL."},
    {PLACING, "enforcement", START, "auto", CHOICE(conf_enforcement_name), FIELD(enforcement),
     "How a placement is made to hold; auto takes the first that this node can do, dryrun moves "
     "nothing."},
    {RECORDS, "ledger", START, "sqlite:" LOCALSTATEDIR "/lib/berth/ledger.db", TEXT, FIELD(ledger),
     "Where a record of each step that has ended is kept: sqlite:PATH, "
     "mariadb://[USER@]HOST[:PORT]/DATABASE, mariadb://[USER@]/DATABASE?socket=PATH, or off."},
    {RECORDS, "ledger_defaults", START, "", TEXT, FIELD(ledger_defaults),
     "MariaDB option file, its group [berth]: password, TLS."},
    {RECORDS, "admin_comment", START, "off", CHOICE(switch_words), FIELD(admin_comment),
     "Write a job's figures into its AdminComment at slurmdbd when it has ended: berthd(8), "
     "ACCOUNTING. With a ledger in a file, jobs of one node only."},
    {RECORDS, "tres_energy", START, "off", CHOICE(switch_words), FIELD(tres_energy),
     "Write the energy of a job into its AllocTRES at slurmdbd when it has ended, in joules, where "
     "all of its records were metered and none is a model's. Slurm must be 25.11 or newer, and "
     "AcctGatherEnergyType unset: Slurm's own figures are not replaced. berthd(8), ACCOUNTING."},
    {RECORDS, "report_fields", LIVE, "", TEXT, FIELD(report_fields),
     "Fields that the tables of berthctl report, and of its page, have beside their own where "
     "nobody names others: Cost,CO2,Idle. berthctl report --helpformat lists them."},
    {METRICS, "metrics", START, "off", ADDRESS, FIELD(metrics),
     "Where metrics are served for Prometheus (HTTP): off, unix:PATH, 127.0.0.1:PORT or "
     "[::1]:PORT. Series of steps, which are of all users, are on the socket, and on a port only "
     "if everybody may read them."},
    {METRICS, "metrics_textfile", START, "", TEXT, FIELD(metrics_textfile),
     "A file of the metrics for node_exporter's textfile collector, as "
     "/var/lib/prometheus/node-exporter/berth.prom. Empty: none."},
    {READERS, "metrics", START, "", TEXT, FIELD(metrics_group),
     "Group that may read the socket and the text file of the metrics; * is everybody, also by a "
     "port."},
    {READERS, "ledger", START, "", TEXT, FIELD(ledger_group),
     "Group that may read a ledger in a file. Others are told of their own records by berthd."},
    {READERS, "profiles", START, "", TEXT, FIELD(profile_group),
     "Group that may read all of the profile store's file. Empty: as the file is, made for root's "
     "group."},
    {ENERGY, "energy_model", START, "", WATTS, FIELD(energy_model),
     "What each package takes, where no meter says it, as idle=40W,core=6W or "
     "idle=40W,core=6W,dram=3W: idle (and dram) always, core for each CPU that is busy; with "
     ",sleep=10W, that much in the place of idle while nothing runs on the package, which also "
     "tells dio-power what clustering saves. Its figures are marked as a model's. Empty: what no "
     "meter says is not known."},
    {ENERGY, "energy_price", LIVE, "0", NUMBER("a kWh", 0, 1e6), FIELD(energy_price),
     "What a kWh costs the site, in energy_currency: berthctl report tells what energy has cost. "
     "0: not told."},
    {ENERGY, "energy_currency", LIVE, "EUR", NAME, FIELD(energy_currency), "Of energy_price."},
    {ENERGY, "energy_tariff", LIVE, "", TARIFF, FIELD(energy_tariff),
     "The price by time, in local time: entries with commas between them, each "
     "[DATE/][DAYS/][HOURS]=PRICE, as 2027-01-01=0.28,mon-fri/08:00-20:00=0.35: from a date on, on "
     "some days of the week, at some hours. Where several hold the last one counts, where none "
     "does energy_price. What a step took is priced by the hours in which it ran."},
    {ENERGY, "energy_co2", LIVE, "0", NUMBER("g a kWh", 0, 10e3), FIELD(energy_co2),
     "The CO2 that the site's electricity stands for, with which berthctl report tells that of "
     "jobs. 0: not told."},
    {ENERGY, "energy_co2_tariff", LIVE, "", TARIFF, FIELD(energy_co2_tariff),
     "The same of energy_co2, in g a kWh: mon-sun/10:00-16:00=210."},
    {ENERGY, "idle_energy", LIVE, "cores", CHOICE(conf_idle_energy_name), FIELD(idle_energy),
     "Who is billed what a package takes when idle: its steps by the cores that they hold, and "
     "nobody for cores that no step holds (cores); its steps in equal parts, all of it (evenly); "
     "or nobody, so that steps are billed what their work adds (nobody). What nobody is billed is "
     "told as idle by status and the metrics. A step keeps the rule it began with, and each figure "
     "of energy names it: BILL in berth-energy(7)."},
    {LOG, "log", LIVE, "stderr", CHOICE(target_words), FIELD(log), "Where the log goes."},
    {LOG, "log_level", LIVE, "info", CHOICE(level_words), FIELD(log_level),
     "Least urgent line that is logged."},
    {TUNE, "user", START, "root", NAME, FIELD(user),
     "Whom berthd runs as. Other than root: all but what takes root is done by that user, without "
     "any capability, and berth-hand is root's process; not all of berth works so yet, see "
     "berth-security(7)."},
    {TUNE, "socket", START, WIRE_SOCKET_DEFAULT, PATH, FIELD(socket),
     "Unix socket that the plugin and berthctl connect to."},
    {TUNE, "state_dir", START, RUNSTATEDIR "/berth", PATH, FIELD(state_dir),
     "Folder of the journal. It has to outlive berthd, not the kernel: a tmpfs is right."},
    {TUNE, "profile_db", START, LOCALSTATEDIR "/lib/berth/profiles.db", PATH, FIELD(profile_db),
     "Profile store, read at each launch; only root may read and write the file, others are told "
     "of their own rows by berthd."},
    {TUNE, "machine_profile", START, LOCALSTATEDIR "/lib/berth/machine.json", PATH,
     FIELD(machine_profile),
     "What this node's memory can do, written by berthctl calibrate and read at start. Without it "
     "no step is sized by bandwidth."},
    {TUNE, "event_table", START, PKGDATADIR "/events.conf", PATH, FIELD(event_table),
     "Hardware events of each micro-architecture."},
    {TUNE, "ledger_queue", START, LOCALSTATEDIR "/lib/berth/ledger.queue", PATH,
     FIELD(ledger_queue), "Folder of the records that wait for the ledger; one berthd's own."},
    {TUNE, "cgroup_name", START, "berth", NAME, FIELD(cgroup_name),
     "Name of berth's own cgroup; each berthd of a host that runs several needs another."},
    {TUNE, "slurm_conf", LIVE, "", TEXT, FIELD(slurm_conf),
     "Where slurm.conf is. Empty: SLURM_CONF of the environment of berthd, or of berthctl doctor, "
     "else the usual places."},
    {TUNE, "control_key", START, "", TEXT, FIELD(control_key),
     "A file with 32 hexadecimal digits, root's and of mode 0600, by which lots are drawn for "
     "control: the same file on all nodes has steps of several nodes take part. Empty: a key of "
     "this node's own, in state_dir, and steps of several nodes are placed."},
    {TUNE, "job_program", START, "", TEXT, FIELD(job_program),
     "The program that asks slurmctld who a job is, once for each job on each node: berthd(8), WHO "
     "A JOB IS. Empty: berth-job, where it was installed; off: nobody is asked."},
    {TUNE, "comment_program", START, "", TEXT, FIELD(comment_program),
     "The program that does so. Empty: berth-comment, where it was installed."},
    {TUNE, "counters", START, "perf,resctrl,uncore,software", WORDS(counters_words),
     FIELD(counters),
     "Ways to count what steps do; each is used where the node offers it. Empty: nothing is "
     "counted."},
    {TUNE, "lock_time", START, "off", CHOICE(switch_words), FIELD(lock_time),
     "Measure how long threads wait for locks, by eBPF: every system call of the node then takes a "
     "little longer."},
    {TUNE, "reuse_sampling", START, "off", CHOICE(switch_words), FIELD(reuse_sampling),
     "Estimate a step's stack-distance profile from sampled accesses (PEBS, IBS) and debug "
     "registers, which a debugger may then find taken. Not tested on such hardware."},
    {TUNE, "startup", LIVE, "1s", TIME(0, 3600e3), FIELD(startup_ms),
     "How long a step starts up: that time is in no profile."},
    {TUNE, "first_window", LIVE, "500ms", TIME(10, 3600e3), FIELD(first_window_ms),
     "The first window of counting after it, which classes a step without a profile. Before its "
     "end a step has all cores that Slurm gave it, also where other jobs have them, too."},
    {TUNE, "window", LIVE, "1s", TIME(100, 3600e3), FIELD(window_ms), "Every further window."},
    {TUNE, "rest", LIVE, "30s", TIME(0, 3600e3), FIELD(rest_ms),
     "While there is nothing to decide, steps and meters are looked at that seldom: while nobody "
     "is on the node, or one step that stands where Slurm put it, and asked for nothing that "
     "follows what it does. A program that waits for the slowest of a thousand nodes waits for "
     "each look. 0: as often as ever. berth-guide(7), SILENCE."},
    {TUNE, "together", LIVE, "on", CHOICE(switch_words), FIELD(together),
     "What is done by time is done on multiples of its period on the wall clock, so that all nodes "
     "do it at the same instant, as far as their clocks agree: who waits for the slowest of them "
     "waits once. off: each node has instants of its own."},
    {TUNE, "phase_change", LIVE, "0.25", NUMBER("fraction", 0.01, 100), FIELD(phase_change),
     "Two windows in a row that lie off the average by more than that, and by more than four "
     "standard deviations, begin a new phase."},
    {TUNE, "sweep", LIVE, "5s", TIME(100, 3600e3), FIELD(sweep_ms),
     "How often steps that vanished without a word are looked for."},
    {TUNE, "history", LIVE, "256", COUNT("steps", 0, 65536), FIELD(history),
     "Ended steps that berthctl explain still knows."},
    {TUNE, "learn", LIVE, "on", CHOICE(switch_words), FIELD(learn),
     "Store what was counted, so that the program's next run is known at launch."},
    {TUNE, "profile_age", LIVE, "90", COUNT("days", 0, 36500), FIELD(profile_age_days),
     "What was seen of runs longer ago than that is forgotten; 0: never."},
    {TUNE, "devil_miss_pmi", LIVE, "2000", NUMBER("cache misses per million instructions", 0, 1e6),
     FIELD(devil_miss_pmi), "A program that misses at least so often is a devil."},
    {TUNE, "neutral_miss_pmi", LIVE, TEXT_OF(CONF_NEUTRAL_MISS_PMI),
     NUMBER("cache misses per million instructions", 0, 1e6), FIELD(neutral_miss_pmi),
     "Where a program without a profile stands in the order of the placement."},
    {TUNE, "share", LIVE, "need", CHOICE(share_words), FIELD(share),
     "How cores are divided that Slurm gave to several jobs (OverSubscribe=FORCE): a part for "
     "each, by the cores that it was seen to use (need); or all cores for all, or a part for each, "
     "whichever promises more user time by the models of ADAPT (adapt), where the profile store "
     "knows what these programs do alone, else by need. See berth-models(7), ADAPT."},
    {TUNE, "places", START, "auto", CHOICE(places_words), FIELD(places),
     "What steps exchange: whole cores, or hardware threads, so that berth chooses who shares a "
     "core with whom. auto: threads where slurm.conf lets jobs share cores, that is with CR_CPU "
     "and CPUs as many as hardware threads, and where no node's line has ThreadsPerCore of 2 or "
     "more. Where it gives jobs whole cores they stay whole, whatever stands here."},
    {TUNE, "device_near", LIVE, "must", CHOICE(near_words), FIELD(device_near),
     "What the GPUs and network adapters of a step say of its place, where move lets it stand "
     "elsewhere: it stands near them, and steps without a device make room (must), or only if a "
     "core there is free (prefer); either way it does not leave a place near it. off: the step "
     "stays where Slurm put it. Of steps that begin then. A user says nodevice: his step's devices "
     "do not count."},
    {TUNE, "replace", LIVE, "on", CHOICE(switch_words), FIELD(replace),
     "Move running steps when what is counted says that another placement is better (DIO)."},
    {TUNE, "replace_horizon", LIVE, "60s", TIME(1000, 86400e3), FIELD(replace_horizon_ms),
     "A move must be worth its cost within that time."},
    {TUNE, "replace_limit", LIVE, "20", COUNT("steps per minute", 0, 600), FIELD(replace_limit),
     "At most so many running steps are moved in a minute."},
    {TUNE, "sacrifice", LIVE, "0.15", NUMBER("fraction", 0, 100), FIELD(sacrifice),
     "What all gain together may cost one step at most: no decision of contend makes it slower "
     "than it is and than it would be where Slurm put it, by more than that part of its time "
     "alone, as predicted."},
    {TUNE, "regret", LIVE, "0.05", NUMBER("fraction", 0, 1), FIELD(regret),
     "A step that is slower after a move by more than that, and more than chance, is put back."},
    {TUNE, "regret_time", LIVE, "600s", TIME(0, 86400e3), FIELD(regret_ms),
     "For how long a move that was put back is not tried again."},
    {TUNE, "memory_rate", LIVE, "1000", COUNT("MB/s", 0, 1e6), FIELD(memory_rate),
     "How fast a step's memory follows it to another NUMA node, at most. 0: it stays where it is."},
    {TUNE, "thermal", START, "off", CHOICE(switch_words), FIELD(thermal),
     "Move a step from a core that the processor is about to slow down or stop for its heat to a "
     "cooler one of the pool, looked at each 10 seconds: berthd(8), HEAT. It needs a sensor of "
     "each core (coretemp)."},
    {TUNE, "dio_power_order", LIVE, "balanced", CHOICE(dio_power_order_words),
     FIELD(dio_power_order),
     "Which steps dio-power puts beside each other in the caches that it opens: the weakest beside "
     "the strongest (balanced), or the strongest of each round in the same cache, as the paper's "
     "algorithm is printed (printed). See berth-models(7), DIO-POWER."},
    {TUNE, "edp_power", LIVE, "total", CHOICE(edp_power_words), FIELD(edp_power),
     "Which power dio-power multiplies by time squared: all that the packages draw, which is what "
     "a site pays for (total), or what they draw above an idle machine, as the paper's figures do "
     "(above-idle), which clusters sooner: what sleeps is then not paid for. See berth-models(7), "
     "DIO-POWER."},
    {TUNE, "tranquil_rule", LIVE, "significant", CHOICE(tranquil_rule_words), FIELD(tranquil_rule),
     "When the word tranquil keeps what it tried: significant where mean and deviation are lower, "
     "one of them beyond chance; printed by less-than alone, as Pusukuri 2012 prints it, which "
     "keeps a quarter of what has no effect, and tries, and moves pages, in each pass."},
    {TUNE, "tranquil_miss_pmi", LIVE, "2000",
     NUMBER("cache misses per million instructions", 0, 1e6), FIELD(tranquil_miss_pmi),
     "The word tranquil takes a program that misses more often for one that is to have its memory "
     "dealt over its nodes. The paper has not printed its limit: this is devil_miss_pmi's."},
    {TUNE, "tranquil_pass", LIVE, "5s", TIME(3000, 3600e3), FIELD(tranquil_pass_ms),
     "How often the word tranquil measures a step and tries something."},
    {TUNE, "adapt_light_mpa", LIVE, "0.1", NUMBER("misses per access of the last cache", 0, 1),
     FIELD(adapt_light_mpa),
     "ADAPT takes a program that misses no more often for one that computes. The paper has not "
     "printed its limit: this is where the last row of its Table 5.1 begins."},
    {TUNE, "adapt_light_lock", LIVE, "5", NUMBER("percent of the threads' time", 0, 100),
     FIELD(adapt_light_lock),
     "ADAPT takes a program whose threads wait no longer for locks for one that hardly does. The "
     "paper has not printed its limit: this is what it calls low in its section 4.3."},
    {TUNE, "probe", START, "off", CHOICE(switch_words), FIELD(probe),
     "On nodes without cache counters, time memory accesses now and then on an idle core of a "
     "cache that belongs to no job, to see how much steps disturb it; at most 1 % of one core."},
    {TUNE, "probe_every", LIVE, "30s", TIME(1000, 3600e3), FIELD(probe_every_ms),
     "The least time between two probes of a cache. None begins before 100 times probe_time have "
     "passed since the last one."},
    {TUNE, "probe_time", LIVE, "20ms", TIME(1, 1000), FIELD(probe_time_ms),
     "How long one probe may run, its start and the making of its buffer (half of the cache, at "
     "most 32 MiB) included."},
    {TUNE, "energy", START, "powercap,perf,hwmon", WORDS(energy_words), FIELD(energy),
     "Ways to read the node's energy meters; a zone is read by the first of that order that has "
     "it: RAPL by powercap, RAPL by perf, sensors of hwmon. Empty: none is read."},
    {TUNE, "energy_interval", LIVE, "1s", TIME(100, 20e3), FIELD(energy_interval_ms),
     "How often they are read and their energy is divided among the steps; where none runs, a "
     "tenth as often, but every 20 seconds."},
    {TUNE, "metrics_steps", LIVE, "200", COUNT("steps", 0, 2000), FIELD(metrics_steps),
     "At most so many steps have series of their own in the metrics."},
    {TUNE, "metrics_interval", LIVE, "15s", TIME(1000, 3600e3), FIELD(metrics_interval_ms),
     "How often that file is written."},
    {TUNE, "steer", START, "off", CHOICE(switch_words), FIELD(steer),
     "Write into the ledger's database how busy the node's memory is, each 30 s to 300 s while "
     "steps run, for berth-steer(8): a row a node in the table steer_node."},
    {TUNE, "blackboard", START, "off", CHOICE(switch_words), FIELD(blackboard),
     "Publish for each memory node, cache and package whether it is idle, normal or saturated, in "
     "a file that programs map (berth_blackboard.h): state_dir/blackboard, while a step that berth "
     "knows is there. berthd(8), BLACKBOARD."},
    {TUNE, "rcr_rate", START, "100", COUNT("Hz", 1, 1000), FIELD(rcr_rate),
     "How often it is written while a step that asked for throttle is there; else once a second. "
     "The paper's daemon takes a core's eighth for 6000 times a second; berthd keeps to half a "
     "percent, and writes less often where that would not do."},
    {TUNE, "rcr_saturated", START, "0", NUMBER("of the memory's bandwidth", 0, 1),
     FIELD(rcr_saturated),
     "From which utilisation on a resource is saturated. 0: that of as many cores as the machine "
     "profile shows to be enough, as the next one adds less than 10 % of what the first draws."},
    {TUNE, "rcr_idle", START, "0", NUMBER("of the memory's bandwidth", 0, 1), FIELD(rcr_idle),
     "Up to which utilisation it is idle, below rcr_saturated. 0: 70 % of that."},
    {TUNE, "rcr_hold", START, "1", COUNT("samples", 1, 100000), FIELD(rcr_hold),
     "So many samples in a row make a state. More than 1 makes it slow to see contention and its "
     "end, for all who read it; what throttle's words wait for (aggressive 1, baseline 5, lazy 50) "
     "is not less then."},
    {TEST, "topology", START, "", TEXT, FIELD(topology),
     "Empty: this machine. Else an hwloc XML file or an hwloc synthetic string."},
    {TEST, "counters_replay", START, "", TEXT, FIELD(counters_replay),
     "A file of samples (berthctl record) played instead of counting, or a folder in which each "
     "step's newest sample is kept by whoever simulates it."},
    {TEST, "cgroup_root", START, "/sys/fs/cgroup", PATH, FIELD(cgroup_root),
     "Where cgroupfs is mounted."},
    {TEST, "energy_root", START, "/", PATH, FIELD(energy_root),
     "The meters' files are below this folder, a recorded tree."},
    {TEST, "device_root", START, "/", PATH, FIELD(device_root),
     "The registers of processors (prefetch) are below this folder, dev/cpu/N/msr, with "
     "proc/cpuinfo, which says whose they are; and the sensors of cores (thermal), "
     "sys/class/hwmon."},
    {0},
};
_Static_assert(sizeof(conf_key) / sizeof(conf_key[0]) <= CONF_KEYS_MAX, "room for every key");

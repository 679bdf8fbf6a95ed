/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire - the messages between the plugin, berthd and berthctl (berth-protocol(7)).
 *
 * One JSON object per line over a Unix stream socket, "version" first, at most WIRE_MESSAGE_MAX
 * bytes with its newline. The plugin includes nothing of packer/ but this room: it has the option
 * words too, and the identity of a program, so that both sides cannot differ about them. */
#ifndef BERTH_WIRE_WIRE_H
#define BERTH_WIRE_WIRE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/base/nearest.h" /* the plugin has it from here */
#include "packer/wire/wire_identity.h"

#define WIRE_VERSION 1
#define WIRE_MESSAGE_MAX 65536
#define WIRE_SOCKET_DEFAULT RUNSTATEDIR "/berth/berthd.sock"
/* Behind the socket's name it is the name of one that is root's alone: the plugin's. */
#define WIRE_PLUGIN_SUFFIX ".plugin"
#define WIRE_POOL_DIR                                                                              \
    "pool" /* beside the socket: a file named by its number for each job in the pool */
#define WIRE_MISSED_FILE                                                                           \
    "missed" /* beside the socket: ends of steps that berthd could not be told */
#define WIRE_MISSED_MAX (1u << 20) /* bytes of it */
#define WIRE_WATCH_SUFFIX ".end"   /* of such a file: berthd wants to hear of the job's end */
#define WIRE_IDLE_MARK "idle"      /* in that folder: steps may stand on cores of nobody */
#define WIRE_SENT_MARK "sent"      /* the plugin has sent some of them home */
#define WIRE_STEP_BATCH 0xfffffffbu
#define WIRE_STEP_EXTERN 0xfffffffcu
#define WIRE_STEP_INTERACTIVE 0xfffffffau
#define WIRE_HASH_MAX 33  /* 32 hex digits and NUL */
#define WIRE_SHAPE_MAX 64 /* wire_args_shape, with NUL */
#define WIRE_GROUPS_MAX 64
#define WIRE_CORES_MAX 1024 /* of a list of cores, with NUL */

/* ---- what a user may ask for: --contention-aware=LIST ---- */

enum wire_policy {
    WIRE_POLICY_DI,
    WIRE_POLICY_DIO_POWER,
    WIRE_POLICY_PAIN,
    WIRE_POLICY_SDC,
    WIRE_POLICY_ANIMAL,
    WIRE_POLICY_MISSRATE,
    WIRE_POLICY_CONTEND,
    WIRE_POLICIES
};
enum wire_mem { WIRE_MEM_AUTO, WIRE_MEM_LOCAL, WIRE_MEM_INTERLEAVE, WIRE_MEM_BIND, WIRE_MEMS };
enum wire_throttle {
    WIRE_THROTTLE_OFF,
    WIRE_THROTTLE_LAZY,
    WIRE_THROTTLE_BASELINE,
    WIRE_THROTTLE_AGGRESSIVE,
    WIRE_THROTTLES
};
enum wire_prefetch {
    WIRE_PREFETCH_NONE,
    WIRE_PREFETCH_AUTO,
    WIRE_PREFETCH_ON,
    WIRE_PREFETCH_OFF,
    WIRE_PREFETCHES
};
enum wire_mode { WIRE_MODE_OFF, WIRE_MODE_AUTO, WIRE_MODE_OBSERVE, WIRE_MODES };

/* What `size` may cost of a step's speed where its user does not say, and at most, percent. */
#define WIRE_SIZE_LOSS_PCT 2.0
#define WIRE_SIZE_LOSS_MOST 50.0

struct wire_options {
    enum wire_mode mode;
    bool isolate, edp, size; /* on top of the mode */
    bool spread, pack;       /* a task's cores over caches, on few; not both */
    bool require, verbose;
    bool policy_given;
    enum wire_policy policy;
    uint32_t cores_min, cores_max; /* 0: not given */
    double max_slowdown_pct;       /* < 0: not given */
    double size_loss_pct;          /* of its speed that `size` may cost; < 0: WIRE_SIZE_LOSS_PCT */
    enum wire_mem mem;
    bool mem_auto;       /* mem=auto was asked for: as tranquil, on several memory nodes */
    bool threads_auto;   /* OMP_NUM_THREADS by what the profile store has */
    bool threads_follow; /* its parallel regions have as many threads as it has cores then */
    enum wire_throttle throttle; /* fewer threads in loops while memory is saturated */
    bool flex;                   /* many threads, whose synchronisation is distributed */
    uint32_t flex_threads;       /* so many; 0: not given */
    bool locks_cohort;           /* mutexes are handed on within a memory node first */
    bool faithful;               /* time slices by lock and memory waiting */
    bool tranquil;               /* memory and slices by how evenly it runs */
    bool shuffle;                /* threads that wait for the same lock into one package */
    bool adapt;    /* beside steps of its job on the same cores: all cores or parts, by ADAPT */
    bool nocount;  /* its hardware counters are left to its user's own tools */
    bool nodevice; /* where it stands has nothing to do with its devices */
    enum wire_prefetch prefetch; /* its cores' hardware prefetchers; none: as they are */
    char tag[64];                /* "" not given; [A-Za-z0-9._-]+ */
};

#define WIRE_FLEX_MOST 4096 /* threads of flex=N */

extern const char *const wire_throttle_name[WIRE_THROTTLES]; /* "off", "lazy", ... */
extern const char *const wire_policy_name[WIRE_POLICIES];    /* "di", "dio-power", ... */
extern const char *const wire_mem_name[WIRE_MEMS];
extern const char *const wire_prefetch_name[WIRE_PREFETCHES]; /* NULL, "auto", "on", "off" */
extern const char *const wire_mode_name[WIRE_MODES];

/* Says whether a text may be a tag: 1 to 63 letters, digits, '.', '_' and '-'. */
bool wire_tag_valid(const char *tag);

/* What says that a step has to stay on the CPUs that Slurm gave it: one that is moved or narrowed
 * while it binds its threads, or remembers its CPUs, may fail. */
enum wire_pin {
    WIRE_PIN_NONE,        /* nothing is known that does */
    WIRE_PIN_ENVIRONMENT, /* a variable has a run-time bind threads whenever it makes them */
    WIRE_PIN_CALLS,       /* the program binds itself, or may */
    WIRE_PIN_LOOKS,       /* it binds nobody, and looks where it runs */
    WIRE_PIN_STARTS,      /* it starts or loads other programs, and what those do is not known */
    WIRE_PIN_MEMORY,      /* its memory is bound to nodes */
    WIRE_PIN_DEVICE,      /* it has devices, which are near some cores */
    WIRE_PIN_UNREAD,      /* the program could not be looked at */
    WIRE_PINS
};
extern const char *const wire_pin_name[WIRE_PINS]; /* NULL, "environment", "calls", ... */
#define WIRE_PIN_MAX 48                            /* of what says so, with NUL */

/* A step's devices: names with commas between them, each a kind and what its environment calls the
 * device. "gpu:N" and "nic:N" are Slurm's numbers, "cuda:", "rocm:" and "ze:" those of the vendors'
 * run-times, or UUIDs. */
#define WIRE_DEVICES_MAX 256 /* of the list, with NUL; of a longer one nothing is said */

/* Says whether a text may be such a list. */
bool wire_devices_valid(const char *devices);

/* Nothing asked: mode off, policy not given, no bounds. */
void wire_options_init(struct wire_options *options);

/* Returns the part of its speed that `size` may cost the step, 0 to 0.5. */
double wire_size_loss(const struct wire_options *options);

/* The options as a LIST that means the same ("auto,policy=di,tag=x"), for people. */
void wire_options_format(const struct wire_options *options, char *text, size_t size);

/* ---- requests ---- */

enum wire_op {
    WIRE_OP_REGISTER, /* plugin, last task_post_fork: a step's tasks exist and none has run (root)
                       */
    WIRE_OP_END,      /* plugin, last task_exit, else exit: the step is over (root) */
    WIRE_OP_JOB_END,  /* plugin, epilog: the job's cores are about to be given away (root) */
    WIRE_OP_CLAIM,   /* plugin, last task_post_fork of a step that is not registered: whoever stands
                        on its job's cores leaves them (root) */
    WIRE_OP_STATUS,  /* berthctl: the node and every step */
    WIRE_OP_EXPLAIN, /* berthctl: everything about one job's steps, or one step */
    WIRE_OP_COUNTERS,       /* berthctl: what every step has counted until now */
    WIRE_OP_RELEASE,        /* berthctl: steps go home and are left alone, or no more so (root) */
    WIRE_OP_PROFILES,       /* berthctl: what the profile store holds for who asks */
    WIRE_OP_PROFILE_PUT,    /* berthctl: a row of the profile store, of who says so */
    WIRE_OP_PROFILE_FORGET, /* berthctl: rows of who says so are forgotten */
    WIRE_OP_RECORDS,        /* berthctl: a page of the ledger, of who asks */
    WIRE_OP_CORES,          /* a site's policy: each core, and who stands there (its users) */
    WIRE_OP_PROPOSE,        /* a site's policy: one change of one step (its users) */
    WIRE_OPS
};

struct wire_task {
    uint32_t id; /* local task id */
    pid_t pid;
};

struct wire_step_id {
    uint32_t job, step;
};

/* A component of a heterogeneous step (srun A : B) is a step of its own, with a cgroup, slurmstepds
 * and tasks of its own, and Slurm calls it 0+1: it is one number here, beyond all that Slurm gives
 * to steps (16 million in a job, 128 components). Returns that number, or UINT32_MAX where there is
 * none. */
uint32_t wire_step_component(uint32_t step, uint32_t component);

/* Returns the number by which srun counts the step: of a component that of the whole. */
uint32_t wire_step_number(uint32_t step);

/* Reads the title of a slurmstepd, "slurmstepd: [4711.0+1]" or with other words behind a blank. 0,
 * or -1: it is none. */
int wire_step_of_title(const char *title, struct wire_step_id *id);

/* What names all steps of the node, where a job or its steps can be named. */
#define WIRE_ALL ((struct wire_step_id){UINT32_MAX, UINT32_MAX})

/* Its long texts and its list of groups lie elsewhere: a step has some dozens of bytes of them, and
 * might have thousands. Whose the job is beside its user is not here: the plugin does not know it
 * (wire_identity.h). */
struct wire_register {
    struct wire_step_id id;
    uint32_t array_job, array_task; /* as the step's environment says, which its user can change:
                                       shown until Slurm has said it, and for nothing else; 0 */
    uint32_t uid, gid;
    uint32_t nodes; /* that srun starts the step on; 0 unknown */
    uint32_t cpus_per_task;
    char node[64];         /* node name, as in the cgroup's path */
    const char *job_cores; /* Slurm's abstract core lists: shown, never used as CPU numbers */
    const char *step_cores;
    const char *exe;            /* what its program is called (wire_program.h); "" unknown */
    char hash[WIRE_HASH_MAX];   /* of what its program is (wire_program.h); "" unknown */
    char shape[WIRE_SHAPE_MAX]; /* wire_args_shape of its own arguments; "" unknown */
    size_t ngroups;
    const uint32_t *group;  /* [ngroups] its user's other groups */
    bool bound_by_hand;     /* the user gave --cpu-bind=map_... or mask_... */
    const char *bound_cpus; /* the kernel's CPUs that are in all of his masks; "" not known */
    bool by_cpu;            /* its command line does not tell which program uses its CPUs */
    bool user_omp_threads;  /* OMP_NUM_THREADS is the user's own */
    bool asked;             /* the user asked for the options; else they are the site's default */
    enum wire_pin pin;
    char pin_by[WIRE_PIN_MAX]; /* the variable, function or program that says so; "" */
    bool
        pin_within; /* that binds its threads within the CPUs that the program has when it begins */
    const char *devices; /* a list of them; "" none, or not known */
    struct wire_options
        options; /* mode off: a step of a pool job that did not opt in, its cores leave the pool */
    double began_s; /* CLOCK_MONOTONIC, when its tasks were there; 0: not said, it is now */
    size_t ntasks;
    struct wire_task *task; /* [ntasks] */
    void *kept; /* where the long texts and the groups lie (wire_register_keep), or NULL:
                   they are the caller's */
};

/* Copies the long texts (NULL: "") and the groups to memory that the registration keeps from then
 * on, in reg->kept, for the caller to free. Returns 0, or -1 with errno ENOMEM and nothing done. */
int wire_register_keep(struct wire_register *reg);

struct wire_end {
    struct wire_step_id id;
    int exit_status;         /* wait(2) status of the worst task; -1 unknown */
    double user_s, system_s; /* CPU time of all its processes that were waited for; < 0 unknown */
    uint64_t maxrss_kib;     /* greatest resident set of one process; 0 unknown */
    double ended_s;          /* CLOCK_MONOTONIC, when its last task was over; 0: not said, now */
    struct wire_register *late; /* its registration once more, where nobody has placed it for that
                                   one: berthd may not know the step. NULL: it was placed, or
                                   watched */
};

struct wire_job_end {
    struct wire_step_id id;    /* step UINT32_MAX */
    struct wire_identity said; /* what slurmd tells an epilog; the source none: nothing */
};

struct wire_release {
    struct wire_step_id id; /* job UINT32_MAX: the whole node; step UINT32_MAX: the whole job */
    bool end;               /* of all that was released: new steps are placed again */
};

/* What a site's own policy proposes: exactly one of cpus, khz and prefetch. */
#define WIRE_PROPOSAL_S 60        /* for how long khz and prefetch hold, where nobody says it */
#define WIRE_PROPOSAL_MOST_S 3600 /* and at most: nobody may be there any more to end it */
struct wire_propose {
    struct wire_step_id id;
    char policy[64];             /* who proposes, for people: as a tag */
    struct cpus cpus;            /* where the step, or its task, would stand; empty: not proposed */
    uint32_t task;               /* of cpus: only this task, by its place; UINT32_MAX: all */
    uint64_t khz;                /* the greatest frequency of its cores; 0: not proposed */
    enum wire_prefetch prefetch; /* ON or OFF; NONE: not proposed */
    double for_s;                /* khz and prefetch hold so long, unless proposed again; 0: they
                                    end now */
};

struct wire_profile {
    char *key;    /* PROFILES, PROFILE_FORGET: of this key only; NULL: of all */
    char *row;    /* PROFILE_PUT: a line as berthctl profile export writes them */
    bool replace; /* PROFILE_PUT: also what is newer */
    bool samples; /* PROFILE_FORGET: only what was counted */
};

#define WIRE_RECORDS_WORDS 1024 /* of one list */

/* Where a record of the ledger stands: pages go by when steps ended. */
struct wire_record_place {
    int64_t end, start; /* Unix seconds */
    struct wire_step_id id;
    uint32_t restart;
    char cluster[64], node[64];
};

struct wire_words {
    size_t n;
    const char *const *word;
};

/* Which records of the ledger are asked for; empty lists and zeros mean all. */
struct wire_records {
    int64_t since, until; /* steps that ran at some time in between; until 0: now */
    size_t njobs;
    const struct wire_step_id *job; /* step UINT32_MAX: all of the job's */
    struct wire_words users, accounts, partitions, nodes;
    bool next;                      /* a page before this one was asked for: */
    struct wire_record_place after; /* its last record stood there */
    void *kept; /* decoded: what the words lie in; else NULL, and all is the caller's */
};

/* Frees what decode allocated. */
void wire_records_clear(struct wire_records *records);

struct wire_request {
    enum wire_op op;
    union {
        struct wire_profile profile;
        struct wire_records records;
        struct wire_register reg;
        struct wire_end end;
        struct wire_release release;
        struct wire_propose propose;
        struct wire_job_end job_end; /* which begins with its id */
        struct wire_step_id id; /* JOB_END, CLAIM, EXPLAIN: step UINT32_MAX means all steps of the
                                   job */
    };
};

/* The fields of a place as JSON, all of them needed. */
extern const struct json_field wire_record_place_fields[];

/* Encode a request as one line with its newline; the caller frees it. NULL with errno ENOMEM or
 * EMSGSIZE. */
char *wire_request_encode(const struct wire_request *request);

/* Decode one line (with or without newline). 0, or -1 and err naming the field that is wrong;
 * nothing to clear then. */
int wire_request_decode(const char *line, size_t length, struct wire_request *request,
                        struct berth_error *err);
void wire_request_clear(struct wire_request *request); /* frees what decode allocated */

/* ---- the answer to a registration ---- */

#define WIRE_ENV_MAX 16

/* The variables that berthd answers for the tasks' environment. The plugin, which is root's, sets
 * no other one, whatever it is answered. */
enum wire_env {
    WIRE_ENV_CPUS,
    WIRE_ENV_CLASS,
    WIRE_ENV_THREADS,
    WIRE_ENV_PLAIN_BARRIER,
    WIRE_ENV_FORKJOIN_BARRIER,
    WIRE_ENV_REDUCTION_BARRIER,
    WIRE_ENV_PAGE, /* RT_PAGE_ENV of runtime/page.h */
    WIRE_ENVS
};
extern const char *const wire_env_name[WIRE_ENVS];
bool wire_env_known(const char *name); /* is it one of them? */

struct wire_task_place {
    uint32_t id;
    struct cpus cpus; /* where its threads may run */
};

struct wire_answer {
    bool ok; /* false: error says why, the step runs where Slurm put it */
    char error[256];
    bool managed;       /* berthd placed it (false: observed or left alone, note says why) */
    char note[256];     /* one line for `verbose` */
    char warning[1024]; /* one line for everybody: words that have no effect here; "" none */
    enum wire_mem mem;  /* memory policy to set, over mems */
    struct cpus mems;   /* NUMA nodes (kernel numbers); empty: leave the policy alone */
    size_t nenv;
    struct {
        char name[64], value[128];
    } env[WIRE_ENV_MAX];
    size_t ntasks; /* 0 where there is nothing to apply */
    struct wire_task_place *task;
};

/* Encode as one line with newline (caller frees; task places are left out when the line would be
 * too long: berthd has set them already). */
char *wire_answer_encode(const struct wire_answer *answer);
int wire_answer_decode(const char *line, size_t length, struct wire_answer *answer,
                       struct berth_error *err);
void wire_answer_clear(struct wire_answer *answer);

/* ---- names ---- */

/* "4711.0", "4711.0+1", "4711.batch", "4711.interactive"; "4711" when step is UINT32_MAX. */
#define WIRE_STEP_NAME_MAX 32
void wire_step_name(struct wire_step_id id, char name[WIRE_STEP_NAME_MAX]);

/* Read such a name. 0, or -1 with errno EINVAL. */
int wire_step_parse(const char *text, struct wire_step_id *id);

/* Hash of a program's content as far as launch time allows: its size, its first and its last MiB
 * (an ELF build-id lies in the first). XXH3, 128 bits. 0, or -1 with errno when the file cannot be
 * read. */
int wire_program_hash(const char *path, char hash[WIRE_HASH_MAX]);

/* Writes the shape of a command line: which kind of invocation it is, without its values. Its
 * arguments from argv[1] on, joined by blanks: the names of options as they are, each number as
 * '#', each file as '/' and its extension, any other word as '~' and 16 bits of its hash (XXH3, 4
 * hex digits): "-n 100 --in=/data/a.mtx fast" has the shape "-n # --in=/.mtx ~0659". Of a short
 * option the letter is its name, the rest of the word its value. "()" without arguments; 16 hex
 * digits (XXH3 of the shape) where it is longer than 63 characters. Printable ASCII only. The first
 * 4 KiB of a longer shape count. It ends before argv[argc], or before a NULL. */
void wire_args_shape(int argc, char *const *argv, char shape[WIRE_SHAPE_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of what users say without a word to the socket: the environment of their steps,
 * which slurmstepd's plugin reads as root; the FIFO beside a step's page; and of files of the
 * admin's that decide what they may: slurm.conf's PrivateData, /etc/subuid. The blackboard is the
 * other way round: a program maps what somebody has put where berthd's was. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blackboard/berth_blackboard.h"
#include "blackboard/layout.h"
#include "packer/base/cpus.h"
#include "packer/inside/step_said.h"
#include "packer/slurm/private_data.h"
#include "packer/system/subuids.h"
#include "packer/wire/wire_env.h"
#include "plugin/bind.h"
#include "plugin/devices.h"
#include "plugin/pin.h"
#include "tests/fuzz/fuzz.h"

#define VARIABLES 12

/* ---- a step's environment ---- */

static const char *const environment_seeds[] = {
    "OMP_PROC_BIND=close\fOMP_PLACES={0:4},{4:4}\fKMP_AFFINITY=granularity=fine,compact",
    "OMP_PLACES=cores\fOMP_PROC_BIND=spread\fI_MPI_PIN_DOMAIN=omp",
    "SLURM_STEP_GPUS=0,1\fCUDA_VISIBLE_DEVICES=GPU-8932f937\fSLURM_JOB_NICS=mlx5_0",
    "ZE_AFFINITY_MASK=0.1,2\fROCR_VISIBLE_DEVICES=-1\fGPU_DEVICE_ORDINAL=NoDevFiles",
    "SLURM_CPU_BIND_TYPE=mask_cpu:\fSLURM_CPU_BIND_LIST=0x3,0xf0,0x1\fSLURM_BERTH_BIND_LEFT=0x3",
    "SLURM_CPU_BIND_TYPE=map_cpu:\fSLURM_CPU_BIND_LIST=3,4\fSLURM_MEM_BIND_TYPE=map_mem:0",
    "=\f=x\fOMP_PLACES\fOMP_PLACES=",
    NULL};

static void assert_bound(char *const *env)
{
    const char *type = wire_env_find(env, "SLURM_CPU_BIND_TYPE"),
               *list = wire_env_find(env, "SLURM_CPU_BIND_LIST");
    char text[64]; /* too little for many: then there is nothing */
    struct cpus common;

    bind_by_hand(type, list, wire_env_find(env, BIND_LEFT));
    bind_common(type, list, text, sizeof(text));
    fuzz_assert(memchr(text, '\0', sizeof(text)));
    fuzz_assert(!text[0] || cpus_parse(&common, text) == 0);
}

static void one_environment(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *env[VARIABLES + 1], devices[WIRE_DEVICES_MAX];
    struct pin pin;

    fuzz_parts(text, env, VARIABLES);
    env[VARIABLES] = NULL;
    pin = pin_of_environment(env);
    fuzz_assert(memchr(pin.by, '\0', sizeof(pin.by)));
    fuzz_assert((pin.pin == WIRE_PIN_NONE) == !pin.by[0]);
    fuzz_assert(pin.pin != WIRE_PIN_NONE || !pin_is_within(env));
    devices_of_environment(env, devices);
    fuzz_assert(!devices[0] || wire_devices_valid(devices));
    assert_bound(env);
    free(text);
}

const struct fuzz_target fuzz_environment = {
    .name = "environment", .one = one_environment, .seed = environment_seeds};

/* ---- the FIFO beside a step's page ---- */

#define SAID(magic)                                                                                \
    magic "\1\1\1\1\7\7\7\7\1\1\1\1\2\2\2\2\3\3\3\3\4\4\4\4\5\5\5\5\6\6\6\6"                       \
          "\1\2\3\4\5\6\7\x7f\1\2\3\4\5\6\7\xff\1\2\3\4\5\6\7\x10"

static const char *const said_seeds[] = {SAID(RT_SAID_MAGIC), SAID(RT_RESTED_MAGIC) SAID("x"), "",
                                         NULL};

/* Fills a version in that is read, where there is a record. */
static void give_version(uint8_t *data, size_t size)
{
    const uint32_t version = RT_SAID_VERSION;

    for (size_t at = 0; at + sizeof(struct rt_said) <= size; at += sizeof(struct rt_said))
        if (data[at + 12] != 0)
            memcpy(data + at + offsetof(struct rt_said, version), &version, sizeof(version));
}

static void one_step_said(const uint8_t *data, size_t size)
{
    const uint64_t *sum[] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    char *copy = fuzz_text(data, size);
    struct step_said said = {0};
    int ends[2];

    fuzz_assert(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    give_version((uint8_t *)copy, size);
    for (size_t used = 0; used < size;) { /* a pipe takes 64 KiB at a time */
        ssize_t put = write(ends[1], copy + used, size - used);

        used = put > 0 ? used + (size_t)put : used;
        if (!step_said_read(ends[0], &said))
            break;
    }
    sum[0] = &said.processes, sum[1] = &said.followed, sum[2] = &said.own, sum[3] = &said.nested;
    sum[4] = &said.objects, sum[5] = &said.reduced, sum[6] = &said.throttled_ns;
    sum[7] = &said.rests, sum[8] = &said.idle_ns, sum[9] = &said.freed;
    for (size_t i = 0; i < sizeof(sum) / sizeof(sum[0]); i++)
        fuzz_assert(*sum[i] <= STEP_SAID_MOST);
    fuzz_assert(said.surprise < RT_SURPRISES && said.threads <= RT_THREADS_MAX);
    fuzz_assert(!said.surprise == !step_said_surprise(said.surprise));
    close(ends[0]);
    close(ends[1]);
    free(copy);
}

const struct fuzz_target fuzz_step_said = {
    .name = "step_said", .one = one_step_said, .seed = said_seeds};

/* ---- what decides what they may ---- */

static const char *const private_seeds[] = {"ClusterName=north\nPrivateData=jobs,usage\n",
                                            "privatedata = accounts # jobs\n",
                                            "PrivateData=\\\nall\n",
                                            "Include private.db\nInclude %c/x\ninclude \"a\"",
                                            "NodeName=DEFAULT CPUs=4\nPRIVATEDATA=NODES,",
                                            NULL};

/* A file may include itself, or what is not there; whether users are told of others is known, or
 * why it is not. */
static void one_private_data(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("private.db", data, size);
    struct berth_error err = {""};
    int hides = private_data_of(path, &err);

    fuzz_assert(hides == 0 || hides == 1 || (hides == -1 && err.text[0]));
}

const struct fuzz_target fuzz_private_data = {
    .name = "private_data", .one = one_private_data, .seed = private_seeds};

static const char *const subuids_seeds[] = {
    "alice:100000:65536\nbob:165536:65536\nalice:300000:10\n", "1003:400000:65536\n# a:1:2\n",
    "a:0:4294967294\na:4294967294:4294967294\n::\n:1:2\n", NULL};

/* Nobody is root's, or of two owners; an owner's own ranges are his. */
static void one_subuids(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct subuids subuids = {.n = 0};

    subuids_parse(&subuids, text);
    for (uid_t uid = 0; uid < 4; uid++) {
        uid_t owner = subuids_owner(&subuids, uid * 100000);

        fuzz_assert(subuids.n > 0 || owner == uid * 100000);
    }
    fuzz_assert(subuids_owner(&subuids, UINT32_MAX) == UINT32_MAX);
    subuids_free(&subuids);
    fuzz_assert(subuids_owner(&subuids, 100000) == 100000);
    free(text);
}

const struct fuzz_target fuzz_subuids = {
    .name = "subuids", .one = one_subuids, .seed = subuids_seeds};

/* ---- a blackboard of somebody's ---- */

static const char *const blackboard_seeds[] = {"\2\0\0\0\0\0\0\0node\f", "\1\1\1\1\1\1\1\1", "",
                                               NULL};

/* Puts the bytes where a header's and two sections' fields are, whose pages are else 0. */
static size_t lay_out(uint8_t *file, const uint8_t *data, size_t size)
{
    struct blackboard_header *head = (struct blackboard_header *)(void *)file;
    size_t pages = size > 0 ? 1 + data[0] % 4 : 1, part = size / 3;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    for (size_t i = 1; i < pages && part > 0; i++)
        memcpy(file + i * BLACKBOARD_PAGE, data + (i - 1) * part,
               part < BLACKBOARD_PAGE ? part : BLACKBOARD_PAGE);
    memcpy(head->magic, BLACKBOARD_MAGIC, sizeof(head->magic));
    head->version = BERTH_BLACKBOARD_VERSION;
    head->page_bytes = BLACKBOARD_PAGE;
    head->sections = size > 1 ? data[1] % 5 : 0;
    if (fd >= 0 && read(fd, head->boot_id, sizeof(head->boot_id) - 1) > 0)
        head->boot_id[strcspn(head->boot_id, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
    return pages * BLACKBOARD_PAGE;
}

static void assert_sections(struct berth_blackboard *board)
{
    struct berth_blackboard_section section;
    char name[BERTH_BLACKBOARD_NAME_SIZE];

    for (int i = -1; i <= (int)berth_blackboard_sections(board); i++) {
        if (berth_blackboard_name(board, i, name) != BERTH_BLACKBOARD_OK)
            continue;
        fuzz_assert(memchr(name, '\0', sizeof(name)));
        if (berth_blackboard_read(board, i, UINT64_MAX, &section) != BERTH_BLACKBOARD_OK)
            continue;
        fuzz_assert(memchr(section.name, '\0', sizeof(section.name)));
        for (size_t v = section.n; v < BERTH_BLACKBOARD_VALUES; v++)
            fuzz_assert(isnan(section.value[v]));
    }
}

/* The raw bytes, and the same as fields of a file that looks like one. */
static void one_blackboard(const uint8_t *data, size_t size)
{
    static uint8_t file[5 * BLACKBOARD_PAGE];
    struct berth_blackboard *board;

    memset(file, 0, sizeof(file));
    if (berth_blackboard_open(&board, fuzz_file("board", data, size)) == BERTH_BLACKBOARD_OK)
        assert_sections(board);
    berth_blackboard_close(board);
    size = lay_out(file, data, size);
    if (berth_blackboard_open(&board, fuzz_file("board", file, size)) == BERTH_BLACKBOARD_OK)
        assert_sections(board);
    berth_blackboard_close(board);
}

const struct fuzz_target fuzz_blackboard = {
    .name = "blackboard", .one = one_blackboard, .seed = blackboard_seeds};

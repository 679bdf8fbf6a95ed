/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/reuse/address_source.h"

#include <errno.h>
#include <linux/capability.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"

#define DEVICES "/sys/bus/event_source/devices/"

/* Samples a second and CPU: each wakes berthd. Of IBS's few are of the last-level cache. */
#define PEBS_RATE 5
#define IBS_RATE 20
#define IBS_COUNT_OPS (1u << 19) /* micro-operations, not cycles (format/cnt_ctl) */

/* MEM_LOAD_RETIRED:L2_MISS, before Skylake MEM_LOAD_UOPS_RETIRED:L2_MISS: the same number from
 * Haswell to Sapphire Rapids (Intel SDM, volume 3, event lists). */
#define INTEL_L2_MISS 0x10d1

/* L2CacheReqStat: data reads that missed the second-level cache (AMD PPR for family 17h and later,
 * PMCx064, bit 3). */
#define AMD_L2_MISS 0x0864

/* What Haswell and later say of their stores: those before it sample other events. */
#define INTEL_STORES "event=0xd0,umask=0x82"

void address_source_prepare(struct perf_event_attr *sample, uint64_t rate)
{
    sample->size = sizeof(*sample);
    sample->freq = 1;
    sample->sample_freq = rate;
    sample->sample_type =
        PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
    sample->watermark = 0;
    sample->wakeup_events = 1; /* an old sample is of no use */
    sample->use_clockid = 1;
    sample->clockid = CLOCK_MONOTONIC;
}

/* The number in a file of sysfs; -1: there is none. */
static long number_in(const struct rootfs *root, const char *path)
{
    char *text = rootfs_read(root, path), *end = NULL;
    long number = -1;

    if (text) {
        errno = 0;
        number = strtol(text, &end, 10);
        if (errno || end == text)
            number = -1;
    }
    free(text);
    return number;
}

static bool has_pebs(const struct rootfs *root)
{
    char *stores = rootfs_read(root, DEVICES "cpu/events/mem-stores");
    bool has = stores && strncmp(stores, INTEL_STORES, strlen(INTEL_STORES)) == 0;

    free(stores);
    return has;
}

static void make_pebs(struct address_source *source)
{
    *source = (struct address_source){
        .name = "PEBS",
        .sample = {.type = PERF_TYPE_RAW,
                   .config = INTEL_L2_MISS,
                   .precise_ip = 2,
                   .exclude_kernel = 1,
                   .exclude_hv = 1},
        .clock = {.type = PERF_TYPE_RAW, .config = INTEL_L2_MISS},
    };
    address_source_prepare(&source->sample, PEBS_RATE);
}

static void make_ibs(struct address_source *source, long type)
{
    *source = (struct address_source){
        .name = "IBS",
        .sample = {.type = (uint32_t)type, .config = IBS_COUNT_OPS},
        .clock = {.type = PERF_TYPE_RAW, .config = AMD_L2_MISS},
        .filter = true,
    };
    address_source_prepare(&source->sample, IBS_RATE);
}

/* Does the kernel open it, on this process? Kernels before 6.2 sample IBS by CPU only. */
static int try_open(const struct address_source *source, struct berth_error *err)
{
    struct perf_event_attr event = source->sample;
    int fd;

    event.disabled = 1;
    fd = perf_open(&event, source->filter ? -1 : 0, source->filter ? 0 : -1, -1, 0);
    if (fd < 0)
        return berth_error_set(err, "%s is there, but cannot be opened: %s", source->name,
                               capabilities_why(CAPABILITY(CAP_PERFMON), errno));
    close(fd);
    return 0;
}

int address_source_find(struct address_source *source, const struct rootfs *root,
                        struct berth_error *err)
{
    long ibs = number_in(root, DEVICES "ibs_op/type");

    if (has_pebs(root))
        make_pebs(source);
    else if (ibs >= 0)
        make_ibs(source, ibs);
    else
        return berth_error_set(err, "no PEBS (Intel, Haswell or later) and no IBS (AMD) here");
    return try_open(source, err);
}

/* ---- records ---- */

static bool beyond_l2(uint64_t said)
{
    const union perf_mem_data_src from = {.val = said};
    const uint64_t levels = PERF_MEM_LVL_L3 | PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 |
                            PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2;

    return from.mem_op & (PERF_MEM_OP_LOAD | PERF_MEM_OP_STORE) &&
           (from.mem_lvl & levels || from.mem_lvl_num == PERF_MEM_LVLNUM_L3 ||
            from.mem_lvl_num == PERF_MEM_LVLNUM_ANY_CACHE ||
            from.mem_lvl_num == PERF_MEM_LVLNUM_RAM);
}

bool address_sample_read(struct address_sample *sample, const struct address_source *source,
                         const void *record, size_t size)
{
    struct {
        struct perf_event_header header;
        uint32_t pid, tid;
        uint64_t time_ns, address, from;
    } said;

    if (size < sizeof(said))
        return false;
    memcpy(&said, record, sizeof(said));
    if (said.header.type != PERF_RECORD_SAMPLE ||
        (said.header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
        said.address == 0 || said.address >> 63 || said.tid == 0 ||
        (source->filter && !beyond_l2(said.from)))
        return false;
    *sample = (struct address_sample){(pid_t)said.tid, said.time_ns, said.address};
    return true;
}

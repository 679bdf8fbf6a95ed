/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of the kernel's texts about processes: a program chooses its name, its folders'
 * names and how many mappings it has; a container brings a /proc of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/memory/ranges.h"
#include "packer/system/cpu_busy.h"
#include "packer/system/memory_nodes.h"
#include "packer/system/process.h"
#include "packer/slurm/step_cgroup.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/common/folder.h"

#define PAGE 4096

static const char *const stat_seeds[] = {
    "42 (a) b) S 1 42 42 0 -1 4194560 120 30 4 1 250 50 10 20 20 0 3 0 4711 1000000 256 1844674",
    "7 () Z 1 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0", "1 (x) R 0 -1 -1 -1", NULL};

/* The files of one process: stat, status, and a thread's schedstat and status. */
static const char *const files_seeds[] = {
    "42 (a) S 1 42 42 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 99 0 5\f"
    "Name:\ta\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t42\t7\n\f1000 2000 30\n\f"
    "Name:\ta\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n",
    "\f\nUid:\n\f1\f\nvoluntary_ctxt_switches:x", NULL};

static const char *const ranges_seeds[] = {
    "00400000-00401000 r-xp 00000000 fd:00 12 /bin/a\n00600000-00700000 rw-p 00000000 00:00 0 \n"
    "7f00-7fff rw-s 00000000 00:01 99 /dev/shm/x y\n\f"
    "00400000 default file=/bin/a mapped=1 N0=1 kernelpagesize_kB=4\n"
    "00600000 default anon=256 dirty=256 N0=200 N1=56 kernelpagesize_kB=4\n"
    "7f00 local anon=2 N1=2 kernelpagesize_kB=2048\n",
    "0-ffffffffffffffff rw-p 0 0:0 0\f0 default N0=1 N1=18446744073709551615", NULL};

static const char *const nodes_seeds[] = {
    "total=100 N0=60 N1=40\nanon=50 N0=30 N1=20\nunevictable=0 N0=0 N1=0\n",
    "anon N0=4096 N1=8192\nfile_mapped N0=0 N1=4096\nshmem N0=1 N1=1\n",
    "00600000 default anon=256 N0=200 N1=56 kernelpagesize_kB=4\n", NULL};

static const char *const cgroup_seeds[] = {
    "12:cpuset:/slurm/uid_1000/job_4711/step_3\n4:cpu,cpuacct:/slurm/uid_1000/job_4711/step_3/"
    "task_0\n3:memory:/slurm/uid_1000/job_4711/step_3\n\fusage_usec 5\nuser_usec 3\n"
    "system_usec 2\n",
    "0::/system.slice/slurmstepd.scope/job_4711/step_3/user/task_0\n\fuser 3\nsystem 4\n",
    "0::/job_4711/step_32\n",
    "0::/hpc.slice/slurmstepd.scope/s2QSM817N8H500/step_3/user/task_7\n\fuser_usec 3\n", NULL};

static const char *const busy_seeds[] = {
    "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu7 1 2 3 4\nintr 5\n",
    "cpu0 1 2 3 4 5 6 7\ncpu99999 1 2 3 4 5 6 7 8\ncpu-1 2\n", NULL};

static struct rootfs *fake_root(void)
{
    static struct rootfs root = {.fd = -1};

    if (root.fd < 0)
        fuzz_assert(rootfs_open(&root, fuzz_folder(), NULL) == 0);
    return &root;
}

static void assert_stat(const struct process_stat *stat)
{
    fuzz_assert(stat->threads >= 0 && isfinite(stat->user_ns) && isfinite(stat->rss_bytes));
    fuzz_assert(stat->exiting || !stat->zombie);
}

static void one_stat(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    struct process_stat stat, before;

    memset(&stat, 0x5a, sizeof(stat));
    before = stat;
    if (process_stat_parse(input, &stat) < 0)
        fuzz_assert(memcmp(&stat, &before, sizeof(stat)) == 0);
    else
        assert_stat(&stat);
    free(input);
}

static void one_files(const uint8_t *data, size_t size)
{
    static const char *const path[] = {"proc/42/stat", "proc/42/status",
                                       "proc/42/task/42/schedstat", "proc/42/task/42/status"};
    char *input = fuzz_text(data, size), *part[4];
    struct rootfs *root = fake_root();
    struct process_stat stat;
    struct process_waits waits;

    fuzz_parts(input, part, 4);
    for (size_t i = 0; i < 4; i++)
        folder_put(fuzz_folder(), path[i], part[i]);
    if (process_stat_get(root, 42, &stat) == 0)
        assert_stat(&stat);
    process_uid(root, 42);
    process_inner_pid(root, 42);
    if (process_waits_read(root, 42, &waits) == 0)
        fuzz_assert(waits.run_delay_ns >= 0 && waits.voluntary >= 0 && waits.involuntary >= 0);
    free(input);
}

static void one_ranges(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size), *part[2];
    struct memory_ranges ranges = {0};
    struct cpus leave, shared;

    cpus_parse(&leave, "1-2047");
    cpus_parse(&shared, "1");
    fuzz_parts(input, part, 2);
    fuzz_assert(memory_ranges_add(&ranges, part[0], part[1], PAGE, &leave, &shared) == 0);
    for (size_t i = 0; i < ranges.n; i++)
        fuzz_assert(ranges.range[i].bytes > 0 && ranges.range[i].page_bytes >= PAGE);
    free(ranges.range);
    free(input);
}

static void assert_nodes(const struct memory_nodes *nodes)
{
    fuzz_assert(nodes->n <= MEMORY_NODES_MAX);
    for (size_t i = 0; i < nodes->n; i++)
        fuzz_assert(nodes->bytes[i] >= 0 && isfinite(nodes->bytes[i]));
}

static void one_nodes(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    struct memory_nodes nodes = {0};

    if (memory_nodes_add_stat(&nodes, input, PAGE) == 0)
        assert_nodes(&nodes);
    nodes = (struct memory_nodes){0};
    if (memory_nodes_add_maps(&nodes, input, PAGE) == 0)
        assert_nodes(&nodes);
    free(input);
}

/* A path is a part of the text, and ends in the step's folder, whatever else is said there. */
static void one_cgroup(const uint8_t *data, size_t size)
{
    static const struct wire_step_id id = {4711, 3};
    static const char *const controller[] = {"memory", "cpuacct", NULL};
    char *input = fuzz_text(data, size), *part[2], path[128];
    struct step_cgroup cgroup;
    struct step_cgroup_cpu cpu;
    const pid_t pid = 43;

    fuzz_parts(input, part, 2);
    for (size_t i = 0; i < 3; i++)
        if (step_cgroup_path(part[0], controller[i], id, path, sizeof(path)) == 0)
            fuzz_assert(strstr(part[0], path) && strstr(path, "/step_3"));
    folder_put(fuzz_folder(), "proc/43/cgroup", part[0]);
    folder_put(fuzz_folder(), "cg/system.slice/slurmstepd.scope/job_4711/step_3/user/cpu.stat",
               part[1]);
    if (step_cgroup_open(&cgroup, fake_root(), "/cg", id, &pid, 1) == 0 &&
        step_cgroup_read(&cgroup, &cpu) == 0)
        fuzz_assert(cpu.cpu_ns >= 0 && cpu.user_ns >= 0 && cpu.system_ns >= 0);
    step_cgroup_close(&cgroup);
    free(input);
}

static void one_busy(const uint8_t *data, size_t size)
{
    static struct cpu_busy busy;
    char *input = fuzz_text(data, size);
    struct berth_error err = {""};

    folder_put(fuzz_folder(), "proc/stat", input);
    if (cpu_busy_read(fake_root(), &busy, &err) == 0)
        fuzz_assert(cpu_busy_sum(&busy, &busy.known) >= 0);
    else
        fuzz_assert(err.text[0]);
    free(input);
}

const struct fuzz_target fuzz_process_stat = {
    .name = "process_stat", .one = one_stat, .seed = stat_seeds};
const struct fuzz_target fuzz_process_files = {
    .name = "process_files", .one = one_files, .seed = files_seeds, .slow = 4};
const struct fuzz_target fuzz_memory_ranges = {
    .name = "memory_ranges", .one = one_ranges, .seed = ranges_seeds};
const struct fuzz_target fuzz_memory_nodes = {
    .name = "memory_nodes", .one = one_nodes, .seed = nodes_seeds};
const struct fuzz_target fuzz_step_cgroup = {
    .name = "step_cgroup", .one = one_cgroup, .seed = cgroup_seeds, .slow = 4};
const struct fuzz_target fuzz_cpu_busy = {.name = "cpu_busy", .one = one_busy, .seed = busy_seeds};

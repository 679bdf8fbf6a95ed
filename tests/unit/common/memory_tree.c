/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_tree - see memory_tree.h */
#include "tests/unit/common/memory_tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

void memory_tree_new(struct memory_tree *tree)
{
    struct berth_error err;

    *tree = (struct memory_tree){.n = 0};
    folder_new(tree->dir, sizeof(tree->dir), "berth-memories");
    folder_make(tree->dir, "sys/bus/event_source/devices");
    folder_make(tree->dir, "proc");
    assert_int_equal(rootfs_open(&tree->root, tree->dir, &err), 0);
}

void memory_tree_free(struct memory_tree *tree)
{
    for (size_t i = 0; i < tree->n; i++)
        close(tree->event[i].fd);
    rootfs_close(&tree->root);
    folder_remove(tree->dir);
}

void memory_tree_put(struct memory_tree *tree, const char *pmu, const char *file, const char *text)
{
    char path[160];

    snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/%s", pmu, file);
    folder_put(tree->dir, path, text);
}

void memory_tree_family_10h(struct memory_tree *tree)
{
    folder_put(tree->dir, "proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 16\n");
    memory_tree_put(tree, "cpu", "type", "4\n");
    memory_tree_put(tree, "cpu", "format/event", "config:0-7,32-35\n");
    memory_tree_put(tree, "cpu", "format/umask", "config:8-15\n");
}

void memory_tree_nehalem_ex(struct memory_tree *tree, const char *cpus)
{
    static const char *const pmus[] = {"uncore_mbox_0", "uncore_mbox_1"};

    for (size_t i = 0; i < 2; i++) {
        memory_tree_put(tree, pmus[i], "type", i ? "21\n" : "20\n");
        memory_tree_put(tree, pmus[i], "cpumask", cpus);
        memory_tree_put(tree, pmus[i], "format/inc_sel", "config:9-13\n");
        memory_tree_put(tree, pmus[i], "format/fvc", "config1:0-31\n");
        memory_tree_put(tree, pmus[i], "events/bbox_cmds_read", "inc_sel=0xd,fvc=0x2800\n");
        memory_tree_put(tree, pmus[i], "events/bbox_cmds_write", "inc_sel=0xd,fvc=0x2820\n");
    }
}

static void put_value(int fd, uint64_t count, uint64_t enabled, uint64_t running)
{
    uint64_t value[3] = {count, enabled, running};

    assert_int_equal(pwrite(fd, value, sizeof(value), 0), sizeof(value));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
}

int memory_tree_open(const struct perf_event_attr *attr, int cpu, void *arg)
{
    struct memory_tree *tree = arg;
    int fd;

    if (tree->refuse && attr->config == tree->refuse) {
        errno = EACCES;
        return -1;
    }
    assert_in_range(tree->n, 0, MEMORY_TREE_EVENTS - 1);
    fd = memfd_create("event", MFD_CLOEXEC);
    put_value(fd, 0, 0, 0);
    tree->event[tree->n].attr = *attr;
    tree->event[tree->n].cpu = cpu;
    tree->event[tree->n++].fd = dup(fd); /* both have one offset */
    return fd;
}

void memory_tree_count(struct memory_tree *tree,
                       double counted(const struct perf_event_attr *attr, int cpu, void *arg),
                       void *arg, uint64_t enabled, uint64_t running)
{
    for (size_t i = 0; i < tree->n; i++)
        put_value(tree->event[i].fd,
                  (uint64_t)counted(&tree->event[i].attr, tree->event[i].cpu, arg), enabled,
                  running);
}

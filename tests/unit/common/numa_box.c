/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_box - see numa_box.h */
#include "tests/unit/common/numa_box.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

static void append(const struct numa_box *box, pid_t pid, const char *file, const char *text)
{
    char path[160];
    FILE *out;

    snprintf(path, sizeof(path), "%s/proc/%d/%s", box->dir, (int)pid, file);
    out = fopen(path, "a");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static struct box_page *find(struct numa_box *box, pid_t pid, uint64_t address)
{
    for (size_t i = 0; i < box->n; i++)
        if (box->page[i].pid == pid && box->page[i].address == address)
            return &box->page[i];
    return NULL;
}

static void query(struct numa_box *box, pid_t pid, size_t count, void *const *page, int *status)
{
    box->queries++;
    for (size_t i = 0; i < count; i++) {
        const struct box_page *found = find(box, pid, (uintptr_t)page[i]);
        bool hidden = box->hidden && (uintptr_t)page[i] / 4096 % 3 == 0;

        status[i] = found && found->node >= 0 && !hidden ? found->node : -ENOENT;
    }
}

static void move_folio(struct numa_box *box, const struct box_page *page, int node)
{
    unsigned folio = page->folio;

    for (size_t i = 0; i < box->n; i++)
        if (&box->page[i] == page || (folio && box->page[i].folio == folio))
            box->page[i].node = node;
}

/* The second page of a huge one finds it on its way already (Linux 6.1 to 6.18). */
static int move_one(struct numa_box *box, struct box_page *page, int node, int flags,
                    unsigned *under_way)
{
    if (!page || page->node < 0)
        return -ENOENT;
    if (page->folio && *under_way == page->folio)
        return -EBUSY;
    if (page->mapped_twice && flags != MPOL_MF_MOVE_ALL)
        return -EACCES;
    if (page->busy && page->busy--)
        return -EBUSY;
    move_folio(box, page, node);
    *under_way = page->folio;
    return node;
}

static bool has_process(const struct numa_box *box, pid_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return rootfs_exists(&box->root, path);
}

static long move_pages_on_paper(void *arg, pid_t pid, size_t count, void *const *page,
                                const int *node, int *status, int flags)
{
    struct numa_box *box = arg;
    unsigned under_way = 0;

    if (!has_process(box, pid))
        return errno = ESRCH, -1;
    if (!node) {
        query(box, pid, count, page, status);
        return 0;
    }
    if (++box->moves == box->fail_at)
        return errno = box->fail_with, -1;
    if (box->gated) {
        sem_post(&box->come);
        sem_wait(&box->go);
    }
    for (size_t i = 0; i < count; i++) {
        assert_in_range(node[i], 0, box->nodes - 1);
        status[i] = move_one(box, find(box, pid, (uintptr_t)page[i]), node[i], flags, &under_way);
    }
    return 0;
}

void numa_box_free(struct numa_box *box, int node, unsigned long free_kib)
{
    char path[160];
    FILE *out;

    snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%d", box->dir, node);
    mkdir(path, 0755);
    strcat(path, "/meminfo");
    out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "Node %d MemTotal:  8388608 kB\nNode %d MemFree:  %lu kB\n"
            "Node %d Inactive(file):  1024 kB\n",
            node, node, free_kib, node);
    fclose(out);
}

/* 10 within a node, 21 between two, as one package's node and another's. */
static void set_distances(const struct numa_box *box, int node)
{
    char path[160];
    FILE *out;

    snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%d/distance", box->dir, node);
    out = fopen(path, "w");
    assert_non_null(out);
    for (int i = 0; i < box->nodes; i++)
        fprintf(out, "%s%d", i ? " " : "", i == node ? 10 : 21);
    fputc('\n', out);
    fclose(out);
}

struct numa_box *numa_box_open(int nodes)
{
    struct numa_box *box = calloc(1, sizeof(*box));
    struct berth_error err;

    folder_new(box->dir, sizeof(box->dir), "berth-numa");
    folder_make(box->dir, "proc");
    folder_make(box->dir, "sys/devices/system/node");
    assert_int_equal(rootfs_open(&box->root, box->dir, &err), 0);
    box->nodes = nodes;
    for (int i = 0; i < nodes; i++) {
        numa_box_free(box, i, 4 << 20);
        set_distances(box, i);
    }
    sem_init(&box->come, 0, 0);
    sem_init(&box->go, 0, 0);
    box->system = (struct memory_system){
        .root = &box->root, .move_pages = move_pages_on_paper, .arg = box, .limit_s = 600};
    return box;
}

void numa_box_close(struct numa_box *box)
{
    folder_remove(box->dir);
    rootfs_close(&box->root);
    sem_destroy(&box->come);
    sem_destroy(&box->go);
    free(box);
}

void numa_box_start(struct numa_box *box, pid_t pid, unsigned started_s)
{
    char path[128], text[256];

    snprintf(path, sizeof(path), "%s/proc/%d", box->dir, (int)pid);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(text, sizeof(text),
             "%d (a b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %lu 0 100 0 0 0 0 0 0 0 0 0\n",
             (int)pid, started_s * (unsigned long)sysconf(_SC_CLK_TCK));
    append(box, pid, "stat", text);
    append(box, pid, "maps", "");
    append(box, pid, "numa_maps", "");
    append(box, pid, "pagemap", "");
}

/* The page is there, as pagemap tells it. */
static void set_present(const struct numa_box *box, pid_t pid, uint64_t address)
{
    uint64_t entry = (uint64_t)1 << 63;
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/proc/%d/pagemap", box->dir, (int)pid);
    fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, &entry, sizeof(entry), (off_t)(address / 4096 * sizeof(entry))),
                     sizeof(entry));
    close(fd);
}

/* pagemap has an entry, if a zero one, for every page up to there. */
static void extend(const struct numa_box *box, pid_t pid, uint64_t address)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/proc/%d/pagemap", box->dir, (int)pid);
    assert_int_equal(truncate(path, (off_t)(address / 4096 * sizeof(uint64_t))), 0);
}

struct box_page *numa_box_map(struct numa_box *box, struct box_map map)
{
    size_t kib = map.page_kib ? map.page_kib : 4, every = map.every ? map.every : 1, first = box->n;
    uint64_t end = map.start + map.pages * kib * 1024;
    bool inode = map.path && map.path[0] == '/';
    char text[512];

    extend(box, map.pid, end);
    for (size_t i = 0; i < map.pages; i += every) {
        assert_true(box->n < BOX_PAGES);
        box->page[box->n++] = (struct box_page){
            .pid = map.pid, .address = map.start + i * kib * 1024, .node = map.node};
        set_present(box, map.pid, map.start + i * kib * 1024);
    }
    snprintf(text, sizeof(text), "%lx-%lx %s 00000000 00:01 %d %s\n", (unsigned long)map.start,
             (unsigned long)end, map.perms ? map.perms : "rw-p", inode ? 77 : 0,
             map.path ? map.path : "");
    append(box, map.pid, "maps", text);
    snprintf(text, sizeof(text), "%lx %s anon=1 N%d=%zu kernelpagesize_kB=%zu\n",
             (unsigned long)map.start, map.policy ? map.policy : "default", map.node,
             box->n - first, kib);
    append(box, map.pid, "numa_maps", text);
    return &box->page[first];
}

void numa_box_end(struct numa_box *box, pid_t pid)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/proc/%d", box->dir, (int)pid);
    folder_remove(path);
}

size_t numa_box_count(const struct numa_box *box, pid_t pid, int node)
{
    size_t n = 0;

    for (size_t i = 0; i < box->n; i++)
        n += box->page[i].pid == pid && box->page[i].node == node;
    return n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bill_box - see bill_box.h */
#include "tests/unit/common/bill_box.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"
#include "enum_table.h"

static const char *const TABLE(folder, BOX_ZONES) = {
    ROW(BOX_PACKAGE_0) = "intel-rapl:0", ROW(BOX_DRAM_0) = "intel-rapl:0:0",
    ROW(BOX_PACKAGE_1) = "intel-rapl:1", ROW(BOX_DRAM_1) = "intel-rapl:1:0",
    ROW(BOX_NODE) = "intel-rapl:2",
};
TABLE_COMPLETE(folder);
static const char *const TABLE(name, BOX_ZONES) = {
    ROW(BOX_PACKAGE_0) = "package-0", ROW(BOX_DRAM_0) = "dram", ROW(BOX_PACKAGE_1) = "package-1",
    ROW(BOX_DRAM_1) = "dram",         ROW(BOX_NODE) = "psys",
};
TABLE_COMPLETE(name);

/* Over what is there, which is as long: a file that is cut first is written to the disk at once. */
static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void file_of(const struct bill_box *box, size_t zone, const char *file, char path[256])
{
    snprintf(path, 256, "%s/sys/class/powercap/%s/%s", box->f->dir, folder[zone], file);
}

static void make_zone(const struct bill_box *box, size_t zone)
{
    char path[256], text[32];

    file_of(box, zone, "", path);
    assert_int_equal(mkdir(path, 0755), 0);
    file_of(box, zone, "name", path);
    snprintf(text, sizeof(text), "%s\n", name[zone]);
    write_text(path, text);
    file_of(box, zone, "max_energy_range_uj", path);
    snprintf(text, sizeof(text), "%lu\n", (unsigned long)BOX_RANGE);
    write_text(path, text);
}

static void make_folders(const struct bill_box *box)
{
    folder_make(box->f->dir, "sys/class/powercap");
    folder_make(box->f->dir, "proc");
}

/* The files say what is true now. */
static void write_files(const struct bill_box *box)
{
    const struct packer *packer = &box->f->packer;
    char path[256], text[32], *all = NULL;
    FILE *stat_text;
    size_t size = 0;

    for (size_t i = 0; i < BOX_ZONES; i++) {
        struct stat there;

        file_of(box, i, "", path);
        if (stat(path, &there) < 0)
            continue;
        file_of(box, i, "energy_uj", path);
        snprintf(text, sizeof(text), "%020" PRIu64 "\n", box->raw[i]);
        if (box->lost[i])
            text[0] = '?';
        write_text(path, text);
    }
    stat_text = open_memstream(&all, &size);
    assert_non_null(stat_text);
    cpus_foreach(cpu, &packer->world.topo->cpus)
        fprintf(stat_text, "cpu%zu %012u 0 0 0 0 0 0 0 0 0\n", cpu, box->ticks[cpu]);
    fclose(stat_text);
    snprintf(path, sizeof(path), "%s/proc/stat", box->f->dir);
    write_text(path, all);
    free(all);
}

void bill_box_reopen(struct bill_box *box)
{
    struct packer *packer = &box->f->packer;
    struct berth_error err;

    write_files(box);
    rootfs_close(&packer->world.root);
    assert_int_equal(rootfs_open(&packer->world.root, box->f->dir, NULL), 0);
    bill_close(packer->state->bill);
    packer->state->bill = NULL;
    if (bill_open_at(&packer->state->bill, packer, box->now_s, &err) < 0)
        fail_msg("%s", err.text);
}

struct bill_box *bill_box_open(const char *topology, size_t zones)
{
    struct bill_box *box = calloc(1, sizeof(*box));

    assert_non_null(box);
    box->f = fixture_open(topology);
    box->now_s = clock_s() + 1e6;
    make_folders(box);
    for (size_t i = 0; i < BOX_ZONES; i++)
        box->raw[i] = BOX_RANGE - 20000000 + i;
    for (size_t i = 0; i < zones; i++)
        make_zone(box, i);
    write_files(box);
    strcpy(box->f->conf.energy, "powercap");
    snprintf(box->f->conf.energy_root, sizeof(box->f->conf.energy_root), "%s", box->f->dir);
    fixture_restart(box->f);
    fixture_paper(box->f);
    bill_box_reopen(box);
    assert_int_equal(box->f->packer.state->bill->zones, zones);
    return box;
}

void bill_box_close(struct bill_box *box)
{
    fixture_close(box->f);
    free(box);
}

void bill_box_use(struct bill_box *box, size_t zone, uint64_t uj)
{
    box->used[zone] += uj;
    box->raw[zone] = (box->raw[zone] + uj) % BOX_RANGE;
}

void bill_box_work(struct bill_box *box, size_t cpu, double s)
{
    box->ticks[cpu] += (unsigned)(s * 100 + 0.5);
}

void bill_box_turn(struct bill_box *box, double s)
{
    box->now_s += s;
    write_files(box);
    box->f->packer.state->bill->save_took_s = 0; /* a loaded machine writes no less often */
    bill_turn_at(&box->f->packer, box->now_s);
}

void bill_box_die(struct bill_box *box, double s)
{
    box->now_s += s;
    write_files(box);
    fixture_restart(box->f);
    bill_box_reopen(box);
}

void bill_box_boot(struct bill_box *box, const char *boot_id)
{
    folder_put(box->f->dir, "proc/sys/kernel/random/boot_id", boot_id);
}

void bill_box_stop(struct bill_box *box, const char *boot_id)
{
    bill_box_boot(box, boot_id);
    pipeline_undo(&box->f->packer);
}

struct bill_account bill_box_account(const struct bill_box *box, size_t zone)
{
    struct bill_account account;
    struct energy_zone what;

    assert_true(bill_zone(&box->f->packer, zone, &what, &account));
    return account;
}

void bill_box_adds_up(const struct bill_box *box)
{
    for (size_t i = 0; i < box->f->packer.state->bill->zones; i++) {
        struct bill_account account = bill_box_account(box, i);

        assert_true(account.metered_uj ==
                    account.steps_uj + account.idle_uj + account.unmanaged_uj);
    }
}

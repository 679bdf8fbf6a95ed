/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep - the profile store is told how many threads a program should have. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/common/program.h"
#include "packer/cli/common/store.h"
#include "probe/threads/probe.h"
#include "probe/threads/threads.h"
#include "packer/machine/topo.h"
#include "packer/machine/type.h"

/* What berthd says of this machine, too. */
static int read_machine(const char *topology, char machine[PROFILE_MACHINE_MAX],
                        struct berth_error *err)
{
    struct rootfs root;
    struct topo *topo;

    if (topo_read(&topo, topology, err) < 0)
        return -1;
    machine[0] = '\0';
    if (rootfs_open(&root, "/", NULL) == 0) {
        machine_type(topo, &root, machine, PROFILE_MACHINE_MAX);
        rootfs_close(&root);
    }
    topo_free(topo);
    return 0;
}

static int fill_row(const struct threads_args *args, unsigned parameter,
                    struct profile_threads *row, struct berth_error *err)
{
    struct ctl_program program;
    char path[PATH_MAX];

    *row = (struct profile_threads){.uid = geteuid(),
                                    .cores = (uint32_t)args->cores,
                                    .threads = parameter,
                                    .environment = !probe_has_place(args->command),
                                    .measured_at = time(NULL)};
    if (ctl_program_find(args->command[0], path, err) < 0 ||
        ctl_program_identify(&program, args->tag, args->command, path, err) < 0)
        return -1;
    snprintf(row->key, sizeof(row->key), "%s", program.key);
    snprintf(row->shape, sizeof(row->shape), "%s", program.shape);
    return read_machine(args->topology, row->machine, err);
}

/* Writes the row by the way in which its user may write. */
static int put(struct ctl_store *store, const struct profile_threads *row, struct berth_error *err)
{
    struct profiles_imported imported;
    char *line = NULL;
    size_t length;
    FILE *out = open_memstream(&line, &length);
    int rc;

    if (!out)
        return berth_no_memory(err);
    rc = profiles_export_threads(row, out);
    if (fclose(out) != 0 || rc < 0)
        rc = berth_no_memory(err);
    else
        rc = ctl_store_import(store, line, length, true, &imported, err);
    free(line);
    return rc;
}

int threads_keep(const struct threads_args *args, unsigned parameter, struct berth_error *err)
{
    struct profile_threads row;
    struct ctl_store store;
    struct conf conf;
    int rc;

    if (ctl_conf(NULL, &conf, err) < 0 || fill_row(args, parameter, &row, err) < 0 ||
        ctl_store_open(&store, &conf, args->db, args->socket, true, err) < 0)
        return -1;
    rc = put(&store, &row, err);
    ctl_store_close(&store);
    return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_cores - see slurm_cores.h */
#include "packer/slurm/slurm_cores.h"

#include <stdlib.h>
#include <string.h>

#include "packer/slurm/slurm_conf.h"

/* What the lines of nodes say. */
struct lines {
    size_t threads; /* of this node */
    bool counted;   /* a node has as many CPUs */
    bool told;      /* which of them share a core */
};

static void read_node(const char *line, void *arg)
{
    struct lines *lines = arg;
    char cpus[32] = "", threads[32] = "";

    slurm_conf_inside(line, "CPUs", cpus, sizeof(cpus));
    slurm_conf_inside(line, "ThreadsPerCore", threads, sizeof(threads));
    lines->counted |= strtoul(cpus, NULL, 10) == lines->threads;
    lines->told |= strtoul(threads, NULL, 10) > 1;
}

enum slurm_cores slurm_cores_read(const char *path, size_t threads, struct berth_error *err)
{
    struct lines lines = {.threads = threads};
    char parameters[256] = "";

    if (slurm_conf_value(path, "SelectTypeParameters", parameters, sizeof(parameters), err) < 0 ||
        slurm_conf_each(path, "NodeName", read_node, &lines, err) < 0)
        return SLURM_CORES_UNKNOWN;
    return strcasestr(parameters, "CR_CPU") && lines.counted && !lines.told ? SLURM_CORES_SHARED
                                                                            : SLURM_CORES_WHOLE;
}

bool slurm_cores_are_split(const struct conf *conf, size_t threads)
{
    struct berth_error err;
    enum slurm_cores cores;

    if (conf->places == CONF_PLACES_CORES)
        return false;
    cores = slurm_cores_read(slurm_conf_path(conf), threads, &err);
    if (cores == SLURM_CORES_UNKNOWN)
        log_info("whether jobs share cores is not known: %s", err.text);
    if (conf->places == CONF_PLACES_THREADS && cores == SLURM_CORES_WHOLE)
        log_warn("places = threads: slurm.conf gives jobs whole cores, which stay whole");
    return cores == SLURM_CORES_SHARED ||
           (cores == SLURM_CORES_UNKNOWN && conf->places == CONF_PLACES_THREADS);
}

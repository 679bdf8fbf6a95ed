/* SPDX-License-Identifier: GPL-2.0-or-later */
/* made_machine - see made_machine.h */
#include "tests/unit/common/made_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hwloc.h>

static hwloc_bitmap_t bitmap_of(const char *cpus)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();

    assert_non_null(set);
    assert_int_equal(hwloc_bitmap_list_sscanf(set, cpus), 0);
    return set;
}

static void take_offline(hwloc_topology_t hwloc, const char *cpus)
{
    hwloc_bitmap_t set = bitmap_of(cpus);

    hwloc_bitmap_andnot(set, hwloc_topology_get_topology_cpuset(hwloc), set);
    assert_int_equal(hwloc_topology_restrict(hwloc, set, 0), 0);
    hwloc_bitmap_free(set);
}

static void add_kind(hwloc_topology_t hwloc, const struct made_kind *kind, int efficiency)
{
    struct hwloc_info_s info = {(char *)kind->name, (char *)kind->value};
    hwloc_bitmap_t set = bitmap_of(kind->cpus);

    assert_int_equal(hwloc_cpukinds_register(hwloc, set, kind->name ? -1 : efficiency,
                                             kind->name ? 1 : 0, &info, 0),
                     0);
    hwloc_bitmap_free(set);
}

void made_machine_write(const struct made_machine *made, const char *path)
{
    hwloc_topology_t hwloc;

    assert_int_equal(hwloc_topology_init(&hwloc), 0);
    assert_int_equal(hwloc_topology_set_synthetic(hwloc, made->synthetic), 0);
    assert_int_equal(hwloc_topology_load(hwloc), 0);
    for (int i = 0; i < MADE_KINDS && made->kind[i].cpus; i++)
        add_kind(hwloc, &made->kind[i], i);
    if (made->offline)
        take_offline(hwloc, made->offline);
    assert_int_equal(hwloc_topology_export_xml(hwloc, path, 0), 0);
    hwloc_topology_destroy(hwloc);
}

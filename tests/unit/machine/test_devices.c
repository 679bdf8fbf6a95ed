/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_devices - which devices a node has, what they are called and where they are: made trees of
 * /sys and /proc, and the machines that others recorded, where those are at hand. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/machine/devices.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/recorded.h"

#define TWO_NODES "numa:2 l3:1 core:4 pu:1" /* CPUs 0-3 and 4-7 */

struct scene {
    char dir[64];
    struct rootfs root;
    struct topo *topo;
    struct devices *devices;
};

static int begin(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    folder_new(scene->dir, sizeof(scene->dir), "devices");
    assert_int_equal(rootfs_open(&scene->root, scene->dir, NULL), 0);
    assert_int_equal(topo_read(&scene->topo, TWO_NODES, NULL), 0);
    *state = scene;
    return 0;
}

static int end(void **state)
{
    struct scene *scene = *state;

    devices_free(scene->devices);
    topo_free(scene->topo);
    rootfs_close(&scene->root);
    folder_remove(scene->dir);
    free(scene);
    return 0;
}

static void put(struct scene *scene, const char *pci, const char *file, const char *text)
{
    char path[128];

    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s", pci, file);
    folder_put(scene->dir, path, text);
}

/* Adds a PCI device near these CPUs. */
static void add(struct scene *scene, const char *pci, const char *class, const char *vendor,
                const char *node, const char *cpus)
{
    put(scene, pci, "class", class);
    put(scene, pci, "vendor", vendor);
    put(scene, pci, "numa_node", node);
    put(scene, pci, "local_cpulist", cpus);
}

static void add_nvidia(struct scene *scene, const char *pci, const char *minor, const char *uuid)
{
    char path[128], text[256];

    snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", pci);
    snprintf(text, sizeof(text),
             "Model: \t\t NVIDIA H100\nIRQ:   \t\t 1\nGPU UUID: \t %s\nDevice Minor: \t %s\n", uuid,
             minor);
    folder_put(scene->dir, path, text);
}

static void read_all(struct scene *scene)
{
    struct berth_error err;

    devices_free(scene->devices);
    assert_int_equal(devices_read(&scene->devices, scene->topo, TWO_NODES, &scene->root, &err), 0);
}

/* Which device is called so, and near which CPUs is it? */
static void assert_found(const struct scene *scene, const char *name, const char *pci,
                         const char *near)
{
    const struct device *device = devices_find(scene->devices, name);
    char text[CPUS_TEXT_MAX];

    if (!device != !pci)
        fail_msg("%s: %s", name, device ? device->pci : "not found");
    if (!device)
        return;
    assert_string_equal(device->pci, pci);
    assert_int_equal(cpus_format(&device->cpus, text, sizeof(text)), 0);
    assert_string_equal(text, near);
}

static void test_nvidia(void **state)
{
    struct scene *scene = *state;
    char text[DEVICE_TEXT_MAX];

    add(scene, "0000:3b:00.0", "0x030200\n", "0x10de\n", "1\n", "4-7\n");
    add(scene, "0000:86:00.0", "0x030200\n", "0x10de\n", "0\n", "0-3\n");
    add(scene, "0000:02:00.0", "0x030000\n", "0x1a03\n", "0\n", "0-3\n"); /* of the BMC */
    read_all(scene);
    assert_int_equal(scene->devices->n, 2);
    assert_found(scene, "gpu:0", "0000:3b:00.0", "4-7"); /* no driver: by their addresses */
    assert_found(scene, "gpu:2", NULL, NULL);
    add_nvidia(scene, "0000:3b:00.0", "1", "GPU-aaaa");
    add_nvidia(scene, "0000:86:00.0", "0", "GPU-bbbb");
    read_all(scene);
    assert_found(scene, "gpu:0", "0000:86:00.0", "0-3");
    assert_found(scene, "gpu:1", "0000:3b:00.0", "4-7");
    assert_found(scene, "cuda:0", "0000:3b:00.0", "4-7"); /* as CUDA counts: by the bus */
    assert_found(scene, "cuda:GPU-bbbb", "0000:86:00.0", "0-3");
    assert_found(scene, "cuda:MIG-cccc", NULL, NULL);
    assert_found(scene, "rocm:0", NULL, NULL);
    assert_string_equal(device_text(devices_find(scene->devices, "gpu:1"), text),
                        "gpu1 (PCI 0000:3b:00.0, node 1)");
}

static void test_amd(void **state)
{
    struct scene *scene = *state;

    add(scene, "0000:c1:00.0", "0x038000\n", "0x1002\n", "0\n", "0-3\n");
    put(scene, "0000:c1:00.0", "drm/renderD129/dev", "226:129\n");
    put(scene, "0000:c1:00.0", "drm/card1/dev", "226:1\n");
    add(scene, "0000:d1:00.0", "0x120000\n", "0x1002\n", "1\n", "4-7\n");
    put(scene, "0000:d1:00.0", "drm/renderD128/dev", "226:128\n");
    read_all(scene);
    assert_found(scene, "gpu:0", "0000:c1:00.0", "0-3");
    assert_found(scene, "rocm:1", "0000:d1:00.0", "4-7");
    assert_found(scene, "gpu:128", "0000:d1:00.0",
                 "4-7"); /* gres.conf's File=/dev/dri/renderD128 */
    assert_found(scene, "gpu:-1", NULL, NULL);
    assert_found(scene, "gpu:", NULL, NULL);
    assert_found(scene, "quantum:0", NULL, NULL);
}

/* GPUs of two vendors: Slurm's number tells nothing where no driver says it. */
static void test_mixed(void **state)
{
    struct scene *scene = *state;

    add(scene, "0000:03:00.0", "0x030000\n", "0x1002\n", "0\n", "0-3\n");
    add(scene, "0000:3b:00.0", "0x030200\n", "0x10de\n", "1\n", "4-7\n");
    read_all(scene);
    assert_found(scene, "gpu:0", NULL, NULL);
    assert_found(scene, "cuda:0", "0000:3b:00.0", "4-7");
    add_nvidia(scene, "0000:3b:00.0", "0", "GPU-aaaa");
    read_all(scene);
    assert_found(scene, "gpu:0", "0000:3b:00.0", "4-7");
}

static void test_network(void **state)
{
    struct scene *scene = *state;

    add(scene, "0000:17:00.0", "0x020700\n", "0x15b3\n", "0\n", "0-3\n");
    put(scene, "0000:17:00.0", "infiniband/mlx5_0/node_guid", "");
    put(scene, "0000:17:00.0", "net/ib0/mtu", "");
    add(scene, "0000:18:00.0", "0x020000\n", "0x8086\n", "1\n", "4-7\n");
    put(scene, "0000:18:00.0", "net/eth0/mtu", "");
    add(scene, "0000:18:02.0", "0x020000\n", "0x8086\n", "1\n", "4-7\n");
    put(scene, "0000:18:02.0", "physfn/class", ""); /* a virtual function */
    add(scene, "0000:19:00.0", "0x020000\n", "0x8086\n", "1\n", "4-7\n");
    read_all(scene);
    assert_int_equal(scene->devices->n, 3);
    assert_string_equal(scene->devices->device[0].name, "mlx5_0");
    assert_string_equal(scene->devices->device[1].name, "eth0");
    assert_string_equal(scene->devices->device[2].name, "0000:19:00.0");
    assert_found(scene, "nic:0", "0000:17:00.0", "0-3");
    assert_found(scene, "nic:1", NULL, NULL);
}

/* What the kernel says of a device's place, and what it does not. */
static void test_places(void **state)
{
    static const struct {
        const char *node, *cpus, *near;
        int is;
    } places[] = {
        {"-1\n", "0-7\n", "", -1},   {"-1\n", "", "", -1},          {"1\n", "", "4-7", 1},
        {"-1\n", "4-7\n", "4-7", 1}, {"0\n", "0-3,64\n", "0-3", 0}, {"9\n", "nonsense\n", "", 9},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        add(scene, "0000:3b:00.0", "0x030200\n", "0x10de\n", places[i].node, places[i].cpus);
        read_all(scene);
        assert_found(scene, "gpu:0", "0000:3b:00.0", places[i].near);
        assert_int_equal(scene->devices->device[0].node, places[i].is);
    }
}

/* On one memory node every CPU is near. */
static void test_one_node(void **state)
{
    struct scene *scene = *state;

    topo_free(scene->topo);
    assert_int_equal(topo_read(&scene->topo, "package:1 l3:2 core:2 pu:1", NULL), 0);
    add(scene, "0000:3b:00.0", "0x030200\n", "0x10de\n", "-1\n", "\n");
    read_all(scene);
    assert_found(scene, "gpu:0", "0000:3b:00.0", "0-3");
    assert_int_equal(scene->devices->device[0].node, 0);
}

/* As a guest of Firecracker has them: nobody says where a device is, which does not matter on one
 * memory node, and what draws no picture and is no network is of no kind. */
static void test_guest(void **state)
{
    struct scene *scene = *state;

    topo_free(scene->topo);
    assert_int_equal(topo_read(&scene->topo, "package:1 l3:1 core:16 pu:1", NULL), 0);
    add(scene, "0000:00:00.0", "0x060000\n", "0x8086\n", "-1\n", "0-15\n");
    add(scene, "0000:00:01.0", "0x018000\n", "0x1af4\n", "-1\n", "0-15\n");
    put(scene, "0000:00:01.0", "virtio0/block/vda/dev", "254:0\n");
    add(scene, "0000:00:03.0", "0x020000\n", "0x1af4\n", "-1\n", "0-15\n");
    put(scene, "0000:00:03.0", "virtio2/net/eth0/mtu", "");
    add(scene, "0000:00:04.0", "0xffff00\n", "0x1af4\n", "-1\n", "0-15\n");
    put(scene, "0000:00:04.0", "virtio3/driver_override", "");
    add(scene, "0000:00:06.0", "0x030200\n", "0x10de\n", "-1\n", "0-15\n");
    add_nvidia(scene, "0000:00:06.0", "0", "GPU-aaaa");
    read_all(scene);
    assert_int_equal(scene->devices->n, 2);
    assert_string_equal(scene->devices->device[0].name, "eth0");
    assert_found(scene, "gpu:0", "0000:00:06.0", "0-15");
    assert_found(scene, "cuda:0", "0000:00:06.0", "0-15");
    assert_int_equal(scene->devices->device[1].node, 0);
}

static void test_nothing(void **state)
{
    struct scene *scene = *state;

    read_all(scene);
    assert_int_equal(scene->devices->n, 0);
    assert_found(scene, "gpu:0", NULL, NULL);
}

/* ---- what others recorded ---- */

static void check_recorded(const char *path, void *arg)
{
    size_t *devices = arg;
    struct topo *topo;
    struct devices *found;
    struct berth_error err;

    if (topo_read(&topo, path, &err) < 0)
        return;
    assert_int_equal(devices_read(&found, topo, path, NULL, &err), 0);
    for (size_t i = 0; i < found->n; i++) {
        const struct device *device = &found->device[i];

        assert_true(device->name[0] && device->pci[0]);
        assert_true(cpus_subset(&device->cpus, &topo->cpus));
        assert_true(i == 0 || strcmp(found->device[i - 1].pci, device->pci) < 0);
    }
    *devices += found->n;
    devices_free(found);
    topo_free(topo);
}

static void test_recorded(void **state)
{
    size_t devices = 0, files;

    (void)state;
    files = recorded_topologies(check_recorded, &devices);
    if (files == 0)
        skip();
    print_message("%zu topologies, %zu devices\n", files, devices);
    assert_true(devices > 0);
}

/* Two NVIDIA GPUs and an adapter, all of the first socket, on a node of a laboratory's cluster. */
static void test_pascal(void **state)
{
    char path[512];
    struct scene *scene = *state;

    if (!recorded_path("topologies/cts1-pascal.xml", path))
        skip();
    topo_free(scene->topo);
    assert_int_equal(topo_read(&scene->topo, path, NULL), 0);
    assert_int_equal(devices_read(&scene->devices, scene->topo, path, NULL, NULL), 0);
    assert_found(scene, "gpu:0", "0000:04:00.0", "0-17,36-53");
    assert_found(scene, "gpu:1", "0000:07:00.0", "0-17,36-53");
    assert_non_null(devices_find(scene->devices, "nic:0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nvidia),   TEST(test_amd),      TEST(test_mixed), TEST(test_network),
        TEST(test_places),   TEST(test_one_node), TEST(test_guest), TEST(test_nothing),
        TEST(test_recorded), TEST(test_pascal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

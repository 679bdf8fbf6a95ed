/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of topologies: synthetic texts as they come, and XML files of hwloc, of which the
 * input chooses the shape (hwloc's own parser dies of XML that is none; berth.conf names the file,
 * so it is root's). What is made of one is sound: each core is in a cache, each cache in a package,
 * each CPU in one core. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/machine/topo.h"
#include "tests/fuzz/fuzz.h"

#define PUS_MAX 28
#define CPUS_SMALL 128

/* With a first byte of '<', the rest says what an XML has. */
static const char *const seeds[] = {"package:2 l3:2 core:4 pu:2",
                                    "pu:4",
                                    "package:1 [numa] l2:2 core:2 pu:1",
                                    "<abcabcabcabc",
                                    "<\x02\x02\x01\x03\x07\x02\x01\x01",
                                    "<0123456789012345",
                                    NULL};

/* AddressSanitizer's, where it is: hwloc leaks a little of what it refuses, once a start of berthd.
 */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

struct shape {
    const uint8_t *data;
    size_t size;
    FILE *out;
    unsigned pus, first, packages;
    bool node_each;
};

/* The next number below a limit; 0 where the input has ended. */
static unsigned next(struct shape *shape, unsigned below)
{
    if (!shape->size)
        return 0;
    shape->size--;
    return *shape->data++ % below;
}

static void open_object(struct shape *shape, const char *type, unsigned cpus, unsigned nodes,
                        const char *more)
{
    fprintf(shape->out,
            "<object type=\"%s\" cpuset=\"0x%x\" complete_cpuset=\"0x%x\" nodeset=\"0x%x\" "
            "complete_nodeset=\"0x%x\" %s>\n",
            type, cpus, cpus, nodes, nodes, more);
}

static void close_object(struct shape *shape)
{
    fputs("</object>\n", shape->out);
}

static unsigned mask(unsigned first, unsigned n)
{
    return ((1u << n) - 1) << first;
}

static void put_node(struct shape *shape, unsigned cpus, unsigned node)
{
    char more[64];

    snprintf(more, sizeof(more), "os_index=\"%u\" local_memory=\"4096\"", node);
    open_object(shape, "NUMANode", cpus, 1u << node, more);
    close_object(shape);
}

/* A core of 1 or 2 hardware threads, with an L2 or without, or threads that are in no core. */
static void put_core(struct shape *shape, unsigned nodes)
{
    unsigned threads = 1 + next(shape, 2), kind = next(shape, 4), cpus;
    char more[128];

    if (shape->first + threads > shape->pus)
        threads = shape->pus - shape->first;
    if (!threads)
        return;
    cpus = mask(shape->first, threads);
    if (kind & 1)
        open_object(shape, "L2Cache", cpus, nodes,
                    "cache_size=\"262144\" depth=\"2\" cache_linesize=\"64\" "
                    "cache_associativity=\"-1\" cache_type=\"0\"");
    snprintf(more, sizeof(more), "os_index=\"%u\"", shape->first);
    if (kind & 2)
        open_object(shape, "Core", cpus, nodes, more);
    for (unsigned i = 0; i < threads; i++, shape->first++) {
        snprintf(more, sizeof(more), "os_index=\"%u\"", shape->first);
        open_object(shape, "PU", 1u << shape->first, nodes, more);
        close_object(shape);
    }
    for (unsigned bit = kind; bit; bit &= bit - 1)
        close_object(shape);
}

/* A few cores, below an L3 or without. What is in it is known when it is written, so it is written
 * apart. */
static void put_domain(struct shape *shape, FILE *into, unsigned nodes)
{
    unsigned cores = 1 + next(shape, 3), from = shape->first;
    bool cache = next(shape, 3) > 0;
    char *text = NULL;
    size_t length;

    shape->out = open_memstream(&text, &length);
    while (cores--)
        put_core(shape, nodes);
    fclose(shape->out);
    shape->out = into;
    if (cache && shape->first > from)
        open_object(shape, "L3Cache", mask(from, shape->first - from), nodes,
                    "cache_size=\"1048576\" depth=\"3\" cache_linesize=\"64\" "
                    "cache_associativity=\"16\" cache_type=\"0\"");
    fputs(text, into);
    if (cache && shape->first > from)
        close_object(shape);
    free(text);
}

static void put_package(struct shape *shape, FILE *into, unsigned package)
{
    unsigned domains = 1 + next(shape, 3), from = shape->first, cpus;
    unsigned node = shape->node_each ? package : 0;
    char *text = NULL, more[32];
    size_t length;
    FILE *inner = open_memstream(&text, &length);

    while (domains--)
        put_domain(shape, inner, 1u << node);
    fclose(inner);
    shape->out = into;
    cpus = mask(from, shape->first - from);
    if (cpus) {
        shape->packages++;
        snprintf(more, sizeof(more), "os_index=\"%u\"", package);
        open_object(shape, "Package", cpus, 1u << node, more);
        if (shape->node_each)
            put_node(shape, cpus, node);
        fputs(text, into);
        close_object(shape);
    }
    free(text);
}

static char *xml_of(const uint8_t *data, size_t size, size_t *length)
{
    struct shape shape = {.data = data, .size = size, .pus = PUS_MAX};
    unsigned packages = 1 + next(&shape, 4), cpus, nodes;
    char *text = NULL, *inner = NULL;
    FILE *in = open_memstream(&inner, length), *out = open_memstream(&text, length);

    shape.pus = 1 + next(&shape, PUS_MAX);
    shape.node_each = next(&shape, 2);
    for (unsigned i = 0; i < packages; i++)
        put_package(&shape, in, i);
    fclose(in);
    cpus = mask(0, shape.first);
    nodes = shape.node_each ? mask(0, shape.packages) : 1;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
            "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x%x\" complete_cpuset=\"0x%x\" "
            "allowed_cpuset=\"0x%x\" nodeset=\"0x%x\" complete_nodeset=\"0x%x\" "
            "allowed_nodeset=\"0x%x\">\n",
            cpus, cpus, cpus, nodes, nodes, nodes);
    shape.out = out;
    if (!shape.node_each)
        put_node(&shape, cpus, 0);
    fputs(inner, out);
    fputs("</object>\n</topology>\n", out);
    fclose(out);
    free(inner);
    return text;
}

static void assert_sound(const struct topo *topo)
{
    fuzz_assert(topo->cores > 0 && topo->llcs > 0 && topo->packages > 0);
    for (size_t i = 0; i < topo->cores; i++) {
        const struct topo_core *core = &topo->core[i];

        fuzz_assert(core->llc < topo->llcs && core->package < topo->packages);
        fuzz_assert(topo->llc[core->llc].package == core->package);
        fuzz_assert(core->threads == cpus_count(&core->cpus));
        cpus_foreach(cpu, &core->cpus) fuzz_assert(topo_core_of_cpu(topo, cpu) == (long)i);
    }
}

/* A number of CPUs that hwloc would take minutes for is no parser's question. */
static bool small(const char *text)
{
    unsigned long cpus = 1, n;
    char *end;

    for (; *text && cpus <= CPUS_SMALL; text = end) {
        n = isalnum((unsigned char)*text) ? strtoul(text, &end, 0) : 0;
        if (!n)
            end = (char *)text + 1;
        else
            cpus *= n <= CPUS_SMALL ? n : CPUS_SMALL + 1;
    }
    return cpus <= CPUS_SMALL;
}

static int read_topology(struct topo **out, const char *spec, struct berth_error *err)
{
    int rc;

    if (__lsan_disable)
        __lsan_disable();
    rc = topo_read(out, spec, err);
    if (__lsan_enable)
        __lsan_enable();
    return rc;
}

static void one(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    bool xml = size > 0 && data[0] == '<';
    size_t length = 0;
    char *input = xml ? xml_of(data + 1, size - 1, &length) : fuzz_text(data, size);
    const char *spec = xml ? fuzz_file("topology.xml", (uint8_t *)input, length) : input;
    struct topo *topo;

    if (xml || small(input)) {
        if (read_topology(&topo, spec, &err) == 0) {
            assert_sound(topo);
            topo_free(topo);
        } else {
            fuzz_assert(!xml && err.text[0]);
        }
    }
    free(input);
}

const struct fuzz_target fuzz_topology = {
    .name = "topology", .one = one, .seed = seeds, .slow = 20};

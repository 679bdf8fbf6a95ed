/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of what slurmstepd and srun parse as root: a user's LIST of options, a line of
 * plugstack.conf, a command line. What is refused changes nothing and is named. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire_program.h"
#include "plugin/options.h"
#include "tests/fuzz/fuzz.h"

#define WORDS 12

static const char *const list_seeds[] = {
    "auto",
    "observe,size,policy=dio-power,cores=2-8,max-slowdown=2.5%,mem=bind,tag=a.b-c",
    "help",
    "off",
    "isolate,edp,require,verbose,policy=contend",
    "size=2.5%,cores=4",
    NULL};
static const char *const site_seeds[] = {"socket=/run/berth/berthd.sock", "deadline=50ms",
                                         "deadline=1s", "default=observe,size,cores=1-4", NULL};
static const char *const shape_seeds[] = {
    "solver\f-n\f100\f--in=/data/a.mtx\f-1.5e+3\f/x/y=z.tar.gz", "a", "a\f1e5,2.5\f.x\f-\f=", NULL};

/* The same text, read again, means the same. */
static void list_again(const struct wire_options *options)
{
    char first[512], second[512];
    struct wire_options back;

    wire_options_format(options, first, sizeof(first));
    fuzz_assert(options_parse(first, &back, NULL) == 0);
    wire_options_format(&back, second, sizeof(second));
    fuzz_assert(strcmp(first, second) == 0);
}

static void one_list(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    struct berth_error err = {""};
    struct wire_options options, before;
    int rc;

    memset(&options, 0x5a, sizeof(options));
    before = options;
    rc = options_parse(input, &options, &err);
    if (rc != 0) {
        fuzz_assert(memcmp(&options, &before, sizeof(options)) == 0);
        fuzz_assert(rc == 1 || (err.text[0] && !strchr(err.text, '\n')));
    } else {
        fuzz_assert(options.cores_min <= options.cores_max &&
                    (!options.tag[0] || wire_tag_valid(options.tag)));
        list_again(&options);
    }
    free(input);
}

static void one_site(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    struct berth_error err = {""};
    struct options_site site, before;

    memset(&site, 0, sizeof(site));
    options_site_init(&site);
    before = site;
    if (options_site_parse(input, &site, &err) < 0)
        fuzz_assert(err.text[0] && memcmp(&site, &before, sizeof(site)) == 0);
    else
        fuzz_assert(memchr(site.socket, '\0', sizeof(site.socket)));
    free(input);
}

static void one_shape(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size), *word[WORDS + 1] = {NULL};
    char shape[WIRE_SHAPE_MAX], again[WIRE_SHAPE_MAX];

    fuzz_parts(input, word, WORDS);
    wire_args_shape(WORDS, word, shape);
    fuzz_assert(shape[0] && strlen(shape) < sizeof(shape));
    for (const char *c = shape; *c; c++)
        fuzz_assert(isprint((unsigned char)*c));
    wire_args_shape(WORDS, word, again);
    fuzz_assert(strcmp(shape, again) == 0);
    free(input);
}

static const char *const program_seeds[] = {"env\f-iu\fA\fB=c\fnice\f-19\fnumactl\f-m0\f./x\f-n",
                                            "mpirun\f-np\f4\f--mca\fa\fb\fpython3\fx.py",
                                            "java\f-cp\fa\f-Xmx1g\fMain",
                                            "bash\f-euo\fpipefail\f-c\fcode",
                                            "perl\f-lne\fcode", NULL};

/* What is found is within the command line, and is the same however its end is told. */
static void one_program(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size), *word[WORDS + 1] = {NULL};
    struct wire_program program, again;

    fuzz_parts(input, word, WORDS);
    wire_program_read(WORDS, word, &program);
    fuzz_assert(program.at >= 0 && program.at < WORDS);
    fuzz_assert(program.args > 0 && program.args <= WORDS);
    fuzz_assert(program.kind == WIRE_PROGRAM_FILE || program.kind == WIRE_PROGRAM_UNKNOWN ||
                program.what);
    wire_program_read(INT_MAX, word, &again);
    fuzz_assert(again.kind == program.kind && again.at == program.at &&
                again.what == program.what && again.args == program.args &&
                again.by_cpu == program.by_cpu);
    free(input);
}

const struct fuzz_target fuzz_plugin_options = {
    .name = "plugin_options", .one = one_list, .seed = list_seeds};
const struct fuzz_target fuzz_plugin_site = {
    .name = "plugin_site", .one = one_site, .seed = site_seeds};
const struct fuzz_target fuzz_args_shape = {
    .name = "args_shape", .one = one_shape, .seed = shape_seeds};
const struct fuzz_target fuzz_program_line = {
    .name = "program_line", .one = one_program, .seed = program_seeds};

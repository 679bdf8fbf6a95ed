/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What says that a step has to stay on the CPUs that Slurm gave it. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/pin.h"
#include "tests/unit/common/folder.h"

/* ---- the environment ---- */

static void test_environment(void **state)
{
    static const struct {
        const char *entry;
        enum wire_pin pin;
        const char *by;
    } cases[] = {
        {"HOME=/root", WIRE_PIN_NONE, ""},
        {"OMP_NUM_THREADS=4", WIRE_PIN_NONE, ""},
        {"OMP_PROC_BIND=true", WIRE_PIN_ENVIRONMENT, "OMP_PROC_BIND"},
        {"OMP_PROC_BIND=spread,close", WIRE_PIN_ENVIRONMENT, "OMP_PROC_BIND"},
        {"OMP_PROC_BIND=false", WIRE_PIN_NONE, ""},
        {"OMP_PROC_BIND=FALSE", WIRE_PIN_NONE, ""},
        {"OMP_PROC_BIND=", WIRE_PIN_NONE, ""},
        {"OMP_PROC_BINDING=true", WIRE_PIN_NONE, ""},
        {"OMP_PLACES=cores", WIRE_PIN_ENVIRONMENT, "OMP_PLACES"},
        {"GOMP_CPU_AFFINITY=0-3", WIRE_PIN_ENVIRONMENT, "GOMP_CPU_AFFINITY"},
        {"KMP_AFFINITY=compact", WIRE_PIN_ENVIRONMENT, "KMP_AFFINITY"},
        {"KMP_AFFINITY=disabled", WIRE_PIN_NONE, ""},
        {"I_MPI_PIN=1", WIRE_PIN_ENVIRONMENT, "I_MPI_PIN"},
        {"I_MPI_PIN=0", WIRE_PIN_NONE, ""},
        {"I_MPI_PIN=off", WIRE_PIN_NONE, ""},
        {"I_MPI_PIN_DOMAIN=node", WIRE_PIN_ENVIRONMENT, "I_MPI_PIN_DOMAIN"},
        {"MV2_CPU_BINDING_POLICY=bunch", WIRE_PIN_ENVIRONMENT, "MV2_CPU_BINDING_POLICY"},
        {"OMPI_MCA_rmaps_base_mapping_policy=core", WIRE_PIN_ENVIRONMENT,
         "OMPI_MCA_rmaps_base_mapping_policy"},
        {"SLURM_MEM_BIND_TYPE=map_mem:0", WIRE_PIN_MEMORY, "SLURM_MEM_BIND_TYPE"},
        {"SLURM_MEM_BIND_TYPE=none", WIRE_PIN_NONE, ""},
        {"SLURM_STEP_GPUS=0", WIRE_PIN_DEVICE, "SLURM_STEP_GPUS"},
        {"CUDA_VISIBLE_DEVICES=", WIRE_PIN_NONE, ""},
        {"CUDA_VISIBLE_DEVICES=NoDevFiles", WIRE_PIN_NONE, ""},
        {"CUDA_VISIBLE_DEVICES=0", WIRE_PIN_DEVICE, "CUDA_VISIBLE_DEVICES"},
    };

    char *both[] = {(char *)"SLURM_JOB_GPUS=0", (char *)"OMP_PLACES=cores", NULL};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *env[] = {(char *)"PATH=/bin", (char *)cases[i].entry, NULL};
        struct pin pin = pin_of_environment(env);

        if (pin.pin != cases[i].pin || strcmp(pin.by, cases[i].by) != 0)
            fail_msg("%s: %d '%s'", cases[i].entry, pin.pin, pin.by);
    }
    assert_int_equal(pin_of_environment(NULL).pin, WIRE_PIN_NONE);
    assert_int_equal(pin_of_environment(both).pin, WIRE_PIN_ENVIRONMENT);
}

/* ---- programs ---- */

static char folder[PATH_MAX];

/* Writes a file of the test's folder. */
static char *file_with(const char *name, const char *text)
{
    static char path[PATH_MAX];

    folder_put_at(folder, name, text, path);
    return path;
}

static void check(const char *path, char *argument, enum wire_pin want, const char *by)
{
    char *argv[] = {(char *)path, argument, NULL};
    struct wire_program program;
    struct pin pin;

    wire_program_read(argument ? 2 : 1, argv, &program);
    pin = pin_of_program(&program, path, argument ? 2 : 1, argv);

    if (pin.pin != want || strcmp(pin.by, by) != 0)
        fail_msg("%s: %d '%s', not %d '%s'", path, pin.pin, pin.by, want, by);
}

/* Compiles a program, with what it shall be linked with. */
static char *compiled(const char *name, const char *code, const char *flags)
{
    static char path[PATH_MAX + 32];
    char command[3 * PATH_MAX], source[PATH_MAX + 32];

    snprintf(source, sizeof(source), "%s", file_with("program.c", code));
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(command, sizeof(command), "cc -w -D_GNU_SOURCE -o '%s' '%s' %s", path, source, flags);
    assert_int_equal(system(command), 0);
    return path;
}

static void test_executables(void **state)
{
    (void)state;
    check(compiled("plain", "#include <stdio.h>\nint main(void){puts(\"x\");return 0;}", ""), NULL,
          WIRE_PIN_NONE, "");
    check(compiled("threads",
                   "#include <pthread.h>\nstatic void*f(void*a){return a;}\nint main(void)"
                   "{pthread_t t;return pthread_create(&t,0,f,0)||pthread_join(t,0);}",
                   "-pthread"),
          NULL, WIRE_PIN_NONE, "");
    check(compiled("binds",
                   "#include <sched.h>\nint main(void){cpu_set_t s;CPU_ZERO(&s);"
                   "return sched_setaffinity(0,sizeof s,&s);}",
                   ""),
          NULL, WIRE_PIN_CALLS, "sched_setaffinity");
    check(compiled("looks", "#include <sched.h>\nint main(void){return sched_getcpu();}", ""), NULL,
          WIRE_PIN_CALLS, "sched_getcpu");
    check(compiled("starts", "#include <stdlib.h>\nint main(void){return system(\"true\");}", ""),
          NULL, WIRE_PIN_STARTS, "system");
    check(compiled("static", "int main(void){return 0;}", "-static"), NULL, WIRE_PIN_UNREAD, "");
    check("/usr/bin/xargs", NULL, WIRE_PIN_STARTS, "xargs");
    check("/usr/bin/taskset", NULL, WIRE_PIN_STARTS, "taskset");
}

static void test_scripts(void **state)
{
    char *calm, *binds;

    (void)state;
    check("/bin/sh", NULL, WIRE_PIN_STARTS, "sh");
    check("/bin/bash", (char *)"-c", WIRE_PIN_STARTS, "bash");
    check(file_with("job", "#!/bin/sh\n./solver\n"), NULL, WIRE_PIN_STARTS, "sh");
    check(file_with("odd", "#!/opt/unheard-of\n"), NULL, WIRE_PIN_STARTS, "unheard-of");
    check(file_with("p1", "#!/usr/bin/env python3\nprint(1)\n"), NULL, WIRE_PIN_NONE, "");
    check(file_with("p2", "#!/usr/bin/python3 -u\nos.sched_setaffinity(0, {1})\n"), NULL,
          WIRE_PIN_CALLS, "affinity");
    calm = strdup(file_with("calm.py", "print(1)\n"));
    binds = strdup(file_with("binds.py", "import subprocess\n"));
    check("/usr/bin/python3.11", calm, WIRE_PIN_NONE, "");
    check("/usr/bin/python3.11", binds, WIRE_PIN_STARTS, "subprocess");
    check("/usr/bin/perl", (char *)"-esystem(1)", WIRE_PIN_STARTS, "system");
    free(calm);
    free(binds);
}

/* What stands before a program. */
static void test_wrappers(void **state)
{
    static const struct {
        const char *line;
        enum wire_pin pin;
        const char *by;
    } cases[] = {
        {"/usr/bin/env A=b /bin/true", WIRE_PIN_NONE, ""},
        {"nice -n 5 time timeout 5 /bin/true", WIRE_PIN_NONE, ""},
        {"env OMP_PROC_BIND=true /bin/true", WIRE_PIN_ENVIRONMENT, "OMP_PROC_BIND"},
        {"numactl --membind=0 /bin/true", WIRE_PIN_CALLS, "numactl"},
        {"nice /usr/bin/taskset -c 0 /bin/true", WIRE_PIN_CALLS, "taskset"},
        {"mpirun -n 2 /bin/true", WIRE_PIN_STARTS, "mpirun"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[128], *argv[16], *rest = line;
        struct wire_program program;
        struct pin pin;
        int argc = 0;

        snprintf(line, sizeof(line), "%s", cases[i].line);
        while ((argv[argc] = strsep(&rest, " ")))
            argc++;
        wire_program_read(argc, argv, &program);
        pin = pin_of_program(&program, "/bin/true", argc, argv);
        if (pin.pin != cases[i].pin || strcmp(pin.by, cases[i].by) != 0)
            fail_msg("%s: %d '%s'", cases[i].line, pin.pin, pin.by);
    }
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    check("/no/such", NULL, WIRE_PIN_UNREAD, "");
    check("/dev/null", NULL, WIRE_PIN_UNREAD, "");
    check("/", NULL, WIRE_PIN_UNREAD, "");
    check(file_with("empty", ""), NULL, WIRE_PIN_UNREAD, "");
    check(file_with("text", "neither ELF nor a script\n"), NULL, WIRE_PIN_UNREAD, "");
    check(file_with("cut", "\177ELF\2\1\1"), NULL, WIRE_PIN_UNREAD, "");
}

/* An executable, any byte of whose headers may be wrong: nothing but "not known" comes of it, or
 * what it was before. */
static void test_torn_executables(void **state)
{
    char *path = strdup(compiled("torn", "int main(void){return 0;}", "")), byte;
    FILE *file = fopen(path, "r+");
    char *argv[] = {path, NULL};
    const struct wire_program program = {.kind = WIRE_PROGRAM_FILE, .option = "", .args = 1};

    (void)state;
    assert_non_null(file);
    for (long at = 4; at < 1024; at++)
        for (int flip = 1; flip < 256; flip <<= 1) {
            struct pin pin;

            assert_int_equal(fseek(file, at, SEEK_SET), 0);
            assert_int_equal(fread(&byte, 1, 1, file), 1);
            fseek(file, at, SEEK_SET);
            fputc(byte ^ flip, file);
            fflush(file);
            pin = pin_of_program(&program, path, 1, argv);
            assert_true(pin.pin == WIRE_PIN_NONE || pin.pin == WIRE_PIN_UNREAD);
            fseek(file, at, SEEK_SET);
            fputc(byte, file);
            fflush(file);
        }
    fclose(file);
    free(path);
}

static int set_up(void **state)
{
    (void)state;
    folder_new(folder, sizeof(folder), "pin");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),      cmocka_unit_test(test_executables),
        cmocka_unit_test(test_scripts),          cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_torn_executables), cmocka_unit_test(test_wrappers),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}

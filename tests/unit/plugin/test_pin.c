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

/* What a run-time does within the CPUs of its process, and what names CPUs of the node. */
static void test_within(void **state)
{
    static const struct {
        const char *entry[3];
        bool within;
    } cases[] = {
        {{"OMP_PROC_BIND=true"}, true},
        {{"OMP_PROC_BIND=spread", "OMP_PLACES=cores(4)"}, true},
        {{"OMP_PROC_BIND=close", "HOME=/x"}, true},
        {{"KMP_AFFINITY=granularity=fine,compact"}, true},
        {{"OMP_PROC_BIND=close", "OMP_PLACES={0},{2}"}, false},
        {{"OMP_PLACES=0,2"}, false},
        {{"OMP_PLACES=!{0}"}, false},
        {{"KMP_AFFINITY=proclist=[0,2],explicit"}, false},
        {{"OMP_PROC_BIND=true", "GOMP_CPU_AFFINITY=0-3"}, false},
        {{"OMP_PROC_BIND=true", "I_MPI_PIN=on"}, false},
        {{"OMP_PROC_BIND=true", "SLURM_MEM_BIND_TYPE=local"}, false},
        {{"OMP_PROC_BIND=true", "CUDA_VISIBLE_DEVICES=0"}, false},
        {{"OMP_PROC_BIND=false"}, false}, /* nothing is said */
        {{"HOME=/x"}, false},
        {{NULL}, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (pin_is_within((char *const *)cases[i].entry) != cases[i].within)
            fail_msg("%s", cases[i].entry[0] ? cases[i].entry[0] : "nothing");
    assert_false(pin_is_within(NULL));
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

static void check_with(const char *path, char *argument, const char *variable, enum wire_pin want,
                       const char *by)
{
    char *argv[] = {(char *)path, argument, NULL}, *env[] = {(char *)variable, NULL};
    struct wire_program program;
    struct pin pin;

    wire_program_read(argument ? 2 : 1, argv, &program);
    pin = pin_of_program(&program, path, argument ? 2 : 1, argv, env);

    if (pin.pin != want || strcmp(pin.by, by) != 0)
        fail_msg("%s: %d '%s', not %d '%s'", path, pin.pin, pin.by, want, by);
}

static void check(const char *path, char *argument, enum wire_pin want, const char *by)
{
    check_with(path, argument, NULL, want, by);
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
          WIRE_PIN_LOOKS, "sched_getcpu");
    check(compiled("both",
                   "#include <sched.h>\nint main(void){cpu_set_t s;CPU_ZERO(&s);"
                   "return sched_getcpu()+sched_setaffinity(0,sizeof s,&s);}",
                   ""),
          NULL, WIRE_PIN_CALLS, "sched_setaffinity");
    check(compiled("starts", "#include <stdlib.h>\nint main(void){return system(\"true\");}", ""),
          NULL, WIRE_PIN_STARTS, "system");
    check(compiled("static", "int main(void){return 0;}", "-static"), NULL, WIRE_PIN_UNREAD, "");
    check("/usr/bin/xargs", NULL, WIRE_PIN_STARTS, "xargs");
    check("/usr/bin/taskset", NULL, WIRE_PIN_STARTS, "taskset");
}

/* A program that calls the one function of a library of that name, which it finds by these flags.
 */
static char *linked_by(const char *library, const char *code, const char *found_by)
{
    char flags[3 * PATH_MAX], path[PATH_MAX + 32];

    snprintf(flags, sizeof(flags), "-shared -fPIC -Wl,-soname,%s", library);
    snprintf(path, sizeof(path), "%s", compiled(library, code, flags));
    snprintf(flags, sizeof(flags), "'%s' %s", path, found_by);
    return compiled("linked", "int works(void);int main(void){return works();}", flags);
}

static char *linked_with(const char *library)
{
    return linked_by(library, "int works(void){return 0;}", "");
}

/* A library that is not known is read as the program is, where ld.so finds it. */
static void test_libraries(void **state)
{
    static const char calm[] = "int works(void){return 0;}";
    static const char binds[] = "#include <sched.h>\nint works(void){cpu_set_t s;CPU_ZERO(&s);"
                                "return sched_setaffinity(0,sizeof s,&s);}";
    static const char by_origin[] = "-Wl,-rpath,'$ORIGIN'";
    char variable[2 * PATH_MAX];

    (void)state;
    snprintf(variable, sizeof(variable), "LD_LIBRARY_PATH=/no/such:%s", folder);
    check(linked_by("libwork.so", calm, by_origin), NULL, WIRE_PIN_NONE, "");
    check(linked_by("libwork.so", binds, by_origin), NULL, WIRE_PIN_CALLS, "sched_setaffinity");
    check(linked_by("libwork.so", binds, "-Wl,--disable-new-dtags,-rpath,'$ORIGIN'"), NULL,
          WIRE_PIN_CALLS, "sched_setaffinity");
    check(linked_by("libwork.so", calm, ""), NULL, WIRE_PIN_CALLS, "libwork.so");
    check_with(linked_by("libwork.so", calm, ""), NULL, variable, WIRE_PIN_NONE, "");
    check_with(linked_by("libwork.so", binds, ""), NULL, variable, WIRE_PIN_CALLS,
               "sched_setaffinity");
}

/* And so are the libraries that it needs. */
static void test_libraries_of_libraries(void **state)
{
    char flags[3 * PATH_MAX];

    (void)state;
    compiled("libinner.so", "#include <sched.h>\nint inner(void){return sched_getcpu();}",
             "-shared -fPIC -Wl,-soname,libinner.so");
    snprintf(flags, sizeof(flags), "-shared -fPIC -L'%s' -linner -Wl,-soname,libwork.so", folder);
    compiled("libwork.so", "int inner(void);int works(void){return inner();}", flags);
    snprintf(flags, sizeof(flags), "-L'%s' -lwork -Wl,--disable-new-dtags,-rpath,'%s'", folder,
             folder);
    check(compiled("linked", "int works(void);int main(void){return works();}", flags), NULL,
          WIRE_PIN_LOOKS, "sched_getcpu");
}

/* LLVM's OpenMP binds each thread that it makes to the process's first mask, unless it is told to
 * keep off masks. */
static void test_openmp(void **state)
{
    const char *disabled = "KMP_AFFINITY=disabled";
    char *path = linked_with("libomp.so.5");

    (void)state;
    check(path, NULL, WIRE_PIN_CALLS, "libomp.so.5");
    check_with(path, NULL, "KMP_AFFINITY=none", WIRE_PIN_CALLS, "libomp.so.5");
    check_with(path, NULL, disabled, WIRE_PIN_NONE, "");
    check(linked_with("libiomp5.so"), NULL, WIRE_PIN_CALLS, "libiomp5.so");
    check(linked_with("libmkl_rt.so.2"), NULL, WIRE_PIN_CALLS, "libmkl_rt.so.2");
    check_with(linked_with("libmpi.so.40"), NULL, disabled, WIRE_PIN_CALLS, "libmpi.so.40");
    check(linked_with("libgomp.so.1"), NULL, WIRE_PIN_NONE, "");
}

/* That a program has a device counts least, wherever it is said: who needs the run-time of a GPU's
 * maker may bind its threads all the same. */
static void test_devices_count_least(void **state)
{
    static const char plain[] = "int works(void);int main(void){return works();}";
    static const char binds[] =
        "#include <sched.h>\nint works(void);int main(void){cpu_set_t s;CPU_ZERO(&s);"
        "return works()+sched_setaffinity(0,sizeof s,&s);}";
    char *path = linked_with("libcuda.so.1"), flags[4 * PATH_MAX];

    (void)state;
    check(path, NULL, WIRE_PIN_DEVICE, "libcuda.so.1");
    check(linked_with("libcublas.so.13"), NULL, WIRE_PIN_DEVICE, "libcublas.so.13");
    check_with(path, NULL, "LD_PRELOAD=/a/libcudart.so.13:/b/libnuma.so.1", WIRE_PIN_CALLS,
               "libnuma.so.1");
    check_with(path, NULL, "LD_PRELOAD=/b/libnuma.so.1:/a/libcudart.so.13", WIRE_PIN_CALLS,
               "libnuma.so.1");
    snprintf(flags, sizeof(flags), "'%s/libcuda.so.1'", folder);
    check(compiled("linked", binds, flags), NULL, WIRE_PIN_CALLS, "sched_setaffinity");
    linked_with("libmpi.so.40");
    snprintf(flags, sizeof(flags), "-Wl,--no-as-needed '%s/libcuda.so.1' '%s/libmpi.so.40'", folder,
             folder);
    check(compiled("linked", plain, flags), NULL, WIRE_PIN_CALLS, "libmpi.so.40");
    linked_by("libwork.so", "#include <sched.h>\nint works(void){return sched_getcpu();}", "");
    snprintf(flags, sizeof(flags),
             "-Wl,--no-as-needed,-rpath,'%s' '%s/libcuda.so.1' '%s/libwork.so'", folder, folder,
             folder);
    check(compiled("linked", plain, flags), NULL, WIRE_PIN_LOOKS, "sched_getcpu");
}

static void test_preloaded_libraries(void **state)
{
    char *path = compiled("preloading", "int main(void){return 0;}", "");

    (void)state;
    check_with(path, NULL, "LD_PRELOAD=/opt/libjemalloc.so.2:libz.so", WIRE_PIN_NONE, "");
    check_with(path, NULL, "LD_PRELOAD=/opt/libjemalloc.so.2:/opt/libiomp5.so", WIRE_PIN_CALLS,
               "libiomp5.so");
    check_with(path, NULL, "LD_PRELOAD=/a/libnuma.so.1 /b/libz.so", WIRE_PIN_CALLS, "libnuma.so.1");
}

/* A static program with a table of Go's, of so many bytes of names, and with code of its own. */
static char *of_go(const char *magic, size_t bytes, const char *names, const char *code)
{
    char text[4096];

    snprintf(
        text, sizeof(text),
        "struct{unsigned magic;unsigned char bytes[4];unsigned long word[5];char names[%zu];}\n"
        "const table __attribute__((section(\".gopclntab\"),used))="
        "{%s,{0,0,1,8},{1,1,0,48,%zu},\"%s\"};\n"
        "void _start(void){%s;for(;;);}",
        bytes, magic, 48 + bytes, names, code);
    return compiled("go", text, "-nostdlib -static");
}

static void test_go(void **state)
{
    static const struct {
        const char *names, *code;
        enum wire_pin pin;
        const char *by;
    } cases[] = {
        {"main.main\\0fmt.Println", "", WIRE_PIN_NONE, ""},
        {"runtime.sched_getaffinity\\0os.(*Process).Kill", "", WIRE_PIN_NONE, ""},
        {"main.main\\0golang.org/x/sys/unix.SchedSetaffinity", "", WIRE_PIN_CALLS,
         "SchedSetaffinity"},
        {"os/exec.(*Cmd).Start\\0syscall.forkExec", "", WIRE_PIN_STARTS, "syscall.forkExec"},
        {"main._Cfunc_work\\0_cgo_work", "", WIRE_PIN_UNREAD, ""},
        {"main.main", "__asm__(\"mov $203,%eax\")", WIRE_PIN_CALLS, "sched_setaffinity"},
        {"main.main", "__asm__(\"movq $203,(%rsp)\")", WIRE_PIN_CALLS, "sched_setaffinity"},
        {"main.main", "__asm__(\"mov $204,%eax\")", WIRE_PIN_NONE, ""},
    };

    (void)state;
#ifndef __x86_64__
    skip();
#endif
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(of_go("0xfffffff1u", 80, cases[i].names, cases[i].code), NULL, cases[i].pin,
              cases[i].by);
    check(of_go("0xfffffff0u", 80, "main.main", ""), NULL, WIRE_PIN_NONE, "");
    check(of_go("0xfffffffbu", 80, "main.main", ""), NULL, WIRE_PIN_UNREAD, "");
    check(of_go("0xfffffff1u", 16u << 20, "main.main", ""), NULL, WIRE_PIN_UNREAD, "");
}

static void test_scripts(void **state)
{
    char *calm, *binds, python[PATH_MAX];

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
    if (realpath("/usr/bin/python3", python)) {
        check(python, calm, WIRE_PIN_NONE, "");
        check(python, binds, WIRE_PIN_STARTS, "subprocess");
    }
    check("/usr/bin/perl", (char *)"-esystem(1)", WIRE_PIN_STARTS, "system");
    free(calm);
    free(binds);
}

/* What Python's scripts import: what is known, and files beside them, which are read. */
static void test_python(void **state)
{
    static const struct {
        const char *text;
        enum wire_pin pin;
        const char *by;
    } cases[] = {
        {"import os, sys as s\nfrom time import sleep\n", WIRE_PIN_NONE, ""},
        {"import calm\nimport package.part as p\n", WIRE_PIN_NONE, ""},
        {"import numpy as np\nfrom scipy.linalg import eig\n", WIRE_PIN_NONE, ""},
        {"# import nothing\nimportant = 1\nx = 'to import it'\n", WIRE_PIN_NONE, ""},
        {"from __future__ import annotations\nfrom . import x\n", WIRE_PIN_NONE, ""},
        {"import binding\n", WIRE_PIN_CALLS, "affinity"},
        {"import os, \\\n  binding\n", WIRE_PIN_CALLS, "affinity"},
        {"def f():\n\tfrom binding import bind\n", WIRE_PIN_CALLS, "affinity"},
        {"import json; import binding\n", WIRE_PIN_CALLS, "affinity"},
        {"if True: from outer.inner import x\n", WIRE_PIN_CALLS, "affinity"},
        {"import unheard_of\n", WIRE_PIN_STARTS, "unheard_of"},
        {"from unheard.of import x\n", WIRE_PIN_STARTS, "unheard"},
        {"import compiled_one\n", WIRE_PIN_STARTS, "compiled_one"},
        {"import chain\n", WIRE_PIN_STARTS, "unheard_of"},
    };

    (void)state;
    folder_put(folder, "py/calm.py", "import math\nimport calm\n");
    folder_put(folder, "py/binding.py", "import os\nos.sched_setaffinity(0, {1})\n");
    folder_put(folder, "py/package/__init__.py", "");
    folder_put(folder, "py/package/part.py", "from . import other\n");
    folder_put(folder, "py/outer/inner/deep.py", "import os\nos.sched_setaffinity(0, {1})\n");
    folder_put(folder, "py/compiled_one/part.so", "");
    folder_put(folder, "py/chain.py", "import unheard_of\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *script = strdup(file_with("py/script.py", cases[i].text));

        check("/usr/bin/python3", script, cases[i].pin, cases[i].by);
        free(script);
    }
    check(file_with("py/itself", "#!/usr/bin/env python3\nimport binding\n"), NULL, WIRE_PIN_CALLS,
          "affinity");
    check(file_with("py/calmly", "#!/usr/bin/env python3\nimport calm\n"), NULL, WIRE_PIN_NONE, "");
}

/* numpy may load the MKL, where the OpenMP that this needs is installed. */
static void test_numeric_python(void **state)
{
    char *script, variable[PATH_MAX + 32];

    (void)state;
    script = strdup(file_with("py/numeric.py", "import numpy\n"));
    snprintf(variable, sizeof(variable), "VIRTUAL_ENV=%s/env", folder);
    check_with("/usr/bin/python3", script, variable, WIRE_PIN_NONE, "");
    folder_put(folder, "env/lib/libiomp5.so", "");
    check_with("/usr/bin/python3", script, variable, WIRE_PIN_STARTS, "numpy");
    free(script);
}

/* What an interpreter reads from elsewhere is not known. */
static void test_what_no_argument_tells(void **state)
{
    (void)state;
    check("/usr/bin/python3", NULL, WIRE_PIN_STARTS, "python3");
    check("/usr/bin/python3", (char *)"-", WIRE_PIN_STARTS, "python3");
    check("/usr/bin/python3", (char *)"-mtimeit", WIRE_PIN_STARTS, "timeit");
    check("/usr/bin/python3", (char *)"-cimport os", WIRE_PIN_NONE, "");
    check("/usr/bin/python3", (char *)"-cimport unheard_of", WIRE_PIN_STARTS, "unheard_of");
    check("/usr/bin/perl", NULL, WIRE_PIN_STARTS, "perl");
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
        {"env CUDA_VISIBLE_DEVICES=0 /bin/true", WIRE_PIN_DEVICE, "CUDA_VISIBLE_DEVICES"},
        {"env CUDA_VISIBLE_DEVICES=0 taskset -c 0 /bin/true", WIRE_PIN_CALLS, "taskset"},
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
        pin = pin_of_program(&program, "/bin/true", argc, argv, NULL);
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

/* An executable, any byte of whose headers may be wrong: nothing but "not known" comes of it, a
 * library that is not found, or what it was before. */
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
            pin = pin_of_program(&program, path, 1, argv, NULL);
            assert_true(pin.pin == WIRE_PIN_NONE || pin.pin == WIRE_PIN_UNREAD ||
                        pin.pin == WIRE_PIN_CALLS);
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
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_executables),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_torn_executables),
        cmocka_unit_test(test_wrappers),
        cmocka_unit_test(test_openmp),
        cmocka_unit_test(test_devices_count_least),
        cmocka_unit_test(test_preloaded_libraries),
        cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_libraries_of_libraries),
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_numeric_python),
        cmocka_unit_test(test_what_no_argument_tells),
        cmocka_unit_test(test_go),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}

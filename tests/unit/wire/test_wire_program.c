/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_program - which program a command line runs, and what it is called. */
#include "packer/wire/wire_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/wire/wire_program_table.h"
#include "tests/unit/common/folder.h"

#define WORDS_MAX 64

/* A command line whose words are parted by blanks. */
struct line {
    char *text, *argv[WORDS_MAX];
    int argc;
};

static void line_open(struct line *line, const char *text)
{
    char *save = NULL;

    *line = (struct line){.text = strdup(text)};
    for (char *word = strtok_r(line->text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        line->argv[line->argc++] = word;
}

/* Writes what was found as one text: "kind AT [OPTION] [WHAT] ARGS". */
static void describe(const struct wire_program *program, const struct line *line, char text[512])
{
    static const char *const kind[] = {"file", "script", "module", "code", "unknown"};

    if (program->kind == WIRE_PROGRAM_UNKNOWN || program->kind == WIRE_PROGRAM_FILE)
        snprintf(text, 512, "%s %s", kind[program->kind], line->argv[program->at]);
    else
        snprintf(text, 512, "%s %s %s%s%s", kind[program->kind], line->argv[program->at],
                 program->option, program->option[0] ? " " : "", program->what);
    for (int i = program->args; i < line->argc && program->kind != WIRE_PROGRAM_UNKNOWN; i++)
        snprintf(text + strlen(text), 512 - strlen(text), "%s%s", i > program->args ? " " : " | ",
                 line->argv[i]);
    if (program->by_cpu)
        strcat(text, " by cpu");
}

static const char *const cases[][2] = {
    /* a program as any other */
    {"./prog -n 3", "file ./prog | -n 3"},
    {"prog", "file prog"},
    {"./time 3", "file ./time | 3"}, /* in the working directory: somebody's own */
    {"timer env", "file timer | env"},

    /* wrappers */
    {"env", "unknown env by cpu"},
    {"env A=b ./prog x", "file ./prog | x"},
    {"/usr/bin/env -i -u NAME -uOTHER A=b B= ./prog A=c", "file ./prog | A=c"},
    {"env - --unset NAME --unset=X -- A=b ./prog", "file ./prog"},
    {"env -iv ./prog", "file ./prog"},
    {"env PATH=/opt ./prog", "unknown env by cpu"},
    {"env -S x", "unknown env by cpu"},
    {"env --split-string=x y", "unknown env by cpu"},
    {"env -C /tmp ./prog", "unknown env by cpu"},
    {"env --unheard-of ./prog", "unknown env by cpu"},
    {"env --unheard-of=1 ./prog", "file ./prog"},
    {"nice ./prog", "file ./prog"},
    {"nice -n 5 ./prog", "file ./prog"},
    {"nice -n5 ./prog", "file ./prog"},
    {"nice -19 ./prog", "file ./prog"},
    {"nice --adjustment=3 ./prog -n 5", "file ./prog | -n 5"},
    {"ionice -c 2 -n 7 ./prog", "file ./prog"},
    {"ionice -c3 -t ./prog", "file ./prog"},
    {"ionice -p 77", "unknown ionice by cpu"},
    {"time ./prog", "file ./prog"},
    {"/usr/bin/time -f %e -o out -a ./prog -v", "file ./prog | -v"},
    {"time -vp ./prog", "file ./prog"},
    {"timeout 10s ./prog 10s", "file ./prog | 10s"},
    {"timeout -k 5 -s KILL --foreground 1m ./prog", "file ./prog"},
    {"timeout --signal=KILL 1m ./prog", "file ./prog"},
    {"timeout 5", "unknown timeout by cpu"},
    {"numactl -m0 ./prog", "file ./prog"},
    {"numactl --interleave=all -C 0-3 ./prog 1", "file ./prog | 1"},
    {"numactl --membind 0 --cpunodebind 0 -l ./prog", "file ./prog"},
    {"numactl --hardware", "unknown numactl by cpu"},
    {"taskset 0xff ./prog 1", "file ./prog | 1"},
    {"taskset -c 0-3 ./prog", "file ./prog"},
    {"taskset -ac 0 ./prog", "file ./prog"},
    {"taskset --cpu-list 0 ./prog", "file ./prog"},
    {"taskset -p 77", "unknown taskset by cpu"},
    {"chrt -b 0 ./prog", "file ./prog"},
    {"chrt --rr -T 100 5 ./prog", "file ./prog"},
    {"stdbuf -oL ./prog", "file ./prog"},
    {"stdbuf -o0 -e L --input=0 ./prog -oL", "file ./prog | -oL"},
    {"catchsegv ./prog", "file ./prog"},
    {"nohup ./prog", "file ./prog"},
    {"setsid -fw ./prog", "file ./prog"},
    {"unbuffer -p ./prog", "file ./prog"},
    {"env A=b numactl -m0 time ./prog x", "file ./prog | x"},
    {"nice nice nice ./prog", "file ./prog"},
    {"env A=b python3 x.py 3", "script python3 x.py | 3"},
    {"time env nice", "unknown nice by cpu"},

    /* what is not looked through */
    {"valgrind ./prog", "unknown valgrind"},
    {"nice valgrind ./prog", "unknown valgrind"},
    {"strace -f ./prog", "unknown strace by cpu"},
    {"perf stat ./prog", "unknown perf by cpu"},
    {"setarch -R ./prog", "unknown setarch by cpu"},
    {"apptainer exec image.sif ./prog", "unknown apptainer by cpu"},

    /* launchers */
    {"mpirun ./prog 7", "file ./prog | 7"},
    {"mpirun -np 4 --bind-to core -x OMP_NUM_THREADS=2 ./prog -np", "file ./prog | -np"},
    {"mpirun --mca btl tcp,self -n 2 ./prog", "file ./prog"},
    {"mpiexec.hydra -genv A b -ppn 2 -f hosts ./prog", "file ./prog"},
    {"mpiexec -n 2 numactl -l python3 -u x.py", "script python3 x.py"},
    {"mpiexec -n 1 ./a : -n 2 ./b", "unknown mpiexec by cpu"},
    {"mpirun --unheard-of 3 ./prog", "unknown mpirun by cpu"},
    {"mpirun", "unknown mpirun by cpu"},
    {"srun -n2 --cpu-bind=cores ./prog 1", "file ./prog | 1"},
    {"srun --multi-prog conf", "unknown srun by cpu"},
    {"orted -mca ess slurm", "unknown orted by cpu"},
    {"/opt/lib/hydra_pmi_proxy --usize -2", "unknown /opt/lib/hydra_pmi_proxy by cpu"},
    {"/var/spool/job00038/slurm_script", "unknown /var/spool/job00038/slurm_script by cpu"},

    /* interpreters */
    {"python x.py", "script python x.py"},
    {"/usr/bin/python3.11 -u -W ignore -X dev x.py -c 3", "script /usr/bin/python3.11 x.py | -c 3"},
    {"python3 -OO x.py", "script python3 x.py"},
    {"python3 -m timeit -n 5", "module python3 -m timeit | -n 5"},
    {"python3 -mtimeit", "module python3 -m timeit"},
    {"python3 -um timeit", "module python3 -m timeit"},
    {"python3 -c pass 3", "code python3 -c pass | 3"},
    {"python3 -", "unknown python3 by cpu"},
    {"python3", "unknown python3 by cpu"},
    {"python3 -i x.py", "unknown python3 by cpu"},
    {"python3-config --cflags", "file python3-config | --cflags"},
    {"perl x.pl 3", "script perl x.pl | 3"},
    {"perl -w -Ilib -I lib -MPOSIX x.pl", "script perl x.pl"},
    {"perl -lne print in", "code perl -c print | in"},
    {"ruby -Ilib -w x.rb", "script ruby x.rb"},
    {"Rscript --vanilla x.R 1", "script Rscript x.R | 1"},
    {"Rscript -e 1+1", "code Rscript -c 1+1"},
    {"R --no-save -f x.R --args 3", "script R x.R | --args 3"},
    {"R --file=x.R", "script R x.R"},
    {"R CMD BATCH x.R", "unknown R by cpu"},
    {"R", "unknown R by cpu"},
    {"bash x.sh 3", "script bash x.sh | 3"},
    {"sh -eu -o pipefail x.sh", "script sh x.sh"},
    {"bash -euo pipefail +x x.sh", "script bash x.sh"},
    {"bash -c ./prog a", "code bash -c ./prog | a by cpu"},
    {"bash -lc ./prog", "code bash -c ./prog by cpu"},
    {"bash -c -e ./prog", "code bash -c ./prog by cpu"},
    {"bash", "unknown bash by cpu"},
    {"zsh --login", "unknown zsh by cpu"},
    {"java -jar x.jar 3", "script java -jar x.jar | 3"},
    {"java -Xmx4g -XX:+UseG1GC -ea -Da=b -jar x.jar", "script java -jar x.jar"},
    {"java -cp a.jar:b.jar org.x.Main 3", "module java org.x.Main | 3"},
    {"java --class-path=a --add-modules m Main", "module java Main"},
    {"java -p mods -m org.x/org.x.Main", "module java -m org.x/org.x.Main"},
    {"java Main.java 3", "script java Main.java | 3"},
    {"java @args", "unknown java by cpu"},
    {"java -version", "unknown java by cpu"},
    {"julia -t 4 -O3 --project=. x.jl 3", "script julia x.jl | 3"},
    {"julia -e 1", "code julia -c 1"},
    {"node --max-old-space-size=4096 x.js 1", "script node x.js | 1"},
    {"node -e 1", "code node -c 1"},
    {"octave --no-gui x.m", "script octave x.m"},
    {"matlab -nodisplay -r run", "code matlab -c run"},
    {"lua5.4 x.lua", "script lua5.4 x.lua"},
    {"php -f x.php", "script php x.php"},
    {"tclsh x.tcl", "script tclsh x.tcl"},
    {"awk -F: -v a=b {print} in", "code awk -c {print} | in"},
    {"mawk -f x.awk in", "script mawk x.awk | in"},
};

static void test_command_lines(void **state)
{
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_program program, again;
        struct line line;

        line_open(&line, cases[i][0]);
        wire_program_read(line.argc, line.argv, &program);
        describe(&program, &line, text);
        if (strcmp(text, cases[i][1]) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i][0], text, cases[i][1]);
        wire_program_read(INT_MAX, line.argv, &again); /* it ends before a NULL, too */
        assert_memory_equal(&again, &program, sizeof(program));
        free(line.text);
    }
}

/* Any beginning of any command line has an answer within it. */
static void test_beginnings(void **state)
{
    char shape[WIRE_SHAPE_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct line line;

        line_open(&line, cases[i][0]);
        for (int argc = 1; argc <= line.argc; argc++) {
            struct wire_program program;

            wire_program_read(argc, line.argv, &program);
            assert_in_range(program.at, 0, argc - 1);
            assert_in_range(program.args, 1, argc);
            wire_program_shape(&program, argc, line.argv, shape);
        }
        free(line.text);
    }
}

/* Each option of each row is read without going astray, whatever follows. */
static void test_all_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < nstarters; i++) {
        char *options = strdup(starters[i].options), *save = NULL;
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(starters[i].names, " "),
                 starters[i].names);
        for (char *word = strtok_r(options, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
            size_t length = 1 + strcspn(word + 1, ":*+!@/&^");
            char *argv[] = {name, word, (char *)"1", (char *)"2", (char *)"3", NULL};
            struct wire_program program;

            if (strlen(word) - length > 2 || (word[length] && strspn(word + length, ":*+!@/&^") !=
                                                                  strlen(word + length)))
                fail_msg("%s: '%s'", name, word);
            word[length] = '\0';
            for (int argc = 1; argc <= 5; argc++) {
                wire_program_read(argc, argv, &program);
                assert_in_range(program.at, 0, argc - 1);
                assert_in_range(program.args, 1, argc);
            }
        }
        free(options);
    }
}

/* ---- what it is called ---- */

static char folder[PATH_MAX];

static int enter_folder(void **state)
{
    (void)state;
    folder_new(folder, sizeof(folder), "test-program");
    return chdir(folder);
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") < 0 ? -1 : folder_remove(folder);
}

struct called {
    char exe[PATH_MAX], hash[WIRE_HASH_MAX];
};

/* Identifies a command line whose program or interpreter is the file "program". */
static struct called identify(const char *text, const char *script)
{
    struct wire_program program;
    struct called called;
    struct line line;

    line_open(&line, text);
    wire_program_read(line.argc, line.argv, &program);
    wire_program_identify(&program, "program", script, called.exe, called.hash);
    free(line.text);
    return called;
}

static void test_names(void **state)
{
    char hash[WIRE_HASH_MAX];

    (void)state;
    file_put("program", "an interpreter");
    file_put("a.py", "a");
    assert_int_equal(wire_program_hash("program", hash), 0);
    assert_string_equal(identify("./x 1", NULL).exe, "program");
    assert_string_equal(identify("./x 1", NULL).hash, hash); /* as it always was */
    assert_string_equal(identify("nice ./x", NULL).hash, hash);
    assert_string_equal(identify("python x.py", "a.py").exe, "program a.py");
    assert_string_equal(identify("java -jar x.jar", "a.py").exe, "program -jar a.py");
    assert_string_equal(identify("python -m m", NULL).exe, "program -m m");
    assert_string_equal(identify("python -c pass", NULL).exe, "program -c");
    assert_string_equal(identify("java Main", NULL).exe, "program Main");
    assert_string_equal(identify("valgrind ./x", NULL).exe, "program");
    assert_string_equal(identify("valgrind ./x", NULL).hash, "");
    assert_string_equal(identify("python /no/x.py", NULL).exe, "program x.py");
    assert_string_equal(identify("python /no/x.py", NULL).hash, "");
    assert_int_equal(strlen(identify("python x.py", "a.py").hash), 32);
}

/* Two command lines that run the same, or do not. */
static void assert_same(const char *a, const char *b, bool same)
{
    struct called one = identify(a, NULL), other = identify(b, NULL);

    if (!one.hash[0] || (strcmp(one.hash, other.hash) == 0 &&
                         strcmp(one.exe, other.exe) == 0) != same)
        fail_msg("%s and %s: %s#%s, %s#%s", a, b, one.exe, one.hash, other.exe, other.hash);
}

static void test_same(void **state)
{
    struct called before, after;

    (void)state;
    file_put("program", "an interpreter");
    assert_same("python -c f(1)", "python -c f(2)", true); /* another number, as in shapes */
    assert_same("python -c f(1)", "python -c g(1)", false);
    assert_same("bash -c ./a", "bash -c ./b", false);
    assert_same("bash -c ./a10x.sh", "bash -c ./a7x.sh", true);
    assert_same("python -m a", "python -m b", false);
    assert_same("java -cp a Main", "java -cp b Main", false);
    assert_same("java -cp a Main 1", "java -Xmx1g -cp a Main 2", true);
    file_put("a.py", "a");
    file_put("b.py", "a");
    before = identify("python a.py", "a.py");
    assert_string_not_equal(before.exe, identify("python b.py", "b.py").exe);
    file_put("a.py", "changed");
    after = identify("python a.py", "a.py");
    assert_string_equal(after.exe, before.exe);
    assert_string_not_equal(after.hash, before.hash);
    file_put("program", "a newer interpreter");
    assert_string_not_equal(identify("python a.py", "a.py").hash, after.hash);
    unlink("program");
    assert_string_equal(identify("python a.py", "a.py").hash, "");
}

/* A name that does not fit is left out, and with it the hash. */
static void test_long_name(void **state)
{
    char *text = malloc(PATH_MAX + 64);
    struct called called;

    (void)state;
    assert_non_null(text);
    file_put("program", "an interpreter");
    strcpy(text, "python -m ");
    memset(text + 10, 'm', PATH_MAX);
    text[10 + PATH_MAX] = '\0';
    called = identify(text, NULL);
    assert_string_equal(called.exe, "program");
    assert_string_equal(called.hash, "");
    free(text);
}

static void test_starts_others(void **state)
{
    (void)state;
    assert_true(wire_program_starts_others("/usr/bin/env"));
    assert_true(wire_program_starts_others("/usr/bin/python3.11"));
    assert_true(wire_program_starts_others("/var/spool/slurmd/job00038/slurm_script"));
    assert_false(wire_program_starts_others("/usr/bin/solver"));
    assert_false(wire_program_starts_others("/usr/bin/python-solver"));
    assert_false(wire_program_starts_others(""));
    assert_true(wire_program_interprets("/usr/bin/python3.11"));
    assert_false(wire_program_interprets("/usr/bin/bash"));
    assert_false(wire_program_interprets("/usr/bin/env"));
    assert_false(wire_program_interprets("/usr/bin/solver"));
}

#define in_folder(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command_lines), cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_all_options),   in_folder(test_names),
        in_folder(test_same),                in_folder(test_long_name),
        cmocka_unit_test(test_starts_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

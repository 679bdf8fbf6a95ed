/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - a blackboard that berthd would write, from utilisations that are given.
 *
 *   board play FILE SATURATED IDLE HOLD DT_MS <UTILISATIONS    a line each; "nan" is not known
 *   board follow FILE SATURATED IDLE HOLD LOOPS <UTILISATIONS
 *   board count SATURATED IDLE HOLD <UTILISATIONS
 *
 * play writes a sample every DT_MS into "node" and "memory0", whose state is what the model says of
 * the samples until then (models/tasks/saturation.h). follow does so too, but goes on when the
 * program has seen the sample, however long that takes: it makes the file LOOPS, a number that the
 * program counts up at the end of each loop. Both end the blackboard after the last one. count
 * prints how often the number of threads is reduced by them (models/tasks/throttle.h). */
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "blackboard/writer.h"
#include "models/tasks/throttle.h"
#include "enum_table.h"

#define THREADS 8
#define AGAIN_NS 500000000u /* a reader takes a sample of some seconds ago for abandoned */
#define LIMIT_S 600         /* without a program that follows */

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void write_all(struct blackboard_writer *writer, enum saturation_state state,
                      double utilisation)
{
    double TABLE(value, BERTH_BLACKBOARD_KNOWN_VALUES) = {ROW(BERTH_BLACKBOARD_STATE) = NAN, ROW(BERTH_BLACKBOARD_UTILISATION) = utilisation, ROW(BERTH_BLACKBOARD_TRAFFIC) = NAN, ROW(BERTH_BLACKBOARD_WATTS) = NAN,};
    TABLE_COMPLETE(value);

    if (state != SATURATION_UNKNOWN)
        value[BERTH_BLACKBOARD_STATE] = state - SATURATION_IDLE;
    for (unsigned i = 0; i < 2; i++)
        blackboard_write(writer, i, now_ns(CLOCK_MONOTONIC), BERTH_BLACKBOARD_KNOWN_VALUES, value);
}

/* What a program does meanwhile. */
struct program {
    unsigned dt_ms;         /* it is given that long */
    _Atomic uint64_t *loops; /* NULL, or until it has seen what was written */
};

/* Waits until the program has had a whole loop that began after now. What was written is written
 * again now and then: it is not to grow old. */
static void await_loop(const struct program *program, struct blackboard_writer *writer,
                       enum saturation_state state, double utilisation)
{
    uint64_t before = atomic_load(program->loops), written_ns = now_ns(CLOCK_MONOTONIC);

    while (atomic_load(program->loops) - before < 2) {
        usleep(1000);
        if (now_ns(CLOCK_MONOTONIC) - written_ns < AGAIN_NS)
            continue;
        write_all(writer, state, utilisation);
        written_ns = now_ns(CLOCK_MONOTONIC);
    }
}

/* The library looks once in a tick of the coarse clock: a loop that begins after the next tick has
 * seen what is written now. */
static void await_seen(const struct program *program, struct blackboard_writer *writer,
                       enum saturation_state state, double utilisation)
{
    uint64_t tick = now_ns(CLOCK_MONOTONIC_COARSE);

    alarm(LIMIT_S);
    while (now_ns(CLOCK_MONOTONIC_COARSE) == tick)
        usleep(1000);
    await_loop(program, writer, state, utilisation);
}

static int play(const char *file, const struct saturation_rules *rules,
                const struct program *program)
{
    static const char *const name[] = {"node", "memory0"};
    struct saturation saturation = {0};
    struct blackboard_writer *writer;
    double utilisation;

    if (blackboard_create(&writer, file, 2, name) < 0)
        return 1;
    while (scanf("%lf", &utilisation) == 1) {
        saturation_take(&saturation, rules, utilisation);
        write_all(writer, saturation.state, utilisation);
        if (program->loops)
            await_seen(program, writer, saturation.state, utilisation);
        else
            usleep(program->dt_ms * 1000);
    }
    blackboard_end(writer);
    return 0;
}

static int follow(const char *file, const struct saturation_rules *rules, const char *loops)
{
    struct program program = {0};
    int fd = open(loops, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0 || ftruncate(fd, sizeof(*program.loops)) < 0)
        return 1;
    program.loops =
        mmap(NULL, sizeof(*program.loops), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return program.loops == MAP_FAILED ? 1 : play(file, rules, &program);
}

static int count(const struct saturation_rules *rules)
{
    struct saturation saturation = {0};
    unsigned correct = THREADS, reduced = 0;
    double utilisation;

    while (scanf("%lf", &utilisation) == 1) {
        unsigned next;

        saturation_take(&saturation, rules, utilisation);
        next = throttle_correct(saturation.state, THREADS, correct);
        reduced += next < correct;
        correct = next;
    }
    printf("%u\n", reduced);
    return 0;
}

static struct saturation_rules rules_of(char **word)
{
    return (struct saturation_rules){
        .saturated = atof(word[0]), .idle = atof(word[1]), .hold = (unsigned)atoi(word[2])};
}

int main(int argc, char **argv)
{
    struct saturation_rules rules;

    if (argc == 7 && strcmp(argv[1], "play") == 0) {
        rules = rules_of(argv + 3);
        return play(argv[2], &rules, &(struct program){.dt_ms = (unsigned)atoi(argv[6])});
    }
    if (argc == 7 && strcmp(argv[1], "follow") == 0) {
        rules = rules_of(argv + 3);
        return follow(argv[2], &rules, argv[6]);
    }
    if (argc == 5 && strcmp(argv[1], "count") == 0) {
        rules = rules_of(argv + 2);
        return count(&rules);
    }
    fprintf(stderr, "usage: board play FILE SATURATED IDLE HOLD DT_MS | board follow FILE SATURATED "
                    "IDLE HOLD LOOPS | board count SATURATED IDLE HOLD\n");
    return 2;
}

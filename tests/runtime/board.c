/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board - a blackboard that berthd would write, from utilisations that are given.
 *
 *   board play FILE SATURATED IDLE HOLD DT_MS <UTILISATIONS    a line each; "nan" is not known
 *   board count SATURATED IDLE HOLD <UTILISATIONS
 *
 * Writes a sample every DT_MS into "node" and "memory0", whose state is what the model says of the
 * samples until then (models/tasks/saturation.h). play ends the blackboard after the
 * last one. count prints how often the number of threads is reduced by them
 * (models/tasks/throttle.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blackboard/writer.h"
#include "models/tasks/throttle.h"

#define THREADS 8

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void write_all(struct blackboard_writer *writer, enum saturation_state state,
                      double utilisation)
{
    double value[BERTH_BLACKBOARD_KNOWN_VALUES] = {NAN, utilisation, NAN, NAN};

    if (state != SATURATION_UNKNOWN)
        value[BERTH_BLACKBOARD_STATE] = state - SATURATION_IDLE;
    for (unsigned i = 0; i < 2; i++)
        blackboard_write(writer, i, now_ns(), BERTH_BLACKBOARD_KNOWN_VALUES, value);
}

static int play(const char *file, const struct saturation_rules *rules, unsigned dt_ms)
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
        usleep(dt_ms * 1000);
    }
    blackboard_end(writer);
    return 0;
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
        return play(argv[2], &rules, (unsigned)atoi(argv[6]));
    }
    if (argc == 5 && strcmp(argv[1], "count") == 0) {
        rules = rules_of(argv + 2);
        return count(&rules);
    }
    fprintf(stderr, "usage: board play FILE SATURATED IDLE HOLD DT_MS | board count SATURATED IDLE "
                    "HOLD\n");
    return 2;
}

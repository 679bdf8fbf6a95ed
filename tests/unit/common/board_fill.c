/* SPDX-License-Identifier: GPL-2.0-or-later */
/* board_fill - writes a blackboard for the tests of who reads one, again and again until its stdin
 * ends; -k: it goes as if it were killed, and the file stays.
 *
 *     board_fill [-k] FILE */
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blackboard/writer.h"

#define SECTIONS 3
#define EVERY_MS 20

static const char *const name[SECTIONS] = {"node", "memory0", "memory1"};
static const double value[SECTIONS][BERTH_BLACKBOARD_KNOWN_VALUES] = {
    {BERTH_BLACKBOARD_NORMAL, 0.75, 30e9, 212.5},
    {BERTH_BLACKBOARD_SATURATED, 0.96875, 19.5e9, NAN},
    {NAN, NAN, NAN, NAN},
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
    struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
    bool killed = argc == 3 && strcmp(argv[1], "-k") == 0;
    struct blackboard_writer *writer;

    if (argc != 2 + killed || blackboard_create(&writer, argv[1 + killed], SECTIONS, name) < 0)
        return perror("board_fill"), 1;
    do
        for (unsigned i = 0; i < SECTIONS; i++)
            blackboard_write(writer, i, now_ns(), BERTH_BLACKBOARD_KNOWN_VALUES, value[i]);
    while (poll(&end, 1, EVERY_MS) == 0);
    if (!killed)
        blackboard_end(writer);
    return 0;
}

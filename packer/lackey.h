/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lackey - valgrind's memory trace (--tool=lackey --trace-mem=yes), bytes in, records out.
 *
 * A line is "I  ADDRESS,SIZE" (an instruction), " L ", " S " or " M ADDRESS,SIZE" (a load, a store,
 * both); address in hex, size in decimal. Anything else (a torn line, valgrind's own "==PID=="
 * words) is counted and passed over. */
#ifndef BERTH_LACKEY_H
#define BERTH_LACKEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LACKEY_BUFFER (256 << 10)
#define LACKEY_SIZE_MAX 16384 /* greatest access believed: AMX tile state is 11 KiB */

enum lackey_kind { LACKEY_INSTRUCTION, LACKEY_LOAD, LACKEY_STORE, LACKEY_MODIFY };

struct lackey_record {
    enum lackey_kind kind;
    uint64_t address;
    uint32_t size; /* 1..LACKEY_SIZE_MAX; address + size - 1 does not wrap */
};

struct lackey {
    size_t start, end; /* what is still to be read of the buffer */
    uint64_t garbage;  /* lines that were no record */
    bool skipping;     /* inside a line longer than the buffer */
    char buffer[LACKEY_BUFFER];
};

/* Read one line of length bytes without its newline. False when it is no record. */
bool lackey_parse(const char *line, size_t length, struct lackey_record *record);

void lackey_init(struct lackey *lackey);

/* Where the next bytes of the trace go; *room > 0 says how many fit. Take all records out first,
 * then say with lackey_fed how many came. */
char *lackey_space(struct lackey *lackey, size_t *room);
void lackey_fed(struct lackey *lackey, size_t length);

/* The next record. False when more bytes are needed; an incomplete line waits for them. */
bool lackey_next(struct lackey *lackey, struct lackey_record *record);

#endif

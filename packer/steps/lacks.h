/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lacks - why something is not there though berth.conf asks for it: daemon/features.h tells it. */
#ifndef BERTH_STEPS_LACKS_H
#define BERTH_STEPS_LACKS_H

struct packer;
struct states;

enum lack {
    LACK_THERMAL,
    LACK_PREFETCHERS,
    LACK_FREQUENCY,
    LACK_BOARD,
    LACK_METRICS,
    LACK_TEXTFILE,
    LACK_IDLE,
    LACKS
};

/* Notes why that is not there, in the place of what was noted; the text is copied. */
void lacks_note(const struct packer *packer, enum lack lack, const char *why);

/* Returns it; "": nothing was noted. */
const char *lacks_why(const struct packer *packer, enum lack lack);

void lacks_free(struct states *state);

#endif

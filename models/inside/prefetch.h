/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - whether the hardware's prefetchers help a program (Wang 2015, section 7.4.2, Policy
 * 2.a and 2.b): half a second with all of them on, half a second with all of them off, and on only
 * where the program then gets more than 2 % more done.
 *
 * The paper counts the instructions of all threads; here they are per second of CPU time, so that a
 * thread that sleeps in one of the halves says nothing, or per joule, where the program's energy is
 * metered: that is what the policy is to save. The paper asks anew whenever a thread wakes up; here
 * it is asked anew when the program does something else, and at most once a minute.
 *
 * Pure arithmetic: no I/O, no clock (the caller says what time it is), no globals. */
#ifndef BERTH_MODELS_INSIDE_PREFETCH_H
#define BERTH_MODELS_INSIDE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#define PREFETCH_TEST_S 0.5
#define PREFETCH_WORTH 1.02
#define PREFETCH_REST_S                                                                            \
    60 /* from the beginning of one test to that of the next, at least: ours                       \
        */

/* waiting: nothing is decided; then a test begins when it is due. */
enum prefetch_state {
    PREFETCH_WAITING,
    PREFETCH_TEST_ON,
    PREFETCH_TEST_OFF,
    PREFETCH_ON,
    PREFETCH_OFF,
    PREFETCH_STATES
};
extern const char *const prefetch_state_name[PREFETCH_STATES]; /* "waiting", "testing-on", .. */

/* What a program did in a half; NAN: not known. */
struct prefetch_half {
    double ips; /* instructions per second of CPU time */
    double ipj; /* instructions per joule */
};

struct prefetch { /* all zero: nothing was tested */
    enum prefetch_state state;
    bool tested;    /* the last test was decided by what follows */
    bool by_energy; /* by instructions per joule */
    struct prefetch_half on, off;
    double ratio;   /* of what the test went by: on / off; NAN: not known */
    double began_s; /* when the last test began */
    uint64_t phase; /* of the program, by then */
};

/* Returns the seconds until a test is to begin, 0: now, or one is under way; < 0: none is, as long
 * as the program stays in this phase (a number that changes with it). */
double prefetch_due(const struct prefetch *prefetch, uint64_t phase, double now_s);

/* Begins a test: the half with the prefetchers on. */
void prefetch_begin(struct prefetch *prefetch, uint64_t phase, double now_s);

/* Begins the test that is under way anew: the program's cores have changed in it. */
void prefetch_again(struct prefetch *prefetch);

/* Takes in a half; after that with the prefetchers off it is decided. Where one of the halves says
 * nothing, nothing is decided, and the next test begins PREFETCH_REST_S after this one. */
void prefetch_tell(struct prefetch *prefetch, const struct prefetch_half *half);

/* Says whether the prefetchers are better on: on > 1.02 off. False where one is not known. */
bool prefetch_helps(double on, double off);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cancel - what the library does for itself is no cancellation point of its program's: POSIX has
 * none in the functions of mutexes, spin locks and barriers, and who is cancelled in one has left
 * a lock taken. */
#ifndef BERTH_RUNTIME_CANCEL_H
#define BERTH_RUNTIME_CANCEL_H

#include <pthread.h>

/* Has the calling thread not be cancelled before cancel_end(), which gets what this returns. */
static inline int cancel_begin(void)
{
    int state = PTHREAD_CANCEL_ENABLE;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

static inline void cancel_end(int state)
{
    pthread_setcancelstate(state, NULL);
}

#endif

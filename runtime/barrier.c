/* SPDX-License-Identifier: GPL-2.0-or-later */
/* barrier - see barrier.h.
 *
 * Each domain has a slot with so many places as threads of it came in the round before. A thread
 * takes a place of its domain; who takes the last one tells the others: one atomic operation on
 * `open`, the number of slots that have places left. Who brings that to 0 ends the round: it deals
 * the places of the next one by what was wanted, opens them, and then wakes each slot's threads.
 *
 * Threads move between domains as they like. One that finds no place in its own takes one in
 * another domain, as a guest, and waits there: there are as many places as threads a round, so
 * there is one for each. The slot counts what it could not give, and has as many more places in
 * the next round. A slot that a thread makes, because its domain has none, has no places in this
 * round, and joins at its end.
 *
 * A place and the round that it is in are one word. So threads beyond those a round needs, who may
 * come at any time, wait for the right one; only what is wanted may be counted wrongly by them, and
 * the places still are as many as the threads.
 *
 * A thread that has left says so at its slot: who ends the barrier waits for that. */
#include "runtime/barrier.h"

#include <stddef.h>

#include "runtime/futex.h"
#include "runtime/lines.h"
#include "runtime/nodes.h"

#define FULL 0x80000000u /* the lower half of `places` when no more are free */

struct slot {
    void *of_lines;
    _Atomic uint64_t places; /* the round << 32 | FULL + the free ones; less: so many too few */
    _Atomic uint32_t guests; /* that have places of this round */
    _Atomic uint32_t left;   /* threads, since the barrier was made */
    uint64_t filled;         /* rounds; of who takes the last place */
    uint64_t had_guests;     /* the following are of who ends a round */
    uint32_t quota;          /* places of this round */
    bool joined;
    _Alignas(64) _Atomic uint32_t ended; /* rounds; its threads sleep here */
    _Atomic uint32_t sleepers;           /* threads that are about to, or sleep */
};

struct barrier {
    void *of_lines;
    uint32_t threads;
    unsigned domain;
    _Atomic uint32_t awaited, left;     /* somebody waits for the others to leave; is woken here */
    _Alignas(64) _Atomic uint32_t open; /* slots with free places */
    uint64_t rounds;                    /* of who ends a round */
    _Alignas(64) _Atomic(struct slot *) slot[NODES_MAX];
};

_Static_assert(sizeof(struct slot) <= LINES_BYTES_SLOT, "a slot is a piece");
_Static_assert(sizeof(struct barrier) <= LINES_BYTES_BARRIER, "a barrier is a piece");

struct place {
    struct slot *slot;
    uint32_t round;
    bool last; /* of the slot */
};

/* Returns a slot of that domain, which has no places yet, or NULL. */
static struct slot *make_slot(struct barrier *barrier, unsigned domain)
{
    struct slot *made = lines_take(domain, LINES_SLOT), *other = NULL;

    if (!made)
        return NULL;
    atomic_store(&made->places, FULL);
    atomic_store(&made->guests, 0);
    atomic_store(&made->left, 0);
    atomic_store(&made->sleepers, 0);
    made->filled = made->had_guests = made->quota = 0;
    made->joined = false;
    if (atomic_compare_exchange_strong(&barrier->slot[domain], &other, made))
        return made;
    lines_give(domain, made, LINES_SLOT);
    return other;
}

static void open_slot(struct slot *slot, uint32_t round, uint32_t quota)
{
    atomic_store_explicit(&slot->places, (uint64_t)round << 32 | (FULL + quota),
                          memory_order_release);
}

struct barrier *barrier_make(uint32_t threads)
{
    unsigned domain = nodes_domain();
    struct barrier *barrier = lines_take(domain, LINES_BARRIER);
    struct slot *slot;

    if (!barrier)
        return NULL;
    barrier->threads = threads;
    barrier->domain = domain;
    barrier->rounds = 0;
    atomic_store(&barrier->awaited, 0);
    atomic_store(&barrier->open, 1);
    for (size_t i = 0; i < NODES_MAX; i++)
        atomic_store(&barrier->slot[i], NULL);
    slot = make_slot(barrier, domain);
    if (!slot) {
        lines_give(domain, barrier, LINES_BARRIER);
        return NULL;
    }
    slot->joined = true;
    slot->quota = threads;
    atomic_store(&slot->ended, 0);
    open_slot(slot, 0, threads);
    return barrier;
}

/* ---- to arrive ---- */

static bool note_place(struct slot *slot, uint64_t places, struct place *place)
{
    *place = (struct place){slot, (uint32_t)(places >> 32), (uint32_t)places == FULL + 1};
    return (uint32_t)places > FULL;
}

/* Takes a place in the thread's own domain; where there is none, that is counted. */
static bool take_own(struct slot *slot, struct place *place)
{
    return note_place(slot, atomic_fetch_sub_explicit(&slot->places, 1, memory_order_acq_rel),
                      place);
}

static bool take_as_guest(struct slot *slot, struct place *place)
{
    uint64_t places = atomic_load_explicit(&slot->places, memory_order_relaxed);

    while ((uint32_t)places > FULL) {
        atomic_fetch_add_explicit(&slot->guests, 1, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(&slot->places, &places, places - 1,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return note_place(slot, places, place);
        atomic_fetch_sub_explicit(&slot->guests, 1, memory_order_relaxed);
    }
    return false;
}

static bool take_anywhere(struct barrier *barrier, unsigned domain, struct place *place)
{
    struct slot *slot;

    for (size_t i = 0; i < NODES_MAX; i++) {
        slot = atomic_load_explicit(&barrier->slot[(domain + i) % NODES_MAX], memory_order_acquire);
        if (slot && take_as_guest(slot, place))
            return true;
    }
    return false;
}

/* Sleeps until a round has ended since `ended` was read, or for no reason. */
static void sleep_at(struct slot *slot, uint32_t ended)
{
    atomic_fetch_add(&slot->sleepers, 1);
    futex_sleep(&slot->ended, ended);
    atomic_fetch_sub(&slot->sleepers, 1);
}

/* Where all places are taken the round is complete, and about to end: it does so at each slot after
 * the places of the next are free. */
static void arrive_as_guest(struct barrier *barrier, unsigned domain, struct place *place)
{
    struct slot *first =
        atomic_load_explicit(&barrier->slot[barrier->domain], memory_order_acquire);
    uint32_t ended;

    while (ended = atomic_load(&first->ended), !take_anywhere(barrier, domain, place))
        sleep_at(first, ended);
}

static void arrive(struct barrier *barrier, struct place *place)
{
    unsigned domain = nodes_domain();
    struct slot *own = atomic_load_explicit(&barrier->slot[domain], memory_order_acquire);

    if (!own)
        own = make_slot(barrier, domain);
    if (!own || !take_own(own, place))
        arrive_as_guest(barrier, domain, place);
}

/* ---- to end a round ---- */

struct slots {
    size_t n;
    struct slot *slot[NODES_MAX];
    uint32_t quota[NODES_MAX]; /* of the next round */
};

static void gather(struct barrier *barrier, uint32_t round, struct slots *slots)
{
    struct slot *slot;

    slots->n = 0;
    for (size_t i = 0; i < NODES_MAX; i++) {
        slot = atomic_load_explicit(&barrier->slot[i], memory_order_acquire);
        if (!slot)
            continue;
        if (!slot->joined)
            atomic_store(&slot->ended, round);
        slot->joined = true;
        slots->slot[slots->n++] = slot;
    }
}

/* Returns how many threads of the slot's domain have come. */
static uint32_t wanted_of(struct slot *slot)
{
    uint32_t places = (uint32_t)atomic_load_explicit(&slot->places, memory_order_relaxed);
    uint32_t guests = atomic_exchange_explicit(&slot->guests, 0, memory_order_relaxed);

    guests = guests < slot->quota ? guests : slot->quota;
    slot->had_guests += guests;
    return slot->quota - guests + (places < FULL ? FULL - places : 0);
}

/* Returns how many slots have places in the next round. */
static uint32_t deal(struct barrier *barrier, struct slots *slots)
{
    uint32_t left = barrier->threads, open = 0, wanted;

    for (size_t i = 0; i < slots->n; i++) {
        wanted = wanted_of(slots->slot[i]);
        slots->quota[i] = wanted < left ? wanted : left;
        left -= slots->quota[i];
    }
    slots->quota[0] += left;
    for (size_t i = 0; i < slots->n; i++) {
        slots->slot[i]->quota = slots->quota[i];
        open += slots->quota[i] > 0;
    }
    return open;
}

/* Those without places first: when all others are open, the next round may end at once, and they
 * are those of another thread. */
static void open_all(const struct slots *slots, uint32_t round)
{
    for (size_t i = 0; i < slots->n; i++)
        if (slots->quota[i] == 0)
            open_slot(slots->slot[i], round, 0);
    for (size_t i = 0; i < slots->n; i++)
        if (slots->quota[i] > 0)
            open_slot(slots->slot[i], round, slots->quota[i]);
}

/* The next round may end before this has told all slots that this one has: each adds its own. So a
 * thread that sleeps for the next one may be there already, and has to be seen by its end, too. */
static void end_round(struct barrier *barrier, uint32_t round)
{
    struct slots slots;

    gather(barrier, round, &slots);
    barrier->rounds++;
    atomic_store_explicit(&barrier->open, deal(barrier, &slots), memory_order_relaxed);
    open_all(&slots, round + 1);
    for (size_t i = 0; i < slots.n; i++) {
        atomic_fetch_add(&slots.slot[i]->ended, 1);
        if (atomic_load(&slots.slot[i]->sleepers))
            futex_wake(&slots.slot[i]->ended, FUTEX_ALL);
    }
}

static void wait_for_end(struct slot *slot, uint32_t round)
{
    uint32_t ended;

    while (ended = atomic_load_explicit(&slot->ended, memory_order_acquire),
           (int32_t)(ended - round) <= 0)
        sleep_at(slot, ended);
}

/* Who ends the barrier may do so at once: what is touched after the count is only memory that
 * stays. */
static void leave(struct barrier *barrier, struct slot *slot)
{
    atomic_fetch_add(&slot->left, 1);
    if (atomic_load(&barrier->awaited)) {
        atomic_fetch_add(&barrier->left, 1);
        futex_wake(&barrier->left, FUTEX_ALL);
    }
}

bool barrier_wait(struct barrier *barrier)
{
    struct place place;
    bool ends = false;

    arrive(barrier, &place);
    if (place.last) {
        place.slot->filled++;
        ends = atomic_fetch_sub_explicit(&barrier->open, 1, memory_order_acq_rel) == 1;
    }
    if (ends)
        end_round(barrier, place.round);
    else
        wait_for_end(place.slot, place.round);
    leave(barrier, place.slot);
    return ends;
}

/* ---- to end it ---- */

static bool is_waited_at(const struct slot *slot)
{
    return (uint32_t)atomic_load(&slot->places) != FULL + slot->quota;
}

/* Of the rounds that have ended, as `left` counts. */
static uint32_t count_inside(const struct barrier *barrier)
{
    uint32_t inside = (uint32_t)barrier->rounds * barrier->threads;
    struct slot *slot;

    for (size_t i = 0; i < NODES_MAX; i++) {
        slot = atomic_load(&barrier->slot[i]);
        inside -= slot ? atomic_load(&slot->left) : 0;
    }
    return inside;
}

static void await_leaving(struct barrier *barrier)
{
    uint32_t left;

    atomic_store(&barrier->awaited, 1);
    while (left = atomic_load(&barrier->left), count_inside(barrier) > 0)
        futex_sleep(&barrier->left, left);
}

void barrier_end(struct barrier *barrier)
{
    struct slot *slot;

    for (size_t i = 0; i < NODES_MAX; i++) {
        slot = atomic_load(&barrier->slot[i]);
        if (slot && is_waited_at(slot))
            return;
    }
    await_leaving(barrier);
    for (unsigned i = 0; i < NODES_MAX; i++) {
        slot = atomic_load(&barrier->slot[i]);
        if (slot)
            lines_give(i, slot, LINES_SLOT);
    }
    lines_give(barrier->domain, barrier, LINES_BARRIER);
}

void barrier_count(const struct barrier *barrier, struct barrier_counts *counts)
{
    const struct slot *slot;

    *counts = (struct barrier_counts){.rounds = barrier->rounds};
    for (size_t i = 0; i < NODES_MAX; i++) {
        slot = atomic_load(&barrier->slot[i]);
        counts->global += slot ? slot->filled : 0;
        counts->guests += slot ? slot->had_guests : 0;
    }
}

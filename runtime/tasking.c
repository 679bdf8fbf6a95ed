/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/tasking.h"

#include <time.h>

#include "runtime/contention.h"
#include "runtime/said.h"

#define SECOND_NS 1000000000u
#define POLL_NS 100000 /* until who rests with a task looks around */
#define FREE_NS (5 * (uint64_t)SECOND_NS)
#define SLOTS 1024 /* the first is nobody's */
#define GROUPS 16  /* taskgroups within each other; of further ones nobody rests with a task */
#define ID_BITS 40 /* of an id, below its thread's slot */

/* What others see of a thread; it alone writes it. */
static struct slot {
    _Alignas(64) _Atomic(struct throttle_team *) team;
    _Atomic uint64_t awaited; /* the task or group whose tasks it waits for; 0: none */
    _Atomic uint32_t counted; /* tasks that it has created, begun and ended */
    _Atomic bool works;       /* it is in a task, and waits for nothing */
    _Atomic bool creates;     /* it has created some since it was in one */
} slots[SLOTS];

static _Atomic uint32_t slots_taken = 1;

static __thread struct {
    struct throttle_team *team;
    uint32_t slot, stacked; /* calls below that tasks run on top of */
    uint32_t groups;
    uint64_t task, ids; /* the task that runs, and the last id that was given */
    struct tasking_awaited group[GROUPS];
} me __attribute__((tls_model("initial-exec")));

/* ---- slots ---- */

static uint32_t known_slot(void)
{
    return me.slot < SLOTS ? me.slot : 0;
}

static struct slot *own_slot(void)
{
    return &slots[known_slot()];
}

static uint32_t slots_in_use(void)
{
    uint32_t n = atomic_load_explicit(&slots_taken, memory_order_relaxed);

    return n < SLOTS ? n : SLOTS;
}

/* Gives the thread its slot when it needs it for the first time. */
static void take_slot(void)
{
    if (me.slot)
        return;
    me.slot = slots_in_use() < SLOTS ? atomic_fetch_add(&slots_taken, 1) : SLOTS;
    me.ids = (uint64_t)me.slot << ID_BITS;
    me.task = ++me.ids;
}

static void count_event(struct slot *slot)
{
    atomic_store_explicit(&slot->counted,
                          atomic_load_explicit(&slot->counted, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void set_works(bool works)
{
    atomic_store_explicit(&own_slot()->works, works, memory_order_relaxed);
}

struct throttle_team *tasking_team(void)
{
    return me.team;
}

struct throttle_team *tasking_enter(struct throttle_team *team)
{
    struct throttle_team *before = me.team;

    me.team = team;
    return before;
}

/* ---- who works, and who waits ---- */

/* Does its thread wait for it, and has nothing to do meanwhile? */
static bool is_awaited(const struct tasking_awaited *one)
{
    const struct slot *slot = &slots[one->slot];

    if (one->slot == 0)
        return one->id;
    return atomic_load_explicit(&slot->awaited, memory_order_relaxed) == one->id &&
           !atomic_load_explicit(&slot->works, memory_order_relaxed);
}

/* Does anybody wait for the task, or may he? */
static bool is_needed(const struct tasking_head *head)
{
    return is_awaited(&head->parent) || is_awaited(&head->group);
}

/* What is seen of the threads of a team. */
struct sight {
    uint32_t working, creating; /* in tasks, and those that create some elsewhere, or did */
    uint32_t counted, created;  /* what all of them have counted, and what the latter have */
};

static void add_slot(struct sight *sight, const struct slot *slot)
{
    uint32_t counted = atomic_load_explicit(&slot->counted, memory_order_relaxed);

    sight->counted += counted;
    if (atomic_load_explicit(&slot->works, memory_order_relaxed))
        sight->working++;
    else if (atomic_load_explicit(&slot->creates, memory_order_relaxed)) {
        sight->creating++;
        sight->created += counted;
    }
}

static struct sight look_around(const struct throttle_team *team)
{
    struct sight sight = {0};
    uint32_t n = slots_in_use();

    for (uint32_t i = 1; i < n; i++)
        if (atomic_load_explicit(&slots[i].team, memory_order_relaxed) == team)
            add_slot(&sight, &slots[i]);
    return sight;
}

/* Do as many work as should? Who creates tasks does so while he creates more. */
static bool are_enough(const struct throttle_team *team, uint32_t most, struct sight *seen)
{
    uint32_t threads = atomic_load_explicit(&team->threads, memory_order_relaxed);
    struct sight now = look_around(team);
    bool create = now.created != seen->created;

    *seen = now;
    return now.working + (create ? now.creating : 0) >= threads - most;
}

/* ---- resting ---- */

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static bool lie_down(struct throttle_team *team, uint32_t most)
{
    uint32_t asleep = atomic_load(&team->tasks_asleep);

    do
        if (asleep >= most)
            return false;
    while (!atomic_compare_exchange_weak(&team->tasks_asleep, &asleep, asleep + 1));
    return true;
}

/* Returns whether nobody is to rest in the region any more: no task has begun or ended for too
 * long. */
static bool sleep_on(const struct tasking_head *head, struct sight *seen)
{
    static const struct timespec moment = {.tv_nsec = POLL_NS};
    struct throttle_team *team = head->team;
    uint64_t since_ns = clock_ns();

    for (;;) {
        uint32_t most = throttle_most(team), counted = seen->counted;

        nanosleep(&moment, NULL);
        if (is_needed(head) || atomic_load(&team->tasks_asleep) > most ||
            !are_enough(team, most, seen))
            return false;
        if (seen->counted != counted)
            since_ns = clock_ns();
        else if (clock_ns() > since_ns + FREE_NS)
            return true;
    }
}

static void rest_with(const struct tasking_head *head)
{
    struct throttle_team *team = head->team;
    uint32_t most = throttle_most(team);
    struct sight seen = {0};
    uint64_t began_ns;
    bool freed;

    if (most == 0 || atomic_load(&team->tasks_freed) || is_needed(head) ||
        !are_enough(team, most, &seen) || !lie_down(team, most))
        return;
    began_ns = clock_ns();
    freed = sleep_on(head, &seen);
    if (freed)
        atomic_store(&team->tasks_freed, true);
    atomic_fetch_sub(&team->tasks_asleep, 1);
    said_rest(clock_ns() - began_ns, freed);
}

/* ---- tasks ---- */

void tasking_created(struct tasking_head *head, void *function)
{
    static const struct tasking_awaited unknown = {.id = 1};

    take_slot();
    *head = (struct tasking_head){.function = function, .team = me.team};
    head->parent = (struct tasking_awaited){me.task, known_slot()};
    if (me.groups)
        head->group = me.groups <= GROUPS ? me.group[me.groups - 1] : unknown;
    if (me.stacked == 0) {
        atomic_store_explicit(&own_slot()->team, me.team, memory_order_relaxed);
        atomic_store_explicit(&own_slot()->creates, true, memory_order_relaxed);
    }
    count_event(own_slot());
}

static void note_before(struct tasking_before *before)
{
    take_slot();
    *before = (struct tasking_before){
        .team = me.team,
        .works_for = atomic_load_explicit(&own_slot()->team, memory_order_relaxed),
        .task = me.task,
        .groups = me.groups,
        .stacked = me.stacked,
        .awaited = atomic_load_explicit(&own_slot()->awaited, memory_order_relaxed),
        .works = atomic_load_explicit(&own_slot()->works, memory_order_relaxed)};
}

static void push_group(struct tasking_awaited group)
{
    if (me.groups < GROUPS)
        me.group[me.groups] = group;
    me.groups++;
}

void tasking_begin(const struct tasking_head *head, struct tasking_before *before)
{
    note_before(before);
    if (me.stacked == 0) {
        atomic_store_explicit(&own_slot()->creates, false, memory_order_relaxed);
        rest_with(head);
    }
    atomic_store_explicit(&own_slot()->team, head->team, memory_order_relaxed);
    count_event(own_slot());
    set_works(true);
    me.team = head->team;
    me.task = ++me.ids;
    me.stacked++;
    push_group(head->group);
}

void tasking_end(const struct tasking_before *before)
{
    count_event(own_slot());
    set_works(before->works);
    atomic_store_explicit(&own_slot()->team, before->works_for, memory_order_relaxed);
    me.team = before->team;
    me.task = before->task;
    me.stacked = before->stacked;
    me.groups = before->groups;
}

/* ---- in the run-time ---- */

static uint64_t innermost_group(void)
{
    return me.groups && me.groups <= GROUPS ? me.group[me.groups - 1].id : 0;
}

void tasking_go(enum tasking_why why, struct tasking_before *before)
{
    note_before(before);
    me.stacked++;
    if (why == TASKING_CREATES)
        return;
    atomic_store_explicit(&own_slot()->awaited, why == TASKING_WAITS ? me.task : innermost_group(),
                          memory_order_relaxed);
    set_works(false);
}

void tasking_come(const struct tasking_before *before)
{
    atomic_store_explicit(&own_slot()->awaited, before->awaited, memory_order_relaxed);
    set_works(before->works);
    me.stacked = before->stacked;
}

void tasking_group_begin(void)
{
    take_slot();
    push_group((struct tasking_awaited){++me.ids, known_slot()});
}

void tasking_group_end(void)
{
    me.groups -= me.groups > 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dramsim - see dramsim.h */
#include "probe/trace/dramsim.h"

#define CORES 64             /* whose requests are told apart */
#define RUN_LINES 8          /* of a channel, before the next one comes */
#define ROW_BYTES 8192       /* of a channel */
#define PAGE_SHIFT 12        /* of a page's address */
#define FRAMES_MASK 0xffffff /* 64 GiB */

struct place {
    uint32_t channel, rank, bank; /* bank: of all channels */
    uint64_t row;
};

struct bank {
    uint64_t row;   /* that is open + 1; 0: none */
    uint64_t asked; /* the channel's requests when it was asked last */
};

struct channel {
    uint64_t requests;
    bool written; /* the last one was a write */
    uint32_t rank;
};

struct dramsim {
    struct dramsim_geometry geometry;
    struct dramsim_counts counts;
    unsigned lines_shift; /* of a page: lines */
    uint32_t row_lines, banks;
    struct channel *channel; /* [channels] */
    struct bank *bank;       /* [banks] */
    uint64_t *asked;     /* [CORES][banks] the core's requests when it asked that bank; 0 never */
    uint64_t own[CORES]; /* requests of each core */
    unsigned last_core;
    struct place last;
};

/* Returns the finishing function of splitmix64 (Steele 2014). */
static uint64_t hash(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* Is the geometry one that fits? */
static bool possible(const struct dramsim_geometry *g)
{
    return g->channels && g->ranks && g->banks && g->line_bytes >= 8 &&
           g->line_bytes <= (1u << PAGE_SHIFT) && (g->line_bytes & (g->line_bytes - 1)) == 0 &&
           (uint64_t)g->channels * g->ranks * g->banks <= DRAMSIM_BANKS_MAX;
}

struct dramsim *dramsim_new(const struct dramsim_geometry *geometry, void *(*alloc)(size_t))
{
    struct dramsim *sim = possible(geometry) ? alloc(sizeof(*sim)) : NULL;

    if (!sim)
        return NULL;
    sim->geometry = *geometry;
    sim->lines_shift = PAGE_SHIFT - (unsigned)__builtin_ctz(geometry->line_bytes);
    sim->row_lines = ROW_BYTES / geometry->line_bytes;
    sim->banks = geometry->channels * geometry->ranks * geometry->banks;
    sim->channel = alloc(geometry->channels * sizeof(*sim->channel));
    sim->bank = alloc(sim->banks * sizeof(*sim->bank));
    sim->asked = alloc((size_t)CORES * sim->banks * sizeof(*sim->asked));
    return sim->channel && sim->bank && sim->asked ? sim : NULL;
}

/* ---- where a line is ---- */

/* The line of the frame that stands for its page. */
static uint64_t translate(const struct dramsim *sim, uint64_t line)
{
    uint64_t page = line >> sim->lines_shift, within = line - (page << sim->lines_shift);

    return ((hash(page + 1) & FRAMES_MASK) << sim->lines_shift) + within;
}

static struct place find_place(const struct dramsim *sim, uint64_t line)
{
    const struct dramsim_geometry *g = &sim->geometry;
    uint64_t run = line / RUN_LINES, rest, bank;
    struct place place = {.channel = (uint32_t)(run % g->channels)};

    rest = (run / g->channels * RUN_LINES + line % RUN_LINES) / sim->row_lines;
    bank = rest % g->banks;
    rest /= g->banks;
    place.rank = (uint32_t)(rest % g->ranks);
    place.row = rest / g->ranks;
    place.bank = (uint32_t)((place.channel * g->ranks + place.rank) * g->banks + bank);
    return place;
}

/* ---- what a request finds ---- */

static void open_row(struct dramsim *sim, const struct place *place)
{
    struct bank *bank = &sim->bank[place->bank];
    uint64_t since = sim->channel[place->channel].requests - bank->asked;

    if (!bank->row || (sim->geometry.auto_close && since > sim->geometry.auto_close))
        sim->counts.misses++;
    else if (bank->row == place->row + 1)
        sim->counts.hits++;
    else
        sim->counts.conflicts++;
    bank->row = place->row + 1;
    bank->asked = sim->channel[place->channel].requests;
}

static void turn(struct dramsim *sim, const struct place *place, bool write)
{
    struct channel *channel = &sim->channel[place->channel];

    sim->counts.write_to_read += channel->requests > 0 && channel->written && !write;
    sim->counts.rank_turns += channel->requests > 0 && channel->rank != place->rank;
    channel->written = write;
    channel->rank = place->rank;
    channel->requests++;
}

/* How many of its own requests ago the core asked this bank. */
static void reuse(struct dramsim *sim, unsigned core, const struct place *place)
{
    uint64_t *asked = &sim->asked[(size_t)core * sim->banks + place->bank];
    uint64_t now = ++sim->own[core], distance = now - *asked;

    if (*asked > 0) {
        sim->counts.reused++;
        sim->counts.brd[distance <= DRAMSIM_BRDS ? distance : 0]++;
    }
    *asked = now;
}

static void pair_up(struct dramsim *sim, unsigned core, const struct place *place)
{
    const struct place *last = &sim->last;

    if (sim->counts.requests > 0 && core != sim->last_core) {
        sim->counts.pairs++;
        if (last->channel != place->channel)
            sim->counts.other_channel++;
        else if (last->bank == place->bank && last->row == place->row)
            sim->counts.same_row++;
        else if (last->bank == place->bank)
            sim->counts.same_bank++;
    }
    sim->last_core = core;
    sim->last = *place;
}

void dramsim_request(struct dramsim *sim, unsigned core, uint64_t line, bool write)
{
    struct place place = find_place(sim, translate(sim, line));

    core %= CORES;
    pair_up(sim, core, &place);
    reuse(sim, core, &place);
    turn(sim, &place, write);
    open_row(sim, &place);
    sim->counts.requests++;
    sim->counts.writes += write;
}

const struct dramsim_counts *dramsim_counts(const struct dramsim *sim)
{
    return &sim->counts;
}

void dramsim_difference(const struct dramsim_counts *later, const struct dramsim_counts *earlier,
                        struct dramsim_counts *difference)
{
    const uint64_t *to = (const uint64_t *)later, *from = (const uint64_t *)earlier;
    uint64_t *into = (uint64_t *)difference;

    for (size_t i = 0; i < DRAMSIM_WORDS; i++)
        into[i] = to[i] - from[i];
}

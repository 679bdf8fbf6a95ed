/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/online/dio.h"

#include <math.h>

#define MINUTE_S 60

static bool banned(const struct dio *dio, uint64_t id, double now_s)
{
    for (size_t i = 0; i < DIO_BANS; i++)
        if (dio->ban[i].until_s > now_s && dio->ban[i].id == id)
            return true;
    return false;
}

/* Returns how many steps moved in the last minute. */
static size_t recent(const struct dio *dio, double now_s)
{
    size_t n = 0;

    for (size_t i = 0; i < dio->nmoved; i++)
        n += dio->moved_s[i] > now_s - MINUTE_S;
    return n;
}

static void count_moves(struct dio *dio, double now_s, size_t moves)
{
    for (; moves > 0; moves--) {
        dio->moved_s[dio->next] = now_s;
        dio->next = (dio->next + 1) % DIO_MOVES_MAX;
        dio->nmoved += dio->nmoved < DIO_MOVES_MAX;
    }
}

enum dio_verdict dio_decide(struct dio *dio, const struct dio_rules *rules, double now_s,
                            const struct dio_proposal *proposal)
{
    bool same = dio->agreed > 0 && dio->candidate == proposal->id;

    if (banned(dio, proposal->id, now_s) ||
        !(proposal->owed || proposal->gain * rules->horizon_s > proposal->cost_s)) {
        dio_content(dio);
        return banned(dio, proposal->id, now_s) ? DIO_BANNED : DIO_NO_GAIN;
    }
    dio->candidate = proposal->id;
    dio->agreed = same ? dio->agreed + 1 : 1;
    if (dio->agreed < rules->agreements)
        return DIO_AGAIN;
    if (recent(dio, now_s) + proposal->moves > rules->moves_per_minute)
        return DIO_LIMIT;
    count_moves(dio, now_s, proposal->moves);
    dio_content(dio);
    return DIO_MOVE;
}

void dio_content(struct dio *dio)
{
    dio->agreed = 0;
}

bool dio_slower(const struct dio_rules *rules, double before, double before_error, double after,
                double after_error)
{
    double doubt =
        hypot(isnan(before_error) ? 0 : before_error, isnan(after_error) ? 0 : after_error);

    return before - after > rules->regret * before && before - after > doubt;
}

bool dio_regrets(const struct dio_rules *rules, double worth, size_t n,
                 const struct dio_speed *speed)
{
    bool any = false;
    double change = 0;

    for (size_t i = 0; i < n; i++) {
        const struct dio_speed *s = &speed[i];

        any = any || dio_slower(rules, worth * s->before, worth * s->before_error, s->after,
                                s->after_error);
        change += s->cores * (s->after / (worth * s->before) - 1);
    }
    return any && change < 0;
}

void dio_forbid(struct dio *dio, const struct dio_rules *rules, double now_s, uint64_t id)
{
    dio->ban[dio->next_ban] = (struct dio_ban){id, now_s + rules->ban_s};
    dio->next_ban = (dio->next_ban + 1) % DIO_BANS;
}

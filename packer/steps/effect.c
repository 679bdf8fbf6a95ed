/* SPDX-License-Identifier: GPL-2.0-or-later */
/* effect - see effect.h */
#include "packer/steps/effect.h"
#include "enum_table.h"

#include <stdio.h>
#include <string.h>

#define SECONDS_MAX 1e12

const char *const TABLE(step_policy_word, STEP_POLICIES) = {
    ROW(STEP_FAITHFUL) = "faithful", ROW(STEP_TRANQUIL) = "tranquil",
    ROW(STEP_SHUFFLE) = "shuffle",   ROW(STEP_ADAPT) = "adapt",
    ROW(STEP_FOLLOW) = "follow",     ROW(STEP_FLEX) = "flex",
    ROW(STEP_THROTTLE) = "throttle", ROW(STEP_LOCKS) = "locks",
    ROW(STEP_PREFETCH) = "prefetch", ROW(STEP_FREQUENCY) = "frequency",
};
TABLE_COMPLETE(step_policy_word);

static const struct json_field one_fields[] = {
    JSON_FIELD(struct step_effect, "changes", changes, OPTIONAL),
    JSON_RANGE(struct step_effect, "seconds", seconds, OPTIONAL, 0, SECONDS_MAX),
    JSON_RANGE(struct step_effect, "since_s", since_s, OPTIONAL, 0, SECONDS_MAX),
    JSON_END,
};

const struct json_field effect_fields[] = {
    JSON_NESTED(struct step_inside, "any", any, OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "faithful", effect[STEP_FAITHFUL], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "tranquil", effect[STEP_TRANQUIL], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "shuffle", effect[STEP_SHUFFLE], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "adapt", effect[STEP_ADAPT], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "follow", effect[STEP_FOLLOW], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "throttle", effect[STEP_THROTTLE], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "flex", effect[STEP_FLEX], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "locks", effect[STEP_LOCKS], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "prefetch", effect[STEP_PREFETCH], OPTIONAL, one_fields),
    JSON_NESTED(struct step_inside, "frequency", effect[STEP_FREQUENCY], OPTIONAL, one_fields),
    JSON_END,
};

double effect_s(const struct step_effect *effect, double now_s)
{
    return effect->seconds + (effect->since_s > 0 ? now_s - effect->since_s : 0);
}

void effect_set(struct step_effect *effect, bool in_effect, double now_s)
{
    effect->seconds = effect_s(effect, now_s);
    effect->since_s = in_effect ? now_s : 0;
}

void effect_begin(struct step_effect *effect, double now_s)
{
    effect_set(effect, true, now_s);
    effect->changes++;
}

void effect_words(const struct step *step, char words[EFFECT_WORDS_MAX])
{
    size_t used = 0;

    words[0] = '\0';
    for (enum step_policy i = 0; i < STEP_POLICIES; i++)
        if (step->inside.effect[i].changes > 0 &&
            used + strlen(step_policy_word[i]) + 1 < EFFECT_WORDS_MAX)
            used += (size_t)snprintf(words + used, EFFECT_WORDS_MAX - used, "%s%s", used ? "," : "",
                                     step_policy_word[i]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/conf/admit.h"

#include <stdio.h>
#include <string.h>

#include "packer/base/text.h"

/* ---- who may ask for what the neighbours pay for ---- */

/* Says whether one of the words is this one, or "*". */
static bool named(const char *words, const char *word)
{
    return word[0] && (text_lists(words, word) || text_lists(words, "*"));
}

static bool number_named(const char *words, uint32_t number)
{
    char word[16];

    snprintf(word, sizeof(word), "%u", number);
    return named(words, word);
}

static bool group_named(const char *words, const struct wire_register *request)
{
    bool any = number_named(words, request->gid);

    for (size_t i = 0; i < request->ngroups; i++)
        any = any || number_named(words, request->group[i]);
    return any;
}

static bool user_named(const struct conf *conf, const struct wire_register *request)
{
    return number_named(conf->isolate_users, request->uid) ||
           group_named(conf->isolate_groups, request);
}

bool admit_unknown(const struct conf *conf, const struct wire_register *request,
                   const struct wire_identity *is, const char *word)
{
    return is->source == WIRE_SOURCE_NONE && text_lists(conf->allow, word) &&
           !user_named(conf, request) && (conf->isolate_accounts[0] || conf->isolate_qos[0]);
}

const char *admit_priority(const struct conf *conf, const struct wire_register *request,
                           const struct wire_identity *is, const char *word)
{
    if (!text_lists(conf->allow, word))
        return "berth.conf does not allow it";
    if (user_named(conf, request))
        return NULL;
    if (admit_unknown(conf, request, is, word))
        return "berth.conf names neither its user nor a group of it, and slurmctld has not said "
               "which account and QOS it has";
    if (named(conf->isolate_accounts, is->account) || named(conf->isolate_qos, is->qos))
        return NULL;
    return "berth.conf names neither its user nor a group, account or QOS of it "
           "(its key grant)";
}

const char *admit_refusal(const struct conf *conf, const struct wire_register *request,
                          const struct wire_identity *is, bool waits, const char *word)
{
    const char *why = admit_priority(conf, request, is, word);

    if (waits)
        return "waiting for slurmctld, which says what account and QOS it has";
    return why ? why : "berth.conf did not allow it when the step began";
}

/* ---- the words ---- */

/* Says whether the word is refused, and adds it to the list then. */
static bool refuse(const char *allow, bool given, const char *word, char *refused, size_t size)
{
    size_t used = strlen(refused);

    if (!given || text_lists(allow, word))
        return false;
    snprintf(refused + used, size - used, "%s%s", used ? "," : "", word);
    return true;
}

/* Says whether a word for which the neighbours pay is refused, and adds it to the list then. */
static bool refuse_priority(const struct conf *conf, const struct wire_register *request,
                            const struct wire_identity *is, bool given, const char *word,
                            char *refused, size_t size)
{
    return refuse(admit_priority(conf, request, is, word) ? "" : word, given, word, refused, size);
}

/* Says whether a word that is for some users is refused, and adds it to the list then. */
static bool refuse_user(const struct conf *conf, const char *users,
                        const struct wire_register *request, bool given, const char *word,
                        char *refused, size_t size)
{
    return refuse(number_named(users, request->uid) ? conf->allow : "", given, word, refused, size);
}

void admit_options(const struct conf *conf, struct wire_register *request,
                   const struct wire_identity *is, char *refused, size_t size)
{
    struct wire_options *o = &request->options, none;
    const char *allow = conf->allow;

    wire_options_init(&none);
    refused[0] = '\0';
    if (refuse(allow, o->mode != WIRE_MODE_OFF, wire_mode_name[o->mode], refused, size))
        o->mode = WIRE_MODE_OFF;
    if (refuse_priority(conf, request, is, o->isolate, "isolate", refused, size))
        o->isolate = false;
    if (refuse(allow, o->edp, "edp", refused, size))
        o->edp = false;
    if (refuse(allow, o->size, "size", refused, size))
        o->size = false, o->size_loss_pct = none.size_loss_pct;
    if (refuse(allow, o->spread, "spread", refused, size))
        o->spread = false;
    if (refuse(allow, o->pack, "pack", refused, size))
        o->pack = false;
    if (refuse(allow, o->policy_given, "policy", refused, size))
        o->policy_given = false;
    if (refuse(allow, o->cores_max > 0, "cores", refused, size))
        o->cores_min = o->cores_max = 0;
    if (refuse_priority(conf, request, is, o->max_slowdown_pct >= 0, "max-slowdown", refused, size))
        o->max_slowdown_pct = none.max_slowdown_pct;
    if (refuse(allow, o->mem != WIRE_MEM_AUTO, "mem", refused, size))
        o->mem = WIRE_MEM_AUTO;
    o->mem_auto &= text_lists(allow, "tranquil"); /* what it means */
    if (refuse(allow, o->threads_auto, "threads", refused, size))
        o->threads_auto = false;
    if (refuse(allow, o->threads_follow, "follow", refused, size))
        o->threads_follow = false;
    if (refuse_user(conf, conf->throttle_users, request, o->throttle != WIRE_THROTTLE_OFF,
                    "throttle", refused, size))
        o->throttle = WIRE_THROTTLE_OFF;
    if (refuse(allow, o->flex, "flex", refused, size))
        o->flex = false, o->flex_threads = 0;
    if (refuse(allow, o->locks_cohort, "locks", refused, size))
        o->locks_cohort = false;
    if (refuse(allow, o->faithful, "faithful", refused, size))
        o->faithful = false;
    if (refuse(allow, o->tranquil, "tranquil", refused, size))
        o->tranquil = false;
    if (refuse(allow, o->shuffle, "shuffle", refused, size))
        o->shuffle = false;
    if (refuse(allow, o->adapt, "adapt", refused, size))
        o->adapt = false;
    if (refuse_user(conf, conf->prefetch_users, request, o->prefetch != WIRE_PREFETCH_NONE,
                    "prefetch", refused, size))
        o->prefetch = WIRE_PREFETCH_NONE;
    if (refuse(allow, o->tag[0], "tag", refused, size))
        o->tag[0] = '\0';
}

bool admit_proposes(const struct conf *conf, uint32_t uid)
{
    return uid == 0 || number_named(conf->propose_users, uid);
}

void admit_strike(char *refused, const char *word)
{
    size_t length = strlen(word);
    char *at = refused;

    while ((at = strstr(at, word)) &&
           ((at != refused && at[-1] != ',') || (at[length] && at[length] != ',')))
        at += length;
    if (!at)
        return;
    if (at[length] == ',')
        length++;
    else if (at != refused)
        at--, length++;
    memmove(at, at + length, strlen(at + length) + 1);
}

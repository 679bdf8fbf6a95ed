/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact - a figure of a step, described once: what explain, status, their schemas and berthctl make
 * of it. packer/fact/facts.def has the figures, a paragraph each; what they are of a step computes
 * packer/figures/figures.c. */
#ifndef BERTH_FACT_FACT_H
#define BERTH_FACT_FACT_H

#include <json-c/json.h>
#include <stdbool.h>

enum fact_id {
#define FACT(ID, ...) FACT_##ID,
#include "packer/fact/facts.def"
    FACTS
};

enum fact_kind {
    FACT_NUMBER, /* 0 or more */
    FACT_SIGNED, /* or below */
    FACT_COUNT,  /* whole, 0 or more */
    FACT_SECONDS,
    FACT_CPU_TIME, /* seconds, of several CPUs together */
    FACT_WAIT,     /* seconds in which threads could not run though they wanted to, all together */
    FACT_KIB,      /* whole */
    FACT_JOULES,
    FACT_FLAG,     /* 1: it is so, 0: not */
    FACT_TEXT,     /* no number, */
    FACT_CPU_LIST, /* but a list of CPUs as text: 0-3,8; */
    FACT_CACHES,   /* but the numbers of the last-level caches that CPUs belong to, */
    FACT_FOUR,     /* but four numbers, which the stage adds itself where they are known */
    FACT_KINDS
};

/* Who is told of it, where Slurm's PrivateData or berth.conf's private_data hides others from
 * users: with FACT_ROOT users are told null, since it says something of others. */
enum fact_who { FACT_ALL, FACT_ROOT };

struct fact {
    const char *key;  /* in explain and status */
    const char *of;   /* the object of explain that it stands in; "": explain does not tell it */
    const char *help; /* one sentence */
    enum fact_kind kind;
    enum fact_who who;
    const char *also;  /* other objects that have the same, with commas; NULL: there is none */
    bool status;       /* status tells it, too */
    bool said;         /* of an older berth it is what a user has said, which counts for nothing */
    bool always;       /* it is always known */
    const char *words; /* of a text: all that there are, quoted, with commas; NULL: any */
    const char *say; /* its part of what `berthctl explain -v` says of the object (ctl_say); NULL */
};
extern const struct fact fact[FACTS];

/* The sentences of help by themselves, for tables that are made when berth is built. */
#define FACT(ID, ...) extern const char fact_help_##ID[];
#include "packer/fact/facts.def"

/* Adds the figure to an object, as explain and status have it: null where it is not known (NAN). */
void fact_add(struct json_object *object, enum fact_id id, double value);

/* Adds a text: null where it is not known (NULL; or "", if it is not always known). */
void fact_add_word(struct json_object *object, enum fact_id id, const char *text);

/* Returns the first fact from that one on that is told in that object of explain, or (`of` NULL) in
 * status; FACTS: there is none. */
enum fact_id fact_next(const char *of, enum fact_id id);

/* Does all that is told in that object of explain say something of others (FACT_ROOT)? */
bool fact_is_of_others(const char *of);

/* Writes all that a JSON Schema says of its value. Returns the text. */
#define FACT_SCHEMA_MAX 512
const char *fact_schema(enum fact_id id, char text[FACT_SCHEMA_MAX]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_news - see node_news.h */
#include "packer/daemon/node_news.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/daemon/features.h"
#include "packer/steps/stage.h"

struct node_news {
    struct ledger_node last; /* as it was told */
};

static bool has_changed(const struct ledger_node *now, const struct ledger_node *last)
{
    return now->released != last->released || now->denied != last->denied ||
           now->refused != last->refused || now->missed != last->missed ||
           now->steps != last->steps || strcmp(now->node, last->node) != 0;
}

bool node_news_is_due(const struct ledger_node *now, const struct ledger_node *last)
{
    return last->at == 0 || now->at < last->at || now->at - last->at >= NODE_NEWS_LAST_S ||
           (has_changed(now, last) && now->at - last->at >= NODE_NEWS_NEXT_S);
}

static int open_news(const struct packer *packer, struct berth_error *err)
{
    bool shared = strncmp(packer->world.conf.ledger, "sqlite:", 7) != 0;

    (void)err;
    if (packer->state->ledger && shared)
        packer->state->node_news = calloc(1, sizeof(*packer->state->node_news));
    return 0;
}

static void close_news(const struct packer *packer)
{
    free(packer->state->node_news);
}

/* Writes the node's name: as its steps say it, else as this machine's. */
static void name_node(const struct packer *packer, char name[64])
{
    snprintf(name, 64, "%.63s", packer->steps->node);
    if (name[0] || gethostname(name, 63) < 0)
        return;
    name[63] = '\0';
    name[strcspn(name, ".")] = '\0';
}

static bool is_denied(const struct packer *packer)
{
    struct feature feature;

    for (size_t i = 0; features_get(packer, i, &feature); i++)
        if (strcmp(feature.name, "placement") == 0)
            return feature.state == FEATURE_DENIED;
    return false;
}

/* Looks at all but what berthd may do, which is as it was told last. */
static struct ledger_node look(const struct packer *packer, const struct ledger_node *last)
{
    const struct tally *tally = packer->state->tally;
    struct ledger_node now = {
        .at = time(NULL),
        .steps = (int64_t)packer->steps->nlive,
        .released = packer->steps->released,
        .denied = last->denied,
        .refused = (int64_t)tally->refused.in_a_row,
        .missed = (int64_t)(tally->failed_open[PACKER_LATE] + tally->failed_open[PACKER_UNHEARD]),
    };

    now.up_at = now.at - (int64_t)(clock_s() - packer->world.started_mono_s);
    snprintf(now.berth, sizeof(now.berth), "%s", PACKAGE_VERSION);
    name_node(packer, now.node);
    return now;
}

/* Was it told just now? Then nobody need look. */
static bool is_fresh(const struct ledger_node *last)
{
    int64_t passed_s = time(NULL) - last->at;

    return passed_s >= 0 && passed_s < NODE_NEWS_NEXT_S;
}

static void tell_news(const struct packer *packer, struct turn *turn)
{
    struct node_news *news = packer->state->node_news;
    struct ledger_node now;

    (void)turn;
    if (!news || is_fresh(&news->last))
        return;
    now = look(packer, &news->last);
    now.denied = is_denied(packer);
    if (!now.node[0] || !node_news_is_due(&now, &news->last))
        return;
    ledger_tell_node(packer->state->ledger, &now);
    news->last = now;
}

/* It wants a turn soon after a change, and where nothing has happened for long. */
static double news_due(const struct packer *packer)
{
    const struct node_news *news = packer->state->node_news;
    struct ledger_node now;
    int64_t in_s;

    if (!news)
        return -1;
    now = look(packer, &news->last);
    in_s = has_changed(&now, &news->last) ? NODE_NEWS_NEXT_S : NODE_NEWS_LAST_S;
    return fmax(0, (double)(news->last.at + in_s - now.at));
}

const struct stage node_news_stage = {
    .name = "node news",
    .open = open_news,
    .close = close_news,
    .turn = tell_news,
    .due = news_due,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster - see cluster.h */
#include "packer/cli/node/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/json.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/screen.h"
#include "packer/cli/node/outage.h"
#include "packer/ledger/ledger.h"
#include "packer/system/run_program.h"
#include "enum_table.h"

#define SILENT_S 660 /* berthd tells each 300 s; so long the database may be away */
#define SINFO_S 10
#define SAID_MAX (4u << 20)
#define SLURM_STATE_MAX 24

/* The first one first in the table; those before FARES_DOWN are trouble. */
enum fares {
    FARES_SILENT,
    FARES_RELEASED,
    FARES_DENIED,
    FARES_REFUSED,
    FARES_DOWN,
    FARES_WELL,
    FARES
};
static const struct {
    const char *word, *remedy; /* of a row; below the table; NULL: none */
    enum screen_style style;
} TABLE(fares, FARES) = {
    ROW(FARES_SILENT) =
        {"silent",
         "silent: its berthd has told nothing for 11 minutes or more; berthctl doctor "
         "there says why",
         SCREEN_BAD},
    ROW(FARES_RELEASED) =
        {"released",
         "released: by root, new steps stay where Slurm puts them; berthctl release "
         "--end there takes it back",
         SCREEN_BAD},
    ROW(FARES_DENIED) =
        {"not allowed",
         "not allowed: its berthd may not place steps; berthctl doctor there says what "
         "it lacks",
         SCREEN_BAD},
    ROW(FARES_REFUSED) =
        {"refuses", "refuses: its last steps could not be placed; berthd's log there says why",
         SCREEN_BAD},
    ROW(FARES_DOWN) = {"down", NULL, SCREEN_FAINT},
    ROW(FARES_WELL) = {"ok", NULL, SCREEN_PLAIN},
};
TABLE_COMPLETE(fares);

struct node {
    struct ledger_node news;     /* at 0: none has come */
    char slurm[SLURM_STATE_MAX]; /* "": Slurm does not know it, or says nothing */
    enum fares fares;
};

struct cluster {
    size_t n, room;
    struct node *node; /* [n] */
    bool slurm;        /* it has said which nodes there are; they are by name while news come */
    int64_t now;
};

/* ---- which nodes ---- */

/* Returns a new node of that name; NULL: no memory. */
static struct node *add_node(struct cluster *cluster, const char *name)
{
    struct node *node;

    if (array_grow(&cluster->node, &cluster->room, cluster->n + 1, sizeof(*node)) < 0)
        return NULL;
    node = &cluster->node[cluster->n++];
    *node = (struct node){.slurm = ""};
    snprintf(node->news.node, sizeof(node->news.node), "%.63s", name);
    return node;
}

static int by_name(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    return strcmp(x->news.node, y->news.node);
}

/* Sorts the nodes by name, and keeps one of each. */
static void keep_one_each(struct cluster *cluster)
{
    size_t kept = 0;

    qsort(cluster->node, cluster->n, sizeof(*cluster->node), by_name);
    for (size_t i = 0; i < cluster->n; i++)
        if (kept == 0 || by_name(&cluster->node[kept - 1], &cluster->node[i]) != 0)
            cluster->node[kept++] = cluster->node[i];
    cluster->n = kept;
}

/* Asks Slurm; a node of several partitions has a line for each. The nodes are by name then. */
static void ask_slurm(struct cluster *cluster)
{
    const char *const argv[] = {"sinfo", "-h", "-N", "-o", "%N|%T", NULL};
    char *said = malloc(SAID_MAX), *rest = said, *line;

    if (!said || run_program((char *const *)argv, RUN_OUTPUT, SINFO_S, NULL, said, SAID_MAX) != 0)
        rest = NULL;
    while ((line = strsep(&rest, "\n"))) {
        char *state = strchr(line, '|');
        struct node *node;

        if (!state || state == line)
            continue;
        *state++ = '\0';
        node = add_node(cluster, line);
        if (node)
            snprintf(node->slurm, sizeof(node->slurm), "%.23s", state);
    }
    free(said);
    cluster->slurm = cluster->n > 0;
    if (cluster->slurm)
        keep_one_each(cluster);
}

/* What is no node of Slurm's (any more) is not shown, where Slurm says which are. */
static int take_news(const struct ledger_node *news, void *arg)
{
    const struct node asked = {.news = *news};
    struct cluster *cluster = arg;
    struct node *node =
        cluster->slurm ? bsearch(&asked, cluster->node, cluster->n, sizeof(*cluster->node), by_name)
                       : add_node(cluster, news->node);

    if (node)
        node->news = *news;
    return 0;
}

/* ---- how they fare ---- */

/* Can jobs start there, or run there, as Slurm has it? "down*": it does not answer. */
static bool is_down(const char *state)
{
    static const char *const words[] = {"down",    "drained", "fail",    "unknown",
                                        "powered", "power",   "reboot",  "maint",
                                        "future",  "error",   "planned", "unk"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(state, words[i], strlen(words[i])) == 0)
            return strcmp(words[i], "planned") != 0;
    return strchr(state, '*') != NULL;
}

static bool is_silent(const struct cluster *cluster, const struct node *node)
{
    return node->news.at == 0 || cluster->now - node->news.at > SILENT_S;
}

static enum fares judge(const struct cluster *cluster, const struct node *node)
{
    if (is_silent(cluster, node))
        return is_down(node->slurm) ? FARES_DOWN : FARES_SILENT;
    if (node->news.released)
        return FARES_RELEASED;
    if (node->news.denied)
        return FARES_DENIED;
    return node->news.refused >= OUTAGE_REFUSED ? FARES_REFUSED : FARES_WELL;
}

static int in_order(const void *a, const void *b)
{
    const struct node *x = a, *y = b;

    if (x->fares != y->fares)
        return x->fares < y->fares ? -1 : 1;
    return strcmp(x->news.node, y->news.node);
}

/* ---- told ---- */

#define NAME_LEAST 10
#define NAME_MOST 28 /* longer ones are cut, with a '+' */

/* Returns how wide the column of names is. */
static size_t name_columns(const struct cluster *cluster)
{
    size_t wide = NAME_LEAST;

    for (size_t i = 0; i < cluster->n; i++) {
        size_t length = strlen(cluster->node[i].news.node);

        wide = length > wide ? length : wide;
    }
    return wide < NAME_MOST ? wide : NAME_MOST;
}

static void put_name(struct screen *screen, const struct node *node, size_t wide)
{
    const char *name = node->news.node;
    bool cut = strlen(name) > wide;

    screen_put(screen, fares[node->fares].style, "%.*s%s", (int)(cut ? wide - 1 : wide), name,
               cut ? "+" : "");
    screen_tab(screen, wide + 1);
}

static void put_node(struct screen *screen, const struct cluster *cluster, const struct node *node,
                     size_t wide)
{
    char heard[CTL_TIME_MAX] = "-", up[CTL_TIME_MAX] = "-", steps[24] = "-";

    if (node->news.at)
        ctl_time((double)(cluster->now - node->news.at), heard);
    if (!is_silent(cluster, node)) {
        ctl_time((double)(cluster->now - node->news.up_at), up);
        snprintf(steps, sizeof(steps), "%" PRId64, node->news.steps);
    }
    put_name(screen, node, wide);
    screen_put(screen, fares[node->fares].style, "%-11s ", fares[node->fares].word);
    screen_line(screen, SCREEN_PLAIN, "%-10.10s %10s %11s %5s %6" PRId64,
                node->slurm[0] ? node->slurm : "-", heard, up, steps, node->news.missed);
}

static void print_table(const struct cluster *cluster, const size_t n[FARES])
{
    struct screen screen = screen_stdout();
    size_t wide = name_columns(cluster);

    screen_put(&screen, SCREEN_PLAIN, "%zu node%s:", cluster->n, cluster->n == 1 ? "" : "s");
    for (enum fares i = 0; i < FARES; i++)
        if (n[i])
            screen_put(&screen, fares[i].style, " %zu %s", n[i], fares[i].word);
    screen_end(&screen);
    if (!cluster->slurm)
        screen_wrap(&screen, SCREEN_WARN, 2,
                    "sinfo does not answer: nodes that never told anything are not shown");
    screen_line(&screen, SCREEN_STRONG, "%-*s %-11s %-10s %10s %11s %5s %6s", (int)wide, "NODE",
                "BERTH", "SLURM", "HEARD", "UP", "STEPS", "MISSED");
    for (size_t i = 0; i < cluster->n; i++)
        put_node(&screen, cluster, &cluster->node[i], wide);
    for (enum fares i = 0; i < FARES; i++)
        if (n[i] && fares[i].remedy)
            screen_wrap(&screen, SCREEN_WARN, 2, fares[i].remedy);
}

static struct json_object *node_json(const struct cluster *cluster, const struct node *node)
{
    struct json_object *object = json_object_new_object();
    bool silent = is_silent(cluster, node);
    double now = (double)cluster->now;

    json_add_text(object, "name", node->news.node);
    json_add_text(object, "slurm", node->slurm[0] ? node->slurm : NULL);
    json_add_bool(object, "silent", silent);
    json_add_bool(object, "places", node->fares == FARES_WELL);
    json_add_text(object, "berth_is", fares[node->fares].word);
    json_add_measure(object, "heard_s", node->news.at ? now - (double)node->news.at : NAN);
    json_add_measure(object, "up_s", silent ? NAN : now - (double)node->news.up_at);
    json_add_measure(object, "steps", silent ? NAN : (double)node->news.steps);
    json_add_text(object, "berth", node->news.at ? node->news.berth : NULL);
    json_add_u64(object, "missed", (uint64_t)node->news.missed);
    json_add_text(object, "why", fares[node->fares].remedy);
    return object;
}

static int print_json(const struct cluster *cluster)
{
    struct json_object *object = json_object_new_object(), *list = json_object_new_array();

    for (size_t i = 0; i < cluster->n; i++)
        json_append(list, node_json(cluster, &cluster->node[i]));
    json_add(object, "nodes", list);
    return ctl_print_json(object);
}

/* ---- the verb ---- */

static int gather(struct cluster *cluster, const char *config, const char *ledger,
                  struct berth_error *err)
{
    struct conf conf;

    if (ctl_conf(config, &conf, err) < 0)
        return -1;
    if (!ledger && strncmp(conf.ledger, "mariadb:", 8) != 0)
        return berth_error_set(err,
                               "the nodes share no ledger: berth.conf has ledger = %.200s; each "
                               "berthd tells how it fares in one of MariaDB",
                               conf.ledger);
    ask_slurm(cluster);
    if (ledger_nodes_read(ledger ? ledger : conf.ledger, conf.ledger_defaults, take_news, cluster,
                          err) < 0)
        return -1;
    return cluster->n
               ? 0
               : berth_error_set(
                     err,
                     "no node is known: sinfo does not answer, and no berthd has told anything");
}

int cluster_status(const char *config, const char *ledger, bool json)
{
    struct cluster cluster = {.now = time(NULL)};
    size_t n[FARES] = {0}, all;
    struct berth_error err;
    int rc = gather(&cluster, config, ledger, &err);

    if (rc < 0) {
        free(cluster.node);
        return ctl_fail("status --cluster", "%s", err.text);
    }
    for (size_t i = 0; i < cluster.n; i++) {
        cluster.node[i].fares = judge(&cluster, &cluster.node[i]);
        n[cluster.node[i].fares]++;
    }
    qsort(cluster.node, cluster.n, sizeof(*cluster.node), in_order);
    if (json)
        rc = print_json(&cluster);
    else
        print_table(&cluster, n);
    all = cluster.n;
    free(cluster.node);
    return rc || n[FARES_DOWN] + n[FARES_WELL] < all;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blossom - see blossom.h
 *
 * Edmonds' primal-dual algorithm. Every vertex has a dual, every blossom (an odd set of vertices,
 * shrunk into one node) a dual >= 0; no edge between two outer nodes weighs less than its ends'
 * duals: the difference is its slack. Edges without slack are tight, and only they are ever matched
 * or lie in a tree, which proves the result optimal.
 *
 * A tree grows from every unmatched vertex, all at once, alternating S nodes (the root, and all at
 * even distance) and T nodes; what is in no tree is FREE and matched. The duals of S rise and those
 * of T fall in step until an edge gets tight or a T blossom's dual is used up; then a tree grows, a
 * blossom is shrunk or expanded, or two trees meet and their roots get matched. Only these two
 * trees are dissolved then: the others keep what they have found.
 *
 * What makes an event cost O(n): as long as a blossom exists, the duals of all its vertices move
 * together, so which of them is nearest to a vertex outside never changes, and is found once, when
 * the blossom is shrunk. */
#include "models/partition/blossom.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/auction.h"

#define NONE AUCTION_NONE
#define FAR ((blossom_weight)1 << 125)
enum label { UNUSED, INNER, FREE, S, T };

struct edge {
    unsigned from, to;
};

/* A vertex (index < n) or a blossom. */
struct node {
    unsigned up;          /* the blossom that it is a child of, or NONE */
    unsigned base;        /* the vertex that is matched outside, or not at all */
    unsigned root;        /* S, T: the vertex that the tree grew from */
    unsigned first, last; /* its vertices: from first by `next` to last */
    struct edge enter;    /* T: the tree's edge to it */
    struct edge cross;    /* S: the edge of least slack to another S node... */
    blossom_weight slack; /* ...and its slack; what a node finds later, that one knows of */
    /* of blossoms only */
    blossom_weight dual;
    unsigned *nearest; /* [n] the own vertex of least slack to each vertex outside */
    unsigned children; /* an odd number of them, around a circle... */
    unsigned *child;   /* ...[0] has the base; [1] and [2] are matched, [3] and [4], ... */
    struct edge *link; /* [i] from child i to the next */
};

struct graph {
    size_t n, nodes; /* vertices; vertices and blossoms */
    const blossom_weight *weight;
    struct node *node;
    unsigned char *label; /* [nodes] */
    /* [n] by vertex */
    unsigned *outer; /* the node that is in no blossom */
    unsigned *mate, *next;
    blossom_weight *dual;
    unsigned *nearest;     /* not in S: the S vertex of least slack... */
    blossom_weight *slack; /* ...and that slack */
    size_t unmatched;
    /* scratch */
    unsigned *path; /* [nodes] */
    struct edge *path_link;
    bool *passed;          /* [nodes] */
    blossom_weight *least; /* [n] */
};

static blossom_weight slack(const struct graph *g, unsigned u, unsigned v)
{
    return g->weight[u * g->n + v] - g->dual[u] - g->dual[v];
}

/* Returns the vertex of an outer node that has least slack to v, which is outside. */
static unsigned nearest_vertex(const struct graph *g, unsigned b, unsigned v)
{
    return b < g->n ? b : g->node[b].nearest[v];
}

/* An outer node has got into S: which edges of it are better than those that were known? */
static void scan(struct graph *g, unsigned b)
{
    struct node *node = &g->node[b];

    node->slack = FAR;
    node->cross = (struct edge){NONE, NONE};
    for (unsigned v = 0; v < g->n; v++) {
        unsigned u;
        blossom_weight found;

        if (g->outer[v] == b)
            continue;
        u = nearest_vertex(g, b, v);
        found = slack(g, u, v);
        if (g->label[g->outer[v]] == S) {
            if (found < node->slack) {
                node->slack = found;
                node->cross = (struct edge){u, v};
            }
        } else if (found < g->slack[v]) {
            g->slack[v] = found;
            g->nearest[v] = u;
        }
    }
}

/* ---- a tree grows ---- */

static void enter(struct graph *g, unsigned b, unsigned from, unsigned to, unsigned root)
{
    g->label[b] = T;
    g->node[b].enter = (struct edge){from, to};
    g->node[b].root = root;
}

/* The FREE node of vertex v comes into the tree of its nearest S vertex, and its mate after it. */
static void grow(struct graph *g, unsigned v)
{
    unsigned b = g->outer[v], from = g->nearest[v];
    unsigned root = g->node[g->outer[from]].root;
    unsigned mate = g->outer[g->mate[g->node[b].base]];

    enter(g, b, from, v, root);
    g->label[mate] = S;
    g->node[mate].root = root;
    scan(g, mate);
}

/* ---- two S nodes of one tree: a blossom is shrunk ---- */

/* Returns the edge of the tree from outer node b towards the root; from is NONE at the root. */
static struct edge upwards(const struct graph *g, unsigned b)
{
    const struct node *node = &g->node[b];

    if (g->label[b] == T)
        return (struct edge){node->enter.to, node->enter.from};
    if (g->mate[node->base] == NONE)
        return (struct edge){NONE, NONE};
    return (struct edge){node->base, g->mate[node->base]};
}

/* Returns the first outer node that is on the ways of both a and b to their root. */
static unsigned meeting(struct graph *g, unsigned a, unsigned b)
{
    size_t depth = 0;

    for (;;) {
        struct edge up = upwards(g, a);

        g->path[depth++] = a;
        g->passed[a] = true;
        if (up.from == NONE)
            break;
        a = g->outer[up.to];
    }
    while (!g->passed[b])
        b = g->outer[upwards(g, b).to];
    while (depth > 0)
        g->passed[g->path[--depth]] = false;
    return b;
}

/* Writes the nodes from b up to, and without, `end`, and the edges towards the root, into the
 * scratch path from `at`. Returns where it ends. */
static size_t climb(struct graph *g, unsigned b, unsigned end, size_t at)
{
    while (b != end) {
        g->path[at] = b;
        g->path_link[at] = upwards(g, b);
        b = g->outer[g->path_link[at++].to];
    }
    return at;
}

/* Writes the circle that the edge u to v closes: from the node where their ways meet down to u's,
 * and from v's up again; into the scratch path. Returns its length. */
static size_t find_circle(struct graph *g, unsigned u, unsigned v)
{
    unsigned top = meeting(g, g->outer[u], g->outer[v]);
    size_t down = climb(g, g->outer[u], top, 1);

    for (size_t i = 1, j = down - 1; i < j; i++, j--) {
        unsigned node = g->path[i];
        struct edge link = g->path_link[i];

        g->path[i] = g->path[j];
        g->path_link[i] = g->path_link[j];
        g->path[j] = node;
        g->path_link[j] = link;
    }
    g->path[0] = top;
    /* link[i] led from node i up; it has to lead from node i - 1 down */
    for (size_t i = 1; i < down; i++)
        g->path_link[i - 1] = (struct edge){g->path_link[i].to, g->path_link[i].from};
    g->path_link[down - 1] = (struct edge){u, v};
    return climb(g, g->outer[v], top, down);
}

/* Returns a blossom with room for that many children; NULL with errno. */
static struct node *new_blossom(struct graph *g, size_t children)
{
    unsigned b = (unsigned)g->n;
    struct node *node;
    void *child, *link;

    while (g->label[b] != UNUSED)
        b++;
    node = &g->node[b];
    child = realloc(node->child, children * sizeof(*node->child));
    if (child)
        node->child = child;
    link = realloc(node->link, children * sizeof(*node->link));
    if (link)
        node->link = link;
    if (!node->nearest)
        node->nearest = calloc(g->n, sizeof(*node->nearest));
    return child && link && node->nearest ? node : NULL;
}

/* Outer node b has its vertices for its own. */
static void take_vertices(struct graph *g, unsigned b)
{
    unsigned last = g->node[b].last;

    for (unsigned v = g->node[b].first; v != last; v = g->next[v])
        g->outer[v] = b;
    g->outer[last] = b;
}

/* The children's vertices become the blossom's. */
static void join_vertices(struct graph *g, unsigned b)
{
    struct node *node = &g->node[b];

    node->first = g->node[node->child[0]].first;
    for (unsigned i = 0; i < node->children; i++) {
        struct node *child = &g->node[node->child[i]];

        child->up = b;
        g->label[node->child[i]] = INNER;
        if (i > 0)
            g->next[node->last] = child->first;
        node->last = child->last;
    }
    take_vertices(g, b);
}

static void find_nearest(struct graph *g, unsigned b)
{
    struct node *node = &g->node[b];

    for (unsigned v = 0; v < g->n; v++)
        g->least[v] = FAR;
    for (unsigned i = 0; i < node->children; i++)
        for (unsigned v = 0; v < g->n; v++) {
            unsigned u;
            blossom_weight found;

            if (g->outer[v] == b)
                continue;
            u = nearest_vertex(g, node->child[i], v);
            found = slack(g, u, v);
            if (found < g->least[v]) {
                g->least[v] = found;
                node->nearest[v] = u;
            }
        }
}

static int shrink(struct graph *g, unsigned u, unsigned v)
{
    size_t children = find_circle(g, u, v);
    struct node *node = new_blossom(g, children);
    unsigned b;

    if (!node)
        return -1;
    b = (unsigned)(node - g->node);
    node->children = (unsigned)children;
    memcpy(node->child, g->path, children * sizeof(*node->child));
    memcpy(node->link, g->path_link, children * sizeof(*node->link));
    node->up = NONE;
    node->base = g->node[node->child[0]].base;
    node->root = g->node[node->child[0]].root;
    node->dual = 0;
    join_vertices(g, b);
    g->label[b] = S;
    find_nearest(g, b);
    scan(g, b);
    return 0;
}

/* ---- the dual of a T blossom is used up: it is expanded ---- */

static void release_children(struct graph *g, const struct node *node)
{
    for (unsigned i = 0; i < node->children; i++) {
        g->node[node->child[i]].up = NONE;
        g->label[node->child[i]] = FREE;
        take_vertices(g, node->child[i]);
    }
}

/* Of its circle, the way of even length from where the tree enters to the base stays in the tree.
 */
static void expand(struct graph *g, unsigned b)
{
    struct node *node = &g->node[b];
    unsigned at = 0, n = node->children;
    bool forward;

    release_children(g, node);
    while (node->child[at] != g->outer[node->enter.to])
        at++;
    forward = at % 2 == 1;
    enter(g, node->child[at], node->enter.from, node->enter.to, node->root);
    while (at != 0) {
        unsigned even = node->child[forward ? at + 1 : at - 1];
        unsigned next = forward ? (at + 2) % n : at - 2;
        struct edge link = node->link[forward ? at + 1 : next];

        g->label[even] = S;
        g->node[even].root = node->root;
        if (forward)
            enter(g, node->child[next], link.from, link.to, node->root);
        else
            enter(g, node->child[next], link.to, link.from, node->root);
        at = next;
    }
    g->label[b] = UNUSED;
    for (unsigned i = 0; i < n; i++)
        if (g->label[node->child[i]] == S)
            scan(g, node->child[i]);
}

/* ---- two S nodes of two trees: the roots get matched ---- */

static void rotate(struct node *node, unsigned first, unsigned *child, struct edge *link)
{
    unsigned n = node->children;

    for (unsigned i = 0; i < n; i++) {
        child[i] = node->child[(first + i) % n];
        link[i] = node->link[(first + i) % n];
    }
    memcpy(node->child, child, n * sizeof(*child));
    memcpy(node->link, link, n * sizeof(*link));
}

/* Makes v the vertex of node b that is matched outside. */
static void rebase(struct graph *g, unsigned b, unsigned v)
{
    struct node *node = &g->node[b];
    unsigned child = v, at = 0, n = node->children;

    if (b < g->n)
        return;
    while (g->node[child].up != b)
        child = g->node[child].up;
    while (node->child[at] != child)
        at++;
    rebase(g, child, v);
    for (unsigned i = at % 2 == 1 ? at + 1 : 0; i < (at % 2 == 1 ? n : at); i += 2) {
        struct edge link = node->link[i];

        rebase(g, node->child[i], link.from);
        rebase(g, node->child[(i + 1) % n], link.to);
        g->mate[link.from] = link.to;
        g->mate[link.to] = link.from;
    }
    rotate(node, at, g->path, g->path_link);
    node->base = v;
}

/* S vertex u is matched with `mate`; on the way to its root, what was matched no longer is, and the
 * rest is. */
static void flip(struct graph *g, unsigned u, unsigned mate)
{
    for (;;) {
        unsigned b = g->outer[u];
        unsigned was = g->mate[g->node[b].base];
        struct edge enter;

        rebase(g, b, u);
        g->mate[u] = mate;
        if (was == NONE)
            return;
        enter = g->node[g->outer[was]].enter;
        rebase(g, g->outer[was], enter.to);
        g->mate[enter.to] = enter.from;
        mate = enter.to;
        u = enter.from;
    }
}

/* All nodes of the trees of these roots are FREE; their S vertices know of no S vertex. */
static void free_trees(struct graph *g, unsigned root_a, unsigned root_b)
{
    for (unsigned v = 0; v < g->n; v++) {
        unsigned b = g->outer[v];

        if (g->label[b] == S && (g->node[b].root == root_a || g->node[b].root == root_b))
            g->nearest[v] = NONE;
    }
    for (unsigned b = 0; b < g->nodes; b++)
        if ((g->label[b] == S || g->label[b] == T) &&
            (g->node[b].root == root_a || g->node[b].root == root_b))
            g->label[b] = FREE;
}

static bool is_in_s(const struct graph *g, unsigned v)
{
    return v != NONE && g->label[g->outer[v]] == S;
}

/* Returns the S vertex of least slack to v, among the S nodes of that list. */
static void find_again(struct graph *g, unsigned v, size_t nodes, const unsigned *node)
{
    g->nearest[v] = NONE;
    g->slack[v] = FAR;
    for (size_t i = 0; i < nodes; i++) {
        unsigned u = nearest_vertex(g, node[i], v);
        /* slack of v and u, not of u and v: one row of weights stays in the processor's cache */
        blossom_weight found = slack(g, v, u);

        if (found < g->slack[v]) {
            g->slack[v] = found;
            g->nearest[v] = u;
        }
    }
}

/* Two trees fall apart; what pointed into them has to look elsewhere: vertices first, a scan needs
 * theirs. */
static void dissolve(struct graph *g, unsigned root_a, unsigned root_b)
{
    size_t left = 0;

    free_trees(g, root_a, root_b);
    for (unsigned b = 0; b < g->nodes; b++)
        if (g->label[b] == S)
            g->path[left++] = b;
    for (unsigned v = 0; v < g->n; v++)
        if (!is_in_s(g, v) && !is_in_s(g, g->nearest[v]))
            find_again(g, v, left, g->path);
    for (size_t i = 0; i < left; i++)
        if (!is_in_s(g, g->node[g->path[i]].cross.to))
            scan(g, g->path[i]);
}

static int cross(struct graph *g, unsigned b)
{
    struct edge edge = g->node[b].cross;
    unsigned root_a = g->node[b].root, root_b = g->node[g->outer[edge.to]].root;

    if (root_a == root_b)
        return shrink(g, edge.from, edge.to);
    flip(g, edge.from, edge.to);
    flip(g, edge.to, edge.from);
    g->unmatched -= 2;
    dissolve(g, root_a, root_b);
    return 0;
}

/* ---- the duals move until something happens ---- */

struct event {
    blossom_weight delta; /* after the duals have moved by this */
    unsigned grow;        /* a FREE vertex, or NONE */
    unsigned node;        /* else an S node whose cross is tight, or a T blossom to expand */
};

static struct event next_event(const struct graph *g)
{
    struct event event = {.delta = FAR, .grow = NONE, .node = NONE};

    for (unsigned v = 0; v < g->n; v++)
        if (g->slack[v] < event.delta && g->label[g->outer[v]] == FREE)
            event = (struct event){.delta = g->slack[v], .grow = v, .node = NONE};
    for (unsigned b = 0; b < g->nodes; b++) {
        blossom_weight delta;

        if (g->label[b] == S)
            delta = g->node[b].slack / 2;
        else if (g->label[b] == T && b >= g->n)
            delta = g->node[b].dual / 2;
        else
            continue;
        if (delta < event.delta)
            event = (struct event){.delta = delta, .grow = NONE, .node = b};
    }
    return event;
}

static void move_duals(struct graph *g, blossom_weight delta)
{
    for (unsigned v = 0; v < g->n; v++) {
        unsigned char label = g->label[g->outer[v]];

        if (label == S)
            g->dual[v] += delta;
        else if (label == T)
            g->dual[v] -= delta;
        else
            g->slack[v] -= delta;
    }
    for (unsigned b = 0; b < g->nodes; b++) {
        if (g->label[b] == S) {
            g->node[b].slack -= 2 * delta;
            g->node[b].dual += 2 * delta;
        } else if (g->label[b] == T) {
            g->node[b].dual -= 2 * delta;
        }
    }
}

static int match_all(struct graph *g)
{
    while (g->unmatched > 0) {
        struct event event = next_event(g);

        if (event.delta != 0)
            move_duals(g, event.delta);
        if (event.grow != NONE)
            grow(g, event.grow);
        else if (g->label[event.node] == T)
            expand(g, event.node);
        else if (cross(g, event.node) < 0)
            return -1;
    }
    return 0;
}

/* ---- the beginning ---- */

static void graph_reset(struct graph *g)
{
    for (unsigned v = 0; v < g->n; v++) {
        g->outer[v] = v;
        g->nearest[v] = NONE;
        g->slack[v] = FAR;
        g->node[v] = (struct node){.up = NONE, .base = v, .root = v, .first = v, .last = v};
    }
    auction_run(g->n, g->weight, g->dual, g->mate);
    for (unsigned v = 0; v < g->n; v++) {
        g->label[v] = g->mate[v] == NONE ? S : FREE;
        g->unmatched += g->mate[v] == NONE;
    }
    for (unsigned v = 0; v < g->n; v++)
        if (g->label[v] == S)
            scan(g, v);
}

static int graph_alloc(struct graph *g, size_t n, const blossom_weight *weight)
{
    *g = (struct graph){.n = n, .nodes = n + n / 2, .weight = weight};
    g->node = calloc(g->nodes, sizeof(*g->node));
    g->label = calloc(g->nodes, sizeof(*g->label));
    g->outer = calloc(n, sizeof(*g->outer));
    g->mate = calloc(n, sizeof(*g->mate));
    g->next = calloc(n, sizeof(*g->next));
    g->dual = calloc(n, sizeof(*g->dual));
    g->nearest = calloc(n, sizeof(*g->nearest));
    g->slack = calloc(n, sizeof(*g->slack));
    g->path = calloc(g->nodes, sizeof(*g->path));
    g->path_link = calloc(g->nodes, sizeof(*g->path_link));
    g->passed = calloc(g->nodes, sizeof(*g->passed));
    g->least = calloc(n, sizeof(*g->least));
    return g->node && g->label && g->outer && g->mate && g->next && g->dual && g->nearest &&
                   g->slack && g->path && g->path_link && g->passed && g->least
               ? 0
               : -1;
}

static void graph_free(struct graph *g)
{
    for (size_t b = g->n; g->node && b < g->nodes; b++) {
        free(g->node[b].nearest);
        free(g->node[b].child);
        free(g->node[b].link);
    }
    free(g->node);
    free(g->label);
    free(g->outer);
    free(g->mate);
    free(g->next);
    free(g->dual);
    free(g->nearest);
    free(g->slack);
    free(g->path);
    free(g->path_link);
    free(g->passed);
    free(g->least);
}

int blossom_match(size_t n, const blossom_weight *weight, size_t *mate)
{
    struct graph g;
    int rc = -1;

    if (n == 0)
        return 0;
    if (graph_alloc(&g, n, weight) == 0) {
        graph_reset(&g);
        rc = match_all(&g);
    }
    for (size_t v = 0; rc == 0 && v < n; v++)
        mate[v] = g.mate[v];
    graph_free(&g);
    return rc;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_pages - see record_pages.h
 *
 * A page is in the list from record_pages_ask() until it is dropped. One that the thread reads just
 * then is marked instead, and freed by the thread: nothing else of it is touched meanwhile. */
#include "packer/daemon/record_pages.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/base/worker.h"
#include "packer/ledger/ledger.h"
#include "packer/ledger/line.h"
#include "packer/serve/budget.h"

#define KEEP_S 5 /* the ledger stays open after a page: the next one is asked for soon */

enum state { WAITS, IS_READ, IS_THERE };

struct record_page {
    TAILQ_ENTRY(record_page) link;
    struct record_pages *pages;
    uint32_t uid, payer;
    enum state state;
    bool told, dropped;
    uint64_t turn; /* the lowest one is read next */
    struct wire_records asked;
    void (*ready)(void *arg);
    void *arg;
    char *text; /* NULL: there was no memory for it */
    size_t length;
    double cpu_s;
};

TAILQ_HEAD(page_list, record_page);

struct record_pages {
    char ledger[PATH_MAX], defaults[PATH_MAX];
    int fd;                   /* eventfd: not 0 while there are pages to tell of */
    bool runs;                /* there is a thread */
    struct ledger_view *view; /* the thread's own; NULL: it is not open */
    struct worker worker;     /* its mutex guards what follows */
    struct page_list list;
    uint64_t turn; /* of the page that was read last */
};

static void page_free(struct record_page *page)
{
    wire_records_clear(&page->asked);
    free(page->text);
    free(page);
}

/* ---- the thread: one page ---- */

struct writing {
    FILE *out;
    size_t n;
    struct wire_record_place last;
};

static struct wire_record_place place_of(const struct ledger_record *record)
{
    struct wire_record_place place = {
        .end = record->end, .start = record->start, .id = record->id, .restart = record->restart};

    memcpy(place.cluster, record->cluster, sizeof(place.cluster));
    memcpy(place.node, record->node, sizeof(place.node));
    return place;
}

/* Writes a record; stops where the page has enough. */
static int put_record(const struct ledger_record *record, void *arg)
{
    struct writing *writing = arg;

    fprintf(writing->out, "{\"version\":%d,\"ok\":true,\"more\":true,\"record\":", WIRE_VERSION);
    ledger_record_put(writing->out, record);
    fputs("}\n", writing->out);
    writing->n++;
    writing->last = place_of(record);
    return ftell(writing->out) >= RECORD_PAGES_BYTES;
}

/* Writes the last line. Who has got a whole page may ask for the next one. */
static void put_end(struct writing *writing)
{
    struct json_object *next;

    fprintf(writing->out, "{\"version\":%d,\"ok\":true,\"more\":false", WIRE_VERSION);
    if (writing->n == RECORD_PAGES_RECORDS || ftell(writing->out) >= RECORD_PAGES_BYTES) {
        next = json_object_new_object();
        json_write(next, wire_record_place_fields, &writing->last);
        fprintf(writing->out, ",\"next\":%s",
                json_object_to_json_string_ext(next, JSON_C_TO_STRING_PLAIN));
        json_object_put(next);
    }
    fputs("}\n", writing->out);
}

/* Opens the ledger, unless it is open and still that one. */
static int have_view(struct record_pages *pages, struct berth_error *err)
{
    if (pages->view && ledger_view_is_current(pages->view))
        return 0;
    ledger_view_close(pages->view);
    pages->view = NULL;
    return ledger_view_open(&pages->view, pages->ledger, pages->defaults, err);
}

/* Says whether the ledger is a file that nobody has made yet: no step has ended. */
static bool is_absent(const char *url)
{
    return strncmp(url, "sqlite:", 7) == 0 && access(url + 7, F_OK) < 0 && errno == ENOENT;
}

static int read_records(struct record_page *page, struct writing *writing, struct berth_error *err)
{
    const struct wire_records *asked = &page->asked;
    const struct ledger_filter filter = {
        .njobs = asked->njobs,
        .nusers = asked->users.n,
        .naccounts = asked->accounts.n,
        .npartitions = asked->partitions.n,
        .nnodes = asked->nodes.n,
        .job = asked->job,
        .user = asked->users.word,
        .account = asked->accounts.word,
        .partition = asked->partitions.word,
        .node = asked->nodes.word,
        .since = asked->since,
        .until = asked->until,
        .uid = page->uid ? &page->uid : NULL,
        .page = RECORD_PAGES_RECORDS,
        .after = asked->next ? &asked->after : NULL,
    };

    if (have_view(page->pages, err) < 0)
        return is_absent(page->pages->ledger) ? 0 : -1;
    return ledger_view_read(page->pages->view, &filter, put_record, writing, err);
}

/* Tells the user no more than that: the reason names root's files and servers. */
static const char error_line[] =
    "{\"version\":1,\"ok\":false,\"error\":\"the ledger cannot be read just now (root: the log "
    "with log_level=debug, berthctl doctor)\"}\n";

/* Makes it the answer. A server's connection is dead then, as a rule. */
static void tell_error(struct record_page *page, const struct berth_error *err)
{
    log_debug("the ledger cannot be read for user %u: %s", page->uid, err->text);
    ledger_view_close(page->pages->view);
    page->pages->view = NULL;
    free(page->text);
    page->text = strdup(error_line);
    page->length = strlen(error_line);
}

static double cpu_s(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static void read_page(struct record_page *page)
{
    double began_s = cpu_s();
    struct writing writing = {.out = open_memstream(&page->text, &page->length)};
    struct berth_error err;
    int rc;

    if (!writing.out)
        return;
    rc = read_records(page, &writing, &err);
    if (rc == 0)
        put_end(&writing);
    if (fclose(writing.out) != 0)
        rc = berth_no_memory(&err);
    if (rc < 0)
        tell_error(page, &err);
    page->cpu_s = cpu_s() - began_s;
}

/* ---- the thread: which page ---- */

/* Returns how many pages of the user are in memory, or about to be; UINT32_MAX: of all users. */
static size_t count_held(const struct record_pages *pages, uint32_t payer)
{
    const struct record_page *page;
    size_t n = 0;

    TAILQ_FOREACH(page, &pages->list, link)
    n += page->state != WAITS && (payer == UINT32_MAX || page->payer == payer);
    return n;
}

/* Returns the page to be read next; NULL: none waits, or may be read yet. */
static struct record_page *pick(const struct record_pages *pages)
{
    struct record_page *page, *best = NULL;

    if (count_held(pages, UINT32_MAX) >= BUDGET_PAGES_ALL)
        return NULL;
    TAILQ_FOREACH(page, &pages->list, link)
    if (page->state == WAITS && (!best || page->turn < best->turn) &&
        count_held(pages, page->payer) < BUDGET_PAGES)
        best = page;
    return best;
}

/* The mutex is held, but not while the ledger is read. */
static void turn(struct record_pages *pages, struct record_page *page)
{
    page->state = IS_READ;
    pages->turn = page->turn;
    worker_unlock(&pages->worker);
    read_page(page);
    worker_lock(&pages->worker);
    page->state = IS_THERE;
    if (page->dropped) {
        TAILQ_REMOVE(&pages->list, page, link);
        page_free(page);
        return;
    }
    eventfd_write(pages->fd, 1);
    worker_changed(&pages->worker);
}

/* Nobody has asked for a while. */
static void close_view(struct record_pages *pages)
{
    worker_unlock(&pages->worker);
    ledger_view_close(pages->view);
    pages->view = NULL;
    worker_lock(&pages->worker);
}

static void read_pages(void *arg)
{
    struct record_pages *pages = arg;
    double idle_s = clock_s() + KEEP_S;

    while (!pages->worker.stopping) {
        struct record_page *page = pick(pages);

        if (page) {
            turn(pages, page);
            idle_s = clock_s() + KEEP_S;
        } else if (pages->view && clock_s() >= idle_s) {
            close_view(pages);
        } else {
            worker_wait_until(&pages->worker, pages->view ? idle_s : INFINITY);
        }
    }
    close_view(pages);
}

/* ---- the event loop's side ---- */

int record_pages_open(struct record_pages **out, const struct conf *conf, struct berth_error *err)
{
    struct record_pages *pages = calloc(1, sizeof(*pages));

    if (!pages)
        return berth_no_memory(err);
    snprintf(pages->ledger, sizeof(pages->ledger), "%s", conf->ledger);
    snprintf(pages->defaults, sizeof(pages->defaults), "%s", conf->ledger_defaults);
    TAILQ_INIT(&pages->list);
    pages->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pages->fd >= 0) {
        *out = pages;
        return 0;
    }
    free(pages);
    return berth_error_set(err, "eventfd: %m");
}

void record_pages_close(struct record_pages *pages)
{
    if (!pages || (pages->runs && !worker_close(&pages->worker)))
        return;
    close(pages->fd);
    free(pages);
}

int record_pages_fd(const struct record_pages *pages)
{
    return pages->fd;
}

/* Returns the next page that its reader was not told of. */
static struct record_page *find_untold(const struct record_pages *pages)
{
    struct record_page *page;

    TAILQ_FOREACH(page, &pages->list, link)
    if (page->state == IS_THERE && !page->told)
        return page;
    return NULL;
}

void record_pages_tell(struct record_pages *pages)
{
    struct record_page *page;
    eventfd_t none;

    eventfd_read(pages->fd, &none);
    worker_lock(&pages->worker);
    while ((page = find_untold(pages))) {
        page->told = true;
        worker_unlock(&pages->worker);
        page->ready(page->arg);
        worker_lock(&pages->worker);
    }
    worker_unlock(&pages->worker);
}

/* Returns when a new question of the user is to be answered: after his others, and as often as
 * anybody else's. */
static uint64_t next_turn(const struct record_pages *pages, uint32_t payer)
{
    uint64_t turn = pages->turn;
    const struct record_page *page;

    TAILQ_FOREACH(page, &pages->list, link)
    if (page->payer == payer && page->turn > turn)
        turn = page->turn;
    return turn + 1;
}

/* Has a thread. */
static int pages_start(struct record_pages *pages, struct berth_error *err)
{
    if (!pages->runs)
        pages->runs = worker_open(&pages->worker, read_pages, pages, err) == 0;
    return pages->runs ? 0 : -1;
}

struct record_page *record_pages_ask(struct record_pages *pages, uid_t uid, uid_t payer,
                                     struct wire_records *asked, void (*ready)(void *arg),
                                     void *arg, struct berth_error *err)
{
    struct record_page *page = calloc(1, sizeof(*page));

    if (!page) {
        berth_no_memory(err);
        return NULL;
    }
    if (pages_start(pages, err) < 0) {
        free(page);
        return NULL;
    }
    *page = (struct record_page){
        .pages = pages, .uid = uid, .payer = payer, .asked = *asked, .ready = ready, .arg = arg};
    *asked = (struct wire_records){0};
    worker_lock(&pages->worker);
    page->turn = next_turn(pages, payer);
    TAILQ_INSERT_TAIL(&pages->list, page, link);
    worker_changed(&pages->worker);
    worker_unlock(&pages->worker);
    return page;
}

bool record_pages_is_there(struct record_page *page)
{
    bool there;

    worker_lock(&page->pages->worker);
    there = page->state == IS_THERE;
    worker_unlock(&page->pages->worker);
    return there;
}

char *record_pages_take(struct record_page *page, size_t *length, double *cpu_s)
{
    char *text = page->text;

    *length = text ? page->length : 0;
    *cpu_s = page->cpu_s;
    page->text = NULL;
    return text;
}

void record_pages_drop(struct record_page *page)
{
    struct record_pages *pages = page->pages;

    worker_lock(&pages->worker);
    page->dropped = true;
    if (page->state != IS_READ) {
        TAILQ_REMOVE(&pages->list, page, link);
        page_free(page);
    }
    worker_changed(&pages->worker); /* he may have the next one */
    worker_unlock(&pages->worker);
}

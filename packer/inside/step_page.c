/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_page - see step_page.h.
 *
 * The folder is root's, and nobody else can put a name into it: a path there is what berthd has
 * made. Both files are root's; an ACL lets the step's user read the page and open the FIFO, so that
 * berthd needs no CAP_CHOWN. What the user writes is a FIFO's: it can neither fill the file
 * system nor be made shorter under berthd's hands. */
#include "packer/inside/step_page.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/log.h"
#include "packer/inside/step_said.h"
#include "packer/steps/run_folder.h"

#define FOLDER "steps"
#define PAGE_MODE 0640 /* the middle is the mask of its ACL */

struct step_page {
    int fd, fifo;
    uint32_t generation, features, threads;
    struct cpus stands; /* what its domains are of; none: not known */
    unsigned domains;
    char path[PATH_MAX];
};

/* ---- names ---- */

/* Returns 0, or -1 where the path would be too long. */
static int path_of(const struct packer *packer, const struct step *step, const char *suffix,
                   char path[PATH_MAX])
{
    char folder[PATH_MAX], name[WIRE_STEP_NAME_MAX];

    run_folder(packer, FOLDER, folder);
    wire_step_name(step->request.id, name);
    return snprintf(path, PATH_MAX, "%s/%s%s", folder, name, suffix) < PATH_MAX ? 0 : -1;
}

/* ---- who may ---- */

/* Lets one user do so much with a file of root's, and nobody else anything. 0, or -1 with errno. */
static int admit(const char *path, uid_t uid, uint16_t may)
{
    struct {
        struct posix_acl_xattr_header header;
        struct posix_acl_xattr_entry entry[5];
    } acl = {{POSIX_ACL_XATTR_VERSION},
             {{ACL_USER_OBJ, ACL_READ | ACL_WRITE, (uint32_t)ACL_UNDEFINED_ID},
              {ACL_USER, may, uid},
              {ACL_GROUP_OBJ, 0, (uint32_t)ACL_UNDEFINED_ID},
              {ACL_MASK, may, (uint32_t)ACL_UNDEFINED_ID},
              {ACL_OTHER, 0, (uint32_t)ACL_UNDEFINED_ID}}};

    return setxattr(path, "system.posix_acl_access", &acl, sizeof(acl), 0);
}

/* ---- the page ---- */

static void fill(struct rt_page *page)
{
    memset(page, 0, sizeof(*page));
    memcpy(page->magic, RT_PAGE_MAGIC, sizeof(page->magic));
    page->version = RT_PAGE_VERSION;
    page->size = sizeof(*page);
    memset(page->node, RT_NO_DOMAIN, sizeof(page->node));
    memset(page->cache, RT_NO_DOMAIN, sizeof(page->cache));
}

/* Makes the page under another name: who finds it by its own finds all of it. 0, or -1 with errno.
 */
static int make(const struct step *step, const char *path)
{
    struct file_draft draft;
    struct rt_page page;
    bool whole;

    fill(&page);
    if (file_draft_open(&draft, path, 0) < 0)
        return -1;
    whole = file_write_fd(draft.fd, (const char *)&page, sizeof(page)) == sizeof(page) &&
            admit(draft.temporary, step->request.uid, ACL_READ) == 0;
    return file_draft_close(&draft, PAGE_MODE, whole);
}

/* Opens the page that stands there. 0, or -1 with errno: ENOENT also where it is none. */
static int take_over(struct step_page *page)
{
    struct rt_page now;

    page->fd = open(page->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (page->fd < 0)
        return -1;
    if (pread(page->fd, &now, sizeof(now), 0) == sizeof(now) && now.version == RT_PAGE_VERSION &&
        memcmp(now.magic, RT_PAGE_MAGIC, sizeof(now.magic)) == 0) {
        page->generation = now.generation & ~1u; /* a berthd was killed between the two */
        page->features = now.features;
        page->threads = now.threads;
        return 0;
    }
    close(page->fd);
    page->fd = -1;
    errno = ENOENT;
    return -1;
}

/* Makes the FIFO, or takes the one that there is. Who writes opens it to read, too, lest he gets a
 * SIGPIPE when berthd has died (runtime/said.c). 0, or -1 with errno. */
static int open_fifo(struct step_page *page, uid_t uid)
{
    char path[PATH_MAX + sizeof(RT_SAID_SUFFIX)];

    snprintf(path, sizeof(path), "%s" RT_SAID_SUFFIX, page->path);
    if ((mkfifo(path, 0600) < 0 && errno != EEXIST) || admit(path, uid, ACL_READ | ACL_WRITE) < 0)
        return -1;
    page->fifo = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    return page->fifo < 0 ? -1 : 0;
}

static int open_both(const struct packer *packer, const struct step *step, struct step_page *page)
{
    char folder[PATH_MAX];

    run_folder(packer, FOLDER, folder);
    if (run_folder_make(folder) < 0 || path_of(packer, step, "", page->path) < 0)
        return -1;
    if (take_over(page) < 0 &&
        (errno != ENOENT || make(step, page->path) < 0 || take_over(page) < 0))
        return -1;
    return open_fifo(page, step->request.uid);
}

int step_page_open(struct step_page **out, const struct packer *packer, const struct step *step,
                   struct berth_error *err)
{
    struct step_page *page = malloc(sizeof(*page));

    if (!page)
        return berth_no_memory(err);
    *page = (struct step_page){.fd = -1, .fifo = -1};
    if (open_both(packer, step, page) < 0) {
        berth_error_set(err, "%.200s: %s", page->path, strerror(errno));
        step_page_close(page);
        return -1;
    }
    *out = page;
    return 0;
}

int step_page_find(struct step_page **out, const struct packer *packer, const struct step *step)
{
    struct step_page *page = malloc(sizeof(*page));

    if (!page)
        return -1;
    *page = (struct step_page){.fd = -1, .fifo = -1};
    if (path_of(packer, step, "", page->path) == 0 && take_over(page) == 0) {
        *out = page;
        return 0;
    }
    step_page_close(page);
    return -1;
}

void step_page_close(struct step_page *page)
{
    if (!page)
        return;
    if (page->fd >= 0)
        close(page->fd);
    if (page->fifo >= 0)
        close(page->fifo);
    free(page);
}

const char *step_page_path(const struct step_page *page)
{
    return page->path;
}

/* ---- what it says ---- */

/* 0, or -1 with errno. */
static int put_generation(const struct step_page *page, uint32_t value)
{
    return pwrite(page->fd, &value, sizeof(value), offsetof(struct rt_page, generation)) ==
                   sizeof(value)
               ? 0
               : -1;
}

/* Changes a part of the page. 0, or -1 and err. */
static int change(struct step_page *page, size_t offset, const void *bytes, size_t length,
                  struct berth_error *err)
{
    if (put_generation(page, page->generation + 1) < 0 ||
        pwrite(page->fd, bytes, length, (off_t)offset) != (ssize_t)length ||
        put_generation(page, page->generation + 2) < 0)
        return berth_error_set(err, "%.200s: %s", page->path, strerror(errno));
    page->generation += 2;
    return 0;
}

int step_page_switch(struct step_page *page, enum rt_feature feature, bool on,
                     struct berth_error *err)
{
    uint32_t features = on ? page->features | feature : page->features & ~(uint32_t)feature;

    if (change(page, offsetof(struct rt_page, features), &features, sizeof(features), err) < 0)
        return -1;
    page->features = features;
    return 0;
}

bool step_page_has(const struct step_page *page, enum rt_feature feature)
{
    return page->features & feature;
}

int step_page_tell(struct step_page *page, uint32_t threads, struct berth_error *err)
{
    if (change(page, offsetof(struct rt_page, threads), &threads, sizeof(threads), err) < 0)
        return -1;
    page->threads = threads;
    return 0;
}

uint32_t step_page_told(const struct step_page *page)
{
    return page->threads;
}

_Static_assert(offsetof(struct rt_page, hold) ==
                   offsetof(struct rt_page, throttle) + sizeof(uint32_t),
               "written at once");

int step_page_throttle(struct step_page *page, enum rt_throttle mode, uint32_t hold,
                       struct berth_error *err)
{
    uint32_t both[] = {mode, hold};

    return change(page, offsetof(struct rt_page, throttle), both, sizeof(both), err);
}

/* ---- where it stands ---- */

/* What of both is the step's, CPU by CPU; the page has them side by side. */
struct domains {
    uint8_t node[RT_PAGE_CPUS], cache[RT_PAGE_CPUS];
};

_Static_assert(offsetof(struct rt_page, cache) ==
                   offsetof(struct rt_page, node) + offsetof(struct domains, cache),
               "written at once");

/* Says of the step's CPUs that they belong to the index-th domain. Returns whether one does. */
static bool fill_domain(uint8_t *of_cpu, const struct cpus *step, const struct cpus *domain,
                        size_t index)
{
    struct cpus both = *domain;

    cpus_and(&both, step);
    cpus_foreach(cpu, &both) if (cpu < RT_PAGE_CPUS && index < RT_NO_DOMAIN) of_cpu[cpu] =
        (uint8_t)index;
    return !cpus_empty(&both);
}

/* Returns how many domains the CPUs are in, as the library takes them (runtime/nodes.c): caches,
 * where that is one memory node. */
static unsigned fill_domains(const struct topo *topo, const struct cpus *cpus,
                             struct domains *domains)
{
    unsigned nodes = 0, caches = 0;

    memset(domains, RT_NO_DOMAIN, sizeof(*domains));
    for (size_t i = 0; i < topo->nodes; i++)
        nodes += fill_domain(domains->node, cpus, &topo->node[i].cpus, i);
    for (size_t i = 0; i < topo->llcs; i++)
        caches += fill_domain(domains->cache, cpus, &topo->llc[i].cpus, i);
    return nodes > 1 ? nodes : caches;
}

int step_page_stand(struct step_page *page, const struct packer *packer, const struct step *step,
                    struct berth_error *err)
{
    struct domains domains;
    struct cpus cpus = {0};
    unsigned n;

    for (size_t i = 0; i < step->body.ntasks; i++)
        cpus_or(&cpus, &step->body.task[i].cpus);
    if (cpus_equal(&cpus, &page->stands))
        return 0;
    n = fill_domains(packer->world.topo, &cpus, &domains);
    if (change(page, offsetof(struct rt_page, node), &domains, sizeof(domains), err) < 0)
        return -1;
    page->domains = n;
    page->stands = cpus;
    return 0;
}

unsigned step_page_domains(const struct step_page *page)
{
    return page->domains;
}

/* ---- what is said ---- */

/* What was heard stands behind the page, which only berthd can write: the next one goes on with it.
 */
struct heard {
    uint64_t size; /* of another berthd's, maybe */
    struct step_said said;
};

void step_page_listen(const struct step_page *page, struct step_said *said)
{
    struct heard heard = {.size = sizeof(heard)};

    if (!step_said_read(page->fifo, said))
        return;
    heard.said = *said;
    if (pwrite(page->fd, &heard, sizeof(heard), sizeof(struct rt_page)) != sizeof(heard))
        log_debug("%s: what was heard is not kept: %s", page->path, strerror(errno));
}

void step_page_heard(const struct step_page *page, struct step_said *said)
{
    struct heard heard;

    if (pread(page->fd, &heard, sizeof(heard), sizeof(struct rt_page)) == sizeof(heard) &&
        heard.size == sizeof(heard))
        *said = heard.said;
}

/* ---- ends ---- */

void step_page_remove(const struct packer *packer, const struct step *step)
{
    char path[PATH_MAX];

    if (path_of(packer, step, "", path) == 0)
        unlink(path);
    if (path_of(packer, step, RT_SAID_SUFFIX, path) == 0)
        unlink(path);
}

/* Is the file none of a step that lives? */
static bool is_left_over(const char *file, const void *arg)
{
    const struct packer *packer = arg;
    const struct step *step;
    char name[WIRE_STEP_NAME_MAX];

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        size_t length;

        wire_step_name(step->request.id, name);
        length = strlen(name);
        if (strncmp(file, name, length) == 0 &&
            (!file[length] || strcmp(file + length, RT_SAID_SUFFIX) == 0))
            return false;
    }
    return true;
}

void step_page_sweep(const struct packer *packer)
{
    char folder[PATH_MAX];

    run_folder(packer, FOLDER, folder);
    file_sweep(folder, is_left_over, packer);
}

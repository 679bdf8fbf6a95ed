/* SPDX-License-Identifier: GPL-2.0-or-later */
/* taskstats - see taskstats.h
 *
 * A batch of requests goes to the kernel in one datagram. It works on them before sendto returns,
 * so the answers lie in the socket's buffer then: one for each request, which is a message of type
 * NLMSG_ERROR where the process is gone. An answer is told by the sequence number of its request;
 * one that does not fit into the buffer is lost, and its process not known this time. */
#include "packer/system/taskstats.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/capabilities.h"

#define BATCH                                                                                      \
    TASKSTATS_BATCH /* requests in a datagram: their answers fit the default socket buffer */
#define ANSWER 2048 /* bytes of one; that of Linux 6.18 has 596 */
#define WORD_MAX 16 /* bytes of an attribute of a request */

/* A request with its only attribute. */
struct request {
    struct nlmsghdr head;
    struct genlmsghdr generic;
    struct nlattr attribute;
    char value[WORD_MAX];
};

static size_t request_fill(struct request *request, uint16_t family, uint32_t sequence,
                           uint8_t command, uint16_t type, const void *value, size_t size)
{
    *request = (struct request){
        .head = {.nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = sequence},
        .generic = {.cmd = command, .version = 1},
        .attribute = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type}};
    memcpy(request->value, value, size);
    request->head.nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + NLA_HDRLEN + NLA_ALIGN(size));
    return request->head.nlmsg_len;
}

/* The first attribute of that type among length bytes, its value's size in *size; NULL: none. */
static const void *attribute_find(const unsigned char *at, size_t length, uint16_t type,
                                  size_t *size)
{
    struct nlattr attribute;

    while (length >= NLA_HDRLEN) {
        memcpy(&attribute, at, sizeof(attribute));
        if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > length)
            return NULL;
        *size = attribute.nla_len - NLA_HDRLEN;
        if ((attribute.nla_type & NLA_TYPE_MASK) == type)
            return at + NLA_HDRLEN;
        if (NLA_ALIGN((size_t)attribute.nla_len) >= length)
            return NULL;
        at += NLA_ALIGN(attribute.nla_len);
        length -= NLA_ALIGN((size_t)attribute.nla_len);
    }
    return NULL;
}

/* The attributes of an answer of that family; NULL: it is something else. */
static const unsigned char *answer_attributes(const unsigned char *answer, size_t got,
                                              uint16_t family, size_t *length)
{
    struct nlmsghdr head;

    if (got < NLMSG_LENGTH(GENL_HDRLEN))
        return NULL;
    memcpy(&head, answer, sizeof(head));
    if (head.nlmsg_type != family || head.nlmsg_len > got ||
        head.nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
        return NULL;
    *length = head.nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
    return answer + NLMSG_LENGTH(GENL_HDRLEN);
}

/* The family's number. 0, or -1 and err. */
static int find_family(struct taskstats_link *link, struct berth_error *err)
{
    static const char name[] = TASKSTATS_GENL_NAME;
    struct request request;
    const unsigned char *attributes;
    const void *id = NULL;
    size_t length, size;
    ssize_t got;

    length = request_fill(&request, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                          name, sizeof(name));
    if (send(link->fd, &request, length, 0) < 0)
        return berth_error_set(err, "taskstats: %s", strerror(errno));
    got = recv(link->fd, link->answers, ANSWER, MSG_DONTWAIT);
    attributes =
        got < 0 ? NULL : answer_attributes(link->answers, (size_t)got, GENL_ID_CTRL, &length);
    if (attributes)
        id = attribute_find(attributes, length, CTRL_ATTR_FAMILY_ID, &size);
    if (!id || size < sizeof(link->family))
        return berth_error_set(
            err,
            "taskstats: the kernel has none (CONFIG_TASKSTATS), or not in this network namespace");
    memcpy(&link->family, id, sizeof(link->family));
    return 0;
}

/* The errno of an answer that is an error, else 0. */
static int answer_error(const unsigned char *answer, size_t got)
{
    struct nlmsghdr head;
    struct nlmsgerr error;

    if (got < NLMSG_LENGTH(sizeof(error)))
        return 0;
    memcpy(&head, answer, sizeof(head));
    memcpy(&error, answer + NLMSG_HDRLEN, sizeof(error));
    return head.nlmsg_type == NLMSG_ERROR ? -error.error : 0;
}

/* Takes the kernel's structure out of an answer, whose version may be any: it only grows at its
 * end. False: there is none, or it ends before `least` bytes. */
static bool stats_take(const unsigned char *answer, size_t got, uint16_t family, uint16_t of,
                       size_t least, struct taskstats *stats)
{
    const unsigned char *attributes;
    const void *part;
    size_t length, size;

    attributes = answer_attributes(answer, got, family, &length);
    if (!attributes)
        return false;
    part = attribute_find(attributes, length, of, &size);
    part = part ? attribute_find(part, size, TASKSTATS_TYPE_STATS, &size) : NULL;
    if (!part || size < least)
        return false;
    *stats = (struct taskstats){0};
    memcpy(stats, part, size < sizeof(*stats) ? size : sizeof(*stats));
    return true;
}

/* How long the structure is that has all members up to this one. */
#define UP_TO(member) (offsetof(struct taskstats, member) + sizeof(((struct taskstats *)0)->member))

static bool usage_take(const unsigned char *answer, size_t got, uint16_t family,
                       struct taskstats_usage *usage)
{
    struct taskstats stats;

    if (!stats_take(answer, got, family, TASKSTATS_TYPE_AGGR_TGID, UP_TO(nivcsw), &stats))
        return false;
    *usage = (struct taskstats_usage){.known = true,
                                      .run_delay_ns = stats.cpu_delay_total,
                                      .switches = stats.cpu_count,
                                      .voluntary = stats.nvcsw,
                                      .involuntary = stats.nivcsw};
    return true;
}

/* Receive the answers to the n requests that begin at sequence number first. The errno of the last
 * refused one, else 0. */
static int receive(struct taskstats_link *link, uint32_t first, size_t n,
                   struct taskstats_usage *usage)
{
    struct iovec room[BATCH];
    struct mmsghdr message[BATCH];
    struct nlmsghdr head;
    int got, refused = 0;

    memset(message, 0, sizeof(message));
    for (size_t i = 0; i < n; i++) {
        room[i] = (struct iovec){link->answers + i * ANSWER, ANSWER};
        message[i].msg_hdr.msg_iov = &room[i];
        message[i].msg_hdr.msg_iovlen = 1;
    }
    got = recvmmsg(link->fd, message, (unsigned)n, MSG_DONTWAIT, NULL);
    for (int i = 0; i < got; i++) {
        const unsigned char *answer = room[i].iov_base;

        if (message[i].msg_len < sizeof(head))
            continue;
        memcpy(&head, answer, sizeof(head));
        if (head.nlmsg_seq - first < n &&
            !usage_take(answer, message[i].msg_len, link->family, &usage[head.nlmsg_seq - first]))
            refused = answer_error(answer, message[i].msg_len);
    }
    return refused;
}

static const struct taskstats_asker *other;

void taskstats_ask(const struct taskstats_asker *asker)
{
    other = asker;
}

static int ask_other(const pid_t *pid, size_t n, struct taskstats_usage *usage,
                     struct berth_error *err)
{
    if (other && other->read(pid, n, usage) == 0)
        return 0;
    return berth_error_set(err, "taskstats: %s", strerror(errno));
}

/* At most BATCH of them. The errno of the last refused one, else 0; or -1 and err. */
static int read_batch(struct taskstats_link *link, const pid_t *pid, size_t n,
                      struct taskstats_usage *usage, struct berth_error *err)
{
    struct request request;
    unsigned char all[BATCH * sizeof(struct request)] = {0};
    uint32_t first = link->sequence;
    size_t length = 0, size;

    if (link->asks)
        return ask_other(pid, n, usage, err);
    for (size_t i = 0; i < n; i++) {
        uint32_t tgid = (uint32_t)pid[i];

        usage[i] = (struct taskstats_usage){0};
        size = request_fill(&request, link->family, link->sequence++, TASKSTATS_CMD_GET,
                            TASKSTATS_CMD_ATTR_TGID, &tgid, sizeof(tgid));
        memcpy(all + length, &request, size);
        length += NLMSG_ALIGN(size);
    }
    if (send(link->fd, all, length, 0) < 0)
        return berth_error_set(err, "taskstats: %s", strerror(errno));
    return receive(link, first, n, usage);
}

int taskstats_read(struct taskstats_link *link, const pid_t *pid, size_t n,
                   struct taskstats_usage *usage, struct berth_error *err)
{
    for (size_t done = 0; done < n; done += BATCH)
        if (read_batch(link, pid + done, n - done < BATCH ? n - done : BATCH, usage + done, err) <
            0)
            return -1;
    return 0;
}

/* Does the kernel answer, and does it count? A process that asks has been given a CPU before. */
static int try_self(struct taskstats_link *link, struct berth_error *err)
{
    struct taskstats_usage usage;
    pid_t self = getpid();
    int refused = read_batch(link, &self, 1, &usage, err);

    if (refused == EPERM && other) {
        link->asks = true;
        refused = read_batch(link, &self, 1, &usage, err);
    }
    if (refused < 0)
        return -1;
    if (refused == EPERM)
        return berth_error_set(err, "taskstats: %s",
                               capabilities_why(CAPABILITY(CAP_NET_ADMIN), refused));
    if (!usage.known)
        return berth_error_set(err, "taskstats: %s",
                               refused ? strerror(refused) : "the kernel does not answer");
    if (!usage.switches)
        return berth_error_set(err, "taskstats: the kernel counts no waiting "
                                    "(CONFIG_TASK_DELAY_ACCT, nodelayacct)");
    return 0;
}

/* Receives the answer to a request, whatever else lies before it. 0, or -1 with errno. */
static int receive_thread(struct taskstats_link *link, uint32_t sequence, struct taskstats *stats)
{
    struct nlmsghdr head;
    ssize_t got;

    do {
        got = recv(link->fd, link->answers, ANSWER, MSG_DONTWAIT);
        if (got < 0 && errno != EINTR)
            return -1;
        memcpy(&head, link->answers, sizeof(head));
    } while (got < (ssize_t)sizeof(head) || head.nlmsg_seq != sequence);
    if (stats_take(link->answers, (size_t)got, link->family, TASKSTATS_TYPE_AGGR_PID,
                   UP_TO(hiwater_vm), stats))
        return 0;
    errno = answer_error(link->answers, (size_t)got);
    errno = errno ? errno : EPROTO;
    return -1;
}

int taskstats_thread(struct taskstats_link *link, pid_t tid, struct taskstats_thread *thread)
{
    uint32_t sequence = link->sequence++, number = (uint32_t)tid;
    struct request request;
    struct taskstats stats;
    size_t length = request_fill(&request, link->family, sequence, TASKSTATS_CMD_GET,
                                 TASKSTATS_CMD_ATTR_PID, &number, sizeof(number));

    if (link->asks)
        return other ? other->thread(tid, thread) : -1;
    if (send(link->fd, &request, length, 0) < 0)
        return -1;
    if (receive_thread(link, sequence, &stats) < 0) {
        link->asks = errno == EPERM && other;
        return link->asks ? other->thread(tid, thread) : -1;
    }
    *thread = (struct taskstats_thread){.parent = (pid_t)stats.ac_ppid,
                                        .elapsed_s = (double)stats.ac_etime / 1e6,
                                        .has_memory = stats.hiwater_vm > 0};
    return 0;
}

int taskstats_connect(struct taskstats_link *link, struct berth_error *err)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};

    *link = (struct taskstats_link){.fd = -1};
    link->answers = malloc((size_t)BATCH * ANSWER);
    if (!link->answers)
        return berth_error_set(err, "taskstats: %s", strerror(errno));
    link->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (link->fd < 0 || bind(link->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        berth_error_set(err, "taskstats: no netlink socket: %s%s", strerror(errno),
                        errno == EAFNOSUPPORT ? " (AF_NETLINK)" : "");
    else if (find_family(link, err) == 0)
        return 0;
    taskstats_close(link);
    return -1;
}

int taskstats_open(struct taskstats_link *link, struct berth_error *err)
{
    if (taskstats_connect(link, err) < 0)
        return -1;
    if (try_self(link, err) == 0)
        return 0;
    taskstats_close(link);
    return -1;
}

void taskstats_close(struct taskstats_link *link)
{
    file_close(link->fd);
    free(link->answers);
    *link = (struct taskstats_link){.fd = -1};
}

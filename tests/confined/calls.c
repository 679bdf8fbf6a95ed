/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls - the system calls that a unit leaves to its service: filters as systemd's seccomp-util.c
 * makes them, by libseccomp, one a directive. The groups (@system-service) are those of the
 * systemd-analyze that is installed. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/confined/confined.h"

#define DEPTH_MAX 8
#define CALLS_MAX 1024

static scmp_filter_ctx filter_new(uint32_t otherwise)
{
    scmp_filter_ctx filter = seccomp_init(otherwise);

    if (!filter || seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0) < 0)
        errx(2, "no seccomp filter");
    return filter;
}

static void filter_load(scmp_filter_ctx filter, const char *what)
{
    int rc = seccomp_load(filter);

    if (rc < 0)
        errx(2, "%s: %s", what, strerror(-rc));
    seccomp_release(filter);
}

/* A rule about a call; one that this machine does not have is none. */
static void rule(scmp_filter_ctx filter, uint32_t action, int call, unsigned n,
                 const struct scmp_arg_cmp *arg)
{
    int rc = call < 0 ? 0 : seccomp_rule_add_array(filter, action, call, n, arg);

    if (rc < 0 && rc != -EEXIST && rc != -EDOM && rc != -EACCES)
        errx(2, "seccomp rule of call %d: %s", call, strerror(-rc));
}

static void refuse(scmp_filter_ctx filter, int call)
{
    rule(filter, SCMP_ACT_ERRNO(EPERM), call, 0, NULL);
}

/* Refuses a call where an argument has all of these bits. */
static void refuse_bits(scmp_filter_ctx filter, int call, unsigned arg, uint64_t bits)
{
    const struct scmp_arg_cmp cmp = {arg, SCMP_CMP_MASKED_EQ, bits, bits};

    rule(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &cmp);
}

/* ---- groups ---- */

/* Calls by their numbers; one that this machine does not have is in none. */
struct set {
    bool has[CALLS_MAX];
};

static void set_name(struct set *set, const char *name, bool has, int depth);

/* Adds the calls of a group, or takes them out. */
static void set_group(struct set *set, const char *name, bool has, int depth)
{
    char command[128], line[128], *word;
    FILE *lines;

    snprintf(command, sizeof(command), "systemd-analyze syscall-filter %.64s", name);
    lines = depth < DEPTH_MAX ? popen(command, "re") : NULL;
    if (!lines || !fgets(line, sizeof(line), lines)) /* the first is its own name */
        errx(2, "%s: is systemd-analyze there?", command);
    while (fgets(line, sizeof(line), lines)) {
        line[strcspn(line, "\n")] = '\0';
        word = line + strspn(line, " ");
        if (word[0] && word[0] != '#')
            set_name(set, word, has, depth + 1);
    }
    if (pclose(lines) != 0)
        errx(2, "%s: failed", command);
}

static void set_name(struct set *set, const char *name, bool has, int depth)
{
    int call;

    if (name[0] == '@') {
        set_group(set, name, has, depth);
        return;
    }
    call = seccomp_syscall_resolve_name(name);
    if (call >= CALLS_MAX)
        errx(2, "%s is call %d, more than is known here", name, call);
    if (call >= 0)
        set->has[call] = has;
}

static void set_rules(const struct set *set, scmp_filter_ctx filter, uint32_t action)
{
    for (int call = 0; call < CALLS_MAX; call++)
        if (set->has[call])
            rule(filter, action, call, 0, NULL);
}

static void refuse_group(scmp_filter_ctx filter, const char *name)
{
    struct set set = {{false}};

    set_group(&set, name, true, 0);
    set_rules(&set, filter, SCMP_ACT_ERRNO(EPERM));
}

/* A list of what is allowed, or, with "~" before its first word, of what is not. A later word of
 * the other kind is taken out of it again. */
static scmp_filter_ctx listed_calls(const struct words *calls)
{
    bool but = calls->n && calls->word[0][0] == '~';
    uint32_t refused = SCMP_ACT_ERRNO(EPERM);
    scmp_filter_ctx filter = filter_new(but ? SCMP_ACT_ALLOW : refused);
    struct set set = {{false}};

    if (!but)
        set_group(&set, "@default", true, 0);
    for (size_t i = 0; i < calls->n; i++) {
        bool marked = calls->word[i][0] == '~';

        set_name(&set, calls->word[i] + marked, marked == but, 0);
    }
    set_rules(&set, filter, but ? refused : SCMP_ACT_ALLOW);
    return filter;
}

/* The groups that directives about other things refuse, too. */
static scmp_filter_ctx implied_calls(const struct unit *unit)
{
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

    if (unit->private_devices)
        refuse_group(filter, "@raw-io");
    if (unit->protect_modules)
        refuse_group(filter, "@module");
    if (unit->protect_clock)
        refuse_group(filter, "@clock");
    if (unit->protect_logs)
        refuse(filter, SCMP_SYS(syslog));
    if (unit->protect_hostname) {
        refuse(filter, SCMP_SYS(sethostname));
        refuse(filter, SCMP_SYS(setdomainname));
    }
    return filter;
}

/* ---- one directive each ---- */

static int family_number(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } families[] = {{"AF_UNIX", AF_UNIX},
                    {"AF_INET", AF_INET},
                    {"AF_INET6", AF_INET6},
                    {"AF_NETLINK", AF_NETLINK}};

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (strcmp(families[i].name, name) == 0)
            return families[i].number;
    errx(2, "RestrictAddressFamilies: %s is not known here", name);
}

static scmp_filter_ctx family_filter(const struct words *families)
{
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);
    bool allowed[AF_MAX] = {false};

    for (size_t i = 0; i < families->n; i++)
        allowed[family_number(families->word[i])] = true;
    for (unsigned i = 0; i < AF_MAX; i++) {
        const struct scmp_arg_cmp is = {0, SCMP_CMP_EQ, i, 0};

        if (!allowed[i])
            rule(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1, &is);
    }
    rule(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
         &(struct scmp_arg_cmp){0, SCMP_CMP_GE, AF_MAX, 0});
    return filter;
}

static scmp_filter_ctx namespace_filter(void)
{
    static const unsigned kinds[] = {CLONE_NEWCGROUP, CLONE_NEWIPC,  CLONE_NEWNET, CLONE_NEWNS,
                                     CLONE_NEWPID,    CLONE_NEWUSER, CLONE_NEWUTS};
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

    rule(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0, NULL);
    refuse(filter, SCMP_SYS(setns));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        refuse_bits(filter, SCMP_SYS(unshare), 0, kinds[i]);
        refuse_bits(filter, SCMP_SYS(clone), 0, kinds[i]);
    }
    return filter;
}

static scmp_filter_ctx realtime_filter(void)
{
    const struct scmp_arg_cmp cases[] = {{1, SCMP_CMP_EQ, SCHED_FIFO, 0},
                                         {1, SCMP_CMP_EQ, SCHED_RR, 0},
                                         {1, SCMP_CMP_GT, SCHED_IDLE, 0}};
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        rule(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(sched_setscheduler), 1, &cases[i]);
    return filter;
}

static scmp_filter_ctx setuid_filter(void)
{
    static const unsigned bits[] = {S_ISUID, S_ISGID};
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

    for (size_t i = 0; i < 2; i++) {
        refuse_bits(filter, SCMP_SYS(chmod), 1, bits[i]);
        refuse_bits(filter, SCMP_SYS(fchmod), 1, bits[i]);
        refuse_bits(filter, SCMP_SYS(fchmodat), 2, bits[i]);
        refuse_bits(filter, SCMP_SYS(mkdir), 1, bits[i]);
        refuse_bits(filter, SCMP_SYS(mkdirat), 2, bits[i]);
        refuse_bits(filter, SCMP_SYS(mknod), 1, bits[i]);
        refuse_bits(filter, SCMP_SYS(mknodat), 2, bits[i]);
        refuse_bits(filter, SCMP_SYS(creat), 1, bits[i]);
        for (unsigned at = 0; at < 2; at++) { /* open, openat */
            const struct scmp_arg_cmp made[] = {{1 + at, SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT},
                                                {2 + at, SCMP_CMP_MASKED_EQ, bits[i], bits[i]}};

            rule(filter, SCMP_ACT_ERRNO(EPERM), at ? SCMP_SYS(openat) : SCMP_SYS(open), 2, made);
        }
    }
    /* Its flags cannot be seen by a filter. Some versions of systemd say ENOSYS. */
    refuse(filter, SCMP_SYS(openat2));
    return filter;
}

static scmp_filter_ctx code_filter(void)
{
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

    refuse_bits(filter, SCMP_SYS(mmap), 2, PROT_EXEC | PROT_WRITE);
    refuse_bits(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
    refuse_bits(filter, SCMP_SYS(pkey_mprotect), 2, PROT_EXEC);
    refuse_bits(filter, SCMP_SYS(shmat), 2, SHM_EXEC);
    return filter;
}

static scmp_filter_ctx personality_filter(void)
{
    const struct scmp_arg_cmp other = {0, SCMP_CMP_NE, 0, 0};
    scmp_filter_ctx filter = filter_new(SCMP_ACT_ALLOW);

    rule(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1, &other);
    return filter;
}

/* All filters are made before the first is loaded, for what makes them needs more than they leave.
 * That of the native architecture alone kills calls of others: libseccomp's are that by default. */
void calls_apply(const struct unit *unit)
{
    struct {
        const char *what;
        scmp_filter_ctx filter;
    } made[] = {
        {"implied", implied_calls(unit)},
        {"RestrictAddressFamilies", unit->families.given ? family_filter(&unit->families) : NULL},
        {"RestrictNamespaces", unit->no_namespaces ? namespace_filter() : NULL},
        {"RestrictRealtime", unit->no_realtime ? realtime_filter() : NULL},
        {"RestrictSUIDSGID", unit->no_setuid_files ? setuid_filter() : NULL},
        {"MemoryDenyWriteExecute", unit->no_written_code ? code_filter() : NULL},
        {"LockPersonality", unit->lock_personality ? personality_filter() : NULL},
        {"SystemCallFilter", unit->calls.given ? listed_calls(&unit->calls) : NULL},
    };
    size_t n = sizeof(made) / sizeof(made[0]);

    for (size_t i = 0; i < n; i++)
        if (made[i].filter)
            filter_load(made[i].filter, made[i].what);
}

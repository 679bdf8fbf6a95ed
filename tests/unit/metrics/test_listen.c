/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_metrics_listen - which addresses are taken, that no other node is spoken to, and who may
 * connect to the socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <grp.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "packer/conf/conf.h"
#include "packer/metrics/listen.h"

static void test_taken(void **state)
{
    static const struct {
        const char *text;
        enum metrics_where where;
        int family;
        unsigned port;
    } cases[] = {{"off", METRICS_OFF, 0, 0},
                 {"unix:/run/berth/metrics.sock", METRICS_UNIX, AF_UNIX, 0},
                 {"127.0.0.1:9110", METRICS_PORT, AF_INET, 9110},
                 {"127.8.9.10:65535", METRICS_PORT, AF_INET, 65535},
                 {"127.0.0.1:0", METRICS_PORT, AF_INET, 0},
                 {"[::1]:9110", METRICS_PORT, AF_INET6, 9110}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct metrics_address address;
        struct berth_error err = {""};
        unsigned port = 0;

        if (metrics_address(cases[i].text, &address, &err) < 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        assert_int_equal(address.where, cases[i].where);
        if (cases[i].where == METRICS_OFF)
            continue;
        assert_int_equal(address.any.sa_family, cases[i].family);
        if (cases[i].family == AF_INET)
            port = ntohs(((struct sockaddr_in *)&address.storage)->sin_port);
        if (cases[i].family == AF_INET6)
            port = ntohs(((struct sockaddr_in6 *)&address.storage)->sin6_port);
        assert_int_equal(port, cases[i].port);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {{"", "expected"},
                 {"on", "expected"},
                 {"9110", "expected"},
                 {":9110", "expected"},
                 {"localhost:9110", "expected"},
                 {"127.0.0.1", "expected"},
                 {"127.0.0.1:", "expected"},
                 {"127.0.0.1:-1", "expected"},
                 {"127.0.0.1: 1", "expected"},
                 {"127.0.0.1:65536", "expected"},
                 {"127.0.0.1:9110x", "expected"},
                 {"127.0.0.1:000000", "expected"},
                 {"::1:9110", "expected"},
                 {"[::1]", "expected"},
                 {"[::1:9110", "expected"},
                 {"[]:9110", "expected"},
                 {"unix:", "absolute path"},
                 {"unix:run/x", "absolute path"},
                 {"0.0.0.0:9110", "no loopback address"},
                 {"10.1.2.3:9110", "no loopback address"},
                 {"128.0.0.1:9110", "no loopback address"},
                 {"[::]:9110", "no loopback address"},
                 {"[fe80::1]:9110", "no loopback address"},
                 {"[::ffff:10.0.0.1]:9110", "no loopback address"}};
    struct metrics_address address;
    char path[200] = "unix:/";

    (void)state;
    memset(path + 6, 'x', sizeof(path) - 7);
    path[sizeof(path) - 1] = '\0';
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct berth_error err = {""};

        if (metrics_address(cases[i].text, &address, &err) == 0)
            fail_msg("%s is taken", cases[i].text);
        if (!strstr(err.text, cases[i].why) || strchr(err.text, '\n'))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
    assert_int_equal(metrics_address(path, &address, NULL), -1);
}

/* A wrong one is an error of berth.conf, with its line. */
static void test_conf(void **state)
{
    char path[] = "/tmp/berth-metrics-conf.XXXXXX", wanted[64];
    int fd = mkstemp(path);
    struct berth_error err = {""};
    struct conf conf;

    (void)state;
    assert_true(fd >= 0);
    dprintf(fd, "sweep = 5s\nmetrics = 10.0.0.1:9110\n");
    conf_init(&conf);
    assert_string_equal(conf.metrics, "off");
    assert_int_equal(conf_read(&conf, path, &err), -1);
    snprintf(wanted, sizeof(wanted), "%s:2: metrics: ", path);
    assert_int_equal(strncmp(err.text, wanted, strlen(wanted)), 0);
    assert_non_null(strstr(err.text, "no loopback address"));
    assert_int_equal(ftruncate(fd, 0), 0);
    lseek(fd, 0, SEEK_SET);
    dprintf(fd, "metrics = [::1]:9110\nmetrics_steps = 10\nmetrics_interval = 30s\n");
    assert_int_equal(conf_read(&conf, path, &err), 0);
    assert_string_equal(conf.metrics, "[::1]:9110");
    assert_int_equal(conf.metrics_steps, 10);
    assert_int_equal(conf.metrics_interval_ms, 30000);
    close(fd);
    unlink(path);
}

static void test_readers(void **state)
{
    struct group *group = getgrgid(1); /* daemon's, on Debian */
    struct metrics_readers readers;
    struct berth_error err = {""};
    struct conf conf;

    (void)state;
    conf_init(&conf);
    assert_int_equal(metrics_readers(&conf, &readers, &err), 0);
    assert_false(readers.everybody);
    assert_int_equal(readers.group, 0);
    strcpy(conf.metrics_group, "*");
    assert_int_equal(metrics_readers(&conf, &readers, &err), 0);
    assert_true(readers.everybody);
    strcpy(conf.metrics_group, "no such group");
    assert_int_equal(metrics_readers(&conf, &readers, &err), -1);
    assert_non_null(strstr(err.text, "no such group"));
    if (!group)
        return;
    snprintf(conf.metrics_group, sizeof(conf.metrics_group), "%s", group->gr_name);
    assert_int_equal(metrics_readers(&conf, &readers, &err), 0);
    assert_int_equal(readers.group, 1);
}

static void test_mode(void **state)
{
    struct group *group = getgrgid(1);
    const struct {
        const char *group;
        mode_t mode;
        gid_t gid;
    } cases[] = {{"", 0660, 0}, {"*", 0666, getegid()}, {group ? group->gr_name : "", 0660, 1}};
    char dir[] = "/tmp/berth-metrics.XXXXXX";
    struct metrics_address address;
    struct berth_error err = {""};
    struct conf conf;
    struct stat st;

    (void)state;
    if (geteuid() != 0) {
        print_message("groups are given by root only: not tested\n");
        skip();
    }
    assert_non_null(mkdtemp(dir));
    conf_init(&conf);
    snprintf(conf.metrics, sizeof(conf.metrics), "unix:%s/sub/m.sock", dir);
    assert_int_equal(metrics_address(conf.metrics, &address, &err), 0);
    for (size_t i = 0; i < (group ? 3 : 2); i++) {
        int fd;

        strcpy(conf.metrics_group, cases[i].group);
        fd = metrics_listen(&address, &conf, &err);
        if (fd < 0)
            fail_msg("%s", err.text);
        assert_int_equal(stat(conf.metrics + 5, &st), 0);
        assert_true(S_ISSOCK(st.st_mode));
        assert_int_equal(st.st_mode & 0777, cases[i].mode);
        assert_int_equal(st.st_gid, cases[i].gid);
        assert_int_equal(st.st_uid, 0);
        close(fd); /* and the next one takes its place */
    }
    strcpy(conf.metrics_group, "no such group");
    assert_int_equal(metrics_listen(&address, &conf, &err), -1);
    unlink(conf.metrics + 5);
    *strrchr(conf.metrics, '/') = '\0';
    rmdir(conf.metrics + 5);
    rmdir(dir);
}

static void test_taken_port(void **state)
{
    struct metrics_address address;
    struct berth_error err = {""};
    socklen_t length = sizeof(address.storage);
    struct conf conf;
    int first;

    (void)state;
    conf_init(&conf);
    strcpy(conf.metrics, "127.0.0.1:0");
    assert_int_equal(metrics_address(conf.metrics, &address, &err), 0);
    first = metrics_listen(&address, &conf, &err);
    assert_true(first >= 0);
    assert_int_equal(listen(first, 1), 0);
    assert_int_equal(getsockname(first, &address.any, &length), 0);
    assert_int_equal(metrics_listen(&address, &conf, &err), -1);
    assert_non_null(strstr(err.text, "in use"));
    close(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_conf),  cmocka_unit_test(test_readers),
        cmocka_unit_test(test_mode),  cmocka_unit_test(test_taken_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

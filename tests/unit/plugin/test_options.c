/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options: every word right and wrong, what errors say, and plugstack.conf's arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/options.h"

/* What a LIST means, printed by wire_options_format. */
static void test_right(void **state)
{
    static const struct {
        const char *list, *means;
    } table[] = {
        {NULL, "auto"},
        {"", "auto"},
        {"(null)", "auto"},
        {"off", "off"},
        {"auto", "auto"},
        {"observe", "observe"},
        {"isolate", "auto,isolate"},
        {"edp", "auto,edp"},
        {"size", "auto,size"},
        {"size=5", "auto,size=5"},
        {"size=0.5%", "auto,size=0.5"},
        {"size=0,cores=2-4", "auto,size=0,cores=2-4"},
        {"size=50", "auto,size=50"},
        {"observe,size", "observe,size"},
        {"spread", "auto,spread"},
        {"pack,size", "auto,size,pack"},
        {"policy=di", "auto,policy=di"},
        {"policy=contend,observe", "observe,policy=contend"},
        {"cores=2-8", "auto,cores=2-8"},
        {"cores=4", "auto,cores=4-4"},
        {"max-slowdown=5", "auto,max-slowdown=5"},
        {"max-slowdown=2.5%", "auto,max-slowdown=2.5"},
        {"max-slowdown=0", "auto,max-slowdown=0"},
        {"mem=auto", "auto,mem=auto"},
        {"mem=interleave", "auto,mem=interleave"},
        {"threads=auto", "auto,threads=auto"},
        {"threads=follow", "auto,threads=follow"},
        {"throttle", "auto,throttle=baseline"},
        {"throttle=aggressive", "auto,throttle=aggressive"},
        {"flex", "auto,flex"},
        {"flex=256", "auto,flex=256"},
        {"locks=cohort", "auto,locks=cohort"},
        {"faithful", "auto,faithful"},
        {"tranquil", "auto,tranquil"},
        {"shuffle", "auto,shuffle"},
        {"adapt", "auto,adapt"},
        {"observe,nocount", "observe,nocount"},
        {"auto,nodevice", "auto,nodevice"},
        {"prefetch=auto", "auto,prefetch=auto"},
        {"prefetch=on", "auto,prefetch=on"},
        {"prefetch=off", "auto,prefetch=off"},
        {"tag=my.prog_v2-x", "auto,tag=my.prog_v2-x"},
        {"require,verbose", "auto,require,verbose"},
        {"verbose,require,tag=t,mem=bind,policy=pain,size,edp,isolate,auto",
         "auto,isolate,edp,size,policy=pain,mem=bind,tag=t,require,verbose"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wire_options options;
        struct berth_error err = {""};
        char text[512];

        assert_int_equal(options_parse(table[i].list, &options, &err), 0);
        wire_options_format(&options, text, sizeof(text));
        assert_string_equal(text, table[i].means);
    }
}

/* A refused LIST changes nothing and says in one line what is wrong and what would be right. */
static void test_wrong(void **state)
{
    static const struct {
        const char *list, *names, *lists;
    } table[] = {
        {"autp", "'autp'", "off, auto, observe, isolate"},
        {"autp", "'autp'",
         "policy=, cores=, max-slowdown=, mem=, threads=, throttle, flex, locks=, faithful, "
         "tranquil, shuffle, adapt, nocount, nodevice, "
         "prefetch=, tag=, "
         "require, verbose, help"},
        {"autp", "'autp'", "(auto?)"},
        {"sizee=3", "'sizee=3'", "(size?)"},
        {"policy=dio-powr", "'policy=dio-powr'", "(dio-power?)"},
        {"mem=interleaved", "'mem=interleaved'", "(interleave?)"},
        {"auto,", "''", "is not one of"},
        {",auto", "''", "is not one of"},
        {"auto,,size", "''", "is not one of"},
        {"AUTO", "'AUTO'", "is not one of"},
        {" auto", "' auto'", "is not one of"},
        {"evil\n\x01line", "'evil??line'", "is not one of"},
        {"auto,observe", "'observe'", "contradicts 'auto'"},
        {"size,size", "'size'", "twice"},
        {"size,size=2", "'size=2'", "twice"},
        {"size=", "'size='", "size=PCT"},
        {"size=51", "'size=51'", "0 to 50"},
        {"size=-1", "'size=-1'", "0 to 50"},
        {"size=exact", "'size=exact'", "0 to 50"},
        {"size=2%%", "'size=2%%'", "0 to 50"},
        {"spread,pack", "'pack'", "contradicts 'spread'"},
        {"pack,size,spread", "'spread'", "contradicts 'pack'"},
        {"off,pack", "'pack'", "contradicts 'off'"},
        {"spread=2", "'spread=2'", "takes no value"},
        {"policy=di,policy=pain", "'policy=pain'", "twice"},
        {"off,verbose", "'verbose'", "contradicts 'off'"},
        {"verbose,off", "'off'", "stands alone"},
        {"auto,off", "'off'", "contradicts 'auto'"},
        {"auto=1", "'auto=1'", "takes no value"},
        {"help=me", "'help=me'", "takes no value"},
        {"policy", "'policy'", "di, dio-power, pain, sdc, animal, missrate, contend"},
        {"policy=", "'policy='", "di, dio-power"},
        {"policy=dii", "'policy=dii'", "di, dio-power"},
        {"mem=near", "'mem=near'", "auto, local, interleave, bind"},
        {"threads=8", "'threads=8'", "threads= takes one of auto"},
        {"threads", "'threads'", "threads= takes one of auto"},
        {"throttle=hard", "'throttle=hard'", "throttle= takes one of lazy, baseline, aggressive"},
        {"flex=0", "'flex=0'", "flex=N: many threads (N, 1 to 4096)"},
        {"flex=4097", "'flex=4097'", "flex=N"},
        {"locks", "'locks'", "locks= takes one of cohort"},
        {"cores", "'cores'", "cores=MIN-MAX"},
        {"cores=", "'cores='", "MIN-MAX"},
        {"cores=0", "'cores=0'", "MIN-MAX"},
        {"cores=4-2", "'cores=4-2'", "MIN-MAX"},
        {"cores=2-", "'cores=2-'", "MIN-MAX"},
        {"cores=-2", "'cores=-2'", "MIN-MAX"},
        {"cores=2-4-6", "'cores=2-4-6'", "MIN-MAX"},
        {"cores=two", "'cores=two'", "MIN-MAX"},
        {"cores=99999999999999999999", "'cores=", "MIN-MAX"},
        {"max-slowdown=-1", "'max-slowdown=-1'", "PCT"},
        {"max-slowdown=nan", "'max-slowdown=nan'", "PCT"},
        {"max-slowdown=1e3", "'max-slowdown=1e3'", "PCT"},
        {"max-slowdown=5x", "'max-slowdown=5x'", "PCT"},
        {"max-slowdown=5000", "'max-slowdown=5000'", "PCT"},
        {"tag=", "'tag='", "tag=NAME"},
        {"tag=a/b", "'tag=a/b'", "letters"},
        {"tag=0123456789012345678901234567890123456789012345678901234567890123",
         "'tag=", "less than 64"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wire_options options, before;
        struct berth_error err = {""};

        memset(&options, 0x55, sizeof(options));
        before = options;
        assert_int_equal(options_parse(table[i].list, &options, &err), -1);
        assert_memory_equal(&options, &before, sizeof(options));
        assert_non_null(strstr(err.text, "--contention-aware"));
        assert_non_null(strstr(err.text, table[i].names));
        assert_non_null(strstr(err.text, table[i].lists));
        assert_null(strchr(err.text, '\n'));
    }
}

static void test_very_long(void **state)
{
    struct wire_options options;
    struct berth_error err;
    char *list = malloc(100001);

    (void)state;
    memset(list, 'a', 100000);
    list[100000] = '\0';
    assert_int_equal(options_parse(list, &options, &err), -1);
    memset(list, ',', 100000);
    assert_int_equal(options_parse(list, &options, &err), -1);
    free(list);
}

static const char *const all_words[] = {"off",
                                        "auto",
                                        "observe",
                                        "isolate",
                                        "edp",
                                        "size[=PCT]",
                                        "spread",
                                        "pack",
                                        "policy=di",
                                        "cores=",
                                        "max-slowdown=",
                                        "mem=auto|local|interleave|bind",
                                        "threads=auto|follow",
                                        "faithful",
                                        "tranquil",
                                        "shuffle",
                                        "adapt",
                                        "nocount",
                                        "nodevice",
                                        "prefetch=auto|on|off",
                                        "tag=",
                                        "require",
                                        "verbose",
                                        "help"};

/* What only some sites allow says so. */
static void assert_sites(const char *help)
{
    static const char *const site[] = {"throttle", "flex",    "locks", "faithful",
                                       "tranquil", "shuffle", "adapt", "prefetch"};
    static const char why[] = "(only where the site allows it: allow of berth.conf)\n";
    size_t n = 0;

    for (const char *at = strstr(help, why); at; at = strstr(at + 1, why))
        n++;
    assert_int_equal(n, sizeof(site) / sizeof(site[0]));
    for (size_t i = 0; i < n; i++) {
        char begins[32];
        const char *at, *end;

        snprintf(begins, sizeof(begins), "\n  %s", site[i]);
        at = strstr(help, begins);
        assert_non_null(at);
        for (end = at + 3; strncmp(end, "\n  ", 3) != 0 || end[3] == ' ';)
            end++; /* the next word */
        assert_true(strstr(at, why) < end);
    }
}

static void test_help(void **state)
{
    struct wire_options options;
    char usage[1024], *help = NULL;
    size_t size;
    FILE *out = open_memstream(&help, &size);

    (void)state;
    assert_int_equal(options_parse("help", &options, NULL), 1);
    assert_int_equal(options_parse("auto,help", &options, NULL), 1);
    options_help(out);
    fclose(out);
    options_usage(usage, sizeof(usage));
    for (size_t i = 0; i < sizeof(all_words) / sizeof(all_words[0]); i++) {
        assert_non_null(strstr(help, all_words[i]));
        assert_non_null(strstr(usage, all_words[i]));
    }
    assert_true(strlen(usage) < sizeof(usage) - 1);
    assert_sites(help);
    assert_non_null(strstr(help, "without a value: baseline"));
    free(help);
}

static void test_site_right(void **state)
{
    static const struct {
        const char *argument;
        unsigned deadline_ms;
    } table[] = {{"deadline=50ms", 50},
                 {"deadline=0.05s", 50},
                 {"deadline=70", 70},
                 {"deadline=2s", 2000},
                 {"deadline=10s", 10000}};
    struct options_site site;

    (void)state;
    options_site_init(&site);
    assert_string_equal(site.socket, WIRE_SOCKET_DEFAULT);
    assert_int_equal(site.deadline_ms, 50);
    assert_int_equal(site.options.mode, WIRE_MODE_OFF);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_int_equal(options_site_parse(table[i].argument, &site, NULL), 0);
        assert_int_equal(site.deadline_ms, table[i].deadline_ms);
    }
    assert_int_equal(options_site_parse("socket=/x/y.sock", &site, NULL), 0);
    assert_string_equal(site.socket, "/x/y.sock");
    assert_int_equal(options_site_parse("default=observe,size", &site, NULL), 0);
    assert_int_equal(site.options.mode, WIRE_MODE_OBSERVE);
    assert_true(site.options.size);
    assert_int_equal(options_site_parse("default=off", &site, NULL), 0);
    assert_int_equal(site.options.mode, WIRE_MODE_OFF);
}

static void test_site_wrong(void **state)
{
    static const char *const table[] = {"",
                                        "sock=/x",
                                        "socket=",
                                        "socket=x.sock",
                                        "deadline=",
                                        "deadline=0",
                                        "deadline=-5",
                                        "deadline=nan",
                                        "deadline=50us",
                                        "deadline=ms",
                                        "deadline=1h",
                                        "default=help",
                                        "default=nope",
                                        "deadline=20s",
                                        "deadline"};
    char path[200] = "socket=/";
    struct options_site site, before;
    struct berth_error err;

    (void)state;
    options_site_init(&site);
    before = site;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(options_site_parse(table[i], &site, &err), -1);
    memset(path + 8, 'x', 150);
    assert_int_equal(options_site_parse(path, &site, &err), -1);
    assert_memory_equal(&site, &before, sizeof(site));
    assert_int_equal(options_site_parse("sock=/x", &site, &err), -1);
    assert_non_null(strstr(err.text, "socket=, deadline=, default="));
}

/* Words that cannot do anything beside the others are told, whatever the node is. */
static void test_vain(void **state)
{
    static const struct {
        const char *list, *text;
    } table[] = {
        {"auto,size=3,cores=2-4,policy=di,mem=bind", ""},
        {"observe,size", ""},
        {"cores=2-4", "cores= has no effect without size"},
        {"edp,policy=di", "edp has no effect beside policy="},
        {"observe,mem=bind", "mem= has no effect with observe, which changes nothing"},
        {"observe,threads=auto", "threads=auto has no effect with observe, which changes nothing"},
        {"observe,threads=follow",
         "threads=follow has no effect with observe, which changes nothing"},
        {"observe,throttle", "throttle has no effect with observe, which changes nothing"},
        {"observe,flex=8", "flex has no effect with observe, which changes nothing"},
        {"observe,locks=cohort", "locks=cohort has no effect with observe, which changes nothing"},
        {"observe,faithful", "faithful has no effect with observe, which changes nothing"},
        {"observe,tranquil", "tranquil has no effect with observe, which changes nothing"},
        {"faithful,tranquil", "tranquil has no effect beside faithful"},
        {"observe,shuffle", "shuffle has no effect with observe, which changes nothing"},
        {"observe,adapt", "adapt has no effect with observe, which changes nothing"},
        {"observe,prefetch=on", "prefetch= has no effect with observe, which changes nothing"},
        {"observe,mem=bind,cores=2", "cores= has no effect without size; mem= has no effect with "
                                     "observe, which changes nothing"},
    };
    struct wire_options options;
    struct berth_error err;
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_int_equal(options_parse(table[i].list, &options, &err), 0);
        options_vain(&options, text, sizeof(text));
        assert_string_equal(text, table[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),      cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_very_long),  cmocka_unit_test(test_help),
        cmocka_unit_test(test_site_right), cmocka_unit_test(test_site_wrong),
        cmocka_unit_test(test_vain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the profile store's import: what is refused changes nothing and is said with its
 * line; what was taken is exported as text that gives the same export again. */
#include <stdlib.h>
#include <string.h>

#include "packer/profiles/profiles.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"version\":1,\"kind\":\"profile\",\"key\":\"tag:a\",\"shape\":\"-n #\",\"geometry\":\"4x2\","
    "\"machine\":\"x; LLC 1:2\",\"source\":\"valgrind\",\"command\":\"./a\",\"measured_at\":17,"
    "\"llc_bytes\":1024,\"llc_ways\":2,\"line_bytes\":64,\"hits\":[1.5,0],\"misses\":1e3,"
    "\"misses_error\":null,\"accesses\":2,\"accesses_error\":0.5,\"instructions\":9,"
    "\"references\":8,\"truncated\":true,\"instructions_per_s\":1e9}\n",
    "{\"version\":1,\"kind\":\"sample\",\"key\":\"exe:/a#0\",\"shape\":\"()\",\"co_run\":true,"
    "\"source\":\"perf\",\"measured_at\":17,\"llc_bytes\":1,\"line_bytes\":64,\"runs\":2,"
    "\"windows\":3.5,\"seconds\":2,\"instructions\":1e9,\"rates\":{\"misses\":[1,null],"
    "\"cpus\":[0.5,0.25],\"intensity\":[0,0]}}\n\n"
    "{\"version\":1,\"kind\":\"pair\",\"key\":\"tag:a\",\"machine\":\"m\",\"beside\":[{\"key\":"
    "\"exe:/a#0\",\"cores\":2},{\"key\":\"tag:b\",\"cores\":1}],\"cores\":1,\"slowdown\":0.5,"
    "\"error\":0.1,\"windows\":3,\"seconds\":3,\"runs\":1,\"measured_at\":5}",
    "{\"version\":1,\"kind\":\"demand\",\"key\":\"tag:a\",\"demand\":{\"curve_gbps\":[0,1]}}",
    "{\"version\":1,\"kind\":\"threads\",\"key\":\"tag:a\",\"machine\":\"m\",\"cores\":4,"
    "\"threads\":6,\"environment\":true,\"measured_at\":1}",
    "{\"version\":1,\"kind\":\"binding\",\"key\":\"tag:a\",\"uid\":7,\"runs\":2,\"clean\":1,"
    "\"measured_at\":1}",
    "\n",
    NULL};

static struct profiles *empty_store(void)
{
    const char *path = fuzz_file("profiles.db", (const uint8_t *)"", 0);
    struct profiles *store;

    fuzz_assert(profiles_open(&store, path, true, NULL) == 0);
    return store;
}

static char *export(struct profiles *store, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    fuzz_assert(out && profiles_export(store, NULL, out, NULL) == 0);
    fclose(out);
    return text;
}

/* One store serves all inputs: it is empty before each. */
static void one(const uint8_t *data, size_t size)
{
    static struct profiles *store;
    struct profiles_imported imported;
    struct berth_error err = {""};
    char *text, *first, *second;
    size_t length, again;

    if (!store)
        store = empty_store();
    text = fuzz_text(data, size);
    if (profiles_import(store, 0, text, size, false, &imported, &err) < 0) {
        fuzz_assert(strncmp(err.text, "line ", 5) == 0);
        free(text);
        return;
    }
    first = export(store, &length);
    fuzz_assert(profiles_forget(store, NULL, NULL, false, NULL) >= 0);
    fuzz_assert(profiles_import(store, 0, first, length, false, &imported, &err) == 0);
    fuzz_assert(imported.kept == 0);
    second = export(store, &again);
    fuzz_assert(again == length && memcmp(first, second, length) == 0);
    fuzz_assert(profiles_forget(store, NULL, NULL, false, NULL) >= 0);
    free(text);
    free(first);
    free(second);
}

const struct fuzz_target fuzz_profile_text = {.name = "profile_text", .one = one, .seed = seeds};

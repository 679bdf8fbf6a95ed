/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of the metrics: a client's header Accept, a user's text in a label, an address. */
#include <stdlib.h>
#include <string.h>

#include "packer/conf/address.h"
#include "packer/metrics/text.h"
#include "tests/fuzz/fuzz.h"

static const char *const accept_seeds[] = {
    "*/*", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2",
    "application/openmetrics-text; charset=\"utf-8\" ; version=\"1.0.0\"", "text/*;q=0,;;=,", NULL};
static const char *const label_seeds[] = {
    "physics", "a\"b\\c\nd", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f", "\xed\xa0\x80\xff", NULL};
static const char *const address_seeds[] = {
    "off", "unix:/run/berth/metrics.sock", "127.0.0.1:9110", "[::1]:9110", "10.0.0.1:1", NULL};

static void one_accept(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    enum metrics_format format = metrics_negotiate(input);

    fuzz_assert(format == METRICS_PLAIN || format == METRICS_OPENMETRICS);
    free(input);
}

/* Whatever it is, one line comes of it, with the two quotes that the label has and no others bare.
 */
static void one_label(const uint8_t *data, size_t size)
{
    static const struct metrics_family family = {"b", METRICS_GAUGE, "", "Help."};
    char *input = fuzz_text(data, size);
    const struct metrics_label label = {"l", input};
    struct metrics_text text;
    size_t lines = 0, bare = 0;

    metrics_text_begin(&text, METRICS_PLAIN);
    metrics_text_add(&text, &family, &label, 1, 1);
    fuzz_assert(metrics_text_end(&text) == 0);
    for (size_t i = 0; i < text.used; i++) {
        unsigned char c = (unsigned char)text.text[i];

        fuzz_assert(c == '\n' || (c >= 0x20 && c != 0x7f && c < 0xf5));
        lines += c == '\n';
        bare += c == '"';
        i += c == '\\'; /* and what it escapes */
    }
    fuzz_assert(lines == 3);
    fuzz_assert(bare == (input[0] ? 2 : 0));
    free(text.text);
    free(input);
}

static void one_address(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    struct metrics_address address;
    struct berth_error err = {""};

    if (metrics_address(input, &address, &err) < 0)
        fuzz_assert(err.text[0]);
    else
        fuzz_assert(address.where == METRICS_OFF || address.length > 0);
    free(input);
}

const struct fuzz_target fuzz_metrics_accept = {
    .name = "metrics_accept", .one = one_accept, .seed = accept_seeds};
const struct fuzz_target fuzz_metrics_label = {
    .name = "metrics_label", .one = one_label, .seed = label_seeds};
const struct fuzz_target fuzz_metrics_address = {
    .name = "metrics_address", .one = one_address, .seed = address_seeds};

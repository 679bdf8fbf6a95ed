/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of wire.h: what is decoded can be encoded, and comes back the same. */
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire.h"
#include "tests/fuzz/fuzz.h"

static const char *const request_seeds[] = {
    "{\"version\":1,\"op\":\"register\",\"job\":4711,\"step\":0,\"array_job\":0,\"array_task\":0,"
    "\"uid\":1000,\"gid\":1000,\"restart\":0,\"cpus_per_task\":1,\"node\":\"vm\",\"job_cores\":\"0-"
    "1\","
    "\"step_cores\":\"0\",\"exe\":\"/usr/bin/foo\",\"hash\":\"0123456789abcdef0123456789abcdef\","
    "\"shape\":\"-n # "
    "--in=/.mtx\",\"account\":\"physics\",\"qos\":\"high\",\"partition\":\"long\",\"job_name\":\"a "
    "job\",\"cluster\":\"north\",\"nodes\":2,\"groups\":[10,4294967295],"
    "\"bound_by_hand\":false,\"user_omp_threads\":false,\"asked\":true,\"pin\":\"environment\","
    "\"pin_by\":\"OMP_PLACES\",\"pin_within\":true,\"devices\":\"gpu:0,nic:1\","
    "\"options\":{\"mode\":\"auto\",\"isolate\":false,\"edp\":true,\"size\":false,\"require\":"
    "false,\"verbose\":true,"
    "\"policy\":\"di\",\"cores_min\":1,\"cores_max\":8,\"max_slowdown_pct\":12.5,\"size_loss_pct\":"
    "4,\"mem\":\"bind\","
    "\"tag\":\"a.b-c_d\"},\"tasks\":[[0,4242],[1,4243]]}\n",
    "{\"version\":1,\"op\":\"register\",\"job\":1,\"step\":4294967291,\"uid\":0,"
    "\"options\":{\"mode\":\"off\"},\"tasks\":[[0,1]]}",
    "{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"exit_status\":256,\"user_s\":1.5,"
    "\"system_s\":0.25,\"maxrss_kib\":4096}\n",
    "{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"exit_status\":null,\"user_s\":null}\n",
    "{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"ended_s\":12.5,\"late\":{\"job\":1,"
    "\"step\":0,"
    "\"uid\":0,\"began_s\":11.25,\"options\":{\"mode\":\"off\"},\"groups\":[1],\"tasks\":[[0,1]]}}"
    "\n",
    "{\"version\":1,\"op\":\"job_end\",\"job\":1}\n",
    "{\"version\":1,\"op\":\"status\"}\n",
    "{\"version\":1,\"op\":\"release\",\"job\":1,\"step\":0,\"end\":false}\n",
    "{\"version\":1,\"op\":\"release\",\"end\":true}\n",
    "{\"version\":1,\"op\":\"propose\",\"policy\":\"p\",\"job\":1,\"step\":0,\"cpus\":\"0-3\","
    "\"task\":1}\n",
    "{\"version\":1,\"op\":\"propose\",\"policy\":\"p\",\"job\":1,\"step\":0,\"khz\":2000000,\"for_"
    "s\":1.5}\n",
    "{\"version\":1,\"op\":\"cores\"}\n",
    "{\"version\":1,\"op\":\"counters\"}\n",
    "{\"version\":1,\"op\":\"profiles\",\"key\":\"tag:a\"}\n",
    "{\"version\":1,\"op\":\"profile_put\",\"row\":{\"version\":1,\"kind\":\"demand\"},"
    "\"replace\":true}\n",
    "{\"version\":1,\"op\":\"profile_forget\",\"samples\":true}\n",
    "{\"version\":1,\"op\":\"explain\",\"job\":4711,\"step\":3}\n",
    "{\"version\":1,\"op\":\"records\"}\n",
    "{\"version\":1,\"op\":\"records\",\"since\":1,\"until\":2,\"jobs\":[[7,null],[8,4294967291]],"
    "\"users\":[\"alice\",\"1001\"],\"accounts\":[\"phys\"],\"partitions\":[\"main\"],"
    "\"nodes\":[\"n1\"],\"after\":{\"end\":5,\"start\":4,\"job\":7,\"step\":0,\"cluster\":\"c\","
    "\"node\":\"n1\",\"restart\":0}}\n",
    NULL};

static const char *const answer_seeds[] = {
    "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"DI: number 1 of 2\",\"mem\":\"auto\","
    "\"mems\":\"0\",\"env\":{\"BERTH_CPUS\":\"1\",\"BERTH_CLASS\":\"devil\"},"
    "\"tasks\":[[0,\"1\"],[1,\"2-3,8\"]]}\n",
    "{\"version\":1,\"ok\":false,\"error\":\"no\"}\n", "{\"version\":1,\"ok\":true}\n", NULL};

/* Encode what was decoded, decode and encode again: the same line. */
static void request_again(const struct wire_request *request)
{
    char *line = wire_request_encode(request), *again;
    struct wire_request back;

    if (!line)
        return; /* longer than a message: fields that were left out are spelled out */
    fuzz_assert(wire_request_decode(line, strlen(line), &back, NULL) == 0);
    again = wire_request_encode(&back);
    fuzz_assert(again && strcmp(line, again) == 0);
    free(again);
    free(line);
    wire_request_clear(&back);
}

static void one_request(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct wire_request request;

    if (wire_request_decode((const char *)data, size, &request, &err) < 0) {
        fuzz_assert(err.text[0]);
        return;
    }
    fuzz_assert(request.op != WIRE_OP_REGISTER || (request.reg.ntasks > 0 && request.reg.task));
    request_again(&request);
    wire_request_clear(&request);
}

static void answer_again(const struct wire_answer *answer)
{
    char *line = wire_answer_encode(answer), *again;
    struct wire_answer back;

    fuzz_assert(line);
    fuzz_assert(wire_answer_decode(line, strlen(line), &back, NULL) == 0);
    again = wire_answer_encode(&back);
    fuzz_assert(again && strcmp(line, again) == 0);
    free(again);
    free(line);
    wire_answer_clear(&back);
}

static void one_answer(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct wire_answer answer;

    if (wire_answer_decode((const char *)data, size, &answer, &err) < 0) {
        fuzz_assert(err.text[0] && !answer.task && answer.ntasks == 0);
        return;
    }
    fuzz_assert(answer.nenv <= WIRE_ENV_MAX);
    answer_again(&answer);
    wire_answer_clear(&answer);
}

const struct fuzz_target fuzz_wire_request = {
    .name = "wire_request", .one = one_request, .seed = request_seeds};
const struct fuzz_target fuzz_wire_answer = {
    .name = "wire_answer", .one = one_answer, .seed = answer_seeds};

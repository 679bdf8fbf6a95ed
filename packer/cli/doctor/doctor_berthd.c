/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_berthd - what the running berthd says of itself: whether it answers, whether it places
 * steps, and what it found by its own rights. See doctor.h. */
#include <stdio.h>
#include <string.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/doctor/doctor.h"
#include "packer/cli/node/outage.h"
#include "packer/cli/node/silence.h"

/* Adds ": CAP_BPF, CAP_PERFMON missing" to what was found, where that does not say so. */
static void append_missing(struct doctor_row *row, struct json_object *feature)
{
    size_t used = strlen(row->found);
    struct json_object *list;

    if (!json_object_object_get_ex(feature, "missing", &list) ||
        !json_object_is_type(list, json_type_array) || strstr(row->found, "CAP_"))
        return;
    for (size_t i = 0; i < json_object_array_length(list) && used < sizeof(row->found); i++)
        used += (size_t)snprintf(
            row->found + used, sizeof(row->found) - used, "%s%s",
            i ? ", " : ": missing: ", json_object_get_string(json_object_array_get_idx(list, i)));
}

/* Adds "berthd: taskstats" and the like: what the running daemon found, by its own rights. */
static void add_feature(struct doctor *doctor, struct json_object *feature)
{
    const char *state = ctl_text(feature, "state");
    bool denied = strcmp(state, "not allowed") == 0;
    char row[sizeof(doctor->row[0].name)];

    snprintf(row, sizeof(row), "berthd: %s", ctl_text(feature, "name"));
    doctor_add(doctor, row,
               denied                      ? DOCTOR_WARN
               : strcmp(state, "on") == 0  ? DOCTOR_OK
               : strcmp(state, "off") == 0 ? DOCTOR_OFF
                                           : DOCTOR_ABSENT,
               denied ? "the running berthd is not allowed to: berthd(8), PRIVILEGES"
               : strcmp(state, "off") == 0 ? "as berth.conf, or how berthd was started, says"
                                           : "the running berthd does without",
               "%.300s", ctl_text(feature, "say"));
    if (denied)
        append_missing(&doctor->row[doctor->n - 1], feature);
}

static void add_features(struct doctor *doctor, struct json_object *node)
{
    struct json_object *list;

    if (!json_object_object_get_ex(node, "features", &list) ||
        !json_object_is_type(list, json_type_array))
        return; /* an older berthd */
    doctor->told = json_object_array_length(list) > 0;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        add_feature(doctor, json_object_array_get_idx(list, i));
        if (strcmp(doctor->row[doctor->n - 1].name, "berthd: placement") == 0)
            doctor_essential(doctor);
    }
}

/* Does berthd draw jobs that it only observes? */
static bool trial_is_on(struct json_object *node)
{
    struct json_object *list = ctl_object(node, "features");

    for (size_t i = 0; i < ctl_length(list); i++) {
        struct json_object *feature = json_object_array_get_idx(list, i);

        if (strcmp(ctl_text(feature, "name"), "trial") == 0)
            return strcmp(ctl_text(feature, "state"), "on") == 0;
    }
    return false; /* an older berthd */
}

/* Tells of steps that berthd could not place, one after the other. */
static void check_refused(struct doctor *doctor, struct json_object *node)
{
    double n = ctl_number(node, "refused_in_a_row");
    const char *why = ctl_text(node, "refused_why");

    if (n > 0)
        doctor_add(doctor, "berthd: steps", DOCTOR_WARN, "steps run where Slurm puts them",
                   "the last %.0f could not be placed: %.250s", n,
                   why[0] ? why : "berthd's log says why");
}

/* Tells what berthd does by itself, and warns where a wide step would notice. */
static void check_silence(struct doctor *doctor, struct json_object *node)
{
    char text[256];
    double longer = silence_say(node, text, sizeof(text));

    if (text[0])
        doctor_add(doctor, "berthd: silence", longer > SILENCE_MOST ? DOCTOR_WARN : DOCTOR_OK,
                   "a step that waits for its slowest node takes longer: berth-guide(7), SILENCE",
                   "%s", text);
}

/* Warns of launches that berthd missed: each was a step that nobody placed. */
static void check_missed(struct doctor *doctor, struct json_object *node)
{
    char text[256];

    if (outage_missed(node, text, sizeof(text)))
        doctor_add(doctor, "berthd: launches", DOCTOR_WARN,
                   "these steps ran where Slurm had put them: spank_berth(8), FAILURES", "%s",
                   text);
}

/* Tells whether root has released the node, which else looks well. */
static void check_released(struct doctor *doctor, struct json_object *node)
{
    bool released = ctl_true(node, "released");

    doctor_add(doctor, "berthd: release", released ? DOCTOR_ABSENT : DOCTOR_OK,
               "new steps stay where Slurm puts them, until: berthctl release --end", "%s",
               released ? "root has released the node" : "root has not released the node");
    doctor_essential(doctor);
}

/* Says that no berthd answers, without the advice to ask doctor. */
static void say_no_answer(struct doctor *doctor, const char *why)
{
    const char *advice = strstr(why, CTL_ASK_DOCTOR);

    doctor_add(doctor, "berthd", DOCTOR_ABSENT,
               "steps start where Slurm puts them: start berthd, and see its log", "%.*s",
               advice ? (int)(advice - why) : 300, why);
    doctor_essential(doctor);
}

void doctor_berthd(struct doctor *doctor)
{
    struct wire_request request = {.op = WIRE_OP_STATUS};
    const char *socket = doctor->socket ? doctor->socket : doctor->conf.socket;
    struct json_object *answer, *node;
    struct berth_error err;

    answer = ctl_ask(socket, &request, &err);
    if (!answer) {
        say_no_answer(doctor, err.text);
        return;
    }
    node = ctl_object(answer, "node");
    doctor_add(doctor, "berthd", DOCTOR_OK, "", "%s at %s: %s, %.0f steps", ctl_text(node, "berth"),
               socket, ctl_text(node, "enforcement"), ctl_number(node, "steps"));
    doctor_essential(doctor);
    check_released(doctor, node);
    check_refused(doctor, node);
    check_missed(doctor, node);
    check_silence(doctor, node);
    add_features(doctor, node);
    if (trial_is_on(node))
        doctor_trial(doctor);
    json_object_put(answer);
}

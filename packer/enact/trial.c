/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trial - see trial.h */
#include "packer/enact/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/base/path_owner.h"
#include "packer/base/siphash.h"
#include "packer/steps/stage.h"

#define KEY_NAME "control.key"
#define KEY_TEXT (2 * SIPHASH_KEY) /* as hexadecimal digits */
#define FILE_MOST 4096

struct trial {
    bool known; /* there is a key: */
    uint8_t key[SIPHASH_KEY];
    bool shared; /* it is that of several nodes */
    char why[256];
};

/* ---- the key ---- */

static void key_path(const struct packer *packer, char path[PATH_MAX])
{
    const struct conf *conf = &packer->world.conf;

    if (conf->control_key[0])
        snprintf(path, PATH_MAX, "%s", conf->control_key);
    else
        snprintf(path, PATH_MAX, "%.*s/" KEY_NAME, PATH_MAX - 32, conf->state_dir);
}

/* Reads 32 hexadecimal digits; what follows them has to be blank. */
static bool key_parse(const char *text, uint8_t key[SIPHASH_KEY])
{
    if (strspn(text, "0123456789abcdefABCDEF") != KEY_TEXT ||
        text[KEY_TEXT + strspn(text + KEY_TEXT, " \r\n")])
        return false;
    for (size_t i = 0; i < SIPHASH_KEY; i++) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};

        key[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

/* Whoever can read the key knows whom the lot takes, and whoever can write it says whom. */
static int check_owner(const char *path, struct berth_error *err)
{
    struct stat st;

    if (path_owner_check(path, err) < 0)
        return -1;
    if (stat(path, &st) < 0)
        return berth_error_set(err, "%.180s: %s", path, strerror(errno));
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return berth_error_set(err, "%.180s: mode %04o: it must be 0600", path,
                               (unsigned)st.st_mode & 07777);
    return 0;
}

static int key_read(const char *path, uint8_t key[SIPHASH_KEY], struct berth_error *err)
{
    struct berth_error why;
    char *text;
    bool is_key;

    if (check_owner(path, err) < 0)
        return -1;
    text = file_read(path, FILE_MOST, NULL, &why);
    if (!text)
        return berth_error_set(err, "%.180s: %.60s", path, why.text);
    is_key = key_parse(text, key);
    free(text);
    return is_key ? 0 : berth_error_set(err, "%.180s: 32 hexadecimal digits expected", path);
}

static int key_make(const char *path, struct berth_error *err)
{
    char text[KEY_TEXT + 2];
    uint8_t key[SIPHASH_KEY];

    if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
        return berth_error_set(err, "no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < SIPHASH_KEY; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
    strcat(text, "\n");
    if (file_replace(path, 0600, FILE_FIRST, text, strlen(text)) < 0 && errno != EEXIST)
        return berth_error_set(err, "%.180s: %s", path, strerror(errno));
    return 0;
}

/* Without a key nobody is drawn, and all are placed: berthd runs on. */
static void key_find(const struct packer *packer)
{
    struct trial *trial = packer->state->trial;
    struct berth_error err = {""};
    char path[PATH_MAX];
    bool own = !packer->world.conf.control_key[0];

    if (!trial || trial->known || !(packer->world.conf.control > 0))
        return;
    key_path(packer, path);
    if ((own && access(path, F_OK) < 0 && key_make(path, &err) < 0) ||
        key_read(path, trial->key, &err) < 0) {
        snprintf(trial->why, sizeof(trial->why), "%.250s", err.text);
        log_warn("no step is drawn for the trial (control of berth.conf): %s", err.text);
        return;
    }
    trial->known = true;
    trial->shared = !own;
    trial->why[0] = '\0';
}

/* ---- the lot ---- */

/* Returns the job's number in the lot, from 0 to less than 1. */
static double lot_of(const struct trial *trial, uint32_t job)
{
    uint8_t byte[4];

    for (size_t i = 0; i < sizeof(byte); i++) /* the same on all nodes, whatever their processor */
        byte[i] = (uint8_t)(job >> 8 * i);
    return (double)(siphash(trial->key, byte, sizeof(byte)) >> 11) / (double)(1ull << 53);
}

bool trial_runs(const struct packer *packer, bool *nodes, const char **why)
{
    const struct trial *trial = packer->state->trial;
    bool wanted = packer->world.conf.control > 0;

    *why = trial && wanted ? trial->why : "";
    if (nodes)
        *nodes = trial && trial->shared;
    return trial && trial->known && wanted;
}

bool trial_takes(const struct packer *packer, struct step *step)
{
    const struct wire_register *request = &step->request;
    const char *why;
    bool nodes, control;

    step->enacted.trial = STEP_NO_TRIAL;
    if (request->asked || !trial_runs(packer, &nodes, &why) || (request->nodes > 1 && !nodes))
        return false;
    control = 100 * lot_of(packer->state->trial, request->id.job) < packer->world.conf.control;
    step->enacted.trial = control ? STEP_CONTROL : STEP_TREATED;
    return control;
}

/* ---- the stage ---- */

static int open_trial(const struct packer *packer, struct berth_error *err)
{
    packer->state->trial = calloc(1, sizeof(*packer->state->trial));
    if (!packer->state->trial)
        return berth_no_memory(err);
    key_find(packer);
    return 0;
}

static void close_trial(const struct packer *packer)
{
    free(packer->state->trial);
    packer->state->trial = NULL;
}

const struct stage trial_stage = {
    .name = "trial",
    .open = open_trial,
    .close = close_trial,
    .configure = key_find,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_step - how steps are named: "4711.0", "4711.batch", "4711.0+1" (wire.h). */
#include "packer/wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t step;
    const char *name;
} special_step[] = {{WIRE_STEP_BATCH, "batch"},
                    {WIRE_STEP_EXTERN, "extern"},
                    {WIRE_STEP_INTERACTIVE, "interactive"}};

#define SPECIAL_STEPS (sizeof(special_step) / sizeof(special_step[0]))

/* The first bit, 7 bits of the component and 24 of the step; below Slurm's own numbers. */
#define HET_FIRST 0x80000000u
#define HET_END 0xff000000u
#define HET_SHIFT 24
#define HET_STEPS (1u << HET_SHIFT)

uint32_t wire_step_component(uint32_t step, uint32_t component)
{
    if (step >= HET_STEPS || component >= (HET_END - HET_FIRST) >> HET_SHIFT)
        return UINT32_MAX;
    return HET_FIRST | component << HET_SHIFT | step;
}

static bool is_component(uint32_t step)
{
    return step >= HET_FIRST && step < HET_END;
}

uint32_t wire_step_number(uint32_t step)
{
    return is_component(step) ? step % HET_STEPS : step;
}

void wire_step_name(struct wire_step_id id, char name[WIRE_STEP_NAME_MAX])
{
    if (id.step == UINT32_MAX) {
        snprintf(name, WIRE_STEP_NAME_MAX, "%u", id.job);
        return;
    }
    for (size_t i = 0; i < SPECIAL_STEPS; i++)
        if (special_step[i].step == id.step) {
            snprintf(name, WIRE_STEP_NAME_MAX, "%u.%s", id.job, special_step[i].name);
            return;
        }
    if (is_component(id.step))
        snprintf(name, WIRE_STEP_NAME_MAX, "%u.%u+%u", id.job, id.step % HET_STEPS,
                 (id.step - HET_FIRST) >> HET_SHIFT);
    else
        snprintf(name, WIRE_STEP_NAME_MAX, "%u.%u", id.job, id.step);
}

/* Read a whole unsigned number of digits only. */
static int parse_u32(const char *text, uint32_t *number)
{
    unsigned long long value;
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || *end || value > UINT32_MAX)
        return -1;
    *number = (uint32_t)value;
    return 0;
}

/* Reads "0+1". */
static int parse_component(const char *text, const char *plus, uint32_t *step)
{
    uint32_t whole, component, number;
    char digits[16];

    if ((size_t)(plus - text) >= sizeof(digits))
        return -1;
    memcpy(digits, text, (size_t)(plus - text));
    digits[plus - text] = '\0';
    if (parse_u32(digits, &whole) < 0 || parse_u32(plus + 1, &component) < 0)
        return -1;
    number = wire_step_component(whole, component);
    if (number == UINT32_MAX)
        return -1;
    *step = number;
    return 0;
}

static int parse_step(const char *text, uint32_t *step)
{
    const char *plus = strchr(text, '+');

    for (size_t i = 0; i < SPECIAL_STEPS; i++)
        if (strcmp(text, special_step[i].name) == 0) {
            *step = special_step[i].step;
            return 0;
        }
    return plus ? parse_component(text, plus, step) : parse_u32(text, step);
}

int wire_step_parse(const char *text, struct wire_step_id *id)
{
    const char *dot = strchr(text, '.');
    size_t length = dot ? (size_t)(dot - text) : strlen(text);
    struct wire_step_id read = {.step = UINT32_MAX};
    char job[16];

    if (length == 0 || length >= sizeof(job))
        goto wrong;
    memcpy(job, text, length);
    job[length] = '\0';
    if (parse_u32(job, &read.job) < 0 || (dot && parse_step(dot + 1, &read.step) < 0))
        goto wrong;
    *id = read;
    return 0;
wrong:
    errno = EINVAL;
    return -1;
}

int wire_step_of_title(const char *title, struct wire_step_id *id)
{
    static const char before[] = "slurmstepd: [";
    char name[WIRE_STEP_NAME_MAX];
    size_t length;

    if (strncmp(title, before, strlen(before)) != 0)
        return -1;
    title += strlen(before);
    length = strcspn(title, "] ");
    if (!title[length] || length >= sizeof(name))
        return -1;
    memcpy(name, title, length);
    name[length] = '\0';
    return strchr(name, '.') ? wire_step_parse(name, id) : -1;
}

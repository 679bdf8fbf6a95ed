/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_rows - adds rows to the list, and asks programs for their version. See doctor.h. */
#include <stdarg.h>
#include <stdio.h>

#include "packer/cli/doctor/doctor.h"
#include "packer/system/run_program.h"

#define RUN_S 3.0

void doctor_add(struct doctor *doctor, const char *name, enum doctor_state state,
                const char *without, const char *format, ...)
{
    struct doctor_row *row = &doctor->row[doctor->n];
    va_list args;

    if (doctor->n == sizeof(doctor->row) / sizeof(doctor->row[0]))
        return;
    *row = (struct doctor_row){.state = state, .without = without};
    snprintf(row->name, sizeof(row->name), "%s", name);
    va_start(args, format);
    vsnprintf(row->found, sizeof(row->found), format, args);
    va_end(args);
    doctor->n++;
}

void doctor_essential(struct doctor *doctor)
{
    doctor->row[doctor->n - 1].essential = true;
}

int doctor_run(const char *const *argv, char *text, size_t size)
{
    int status = run_program((char *const *)argv, RUN_FIRST_OUTPUT, RUN_S, NULL, text, size);

    return status == 0 && text[0] ? 0 : -1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - which program a step runs: what people call it, and what the profile store knows it by.
 */
#ifndef BERTH_STEPS_PROGRAM_H
#define BERTH_STEPS_PROGRAM_H

#include "packer/steps/packer.h"

/* Returns the last element of the executable's path; "" when the executable is not known. */
const char *program_command(const struct wire_register *request);

/* Says whether the step is berthctl's: it is not registered, so nobody is placed for it, nothing is
 * billed, and no record has it. Who gives his program that name wins nothing: after
 * STRANGERS_ASKS_S at the latest nobody of the pool stands on its cores. */
bool program_asks(const struct wire_register *request);

/* Returns the tag that the user gave, else the command. */
const char *program_name(const struct wire_register *request);

/* Fills in the key that the profile is stored under: the tag's, else the executable's; "" when
 * neither is known. */
void program_key(const struct step *step, char key[PROFILE_KEY_MAX]);

/* The live step's program is one of the node's from now on: fills in step->program. */
void program_begin(const struct packer *packer, struct step *step);

/* The live step's program turned out to be this one, whose arguments are not known: what it is
 * called, and its hash ("": it has no key). 0, or -1 without memory: nothing has changed. */
int program_found(const struct packer *packer, struct step *step, const char *exe,
                  const char *hash);

/* Asks the store for the program's profile, as a launch does: 1 found, 0 not, -1 and err. Also when
 * a run of it was last seen to bind its threads (profiles_get_bound). */
int program_profile(const struct packer *packer, const struct step *step, struct profile *profile,
                    int64_t *bound_at, struct berth_error *err);

/* Gets the program's stack-distance profile in the same way. */
int program_distances(const struct packer *packer, const struct step *step, struct profile *profile,
                      struct berth_error *err);

/* Asks the store for the program's best sample that knows the rate: 1 found, 0 not, -1 and err. */
int program_sample(const struct packer *packer, const struct step *step, enum profile_rate rate,
                   struct profile_sample *sample, struct berth_error *err);

/* Begins a sample without figures, under the identity that a launch asks for. Its key is "" when
 * the program is not known. */
void program_sample_init(const struct packer *packer, const struct step *step, const char *source,
                         struct profile_sample *sample);

#endif

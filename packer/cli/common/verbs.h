/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs - the verbs of berthctl that are no part's (verb.h), as its table has them.
 *
 * Every verb is `int ctl_VERB(int argc, char **argv)` with argv[0] the verb; it returns berthctl's
 * exit status: 0 done, 1 not, 2 usage. */
#ifndef BERTH_CLI_COMMON_VERBS_H
#define BERTH_CLI_COMMON_VERBS_H

#include <stddef.h>

int ctl_completion(int argc, char **argv);
const char *ctl_completion_shell(size_t i); /* the i-th shell; NULL: no more */

int ctl_status(int argc, char **argv);
int ctl_top(int argc, char **argv);
int ctl_blackboard(int argc, char **argv);
int ctl_explain(int argc, char **argv);
int ctl_job(int argc, char **argv);
int ctl_record(int argc, char **argv);
int ctl_release(int argc, char **argv);
int ctl_report(int argc, char **argv);
int ctl_doctor(int argc, char **argv);

#endif

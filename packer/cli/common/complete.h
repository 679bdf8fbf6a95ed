/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete - what a shell has to find by itself, as `berthctl complete` says it. */
#ifndef BERTH_CLI_COMMON_COMPLETE_H
#define BERTH_CLI_COMMON_COMPLETE_H

#define COMPLETE_FILES ":files"
#define COMPLETE_JOBS ":jobs"
#define COMPLETE_COMMANDS ":commands"

#endif

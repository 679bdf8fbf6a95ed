/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find_ledger - the ledger's records of steps, told as berthd explains them. */
#ifndef BERTH_CLI_FIND_FIND_LEDGER_H
#define BERTH_CLI_FIND_FIND_LEDGER_H

#include <json-c/json.h>

#include "packer/cli/common/job_id.h"
#include "packer/conf/conf.h"

/* Adds to the list the steps that are meant and that no element has by its id already. Returns 0,
 * or -1 and err: the ledger cannot be read. */
int find_ledger(const struct conf *conf, const struct job_id *id, struct json_object *steps,
                struct berth_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_nomariadb - in the place of sql/mariadb.c where libmariadb was not found: URLs are known, and
 * said not to be built in (sql_check_url). */
#include "packer/sql/sql_way.h"

const struct sql_way sql_mariadb = {.name = "MariaDB"};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_bill - see render_bill.h */
#include "packer/daemon/render_bill.h"

#include <math.h>

#include "packer/base/json.h"
#include "packer/bill/bill.h"

static double joules(uint64_t uj)
{
    return (double)uj * 1e-6;
}

/* NAN where the meter has never told of anything. */
static double account_j(const struct bill_account *account, uint64_t uj)
{
    return account->counts || account->metered_uj ? joules(uj) : NAN;
}

struct json_object *render_accounts(const struct packer *packer)
{
    struct json_object *list = json_object_new_array(), *object;
    struct bill_account account;
    struct energy_zone zone;

    for (size_t i = 0; bill_zone(packer, i, &zone, &account); i++) {
        object = json_object_new_object();
        json_add_text(object, "domain", energy_domain_name[zone.domain]);
        json_add(object, "package",
                 zone.domain == ENERGY_NODE ? NULL : json_object_new_uint64(zone.package));
        json_add_text(object, "source", zone.source);
        json_add(object, "counts", json_object_new_boolean(account.counts));
        json_add_measure(object, "metered_j", account_j(&account, account.metered_uj));
        json_add_measure(object, "steps_j", account_j(&account, account.steps_uj));
        json_add_measure(object, "idle_j", account_j(&account, account.idle_uj));
        json_add_measure(object, "unmanaged_j", account_j(&account, account.unmanaged_uj));
        json_add_u64(object, "gaps", account.gaps);
        json_add_text(object, "idle_energy", conf_idle_energy_name[packer->world.conf.idle_energy]);
        json_append(list, object);
    }
    return list;
}

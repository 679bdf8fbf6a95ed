/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_bill - see render_bill.h */
#include "packer/daemon/render_bill.h"

#include <math.h>

#include "models/energy/edp.h"
#include "packer/base/json.h"
#include "packer/bill/bill.h"
#include "packer/observe/usage.h"
#include "packer/steps/step_counts.h"
#include "enum_table.h"

static double joules(uint64_t uj)
{
    return (double)uj * 1e-6;
}

double render_energy_j(const struct step *step)
{
    uint64_t uj;

    return bill_total(step, &uj) ? joules(uj) : NAN;
}

struct json_object *render_bill(const struct step *step)
{
    struct json_object *object = json_object_new_object();
    const struct step_bill *bill = &step->bill;
    double energy_j = render_energy_j(step), s = observe_elapsed_s(step);
    double per_s = s > 0 ? energy_j / s : NAN, speed = step_counts_run(step, RATE_INSTRUCTIONS);
    uint64_t idle_uj;

    json_add_measure(object, "energy_j", energy_j);
    for (size_t d = 0; d < ENERGY_DOMAINS; d++) {
        static const char *const TABLE(key, ENERGY_DOMAINS) = {ROW(ENERGY_PACKAGE) = "package_j",
                                                               ROW(ENERGY_DRAM) = "dram_j",
                                                               ROW(ENERGY_NODE) = "node_j"};
        TABLE_COMPLETE(key);

        json_add_measure(object, key[d], bill->known[d] ? joules(bill->uj[d]) : NAN);
    }
    json_add_measure(object, "power_w", per_s);
    json_add_measure(object, "edp", edp_classic(energy_j, s));
    json_add_measure(object, "edp_per_instruction",
                     speed > 0 ? edp_per_instruction(energy_j, s, speed * s) : NAN);
    json_add_text(object, "source", bill->source[0] ? bill->source : NULL);
    json_add_text(object, "by", bill->by[0] ? bill->by : NULL);
    json_add_u64(object, "gaps", bill->gaps);
    json_add_measure(object, "idle_j", bill_idle(step, &idle_uj) ? joules(idle_uj) : NAN);
    json_add_text(object, "idle_energy",
                  isnan(energy_j) ? NULL : conf_idle_energy_name[bill->idle]);
    return object;
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
        json_add_text(object, "idle_energy", conf_idle_energy_name[packer->conf.idle_energy]);
        json_append(list, object);
    }
    return list;
}

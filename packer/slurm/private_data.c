/* SPDX-License-Identifier: GPL-2.0-or-later */
/* private_data - see private_data.h. */
#include "packer/slurm/private_data.h"

#include "packer/base/text.h"
#include "packer/slurm/slurm_conf.h"

int private_data_of(const char *path, struct berth_error *err)
{
    static const char *const hiding[] = {"jobs", "nodes", "usage", "all"};
    char value[512] = "";

    if (slurm_conf_value(path, "PrivateData", value, sizeof(value), err) < 0)
        return -1;
    for (char *c = value; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    for (size_t i = 0; i < sizeof(hiding) / sizeof(hiding[0]); i++)
        if (text_lists(value, hiding[i]))
            return 1;
    return 0;
}

bool private_data_hides(const struct conf *conf)
{
    struct berth_error err;
    int hides;

    if (conf->private_data != CONF_PRIVATE_SLURM)
        return conf->private_data == CONF_PRIVATE_ON;
    hides = private_data_of(slurm_conf_path(conf), &err);
    if (hides < 0)
        log_info("users are told nothing of others' steps: PrivateData of Slurm is not known: %s",
                 err.text);
    return hides != 0;
}

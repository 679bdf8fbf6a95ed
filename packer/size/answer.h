/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_answer - asks the model how many cores each step shall use, and takes an answer that is
 * worth it. */
#ifndef BERTH_SIZE_ANSWER_H
#define BERTH_SIZE_ANSWER_H

#include "packer/size/sizing.h"

enum size_found {
    SIZE_FOUND_NOTHING, /* nobody's `chosen` is filled */
    SIZE_FOUND_KEPT,    /* who runs keeps what he uses; the newcomer has the best beside them */
    SIZE_FOUND_TOGETHER,
};

/* Fills in `chosen` of all that the model was asked about. Running steps change only where that
 * saves a core, or makes all together faster by more than the machine profile can tell. A launch
 * waits together_s of size_impl.h for the answer about all, and patience_s for its own; where
 * nobody waits, unhurried_s is for all. *proven: no other answer is better; where it is not, and
 * there is a newcomer, all are to be asked again. err: why nothing was found. */
enum size_found size_answer_find(struct sizings *all, const struct size_model *model, bool *proven,
                                 struct berth_error *err);

#endif

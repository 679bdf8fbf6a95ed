/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memories - what the memories count of all who run, while a step is alone. */
#ifndef BERTH_SIZE_MEMORIES_H
#define BERTH_SIZE_MEMORIES_H

#include "packer/size/measuring.h"

/* Divides remote[] by what each memory gave to cores of other nodes, and enters the reads. Returns
 * false, with nothing changed, where that is not counted or somebody else worked. */
bool memories_divide_reads(struct measuring *m);

/* Enters the reads by what the memories count alone: cores that are alike share what is remote.
 * Returns whether they count it. */
bool memories_tell_reads(struct measuring *m);

/* Enters the writes by what the memories count, divided as the reads are; else there are none. */
void memories_tell_writes(struct measuring *m);

/* Fills traffic->dram with what the requests found in the row buffers (Wang 2015, Table 4.3), where
 * that is counted. */
void memories_tell_rows(struct measuring *m);

#endif

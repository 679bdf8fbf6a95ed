/* SPDX-License-Identifier: GPL-2.0-or-later */
/* comment - a job's figures in its AdminComment, beside whatever others have written there.
 *
 * The figures are one JSON object, and always the member "berth" of one: by itself where the
 * comment was empty, among the other members where it was a JSON object, and behind the text and a
 * blank where it was anything else. So a reader finds them in the same way everywhere, and whoever
 * writes them again replaces them. */
#ifndef BERTH_SETTLE_COMMENT_H
#define BERTH_SETTLE_COMMENT_H

#include "packer/base/error.h"

/* Longer comments are not written: slurmdbd's column is TEXT. */
#define COMMENT_MAX 65535

/* The comment with these figures (the text of a JSON object) in it; nothing else of it is changed.
 * old may be NULL. The caller frees it. NULL and err: the figures are no JSON object, the comment
 * would be too long, out of memory. */
char *comment_merge(const char *old, const char *figures, struct berth_error *err);

#endif

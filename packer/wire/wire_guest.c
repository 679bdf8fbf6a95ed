/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_guest - see wire_guest.h */
#include "packer/wire/wire_guest.h"

#include <stdio.h>
#include <string.h>

void wire_guest_write(const struct wire_guest *guest, char line[WIRE_GUEST_LINE_MAX])
{
    char on[CPUS_TEXT_MAX], home[CPUS_TEXT_MAX];

    line[0] = '\0';
    if (cpus_empty(&guest->on) || cpus_empty(&guest->home) || guest->dir[0] != '/' ||
        strpbrk(guest->dir, " \n") || cpus_format(&guest->on, on, sizeof(on)) < 0 ||
        cpus_format(&guest->home, home, sizeof(home)) < 0)
        return;
    snprintf(line, WIRE_GUEST_LINE_MAX, "%s %s %s\n", on, home, guest->dir);
}

/* Copies the next word of the line, and goes behind it. False: there is none, or it is too long. */
static bool next_word(const char **at, char *word, size_t size)
{
    size_t length = strcspn(*at, " \n");

    if (length == 0 || length >= size)
        return false;
    memcpy(word, *at, length);
    word[length] = '\0';
    *at += length + ((*at)[length] == ' ');
    return true;
}

bool wire_guest_read(const char *line, struct wire_guest *guest)
{
    char on[CPUS_TEXT_MAX], home[CPUS_TEXT_MAX];

    return next_word(&line, on, sizeof(on)) && next_word(&line, home, sizeof(home)) &&
           next_word(&line, guest->dir, sizeof(guest->dir)) && guest->dir[0] == '/' &&
           cpus_parse(&guest->on, on) == 0 && cpus_parse(&guest->home, home) == 0 &&
           !cpus_empty(&guest->home);
}

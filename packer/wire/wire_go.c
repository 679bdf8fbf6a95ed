/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_go - see wire_calls_impl.h.
 *
 * A program of Go calls the kernel itself and is linked statically, so it imports nothing. But each
 * names its functions in a table that not even a stripped program lacks (.gopclntab; its header is
 * that of Go 1.18 and later), and only what can be called is linked. What binds by the number of
 * the system call, for which there is no function, has that number in its code: it is looked for as
 * a constant. */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire_calls_impl.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SECTIONS_MAX 256
#define SECTION_NAMES_MAX (64u << 10)
#define NAMES_MAX (8u << 20) /* of functions */
#define CODE_MAX (16u << 20) /* takes 10 ms */

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

/* The beginning of .gopclntab. */
struct table {
    uint32_t magic;
    uint8_t zero[2], least_instruction, pointer_bytes;
    uint64_t functions, files, text, names_at, names_end;
};

/* What is called. Any part of a function's name counts. */
static const struct {
    const char *text;
    enum wire_pin pin;
} called[] = {
    {"SchedSetaffinity", WIRE_PIN_CALLS}, {"SchedGetaffinity", WIRE_PIN_CALLS},
    {"SchedSetAttr", WIRE_PIN_CALLS},     {"SetMempolicy", WIRE_PIN_CALLS},
    {"PtraceAttach", WIRE_PIN_CALLS},     {"syscall.forkExec", WIRE_PIN_STARTS},
    {"syscall.Exec", WIRE_PIN_STARTS},    {"unix.Exec", WIRE_PIN_STARTS},
    {"plugin.Open", WIRE_PIN_STARTS},     {"purego.Dlopen", WIRE_PIN_STARTS},
};

/* Functions of C are linked into it, and nobody knows what they call where all is static. */
static const char c_code[] = "_cgo";

/* mov $203,%eax and movq $203,(%rsp): sched_setaffinity(2) of x86-64 as the first argument of
 * syscall.Syscall() and the like, in registers and on the stack. */
static const char *const bind_code[] = {"\xb8\xcb\0\0\0", "\x48\xc7\x04\x24\xcb\0\0\0"};
static const size_t bind_code_bytes[] = {5, 8};

struct sections {
    Elf64_Shdr *section; /* malloc'd */
    size_t sections;
    char *names; /* malloc'd */
    size_t names_bytes;
};

static void sections_read(struct sections *all, int fd, const Elf64_Ehdr *header)
{
    size_t got;

    memset(all, 0, sizeof(*all));
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > SECTIONS_MAX ||
        header->e_shstrndx >= header->e_shnum)
        return;
    all->section = (Elf64_Shdr *)(void *)wire_object_read_at(
        fd, (long)header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr), &got);
    if (!all->section || got != header->e_shnum * sizeof(Elf64_Shdr) ||
        all->section[header->e_shstrndx].sh_size > SECTION_NAMES_MAX)
        return;
    all->names = wire_object_read_at(fd, (long)all->section[header->e_shstrndx].sh_offset,
                                     all->section[header->e_shstrndx].sh_size, &all->names_bytes);
    all->sections = all->names ? header->e_shnum : 0;
}

static void sections_free(struct sections *all)
{
    free(all->section);
    free(all->names);
}

/* Returns the section whose name ends so; NULL: there is none. */
static const Elf64_Shdr *find_section(const struct sections *all, const char *end)
{
    for (size_t i = 0; i < all->sections; i++) {
        const Elf64_Shdr *section = &all->section[i];
        const char *name = section->sh_name < all->names_bytes ? all->names + section->sh_name : "";
        size_t length = strlen(name), its = strlen(end);

        if (length >= its && strcmp(name + length - its, end) == 0)
            return section;
    }
    return NULL;
}

/* What the names of so many bytes say, each of which ends with a NUL. */
static struct wire_calls calls_of_names(const char *names, size_t length, bool is_static)
{
    if (is_static && memmem(names, length, c_code, strlen(c_code)))
        return wire_calls_say(WIRE_PIN_UNREAD, "");
    for (size_t i = 0; i < COUNT(called); i++)
        if (memmem(names, length, called[i].text, strlen(called[i].text)))
            return wire_calls_say(called[i].pin, called[i].text);
    return wire_calls_none;
}

static struct wire_calls calls_of_table(int fd, const Elf64_Shdr *section, bool is_static)
{
    struct wire_calls calls = {WIRE_PIN_UNREAD, ""};
    size_t got = 0, names_got = 0;
    char *head = wire_object_read_at(fd, (long)section->sh_offset, sizeof(struct table), &got);
    const struct table *table = (const struct table *)(void *)head;
    char *names = NULL;

    if (got == sizeof(*table) && (table->magic == MAGIC_1_18 || table->magic == MAGIC_1_20) &&
        table->names_at < table->names_end && table->names_end <= section->sh_size &&
        table->names_end - table->names_at <= NAMES_MAX)
        names = wire_object_read_at(fd, (long)(section->sh_offset + table->names_at),
                                    table->names_end - table->names_at, &names_got);
    if (names && names_got == table->names_end - table->names_at)
        calls = calls_of_names(names, names_got, is_static);
    free(names);
    free(head);
    return calls;
}

static struct wire_calls calls_of_code(int fd, const Elf64_Shdr *section)
{
    struct wire_calls calls = {WIRE_PIN_UNREAD, ""};
    size_t got = 0;
    char *code = NULL;

    if (section && section->sh_size <= CODE_MAX)
        code = wire_object_read_at(fd, (long)section->sh_offset, section->sh_size, &got);
    if (code && got == section->sh_size)
        calls = wire_calls_none;
    for (size_t i = 0; i < COUNT(bind_code) && calls.pin == WIRE_PIN_NONE; i++)
        if (memmem(code, got, bind_code[i], bind_code_bytes[i]))
            calls = wire_calls_say(WIRE_PIN_CALLS, "sched_setaffinity");
    free(code);
    return calls;
}

bool wire_calls_of_go(int fd, struct wire_calls *calls)
{
    size_t length;
    char *head = wire_object_read_at(fd, 0, sizeof(Elf64_Ehdr), &length);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)head;
    const Elf64_Shdr *table = NULL;
    struct sections all = {0};

    if (header && length == sizeof(*header) && memcmp(head, ELFMAG, SELFMAG) == 0 &&
        header->e_ident[EI_CLASS] == ELFCLASS64) {
        sections_read(&all, fd, header);
        table = find_section(&all, ".gopclntab");
    }
    if (table && header->e_machine != EM_X86_64)
        *calls = wire_calls_say(WIRE_PIN_UNREAD, "");
    else if (table)
        *calls = calls_of_table(fd, table, !find_section(&all, ".interp"));
    if (table && calls->pin == WIRE_PIN_NONE)
        *calls = calls_of_code(fd, find_section(&all, ".text"));
    sections_free(&all);
    free(head);
    return table != NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* completion - `berthctl completion SHELL` prints a script by which a shell asks `berthctl complete
 * WORD..`, which --help does not show, what the last of these words may be: common/complete.c. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/nearest.h"
#include "packer/cli/common/complete.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/options/options.h"
#include "packer/cli/common/verbs.h"

static const struct shell {
    const char *name, *script;
} shells[] = {
    {"bash", "# bash completion of berthctl (berthctl completion bash)\n"
             "_berthctl() {\n"
             "    local word words= cur=${COMP_WORDS[COMP_CWORD]}\n"
             "    COMPREPLY=()\n"
             "    while IFS=$'\\t' read -r word _; do\n"
             "        case $word in\n"
             "        " COMPLETE_FILES ") compopt -o default 2>/dev/null ;;\n"
             "        " COMPLETE_COMMANDS
             ") [ -z \"$cur\" ] || mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n"
             "        " COMPLETE_JOBS
             ") words=\"$words $(squeue -h -u \"$(id -un)\" -o %i 2>/dev/null)\" ;;\n"
             "        *) words=\"$words $word\" ;;\n"
             "        esac\n"
             "    done < <(berthctl complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
             "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
             "}\n"
             "complete -F _berthctl berthctl\n"},
    {"zsh",
     "#compdef berthctl\n"
     "# zsh completion of berthctl (berthctl completion zsh)\n"
     "_berthctl() {\n"
     "    local line\n"
     "    local -a found\n"
     "    for line in \"${(@f)$(berthctl complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
     "        case $line in\n"
     "        " COMPLETE_FILES ") _files ;;\n"
     "        " COMPLETE_COMMANDS ") _command_names -e ;;\n"
     "        " COMPLETE_JOBS
     ") compadd -- ${(f)\"$(squeue -h -u $(id -un) -o %i 2>/dev/null)\"} ;;\n"
     "        *) found+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
     "        esac\n"
     "    done\n"
     "    _describe berthctl found\n"
     "}\n"
     "_berthctl \"$@\"\n"},
    {"fish", "# fish completion of berthctl (berthctl completion fish)\n"
             "function __berthctl_complete\n"
             "    set -l words (commandline -opc) (commandline -ct)\n"
             "    for line in (berthctl complete $words[2..] 2>/dev/null)\n"
             "        switch $line\n"
             "            case " COMPLETE_FILES "\n"
             "                __fish_complete_path (commandline -ct)\n"
             "            case " COMPLETE_COMMANDS "\n"
             "                complete -C (commandline -ct)\n"
             "            case " COMPLETE_JOBS "\n"
             "                squeue -h -u (id -un) -o %i 2>/dev/null\n"
             "            case '*'\n"
             "                echo $line\n"
             "        end\n"
             "    end\n"
             "end\n"
             "complete -c berthctl -f -a '(__berthctl_complete)'\n"},
};

const char *ctl_completion_shell(size_t i)
{
    return i < sizeof(shells) / sizeof(shells[0]) ? shells[i].name : NULL;
}

static const struct ctl_options options = {
    .verb = "completion",
    .synopsis = "bash | zsh | fish",
    .about =
        "Print the script by which a shell completes berthctl's command line: packages install\n"
        "it. To have it in a shell of your own: source <(berthctl completion bash)",
    .least = 1,
    .most = 1,
    .takes = "one of bash, zsh, fish",
};

int ctl_completion(int argc, char **argv)
{
    int status = ctl_options_read(&options, argc, argv, NULL);
    struct nearest nearest;
    char meant[NEAREST_SAY_MAX];

    if (status >= 0)
        return status;
    nearest = nearest_begin(argv[optind]);
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        nearest_try(&nearest, shells[i].name);
        if (strcmp(argv[optind], shells[i].name) == 0)
            return fputs(shells[i].script, stdout) < 0;
    }
    return ctl_usage("completion", "%s: no such shell%s; one of: bash, zsh, fish", argv[optind],
                     nearest_say(&nearest, meant));
}

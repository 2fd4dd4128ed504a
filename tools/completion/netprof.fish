# Completion of netprof for fish. Commands and options come from the program itself (netprof --list-options), so that
# they are always those of the installed version.

# What an option takes: "all|fast", a list of "cxi,netdev,...", FILE, DIR, GROUP, ...; nothing is completed for numbers and patterns.
function __netprof_values --argument-names program takes current
    switch $takes
        case '*|*'
            string split '|' -- $takes
        case FILE
            __fish_complete_path $current
        case DIR
            __fish_complete_directories $current
        case '*,*'
            set -l head (string match -r '.*,' -- $current)
            for word in (string split , -- $takes)
                string match -q "*,$word,*" -- ",$head"; or echo $head$word
            end
        case GROUP
            echo list
            $program diff --group list 2>/dev/null | awk 'NR > 1 { print $1 }'
    end
end

# What the option takes, by the list of the command's options; nothing when it takes nothing.
function __netprof_takes --argument-names program command option
    $program --list-options $command 2>/dev/null | awk -F '\t' -v option=$option '$1 == option { print $2 }'
end

# Where the command of netprof run begins among the words, if it does.
function __netprof_run_command --argument-names program
    set -l words $argv[2..-1]
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                math $i + 1
                return
            case '-*=*'
            case '-*'
                test -n "$(__netprof_takes $program run $words[$i])"; and set i (math $i + 1)
            case '*'
                echo $i
                return
        end
        set i (math $i + 1)
    end
end

function __netprof_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -l command $words[2]
    if test (count $words) -eq 1
        $program --list-options 2>/dev/null
        printf '%s\n' --help --version
        return
    end
    if test "$command" = help
        test (count $words) -eq 2; and $program --list-options 2>/dev/null
        return
    end
    if test "$command" = run
        set -l begin (__netprof_run_command $program $words)
        if test -n "$begin"
            test $begin -gt (count $words); and complete -C "$current"
            test $begin -le (count $words); and __fish_complete_path $current
            return
        end
    end
    set -l takes (__netprof_takes $program $command $words[-1])
    if test -n "$takes"
        __netprof_values $program $takes $current
        return
    end
    switch $current
        case '--*=*'
            set -l option (string replace -r '=.*' '' -- $current)
            set -l takes (__netprof_takes $program $command $option)
            test -n "$takes"; and __netprof_values $program $takes (string replace -r '^[^=]*=' '' -- $current) |
                string replace -r '^' -- "$option="
        case '-*'
            $program --list-options $command 2>/dev/null | string replace -r '\t.*' ''
            printf '%s\n' --help -h
        case '*'
            test "$command" = run; and complete -C "$current"; or __fish_complete_path $current
    end
end

complete -c netprof -f -a '(__netprof_complete)'

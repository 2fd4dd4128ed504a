# Completion of netprof for bash. Commands and options come from the program itself (netprof --list-options), so that
# they are always those of the installed version. Needs nothing of the package bash-completion.

# Files, with what readline does for them: a slash behind directories, quotes where needed.
_netprof_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_netprof_words() {
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# A list by commas: the words that are not yet in it.
_netprof_list() {
    local head='' word words=''
    [[ $2 == *,* ]] && head=${2%,*},
    for word in $1; do
        [[ ,$head == *,"$word",* ]] || words+=" $head$word"
    done
    _netprof_words "$words" "$2"
}

# What an option takes: "all|fast", a list of "cxi,netdev,...", FILE, DIR, GROUP, ...; nothing is completed for numbers and patterns.
_netprof_value() {
    local takes=$1 current=$2 program=$3
    case $takes in
    *'|'*) _netprof_words "${takes//|/ }" "$current" ;;
    FILE) _netprof_files -f "$current" ;;
    DIR) _netprof_files -d "$current" ;;
    *,*) _netprof_list "${takes//,/ }" "$current" ;;
    GROUP) _netprof_words "list $("$program" diff --group list 2>/dev/null | awk 'NR > 1 { print $1 }')" "$current" ;;
    esac
}

_netprof() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} i word
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _netprof_words "$("$program" --list-options 2>/dev/null) --help --version" "$current"
        return
    fi
    if [[ $command == help ]]; then
        _netprof_words "$("$program" --list-options 2>/dev/null)" "$current"
        return
    fi

    # Options of the command and what they take.
    local -A takes=([--help]='' [-h]='')
    while IFS=$'\t' read -r word i; do
        [[ -n $word ]] && takes[$word]=$i
    done < <("$program" --list-options "$command" 2>/dev/null)

    # The first word that is no option: behind it, netprof run completes another program's arguments.
    local first='' value=''
    for ((i = 2; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == -- ]]; then
            first=$((i + 1))
        elif [[ $word == '=' ]]; then
            value=yes
            continue
        elif [[ $word == -* && -z $value ]]; then
            [[ -n ${takes[$word]-} ]] && value=yes || value=''
            continue
        elif [[ -z $value ]]; then
            first=$i
        fi
        value=''
        [[ -n $first ]] && break
    done
    if [[ $command == run && -n $first ]]; then
        if ((COMP_CWORD == first)); then
            _netprof_files -c "$current"
        else
            _netprof_files -f "$current"
        fi
        return
    fi

    # "--set=fa" is three words here, "--set fa" is two.
    local option=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $current == '=' ]]; then
        current=''
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ -n ${takes[$option]-} ]]; then
        _netprof_value "${takes[$option]}" "$current" "$program"
    elif [[ $current == -* ]]; then
        _netprof_words "${!takes[*]}" "$current"
    elif [[ $command == run ]]; then
        _netprof_files -c "$current"
    else
        _netprof_files -f "$current"
    fi
}

complete -F _netprof netprof

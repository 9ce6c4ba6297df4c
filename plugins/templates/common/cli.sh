#!/bin/sh
# A stand-in for a CLI coding agent: it reads its prompt from standard input and prints JSON lines. It uses
# shell built-ins only. Replace it with your own CLI (`program` in proxy.toml), and then delete it.
#
# The last line of the prompt is a command:
#   use NAME WORDS         calls a tool
#   fail KIND [SECONDS]    fails: rate_limit, login or other
#   fail other WORDS       fails with this message
#   anything else          is repeated, word by word
set -fu

tab=$(printf '\t')
session="session-$$"
while [ $# -gt 0 ]; do
    case $1 in
        --model) shift 2 ;;
        --resume) session=$2; shift 2 ;;
        --read-only) shift ;;
        *) echo "{{name}}-cli: unknown argument $1" >&2; exit 2 ;;
    esac
done

# Sets `quoted` to the text as the content of a JSON string.
quote() {
    rest=$1 quoted=
    while :; do
        plain=${rest%%[\\\"[:cntrl:]]*}
        quoted=$quoted$plain
        [ "$plain" != "$rest" ] || return 0
        rest=${rest#"$plain"}
        after=${rest#?}
        special=${rest%"$after"}
        rest=$after
        case $special in
            \\ | \") quoted=$quoted\\$special ;;
            "$tab") quoted=$quoted\\t ;;
            *) quoted=$quoted$(printf '\\u%04x' "'$special") ;;
        esac
    done
}

# Prints each word with the spaces before it, so that the pieces add up to the whole.
say() {
    left=$1
    while [ -n "$left" ]; do
        spaces=${left%%[! ]*}
        word=${left#"$spaces"}
        word=${word%% *}
        left=${left#"$spaces$word"}
        quote "$spaces$word"
        printf '{"type":"text","text":"%s"}\n' "$quoted"
        said=$((said + 1))
    done
}

prompt= words=0 said=0
while IFS= read -r line || [ -n "$line" ]; do
    prompt=$line
    # shellcheck disable=SC2086 # to count its words
    set -- $line
    words=$((words + $#))
done

quote "$session"
printf '{"type":"session","id":"%s"}\n' "$quoted"

case $prompt in
    "fail "*)
        kind=${prompt#fail }
        seconds=${kind#* }
        kind=${kind%% *}
        [ "$kind" = rate_limit ] && [ "$seconds" = "$kind" ] && seconds=90
        case $seconds in
            *[!0-9]*) [ "$seconds" = "$kind" ] && words= || words=": $seconds" ;;
            *) words= ;;
        esac
        quote "{{name}}-cli was asked to fail: $kind$words"
        message=$quoted
        quote "$kind"
        kind=$quoted
        case $seconds in
            "" | *[!0-9]*) wait= ;;
            *) wait=",\"retry_after\":$seconds" ;;
        esac
        printf '{"type":"error","kind":"%s","message":"%s"%s}\n' "$kind" "$message" "$wait"
        echo "{{name}}-cli: failed" >&2
        exit 1
        ;;
    "use "*)
        tool=${prompt#use }
        quote "${tool%% *}"
        name=$quoted
        quote "${tool#* }"
        printf '{"type":"tool","id":"call-1","name":"%s","input":{"text":"%s"}}\n' "$name" "$quoted"
        printf '{"type":"result","id":"call-1","output":"%s, as it was asked"}\n' "$name"
        say "I used ${tool%% *}."
        ;;
    *) say "$prompt" ;;
esac

printf '{"type":"usage","input":%d,"output":%d}\n' "$words" "$said"
printf '{"type":"done"}\n'

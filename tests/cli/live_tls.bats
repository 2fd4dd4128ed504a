#!/usr/bin/env bats
# netprof head and agent over TLS: who has not the right certificate is refused.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-head" ] || skip "no netprof-head"
    command -v nats-server >/dev/null || skip "no nats-server"
    command -v openssl >/dev/null || skip "no openssl"
    cd "$BATS_TEST_TMPDIR" || return
    make_certificates
}

teardown() {
    kill $(jobs -p) 2>/dev/null || true
    wait
}

make_certificates() {
    local name
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca 2>/dev/null
    for name in IP:127.0.0.1 DNS:elsewhere.example DNS:node; do
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "${name##*:}.key" -out request -subj /CN=x 2>/dev/null
        printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$name" >extensions
        openssl x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -out "${name##*:}.pem" -days 2 \
            -extfile extensions 2>/dev/null
    done
}

# start_head NAME OPTION...: sets url and NETPROF_TOKEN.
start_head() {
    local name=$1
    shift
    netprof head --dir "$name" --listen 127.0.0.1:0 "$@" >"$name.out" 2>"$name.err" 3>&- &
    wait_until 60 grep -q NETPROF_TOKEN= "$name.out"
    url=$(grep -oE '(tls|nats)://[0-9.:]+' "$name.out")
    NETPROF_TOKEN=$(sed -n 's/^NETPROF_TOKEN=\([0-9a-f]*\) .*/\1/p' "$name.out")
    export NETPROF_TOKEN
}

# start_agent NAME URL OPTION...
start_agent() {
    local name=$1 url=$2
    shift 2
    netprof agent --head "$url" --spool "$name" --node "$name" --sources self --interval 100ms --send-every 100ms "$@" \
        >"$name.log" 2>&1 3>&- &
}

is_taken() { # HEAD AGENT
    grep -q "\"node\":\"$2\"" "$1/status.json"
}

is_refused() { # HEAD AGENT: it says so after 5 s
    wait_until 60 grep -q 'no server there, or it refuses' "$2.log"
    ! is_taken "$1" "$2"
}

@test "agents take only a server with a certificate of its name that they trust; without TLS nothing goes" {
    start_head plain --tls-cert 127.0.0.1.pem --tls-key 127.0.0.1.key
    [[ $url == tls://* ]]
    start_agent good "$url" --tls-ca ca.pem
    start_agent distrusts "$url"
    start_agent bare "${url/tls/nats}"
    start_head wrong --tls-cert elsewhere.example.pem --tls-key elsewhere.example.key
    start_agent elsewhere "$url" --tls-ca ca.pem
    start_head mutual --tls-cert 127.0.0.1.pem --tls-key 127.0.0.1.key --tls-ca ca.pem
    grep -q -- ' --tls-ca FILE --tls-cert FILE --tls-key FILE' mutual.out
    start_agent known "$url" --tls-ca ca.pem --tls-cert node.pem --tls-key node.key
    start_agent nobody "$url" --tls-ca ca.pem
    wait_until 60 is_taken plain good
    wait_until 60 is_taken mutual known
    is_refused plain distrusts
    is_refused plain bare
    is_refused wrong elsewhere
    is_refused mutual nobody
}

@test "options that do not go together, and files that are not there" {
    run netprof head --dir h --tls-cert node.pem
    [ "$status" -eq 2 ]
    run netprof head --dir h --tls-ca ca.pem
    [ "$status" -eq 2 ]
    run netprof agent --head tls://127.0.0.1:1 --spool s --tls-key node.key
    [ "$status" -eq 2 ]
    run netprof head --dir h --listen 127.0.0.1:0 --tls-cert node.pem --tls-key none.key
    [ "$status" -eq 3 ]
    [[ $output == *'none.key: --tls-key: No such file'* ]]
    run netprof agent --head tls://127.0.0.1:1 --spool s --tls-ca none.pem -d 1s
    [ "$status" -eq 3 ]
}

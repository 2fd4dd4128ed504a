#!/usr/bin/env bats
# netprof watch: plain text, and the real program on a terminal (tmux) with what stands on it.

load common

setup() {
    [ -x "$NETPROF_TEST_BIN/netprof-watch" ] || skip 'netprof-watch was not built (ncurses)'
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    [ ! -S "$BATS_TEST_TMPDIR/tmux" ] || tmux -S "$BATS_TEST_TMPDIR/tmux" kill-server 2>/dev/null || true
    # shellcheck disable=SC2086
    if [ -n "${background-}" ]; then kill $background 2>/dev/null || true; fi
}

# ---- plain text ----

@test "plain: a pipe gets a block for each look, without control characters" {
    netprof watch --count 3 --interval 50ms --sources netdev,cpu,memory >out 2>err
    [ ! -s err ]
    [ "$(grep -c '^netprof watch ' out)" -eq 3 ]
    [ "$(grep -c '^$' out)" -eq 2 ]
    grep -qE '^CPU +[0-9<]' out
    grep -qE '^Memory +[0-9.]+ .?i?B of ' out
    grep -qE '^lo .*B/s +[0-9.]+ .?B/s +-' out
    refute env LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out
    [ "$(netprof watch --once --interval 20ms --sources cpu | grep -c '^netprof watch ')" -eq 1 ]
}

@test "plain: known bytes over veth are the rates that are shown" {
    unshare --net --mount-proc --pid --fork true 2>/dev/null || skip 'needs root and network namespaces'
    # 400 frames of 1000 bytes with their header of Ethernet, over as many looks as it takes.
    cat >inside <<'END'
blocks() { grep -c '^netprof watch ' out || true; }
wait_for_blocks() { # or a minute; who sums up the rates notices
    i=0
    while [ "$(blocks)" -lt "$1" ] && [ $i -lt 1200 ]; do i=$((i + 1)); sleep 0.05; done
}
ip link set lo up
ip link add left type veth peer name right
ip link set left up; ip link set right up
sleep 0.3 # what IPv6 has to say at the start
: >out
netprof watch --interval 500ms --sources netdev --include 'left,right' >out &
watch=$!
wait_for_blocks 1
python3 - <<'PYTHON'
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("left", 0))
for _ in range(400):
    s.send(b"\x02" * 12 + b"\x88\xb5" + bytes(986))
PYTHON
wait_for_blocks $(($(blocks) + 2))
kill $watch
wait $watch
END
    unshare --net bash -e inside || skip 'no veth here'
    cat out
    # Bytes: the rates times the intervals. A few packets of IPv6 may come beside them, and three digits are shown.
    for way in left:4 right:2; do
        awk -v device="${way%:*}" -v column="${way#*:}" '
            /^netprof watch/ { for (i = 1; i < NF; i++) if ($i == "over") t = $(i + 1) / ($(i + 2) == "ms" ? 1000 : 1) }
            $1 == device {
                unit = $(column + 1)
                sum += $column * t * (unit ~ /^k/ ? 1000 : unit ~ /^M/ ? 1e6 : 1)
            }
            END { print device, sum; exit !(sum > 396000 && sum < 410000) }' out
    done
}

# looked COUNT: so many times at least, by now.
looked() {
    [ "$(grep -c '^netprof watch ' out)" -ge "$1" ]
}

# watched COMMAND…: the plain text of a tree in which the command changes something between two looks goes to out.
watched() {
    netprof watch --root "$PWD/tree" --interval 200ms >out &
    background=$!
    wait_until 60 looked 1
    "$@"
    wait_until 60 looked $(($(grep -c '^netprof watch ' out) + 2))
    kill "$background"
    wait "$background"
    cat out
}

@test "plain: what cannot be read is '?', never 0, and hostile names are escaped" {
    device=$'cxi0\033]0;title\007'
    make_nic tree "$device" hni_sts_tx_ok_octets=5 hni_sts_rx_ok_octets=7
    change() {
        printf '%-63s\n' 'no number' 1<>"tree/sys/class/cxi/$device/device/telemetry/hni_sts_rx_ok_octets"
        set_counter tree "$device" hni_sts_tx_ok_octets 2000005 2
    }
    watched change
    # 2 MB in 2 seconds by the device's own stamps.
    grep -qF 'cxi0\x1b]0;title\x07' out
    grep -qE '^cxi0\S+ +\? +1\.00 MB/s +\?' out
    refute env LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out
}

@test "plain: errors and findings are named with their status word" {
    make_nic tree cxi0 hni_sts_tx_ok_octets=5 hni_sts_rx_ok_octets=7 hni_pcs_uncorrected_cw=0
    watched set_counter tree cxi0 hni_pcs_uncorrected_cw 12 1
    grep -qE '^error  cxi0 hni_pcs_uncorrected_cw \+12 codewords' out
    grep -qE '^(Warning|Serious|Critical): ' out
    grep -qE '^(warn|high|critical) +cxi0: ' out
}

@test "TERM=dumb on a terminal: plain text" {
    command -v tmux >/dev/null || skip 'needs tmux'
    tmux -S "$PWD/tmux" -f /dev/null new-session -d -x 80 -y 24 \
        "TERM=dumb netprof watch --count 2 --interval 100ms --sources cpu >/dev/tty; echo ended; sleep 60"
    wait_for 'ended'
    [ "$(grep -c '^netprof watch ' screen)" -eq 2 ]
    refute grep -q 'q quit' screen
}

# ---- a recording that grows ----

@test "a growing file: what its recorder sees, and its end" {
    make_nic tree cxi0 hni_sts_tx_ok_octets=0 hni_sts_rx_ok_octets=0
    # 1 MB a second by the device's stamps, a reading each 100 ms.
    (i=0; while sleep 0.1; do i=$((i + 1)); set_counter tree cxi0 hni_sts_tx_ok_octets "${i}000000" "$i"; done) &
    background=$!
    netprof record -q -o r.netprof --root "$PWD/tree" --interval 100ms --duration 5m --job none --stop-file stop &
    recorder=$!
    background="$background $recorder"
    wait_for_readings r.netprof 1
    netprof watch --interval 200ms r.netprof >out &
    watch=$!
    background="$background $watch"
    # What was received has no later stamp.
    has_rates() { looked 3 && grep -qE '^cxi0 +\? +1\.00 MB/s' out; }
    wait_until 60 has_rates
    touch stop
    wait "$recorder"
    wait "$watch"
    tail -n 30 out
    [ "$(grep -cE '^netprof watch .* r\.netprof \(ended\)$' out)" -eq 1 ]
    run netprof watch missing.netprof
    [ "$status" -eq 3 ]
    [[ $output == *missing.netprof* ]]
    echo 'something else altogether' >other.netprof
    run netprof watch other.netprof
    [ "$status" -eq 3 ]
}

# ---- on a terminal ----

shows() {
    tmux -S "$PWD/tmux" capture-pane -p >screen
    local pattern
    for pattern; do
        grep -qE -e "$pattern" screen || return 1
    done
}

# wait_for PATTERN…: until the screen (kept in the file screen) shows them at once. 'q quit' is what is drawn last.
wait_for() {
    wait_until 60 shows "$@" || { cat screen; return 1; }
}

keys() {
    tmux -S "$PWD/tmux" send-keys "$@"
}

# start SIZE COMMAND…: on a terminal of this size; behind its end stands its exit status.
start() {
    command -v tmux >/dev/null || skip 'needs tmux'
    tmux -S "$PWD/tmux" -f /dev/null new-session -d -x "${1%x*}" -y "${1#*x}" \
        "stty -a >before; ${*:2}; echo \"status \$?\"; stty -a >after; cat"
}

make_nodes() {
    local i
    for i in $(seq 0 "$1"); do
        make_nic tree "cxi$i" "hni_sts_tx_ok_octets=0" hni_sts_rx_ok_octets=0
    done
}

@test "80x24: every part fits, keys do what they say, the terminal comes back" {
    make_nodes 30
    start 80x24 netprof watch --interval 100ms --root tree
    wait_for '^cxi0 ' 'q quit'
    [ "$(wc -l <screen)" -eq 24 ]
    head -n 1 screen | grep -q '^netprof watch '
    sed -n 2p screen | grep -q '^unknown: Could not be judged: ' # these NICs tell no time
    tail -n 1 screen | grep -q 'q quit'
    grep -qE '^DEVICE +RECEIVED +OF LINE +SENT +OF LINE +LINE +PKTS/s' screen
    refute grep -q '^cxi30 ' screen # below the edge
    keys End
    wait_for '^cxi30 '
    refute grep -q '^DEVICE' screen
    keys Home
    wait_for '^DEVICE'
    keys p
    wait_for 'PAUSED'
    keys p s
    wait_for 'sort \(by rate\)'
    keys '?'
    wait_for 'this help and back'
    keys '?'
    wait_for '^cxi0 '
    keys q
    wait_for '^status 0'
    wait_until 60 [ -s after ]
    cmp before after
    refute grep -q '^DEVICE' screen # the picture from before
}

@test "sizes: small, large and back, while it runs" {
    make_nodes 2
    start 80x24 netprof watch --interval 100ms --root tree
    wait_for '^cxi0 '
    tmux -S "$PWD/tmux" resize-window -x 30 -y 6
    wait_for '^DEVICE'
    [ "$(wc -L <screen)" -le 30 ]
    tmux -S "$PWD/tmux" resize-window -x 1 -y 1
    sleep 0.3
    tmux -S "$PWD/tmux" resize-window -x 200 -y 50
    wait_for 'q quit  \? help'
    wait_for '^cxi2 '
    [ "$(wc -l <screen)" -eq 50 ]
    keys q
    wait_for '^status 0'
}

@test "signals end it and bring the terminal back" {
    make_nodes 1
    for signal in TERM HUP INT; do
        rm -f after before tmux
        start 80x24 "netprof watch --interval 100ms --root tree & echo \$! >pid; fg >/dev/null 2>&1 || wait \$!"
        i=0
        while ! wait_for '^cxi0 |^status' || [ ! -s pid ]; do i=$((i + 1)); [ $i -lt 3 ]; done
        kill -"$signal" "$(cat pid)"
        wait_for '^status 0'
        wait_until 60 [ -s after ]
        cmp before after
        tmux -S "$PWD/tmux" kill-server
        rm -f pid
    done
}

@test "NO_COLOR: no colour on the terminal, the words stay" {
    make_nic tree cxi0 hni_sts_tx_ok_octets=0 hni_pcs_uncorrected_cw=0
    (while sleep 0.1; do i=$((i + 5)); set_counter tree cxi0 hni_pcs_uncorrected_cw "$i" "$i"; done) &
    background=$!
    start 80x24 "NO_COLOR=1 netprof watch --interval 200ms --root tree"
    wait_for '^error  cxi0 hni_pcs_uncorrected_cw'
    tmux -S "$PWD/tmux" capture-pane -p -e >screen
    refute grep -qP '\x1b\[[0-9;]*3[0-7]' screen
    keys q
    wait_for '^status 0'
}

# ---- history, processes, CPUs, several recordings, seeking ----

@test "processes and CPUs: who took the processor, by name and number; hostile names are escaped" {
    name=$'b\033]0;x\007y'
    cp "$(command -v sh)" "$name"
    "./$name" -c 'while :; do :; done' &
    background=$!
    took() { netprof watch --once --interval 500ms >out && grep -qE "^ *$background +[0-9.<]+ % +[0-9.]+ .?i?B  b\\\\x1b\]0;x\\\\x07y\$" out; }
    wait_until 60 took
    refute env LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out
    netprof watch --once --interval 100ms --sources cpu >out
    refute grep -q '^    PID' out
    netprof watch --once --interval 500ms --per-cpu --sources cpu >out
    grep -qE '^Cores .* busiest cpu[0-9]+: [0-9.<]+ %' out
}

# recorded FILE COUNT: a recording of one NIC, a second a reading, that sends 1 MB/s, 2 MB/s, ... (of its own stamps).
recorded() {
    local i sum=0
    make_nic tree cxi0 hni_sts_tx_ok_octets=0 hni_sts_rx_ok_octets=0
    netprof collect -q --root tree --sources cxi -o one.json
    python3 - "$1" "$2" <<'END'
import json, sys
path, count = sys.argv[1], int(sys.argv[2])
document = json.load(open("one.json"))
for facts in (document.get("facts", {}), document["schemas"][0]["facts"]):
    facts["host"], facts["boot_id"] = path.split(".")[0], "11111111-2222-3333-4444-555555555555"
device = document["schemas"][0]["devices"][0]
device["counters"] = [{"counter": n, "unit": "bytes", "kind": "counter", "width_bits": 64, "scale": 1, "flags": ["fast"]}
                      for n in ("hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets")]
s, sent = document["snapshots"][0], 0
document["snapshots"] = []
for i in range(count + 1):
    # the last one right behind the one before, as a recording is closed
    t = 1000 * 10**9 + (i * 10**9 if i < count else (count - 1) * 10**9 + 1000000)
    sent += i * 1000000 if i < count else 7
    document["snapshots"].append(dict(s, monotonic_begin_ns=t, monotonic_end_ns=t, time_ns=1700000000 * 10**9 + t, devices=[dict(device=device["device"],
        source="cxi", monotonic_begin_ns=t, monotonic_end_ns=t, values={"hni_sts_rx_ok_octets": 0, "hni_sts_tx_ok_octets": sent})]))
json.dump(document, open("new.json", "w"))
END
    netprof convert new.json "$1"
}

@test "history: the bars rise with the rate, and what closes a recording is no rate" {
    recorded n1.netprof 61
    start 80x24 netprof watch n1.netprof
    wait_for '^HISTORY OF 59 s' '^cxi0 sent ' 'q quit'
    # 60 rates, 1 to 60 MB/s: never falling, from the lowest to the highest block
    bars=$(sed -n 's/^cxi0 sent *\(.*\) most .*/\1/p' screen | tr -d ' ')
    grep -qE '^cxi0 sent .* most 60\.0 MB/s' screen
    [ "$bars" = "$(grep -o . <<<"$bars" | sort | tr -d '\n')" ]
    [[ $bars == ▁*█ ]]
    [ "$(grep -o . <<<"$bars" | sort -u | wc -l)" -eq 8 ]
    refute grep -q '^cxi0 received' screen # nothing moved there
    grep -qE '^cxi0 .* (59\.9|60\.0) MB/s' screen # over 1.001 s
    for size in 40x10 200x60; do
        tmux -S "$PWD/tmux" resize-window -x "${size%x*}" -y "${size#*x}"
        wide() { shows 'q quit' && [ "$(wc -l <screen)" -eq "${size#*x}" ] && [ "$(wc -L <screen)" -le "${size%x*}" ]; }
        wait_until 60 wide
    done
    wait_for '^HISTORY OF 59 s' '^cxi0 sent '
    keys q
    wait_for '^status 0'
}

@test "seek: each reading of a recording can be shown, and its end again" {
    recorded n1.netprof 131
    start 80x24 netprof watch n1.netprof
    wait_for '130 MB/s' '\(ended\)'
    keys Left
    wait_for 'reading 131 of 132' '^cxi0 .* 130 MB/s'
    keys Left
    wait_for 'reading 130 of 132' '^cxi0 .* 129 MB/s'
    keys '<'
    wait_for 'reading 70 of 132' '^cxi0 .* 69\.0 MB/s'
    keys '<' '<' Left
    wait_for 'reading 2 of 132' '^cxi0 .* 1\.00 MB/s'
    keys Right
    wait_for 'reading 3 of 132' '^cxi0 .* 2\.00 MB/s'
    keys '>'
    wait_for 'reading 63 of 132' '^cxi0 .* 62\.0 MB/s' '^HISTORY OF 61 s'
    keys l
    wait_for '^cxi0 .* 130 MB/s'
    refute grep -q 'reading ' screen
    keys q
    wait_for '^status 0'
    gzip n1.netprof # packed it is the same
    packed=n1.netprof.gz
    if command -v zstd; then
        gzip -dc n1.netprof.gz | zstd -q -o n1.netprof.zst
        packed="$packed n1.netprof.zst"
    fi
    for file in $packed; do
        start 80x24 netprof watch "$file"
        wait_for '130 MB/s' '\(ended\)' "$file"
        keys Left
        wait_for 'reading 131 of 132' '^cxi0 .* 130 MB/s'
        keys q
        wait_for '^status 0'
    done
}

@test "a directory of 16 recordings that grow: a line each, one of them with Enter, and back" {
    mkdir nodes
    for i in $(seq 10 25); do
        netprof record -q --job none --sources cpu,memory --interval 100ms -d 5m --stop-file stop -o "nodes/n$i.netprof" &
        background="${background-} $!"
    done
    for i in $(seq 10 25); do wait_for_readings "nodes/n$i.netprof" 3; done
    start 80x24 netprof watch --interval 200ms nodes
    wait_for '^netprof watch 16 recordings' '^>n10 +[0-9.<]+ % +[0-9.]+ %' '^ n25 +[0-9.<]+ %' '\? help' 'Enter shows one'
    [ "$(grep -cE '^[> ]n[0-9]+ ' screen)" -eq 16 ]
    keys Down Down
    wait_for '^>n12 '
    keys Enter
    wait_for 'nodes/n12\.netprof' '^CPU ' '^HISTORY OF'
    keys n
    wait_for 'nodes/n13\.netprof'
    keys o
    wait_for '^>n13 '
    tmux -S "$PWD/tmux" resize-window -x 40 -y 10
    keys End Down Down Down Down Down Down Down Down Down Down Down Down
    wait_for '^>n25 +[0-9.<]+ %' 'q quit  \? help' '^netprof watch 9 to 16 of 16 recordings' # the marked line is in sight
    [ "$(wc -l <screen)" -eq 10 ]
    [ "$(wc -L <screen)" -le 40 ]
    tmux -S "$PWD/tmux" resize-window -x 200 -y 60
    wait_for '^>n25 .*[0-9] %' '^ n10 ' ' CPU OVER TIME ' '^>n25 +[0-9.<]+ % +[▁▂▃▄▅▆▇█]+ '
    touch stop
    wait_for '16 recordings, 16 ended'
    keys q
    wait_for '^status 0'
    netprof watch --plain nodes >out
    [ "$(grep -cE '^ n[0-9]+ .* ended; ' out)" -eq 16 ]
}

@test "several recordings: what cannot be read is said in its line, and hostile names are escaped" {
    recorded n1.netprof 5
    cp n1.netprof $'n\033]0;x\007.netprof'
    echo 'something else altogether' >bad.netprof
    netprof watch --plain --count 1 n1.netprof $'n\033]0;x\007.netprof' bad.netprof missing.netprof >out
    refute env LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]' out
    grep -qE '^ n1 +\? +\? +0 B/s +4\.00 MB/s' out
    grep -qF 'n\x1b]0;x\x07' out
    grep -qE '^ bad .* cannot read: ' out
    grep -qE '^ missing .* cannot read: .*No such file' out
    # none of them: at once
    [ "$(status_of netprof watch missing.netprof gone.netprof)" = 3 ]
    grep -q 'missing\.netprof: ' err
}

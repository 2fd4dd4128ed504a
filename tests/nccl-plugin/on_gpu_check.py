# Holds what the ranks of tests/nccl-plugin/on_gpu did against what netprof says of it.
# usage: on_gpu_check.py ratio RANK.json
#        on_gpu_check.py pair WITHOUT.json WITH.json
#        on_gpu_check.py bytes RANK0.json RANK1.json NCCL.json BEFORE AFTER INTERFACE   (bytes that the interfaces had sent)
#        on_gpu_check.py mixed RANK0.json RANK1.json NCCL.json
#        on_gpu_check.py inspector RANK0.json ALONE.json CHAINED.json OWN.json   (what its logs hold, and the plugin's files)
import json, statistics, sys


def read(path):
    with open(path) as f:
        return json.loads(f.read().strip().splitlines()[-1])


def whole(path):
    with open(path) as f:
        return json.load(f)


def verdict(good, text):
    print("%-7s %s" % ("ok" if good else "FAILED", text))
    return 0 if good else 1


def ratio(path):
    us = read(path)["us"]
    each = [on / off for on, off in zip(us["on"], us["off"])]
    quarters = statistics.quantiles(each, n=4)
    error = (quarters[2] - quarters[0]) / 1.349 * 1.253 / len(each) ** 0.5  # of a median, from the middle half
    print("        off %.0f us, on %.0f us a call; ratio %.4f +- %.4f of %d pairs of blocks: %s" %
          (statistics.median(us["off"]), statistics.median(us["on"]), quarters[1], error, len(each),
           "less than 1 %" if quarters[1] + error < 1.01 else "1 % is not shown"))
    return 0


def pair(without, with_plugin):
    off, on = (statistics.median(read(p)["us"]["off"] + read(p)["us"]["on"]) for p in (without, with_plugin))
    print("        without %.0f us, with %.0f us a call: ratio %.4f" % (off, on, on / off))
    return 0


def moved(said):
    return [(p["tx_bytes"], p["rx_bytes"]) for p in said["proxies"]]


def check_bytes(first, second, said, before, after, interface):
    done, told, sent = read(first), whole(said), int(after) - int(before)
    expected = done["all_reduces"] * done["bytes_each"]  # a ring of two: each sends its whole buffer once
    ways, bad = moved(told), 0
    calls = [row["calls"] for c in told["communicators"] for row in c["series"] if row["size_bytes"] == done["bytes_each"]]
    bad += verdict(calls == [done["all_reduces"]], "calls of 4 MiB: %s; the program made %d" % (calls, done["all_reduces"]))
    bad += verdict(len(ways) == 2 and all(tx == expected and rx == expected for tx, rx in ways),
                   "bytes of the steps, sent and received by each rank: %s; arithmetic %d" % (ways, expected))
    total = sum(tx for tx, rx in ways)
    own = interface != "lo"  # what others send over the loopback interface is in its bytes: they are no more than a lower bound
    bad += verdict(total and 1 <= sent / total and (sent / total < 1.02 or not own),
                   "the interface sent %d bytes, %.4f of what the steps say (headers, rendezvous%s)" %
                   (sent, sent / total if total else 0, "" if own else "; and whatever else this host does"))
    joined = told["calls_and_counters"]
    bad += verdict({row["coll"] for row in joined} == {"AllReduce"}, "what the plugin read of the interface is joined to its calls")
    for row in joined:
        print("        joined: %s %s %d calls, %d alone, share %.3f; devices sent %s, NCCL's steps %s" %
              (row["host"], row["coll"], row["calls"], row["calls_alone"], row["share"], row["tx_bytes"], row["nccl_tx_bytes"]))
    for row in told["waits"]:
        print("        waits: %s %s: own GPU %.0f us, credit %.0f us, wire %.0f us of all steps" %
              (row["coll"], row["sending_waited_for"], row["own_gpu_us"], row["credit_us"], row["wire_us"]))
    devices = told.get("devices", [])
    print("        requests by device: %d rows%s" %
          (len(devices), "" if devices else " (this NCCL was built without NET_PROFILER)"))
    return bad


def check_mixed(first, second, said):
    done, told, bad = read(first), whole(said), 0
    got = {}
    for c in told["communicators"]:
        for row in c["series"]:
            got[row["coll"]] = got.get(row["coll"], 0) + row["calls"]
    sends = sum(p["records"] for p in told["p2p"])
    expected = done["all_reduces"] + done["replays"]
    bad += verdict(got.get("AllReduce", 0) == expected, "all-reduces with replays: %s; the program made %d" % (got.get("AllReduce"), expected))
    bad += verdict(got.get("AllGather", 0) == done["all_gathers"], "all-gathers: %s; %d" % (got.get("AllGather"), done["all_gathers"]))
    bad += verdict(sends == 2 * done["sends"], "sends and receives: %d; %d" % (sends, 2 * done["sends"]))
    return bad


def calls_of(said, coll):
    return sum(row["calls"] for c in said["communicators"] for row in c["series"] if row["coll"] == coll)


# The Inspector writes what is in its ring each time that its thread wakes, so that two runs may differ a little.
def check_inspector(rank, alone, chained, own):
    done, before, after, ours = read(rank), whole(alone), whole(chained), whole(own)
    counts = [calls_of(x, "AllReduce") for x in (before, after, ours)]
    bad = verdict(counts[0] > 0 and abs(counts[1] - counts[0]) <= 0.05 * counts[0],
                  "all-reduces in its logs: alone %d, chained %d" % (counts[0], counts[1]))
    bad += verdict(counts[2] == done["all_reduces"], "in netprof's files beside it: %d; the program made %d" % (counts[2], done["all_reduces"]))
    kinds = ("bad_json", "not_object", "too_long", "no_context", "bad_value")
    damaged = [sum(x["logs"]["outcomes"][kind] for kind in kinds) for x in (before, after)]
    return bad + verdict(damaged[1] <= damaged[0], "bad lines in its logs: alone %d, chained %d" % tuple(damaged))


checks = {"inspector": check_inspector, "ratio": ratio, "pair": pair, "bytes": check_bytes, "mixed": check_mixed}
sys.exit(1 if checks[sys.argv[1]](*sys.argv[2:]) else 0)

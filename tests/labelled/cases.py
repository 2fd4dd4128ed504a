"""The labelled cases: what is wrong in each, and what may be said of it.

A label is RULE@DEVICE, both regular expressions for the whole name ("egress-paused@cxi2", "drops@cxi.*"; without @ any device), or
~TEXT, a regular expression to be found in the claim. A fault has one label for each thing that was planted; a label may name several
rules (a|b) where either is right. `allowed` are true consequences. What is neither planted nor allowed and watch or worse is a false
accusation; on healthy, idle and odd nodes every one is. `forbidden` (~TEXT) is what the verdict's sentence must not say, `says` what it
must, `tells` what a finding, of whatever severity, must, `most` the worst severity that it may have."""
import math
import os
import random
import subprocess

import model
from model import Node, count


class Case:
    """kind: single, pair, node (all devices of a node), fabric (all nodes), healthy, idle, odd, unjudged."""

    def __init__(self, name, kind, argv, first=(), planted=None, allowed=(), forbidden=(), exits=None, strength=1, most="critical", says="", tells=""):
        self.name, self.kind, self.argv, self.strength, self.most, self.says, self.tells = name, kind, argv, strength, most, says, tells
        self.first = [first] if isinstance(first, str) else list(first)
        self.planted = self.first if planted is None else list(planted)
        self.allowed, self.forbidden, self.exits = list(allowed), list(forbidden), exits

    @property
    def clean(self):
        return self.kind in ("healthy", "idle", "odd")


STEPS = ((1, "strong"), (2, "middle"), (3, "weak"))


# ---- Cassini: a simulated node with four NICs (tests/sim) ----

# name, row, its three strengths, the rule, what it brings along
CASSINI = (
    ("egress-paused", "{n}:k.tx_paused={v}", (0.30, 0.08, 0.02), "egress-paused|nic-paused", "shaping|latency-tail"),
    ("ingress-paused", "{n}:k.rx_paused={v}", (0.25, 0.06, 0.015), "ingress-paused|nic-holding", "ingress-buffer-stall"),
    ("host-writes", "{n}:k.posted_blocked={v}", (18, 9, 4.5), "host-write-back-pressure", ""),
    ("host-reads", "{n}:k.nonposted_blocked={v}", (14, 8, 4.5), "host-read-latency", ""),
    ("uncorrected", "{n}:k.uncorrected={v}", (5, 0.3, 0.05), "uncorrected-codewords", ""),
    ("corrected", "{n}:k.corrected={v}", (2.1e6, 2e5, 3e4), "corrected-codewords", ""),
    ("replays", "{n}:k.replays={v}", (20, 4, 0.8), "link-retry", ""),
    ("timeouts", "{n}:k.spt_timeouts={v}", (25, 1, 0.1), "network-timeouts", "retries"),
    ("target", "{n}:k.no_trs={v}", (300, 20, 2), "target-resources", "retries|nack-drops"),
    ("nack-drops", "{n}:k.nack_drops={v}", (40, 3, 0.2), "nack-drops", ""),
    ("unexpected", "{n}:k.overflow={v}", (0.7, 0.3, 0.15), "unexpected-messages", ""),
    ("marks", "{n}:k.ecn={v}", (0.15, 0.05, 0.02), "congestion-marks", ""),
    ("misses", "{n}:k.miss={v}", (0.35, 0.15, 0.07), "translation-misses", "translation-evictions"),
    ("events-lost", "{n}:k.events_dropped={v}", (500, 5, 0.1), "event-queue-overflow", ""),
    ("cancelled", "{n}:k.cancelled={v}", (30, 1, 0.1), "cancelled", ""),
    ("shaped", "{n}:k.shaped={v}", (0.4, 0.1, 0.02), "shaping", ""),
    ("fifo-overflow", "{n}:hni_pfc_fifo_oflw_cntr_1=count({v}*dt)", (1e5, 100, 0.5), "drops|.*fifo.*|.*overflow.*", ""),
    ("bad-frames", "{n}:hni_rx_bad_opt=count({v}*dt)", (1e4, 50, 0.5), "drops|.*bad.*|.*damaged.*", ""),
    ("discards", "{n}:hni_discard_cntr_0=count({v}*dt)", (1e5, 100, 0.5), "drops|.*discard.*", ""),
    ("match-depth", "{n}:k.match_depth={v}", (150, 60, 25), "match-depth", ""),
    ("offload", "{n}:k.offload={v}", (0.3, 0.7, 0.85), "rendezvous-offload", ""),
)
# Two at once, each at full strength; the headline may be either but where one is named, which surely costs more.
CASSINI_PAIRS = (("egress-paused", "host-writes", None), ("uncorrected", "egress-paused", None), ("timeouts", "corrected", "timeouts"),
                 ("host-writes", "corrected", None), ("events-lost", "marks", "events-lost"), ("cancelled", "egress-paused", "cancelled"),
                 ("ingress-paused", "host-writes", None), ("fifo-overflow", "unexpected", "fifo-overflow"),
                 ("discards", "host-reads", None), ("misses", "ingress-paused", None), ("uncorrected", "corrected", "uncorrected"),
                 ("target", "marks", None))
LOADS = (0.001, 0.01, 0.1, 0.3, 0.8)


class Cassini:
    """One tree; each case is one step of it. What a case leaves behind (values) is the past of the next one."""

    def __init__(self, bin_folder, folder, seed, nics=4, name="node", more=()):
        self.bin, self.folder, self.tree, self.steps = bin_folder, folder, os.path.join(folder, "tree-" + name), 0
        self.sim("create", self.tree, "--nics", str(nics), "--seed", str(seed), "--host", name, *more)
        self.last = self.collect()

    def sim(self, *words):
        subprocess.run([os.path.join(self.bin, "netprof-sim"), *words], check=True)

    def collect(self):
        path = "%s-%d.netprof" % (self.tree, self.steps)
        self.steps += 1
        subprocess.run([os.path.join(self.bin, "netprof"), "collect", "-q", "--root", self.tree, "--include", "cxi*", "-o", path], check=True)
        return path

    def step(self, seconds=44, rows=(), scenario=None, change=None):
        """The two files before and after. change: more words for netprof-sim, between the step and the reading."""
        words = ["step", self.tree, "--seconds", str(seconds)]
        for row in rows:
            words += ["--row", row]
        if scenario:
            words += ["--scenario", scenario]
        self.sim(*words)
        if change:
            self.sim(change[0], self.tree, *change[1:])
        before, self.last = self.last, self.collect()
        return ["check", before, self.last]


def load_rows(load, nic=None):
    at = "" if nic is None else "%d:" % nic
    return [at + "k.tx_load=near(%g,0.03)" % load, at + "k.rx_load=near(%g,0.03)" % load, at + "k.small_rate=%g" % (load * 60000),
            at + "k.eth_rate=%g" % min(1000, load * 10000)]


def cassini(bin_folder, folder, seed):
    rng = random.Random(seed)
    t = Cassini(bin_folder, folder, seed)
    rows = {name: (row, values, rule, more) for name, row, values, rule, more in CASSINI}
    for name, row, values, rule, more in CASSINI:
        for strength, word in STEPS:
            n = rng.randrange(4)
            yield Case("cassini-%s-%s" % (name, word), "single", t.step(rows=[row.format(n=n, v=values[strength - 1])]),
                       "(%s)@cxi%d" % (rule, n), allowed=["(%s)@cxi%d" % (more, n)] if more else [], strength=strength)
    for a, b, leads in CASSINI_PAIRS:
        n, m = rng.sample(range(4), 2)
        labels = ["(%s)@cxi%d" % (rows[x][2], k) for x, k in ((a, n), (b, m))]
        first = labels if leads is None else [labels[0 if leads == a else 1]]
        yield Case("cassini-%s+%s" % (a, b), "pair", t.step(rows=[rows[a][0].format(n=n, v=rows[a][1][0]), rows[b][0].format(n=m, v=rows[b][1][0])]),
                   first, planted=labels, allowed=["(%s)@cxi%d" % (rows[x][3], k) for x, k in ((a, n), (b, m)) if rows[x][3]])
    for name in ("fifo-overflow", "bad-frames", "discards", "egress-paused", "host-writes", "uncorrected", "timeouts", "events-lost"):
        row, values, rule, more = rows[name]
        yield Case("cassini-all-%s" % name, "node", t.step(rows=[row.format(n=n, v=values[0]) for n in range(4)]), "(%s)" % rule,
                   allowed=[more] if more else [])
    # Where gates switch rules off: the host refuses writes nearly always, so hardly a packet passes; a light load of scattered accesses.
    n = rng.randrange(4)
    yield Case("cassini-host-refuses-writes", "single",
               t.step(rows=[*load_rows(0, n), "%d:parbs_tarb_pi_posted_pkts=900" % n, "%d:parbs_tarb_pi_posted_blocked_cnt=0.9*clk*dt" % n]),
               "host-write-back-pressure@cxi%d" % n, allowed=["(nic-.*|.*silent.*|.*rail.*|.*peer.*)"])
    yield Case("cassini-misses-light-load", "single",
               t.step(rows=["k.tx_load=0.0005", "k.rx_load=0.004", "k.large_share=0", "k.eager=64", "k.small_rate=1e6", "%d:k.miss=0.6" % n]),
               "translation-misses@cxi%d" % n, allowed=["translation-evictions@cxi%d" % n, "packet-size"])
    # Too little: a silent rail, a half one.
    rail = "nic-.*|.*silent.*|.*rail.*|.*peer.*|.*quiet.*"
    yield Case("cassini-silent-nic", "single", t.step(rows=[*load_rows(0.4), *load_rows(0, n)]), "(%s)@cxi%d" % (rail, n))
    yield Case("cassini-half-nic", "single", t.step(rows=[*load_rows(0.5), *load_rows(0.25, n)]), "(%s)@cxi%d" % (rail, n))
    yield Case("cassini-double-nic", "single", t.step(rows=[*load_rows(0.3), *load_rows(0.75, n)]), "(%s)@cxi%d" % (rail, n))
    # Healthy at five loads and three intervals, idle.
    for load in LOADS:
        for seconds in (10, 44, 3600):
            noise = ["%d:k.corrected=%g" % (i, 10 ** rng.uniform(-1, 2.5)) for i in range(4)]
            noise += ["k.ecn=%g" % rng.uniform(0, 0.004), "k.tx_paused=%g" % rng.uniform(0, 0.0005), "k.overflow=%g" % rng.uniform(0, 0.06),
                      "k.miss=%g" % rng.uniform(0, 0.03)]
            yield Case("cassini-healthy-%g-%ds" % (load, seconds), "healthy", t.step(seconds, [*load_rows(load), *noise]), exits={0})
    for seconds in (10, 44, 300, 3600):
        yield Case("cassini-idle-%ds" % seconds, "idle", t.step(seconds, scenario="idle"), exits={0})
    # The real Aurora node: IP traffic alone, written in a burst that the host took slowly for 4 ms.
    ip = ["k.tx_load=0", "k.rx_load=0", "k.small_rate=0", "k.eth_rate=4", "2:k.eth_rate=8000", "2:parbs_tarb_pi_posted_blocked_cnt=3.3e6"]
    yield Case("cassini-odd-ip-burst", "odd", t.step(44, ip), exits={0})
    yield Case("cassini-odd-storage-on-ethernet", "odd", t.step(60, [*load_rows(0.001), "1:k.eth_rate=200000"]), exits={0})
    yield Case("cassini-odd-single-rail", "odd", t.step(60, [*load_rows(0), *load_rows(0.6, 1)]), exits={0})
    yield Case("cassini-odd-one-big-message", "odd", t.step(10, [*load_rows(0), *load_rows(0.02, 3)]), exits={0})
    yield Case("cassini-odd-alternating-light", "odd", t.step(300, [*load_rows(0.0004), *load_rows(0.0012, 2)]), exits={0})
    # Trouble of the files and the node.
    yield Case("cassini-pcie", "single", t.step(scenario="pcie-degraded"), "pcie-link@cxi0",
               allowed=["(host-.*|ingress-.*|nic-.*|.*rail.*|.*peer.*)@cxi0", "eth-pcie-degraded", "host-.*@cxi0"])
    t.step()
    yield Case("cassini-link-flap", "single", t.step(scenario="link-flap"), "(link-flaps)@cxi0",
               allowed=["(uncorrected-codewords|network-timeouts|retries|link-retry|nic-.*|.*peer.*)@cxi0", "eth-link-flap"], exits={1})
    yield Case("cassini-reset", "single", t.step(scenario="reset"), "(.*reset.*|.*reload.*)", allowed=["x-.*", "nic-.*|.*peer.*"])
    t.step()
    yield Case("cassini-gone", "unjudged", t.step(change=("remove", "--nic", "2")),
               "(.*gone.*|.*vanish.*|.*missing.*)@cxi2", allowed=["(.*gone.*|.*vanish.*)"], exits={1, 5})
    t.sim("restore", t.tree, "--nic", "2")
    t.step()
    yield Case("cassini-unreadable", "unjudged", t.step(change=("fault", "garbage", "*")), [], allowed=["x-time"], exits={1, 5})


def cassini_variants(bin_folder, folder, seed):
    """Other numbers of NICs, Cassini-2, pause as 802.3x, other lengths of time, and counters that pass their width."""
    rng = random.Random(seed + 1)
    rows = {name: (row, values, rule, more) for name, row, values, rule, more in CASSINI}
    rail = "(nic-.*|.*silent.*|.*rail.*|.*peer.*|.*quiet.*)"
    some = ("egress-paused", "host-writes", "uncorrected", "timeouts", "fifo-overflow")
    for name, nics, more in (("eight", 8, ()), ("two", 2, ()), ("one", 1, ()), ("c2", 4, ("--asic", "c2")), ("global", 4, ("--global-pause",))):
        t = Cassini(bin_folder, folder, seed, nics, name, more)
        yield Case("cassini-%s-healthy" % name, "healthy", t.step(60), exits={0})
        for fault in some:
            row, values, rule, brings = rows[fault]
            n = rng.randrange(nics)
            yield Case("cassini-%s-%s" % (name, fault), "single", t.step(rows=[row.format(n=n, v=values[0])]), "(%s)@cxi%d" % (rule, n),
                       allowed=["(%s)@cxi%d" % (brings, n)] if brings else [])
        if nics == 2:  # of two, nobody knows which is the odd one
            yield Case("cassini-odd-two-single-rail", "odd", t.step(60, [*load_rows(0.4), *load_rows(0, 1)]), exits={0})
        elif nics > 2:
            n = rng.randrange(nics)
            yield Case("cassini-%s-silent" % name, "single", t.step(rows=[*load_rows(0.4), *load_rows(0, n)]), "%s@cxi%d" % (rail, n))
    t = Cassini(bin_folder, folder, seed, 4, "times")
    for seconds in (5, 3600):
        for fault in some:
            row, values, rule, brings = rows[fault]
            n = rng.randrange(4)
            yield Case("cassini-%s-in-%ds" % (fault, seconds), "single", t.step(seconds, [row.format(n=n, v=values[0])]), "(%s)@cxi%d" % (rule, n),
                       allowed=["(%s)@cxi%d" % (brings, n)] if brings else [])
    for fault in ("host-writes", "host-reads", "uncorrected", "egress-paused"):
        row, values, rule, brings = rows[fault]
        n = rng.randrange(4)
        # The job of this node runs on one NIC; its fault is there.
        yield Case("cassini-%s-others-idle" % fault, "single", t.step(rows=[*load_rows(0.0002), *load_rows(0.4, n), row.format(n=n, v=values[0])]),
                   "(%s)@cxi%d" % (rule, n), allowed=["(%s)@cxi%d" % (brings, n)] if brings else [])
    t.step(1, scenario="wrap")
    yield Case("cassini-odd-wrap", "odd", t.step(10, scenario="wrap"), exits={0})


# ---- several nodes at once ----

def nodes(folder, seed):
    """`check` of four to eight nodes of which one is bad, or none, or all."""
    table = {row[0]: row for row in ETHERNET}
    rng = random.Random(seed)
    for fault in (None, "crc", "ring", "paused", "fec", "mtu"):
        for number in (4, 8):
            bad, files, case = rng.randrange(number), [], "nodes-%s-of-%d" % (fault or "healthy", number)
            for i in range(number):
                node, _, d, e = base("n%02d" % i, seed)
                if fault and i == bad:
                    table[fault][1](node, d, e, table[fault][2][0])
                files.append(saved(folder, "%s-%d" % (case, i), node)[1])
            if fault:
                yield Case(case, "single", ["check", *files], "~^n%02d eth0" % bad)
            else:
                yield Case(case, "healthy", ["check", *files], exits={0})
    case, files = "nodes-all-paused", []
    for i in range(6):
        node, _, d, e = base("n%02d" % i, seed)
        table["paused"][1](node, d, e, 0.3)
        files.append(saved(folder, "%s-%d" % (case, i), node)[1])
    yield Case(case, "fabric", ["check", *files], "eth-pause-rx|nic-paused|.*fabric.*|.*congest.*", allowed=["~."])
    case, files = "nodes-one-gone-port", []
    for i in range(4):
        node, r, _, _ = base("n%02d" % i, seed)
        model.ethernet(node, r, "eth1", 0.1)
        if i == 2:
            node.gone = {("netdev", "eth1"), ("ethtool", "eth1")}
        files.append(saved(folder, "%s-%d" % (case, i), node)[1])
    yield Case(case, "unjudged", ["check", *files], "~^n02 eth1", allowed=["imbalance"], exits={1, 5})


# ---- Ethernet ----

def base(name, seed, seconds=44, load=0.2, driver="mlx5", speed=100000, **more):
    rng = random.Random("%s %d" % (name, seed))
    node = Node(name, seconds)
    model.host(node, rng)
    d, e = model.ethernet(node, rng, "eth0", load, speed, 9000, driver, **more)
    model.tcp(node, rng, load * 100000 * seconds + 1000)
    return node, rng, d, e


def saved(folder, name, node):
    path = os.path.join(folder, name + ".json")
    node.write(path)
    return ["check", path]


def part(device, way, share):
    """So many packets that they are this share of those of a direction."""
    packets = device.gain(way + "_packets" if device.source == "netdev" else "port_%s_packets" % way)
    return max(1, round(packets * share))


def set_fact(device, **facts):
    device.facts.update(facts)


# name, what happens to (node, netdev, ethtool, value), three strengths, rule, allowed
ETHERNET = (
    ("crc", lambda n, d, e, v: e.add("rx_crc_errors_phy", part(d, "rx", v)), (2e-2, 1e-5, 5e-7), "eth-crc", ""),
    ("fec", lambda n, d, e, v: e.add("rx_pcs_symbol_err_phy", round(v * n.seconds)), (20, 0.5, 0.05), "eth-fec-uncorrectable", ""),
    ("fec-margin", lambda n, d, e, v: e.add("rx_corrected_bits_phy", int(v * d_bits(d, n))), (1e-4, 8e-6, 2e-6), "eth-fec-margin", ""),
    ("ring", lambda n, d, e, v: e.add("rx_out_of_buffer", part(d, "rx", v)), (3e-2, 3e-4, 2e-5), "eth-rx-ring-drop", ""),
    ("buffer", lambda n, d, e, v: e.add("rx_discards_phy", part(d, "rx", v)), (3e-2, 3e-4, 2e-5), "eth-rx-buffer-drop", ""),
    ("tx-drop", lambda n, d, e, v: e.add("tx_discards_phy", part(d, "tx", v)), (3e-2, 5e-4, 1e-5), "eth-tx-drop", ""),
    ("paused", lambda n, d, e, v: e.add("rx_prio3_pause_duration", int(v * 1e6 * n.seconds)), (0.3, 0.05, 0.004), "eth-pause-rx|nic-paused", ""),
    ("pauses", lambda n, d, e, v: e.add("tx_prio3_pause_duration", int(v * 1e6 * n.seconds)), (0.3, 0.05, 0.004), "eth-pause-tx|nic-holding", ""),
    ("mtu", lambda n, d, e, v: e.add("rx_oversize_pkts_phy", part(d, "rx", v)), (1e-2, 5e-4, 1e-6), "eth-mtu-mismatch", ""),
    ("pcie-stall", lambda n, d, e, v: e.add("outbound_pci_stalled_wr_events", max(1, int(v * n.seconds))), (0.7, 0.2, 0.05), "eth-pcie-stall", ""),
    ("qdisc", lambda n, d, e, v: d.add("qdisc_drops", part(d, "tx", v)), (2e-2, 2e-3, 5e-5), "qdisc-drop", ""),
    ("queue-stop", lambda n, d, e, v: e.add("tx_queue_stopped", part(d, "tx", v)), (0.05, 0.02, 0.003), "eth-tx-queue-stop", ""),
    ("stack", lambda n, d, e, v: d.add("rx_dropped", part(d, "rx", v)), (0.05, 0.03, 0.002), "eth-rx-stack-drop", ""),
)
ETHERNET_ONCE = (
    ("flap", lambda n, d, e: d.add("carrier_down_count", 1), "eth-link-flap", ""),
    ("half-duplex", lambda n, d, e: set_fact(d, duplex="half"), "eth-speed-duplex", ""),
    ("pcie-width", lambda n, d, e: set_fact(d, pci_width="4"), "eth-pcie-degraded", ""),
    ("pci-errors", lambda n, d, e: e.add("rx_pci_signal_integrity", 40), "eth-pcie-errors", ""),
    ("module-hot", lambda n, d, e: e.add("module_high_temp", 2), "eth-phy-fault", ""),
    ("storm", lambda n, d, e: e.add("tx_pause_storm_error_events", 1), "eth-pause-storm", ""),
    ("link-down", lambda n, d, e: (d.after.update(carrier=0), d.add("carrier_down_count", 1), set_fact(d, operstate="down")),
     "eth-link-flap|.*link-(down|lost).*|.*port.*", "eth-link-flap"),
)
ETHERNET_PAIRS = (("crc", "qdisc", "crc"), ("ring", "paused", None), ("pauses", "ring", None), ("fec", "stack", "fec"), ("mtu", "paused", None),
                  ("tx-drop", "fec-margin", None))


def d_bits(d, n):
    return float(d.facts["speed_mbps"]) * 1e6 * n.seconds


def ethernet(folder, seed):
    table = {row[0]: row for row in ETHERNET}
    for name, act, values, rule, more in ETHERNET:
        for strength, word in STEPS:
            case = "ethernet-%s-%s" % (name, word)
            node, _, d, e = base(case, seed)
            act(node, d, e, values[strength - 1])
            yield Case(case, "single", saved(folder, case, node), "(%s)@eth0" % rule, allowed=[more] if more else [], strength=strength)
    for name, act, rule, more in ETHERNET_ONCE:
        case = "ethernet-%s" % name
        node, _, d, e = base(case, seed)
        act(node, d, e)
        yield Case(case, "single", saved(folder, case, node), "(%s)@eth0" % rule, allowed=[more] if more else [])
    for a, b, leads in ETHERNET_PAIRS:
        case = "ethernet-%s+%s" % (a, b)
        node, _, d, e = base(case, seed)
        for x in (a, b):
            table[x][1](node, d, e, table[x][2][0])
        labels = ["(%s)@eth0" % table[x][3] for x in (a, b)]
        yield Case(case, "pair", saved(folder, case, node), labels if leads is None else [labels[(a, b).index(leads)]], planted=labels)
    yield from ethernet_other(folder, seed)


def ethernet_other(folder, seed):
    """Other drivers, bonds, and the whole node."""
    case = "ethernet-ena-allowance"
    node, _, d, e = base(case, seed, driver="ena", speed=None)
    e.add("bw_out_allowance_exceeded", part(d, "tx", 1e-3))
    yield Case(case, "single", saved(folder, case, node), "eth-cloud-allowance@eth0")
    case = "ethernet-ice-pause-frames"
    node, _, d, e = base(case, seed, driver="ice")
    e.add("link_xoff_rx.nic", 3000 * node.seconds)
    yield Case(case, "single", saved(folder, case, node), "eth-pause-rx-frames@eth0")
    case = "ethernet-bond-degraded"
    node, rng, d, e = base(case, seed)
    set_fact(d, master="bond0")
    two, _ = model.ethernet(node, rng, "eth1", (0, 0), 100000, 9000, carrier=0, master="bond0")
    bond = node.device("netdev", "bond0", {"kind": "bond", "ifindex": "90", "mtu": "9000"}, False)
    for n in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes"):
        bond.counter(n, d.gain(n) + two.gain(n), "bytes" if n.endswith("bytes") else "packets")
    bond.level("carrier", 1, kind="state")
    yield Case(case, "single", saved(folder, case, node), "eth-bond-degraded@bond0")
    case = "ethernet-all-ports-lose"
    node, rng, d, e = base(case, seed)
    more = [model.ethernet(node, rng, "eth%d" % i, 0.2) for i in (1, 2, 3)]
    for dev, tool in [(d, e), *more]:
        tool.add("rx_discards_phy", part(dev, "rx", 0.01))
    yield Case(case, "node", saved(folder, case, node), "eth-rx-buffer-drop")
    case = "ethernet-all-ports-crc"
    node, rng, d, e = base(case, seed)
    more = [model.ethernet(node, rng, "eth%d" % i, 0.2) for i in (1, 2, 3)]
    for dev, tool in [(d, e), *more]:
        tool.add("rx_crc_errors_phy", part(dev, "rx", 0.001))
    yield Case(case, "node", saved(folder, case, node), "eth-crc")
    for name, later, rule in (("slower", {"speed_mbps": "10000"}, "link-slower|eth-speed-.*|.*slower.*"),
                              ("replaced", {"pci": "0000:e1:00.0", "mac": "02:00:00:99:99:99"}, "device-other|.*replaced.*|.*other.*")):
        case = "ethernet-" + name
        node, _, d, e = base(case, seed, load=0.05)
        node.later = {("netdev", "eth0"): later}
        yield Case(case, "single", saved(folder, case, node), "(%s)@eth0" % rule, allowed=["device-.*"])
    case = "ethernet-gone"
    node, rng, d, e = base(case, seed)
    model.ethernet(node, rng, "eth1", 0.2)
    node.gone = {("netdev", "eth1"), ("ethtool", "eth1")}
    yield Case(case, "unjudged", saved(folder, case, node), "(.*gone.*|.*vanish.*|.*missing.*)@eth1", exits={1, 5})
    for load in LOADS:
        for seconds in (1, 60):
            for driver, speed in (("mlx5", 100000), ("ice", 25000), ("virtio_net", None)):
                case = "ethernet-healthy-%s-%g-%ds" % (driver.split("_")[0], load, seconds)
                node = base(case, seed, seconds, load, driver, speed)[0]
                yield Case(case, "healthy", saved(folder, case, node), exits={0})
    yield from ethernet_odd(folder, seed)


def ethernet_odd(folder, seed):
    case = "ethernet-odd-containers"  # virtual interfaces come and go
    node, rng, d, e = base(case, seed)
    for name in ("veth1", "veth2"):
        model.ethernet(node, rng, name, 0.0001, None, 1500, "veth", kind="veth")
    node.gone = {("netdev", "veth1"), ("ethtool", "veth1")}
    node.new = {("netdev", "veth2"), ("ethtool", "veth2")}
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-port-comes-up"
    node, rng, d, e = base(case, seed)
    two, _ = model.ethernet(node, rng, "eth1", (0, 0), 100000, 9000, carrier=0)
    two.after["carrier"] = 1
    two.add("carrier_up_count", 1)
    node.later = {("netdev", "eth1"): {"operstate": "up", "carrier": "1"}}
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-new-port"
    node, rng, d, e = base(case, seed)
    model.ethernet(node, rng, "eth1", 0.1)
    node.new = {("netdev", "eth1"), ("ethtool", "eth1")}
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-idle"
    yield Case(case, "idle", saved(folder, case, base(case, seed, 60, 0.0)[0]), exits={0})
    case = "ethernet-odd-unused-port-down"
    node, rng, d, e = base(case, seed)
    model.ethernet(node, rng, "eth1", (0, 0), 100000, 1500, carrier=0)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-management-mtu"
    node, rng, d, e = base(case, seed)
    model.ethernet(node, rng, "eno1", 0.0005, 1000, 1500, "ice")
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-stray-frames"  # LLDP and foreign VLANs are dropped by every kernel
    node, rng, d, e = base(case, seed, 60)
    d.add("rx_dropped", 30)
    d.add("rx_nohandler", 12)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-stray-frames-idle"
    node, rng, d, e = base(case, seed, 60, 0.00001)
    d.add("rx_dropped", 30)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-old-reset"  # errors that were there before
    node, rng, d, e = base(case, seed)
    for n, v in (("rx_crc_errors_phy", 977), ("rx_out_of_buffer", 12345)):
        e.before[n] = e.after[n] = v
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-pam4-margin"  # lanes of 100 Gbit/s always correct bits; the code bears 2.4e-4
    node, rng, d, e = base(case, seed, speed=400000)
    e.after["rx_corrected_bits_phy"] = e.before["rx_corrected_bits_phy"] + int(2e-7 * d_bits(d, node))
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-some-pause-frames"
    node, rng, d, e = base(case, seed, driver="ice")
    e.add("link_xoff_rx.nic", 12)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-vm-unknown-speed"
    node, rng, d, e = base(case, seed, 10, 0.6, "virtio_net", None)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-slow-sweep"  # eight NICs read by cat: 125 ms
    node, rng, d, e = base(case, seed, 1)
    node.sweep_ns = 125 * 10**6
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "ethernet-odd-squeeze-at-load"
    node, rng, d, e = base(case, seed, 60, 0.8)
    node.find("ip", "softnet").add("time_squeeze/cpu1", 120)
    yield Case(case, "odd", saved(folder, case, node), exits={0})


# ---- InfiniBand, RoCE, EFA ----

INFINIBAND = (
    ("symbol", lambda n, d, v: d.add("symbol_error", int(v)), (3000, 40, 12), "ib-symbol-ber", ""),
    ("rcv-errors", lambda n, d, v: d.add("port_rcv_errors", int(v)), (500, 20, 2), "ib-rcv-errors", ""),
    ("discards", lambda n, d, v: d.add("port_xmit_discards", int(v)), (4000, 120, 3), "ib-xmit-discards", ""),
    ("xmit-wait", lambda n, d, v: d.add("port_xmit_wait", int(v * float(d.facts["rate_bps"]) * n.seconds / 64)), (0.5, 0.2, 0.03), "ib-xmit-wait|nic-paused", ""),
    ("timeout", lambda n, d, v: d.add("local_ack_timeout_err", int(v)), (60, 5, 2), "rdma-timeout", ""),
    ("nak", lambda n, d, v: d.add("packet_seq_err", part(d, "xmit", v)), (1e-3, 1e-5, 2e-6), "rdma-seq-nak", ""),
    ("rnr-local", lambda n, d, v: d.add("out_of_buffer", part(d, "rcv", v)), (1e-3, 1e-5, 2e-6), "rdma-rnr-local", ""),
    ("rnr-remote", lambda n, d, v: d.add("rnr_nak_retry_err", part(d, "xmit", v)), (1e-3, 1e-5, 2e-6), "rdma-rnr-remote", ""),
    ("early", lambda n, d, v: d.add("roce_adp_retrans", part(d, "xmit", v)), (1e-3, 1e-4, 2e-5), "rdma-adaptive-retrans", ""),
)
INFINIBAND_ONCE = (
    ("downed", lambda n, d: d.add("link_downed", 1), "ib-link-downed", ""),
    ("recovery", lambda n, d: d.add("link_error_recovery", 3), "ib-link-recovery", ""),
    ("integrity", lambda n, d: d.add("excessive_buffer_overrun_errors", 2), "ib-integrity", ""),
    ("constraint", lambda n, d: d.add("port_xmit_constraint_errors", 40), "ib-constraint", ""),
    ("given-up", lambda n, d: (d.add("req_transport_retries_exceeded", 2), d.add("local_ack_timeout_err", 14)), "rdma-given-up", "rdma-timeout"),
    ("cqe", lambda n, d: d.add("req_cqe_error", 9), "rdma-cqe-error", ""),
    ("access", lambda n, d: d.add("resp_remote_access_errors", 4), "rdma-protection", ""),
    ("became-down", lambda n, d: (d.after.update(state=1, phys_state=3), d.add("link_downed", 1)), "ib-port-state|ib-link-downed", "ib-.*"),
)
ROCE = (
    ("throttled", lambda n, d, v: d.add("rp_cnp_handled", part(d, "xmit", v)), (5e-3, 4e-4, 3e-5), "roce-cnp-throttled", ""),
    ("marked", lambda n, d, v: (d.add("np_ecn_marked_roce_packets", part(d, "rcv", v)), d.add("np_cnp_sent", part(d, "rcv", v / 20))),
     (0.2, 0.03, 0.003), "roce-ecn-marked", ""),
    ("ignored", lambda n, d, v: (d.add("rp_cnp_ignored", part(d, "xmit", v)), d.add("rp_cnp_handled", int(part(d, "xmit", v) * 0.5))), (5e-3, 4e-4, 3e-5),
     "roce-cnp-ignored|roce-cnp-throttled", ""),
    ("icrc", lambda n, d, v: d.add("rx_icrc_encapsulated", int(v)), (100, 10, 2), "roce-icrc", ""),
)


def fabric(case, seed, ports=4, seconds=44, load=0.4, roce=False, **more):
    rng = random.Random("%s %d" % (case, seed))
    node = Node(case, seconds)
    model.host(node, rng)
    devices = [model.rdma(node, rng, "mlx5_%d/1" % i, load, 200 if roce else 400, roce, **more) for i in range(ports)]
    model.ethernet(node, rng, "eno1", 0.001, 1000, 1500, "ice")
    model.tcp(node, rng, 2000)
    return node, rng, devices


def infiniband(folder, seed):
    rng = random.Random(seed)
    for table, roce, prefix in ((INFINIBAND, False, "infiniband"), (ROCE, True, "infiniband-roce")):
        for name, act, values, rule, more in table:
            for strength, word in STEPS:
                case, k = "%s-%s-%s" % (prefix, name, word), rng.randrange(4)
                node, _, devices = fabric(case, seed, roce=roce)
                act(node, devices[k], values[strength - 1])
                yield Case(case, "single", saved(folder, case, node), "(%s)@mlx5_%d/1" % (rule, k), allowed=["(%s)@mlx5_%d/1" % (more, k)] if more else [],
                           strength=strength)
    for name, act, rule, more in INFINIBAND_ONCE:
        case, k = "infiniband-" + name, rng.randrange(4)
        node, _, devices = fabric(case, seed)
        act(node, devices[k])
        yield Case(case, "single", saved(folder, case, node), "(%s)@mlx5_%d/1" % (rule, k), allowed=["(%s)@mlx5_%d/1" % (more, k)] if more else [])
    table = {row[0]: row for row in INFINIBAND}
    for a, b, leads in (("symbol", "xmit-wait", None), ("timeout", "rnr-local", None), ("nak", "discards", None), ("rcv-errors", "xmit-wait", None)):
        case, (k, m) = "infiniband-%s+%s" % (a, b), rng.sample(range(4), 2)
        node, _, devices = fabric(case, seed)
        table[a][1](node, devices[k], table[a][2][0])
        table[b][1](node, devices[m], table[b][2][0])
        labels = ["(%s)@mlx5_%d/1" % (table[x][3], i) for x, i in ((a, k), (b, m))]
        yield Case(case, "pair", saved(folder, case, node), labels if leads is None else [labels[(a, b).index(leads)]], planted=labels)
    yield from infiniband_rails(folder, seed, rng)
    yield from infiniband_clean(folder, seed)


def infiniband_rails(folder, seed, rng):
    rail = "(.*rail.*|.*silent.*|.*peer.*|.*balance.*|.*quiet.*)"
    for name, loads in (("silent", (0.4, 0.0)), ("half", (0.5, 0.25)), ("double", (0.35, 0.8))):
        case, k = "infiniband-%s-rail" % name, rng.randrange(4)
        node, r, _ = fabric(case, seed, 0)
        for i in range(4):
            model.rdma(node, r, "mlx5_%d/1" % i, loads[i == k])
        yield Case(case, "single", saved(folder, case, node), "%s@mlx5_%d/1" % (rail, k))
    case, k = "infiniband-slow-port", rng.randrange(4)
    node, r, _ = fabric(case, seed, 0)
    for i in range(4):
        slow = {"load": 0.6, "gbits": 100, "rate": "100 Gb/sec (1X NDR)"} if i == k else {"load": 0.15}
        model.rdma(node, r, "mlx5_%d/1" % i, **slow)
    yield Case(case, "single", saved(folder, case, node), "ib-rate-low@mlx5_%d/1" % k)
    for name, act, rule in (("timeouts", lambda n, d: d.add("local_ack_timeout_err", 30), "rdma-timeout"),
                            ("discards", lambda n, d: d.add("port_xmit_discards", 3000), "ib-xmit-discards"),
                            ("xmit-wait", lambda n, d: INFINIBAND[3][1](n, d, 0.45), "ib-xmit-wait|nic-paused")):
        case = "infiniband-all-" + name
        node, _, devices = fabric(case, seed)
        for d in devices:
            act(node, d)
        yield Case(case, "node", saved(folder, case, node), rule)
    case = "infiniband-gone"
    node, _, devices = fabric(case, seed)
    node.gone = {("rdma", "mlx5_2/1")}
    yield Case(case, "unjudged", saved(folder, case, node), "(.*gone.*|.*vanish.*|.*missing.*)@mlx5_2/1", exits={1, 5})
    case = "infiniband-cnp-not-sent"
    node, _, devices = fabric(case, seed, roce=True)
    devices[1].add("np_ecn_marked_roce_packets", 50000)
    devices[1].after["np_cnp_sent"] = devices[1].before["np_cnp_sent"]
    yield Case(case, "single", saved(folder, case, node), "roce-cnp-not-sent@mlx5_1/1", allowed=["roce-ecn-marked@mlx5_1/1"])
    for strength, word in STEPS:
        case = "infiniband-efa-retrans-" + word
        r = random.Random(case)
        node = Node(case, 44)
        d = model.efa(node, r, load=0.5)
        d.add("retrans_pkts", int(d.gain("tx_pkts") * (0.05, 3e-3, 3e-4)[strength - 1]))
        yield Case(case, "single", saved(folder, case, node), "efa-retrans@" + d.name, strength=strength)


def infiniband_clean(folder, seed):
    for load in LOADS:
        for seconds, reordered in ((1, 0), (44, 1e-3), (60, 1e-2)):
            case = "infiniband-healthy-%g-%ds" % (load, seconds)
            yield Case(case, "healthy", saved(folder, case, fabric(case, seed, 4, seconds, load, reordered=reordered)[0]), exits={0})
        case = "infiniband-healthy-roce-%g" % load
        yield Case(case, "healthy", saved(folder, case, fabric(case, seed, 2, 60, load, True, reordered=1e-3)[0]), exits={0})
    case = "infiniband-idle"
    yield Case(case, "idle", saved(folder, case, fabric(case, seed, 4, 60, 0.0)[0]), exits={0})
    case = "infiniband-odd-unused-port"
    node, rng, _ = fabric(case, seed)
    model.rdma(node, rng, "mlx5_9/1", 0.0, state=1)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "infiniband-odd-single-rail"
    node, rng, _ = fabric(case, seed, 0)
    for i in range(4):
        model.rdma(node, rng, "mlx5_%d/1" % i, 0.7 if i == 0 else 0.0)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "infiniband-odd-old-saturated"  # nobody clears counters of 4, 8 and 16 bits
    node, rng, devices = fabric(case, seed)
    for n, top in (("symbol_error", 65535), ("port_rcv_errors", 65535), ("link_downed", 255)):
        devices[1].before[n] = devices[1].after[n] = top
    yield Case(case, "odd", saved(folder, case, node), exits={0, 5})
    case = "infiniband-odd-storage-rail"
    node, rng, _ = fabric(case, seed, 4, load=0.5)
    d = model.rdma(node, rng, "mlx5_8/1", 0.05, 100)
    set_fact(d, hca_type="MT4119")
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "infiniband-odd-vl15"
    node, rng, devices = fabric(case, seed)
    devices[0].add("VL15_dropped", 4)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "infiniband-odd-flush-at-teardown"
    node, rng, devices = fabric(case, seed)
    devices[0].add("req_cqe_error", 640)
    devices[0].add("req_cqe_flush_error", 640)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "infiniband-odd-hdr100"  # two lanes by design
    node, rng, _ = fabric(case, seed, 0)
    model.rdma(node, rng, "mlx5_0/1", 0.4, 100, rate="100 Gb/sec (2X HDR)")
    yield Case(case, "odd", saved(folder, case, node), exits={0})


# ---- TCP/IP ----

def congested(node, v):
    """This part of the packets bears a mark; all are ECN capable."""
    i = node.find("ip", "IpExt")
    inn = node.find("ip", "Tcp").gain("InSegs")
    for n, part in (("InCEPkts", v), ("InECT0Pkts", 1 - v), ("InNoECTPkts", 0)):
        i.after[n] = i.before[n] + int(part * inn)


def ext(node, **gains):
    for n, v in gains.items():
        node.find("ip", "TcpExt").add(n, int(v))


def lose(node, share):
    t = node.find("ip", "Tcp")
    t.after["RetransSegs"] = t.before["RetransSegs"] + max(1, round(share * t.gain("OutSegs")))


TCP = (
    ("retrans", lambda n, v: lose(n, v), (5e-2, 3e-3, 2e-4), "tcp-retrans-ratio", "tcp-.*"),
    ("rto", lambda n, v: ext(n, TCPTimeouts=v * n.seconds), (20, 2, 0.2), "tcp-rto", "tcp-retrans-ratio"),
    ("listen", lambda n, v: ext(n, ListenOverflows=v * n.seconds, ListenDrops=v * n.seconds), (20, 2, 0.3), "tcp-listen-overflow", ""),
    ("syn-queue", lambda n, v: ext(n, TCPReqQFullDrop=v * n.seconds), (20, 2, 0.3), "tcp-syn-queue", ""),
    ("udp", lambda n, v: n.find("ip", "Udp").add("RcvbufErrors", max(3, int(v * n.find("ip", "Udp").gain("InDatagrams")))), (0.4, 0.03, 0.003), "udp-rcvbuf", ""),
    ("softnet", lambda n, v: n.find("ip", "softnet").add("dropped/cpu1", int(v * n.seconds)), (500, 20, 1), "softnet-drop", ""),
    ("ecn", congested, (0.4, 0.15, 0.02), "ecn-marked", ""),
    ("backlog", lambda n, v: ext(n, TCPBacklogDrop=max(2, v * n.seconds)), (50, 5, 1), "tcp-backlog-drop", ""),
    ("zero-window", lambda n, v: slow_reader(n, v), (100, 20, 4), "tcp-zero-window", ""),
    ("syn-retrans", lambda n, v: (n.find("ip", "Tcp").add("ActiveOpens", 2000), ext(n, TCPSynRetrans=2000 * v)), (0.5, 0.1, 0.03), "tcp-syn-retrans", ""),
)
TCP_ONCE = (
    ("pruned", lambda n: ext(n, PruneCalled=900, RcvPruned=300), "tcp-rcv-prune", ""),
    ("no-memory", lambda n: ext(n, TCPMemoryPressures=30, TCPAbortOnMemory=12), "tcp-memory", ""),
    ("checksum", lambda n: n.find("ip", "Tcp").add("InCsumErrors", 300), "tcp-checksum", ""),
    ("given-up", lambda n: ext(n, TCPAbortOnTimeout=4, TCPTimeouts=40), "tcp-abort", "tcp-rto"),
    ("orphans", lambda n: n.find("ip", "sockstat").after.update(TCP_orphan=200000), "tcp-orphans", ""),
    ("discards", lambda n: n.find("ip", "Ip").add("InDiscards", n.find("ip", "Ip").gain("InReceives") // 200), "ip-discards", ""),
    ("memory-full", lambda n: n.find("ip", "sockstat").after.update(TCP_mem=4400000), "tcp-memory-full", ""),
)


def slow_reader(node, rate):
    """Little data and many stops."""
    i = node.find("ip", "IpExt")
    i.after["InOctets"] = i.before["InOctets"] + int(rate * node.seconds * 200000)
    ext(node, TCPToZeroWindowAdv=rate * node.seconds, TCPFromZeroWindowAdv=rate * node.seconds)


def loopback(node, rng, octets):
    d = node.device("netdev", "lo", {"kind": "loopback", "ifindex": "1", "mtu": "65536"}, False)
    for n in ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes"):
        d.counter(n, octets if n.endswith("bytes") else octets // 30000, "bytes" if n.endswith("bytes") else "packets")


def tcp(folder, seed):
    for name, act, values, rule, more in TCP:
        for strength, word in STEPS:
            case = "tcp-%s-%s" % (name, word)
            node = base(case, seed, 60)[0]
            act(node, values[strength - 1])
            yield Case(case, "single", saved(folder, case, node), "(%s)" % rule, allowed=[more] if more else [], strength=strength)
    for name, act, rule, more in TCP_ONCE:
        case = "tcp-" + name
        node = base(case, seed, 60)[0]
        act(node)
        yield Case(case, "single", saved(folder, case, node), "(%s)" % rule, allowed=[more] if more else [])
    for a, b in (("retrans", "rto"), ("listen", "udp"), ("softnet", "retrans")):
        case = "tcp-%s+%s" % (a, b)
        node = base(case, seed, 60)[0]
        table = {row[0]: row for row in TCP}
        labels = []
        for x in (a, b):
            table[x][1](node, table[x][2][0])
            labels.append("(%s)" % table[x][3])
        yield Case(case, "pair", saved(folder, case, node), labels, planted=labels, allowed=["tcp-.*"])
    for load in LOADS:
        for seconds in (1, 60, 3600):
            case = "tcp-healthy-%g-%ds" % (load, seconds)
            yield Case(case, "healthy", saved(folder, case, base(case, seed, seconds, load)[0]), exits={0})
    case = "tcp-odd-loopback"  # 30 Gbit/s between two programs here; the reader is a step behind, some segments are repeated by the timer of the tail
    node, rng, d, e = base(case, seed, 1, 0.0001)
    loopback(node, rng, 3 * 10**9)
    i = node.find("ip", "IpExt")
    i.add("InOctets", 3 * 10**9)
    node.find("ip", "Tcp").add("OutSegs", 100000)
    node.find("ip", "Tcp").add("InSegs", 100000)
    lose(node, 6e-5)
    ext(node, TCPToZeroWindowAdv=334, TCPFromZeroWindowAdv=334)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "tcp-odd-one-timeout-in-a-second"
    node = base(case, seed, 1, 0.01)[0]
    ext(node, TCPTimeouts=1)
    yield Case(case, "single", saved(folder, case, node), [], planted=[], allowed=["tcp-rto"], exits={0}, most="watch")
    case = "tcp-odd-fresh-boot"  # all counters began minutes ago
    node = base(case, seed, 60, 0.05)[0]
    for d in node.devices:
        for n, c in d.counters.items():
            if c["kind"] == "counter":
                gain = d.gain(n)
                d.before[n], d.after[n] = gain // 3, gain // 3 + gain
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "tcp-idle"
    yield Case(case, "idle", saved(folder, case, base(case, seed, 300, 0.0)[0]), exits={0})


# ---- the host ----

def share(source, name, counters):
    def act(n, v):
        for c, factor in counters:
            n.find(source, name).add(c, int(v * factor * 1e6 * n.seconds))
    return act


def steal(n, v, what="steal"):
    c = n.find("cpu", "cpu")
    us = int(v * 64 * 1e6 * n.seconds)
    c.add(what, us)
    c.after["idle"] -= min(us, c.gain("idle"))


HOST = (
    ("cpu-pressure", share("pressure", "pressure", (("cpu_some", 1),)), (0.86, 0.3, 0.15), "cpu-pressure", "cpu-busy"),
    ("memory-pressure", share("pressure", "pressure", (("memory_some", 1.3), ("memory_full", 1))), (0.4, 0.05, 0.02), "mem-pressure", ""),
    ("io-wait", lambda n, v: steal(n, v, "iowait"), (0.45, 0.25, 0.12), "io-wait", ""),
    ("steal", lambda n, v: steal(n, v), (0.3, 0.12, 0.06), "cpu-steal", ""),
    ("swap", lambda n, v: (n.find("memory", "memory").add("pswpin", int(v * n.seconds)), n.find("memory", "memory").add("pswpout", int(v * n.seconds))),
     (5000, 200, 5), "swap", ""),
    ("major-faults", lambda n, v: n.find("memory", "memory").add("pgmajfault", int(v * n.seconds)), (20000, 3000, 700), "major-faults", ""),
    ("edac-corrected", lambda n, v: n.find("edac", "mc0").add("ce_count", int(v)), (10**6, 500, 20), "edac-corrected", ""),
)
HOST_ONCE = (
    ("oom", lambda n: n.find("memory", "memory").add("oom_kill", 1), "oom-kill.*", "mem-.*"),
    ("edac-uncorrected", lambda n: n.find("edac", "mc0").add("ue_count", 1), "edac-uncorrected", ""),
    ("memory-full", lambda n: n.find("memory", "memory").after.update(MemAvailable=4 * 2**30, MemFree=2**30), "mem-limit-node", "mem-peak"),
    ("numa", lambda n: n.find("memory", "memory").add("numa_other", 80000 * n.seconds), "numa-memory", ""),
)


def host_node(case, seed, seconds=30, busy=0.45, load=0.1, gpus=0, **more):
    rng = random.Random("%s %d" % (case, seed))
    node = Node(case, seconds)
    model.host(node, rng, busy=busy, **more)
    model.ethernet(node, rng, "eth0", load)
    model.tcp(node, rng, load * 100000 * seconds + 1000)
    if gpus:
        model.gpus(node, rng, gpus)
    return node, rng


def host(folder, seed):
    for name, act, values, rule, more in HOST:
        for strength, word in STEPS:
            case = "host-%s-%s" % (name, word)
            node, _ = host_node(case, seed)
            act(node, values[strength - 1])
            yield Case(case, "single", saved(folder, case, node), "(%s)" % rule, allowed=[more] if more else [], strength=strength)
    for name, act, rule, more in HOST_ONCE:
        case = "host-" + name
        node, _ = host_node(case, seed)
        act(node)
        yield Case(case, "single", saved(folder, case, node), "(%s)" % rule, allowed=[more] if more else [])
    for name, hit in (("one", [3]), ("all", range(8))):
        case = "host-gpu-clocks-" + name
        node, _ = host_node(case, seed, gpus=8)
        for i in hit:
            d = node.find("gpu", "gpu%d" % i)
            d.after["loaded_cycles"] = d.before["loaded_cycles"] + d.gain("loaded_time") * 600
        yield Case(case, "single" if name == "one" else "node", saved(folder, case, node), "gpu-clock-drop@gpu%s" % ("3" if name == "one" else ".*"))
    for name, change, rule in (("ecc", {"ecc_uncorrected": 2}, "gpu-ecc"), ("hot", {"reason_hardware": 12 * 10**6}, "gpu-throttle-.*"),
                               ("nvlink", {"nvlink_crc_errors": 500}, "gpu-nvlink-crc")):
        case = "host-gpu-" + name
        node, _ = host_node(case, seed, gpus=8)
        for n, v in change.items():
            node.find("gpu", "gpu5").add(n, v)
        yield Case(case, "single", saved(folder, case, node), "(%s)@gpu5" % rule)
    for a, b, leads in (("cpu-pressure", "edac-corrected", None), ("swap", "memory-pressure", None), ("steal", "io-wait", None)):
        table = {row[0]: row for row in HOST}
        case = "host-%s+%s" % (a, b)
        node, _ = host_node(case, seed, busy=0.2)
        for x in (a, b):
            table[x][1](node, table[x][2][0])
        labels = ["(%s)" % table[x][3] for x in (a, b)]
        yield Case(case, "pair", saved(folder, case, node), labels, planted=labels, allowed=["major-faults", "mem-.*"])
    for busy in (0.05, 0.5, 0.9, 0.99):
        for seconds in (1, 30, 3600):
            case = "host-healthy-%g-%ds" % (busy, seconds)
            yield Case(case, "healthy", saved(folder, case, host_node(case, seed, seconds, busy, 0.1, gpus=4 if seconds == 30 else 0)[0]), exits={0})
    case = "host-idle"
    yield Case(case, "idle", saved(folder, case, host_node(case, seed, 60, 0.004, 0.0)[0]), exits={0})
    case = "host-odd-one-corrected-error"  # in an hour
    node, _ = host_node(case, seed, 3600)
    node.find("edac", "mc0").add("ce_count", 1)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "host-odd-old-swap"
    node, _ = host_node(case, seed)
    m = node.find("memory", "memory")
    m.before["SwapFree"] = m.after["SwapFree"] = 2**29
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "host-odd-large-memory-in-use"
    yield Case(case, "odd", saved(folder, case, host_node(case, seed, used=0.86)[0]), exits={0})
    case = "host-odd-program-loads"  # a second of page faults
    node, _ = host_node(case, seed, 60)
    node.find("memory", "memory").add("pgmajfault", 9000)
    yield Case(case, "odd", saved(folder, case, node), exits={0})

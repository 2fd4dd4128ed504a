"""Jobs, pairs of runs and NCCL logs: what `job`, `compare` and `nccl` are asked about."""
import json
import os
import random
import subprocess

import model
from cases import STEPS, Case, base, saved
from model import SECOND, WALL, Node, count

GIB = 2**30
LINE = 25e9  # bytes/s of a NIC


# ---- recordings of a job ----

CXI = (("hni_sts_tx_ok_octets", "bytes"), ("hni_sts_rx_ok_octets", "bytes"), ("hni_tx_ok_opt", "packets"), ("hni_rx_ok_opt", "packets"),
       ("hni_tx_paused_0", "cycles"), ("hni_rx_paused_0", "cycles"), ("pct_retry_srb_requests", "packets"), ("pct_spt_timeouts", "events"),
       ("hni_pcs_corrected_cw", "codewords"), ("hni_pcs_uncorrected_cw", "codewords"))
HOST = (("cpu", "cpu", (("user", "us", "counter"), ("idle", "us", "counter"), ("system", "us", "counter"), ("iowait", "us", "counter"),
                        ("context_switches", "events", "counter"))),
        ("memory", "memory", (("MemTotal", "bytes", "gauge"), ("MemAvailable", "bytes", "gauge"), ("oom_kill", "events", "counter"))),
        ("pressure", "pressure", (("cpu_some", "us", "counter"), ("memory_full", "us", "counter"))))


class Job:
    """NODES x NICS at `load` of the line, one reading every `step` seconds. A fault is a function of (node, nic, part of the time gone) that
    changes what a NIC does in a second: {"load", "paused" (held by the network), "holds", "uncorrected", "retries", "timeouts"}."""

    def __init__(self, name, seed, nodes=8, nics=4, seconds=240, step=2, load=0.4, noise=0.03):
        self.name, self.rng, self.nodes, self.nics, self.seconds, self.step = name, random.Random("%s %d" % (name, seed)), nodes, nics, seconds, step
        self.load, self.noise, self.faults, self.hosts, self.exit, self.missing, self.facts = load, noise, [], [], "0", set(), {}
        self.lost = lambda node, part: False  # a reading that nobody made

    def nic(self, node, nic, part):
        x = {"load": self.load, "paused": 0.0005, "holds": 0.0002, "uncorrected": 0, "retries": 0, "timeouts": 0}
        for f in self.faults:
            f(x, node, nic, part)
        return x

    def host(self, node, part):
        x = {"busy": 0.6, "some": 0.01, "used": 0.4, "stall": 0, "oom": 0}
        for f in self.hosts:
            f(x, node, part)
        return x

    def write(self, folder):
        paths = []
        for n in range(self.nodes):
            if n in self.missing:
                continue
            path = os.path.join(folder, "%s-n%02d.json" % (self.name, n + 1))
            with open(path, "w", encoding="ascii") as to:
                json.dump(self.recording(n), to, separators=(",", ":"))
            paths.append(path)
        return paths

    def recording(self, n):
        rng, host = self.rng, "n%02d" % (n + 1)
        devices = [("cxi", "cxi%d" % i, [(c, u, "counter") for c, u in CXI]) for i in range(self.nics)] + list(HOST)
        values = {(s, d): {c: 10**12 if k == "counter" and u in ("bytes", "packets", "us") else 0 for c, u, k in rows} for s, d, rows in devices}
        snapshots = []
        for k in range(int(self.seconds / self.step) + 1):
            t, part = k * self.step, k * self.step / self.seconds
            common = rng.gauss(1, self.noise / 2)  # all nodes' steps are alike
            for i in range(self.nics):
                self.move(values["cxi", "cxi%d" % i], self.nic(n, i, part), 0 if k == 0 else self.step, common)
            self.move_host(values, self.host(n, part), 0 if k == 0 else self.step)
            ns = 10**12 + int(t * SECOND)
            if self.lost(n, part):
                continue
            snapshots.append({"schema": 0, "set": "all", "begin_ns": ns, "end_ns": ns + 10**6, "wall_ns": WALL + int(t * SECOND), "stamp_error_ns": 0,
                              "devices": [{"device": d, "source": s, "begin_ns": ns, "end_ns": ns + 10**6, "values": dict(values[s, d])}
                                          for s, d, _ in devices]})
        schema = {"facts": {"host": host, "boot_id": host}, "sources": [{"name": s, "status": "ok", "errno": 0, "path": "", "devices": 1}
                                                                        for s in ("cxi", "cpu", "memory", "pressure")],
                  "devices": [{"source": s, "name": d, "identity": i, "physical": True, "virtual": False,
                               "facts": {"speed_mbps": "200000"} if s == "cxi" else {"cpus": "64"} if s == "cpu" else {},
                               "counters": [{"name": c, "unit": u, "kind": kind, "width": 56 if s == "cxi" else 64, "scale": 1, "flags": []}
                                            for c, u, kind in rows]} for i, (s, d, rows) in enumerate(devices)]}
        facts = {"node": host, "job_id": "4711", "job_name": "train", "interval_ns": str(int(self.step * SECOND)), "exit_status": self.exit, **self.facts}
        return {"format": "netprof", "version": 1, "facts": facts, "schemas": [schema], "snapshots": snapshots, "deltas": []}

    def move(self, v, x, dt, common):
        rng = self.rng
        # A NIC that is held cannot send meanwhile.
        room = 1 - x["paused"]
        for way, more in (("tx", room), ("rx", 1)):
            octets = max(0, int(x["load"] * more * LINE * dt * common * rng.gauss(1, self.noise)))
            v["hni_sts_%s_ok_octets" % way] += octets
            v["hni_%s_ok_opt" % way] += octets // 2088
        v["hni_tx_paused_0"] += int(x["paused"] * rng.uniform(0.9, 1.1) * 1e9 * dt)
        v["hni_rx_paused_0"] += int(x["holds"] * rng.uniform(0.9, 1.1) * 1e9 * dt)
        v["hni_pcs_corrected_cw"] += count(rng, 0.5 * dt)
        for c, what in (("hni_pcs_uncorrected_cw", "uncorrected"), ("pct_retry_srb_requests", "retries"), ("pct_spt_timeouts", "timeouts")):
            v[c] += count(rng, x[what] * dt)

    def move_host(self, values, x, dt):
        c, m, p = values["cpu", "cpu"], values["memory", "memory"], values["pressure", "pressure"]
        us = 64 * dt * 1e6
        busy = x["busy"] * self.rng.uniform(0.97, 1.0)
        c["user"] += int(us * busy * 0.95)
        c["system"] += int(us * busy * 0.05)
        c["idle"] += int(us * (1 - busy))
        c["context_switches"] += count(self.rng, 4000 * dt)
        m["MemTotal"], m["MemAvailable"] = 512 * GIB, int(512 * GIB * (1 - x["used"]))
        m["oom_kill"] += x["oom"] if dt else 0
        p["cpu_some"] += int(x["some"] * 1e6 * dt)
        p["memory_full"] += int(x["stall"] * 1e6 * dt)


def between(a, b, part):
    return a <= part < b


def slow(x, share):
    x["load"] *= share


def jobs(folder, seed):
    rng = random.Random(seed)
    for load in (0.0, 0.01, 0.1, 0.4, 0.8):
        for noise in (0.03, 0.25):
            j = Job("jobs-healthy-%g-%g" % (load, noise), seed, load=load, noise=noise)
            yield Case(j.name, "idle" if load == 0 else "healthy", ["job", *j.write(folder)], exits={0})
    for strength, (share, a, b) in ((1, (0.44, 0.4, 0.7)), (2, (0.3, 0.4, 0.7)), (3, (0.08, 0.4, 0.7))):
        n, i = rng.randrange(8), rng.randrange(4)
        j = Job("jobs-one-nic-held-%d" % strength, seed)

        def held(x, node, nic, part):
            if between(a, b, part):
                if (node, nic) == (n, i):
                    x["paused"] = share
                slow(x, 1 - share / 2)  # the job waits for it
        j.faults.append(held)
        yield Case(j.name, "single", ["job", *j.write(folder)], "~n%02d.*cxi%d" % (n + 1, i), allowed=["egress-paused", "~n%02d" % (n + 1)],
                   forbidden=["~cxi%d\\) slowed" % i, "~^n%02d's NIC.* slowed" % (n + 1)], strength=strength)
    for strength, share in ((1, 0.5), (2, 0.25), (3, 0.05)):
        n, i = rng.randrange(8), rng.randrange(4)
        j = Job("jobs-host-holds-%d" % strength, seed)
        j.faults.append(lambda x, node, nic, part: between(0.3, 0.8, part) and x.update(holds=share) if (node, nic) == (n, i) else None)
        yield Case(j.name, "single", ["job", *j.write(folder)], "~n%02d.*cxi%d" % (n + 1, i), allowed=["ingress-paused"], strength=strength)
    j = Job("jobs-fabric-held", seed)
    j.faults.append(lambda x, node, nic, part: (x.update(paused=0.3), slow(x, 0.7)) if between(0.4, 0.65, part) else None)
    yield Case(j.name, "fabric", ["job", *j.write(folder)], "~.", planted=["(egress-paused|nic-paused|.*fabric.*|.*congest.*)"],
               allowed=["~."], forbidden=["~^n\\d+.s NIC", "~n\\d+.s NIC .*slowed", "~^n\\d+ (NIC \\d )?\\(?cxi\\d"])
    n, i = rng.randrange(8), rng.randrange(4)
    j = Job("jobs-held-and-uncorrected", seed)
    j.faults.append(lambda x, node, nic, part: x.update(paused=0.4, uncorrected=20) if (node, nic) == (n, i) and between(0.4, 0.65, part) else None)
    yield Case(j.name, "pair", ["job", *j.write(folder)], ["uncorrected-codewords", "~uncorrect|could not be corrected"],
               planted=["uncorrected-codewords", "~transmit (blocked|paused)"], allowed=["~n%02d" % (n + 1)])
    for name, kind in (("checkpoint", "odd"), ("barrier", "odd")):
        j = Job("jobs-odd-" + name, seed)

        def pause(x, node, nic, part, name=name):
            if between(0.45, 0.55, part):
                slow(x, 0.02 if name == "checkpoint" else 0.0005)
                if name == "checkpoint" and (node, nic) == (2, 1):
                    x["paused"] = 0.008
        j.faults.append(pause)
        yield Case(j.name, kind, ["job", *j.write(folder)], exits={0})
    j = Job("jobs-odd-single-rail", seed)
    j.faults.append(lambda x, node, nic, part: slow(x, 0.0) if nic else None)
    yield Case(j.name, "odd", ["job", *j.write(folder)], exits={0})
    j = Job("jobs-odd-late-start", seed)
    j.faults.append(lambda x, node, nic, part: slow(x, 0.001) if part < 0.2 or part > 0.9 else None)
    yield Case(j.name, "odd", ["job", *j.write(folder)], exits={0})
    j = Job("jobs-odd-master-node", seed)  # rank 0 also writes the logs: a little more memory and CPU
    j.hosts.append(lambda x, node, part: x.update(used=0.46, busy=0.63) if node == 0 else None)
    yield Case(j.name, "odd", ["job", *j.write(folder)], exits={0})
    j = Job("jobs-slow-without-a-cause", seed)
    j.faults.append(lambda x, node, nic, part: slow(x, 0.62) if between(0.4, 0.65, part) else None)
    yield Case(j.name, "odd", ["job", *j.write(folder)], exits={0})  # said, at most info: nobody is to blame
    peer = "(.*peer.*|.*silent.*|.*rail.*|.*balance.*|.*slow.*|.*lower.*)"
    n, i = rng.randrange(8), rng.randrange(4)
    for name, share in (("silent", 0.0), ("half", 0.5)):
        j = Job("jobs-%s-nic" % name, seed)
        j.faults.append(lambda x, node, nic, part: slow(x, share) if (node, nic) == (n, i) else None)
        yield Case(j.name, "single", ["job", *j.write(folder)], peer, planted=["~n%02d.*cxi%d" % (n + 1, i)], allowed=["~n%02d" % (n + 1)])
    j = Job("jobs-slow-node", seed)
    j.faults.append(lambda x, node, nic, part: slow(x, 0.5) if node == n else None)
    yield Case(j.name, "single", ["job", *j.write(folder)], "~n%02d" % (n + 1), allowed=["~n%02d" % (n + 1)])
    j = Job("jobs-memory-grows", seed)
    j.hosts.append(lambda x, node, part: x.update(used=0.4 + 0.5 * part) if node == 3 else None)
    yield Case(j.name, "single", ["job", *j.write(folder)], "~n04.*memory|memory.*n04", allowed=["~n04"])
    j = Job("jobs-cpu-contended", seed)
    j.hosts.append(lambda x, node, part: x.update(some=0.7, busy=0.99) if node == 5 else None)
    yield Case(j.name, "single", ["job", *j.write(folder)], "cpu-pressure", allowed=["~n06", "cpu-.*"])
    for name, key, rule in (("timeouts", "timeouts", "network-timeouts"), ("uncorrected", "uncorrected", "uncorrected-codewords"),
                            ("retries", "retries", "retries")):
        j = Job("jobs-" + name, seed)
        j.faults.append(lambda x, node, nic, part, key=key: x.update({key: 10}) if (node, nic) == (n, i) else None)
        yield Case(j.name, "single", ["job", *j.write(folder)], rule, allowed=["retries"])
    j = Job("jobs-failed", seed)
    j.exit = "137"
    yield Case(j.name, "single", ["job", *j.write(folder)], "~137|exit|killed|status", allowed=["~."])
    j = Job("jobs-node-without-recording", seed)
    j.missing = {4}
    j.facts = {"scheduler": "slurm", "job_nodes": ",".join("n%02d" % (k + 1) for k in range(8)), "job_node_count": "8"}
    # nothing is known of that node, neither good nor bad
    yield Case(j.name, "unjudged", ["job", *j.write(folder)], [], most="unknown", says="n05: no recording, 7 of 8 nodes", allowed=["~."], exits={5})


# ---- compare ----

def run(case, name, seed, load=0.2, seconds=44, spread=0.03, **more):
    """One of the runs of a case: the same node and work; its throughput differs by about `spread` from run to run, and what is rare by that
    and more, each counter for itself."""
    rng = random.Random("%s %s %d" % (case, name, seed))
    node = base(case, seed, seconds, load, **more)[0]
    node.host, node.boot = "node1", "one"
    common = max(0.3, rng.gauss(1, spread))
    for d in node.devices:
        for n, c in d.counters.items():
            if c["kind"] != "counter" or d.source in ("cpu", "memory"):
                continue
            gain = d.gain(n)
            usual = n.endswith(("bytes", "packets", "packets_phy", "bytes_phy", "Segs", "Octets", "InReceives", "InDelivers", "OutRequests", "NoECTPkts"))
            own = 1 if usual or n.startswith("processed") or n == "rx_bits_phy" else max(0.1, rng.gauss(1, max(0.15, spread)))
            d.after[n] = d.before[n] + (int(gain * common) if usual and n != "RetransSegs" else count(rng, gain * own))
    return node


def compare(folder, seed):
    def side(case, names, act=None, file_facts=None, **more):
        paths = []
        for x in names:
            node = run(case, x, seed, **more)
            node.file_facts = dict(file_facts or {})
            if act:
                act(node)
            paths.append(saved(folder, "%s-%s" % (case, x), node)[1])
        return paths

    for healthy, spread in ((1, 0.03), (1, 0.1), (3, 0.05), (3, 0.2), (5, 0.2), (5, 0.3)):
        for turn in range(2):
            case = "compare-healthy-%d-%g-%d" % (healthy, spread, turn)
            yield Case(case, "healthy", ["compare", *side(case, ["h%d" % i for i in range(healthy)], spread=spread), "--", *side(case, ["f"], spread=spread)],
                       exits={0})
    for turn in range(3):
        case = "compare-a-a-%d" % turn
        paths = side(case, ["r%d" % i for i in range(6)], spread=0.05)
        random.Random(seed + turn).shuffle(paths)
        yield Case(case, "healthy", ["compare", *paths[:3], "--", *paths[3:]], exits={0})
    faults = (("crc", lambda n: n.find("ethtool", "eth0").add("rx_crc_errors_phy", 9000), "~crc|damaged"),
              ("paused", lambda n: n.find("ethtool", "eth0").add("rx_prio3_pause_duration", 12 * 10**6), "~paus|stopped|held|blocked"),
              ("ring", lambda n: n.find("ethtool", "eth0").add("rx_out_of_buffer", 40000), "~receive buffer|rx_out_of_buffer"),
              ("retrans", lambda n: n.find("ip", "Tcp").add("RetransSegs", 40000), "~sent again|RetransSegs"),
              ("cpu", lambda n: n.find("pressure", "pressure").add("cpu_some", 30 * 10**6), "~CPU"),
              ("edac", lambda n: n.find("edac", "mc0").add("ue_count", 3), "~memory"))
    for name, act, label in faults:
        for healthy in (1, 3):
            case = "compare-%s-%d" % (name, healthy)
            yield Case(case, "single", ["compare", *side(case, ["h%d" % i for i in range(healthy)], spread=0.03), "--", *side(case, ["f"], act, spread=0.03)],
                       label, allowed=["~."])
    case = "compare-fifth-in-the-same-time"  # of nodes, not of a command: whether less was to be done is not known
    yield Case(case, "unjudged", ["compare", *side(case, ["h0", "h1", "h2"]), "--", *side(case, ["f0", "f1", "f2"], load=0.04)], [],
               allowed=["~slow|throughput"], forbidden=["~^Nothing went worse"])
    for name, facts, more, label in (("throughput", {}, {"load": 0.04}, "~slow|throughput|longer"),
                                     ("exit", {"exit_status": "1"}, {}, "~exit|status|failed|ended"),
                                     ("duration", {"elapsed_ns": str(132 * SECOND)}, {"load": 0.2 / 3, "seconds": 132}, "~slow|long|took")):
        case = "compare-command-" + name
        command = {"command": "./solver -n 4", "elapsed_ns": str(44 * SECOND), "exit_status": "0"}
        yield Case(case, "single", ["compare", *side(case, ["h0", "h1", "h2"], file_facts=command), "--",
                                    *side(case, ["f0", "f1", "f2"], file_facts={**command, **facts}, **more)], label, allowed=["~."],
                   forbidden=["~^Nothing went worse"])
    case = "compare-longer-for-the-same-work"
    yield Case(case, "single", ["compare", *side(case, ["h0", "h1", "h2"]), "--", *side(case, ["f0", "f1", "f2"], load=0.2 / 12, seconds=528)],
               "~slow|longer|took", allowed=["~."], forbidden=["~^Nothing went worse"])

    def mtu(node):
        node.find("netdev", "eth0").facts["mtu"] = "1500"
        node.find("ip", "TcpExt").add("TCPLostRetransmit", 800)
    case = "compare-mtu"
    yield Case(case, "single", ["compare", *side(case, ["h0", "h1", "h2"]), "--", *side(case, ["f0", "f1", "f2"], mtu)], [], allowed=["~MTU"],
               says="MTU")
    case = "compare-same-file-twice"
    path = side(case, ["h"])[0]
    yield Case(case, "unjudged", ["compare", path, "--", path], [], allowed=[], forbidden=["~."], exits={2})
    case = "compare-nothing-in-common"
    other = run(case, "other", seed)
    other.host, other.boot = "node2", "two"
    for d in other.devices:
        d.name = "x" + d.name
    yield Case(case, "unjudged", ["compare", *side(case, ["h"]), "--", saved(folder, case + "-other", other)[1]], [], forbidden=["~."], exits={3})


# ---- ranks of an MPI program ----

def mpi(bin_folder, folder, seed):
    make = os.environ.get("MAKE_RANKS") or os.path.join(bin_folder, "..", "tests", "make_ranks")
    if not os.path.exists(make):
        return

    def ranks(name, **options):
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        words = [x for key, value in options.items() for x in ("-" + key, str(value))]
        subprocess.run([make, "-d", str(seed + sum(map(ord, name))), *words, path], check=True)
        return ["regions", path]

    for call in ("MPI_Barrier", "MPI_Allreduce", "MPI_Recv", "MPI_Waitall"):
        for strength, by in ((1, 1.0), (2, 0.3), (3, 0.1)):
            name = "mpi-late-%s-%s" % (call[4:].lower(), STEPS[strength - 1][1])
            yield Case(name, "single", ranks(name, n=8, k="late", r=5, x=by, c=call, e=0.02), "~^(Rank|rank) 5\\b", strength=strength)
        name = "mpi-odd-early-" + call[4:].lower()  # who comes first waits; nobody waits for it
        yield Case(name, "single", ranks(name, n=8, k="early", r=1, x=0.9, c=call, e=0.02), [], allowed=["~^Work is uneven"], most="watch",
                   forbidden=["~[Rr]ank \\d+ .*(slow|late)"])
        for noise in (0.01, 0.1, 0.3):
            name = "mpi-healthy-%s-%g" % (call[4:].lower(), noise)
            yield Case(name, "healthy", ranks(name, n=16, k="even", c=call, e=noise))
    for number in (4, 64, 256):
        name = "mpi-late-of-%d" % number
        yield Case(name, "single", ranks(name, n=number, p=16, k="late", r=2, x=0.5, e=0.03), "~^(Rank|rank) 2\\b")
        name = "mpi-healthy-of-%d" % number
        yield Case(name, "healthy", ranks(name, n=number, p=16, k="even", e=0.1))
    # One rank alone, from half of the run on: it works double, half, or nothing; who works less is not accused.
    for number in (8, 64, 512):
        for noise in (0.02, 0.3):
            rank = number // 3
            made = dict(n=number, p=16, r=rank, o=0.5, e=noise)
            name = "mpi-alone-double-of-%d-%g" % (number, noise)
            yield Case(name, "single", ranks(name, k="late", x=1.0, **made), "~^(Rank|rank) %d\\b" % rank, tells="alone works longer from ")
            for share, what in ((0.5, "half"), (1.0, "silent")):
                name = "mpi-odd-%s-of-%d-%g" % (what, number, noise)
                yield Case(name, "odd", ranks(name, k="early", x=share, **made), tells="Rank %d .*alone (works less|does next to no work) from " % rank)
    # Ranks that ask again and again whether something has come: what they do in between is no work.
    for option, what in (("a", "naps"), ("b", "spins")):
        name = "mpi-late-beside-" + what
        yield Case(name, "single", ranks(name, n=8, k="late", r=5, x=1.0, e=0.02, **{option: 2}), "~^(Rank|rank) 5\\b")
        name = "mpi-healthy-one-" + what
        yield Case(name, "healthy", ranks(name, n=8, k="even", e=0.3, **{option: 8}))
        name = "mpi-odd-early-" + what  # all but one work for ten times as long; it asks for them meanwhile
        yield Case(name, "single", ranks(name, n=8, k="early", r=0, x=0.9, e=0.02, **{option: 8}), [], allowed=["~^Work is uneven"], most="watch",
                   forbidden=["~[Rr]ank \\d+ .*(slow|late)"])
    name = "mpi-late-host"
    yield Case(name, "node", ranks(name, n=16, p=4, k="host", r=9, x=0.5, e=0.02), "~h2|[Rr]anks 8")
    name = "mpi-two-in-turn"
    yield Case(name, "pair", ranks(name, n=8, k="turns", r=2, x=1.0, e=0.02), "~[Rr]anks? (0|1)\\b", allowed=["~[Rr]ank"])
    name = "mpi-drifting"
    yield Case(name, "single", ranks(name, n=8, p=8, k="drifts", x=2.0, e=0.02), "~[Rr]anks? [0-3]\\b|turn|drift|one after", allowed=["~[Rr]ank"])
    name = "mpi-odd-once"  # one step of 200 was 3 steps long
    yield Case(name, "odd", ranks(name, n=8, k="once", r=3, x=3, e=0.05))


# ---- NCCL ----

def nccl(bin_folder, folder, seed):
    def logs(name, *words):
        path = os.path.join(folder, name)
        subprocess.run([os.path.join(bin_folder, "nccl-generate"), path, "--seed", str(seed + sum(map(ord, name))), *map(str, words)], check=True,
                       stdout=subprocess.DEVNULL)
        return ["nccl", path]

    for i, words in enumerate((("--records", 8000, "--side", 2, "--gpus", 4), ("--records", 8000, "--side", 1, "--gpus", 8),
                               ("--records", 12000, "--side", 3, "--gpus", 2), ("--records", 8000, "--side", 2, "--gpus", 4, "--minor", 4),
                               ("--records", 8000, "--side", 2, "--gpus", 4, "--drop", 0.01))):
        yield Case("nccl-healthy-%d" % i, "healthy", logs("nccl-healthy-%d" % i, *words), exits={0})
    yield Case("nccl-odd-few-records", "odd", logs("nccl-odd-few-records", "--records", 60, "--side", 1, "--gpus", 8), exits={0, 5})
    for us, strength in ((200, 1), (50, 2), (20, 3)):
        name = "nccl-late-rank-%dus" % us
        yield Case(name, "single", logs(name, "--records", 8000, "--side", 2, "--gpus", 4, "--late-rank", 5, "--late-us", us), "nccl-late-rank",
                   allowed=["nccl-late-.*"], strength=strength)
    for side, gpus in ((1, 8), (2, 8), (4, 8)):
        made = ("--records", 400 * side * side * gpus, "--side", side, "--gpus", gpus, "--late-us", 400, "--late-from", 0.5)
        for spread in (12, 100):
            name = "nccl-late-from-half-of-%d-%d" % (side * side * gpus, spread)
            yield Case(name, "single", logs(name, *made, "--late-rank", 5, "--spread", spread), "nccl-late-rank", allowed=["nccl-late-.*"],
                       tells="rank \\d+ (of \\S+, )?on host sim-001,? was last .*from sn \\d+ to the end")
        name = "nccl-odd-early-of-%d" % (side * side * gpus)
        yield Case(name, "odd", logs(name, *made, "--early-rank", 5), exits={0, 5}, tells="rank \\d+ (of \\S+, )?on host sim-001,? alone waits longer in .* from sn \\d+ to the end")
    for us, strength in ((200, 1), (100, 2), (50, 3)):
        name = "nccl-late-node-%dus" % us
        yield Case(name, "single", logs(name, "--records", 12000, "--side", 2, "--gpus", 4, "--late-node", 2, "--late-us", us), "nccl-late-(node|host|rank)",
                   allowed=["nccl-late-.*"], strength=strength)
    for side, factor, strength in ((2, 2.5, 1), (2, 2, 1), (2, 1.5, 2), (3, 1.5, 2), (4, 1.5, 2), (4, 1.3, 3)):
        name = "nccl-slow-node-%d-%g" % (side, factor)
        yield Case(name, "single", logs(name, "--records", 16000, "--side", side, "--gpus", 4, "--slow-node", 1, "--slow-factor", factor), "nccl-slow-.*",
                   allowed=["nccl-slow-.*"], strength=strength)
    name = "nccl-late-and-slow"
    yield Case(name, "pair", logs(name, "--records", 12000, "--side", 2, "--gpus", 4, "--late-rank", 3, "--late-us", 300, "--slow-node", 2,
                                  "--slow-factor", 2.5), ["nccl-late-rank", "nccl-slow-.*"], planted=["nccl-late-rank", "nccl-slow-.*"], allowed=["nccl-.*"])

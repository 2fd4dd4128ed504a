"""Peers: one NIC of a node, one NIC or node of a job, one node of several that alone does less, more or nothing, and what looks like it and
is none. Noise is lasting (each device has its own share) in two readings, and of each step in a recording."""
import random

import model
from cases import Case, saved
from model import Node
from runs import Job, between, slow

KINDS = (("silent", 0.0), ("half", 0.5), ("double", 2.0))


def rail(case, seed, loads, seconds=44, gbits=400):
    """A node with a port of InfiniBand for each load (a share of the line; with a pair, of a line of so many Gb/s)."""
    rng = random.Random("%s %d" % (case, seed))
    node = Node(case, seconds)
    model.host(node, rng)
    for i, load in enumerate(loads):
        speed = gbits
        if isinstance(load, tuple):
            load, speed = load
        node_load = (load * rng.uniform(0.98, 1.0), load * rng.uniform(0.98, 1.0))
        model.rdma(node, rng, "mlx5_%d/1" % i, node_load, speed)
    model.ethernet(node, rng, "eno1", 0.001, 1000, 1500, "ice")
    model.tcp(node, rng, 2000)
    return node


def noisy(rng, load, noise):
    return min(0.97, max(0.02, load * rng.gauss(1, noise)))


def of_a_node(folder, seed):
    rng = random.Random(seed)
    for count, noise in ((2, 0.03), (4, 0.01), (8, 0.03), (64, 0.05)):
        for name, share in KINDS:
            case, odd = "peers-%d-nics-%s" % (count, name), rng.randrange(count)
            loads = [noisy(rng, 0.35, noise) for _ in range(count)]
            loads[odd] *= share
            node = rail(case, seed, loads)
            if count == 2:  # which of two is the odd one nobody knows; that they differ is said
                yield Case(case, "odd", saved(folder, case, node), exits={0})
            else:
                yield Case(case, "single", saved(folder, case, node), "rdma-peers@mlx5_%d/1" % odd)
    for count, noise in ((16, 0.2), (8, 0.1), (5, 0.02)):
        case, odd = "peers-%d-nics-silent-in-noise" % count, rng.randrange(count)
        loads = [noisy(rng, 0.35, noise) for _ in range(count)]
        loads[odd] = 0.0
        yield Case(case, "single", saved(folder, case, rail(case, seed, loads)), "rdma-peers@mlx5_%d/1" % odd)
    for count in (2, 3, 4, 8, 16, 64):
        for noise in (0.01, 0.1, 0.3):
            case = "peers-%d-nics-healthy-%g" % (count, noise)
            yield Case(case, "healthy", saved(folder, case, rail(case, seed, [noisy(rng, 0.3, noise) for _ in range(count)])), exits={0})
    odd = {"one-rail-of-8": [0.6] + [0.0] * 7, "two-rails-of-4": [0.5, 0.0, 0.5, 0.0], "half-of-the-ranks": [0.5, 0.5, 0.25, 0.25],
           "another-speed": [0.4, 0.4, 0.4, (0.4, 200)], "idle": [0.0002, 0.0, 0.0003, 0.0], "two-and-one-unused": [0.3, 0.0]}
    for name, loads in odd.items():
        case = "peers-odd-" + name
        node = rail(case, seed, loads)
        if name == "another-speed":
            node.find("rdma", "mlx5_3/1").facts["hca_type"] = "MT4123"
        yield Case(case, "odd", saved(folder, case, node), exits={0})
    case = "peers-odd-unconfigured-port"
    r = random.Random(case)
    node = Node(case, 44)
    model.host(node, r)
    for i in range(4):
        model.ethernet(node, r, "eth%d" % i, 0.2 if i < 3 else 0.0, 100000)
    yield Case(case, "odd", saved(folder, case, node), exits={0})
    for a, share in (("uncorrected", 0.0), ("discards", 0.5)):  # pairs: an odd one, and a fault of another port
        case, (k, m) = "peers-%s+%s" % ("silent" if not share else "half", a), rng.sample(range(8), 2)
        loads = [noisy(rng, 0.35, 0.02) for _ in range(8)]
        loads[k] *= share
        node = rail(case, seed, loads)
        name, gain, rule = {"uncorrected": ("symbol_error", 400, "ib-symbol-ber"), "discards": ("port_xmit_discards", 3000, "ib-xmit-discards")}[a]
        node.find("rdma", "mlx5_%d/1" % m).add(name, gain)
        labels = ["rdma-peers@mlx5_%d/1" % k, "%s@mlx5_%d/1" % (rule, m)]
        yield Case(case, "pair", saved(folder, case, node), labels[1], planted=labels)


# From half of the time on, in windows of a 64th of the 240 s.
SINCE = "from (1:5[2-9]|2:0[0-8]) "


def of_a_job(folder, seed):
    rng = random.Random(seed)
    for nodes, nics, noise in ((1, 2, 0.05), (1, 4, 0.1), (1, 8, 0.2), (2, 2, 0.05), (4, 2, 0.1), (8, 4, 0.3), (16, 4, 0.05)):
        for name, share in KINDS:
            n, i = rng.randrange(nodes), rng.randrange(nics)
            j = Job("peers-job-%dx%d-%s" % (nodes, nics, name), seed, nodes, nics, noise=noise, load=0.35)
            j.faults.append(lambda x, node, nic, part, n=n, i=i, share=share: slow(x, share) if (node, nic) == (n, i) and part > 0.5 else None)
            yield Case(j.name, "single", ["job", *j.write(folder)], "nic-peers@cxi%d" % i, planted=["~n%02d.*cxi%d.*alone" % (n + 1, i)], says=SINCE)
    for nodes, noise in ((4, 0.03), (8, 0.1), (24, 0.3)):
        for name, share in KINDS[1:]:
            n = rng.randrange(nodes)
            j = Job("peers-job-node-%s-of-%d" % (name, nodes), seed, nodes, 2, noise=noise, load=0.35)
            j.faults.append(lambda x, node, nic, part, n=n, share=share: slow(x, share) if node == n and part > 0.5 else None)
            yield Case(j.name, "single", ["job", *j.write(folder)], "node-peers", planted=["~n%02d alone" % (n + 1)], says=SINCE)
    j = Job("peers-job-two-nics", seed)  # several: none of them is the culprit
    j.faults.append(lambda x, node, nic, part: slow(x, 0.4) if (node, nic) in ((1, 2), (6, 0)) else None)
    yield Case(j.name, "single", ["job", *j.write(folder)], "~2 of 32 NICs on 2 of 8 nodes", forbidden=["~alone (moved|sent)", "~^n0\\d.s NIC"])
    for name, act in (("same-rail-of-all", lambda x, node, nic, part: slow(x, 0.5) if nic == 3 else None),
                      ("rail-unused", lambda x, node, nic, part: slow(x, 0.0) if nic == 3 else None),
                      ("phases", lambda x, node, nic, part: slow(x, 0.1) if int(part * 20) % 4 == 0 else None),
                      ("checkpoint-of-rank-0", lambda x, node, nic, part: slow(x, 0.05 if node else 0.15) if between(0.4, 0.46, part) else None)):
        j = Job("peers-job-odd-" + name, seed)
        j.faults.append(act)
        yield Case(j.name, "odd", ["job", *j.write(folder)], exits={0})
    for nodes, nics in ((1, 4), (2, 2), (3, 4), (8, 1), (16, 2)):
        for noise in (0.01, 0.3):
            j = Job("peers-job-healthy-%dx%d-%g" % (nodes, nics, noise), seed, nodes, nics, noise=noise, load=0.4)
            yield Case(j.name, "healthy", ["job", *j.write(folder)], exits={0})
    yield from of_a_job_with_gaps(folder, seed)
    n, i = rng.randrange(8), rng.randrange(4)
    j = Job("peers-job-silent+timeouts", seed)
    j.faults.append(lambda x, node, nic, part: slow(x, 0.0) if (node, nic) == (n, i) and part > 0.5 else
                    x.update(timeouts=10) if (node, nic) == ((n + 3) % 8, i) else None)
    yield Case(j.name, "pair", ["job", *j.write(folder)], "network-timeouts", planted=["network-timeouts", "~n%02d.*cxi%d.*alone" % (n + 1, i)],
               allowed=["retries"])


def lost_anyhow(rng, nodes, readings=120):
    """A fifth of them; never more than two in a row, as a longer gap is a finding of its own, and none where the fault begins, which nobody
    could know then."""
    lost = set()
    for node in range(nodes):
        for k in range(1, readings):
            if rng.random() < 0.22 and abs(k - readings // 2) > 3 and not {(node, k - 1), (node, k - 2)} <= lost:
                lost.add((node, k))
    return lost


def of_a_job_with_gaps(folder, seed):
    """A fifth of all readings is missing, or a fifth of the time of one node (that of the odd one, or another)."""
    rng = random.Random("gaps %d" % seed)
    for nodes, nics in ((1, 4), (4, 2), (8, 4)):
        for gaps in ("anyhow", "here", "elsewhere"):
            n, i = rng.randrange(nodes), rng.randrange(nics)
            at = n if gaps == "here" else (n + 1) % nodes
            lost = lost_anyhow(rng, nodes) if gaps == "anyhow" else {(at, k) for k in range(18, 42)}
            for name, share in KINDS + (("healthy", 1.0),):
                j = Job("peers-job-gaps-%s-%dx%d-%s" % (gaps, nodes, nics, name), seed, nodes, nics, noise=0.1, load=0.35)
                j.lost = lambda node, part, lost=lost: (node, round(part * 120)) in lost
                j.faults.append(lambda x, node, nic, part, n=n, i=i, share=share: slow(x, share) if (node, nic) == (n, i) and part > 0.5 else None)
                # A fifth in one piece, of all that there is, is a finding of its own: 24 of 121 readings.
                told = ["samples-missing"] if nodes == 1 or gaps == "anyhow" else []
                argv = ["job", *j.write(folder)]
                if name != "healthy":
                    yield Case(j.name, "single", argv, "nic-peers@cxi%d" % i, planted=["~n%02d.*cxi%d.*alone" % (n + 1, i)], allowed=told, says=SINCE)
                elif gaps == "anyhow":
                    continue  # that a tenth or more is missing may be said or not: a unit test has the healthy ones
                elif told:
                    yield Case(j.name, "single", argv, "samples-missing", forbidden=["~alone"])
                else:
                    yield Case(j.name, "healthy", argv, exits={0})


def of_nodes(folder, seed):
    """`check` of nodes that were read before and after."""
    rng = random.Random(seed)

    def some(case, number, act=None, noise=0.03, load=0.2):
        files = []
        for i in range(number):
            r = random.Random("%s %d %d" % (case, i, seed))
            node = Node("n%02d" % i, 44)
            model.host(node, r)
            x = {"mtu": 9000, "speed": 100000, "load": noisy(r, load, noise), "facts": {}, "firmware": "22.36.1010"}
            if act:
                act(x, i)
            way = (x["load"] * r.uniform(0.98, 1), x["load"] * r.uniform(0.98, 1))
            _, e = model.ethernet(node, r, "eth0", way, x["speed"], x["mtu"], **x["facts"])
            e.facts["fw_version"] = x["firmware"]
            model.tcp(node, r, x["load"] * 100000 * 44 + 1000)
            files.append(saved(folder, "%s-%d" % (case, i), node)[1])
        return ["check", *files]

    for number in (4, 8, 64):
        k = rng.randrange(number)
        case = "peers-nodes-mtu-of-%d" % number
        yield Case(case, "single", some(case, number, lambda x, i: x.update(mtu=1500) if i == k else None), "node-settings@eth0",
                   planted=["~alone has MTU 1500; the %d other nodes 9000" % (number - 1)], says="n%02d" % k)
        case = "peers-nodes-speed-of-%d" % number
        yield Case(case, "single", some(case, number, lambda x, i: x.update(speed=25000) if i == k else None), "node-settings@eth0",
                   planted=["~alone has link speed 25 Gb/s; the %d other nodes 100 Gb/s" % (number - 1)], says="n%02d" % k)
        for name, share in KINDS[1:]:
            case = "peers-nodes-%s-of-%d" % (name, number)
            yield Case(case, "single", some(case, number, lambda x, i: x.update(load=x["load"] * share) if i == k else None, 0.01), "node-peers",
                       planted=["~alone moved .*; the %d other nodes" % (number - 1)], says="n%02d" % k)
    case = "peers-nodes-odd-firmware"
    yield Case(case, "odd", some(case, 8, lambda x, i: x.update(firmware="22.31.2006") if i == 5 else None), exits={0})
    case = "peers-nodes-odd-firmware-half"
    yield Case(case, "odd", some(case, 8, lambda x, i: x.update(firmware="22.31.2006") if i % 2 else None), exits={0})
    case = "peers-nodes-odd-idle-node"  # nobody says that it takes part
    yield Case(case, "odd", some(case, 6, lambda x, i: x.update(load=0.0) if i == 2 else None), exits={0})
    case = "peers-nodes-mtu-half"  # a mismatch, and nobody to blame
    yield Case(case, "single", some(case, 8, lambda x, i: x.update(mtu=1500) if i % 2 else None), "~divide in MTU: 4 have", forbidden=["~n0\\d: eth0"])
    for number in (2, 3, 5, 16):
        for noise in (0.02, 0.3):
            case = "peers-nodes-healthy-%d-%g" % (number, noise)
            yield Case(case, "healthy", some(case, number, noise=noise), exits={0})


def of_ports(folder, seed):
    """The same port of each node, where the node's own others do not tell: two ports, or ports that are meant to differ."""
    rng = random.Random(seed)

    def some(case, number, shares, act=None, noise=0.02):
        files = []
        for i in range(number):
            r = random.Random("%s %d %d" % (case, i, seed))
            loads = [noisy(r, 0.4 * x, noise) for x in shares]
            if act:
                act(loads, i)
            node = rail("n%02d" % i, seed, loads)
            files.append(saved(folder, "%s-%d" % (case, i), node)[1])
        return ["check", *files]

    for number in (4, 16, 64):
        for name, share in KINDS:
            k, port = rng.randrange(number), rng.randrange(2)
            case = "peers-port-%s-of-%d-nodes" % (name, number)
            yield Case(case, "single", some(case, number, (1, 1), lambda x, i: x.__setitem__(port, x[port] * share) if i == k else None),
                       "rdma-peers@mlx5_%d/1" % port, planted=["~alone moved .*; the same NIC of the %d other nodes" % (number - 1)], says="n%02d" % k)
        case = "peers-port-odd-uneven-%d" % number
        yield Case(case, "odd", some(case, number, (1, 1, 0.5, 0.5)), exits={0})
        case = "peers-port-odd-one-uneven-%d" % number
        yield Case(case, "odd", some(case, number, (1, 0.5, 0.5, 0.5)), exits={0}, tells=r"NIC 2 \(mlx5_0/1\) of %d nodes moved more than" % number)
        # One node's first port does less than the same port of all others, and so as much as most of its own: its second port,
        # which does what it should, is the one that differs within the node.
        case, k = "peers-port-half-uneven-%d" % number, rng.randrange(number)
        yield Case(case, "single", some(case, number, (1, 1, 0.5, 0.5), lambda x, i: x.__setitem__(0, x[0] * 0.5) if i == k else None, 0.01), "rdma-peers@mlx5_0/1",
                   planted=["~alone moved .*; the same NIC of the %d other nodes" % (number - 1)], says="n%02d" % k)
        case, k = "peers-port-double-uneven-%d" % number, rng.randrange(number)
        yield Case(case, "single", some(case, number, (1, 0.5, 0.5, 0.5), lambda x, i: x.__setitem__(slice(0, 2), (x[1], x[0])) if i == k else None), "rdma-peers",
                   says="n%02d" % k)
        case = "peers-port-healthy-%d" % number
        yield Case(case, "healthy", some(case, number, (1, 1), noise=0.1), exits={0})
        k = rng.randrange(number)  # what its own others tell is told once
        case = "peers-port-told-once-of-%d" % number
        yield Case(case, "single", some(case, number, (1,) * 8, lambda x, i: x.__setitem__(3, x[3] * 0.5) if i == k else None), "rdma-peers@mlx5_3/1",
                   says="n%02d" % k, forbidden=["~same NIC"])


def peers(folder, seed):
    yield from of_ports(folder, seed)
    yield from of_a_node(folder, seed)
    yield from of_a_job(folder, seed)
    yield from of_nodes(folder, seed)

"""Nodes as netprof's JSON, made of a few physical quantities: packets make bytes, pauses fit into the time, and no line carries more
than its rate. What is not changed by a fault is healthy, with the noise of a healthy node."""
import json
import random

SECOND = 10**9
WALL = 1700000000 * SECOND


def count(rng, mean):
    """A whole number, `mean` on average (Poisson where it is small)."""
    if mean <= 0:
        return 0
    if mean > 50:
        return max(0, round(rng.gauss(mean, mean ** 0.5)))
    total, limit = 0, 2.718281828459045 ** -mean
    product = rng.random()
    while product > limit:
        total += 1
        product *= rng.random()
    return total


class Device:
    def __init__(self, source, name, facts=None, physical=True):
        self.source, self.name, self.facts, self.physical = source, name, dict(facts or {}), physical
        self.counters, self.before, self.after, self.not_ok = {}, {}, {}, {}

    def counter(self, name, gain, unit="packets", width=64, scale=1, flags=(), history=None, kind="counter"):
        """history: what the counter held before. A counter that saturates stays at its largest value."""
        if history is None:
            history = 0 if gain == 0 else 1000 * gain + 12345
        top = 2 ** width - 1 if width else 2 ** 64 - 1
        if width < 32 and width:
            history = min(history, 3)
        self.counters[name] = {"name": name, "unit": unit, "kind": kind, "width": width, "scale": scale, "flags": list(flags)}
        self.before[name], self.after[name] = min(history, top), min(history + gain, top) if width and width <= 32 else (history + gain) & top

    def level(self, name, before, after=None, unit="", kind="gauge"):
        self.counters[name] = {"name": name, "unit": unit, "kind": kind, "width": 64, "scale": 1, "flags": []}
        self.before[name], self.after[name] = before, before if after is None else after

    def add(self, name, gain, unit="packets"):
        """More of a counter that may be there already."""
        if name not in self.counters:
            self.counter(name, 0, unit)
        self.after[name] += gain

    def gain(self, name):
        return self.after[name] - self.before[name]


class Node:
    """Two snapshots of a node, `seconds` apart."""

    def __init__(self, host, seconds=10, facts=None):
        self.host, self.seconds, self.devices, self.facts = host, seconds, [], dict(facts or {})
        self.file_facts, self.new, self.later = {}, set(), {}  # devices of the second snapshot only; facts there, by (source, name)
        self.gone, self.absent, self.boot, self.sweep_ns = set(), [], host + "-boot", 400000

    def device(self, source, name, facts=None, physical=True):
        d = Device(source, name, facts, physical)
        self.devices.append(d)
        return d

    def find(self, source, name):
        return next(d for d in self.devices if d.source == source and d.name == name)

    def schema(self, without, later):
        devices = [d for d in self.devices if (d.source, d.name) not in without]
        sources = sorted({d.source for d in self.devices})
        rows = [{"name": s, "status": "ok", "errno": 0, "path": "", "devices": sum(d.source == s for d in devices)} for s in sources]
        rows += [{"name": s, "status": status, "errno": number, "path": path, "devices": 0} for s, status, number, path in self.absent]
        return {"facts": {"host": self.host, "boot_id": self.boot, "kernel": "6.1.0", "netprof": "0.1.0", **self.facts}, "sources": rows,
                "devices": [{"source": d.source, "name": d.name, "identity": 100 + self.devices.index(d), "physical": d.physical, "virtual": not d.physical,
                             "facts": {**d.facts, **later.get((d.source, d.name), {})}, "counters": list(d.counters.values())} for d in devices]}, devices

    def snapshot(self, schema, devices, t, after):
        ns, rows = 10**12 + round(t * SECOND), []
        for d in devices:
            values = {n: (d.after if after else d.before)[n] for n in d.counters}
            row = {"device": d.name, "source": d.source, "begin_ns": ns, "end_ns": ns + self.sweep_ns, "values": values}
            if d.not_ok:
                row["values"] = {n: None if n in d.not_ok else v for n, v in values.items()}
                row["not_ok"] = d.not_ok
            rows.append(row)
        return {"schema": schema, "set": "all", "begin_ns": ns, "end_ns": ns + self.sweep_ns, "wall_ns": WALL + round(t * SECOND),
                "stamp_error_ns": 0, "devices": rows}

    def write(self, path):
        first, devices = self.schema(self.new, {})
        schemas, left = [first], devices
        if self.gone or self.new or self.later:
            second, left = self.schema(self.gone, self.later)
            schemas.append(second)
        snapshots = [self.snapshot(0, devices, 0, False), self.snapshot(len(schemas) - 1, left, self.seconds, True)]
        with open(path, "w", encoding="ascii") as to:
            json.dump({"format": "netprof", "version": 1, "facts": self.file_facts, "schemas": schemas, "snapshots": snapshots, "deltas": []}, to,
                      separators=(",", ":"))


# ---- Ethernet ----

PCI = {"pci": "0000:15:00.0", "pci_speed": "32.0 GT/s PCIe", "pci_width": "16", "pci_max_speed": "32.0 GT/s PCIe", "pci_max_width": "16",
       "numa_node": "0", "local_cpus": "0-51"}
MLX5 = ("rx_out_of_buffer rx_discards_phy tx_discards_phy tx_queue_dropped rx_crc_errors_phy rx_pcs_symbol_err_phy "
        "rx_oversize_pkts_phy rx_buffer_passed_thres_phy rx_pci_signal_integrity tx_pci_signal_integrity outbound_pci_stalled_wr_events "
        "outbound_pci_stalled_rd_events outbound_pci_buffer_overflow link_down_events_phy tx_queue_stopped rx_steer_missed_packets "
        "module_bus_stuck module_high_temp module_bad_shorted tx_pause_storm_warning_events tx_pause_storm_error_events").split()


def ethernet(node, rng, name="eth0", load=0.1, speed=100000, mtu=9000, driver="mlx5", rdma_bytes=(0, 0), kind="physical", carrier=1, **facts):
    """A port with `load` of its line each way (a pair: received, sent). Returns the netdev and the ethtool device."""
    rx, tx = load if isinstance(load, tuple) else (load, load * rng.uniform(0.8, 1.1))
    line = (speed or 25000) * 1e6 / 8
    place = {"kind": kind, "ifindex": str(2 + len(node.devices)), "mtu": str(mtu), "operstate": "up" if carrier else "down", "duplex": "full",
             "carrier": str(carrier), "mac": "02:00:00:00:%02x:%02x" % (rng.randrange(256), len(node.devices))}
    if speed:
        place["speed_mbps"] = str(speed)
    if driver != "virtio_net":
        place.update(PCI)
    place.update(facts)
    d = node.device("netdev", name, dict(place, driver=driver + ("_core" if driver == "mlx5" else "")), kind == "physical")
    # A third of the packets are acknowledgements of 66 bytes, the others nearly fill the MTU.
    full, small = mtu + 14, 66
    mean = (2 * full + small) / 3
    rows = []
    for way, part in (("rx", rx), ("tx", tx)):
        packets = count(rng, part * line * node.seconds / mean)
        rows.append((way, packets, packets // 3 * small + (packets - packets // 3) * full))
    for way, packets, octets in rows:
        d.counter(way + "_packets", packets, flags=["fast"])
        d.counter(way + "_bytes", octets, "bytes", flags=["fast"])
    for n in ("rx_errors tx_errors rx_dropped tx_dropped collisions rx_length_errors rx_over_errors rx_crc_errors rx_frame_errors "
              "rx_fifo_errors rx_missed_errors tx_aborted_errors tx_carrier_errors tx_fifo_errors rx_nohandler").split():
        d.counter(n, 0)
    d.counter("multicast", count(rng, 0.5 * node.seconds))
    d.level("carrier", carrier, kind="state")
    d.counter("carrier_up_count", 0, "events", history=2)
    d.counter("carrier_down_count", 0, "events", history=1)
    d.counter("qdisc_drops", 0)
    d.counter("qdisc_requeues", count(rng, 0.01 * rows[1][1] ** 0.5), "packets")
    e = node.device("ethtool", name, {"driver": d.facts["driver"]}, False)
    if driver == "mlx5":
        mlx5(e, node, rng, rows, rdma_bytes, line)
    elif driver == "ice":
        for n in ("rx_dropped.nic rx_crc_errors.nic link_xoff_rx.nic link_xoff_tx.nic mac_local_faults.nic mac_remote_faults.nic tx_timeout.nic "
                  "tx_dropped_link_down.nic rx_oversize.nic tx_busy tx_restart").split():
            e.counter(n, 0)
    elif driver == "ena":
        for n in "bw_in bw_out pps conntrack linklocal".split():
            e.counter(n + "_allowance_exceeded", 0)
        for n in ("tx_timeout", "rx_overruns"):
            e.counter(n, 0)
        for q in range(4):
            e.counter("queue_%d_tx_queue_stop" % q, 0)
    elif driver == "virtio_net":
        for q in range(2):
            e.counter("rx_queue_%d_drops" % q, 0)
            e.counter("tx_queue_%d_tx_timeouts" % q, 0)
    return d, e


def mlx5(e, node, rng, rows, rdma_bytes, line):
    for n in MLX5:
        e.counter(n, 0)
    for (way, packets, octets), more in zip(rows, rdma_bytes):
        e.counter(way + "_packets_phy", packets + int(more) // 4156)
        e.counter(way + "_bytes_phy", octets + 4 * packets + int(more), "bytes")
        for p in range(8):
            e.counter("%s_prio%d_pause" % (way, p), 0)
            if p == 3:
                e.counter("%s_prio3_pause_duration" % way, 0, "us")
        e.counter("%s_global_pause" % way, 0)
        e.counter("%s_prio3_bytes" % way, int(more), "bytes")
        e.counter("%s_vport_rdma_unicast_bytes" % way, int(more), "bytes")
    bits = int(line * 8 * node.seconds)
    e.counter("rx_bits_phy", bits, "bits")
    e.counter("rx_corrected_bits_phy", count(rng, bits * 10 ** rng.uniform(-12, -8.6)), "bits")


# ---- InfiniBand, RoCE, EFA ----

OLD = (("VL15_dropped", 16), ("excessive_buffer_overrun_errors", 4), ("link_downed", 8), ("link_error_recovery", 8),
       ("local_link_integrity_errors", 4), ("port_rcv_constraint_errors", 8), ("port_rcv_errors", 16), ("port_rcv_remote_physical_errors", 16),
       ("port_xmit_constraint_errors", 8), ("port_xmit_discards", 16), ("symbol_error", 16))
HW = ("duplicate_request implied_nak_seq_err local_ack_timeout_err out_of_buffer out_of_sequence packet_seq_err req_cqe_error "
      "req_cqe_flush_error req_remote_access_errors req_remote_invalid_request resp_cqe_error resp_cqe_flush_error resp_local_length_error "
      "resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans roce_adp_retrans_to req_transport_retries_exceeded "
      "req_rnr_retries_exceeded").split()
ROCE = ("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "rp_cnp_ignored", "rx_icrc_encapsulated")


def rdma(node, rng, name="mlx5_0/1", load=0.1, gbits=400, roce=False, reordered=0.0, state=4, **facts):
    rx, tx = load if isinstance(load, tuple) else (load * rng.uniform(0.93, 1.0), load * rng.uniform(0.93, 1.0))
    place = {"link_layer": "Ethernet" if roce else "InfiniBand", "rate": "%d Gb/sec (4X NDR)" % gbits, "rate_bps": str(gbits * 10**9),
             "hca_type": "MT4129", "fw_ver": "28.39.1002", "node_guid": "0c42:a103:0065:5b%02x" % len(node.devices), "lifespan_ms": "10", **PCI}
    place.update(facts)
    d = node.device("rdma", name, place)
    packets = {}
    for way, part in (("rcv", rx), ("xmit", tx)):
        # Payload of 4096 and a header of 26, and one acknowledgement of 30 for 16 packets.
        octets_each = (4122 * 16 + 30) / 17
        packets[way] = count(rng, part * gbits * 1e9 / 8 * node.seconds / octets_each)
        acks = packets[way] // 17
        d.counter("port_%s_packets" % way, packets[way], flags=["fast"])
        d.counter("port_%s_data" % way, (acks * 30 + (packets[way] - acks) * 4122) // 4 * 4, "bytes", scale=4, flags=["fast"])
        d.counter("multicast_%s_packets" % way, count(rng, 0.2 * node.seconds))
    for n, width in OLD:
        d.counter(n, 0, "errors", width=width, flags=["saturates"])
    # Waiting for credit as arbitration of a shared link leaves it: under half a percent of the time (ticks of 8 bytes).
    wait = 0.0 if max(rx, tx) < 0.001 else rng.uniform(0, 0.004)
    d.counter("port_xmit_wait", int(wait * gbits * 1e9 * node.seconds / 64), "ticks", width=64)
    for n in HW + list(ROCE if roce else ()):
        d.counter(n, 0, "events", width=0, flags=["slow-refresh"])
    d.after["out_of_sequence"] += count(rng, packets["rcv"] * reordered)
    if roce:
        marked = count(rng, packets["rcv"] * 10 ** rng.uniform(-6, -3.5))
        d.after["np_ecn_marked_roce_packets"] += marked
        d.after["np_cnp_sent"] += (marked + 9) // 10
        d.after["rp_cnp_handled"] += count(rng, packets["xmit"] * 10 ** rng.uniform(-7, -5.3))
    d.level("state", state, kind="state")
    d.level("phys_state", 5 if state == 4 else 3, kind="state")
    return d


def efa(node, rng, name="rdmap0s6/1", load=0.1):
    d = node.device("rdma", name, {"link_layer": "Unspecified", "rate_bps": str(100 * 10**9), "driver": "efa"})
    for way in ("tx", "rx"):
        packets = count(rng, load * 100e9 / 8 * node.seconds / 8900)
        d.counter(way + "_pkts", packets)
        d.counter(way + "_bytes", packets * 8900, "bytes")
    for n in ("rx_drops retrans_timeout_events impaired_remote_conn_events unresponsive_remote_events rdma_read_wr_err "
              "rdma_write_wr_err").split():
        d.counter(n, 0, "events")
    d.counter("retrans_pkts", count(rng, d.gain("tx_pkts") * 10 ** rng.uniform(-7, -5)))
    return d


# ---- TCP/IP ----

def tcp(node, rng, segments=200000, loss=None, marked=None):
    """The stack of a node that sent and received so many segments."""
    node.out_segments = out = count(rng, segments)
    inn = count(rng, segments * rng.uniform(0.6, 1.2))
    lost = count(rng, out * (10 ** rng.uniform(-7, -5) if loss is None else loss))
    t = node.device("ip", "Tcp", {"file": "snmp"}, False)
    for n, v in (("InSegs", inn), ("OutSegs", out), ("RetransSegs", lost), ("ActiveOpens", count(rng, 0.4 * node.seconds)), ("InErrs", 0),
                 ("PassiveOpens", count(rng, 0.3 * node.seconds)), ("AttemptFails", count(rng, 0.02 * node.seconds)), ("OutRsts", count(rng, 0.05 * node.seconds)),
                 ("EstabResets", count(rng, 0.03 * node.seconds)), ("InCsumErrors", 0)):
        t.counter(n, v, "segments", history=10**7 + v)
    x = node.device("ip", "TcpExt", {"file": "netstat"}, False)
    for n in ("ListenOverflows ListenDrops PruneCalled RcvPruned OfoPruned TCPLostRetransmit TCPTimeouts TCPDSACKOfoRecv TCPAbortOnMemory "
              "TCPAbortOnTimeout TCPMemoryPressures TCPSpuriousRTOs TCPBacklogDrop TCPReqQFullDoCookies TCPReqQFullDrop TCPOFODrop "
              "TCPSpuriousRtxHostQueues TCPToZeroWindowAdv TCPFromZeroWindowAdv TCPSynRetrans TCPZeroWindowDrop TCPRcvQDrop").split():
        x.counter(n, 0, "events", history=rng.randrange(50))
    x.after["TCPDSACKOfoRecv"] += 0
    x.counter("TCPDSACKRecv", lost // 5, "events")
    x.counter("TCPLossProbes", lost // 3, "events")
    x.counter("TCPOFOQueue", count(rng, inn * 10 ** rng.uniform(-5, -3)), "segments")
    i = node.device("ip", "IpExt", {"file": "netstat"}, False)
    ect = inn if marked is not None or rng.random() < 0.3 else 0
    ce = count(rng, ect * (rng.uniform(0, 0.004) if marked is None else marked))
    for n, v in (("InOctets", inn * 4000), ("OutOctets", out * 4000), ("InNoECTPkts", inn - ect), ("InECT0Pkts", ect - ce), ("InECT1Pkts", 0),
                 ("InCEPkts", ce)):
        i.counter(n, v, "packets" if n.endswith("Pkts") else "bytes")
    p = node.device("ip", "Ip", {"file": "snmp"}, False)
    for n, v in (("InReceives", inn), ("InDelivers", inn), ("OutRequests", out), ("InDiscards", 0), ("OutDiscards", 0), ("OutNoRoutes", 0),
                 ("InHdrErrors", 0), ("ReasmReqds", 0), ("ReasmFails", 0), ("FragCreates", 0)):
        p.counter(n, v)
    u = node.device("ip", "Udp", {"file": "snmp"}, False)
    for n, v in (("InDatagrams", count(rng, 30 * node.seconds)), ("OutDatagrams", count(rng, 30 * node.seconds)), ("RcvbufErrors", 0), ("SndbufErrors", 0),
                 ("InErrors", 0), ("InCsumErrors", 0), ("NoPorts", count(rng, 0.1 * node.seconds))):
        u.counter(n, v, "datagrams")
    s = node.device("ip", "softnet", {"file": "softnet_stat"}, False)
    for cpu in range(4):
        s.counter("processed/cpu%d" % cpu, inn // 4)
        s.counter("dropped/cpu%d" % cpu, 0)
        s.counter("time_squeeze/cpu%d" % cpu, count(rng, 0.02 * node.seconds), "times")
    k = node.device("ip", "sockstat", {"file": "sockstat"}, False)
    for n, v in (("TCP_mem", 2000), ("TCP_mem_pressure", 3000000), ("TCP_mem_limit", 4500000), ("TCP_orphan", 2), ("TCP_orphan_limit", 262144)):
        k.level(n, v, v)
    return x


# ---- the host ----

def host(node, rng, cpus=64, busy=0.5, iowait=0.002, steal=0.0, cpu_some=None, memory_gib=512, used=0.4):
    us = cpus * node.seconds * 1e6
    c = node.device("cpu", "cpu", {"cpus": str(cpus)})
    parts = {"user": busy * 0.93, "nice": 0.0, "system": busy * 0.06, "iowait": iowait, "irq": 0.0, "softirq": busy * 0.01, "steal": steal}
    parts["idle"] = 1 - sum(parts.values())
    for n, part in parts.items():
        c.counter(n, int(us * part), "us")
    c.counter("context_switches", count(rng, 3000 * node.seconds), "events")
    c.counter("interrupts", count(rng, 5000 * node.seconds), "events")
    m = node.device("memory", "memory")
    total = memory_gib * 2**30
    for n, v in (("MemTotal", total), ("MemFree", int(total * (1 - used) * 0.7)), ("MemAvailable", int(total * (1 - used))), ("SwapTotal", 8 * 2**30),
                 ("SwapFree", 8 * 2**30)):
        m.level(n, v, v, "bytes")
    for n, v in (("pgfault", count(rng, rng.uniform(100, 20000) * node.seconds)), ("pgmajfault", count(rng, rng.uniform(0, 15) * node.seconds)), ("pswpin", 0),
                 ("pswpout", 0), ("oom_kill", 0), ("numa_local", count(rng, 50000 * node.seconds)), ("numa_other", count(rng, 1500 * node.seconds))):
        m.counter(n, v, "events", history=v + 10**6)
    p = node.device("pressure", "pressure")
    some = rng.uniform(0, 0.04) if cpu_some is None else cpu_some
    for n, part in (("cpu_some", some), ("cpu_full", 0), ("memory_some", rng.uniform(0, 0.001)), ("memory_full", 0), ("io_some", rng.uniform(0, 0.03)),
                    ("io_full", rng.uniform(0, 0.01))):
        p.counter(n, int(part * 1e6 * node.seconds), "us")
    e = node.device("edac", "mc0")
    for n in ("ce_count", "ue_count", "ce_noinfo_count", "ue_noinfo_count"):
        e.counter(n, 0, "errors", history=rng.choice((0, 0, 3)) if n == "ce_count" else 0)


def gpus(node, rng, number=8, busy=0.9, mhz=1980):
    for i in range(number):
        d = node.device("gpu", "gpu%d" % i, {"model": "H100", "job": "yes"})
        us = int(node.seconds * 1e6)
        d.counter("seen_time", us, "us")
        d.counter("busy_time", int(us * busy), "us")
        d.counter("loaded_time", int(us * busy), "us")
        d.counter("loaded_cycles", int(us * busy * mhz), "cycles")
        for n in ("reason_hardware", "reason_thermal", "reason_power_cap"):
            d.counter(n, 0, "us")
        for n in ("ecc_uncorrected", "ecc_corrected", "pcie_replays", "nvlink_replays", "nvlink_recoveries", "nvlink_crc_errors"):
            d.counter(n, 0, "errors")
        for n, v in (("clock_max", 1980), ("nvlinks_up", 18), ("rows_pending", 0), ("rows_failed", 0), ("rows_remapped_uncorrected", 0), ("pcie_width", 16),
                     ("pcie_width_max", 16), ("pcie_generation", 5), ("pcie_generation_max", 5), ("busy", int(100 * busy)), ("temperature", 61)):
            d.level(n, v)


def random_healthy(rng, number):
    """A healthy or idle node of a random kind, load and interval."""
    seconds = rng.choice((1, 5, 10, 44, 60, 300, 3600))
    load = rng.choice((0.0, 0.0005, 0.001, 0.01, 0.1, 0.3, 0.8)) * rng.uniform(0.95, 1.0)
    node = Node("node%03d" % number, seconds)
    kind = rng.choice(("ethernet", "cloud", "infiniband", "roce", "mixed"))
    busy = 0.01 if load == 0 else rng.uniform(0.1, 0.98)
    host(node, rng, busy=busy)
    if kind in ("ethernet", "mixed"):
        ethernet(node, rng, "eth0", load, rng.choice((10000, 25000, 100000)), rng.choice((1500, 9000)), rng.choice(("mlx5", "ice")))
    if kind == "cloud":
        ethernet(node, rng, "ens5", load, rng.choice((None, 25000)), 9001, rng.choice(("ena", "virtio_net")))
    if kind in ("infiniband", "mixed"):
        ethernet(node, rng, "eno1", rng.uniform(0, 0.002), 1000, 1500, "ice")
        for i in range(rng.choice((1, 2, 4, 8))):
            rdma(node, rng, "mlx5_%d/1" % i, load, rng.choice((200, 400)) if i == 0 else int(node.devices[-1].facts["rate_bps"]) // 10**9,
                 reordered=rng.choice((0, 0, 1e-4, 1e-3, 1e-2)))
    if kind == "roce":
        for i in range(rng.choice((1, 2, 4))):
            d = rdma(node, rng, "mlx5_%d/1" % i, load, 200, roce=True, reordered=rng.choice((0, 1e-5, 1e-3)))
            d.facts["netdev"] = "ens%d" % i
            ethernet(node, rng, "ens%d" % i, 0.001, 200000, 9000, "mlx5", (d.gain("port_rcv_data"), d.gain("port_xmit_data")))
    tcp(node, rng, load * 200000 * seconds + 20 * seconds)
    return node, "%s, load %.2g, %d s" % (kind, load, seconds)

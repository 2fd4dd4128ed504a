"""Snapshots of counters, their differences, and files of them."""

from collections import namedtuple

from . import _netprof
from ._frame import frame
from ._regions import Statistics

Device = namedtuple("Device", "source name physical facts")
Source = namedtuple("Source", "name status errno path devices")
Damage = namedtuple("Damage", "offset size text")


class Reading(namedtuple("Reading", "source device counter unit kind value status errno stamp_ns")):
    """One counter in a snapshot. value is None where status says why it could not be read."""

    __slots__ = ()


class Change(namedtuple("Change", "source device counter unit kind flag before after value seconds per_s")):
    """How one counter changed. flag: "ok", "wrapped" (exact); "reset", "suspect" (value is a lower bound); "gauge"
    (before and after, no value); "new", "gone", "unknown" (no value)."""

    __slots__ = ()


class Total(
    namedtuple(
        "Total",
        "rx_bytes tx_bytes rx_packets tx_packets rx_bytes_per_s tx_bytes_per_s rx_packets_per_s tx_packets_per_s errors "
        "seconds devices unknown lower_bound",
    )
):
    """What passed the ports of the node. devices: how many were added up; 0: none counts traffic, and the sums mean
    nothing. lower_bound: a sum may be too small."""

    __slots__ = ()


class Snapshot:
    """The values of all counters at one moment; `after - before` is a Delta."""

    __slots__ = ("_raw",)

    def __init__(self, raw):
        self._raw = raw

    def __sub__(self, before):
        if not isinstance(before, Snapshot):
            return NotImplemented
        return Delta(before, self)

    def __len__(self):
        return len(self._raw.rows())

    def rows(self):
        """A list of Reading."""
        return list(map(Reading._make, self._raw.rows()))

    def frame(self):
        return frame(self._raw.rows(), Reading._fields)

    @property
    def facts(self):
        """Of the node: host, boot_id, kernel, ..."""
        return self._raw.facts()

    @property
    def devices(self):
        return list(map(Device._make, self._raw.devices()))

    @property
    def sources(self):
        """What was looked for, and why it may have no device."""
        return list(map(Source._make, self._raw.sources()))

    @property
    def wall_ns(self):
        """Since 1970-01-01 UTC."""
        return self._raw.times()[0]

    @property
    def sweep_ns(self):
        """How long reading took."""
        return self._raw.times()[2] - self._raw.times()[1]

    @property
    def not_ok(self):
        """How many counters that were asked for have no value."""
        return self._raw.times()[3]

    def save(self, path):
        save(path, [self])

    def __repr__(self):
        return f"<netprof.Snapshot of {len(self.devices)} devices, {len(self)} counters>"


class Delta:
    """Snapshot minus snapshot. print(delta) shows it as text; delta.total is what passed the ports of the node."""

    __slots__ = ("_raw",)

    def __init__(self, before, after, force=False):
        self._raw = _netprof.Delta(before._raw, after._raw, force=force)

    def rows(self, changed=False):
        """A list of Change; changed: only the counters that moved."""
        rows = map(Change._make, self._raw.rows())
        return [row for row in rows if row.value or row.before != row.after] if changed else list(rows)

    def frame(self, changed=False):
        return frame(self.rows(changed), Change._fields)

    def change(self, device, counter):
        """The Change of one counter; KeyError if there is none."""
        return Change._make(self._raw.change(device, counter))

    def totals(self, devices=None):
        """A Total; devices: globs on their names ("lo", "eth*,cxi0"), virtual ones included. None: the node's ports."""
        return Total._make(self._raw.totals(devices))

    @property
    def total(self):
        return self.totals()

    @property
    def seconds(self):
        return self._raw.times()[2] / 1e9

    def __str__(self):
        return self._raw.text()

    def __repr__(self):
        return f"<netprof.Delta over {self.seconds:.6f} s>"


class Context:
    """What is read: as netprof_config in netprof.h. Without arguments everything that this node has."""

    def __init__(self, root=None, sources=None, include=None, exclude=None, fast=None, threads=0):
        self._raw = _netprof.Context(root, sources, include, exclude, fast, threads)

    def snapshot(self, fast=False):
        """fast: only the few counters that answer most questions, which costs far less."""
        return Snapshot(self._raw.snapshot(fast))

    def measure(self, fast=True, devices=None):
        return measure(fast, devices, self)

    def close(self):
        self._raw.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


_default = None


def _context():
    global _default
    if _default is None:
        _default = Context()
    return _default


def snapshot(fast=False):
    """A Snapshot of this node now."""
    return _context().snapshot(fast)


class measure:
    """with netprof.measure() as m: ...; print(m.total). Afterwards m.delta is the Delta, m.total its Total (devices:
    as for Delta.totals()), and print(m) a table."""

    def __init__(self, fast=True, devices=None, context=None):
        self._context = context or _context()
        self._fast = fast
        self._devices = devices
        self.before = self.after = self.delta = None

    def __enter__(self):
        self.after = self.delta = None
        self.before = self._context.snapshot(self._fast)
        return self

    def __exit__(self, *exception):
        self.after = self._context.snapshot(self._fast)
        self.delta = self.after - self.before
        return False

    @property
    def total(self):
        if self.delta is None:
            raise ValueError("the measurement has not ended: there is a total behind the with block")
        return self.delta.totals(self._devices)

    def __str__(self):
        return "" if self.delta is None else str(self.delta)


def save(path, snapshots):
    """Writes a .netprof file, for netprof diff, check, report, ..."""
    _netprof.save(path, [s._raw for s in snapshots])


class Recording:
    """What a .netprof file holds: facts (a dict), snapshots, deltas (each a list of Change), regions (each a
    Statistics), events (of each part of a table its kind and a dict of columns), damage (a list of Damage); complete: whether the writer came to its end. Of files put together the
    facts of a later one replace those before."""

    def __init__(self):
        self.facts = {}
        self.snapshots, self.deltas, self.regions, self.events, self.damage = [], [], [], [], []
        self.complete = True


def load(path):
    """Reads a .netprof file."""
    found = Recording()
    for kind, *item in _netprof.load(path):
        if kind == "fact":
            found.facts[item[0]] = item[1]
        elif kind == "snapshot":
            found.snapshots.append(Snapshot(item[0]))
        elif kind == "delta":
            found.deltas.append(list(map(Change._make, item[0])))
        elif kind == "regions":
            found.regions.append(Statistics(*item[0]))
        elif kind == "events":
            found.events.append(tuple(item))
        elif kind == "damage":
            found.damage.append(Damage(*item))
        else:
            found.complete = found.complete and item[0]
    return found

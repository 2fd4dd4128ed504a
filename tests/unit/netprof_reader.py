"""A second reader of .netprof, written from the description at section 10.1 of netprof.h and from nothing else: if it
reads what netprof.h wrote, the description suffices. Prints what the file holds; texts in hexadecimal.
usage: netprof_reader.py FILE"""
import struct
import sys
import zlib

MASK = (1 << 64) - 1


def as_signed(v):
    v &= MASK
    return v - (1 << 64) if v >> 63 else v


class Payload:
    def __init__(self, data, sum):
        self.data, self.sum, self.at, self.zeros = data, sum, 0, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        v = shift = 0
        while True:
            byte = self.byte()
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v

    def signed(self):
        v = self.varint()
        return -(v + 1 >> 1) if v & 1 else v >> 1

    def text(self):
        n = self.varint()
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def facts(self):
        return [(self.text(), self.text()) for _ in range(self.varint())]

    def zero_code(self, n):
        values = []
        while len(values) < n:
            v = self.varint()
            values.append(v)
            if v == 0:
                values += [0] * self.varint()
        assert len(values) == n
        return values

    def sparse(self, n):
        values, at, count = [0] * n, 0, self.varint()
        if not count:
            return values
        j, k, bits = self.byte(), self.byte(), Bits(self)
        for _ in range(count):
            at += bits.rice(j)
            if k == 64:
                below = bits.take(6)
                values[at] = 1 << below | bits.take(below)
            else:
                values[at] = bits.rice(k) + 1
            at += 1
        return values

    def positions(self, among):
        """Of a list of indices, those that the varints of what lies between name."""
        found, at = [], 0
        for _ in range(self.varint()):
            at += self.varint()
            found.append(among[at])
            at += 1
        return found


class Bits:
    def __init__(self, payload):
        self.payload, self.left, self.word = payload, 0, 0

    def take(self, count):
        v = 0
        for i in range(count):
            if not self.left:
                self.word, self.left = self.payload.byte(), 8
            v |= (self.word & 1) << i
            self.word >>= 1
            self.left -= 1
        return v

    def rice(self, k):
        ones = 0
        while ones < 40 and self.take(1):
            ones += 1
        if ones == 40:
            return self.take(64)
        return ones << k | self.take(k)


def next_name(name):
    first = len(name)
    while first and 48 <= name[first - 1] <= 57:
        first -= 1
    return name[:first] + str(int(name[first:]) + 1).encode()


def read_names(p, n):
    names = []
    while len(names) < n:
        t = p.varint()
        if t:
            names.append((names[-1] if names else b"")[:t - 1] + p.text())
        else:
            for _ in range(p.varint() + 1):
                names.append(next_name(names[-1]))
    return names


class Schema:
    def __init__(self, p):
        self.facts = p.facts()
        self.sources = [(p.text(), p.byte(), p.varint(), p.text(), p.varint()) for _ in range(p.varint())]
        classes = [(p.text(), p.byte(), p.byte(), p.varint(), p.varint()) for _ in range(p.varint())]
        lists = []
        for _ in range(p.varint()):
            n = p.varint()
            names, kinds = read_names(p, n), []
            while len(kinds) < n:
                number, length = p.varint(), p.varint()
                kinds += [classes[number]] * length
            lists.append(list(zip(names, kinds)))
        self.devices, self.counters = [], []  # a device: name, identity, flags, facts, range of counters
        for _ in range(p.varint()):
            name, identity, flags, number = p.text(), p.varint(), p.varint(), p.varint()
            first = len(self.counters)
            self.counters += lists[number]
            self.devices.append((name, identity, flags, p.facts(), range(first, len(self.counters))))
        assert p.at == len(p.data)
        self.key = self.key_number = None
        self.chain, self.sum = None, p.sum


def interpolate(stamps, a, b, m, n):
    return as_signed(stamps[a] + int(m / n * float(as_signed(stamps[b] - stamps[a]))))


class Snapshot:
    def __init__(self, p, schemas):
        self.schema = s = schemas[p.varint()]
        n = len(s.counters)
        self.set, self.wall, self.begin = p.varint(), p.signed(), p.signed()
        self.end = as_signed(self.begin + p.varint())
        self.error, form, key_number = p.varint(), p.byte(), p.varint()
        self.times = []
        for _ in s.devices:
            begin = as_signed(self.begin + p.signed())
            self.times.append((begin, as_signed(begin + p.signed())))
        self.status = []
        while len(self.status) < n:
            length, status, errno = p.varint(), p.byte(), p.byte()
            self.status += [(status, errno)] * length
        assert len(self.status) == n
        with_value = [i for i in range(n) if self.status[i][0] in (1, 6)]
        self.values, changed = [0] * n, set()
        if form == 0:
            for i, v in zip(with_value, p.zero_code(len(with_value))):
                self.values[i] = v
            s.key, s.key_number = self.values, key_number
        else:
            assert s.key_number == key_number
            for i in with_value:
                self.values[i] = s.key[i]
            at = 0
            for _ in range(p.varint()):
                at += p.varint()
                i = with_value[at]
                self.values[i] = (s.key[i] + p.signed()) & MASK
                changed.add(i)
                at += 1
        self.read_stamps(p, with_value, form, changed)
        assert p.at == len(p.data)

    def read_stamps(self, p, with_value, form, changed):
        self.stamps = [0] * len(self.values)
        may = [i for i in with_value if self.schema.counters[i][1][4] & 8]
        without = set(p.positions(may))
        stamped = [i for i in may if i not in without]
        of_device = [[i for i in stamped if i in device[4]] for device in self.schema.devices]
        anchors = set(stamped) if form == 0 else changed & set(stamped)
        for indices in of_device:
            anchors |= set(indices[::64]) | set(indices[-1:])
        if form:
            anchors |= set(p.positions(stamped))
        for indices in of_device:
            if indices:
                self.read_device_stamps(p, indices, anchors)

    def read_device_stamps(self, p, indices, anchors):
        first, step, k = as_signed(self.wall + p.signed()), p.signed(), p.byte()
        self.stamps[indices[0]] = first
        bits, last = Bits(p), 0
        for at in range(1, len(indices)):
            if indices[at] not in anchors:
                continue
            z = bits.rice(k)
            residual = -(z + 1 >> 1) if z & 1 else z >> 1
            self.stamps[indices[at]] = as_signed(self.stamps[indices[last]] + step * (at - last) + residual)
            for m in range(1, at - last):
                self.stamps[indices[last + m]] = interpolate(self.stamps, indices[last], indices[at], m, at - last)
            last = at


def unzigzag(z):
    return -(z + 1 >> 1) if z & 1 else z >> 1


def zigzag(v):
    v = as_signed(v)
    return -2 * v - 1 if v < 0 else 2 * v


def divide(a, b):
    """Rounded towards 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


CUT = 1 << 57


class Counter:
    """What a chain keeps of a counter."""

    def __init__(self, kind):
        self.grows = kind in (0, 3)
        self.value, self.seen = 0, False
        self.C = self.S = self.A = self.L = 0
        self.fresh = False
        self.T = None

    def led(self, R):
        change = divide(self.C, 16)
        return change * R >> 16 if R and 0 < change < 1 << 43 else change

    def expected(self, R):
        return self.value + (self.led(R) if self.S and self.L < self.A else divide(self.C, 16))

    def k(self):
        return (self.S >> 4).bit_length()

    def learn(self, value, z, R):
        D = as_signed(value - self.value)
        first, self.value, self.seen = not self.seen, value, True
        if first or (self.S == 0 and z == 0):
            return R
        C16 = as_signed(16 * D)
        if self.S == 0 or z >> self.k() >= 40:
            self.C = C16 if self.grows else 0
            self.S = zigzag(D) // 4 + 1 if self.grows else 4 * min(z, CUT)
            self.A = self.L = 0
            self.fresh = True
        elif self.fresh:
            if self.grows:
                self.C = as_signed(self.C + divide(as_signed(C16 - self.C), 2))
            self.S = 8 * min(z, CUT)
            self.fresh = False
        else:
            if self.grows:
                off = [min(zigzag(D - change) // 2, CUT) for change in (divide(self.C, 16), self.led(R))]
                self.A += off[0] - self.A // 4
                self.L += off[1] - self.L // 4
                if 1024 <= self.C < 1 << 46 and 0 < D < 1 << 42:
                    R = (C16 << 16) // self.C
                    R = 0 if R >= 1 << 20 else R
                self.C = as_signed(self.C + divide(as_signed(C16 - self.C), 4))
            self.S = self.S - self.S // 8 + min(z, CUT) if z else self.S // 2
        return R


class Chain:
    def __init__(self, schema):
        self.sum, self.position = None, 0
        self.counters = [Counter(c[1][1]) for c in schema.counters]
        self.windows = [[0, 0, False, 1] for _ in schema.devices]  # gap, length, in common, read
        self.begin = self.distance = self.wall = self.tail = 0
        self.status = None


class Step:
    def __init__(self, p, schemas):
        self.schema = schemas[p.varint()]
        builds_on, = struct.unpack("<I", bytes(p.byte() for _ in range(4)))
        position, self.set = p.varint(), p.varint()
        if position == 0:
            assert builds_on == self.schema.sum
            self.schema.chain = Chain(self.schema)
        else:
            assert builds_on == self.schema.chain.sum
            self.schema.chain.position += 1
        self.chain = self.schema.chain
        self.chain.sum = p.sum
        assert self.chain.position == position
        self.read_times(p)
        self.read_statuses(p)
        self.read_values(p)
        self.read_stamps(p)
        assert p.at == len(p.data)

    def read_times(self, p):
        c = self.chain
        for window, other in zip(c.windows, p.sparse(len(c.windows))):
            window[3] ^= other
        read = [w for w in c.windows if w[3]]
        codes = iter([unzigzag(z) for z in p.sparse(3 + len(read))])
        lengths = iter([unzigzag(z) for z in p.sparse(len(read))])
        self.begin = as_signed(c.begin + c.distance + next(codes))
        offset = as_signed(c.wall + next(codes))
        self.wall = as_signed(self.begin + offset)
        last, self.times = (self.begin, self.begin), []
        for w in c.windows:
            if not w[3]:
                self.times.append((0, 0))
                continue
            again = as_signed(last[0] - last[1]), as_signed(last[1] - last[0])
            gap, length = again if w[2] else (w[0], w[1])
            w[0], w[1] = as_signed(gap + next(codes)), as_signed(length + next(lengths))
            begin = as_signed(last[1] + w[0])
            w[2] = (w[0], w[1]) == again
            last = begin, as_signed(begin + w[1])
            self.times.append(last)
        tail = as_signed(c.tail + next(codes))
        self.end = as_signed(last[1] + tail)
        c.distance = as_signed(self.begin - c.begin) if c.position else 0
        c.begin, c.wall, c.tail = self.begin, offset, tail

    def read_statuses(self, p):
        n, self.status = len(self.schema.counters), []
        while len(self.status) < n:
            length, status = p.varint(), p.byte()
            end = len(self.status) + length if length else n
            errno = p.byte() if status < 254 else 0
            for i in range(len(self.status), end):
                asked = self.set == 0 or self.schema.counters[i][1][4] & 1
                self.status.append(self.chain.status[i] if status == 254 else
                                   (1 if asked else 0, 0) if status == 255 else (status, errno))
        assert len(self.status) == n
        self.chain.status = self.status

    def read_values(self, p):
        self.values = [0] * len(self.status)
        with_value = [i for i, status in enumerate(self.status) if status[0] in (1, 6)]
        kept = self.chain.counters
        steady = iter(p.sparse(sum(kept[i].S == 0 for i in with_value)))
        bits, device, R = Bits(p), None, 0
        ends = [d[4].stop for d in self.schema.devices]
        at = 0
        for i in with_value:
            while i >= ends[at]:
                at += 1
            if device != at:
                device, R = at, 0
            z = bits.rice(kept[i].k()) if kept[i].S else next(steady)
            self.values[i] = (kept[i].expected(R) + unzigzag(z)) & MASK
            R = kept[i].learn(self.values[i], z, R)

    def read_stamps(self, p):
        self.stamps = [0] * len(self.status)
        may = [i for i, status in enumerate(self.status)
               if status[0] in (1, 6) and self.schema.counters[i][1][4] & 8]
        stamped = [i for i, without in zip(may, p.sparse(len(may))) if not without]
        w, self.error = p.byte(), p.varint()
        last, before = self.wall, 0
        for i, z in zip(stamped, p.sparse(len(stamped))):
            x = self.chain.counters[i]
            T = x.T
            if T is not None and before is not None:
                last += T - before
            last = as_signed(last + (unzigzag(z) << w))
            self.stamps[i] = last
            offset = as_signed(last - self.wall)
            x.T = offset if T is None else as_signed(T + divide(as_signed(offset - T), 4))
            before = T


def print_facts(prefix, facts):
    print(prefix + "".join(" %s=%s" % (key.hex(), value.hex()) for key, value in facts))


def print_snapshot(s):
    print_facts("snapshot %d %d %d %d facts" % (s.set, s.wall, s.begin, s.end), s.schema.facts)
    for name, status, errno, path, devices in s.schema.sources:
        print("source %s %d %d %d %s" % (name.hex(), status, errno, devices, path.hex()))
    for (name, identity, flags, facts, counters), (begin, end) in zip(s.schema.devices, s.times):
        print_facts("device %s %d %d %d %d facts" % (name.hex(), identity, flags, begin, end), facts)
        for i in counters:
            name, (unit, kind, width, scale, flags) = s.schema.counters[i]
            print("counter %s %s %d %d %d %d status %d %d value %d stamp %d" %
                  ((name.hex(), unit.hex(), kind, width, scale, flags) + s.status[i] + (s.values[i], s.stamps[i])))


def print_delta(p, schemas):
    schema = schemas[p.varint()]
    n = len(schema.counters)
    wall_begin, wall_end, interval, sweep = p.signed(), p.signed(), p.signed(), p.varint()
    runs = []
    while len(runs) < n:
        length = p.varint()
        runs += [(p.byte(), p.byte(), p.byte())] * length
    columns = [p.zero_code(n) for _ in range(4)]
    error = p.varint() if p.at < len(p.data) else 0
    print("delta %d %d %d %d %d" % (wall_begin, wall_end, interval, as_signed(sweep), error))
    for i in range(n):
        before = columns[0][i]
        step, more, longer = (-(c[i] + 1 >> 1) if c[i] & 1 else c[i] >> 1 for c in columns[1:])
        print("%s %d %d %d %d %d %d %d" % ((schema.counters[i][0].hex(),) + runs[i] +
              (before, (before + step) & MASK, (step + more) & MASK, as_signed(interval + longer))))
    assert p.at == len(p.data)


def main():
    data = open(sys.argv[1], "rb").read()
    magic, version, zero, order = struct.unpack("<8sHHI", data[:16])
    assert magic == b"\x89NPROF\r\n" and version in (1, 2) and order == 0x01020304
    at, chunks, schemas, complete = 16, 0, {}, False
    while at < len(data):
        tag, length, crc = struct.unpack("<4sII", data[at:at + 12])
        payload = data[at + 12:at + 12 + length]
        assert zlib.crc32(data[at:at + 8] + payload) == crc
        p = Payload(payload, crc)
        if tag == b"FACT":
            print_facts("fact", [(p.text(), p.text())])
        elif tag == b"SCHM":
            number = p.varint()
            assert number == len(schemas)
            schemas[number] = Schema(p)
        elif tag == b"SNAP":
            print_snapshot(Snapshot(p, schemas))
        elif tag == b"STEP":
            print_snapshot(Step(p, schemas))
        elif tag == b"DIFF":
            print_delta(p, schemas)
        complete = tag == b"END " and p.varint() == chunks
        at, chunks = at + 12 + length, chunks + 1
    if complete:
        print("complete")


if __name__ == "__main__":
    main()

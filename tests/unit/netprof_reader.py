"""A second reader of .netprof, written from the description at part 7.16 of netprof.h and from nothing else: if it
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
    def __init__(self, data):
        self.data, self.at, self.zeros = data, 0, 0

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
    print("delta %d %d %d %d" % (wall_begin, wall_end, interval, as_signed(sweep)))
    for i in range(n):
        before = columns[0][i]
        step, more, longer = (-(c[i] + 1 >> 1) if c[i] & 1 else c[i] >> 1 for c in columns[1:])
        print("%s %d %d %d %d %d %d %d" % ((schema.counters[i][0].hex(),) + runs[i] +
              (before, (before + step) & MASK, (step + more) & MASK, as_signed(interval + longer))))
    assert p.at == len(p.data)


def main():
    data = open(sys.argv[1], "rb").read()
    magic, version, zero, order = struct.unpack("<8sHHI", data[:16])
    assert magic == b"\x89NPROF\r\n" and version == 1 and order == 0x01020304
    at, chunks, schemas, complete = 16, 0, {}, False
    while at < len(data):
        tag, length, crc = struct.unpack("<4sII", data[at:at + 12])
        payload = data[at + 12:at + 12 + length]
        assert zlib.crc32(data[at:at + 8] + payload) == crc
        p = Payload(payload)
        if tag == b"FACT":
            print_facts("fact", [(p.text(), p.text())])
        elif tag == b"SCHM":
            number = p.varint()
            assert number == len(schemas)
            schemas[number] = Schema(p)
        elif tag == b"SNAP":
            print_snapshot(Snapshot(p, schemas))
        elif tag == b"DIFF":
            print_delta(p, schemas)
        complete = tag == b"END " and p.varint() == chunks
        at, chunks = at + 12 + length, chunks + 1
    if complete:
        print("complete")


if __name__ == "__main__":
    main()

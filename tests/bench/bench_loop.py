"""Python's open and read over the telemetry files of a tree; a line of nanoseconds for each line of input."""
import os
import re
import sys
import time

clock = time.process_time_ns if sys.argv[2] == "cpu" else time.perf_counter_ns


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


paths = []
top = os.path.join(sys.argv[1], "sys/class/cxi")
for nic in sorted(os.listdir(top), key=natural):
    directory = os.path.join(top, nic, "device/telemetry")
    names = set(os.listdir(directory)) - {"ALL-in-binary", "reset_counters"}
    paths += [os.path.join(directory, name) for name in sorted(names, key=natural)]

print("ready", flush=True)
for _ in sys.stdin:
    begin = clock()
    for path in paths:
        with open(path) as file:
            file.read()
    print(clock() - begin, flush=True)

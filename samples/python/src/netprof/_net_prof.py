"""net_prof's four functions, with its arguments, directories and results:

    import netprof as net_prof

    net_prof.collect("/sys/class/cxi", "before.json")    # or one NIC's .../cxi0/device/telemetry
    net_prof.collect("/sys/class/cxi", "after.json")
    summary = net_prof.summarize("before.json", "after.json")
    net_prof.dump(summary)
    net_prof.dump_html(summary, "report.html")

What differs: any number of NICs; a counter that wrapped or was reset is no negative number; gauges (levels, which rise
and fall) count as changed, "gauges_changed" says how many, but have no difference and are not ranked; a counter that
only one of the two files has is not compared with 0 but listed in "one_sided". Nothing is printed but by dump().
"""

import csv
import datetime
import functools
import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from . import _netprof

_CATALOG = os.path.join(os.path.dirname(__file__), "catalog_cxi.csv")
_NIC = re.compile(r"cxi(\d+)")
# Of what dump() shows side by side: traffic, pause, waiting for the host, repeated and lost packets, bad codewords.
_IMPORTANT = (
    "hni_sts_tx_ok_octets hni_sts_rx_ok_octets hni_rx_paused_0 hni_tx_paused_0 parbs_tarb_pi_posted_pkts "
    "parbs_tarb_pi_posted_blocked_cnt parbs_tarb_pi_non_posted_pkts parbs_tarb_pi_non_posted_blocked_cnt "
    "pct_spt_timeouts pct_sct_timeouts pct_retry_srb_requests pct_no_tct_nacks pct_no_trs_nacks hni_pcs_uncorrected_cw "
    "hni_llr_tx_replay_event hni_llr_rx_replay_event"
).split()
_TOP = 20


# ---- what counters mean ----


def _by_letters(name):
    """The order of `ls`, which passes over what is neither letter nor digit."""
    return re.sub("[^0-9A-Za-z]", "", name), name


@functools.lru_cache(maxsize=None)
def _catalog():
    """{name: (groups, description, unit)}, and the names of Cassini-1's files in the order of net_prof's text."""
    if not os.path.exists(_CATALOG):
        return {}, []
    with open(_CATALOG, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    meaning = {row["name"]: ([group for group in row["groups"].split(";") if group], row["description"], row["unit"]) for row in rows}
    return meaning, sorted((row["name"] for row in rows if row["asic"].startswith("C1")), key=_by_letters)


def _groups_of(name):
    groups, description, unit = _catalog()[0].get(name, ([], "", ""))
    if not groups:
        return ["UNGROUPED"], ["No description"], ["No Units"]
    return groups, [description] * len(groups), [unit] * len(groups)


# ---- collect ----


def _telemetry_directories(path):
    """[(interface, directory)]: interface 1 is cxi0."""
    parts = os.path.abspath(path).rstrip("/").split("/")
    if parts[-1] == "telemetry" and len(parts) >= 3:
        nic = _NIC.match(parts[-3]) or _NIC.match(os.path.basename(os.path.realpath(os.path.join(path, "..", ".."))))
        if nic:
            return [(int(nic.group(1)) + 1, path)]
    nics = sorted(int(nic.group(1)) for nic in map(_NIC.fullmatch, os.listdir(path)) if nic)
    found = [(n + 1, os.path.join(path, f"cxi{n}", "device", "telemetry")) for n in nics]
    found = [(interface, directory) for interface, directory in found if os.path.isdir(directory)]
    if not nics:
        raise ValueError(f"{path!r} is neither a telemetry directory nor the parent of cxi* interfaces")
    if not found:
        raise ValueError(f"no cxi*/device/telemetry below {path!r}")
    return found


_LINE = re.compile(rb"(\d+)@(\d+)\.(\d{1,9})\s*")


def _read_counter(directory, name):
    """(value, seconds, nanoseconds as digits), or the reason why not."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
        try:
            text = os.read(file, 256)
        finally:
            os.close(file)
    except OSError as error:
        return error.strerror
    line = _LINE.fullmatch(text)
    if not line:
        return "expected value@seconds.nanoseconds"
    value, seconds, digits = line.groups()
    return int(value), int(seconds), digits.decode().ljust(9, "0")


def _iso(seconds, digits):
    base = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{base}.{digits[:6]}+00:00"


def _collect_nic(interface, path, unread):
    """The entries of one NIC as text: a double would lose the nanoseconds."""
    entries = []
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        names = sorted(name for name in os.listdir(directory) if _netprof.cassini(name))
        for number, name in enumerate(names, start=1):
            got = _read_counter(directory, name)
            if isinstance(got, str):
                unread.append(f"cxi{interface - 1}/{name}: {got}")
                continue
            value, seconds, digits = got
            groups, descriptions, units = _groups_of(name)
            entries.append(
                f'{{"id": {number}, "interface": {interface}, "counter_name": {json.dumps(name)}, "value": {value}, '
                f'"timestamp": {seconds}.{digits}, "timestamp_ISO_8601": "{_iso(seconds, digits)}", '
                f'"groups": {json.dumps(groups)}, "descriptions": {json.dumps(descriptions)}, '
                f'"units": {json.dumps(units)}}}'
            )
    finally:
        os.close(directory)
    return entries


def collect(input_path, output_file):
    """Reads all Cassini counters below input_path (/sys/class/cxi, or one NIC's telemetry directory) and writes them as
    JSON. ValueError if there are none. Returns the "meta" of the file; what could not be read is in its "unread"."""
    path = os.path.normpath(os.fspath(input_path))
    if not os.path.isdir(path):
        raise ValueError(f"{path!r} is not a directory")
    begin_ns, begin = time.time_ns(), time.monotonic()
    entries, unread = [], []
    for interface, directory in _telemetry_directories(path):
        entries += _collect_nic(interface, directory, unread)
    if not entries:
        raise ValueError(f"no counter below {path!r} could be read" + (f": {unread[0]}" if unread else ""))
    duration = time.monotonic() - begin
    end_ns = begin_ns + int(duration * 1e9)
    meta = {
        "input_path": path,
        "started_at": _iso(begin_ns // 10**9, f"{begin_ns % 10**9:09d}"),
        "finished_at": _iso(end_ns // 10**9, f"{end_ns % 10**9:09d}"),
        "duration_s": round(duration, 6),
        "unread": unread,
    }
    if os.path.realpath(path).startswith("/sys/"):  # not a copy of another node's
        meta["host"] = socket.gethostname()
    unfinished = f"{output_file}.{os.getpid()}.tmp"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write('{\n "meta": ' + json.dumps(meta) + ',\n "counters": [\n  ')
            file.write(",\n  ".join(entries))
            file.write("\n ]\n}\n")
        os.replace(unfinished, output_file)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise
    return meta


# ---- summarize ----


def _load_json(path):
    """(meta, entries, {(interface, name): value})"""
    with open(path, encoding="utf-8") as file:
        try:
            root = json.load(file)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    entries = root.get("counters") if isinstance(root, dict) else root
    if not isinstance(entries, list):
        raise ValueError(f'{path}: expected a list "counters"')
    values = {}
    for number, entry in enumerate(entries, start=1):
        try:
            values.setdefault((entry["interface"], entry["counter_name"]), int(entry["value"]))
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"{path}: counter {number} has no interface, counter_name or value") from None
    return (root.get("meta", {}) if isinstance(root, dict) else {}), entries, values


def _load_text(path, names):
    """A line for each counter, NIC after NIC: its place alone tells its name."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split()
    if not names:
        raise ValueError(f"{path}: the names of the counters are not known; give metrics_path")
    if not lines or len(lines) % len(names):
        raise ValueError(f"{path}: {len(lines)} values: expected a multiple of {len(names)}, one for each name")
    values = {}
    for at, line in enumerate(lines):
        number = line.partition("@")[0]
        if not number.isdigit():
            raise ValueError(f"{path}: line {at + 1}: expected value@seconds.nanoseconds")
        values[at // len(names) + 1, names[at % len(names)]] = int(number)
    return {}, [], values


def _change(interface, name, metric_id, before, after):
    value, flag = _netprof.cassini_change(name, before, after)
    return {
        "iface": interface,
        "metric_id": metric_id,
        "metric_name": name,
        "diff": after - before if flag == "gauge" else value,
        "flag": flag,
    }


def _metric_ids(names, values):
    """{name: id}: its place in the list of names, behind which come those that the list does not have."""
    more = sorted({name for _, name in values} - set(names), key=_by_letters)
    return {name: number for number, name in enumerate(list(names) + more, start=1)}


def summarize(before_path, after_path, metrics_path=None):
    """The change of each counter between two files of collect(), or two of net_prof's texts (whose names are in
    metrics_path, one a line; without it those of Cassini-1). Returns net_prof's dict."""
    names = _catalog()[1]
    if metrics_path is not None:
        with open(metrics_path, encoding="utf-8") as file:
            names = [line.split()[-1] for line in file if line.split()]
    if str(before_path).lower().endswith(".json") and str(after_path).lower().endswith(".json"):
        before_meta, collected, before = _load_json(before_path)
        after_meta, _, after = _load_json(after_path)
    else:
        before_meta, collected, before = _load_text(before_path, names)
        after_meta, _, after = _load_text(after_path, names)
    hosts = {meta.get("host") for meta in (before_meta, after_meta)} - {None}
    if len(hosts) > 1:
        raise ValueError(f"{before_path} and {after_path} are of two hosts: {', '.join(sorted(hosts))}")
    ids = _metric_ids(names, before.keys() | after.keys())
    both = sorted(before.keys() & after.keys(), key=lambda key: (key[0], ids[key[1]]))
    results = [_change(nic, name, ids[name], before[nic, name], after[nic, name]) for nic, name in both]
    counted = [row for row in results if row["flag"] != "gauge"]
    nics = sorted({nic for nic, _ in before.keys() | after.keys()})
    important = {}
    for row in (row for row in counted if row["metric_name"] in _IMPORTANT):
        entry = important.setdefault(row["metric_id"], {"metric_name": row["metric_name"], "diffs": {}})
        entry["diffs"][row["iface"]] = row["diff"]
    of_nic = {nic: [row for row in counted if row["iface"] == nic] for nic in nics}
    return {
        "before_meta": before_meta,
        "after_meta": after_meta,
        "total_non_zero": sum(row["diff"] != 0 for row in results),
        "non_zero_per_iface": {nic: sum(r["diff"] != 0 for r in results if r["iface"] == nic) for nic in nics},
        "top20_per_iface": {nic: sorted(of_nic[nic], key=lambda row: -row["diff"])[:_TOP] for nic in nics},
        "important_metrics": dict(sorted(important.items())),
        "collected": collected,
        "gauges_changed": sum(row["diff"] != 0 for row in results if row["flag"] == "gauge"),
        "one_sided": sorted(f"cxi{nic - 1}/{name}" for nic, name in before.keys() ^ after.keys()),
        "files": [os.fspath(before_path), os.fspath(after_path)] + ([metrics_path] if metrics_path else []),
    }


# ---- dump ----

_INEXACT = {"reset": "at least: reset meanwhile", "suspect": "at least", "wrapped": "wrapped once"}


def _many(number, noun, plural=None):
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _shown(text):
    """A name out of a file, for a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def _remarks(summary):
    """What the tables leave out, in sentences."""
    said = []
    if summary["gauges_changed"]:
        gauges = _many(summary["gauges_changed"], "of them is a gauge", "of them are gauges")
        said.append(f"{gauges}: levels, which rise and fall, have no difference and are not in the tables.")
    if summary["one_sided"]:
        said.append(
            f"{_many(len(summary['one_sided']), 'counter is', 'counters are')} in only one of the two files and not "
            f"compared: {_shown(summary['one_sided'][0])}{', ...' if len(summary['one_sided']) > 1 else ''}"
        )
    return said


def dump(summary):
    """Prints the summary."""
    print(f"\nTotal non-zero diffs: {summary['total_non_zero']}")
    for said in _remarks(summary):
        print(said)
    print("\nNon-zero diffs by interface:")
    for nic, count in summary["non_zero_per_iface"].items():
        print(f"  Interface {nic:<2}: {count}")
    for nic, rows in summary["top20_per_iface"].items():
        print(f"\nTop {_TOP} diffs for Interface {nic}:")
        print(f"{'Rank':<6}{'Metric ID':<11}{'Metric Name':<44}{'Difference':>20}")
        shown = [row for row in rows if row["diff"]]
        for rank, row in enumerate(shown, start=1):
            note = _INEXACT.get(row["flag"], "")
            name = _shown(row["metric_name"])
            print(f"{rank:<6}{row['metric_id']:<11}{name:<44}{row['diff']:>20}{'  ' + note if note else ''}")
        print(f"Total non-zero diffs not shown in Interface {nic}: {summary['non_zero_per_iface'][nic] - len(shown)}")
    nics = list(summary["non_zero_per_iface"])
    print("\nImportant Metrics (diffs by interface):")
    print(f"{'Metric ID':<11}{'Metric Name':<44}" + "".join(f"{'Iface' + str(nic):>16}" for nic in nics))
    for metric_id, row in summary["important_metrics"].items():
        cells = "".join(f"{row['diffs'].get(nic, '-'):>16}" for nic in nics)
        print(f"{metric_id:<11}{_shown(row['metric_name']):<44}{cells}")


# ---- dump_html ----

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Cassini counters</title>
<style>body{font:15px system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0}td,th{border-bottom:1px solid #ccc;padding:.2rem .6rem;text-align:left}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}</style></head><body>
"""


def _table(header, rows):
    cells = "".join(f"<th{' class=n' if i and i != 1 else ''}>{html.escape(str(c))}</th>" for i, c in enumerate(header))
    lines = [f"<table><tr>{cells}</tr>"]
    for row in rows:
        cells = "".join(f"<td{'' if isinstance(c, str) else ' class=n'}>{html.escape(_shown(c))}</td>" for c in row)
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join(lines) + "\n</table>\n"


def _own_page(summary, reason):
    page = [_PAGE, f"<h1>Cassini counters: {_many(summary['total_non_zero'], 'counter')} changed</h1>\n"]
    page.append(f"<p>Tables only, without a verdict: {html.escape(_shown(reason))}.</p>\n")
    page += [f"<p>{html.escape(said)}</p>\n" for said in _remarks(summary)]
    nics = list(summary["non_zero_per_iface"])
    rows = [[row["metric_name"]] + [row["diffs"].get(n, "-") for n in nics] for row in summary["important_metrics"].values()]
    page.append(_table(["counter"] + [f"cxi{nic - 1}" for nic in nics], rows))
    for nic, top in summary["top20_per_iface"].items():
        count = summary["non_zero_per_iface"][nic]
        page.append(f"<h2>cxi{nic - 1}: {_many(count, 'counter')} changed</h2>\n")
        rows = [[row["metric_name"], row["diff"], _INEXACT.get(row["flag"], "")] for row in top if row["diff"]]
        page.append(_table(["counter", "difference", ""], rows))
    page.append("</body></html>\n")
    return "".join(page)


def _report(summary, output):
    """Has netprof-report write the page. Returns why it did not, or None."""
    program = shutil.which("netprof-report")
    if not program:
        return "netprof-report, which says what the counters mean, is not installed"
    before, after, *names = summary["files"]
    if not (os.path.exists(before) and os.path.exists(after)):
        return "the files that were compared are gone"
    command = [program, "--format=html", "-o", os.path.abspath(output)] + [f"--names={name}" for name in names]
    command += [os.path.abspath(before), os.path.abspath(after)]  # never taken for options
    done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    if done.returncode in (0, 1):
        return None
    return "netprof-report said: " + done.stderr.decode("utf-8", "replace").strip()


def dump_html(summary, output_file):
    """Writes a page: netprof's report where netprof-report is installed, else tables, which say so."""
    output = os.fspath(output_file)
    reason = _report(summary, output)
    if reason:
        with open(output, "w", encoding="utf-8") as file:
            file.write(_own_page(summary, reason))
        print(f"netprof: {output}: {_shown(reason)}: tables only", file=sys.stderr)

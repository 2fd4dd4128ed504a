"""Tests run with and without a fault."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

MOST = 4096  # NETPROF_MUTANTS_MOST
# Programs of the tree that are tests, but for those that take long and those that compile the header with flags of
# their own or look at the layout.
LABELS_OUT = {"long", "bench", "header", "house", "labelled", "faults", "e2e", "mutants", "sample"}
# Of the others those that tell something of netprof.h or of report/analysis: the rest is about drawing, other programs and
# hardware, and what replays a corpus looks for crashes alone. --tests . has all.
TESTS_QUICK = r"^(?!fuzz\.|unit\.(pages|pages_time|pages_job|charts_plots|document|canvas|plot|number|journal|spool|sessions|" \
    r"judge|web|wire|watch|slurm|gpu_clients|gpu_libraries|sources_\w+|membership)$)"
# Scripts of tests/cli that every fault meets: what these commands make of their input, and what a program with regions
# prints and writes, has few tests of units.
SCRIPTS_QUICK = {"cli.nsys", "cli.nccl", "cli.compare", "cli.regions_series", "cli.regions", "cli.region_ends", "cli.diff",
                 "cli.check", "cli.inputs"}
SCRIPTS_OUT = {"cli.readme", "cli.samples", "cli.slurm_prologue", "cli.devices"}
# Faults may delete or fill what a test handles as root: it gets its own /dev, and everything outside of /tmp and the copy
# is read-only for it, the tree as well.
SHIELD = r"""
set -e
dev=$1; work=$2; top=$3; shift 3
mount --make-rprivate /
mount --bind /tmp /tmp
mount --bind "$top" "$top"
mount -o remount,bind,ro "$top"
mount --bind "$work" "$work"
mount -t tmpfs dev "$dev"
cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty "$dev"/
mkdir "$dev/shm" "$dev/pts"
mount --rbind /dev/shm "$dev/shm"; mount --rbind /dev/pts "$dev/pts"
ln -s /proc/self/fd "$dev/fd"; ln -s pts/ptmx "$dev/ptmx"
for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "$dev/${n#*:}"; done
mount --move "$dev" /dev
mount -o remount,bind,ro / 2>/dev/null || true
exec "$@"
"""


BATCH_S = 2.0  # cases of one program that take so long together run in one process


class Test:
    """A program without cases, a case of a cmocka program (`program`, `case`), or one of a script (`script`, `case`)."""

    def __init__(self, name, command, env, script=None, case=None, program=None):
        self.name, self.command, self.env, self.script, self.case, self.program = name, command, env, script, case, program
        self.met, self.took = set(), 0.0


def commands_of(tree):
    """{test: its command}. ctest tells only of programs that are there, and these are to be built yet."""
    found = {}
    for path in glob.glob(os.path.join(tree.out, "**", "CTestTestfile.cmake"), recursive=True):
        with open(path, encoding="utf-8") as f:
            for name, words in re.findall(r'^add_test\((?:\[=*\[)?(.*?)(?:\]=*\])? (".*")\)$', f.read(), re.M):
                found[name] = re.findall(r'"((?:[^"\\]|\\.)*)"', words)
    return found


def tests_of(tree, given, names, commands):
    """Programs and the cases of quick scripts, each a test; with `commands` those of each script of tests/cli."""
    if given:
        return [Test(name, ["sh", "-c", command], {}) for name, command in (g.split("=", 1) for g in given)]
    out = subprocess.run(["ctest", "--show-only=json-v1"], cwd=tree.out, capture_output=True, text=True, check=True).stdout
    tests, words = [], commands_of(tree)
    for t in json.loads(out)["tests"]:
        properties = {p["name"]: p["value"] for p in t.get("properties", [])}
        labels, name = set(properties.get("LABELS", [])), t["name"]
        if not re.search(names, name):
            continue
        env = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        if "cli" in labels:
            if (commands or name in SCRIPTS_QUICK) and not labels & LABELS_OUT and name not in SCRIPTS_OUT:
                tests += cases_of(name, words[name], env)
        elif not labels & LABELS_OUT:
            tests.append(Test(name, words[name], env))
    return tests


def cases_of(name, command, env):
    script = command[-1]
    with open(script, encoding="utf-8") as f:
        titles = re.findall(r'^@test (["\'])(.*)\1 \{$', f.read(), re.M)
    for number, (_, title) in enumerate(titles, 1):
        title = title.replace('\\"', '"').replace("\\$", "$").replace("\\`", "`").replace("\\\\", "\\")
        pattern = "^" + re.sub(r"([][\\.^$*+?(){}|])", r"\\\1", title) + "$"
        yield Test(f"{name}: {title}", [*command[:-1], "-f", pattern, script], env, script, number)


def shielded(tree, command):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return command
    return ["unshare", "--mount", "sh", "-c", SHIELD, "shield", os.path.join(tree.work, "dev"), tree.work, tree.top, *command]


def run_test(tree, test, env, limit):
    """(passed, seconds, output); a test that takes longer than the limit ends with all that it started."""
    os.makedirs(os.path.join(tree.work, "dev"), exist_ok=True)
    whole = dict(os.environ, TMPDIR=tree.tmp, **test.env)
    whole["ASAN_OPTIONS"] = "hard_rss_limit_mb=3000:" + whole.get("ASAN_OPTIONS", "")
    whole.update(env)
    begin = time.time()
    process = subprocess.Popen(shielded(tree, test.command), cwd=tree.out if os.path.isdir(tree.out) else tree.tree, env=whole,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        output, status = b"", None
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what it left running, too
    except ProcessLookupError:
        pass
    process.communicate()
    return status == 0, time.time() - begin, output.decode(errors="replace"), status is None


def empty(path):
    with open(path, "wb") as f:
        f.write(bytes(MOST))


def times_in(path):
    """Of a program's cases: [(number, seconds, name)]."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        rows = [line.split(" ", 2) for line in f]
    return [(int(number), float(seconds), name.strip()) for number, seconds, name in rows]


def blocks_in(path):
    """[what was met outside of cases, in case 1, in case 2, ...]"""
    with open(path, "rb") as f:
        content = f.read()
    return [{i for i, byte in enumerate(content[at:at + MOST]) if byte} for at in range(0, len(content), MOST)]


def baseline_program(tree, test):
    """(what is wrong, its cases or itself). One run tells what each case meets and how long it takes."""
    path = os.path.join(tree.work, "met", re.sub(r"[^\w.]", "_", test.name))
    for _ in range(2):  # a test may have met with a busy machine
        empty(path)
        if os.path.exists(path + ".times"):
            os.unlink(path + ".times")
        passed, test.took, output, _ = run_test(tree, test, {"MUTANTS_MET": path, "MUTANTS_TIMES": path + ".times"}, 900)
        if passed:
            break
    blocks, cases = blocks_in(path), []
    for number, seconds, name in times_in(path + ".times"):
        case = Test(f"{test.name}: {name}", test.command, test.env, None, number, test.name)
        case.took = seconds
        case.met = blocks[0] | (blocks[number] if number < len(blocks) else set())
        cases.append(case)
    test.met = set().union(*blocks)
    return (None if passed else (test, output[-3000:])), cases or [test]


def baseline_script(tree, cases):
    """One run of a script tells what each of its cases meets."""
    folder = os.path.join(tree.work, "met")
    name = os.path.basename(cases[0].script)[:-5]
    whole = Test(cases[0].name, [cases[0].command[0], "--tap", "--timing", cases[0].script], cases[0].env)
    for old in os.listdir(folder):
        if re.fullmatch(re.escape(name) + r"\.\d+", old):
            os.unlink(os.path.join(folder, old))
    passed, _, output, _ = run_test(tree, whole, {"MUTANTS_CASES": folder}, 1800)
    shared = set()
    if os.path.exists(os.path.join(folder, f"{name}.0")):
        shared = set().union(*blocks_in(os.path.join(folder, f"{name}.0")))
    times = {int(n): int(ms) / 1000 for n, ms in re.findall(r"^ok (\d+) .* in (\d+)ms", output, re.M)}
    for case in cases:
        path = os.path.join(folder, f"{name}.{case.case}")
        case.met = set(shared).union(*(blocks_in(path) if os.path.exists(path) else []))
        case.took = times.get(case.case, 0)
    whole.script = cases[0].script
    return None if passed else (whole, "\n".join(line for line in output.split("\n") if not line.startswith("ok"))[-3000:])


def newest(paths):
    return max((os.stat(p).st_mtime_ns for p in paths if os.path.isfile(p)), default=0)


def version(tree, test):
    """Changes when what a test runs was built again."""
    programs = [os.path.join(d, n) for d, _, names in os.walk(os.path.join(tree.out, "bin")) for n in names]
    programs += glob.glob(os.path.join(tree.out, "*.so*"))
    of_tests = [os.path.join(tree.tree, "tests", "cli", n) for n in ("common.bash", os.path.basename(test.script or ""))]
    own = [w for w in test.command if os.path.isabs(w) and w.startswith(tree.work)]
    return f"{newest(programs)} {newest(own + of_tests)}"


def baseline(tree, tests, jobs):
    """(the tests that faults may meet, those that fail without one and their output). Programs become their cases. Of what
    was not built again since the last time, all is known."""
    os.makedirs(os.path.join(tree.work, "met"), exist_ok=True)
    path, known, lock = os.path.join(tree.work, "baseline.json"), {}, threading.Lock()
    if os.path.exists(path) and tree.command is None:
        with open(path, encoding="utf-8") as f:
            known = json.load(f)
    groups = {}
    for test in tests:
        test.version = version(tree, test)
        groups.setdefault(test.script or test.name, []).append(test)

    def longest(item):  # first, for the end not to wait for one of them
        key, group = item
        old = sum(row[6] for row in known.get(key, {}).get("tests", []))
        return -(old or (60 if group[0].script else 0))

    def run(item):
        key, group = item
        first = group[0]
        old = known.get(key, {})
        if old.get("version") == first.version:
            found = [Test(*row[:6]) for row in old["tests"]]
            for t, row in zip(found, old["tests"]):
                t.took, t.met = row[6], set(row[7])
            return None, found
        if first.script:
            wrong, found = baseline_script(tree, group), group
        else:
            wrong, found = baseline_program(tree, first)
        with lock:
            known[key] = {"version": None if wrong else first.version,
                          "tests": [[t.name, t.command, t.env, t.script, t.case, t.program, t.took, sorted(t.met)] for t in found]}
            with open(path + ".new", "w", encoding="utf-8") as f:
                json.dump(known, f)
            os.replace(path + ".new", path)
        return wrong, [] if wrong else found

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(run, sorted(groups.items(), key=longest)))
    return [t for _, found in done for t in found], [wrong for wrong, _ in done if wrong]


def batches(meeting):
    """The tests as runs: short cases of one program together, the cheapest first."""
    runs, open_runs = [], {}
    for test in sorted(meeting, key=lambda t: t.took):
        run = open_runs.get(test.program) if test.program else None
        if run is None or sum(t.took for t in run) + test.took > BATCH_S:
            run = []
            runs.append(run)
            if test.program:
                open_runs[test.program] = run
        run.append(test)
    return sorted(runs, key=lambda run: (run[0].script is not None, sum(t.took for t in run)))


def words_for(run):
    return run[0].name if len(run) == 1 else f"{run[0].name} and {len(run) - 1} more"


class Trials:
    def __init__(self, tree, tests, budget, slack):
        self.tree, self.tests, self.budget, self.slack = tree, tests, budget, slack
        self.sound, self.lock = {}, threading.Lock()

    def attempt(self, run, env):
        took = sum(t.took for t in run)
        if run[0].program:
            env = dict(env, MUTANT_CASES=",".join(str(t.case) for t in run))
        return run_test(self.tree, run[0], env, 10 * took + self.slack)

    def passes_without(self, run):
        """Whether these pass without a fault, alone as they are: not all cases do without those before them."""
        key = (run[0].program or run[0].name, tuple(t.case for t in run))
        with self.lock:
            known = self.sound.get(key)
        if known is None:
            known = self.attempt(run, {})[0]
            with self.lock:
                self.sound[key] = known
        return known

    def of(self, site):
        """(killed or survived, by which test or why)."""
        env = {"MUTANT_ALIVE": str(site.number)}
        meeting = [t for t in self.tests if site.number in t.met]
        spent, unsound, runs = 0.0, 0, batches(meeting)
        for run in runs:  # it may become longer
            if spent > self.budget:
                return "survived", f"met by {len(meeting)} tests; the time was up"
            passed, took, _, late = self.attempt(run, env)
            spent += took
            if passed:
                continue
            if not self.passes_without(run):
                unsound += len(run) == 1
                if len(run) > 1:
                    runs += [[t] for t in run]
            elif late:
                return "killed", f"{words_for(run)} (hangs)"
            elif not self.attempt(run, env)[0]:
                return "killed", words_for(run)
        if not meeting:
            return "survived", "met by no test"
        return "survived", f"met by {len(meeting)} " + ("test" if len(meeting) == 1 else "tests") + \
            (f", {unsound} of which fail alone" if unsound else "")

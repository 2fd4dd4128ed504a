"""A copy of the tree with faults in it, and its build."""
import concurrent.futures
import glob
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess

import sites as finding

HERE = os.path.dirname(os.path.abspath(__file__))
# Faults are warned of by a compiler; that is not what is asked here. But a pointer for a number is no C.
FLAGS = ["-Werror=incompatible-pointer-types", "-Werror=int-conversion"]  # -w would let these through, too

# What the quick scripts of tests/cli run.
PROGRAMS = ["netprof", "netprof-report", "netprof-export", "netprof-watch", "netprof-sim", "nccl-generate", "make_job",
            "make_regions", "region_phases", "region_ends", "halo_exchange"]


def listed(path):
    """{(file, line before, line after): what stands behind them}"""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                fields = line.rstrip("\n").split("\t")
                if len(fields) >= 3 and not line.startswith("#"):
                    found[tuple(fields[:3])] = fields[3] if len(fields) > 3 else ""
    return found


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class Tree:
    def __init__(self, top, work, command):
        self.top, self.work, self.command = top, work, command
        self.tree, self.out = os.path.join(work, "tree"), os.path.join(work, "build")
        self.tmp = os.path.join(work, "tmp")
        self.object = os.path.join(work, "mutant.o")
        self.commands = {}

    def files(self):
        listed = subprocess.run(["git", "-C", self.top, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                                text=True)
        if listed.returncode == 0 and listed.stdout:
            return [n for n in listed.stdout.splitlines() if os.path.isfile(os.path.join(self.top, n))]
        return [os.path.relpath(os.path.join(d, n), self.top) for d, _, names in os.walk(self.top) for n in names]

    def copy(self):
        """What has not changed keeps its date, so that it is not built again. (Files with faults are written later.)"""
        os.makedirs(self.tmp, exist_ok=True)
        self.originals, self.modes = {}, {}
        wanted = set(self.files())
        for d, _, names in os.walk(self.tree):
            for n in names:
                path = os.path.join(d, n)
                if os.path.relpath(path, self.tree) not in wanted:
                    os.unlink(path)
        for name in wanted:  # kept: the tree may change while this runs
            with open(os.path.join(self.top, name), "rb") as f:
                self.originals[name] = f.read()
            self.modes[name] = os.stat(os.path.join(self.top, name)).st_mode
        subprocess.run(["gcc", "-O1", "-fPIC", "-I", HERE, "-c", os.path.join(HERE, "mutant.c"), "-o", self.object], check=True)

    def built(self):
        """What the last run left to be built: {name: (bytes, when it was written)}."""
        found = {}
        for name in self.originals:
            path = os.path.join(self.tree, name)
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    found[name] = (f.read(), os.stat(path).st_mtime_ns)
        return found

    def keep_dates(self, before):
        """A file that is again what it was is not built again."""
        for name, (content, when) in before.items():
            path = os.path.join(self.tree, name)
            with open(path, "rb") as f:
                if f.read() == content:
                    os.utime(path, ns=(when, when))

    def write(self, changed):
        """The tree as it is, but for the files in `changed`: {name: text}."""
        for name, original in self.originals.items():
            target = os.path.join(self.tree, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if name in changed:
                new = changed[name].encode()
            else:
                new = original
                if name == "tests/cli/common.bash":
                    new += b'\n. "%s/met.bash"\n' % HERE.encode()
            old = None
            if os.path.exists(target):
                with open(target, "rb") as f:
                    old = f.read()
            if old != new:
                with open(target, "wb") as f:
                    f.write(new)
            os.chmod(target, self.modes[name])

    def configure(self):
        if self.command:
            return
        linker = " -fuse-ld=lld" if shutil.which("ld.lld") else ""  # half of a build is linking
        link = [f"-DCMAKE_{kind}_LINKER_FLAGS={self.object}{linker}" for kind in ("EXE", "SHARED", "MODULE")]
        if shutil.which("ccache") and "CMAKE_C_COMPILER_LAUNCHER" not in os.environ:
            link.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")  # with other faults in netprof.h most objects are what they were
        subprocess.run(["cmake", "--log-level=ERROR", "-S", self.tree, "-B", self.out, "-G", "Ninja", "-DCMAKE_C_COMPILER=gcc",
                        "-DCMAKE_BUILD_TYPE=None", f"-DCMAKE_C_FLAGS=-O0 {' '.join(FLAGS)}", "-DNETPROF_BUILD_TESTS=ON",
                        "-DNETPROF_SANITIZE=address", "-DNETPROF_TESTS_ALL=ON", *link], check=True, stdout=subprocess.DEVNULL)
        self.make_included()

    def make_included(self):
        """What sources include and the build makes, of tables and pages. By its own commands alone: ninja would build the
        libraries before it first, of sources without faults, and take these for built when the faults are there."""
        known = subprocess.run(["ninja", "-C", self.out, "-t", "targets", "all"], capture_output=True, text=True, check=True)
        names = [line.split(":")[0] for line in known.stdout.splitlines()]
        made = sorted({os.path.relpath(os.path.join(self.out, n), self.out) for n in names if n.endswith(".inc")})
        content = hashlib.sha256()
        for name in sorted(n for n in self.originals if not n.endswith((".c", ".h"))):
            content.update(name.encode() + b"\0" + self.originals[name] + b"\0")
        note, digest = os.path.join(self.work, "included"), content.hexdigest()
        there = all(os.path.exists(os.path.join(self.out, name)) for name in made)
        if not made or (there and os.path.exists(note) and read(note) == digest):
            return
        commands = subprocess.run(["ninja", "-C", self.out, "-t", "commands", "-s", *made], capture_output=True, text=True,
                                  check=True)
        for command in commands.stdout.splitlines():
            subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
        with open(note, "w", encoding="utf-8") as f:
            f.write(digest)

    def compile_commands(self):
        path = os.path.join(self.out, "compile_commands.json")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as f:
            for c in json.load(f):
                name = os.path.relpath(os.path.join(c["directory"], c["file"]), self.tree)
                if name.endswith("report/analysis/netprof.c"):
                    name = "netprof.h"  # the implementation, compiled once
                words = shlex.split(c["command"])
                if os.path.basename(words[0]) == "ccache":
                    del words[0]
                at = words.index("-o")
                del words[at:at + 2]
                self.commands.setdefault(name, ([w for w in words if w != "-c" and not w.startswith("-fsanitize")],
                                                c["directory"]))

    def compiler(self, name):
        return self.commands.get(name) or (["cc", *FLAGS, "-I", self.tree, os.path.join(self.tree, name)], self.tree)

    def active(self, name):
        """The lines of a file that the compiler sees."""
        words, directory = self.compiler(name)
        out = subprocess.run([*words, "-E"], cwd=directory, capture_output=True, text=True, check=True).stdout
        full, seen, here, at = os.path.join(self.tree, name), set(), False, 0
        for line in out.split("\n"):
            mark = re.match(r'# (\d+) "((?:[^"\\]|\\.)*)"', line)
            if mark:
                here, at = os.path.normpath(os.path.join(directory, mark.group(2))) == full, int(mark.group(1))
            else:
                if here and line.strip():
                    seen.add(at)
                at += 1
        return seen

    def refused(self, name, planted):
        """The faults that do not compile."""
        words, directory = self.compiler(name)
        done = subprocess.run([*words, "-fsyntax-only", "-fmax-errors=0"], cwd=directory, capture_output=True, text=True,
                              env=dict(os.environ, LC_ALL="C"))
        if done.returncode == 0:
            return []
        lines = {int(n) for n in re.findall(re.escape(os.path.basename(name)) + r":(\d+):\d+: error", done.stderr)}
        found = [s for s in planted if any(s.line - s.above <= n <= s.line + s.below for n in lines)]
        if not found and lines:  # an error that is told of another line: of the nearest one
            found = [min(planted, key=lambda s: abs(s.line - min(lines)))]
        if not found:
            raise SystemExit(f"{name} does not compile:\n{done.stderr[:2000]}")
        return found

    def text_with(self, name, planted):
        text = finding.with_mutants(self.originals[name].decode(), planted)
        return read(os.path.join(HERE, "mutant.h")) + f'#line 1 "{os.path.join(self.tree, name)}"\n' + text

    def sites_in(self, name):
        return finding.sites_of(name, self.originals[name].decode(), self.active(name))

    def sites_of(self, names):
        """{name: its sites}; the compiler's work at once for several."""
        names = sorted(names)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            seen = dict(zip(names, pool.map(self.active, names)))
        return {name: finding.sites_of(name, self.originals[name].decode(), seen[name]) for name in names}

    def these(self, wanted, all_sites):
        """The faults that a file lists."""
        found = []
        for name, before, after in wanted:
            if name not in all_sites:
                all_sites[name] = self.sites_in(name)
            sites = [s for s in all_sites[name] if (s.before, s.after) == (before, after)]
            if not sites:
                print(f"no such fault: {name}: {before} > {after}")
            for site in sites[:1]:
                site.seed, site.group, site.above, site.below = None, "", 0, site.code.count("\n")
                found.append(site)
        return found

    def plant(self, groups, seeds, equivalent, these):
        before = self.built()
        self.write({})
        self.configure()
        self.compile_commands()
        names = {}
        for group in groups:
            pattern = group.rsplit(":", 1)[0]
            found = [os.path.relpath(p, self.top) for p in glob.glob(os.path.join(self.top, pattern), recursive=True)]
            names[group] = sorted(n for n in found if n in self.originals)
        all_sites = self.sites_of({n for found in names.values() for n in found})
        given = self.these(these, all_sites)
        draws = []
        for seed in seeds:
            for group in groups:
                draws.append(Draw(seed, group, [s for n in names[group] for s in all_sites[n]]))
        bad, planted, compiles = set(), [], {}
        while True:
            planted = [s for s in given if id(s) not in bad]
            for draw in draws:
                planted += draw.take(planted, bad)
            changed = {}
            for number, site in enumerate(planted):
                site.number = number
            for name in {s.path for s in planted}:
                changed[name] = self.text_with(name, [s for s in planted if s.path == name])
            self.write(changed)
            changes = {name: {(s.start, s.code) for s in planted if s.path == name} for name in changed}
            asked = [name for name in changed if compiles.get(name) != changes[name]]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                answers = list(pool.map(lambda name: self.refused(name, [s for s in planted if s.path == name]), asked))
            refused = [s for answer in answers for s in answer]
            compiles.update((name, changes[name]) for name, answer in zip(asked, answers) if not answer)
            if not refused:
                break
            bad |= set(map(id, refused))
        self.keep_dates(before)
        for site in planted:
            site.equivalent = equivalent.get((site.path, site.before, site.after), "")
        return planted

    def build(self, programs):
        """`programs`: the tests that are to be run, and PROGRAMS for the scripts among them; None: everything is built."""
        if self.command:
            subprocess.run(self.command, shell=True, check=True, cwd=self.tree,
                           env=dict(os.environ, MUTANT_OBJECT=self.object))
        else:
            targets = ["all"]
            if programs is not None:
                targets = PROGRAMS + sorted({os.path.relpath(p, self.out) for p in programs if p.startswith(self.out + os.sep)})
            done = subprocess.run(["ninja", "-C", self.out, "-j", "2", *targets], capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stdout[-4000:])


class Draw:
    """The faults of one seed in one group: a line by chance, a kind of fault that it can have, one of these."""

    def __init__(self, seed, group, sites):
        self.seed, self.group, self.count = seed, group, int(group.rsplit(":", 1)[1])
        self.random = random.Random(f"{seed} {group.rsplit(':', 1)[0]}")
        self.lines = {}
        for site in sites:
            self.lines.setdefault((site.path, site.line), []).append(site)
        self.keys = sorted(self.lines)
        self.drawn = []

    def more(self):
        while self.keys:
            sites = self.lines[self.keys.pop(self.random.randrange(len(self.keys)))]
            kind = self.random.choice(sorted({s.kind for s in sites}))
            site = self.random.choice([s for s in sites if s.kind == kind])
            if site.number is None and not hasattr(site, "seed"):
                site.seed, site.group = self.seed, self.group
                site.above = 0
                site.below = site.code.count("\n")
                self.drawn.append(site)
                return True
        return False

    def take(self, planted, bad):
        """So many that neither overlap others nor are bad."""
        taken, at = [], 0
        while len(taken) < self.count and (at < len(self.drawn) or self.more()):
            site = self.drawn[at]
            at += 1
            if id(site) in bad or any(s.path == site.path and s.start < site.end and site.start < s.end
                                      for s in planted + taken):
                continue
            taken.append(site)
        return taken

"""A program of its own for each case: its regions' files are read when it has ended."""

import glob
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import netprof


class Programs(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def run_program(self, text, expected=0, **environment):
        """Runs it; returns its output. As a file, since spawn imports the program again."""
        path = os.path.join(self.directory, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        done = subprocess.run(
            [sys.executable, path],
            cwd=self.directory,
            env={**os.environ, "NETPROF_FLUSH": "0", **environment},  # nothing but the end writes
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
        self.said = done.stderr
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done.stdout

    def recordings(self):
        return [netprof.load(path) for path in sorted(glob.glob(os.path.join(self.directory, "netprof-*.netprof")))]

    def calls(self, region):
        """The calls of a region in each file that has it, sorted."""
        found = []
        for recording in self.recordings():
            calls = sum(stat.calls for part in recording.regions for stat in part if stat.region == region)
            if calls:
                found.append(calls)
        return sorted(found)

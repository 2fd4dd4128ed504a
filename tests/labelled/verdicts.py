"""Asks netprof about files, and reads what it says."""
import json
import os
import re
import subprocess

BAD = ("watch", "warn", "high", "critical")
FINDINGS = {"check", "job", "nccl", "compare"}


class Said:
    """What a command said: exit code, verdict and findings, in its order."""

    def __init__(self, code, document, error=""):
        self.code, self.error = code, error
        inner = document.get("findings")
        if "verdict" not in document and isinstance(inner, dict):  # nccl of version 2
            document, inner = inner, inner.get("findings")
        verdict = document.get("verdict") or {}
        self.severity, self.text = verdict.get("severity", ""), verdict.get("text", "")
        rows = inner if inner is not None else document.get("sentences") or []  # compare of version 1
        if document.get("format") == "netprof-regions":  # its findings are what counters say; its verdict is of ranks
            rows = verdict.get("notes") or []
        self.findings = [{"rule": f.get("rule", ""), "severity": f.get("severity", ""), "device": f.get("device") or "",
                          "host": f.get("host") or f.get("node") or "", "claim": f.get("claim") or f.get("text") or ""} for f in rows]

    @property
    def accusations(self):
        return [f for f in self.findings if f["severity"] in BAD]


def run(bin_folder, words, timeout=600):
    return subprocess.run([os.path.join(bin_folder, words[0]), *words[1:]], capture_output=True, text=True, errors="replace", timeout=timeout, check=False)


def ask(bin_folder, argv, *options):
    """argv: the sub-command of netprof and its operands."""
    done = run(bin_folder, ["netprof", argv[0], "--json", *options, *argv[1:]])
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = {}
    return Said(done.returncode, document if isinstance(document, dict) else {}, done.stderr.strip())


def matches(label, f):
    """Does a finding bear this label (see cases.py)?"""
    if label.startswith("~"):
        return re.search(label[1:], " ".join((f["host"], f["device"], f["claim"])).strip()) is not None
    rule, _, device = label.partition("@")
    return re.fullmatch(rule, f["rule"]) is not None and (not device or re.fullmatch(device, f["device"]) is not None)

"""What all reckonings share: a number that a command says beside the same number reckoned anew."""
import json
import math
import os
import subprocess

wrong = []


def check(where, got, expected, tolerance=2e-8):
    if isinstance(expected, float) or isinstance(got, float):
        same = got is not None and expected is not None and math.isclose(got, expected, rel_tol=tolerance, abs_tol=1e-9)
    elif isinstance(expected, (list, tuple)) and isinstance(got, list) and len(got) == len(expected):
        for i, (a, b) in enumerate(zip(got, expected)):
            check(f"{where}[{i}]", a, b, tolerance)
        return
    elif isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
        for key in expected:
            check(f"{where}.{key}", got[key], expected[key], tolerance)
        return
    else:
        same = got == expected
    if not same:
        wrong.append(f"{where}: {got}, reckoned {expected}")


def quantile(ordered, share):
    """Between the two values beside it."""
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def run(build, name, *arguments):
    """A program of the build; what it printed."""
    folder = "tests" if os.path.exists(os.path.join(build, "tests", name)) else "bin"
    return subprocess.run([os.path.join(build, folder, name), *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def run_json(build, name, *arguments):
    return json.loads(run(build, name, *arguments))


def told(what):
    """Prints what differs; the exit code."""
    for line in wrong[:40]:
        print(line)
    print(f"{what}, {len(wrong)} numbers differ")
    return 1 if wrong else 0

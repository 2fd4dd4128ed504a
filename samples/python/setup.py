"""Builds the package from netprof.h alone: where this directory is part of netprof's tree, of an installation of it
(share/netprof/python), or has the header in it. NETPROF_HEADER names another one."""

import os
import re
import shutil

from setuptools import Extension, __version__ as setuptools_version, setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
# What a Cassini counter means, for the groups that collect() writes; without it they are "UNGROUPED".
CATALOG = "catalog_cxi.csv"


def first_of(*paths):
    return next((path for path in paths if path and os.path.exists(path)), None)


# pip before 21.3 builds in a copy of this directory alone: then it is sought from where pip was started.
started = os.environ.get("PWD", HERE)
places = [HERE] + [place for place in (os.path.join(started, "samples", "python"), started)
                   if os.path.exists(os.path.join(place, "src", "pynetprof.h"))]
header = first_of(
    os.environ.get("NETPROF_HEADER"),
    *(os.path.join(place, *to, "netprof.h") for place in places for to in ((), ("..", ".."), ("..", "..", "..", "include"))),
)
if not header:
    raise SystemExit("setup.py: netprof.h is neither here nor two directories up (pip before 21.3 copies this directory: "
                     "start it in the tree's top); name it in NETPROF_HEADER")
catalog = first_of(
    *(os.path.join(place, *to) for place in places for to in ((CATALOG,), ("..", "..", "report", "analysis", "catalog", CATALOG)))
)
with open(header, encoding="utf-8") as file:
    version = re.search(r'NETPROF_VERSION_STRING "([^"]+)"', file.read()).group(1)


class build_package(build_py):
    def run(self):
        super().run()
        if catalog and not self.editable_mode:
            shutil.copy(catalog, os.path.join(self.build_lib, "netprof", CATALOG))

    editable_mode = False


# setuptools before 61 does not read what pyproject.toml says of the project.
old = {} if int(setuptools_version.split(".")[0]) >= 61 else {
    "name": "netprof",
    "description": "Network counters and code regions for HPC and AI nodes",
    "license": "MIT",
    "python_requires": ">=3.8",
    "packages": ["netprof"],
    "package_dir": {"": "src"},
    "zip_safe": False,
    "extras_require": {"frame": ["pandas"]},
}
sources = ["module.c", "regions.c", "counters.c", "items.c", "ends.c"]
setup(
    **old,
    version=version,
    cmdclass={"build_py": build_package},
    ext_modules=[
        Extension(
            "netprof._netprof",
            [os.path.join("src", name) for name in sources],
            depends=[header, os.path.join("src", "pynetprof.h")],
            include_dirs=[os.path.dirname(os.path.abspath(header))],
            extra_compile_args=["-std=c11", "-fvisibility=hidden"],
            extra_link_args=["-pthread"],
        )
    ],
)

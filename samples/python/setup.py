"""Builds the package from netprof.h alone: where this directory is part of netprof's tree, of an installation of it
(share/netprof/python), or has the header in it. NETPROF_HEADER names another one."""

import os
import re
import shutil

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
# What a Cassini counter means, for the groups that collect() writes; without it they are "UNGROUPED".
CATALOG = "catalog_cxi.csv"


def first_of(*paths):
    return next((path for path in paths if path and os.path.exists(path)), None)


header = first_of(
    os.environ.get("NETPROF_HEADER"),
    os.path.join(HERE, "netprof.h"),
    os.path.join(HERE, "..", "..", "netprof.h"),
    os.path.join(HERE, "..", "..", "..", "include", "netprof.h"),
)
if not header:
    raise SystemExit("setup.py: netprof.h is neither here nor two directories up; name it in NETPROF_HEADER")
catalog = first_of(
    os.path.join(HERE, CATALOG), os.path.join(HERE, "..", "..", "report", "analysis", "catalog", CATALOG)
)
with open(header, encoding="utf-8") as file:
    version = re.search(r'NETPROF_VERSION_STRING "([^"]+)"', file.read()).group(1)


class build_package(build_py):
    def run(self):
        super().run()
        if catalog and not self.editable_mode:
            shutil.copy(catalog, os.path.join(self.build_lib, "netprof", CATALOG))

    editable_mode = False


sources = ["module.c", "regions.c", "counters.c", "items.c", "ends.c"]
setup(
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

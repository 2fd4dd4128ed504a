# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Netprof(CMakePackage):
    """Network counters of HPC and AI nodes: where communication time and bandwidth
    went, and whether the code, the host or the network is to blame."""

    homepage = "@URL@/"
    url = "@URL@/netprof-@VERSION@.tar.gz"

    license("MIT", checked_by="netprof")

    version("@VERSION@", sha256="@SHA256@")

    variant("report", default=True, description="Draw reports (cairo, pango, librsvg)")
    variant("export", default=True, description="Export to SQLite and HDF5")
    variant("watch", default=True, description="Live view in a terminal (ncurses)")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("json-c")
    depends_on("popt")
    depends_on("stb", type="build")
    depends_on("zlib-api")
    depends_on("zstd")
    with when("+report"):
        depends_on("cairo@1.16: +pdf +png")
        depends_on("pango@1.44:")
        depends_on("librsvg@2.46:")
        depends_on("gnuplot", type="run")
    with when("+export"):
        depends_on("sqlite")
        depends_on("hdf5 ~mpi")
    depends_on("ncurses +termlib", when="+watch")

    def cmake_args(self):
        return [self.define("NETPROF_BUILD_TESTS", False)]

    def test_run(self):
        """a program is profiled and the file is read"""
        netprof = which(self.prefix.bin.netprof)
        netprof("run", "-o", "run.netprof", "--", "sleep", "0.1")
        out = netprof("job", "run.netprof", output=str.split, error=str.split)
        assert "sleep" in out

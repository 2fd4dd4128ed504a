from conan import ConanFile
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class NetprofConan(ConanFile):
    name = "netprof"
    version = "@VERSION@"
    description = "Network counters and regions of HPC and AI nodes, in one C header"
    license = "MIT"
    url = "@URL@/"
    homepage = "@URL@/"
    topics = ("hpc", "network", "profiling", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    def layout(self):
        basic_layout(self, src_folder="src")

    def package_id(self):
        self.info.clear()

    def source(self):
        get(self, "@URL@/netprof-@VERSION@.tar.gz", sha256="@SHA256@", strip_root=True)

    def package(self):
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        copy(self, "netprof.h", self.source_folder, f"{self.package_folder}/include")

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["pthread", "dl"]

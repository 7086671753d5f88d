# Conan 2 recipe of the checkout that it is part of: conan create packaging/conan --build=missing
import glob
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rm, rmdir
from conan.tools.gnu import PkgConfigDeps

required_conan_version = ">=2.0"

# Option of the recipe: switch of CMakeLists.txt.
SWITCHES = {
    "with_gtest": "TESTLOG_WITH_GTEST",
    "with_zlib": "TESTLOG_WITH_ZLIB",
    "with_command": "TESTLOG_BUILD_COMMAND",
    "with_httplib": "TESTLOG_WITH_HTTPLIB",
    "with_cuda": "TESTLOG_WITH_CUDA",
    "with_nvtx": "TESTLOG_WITH_NVTX",
    "with_cupti": "TESTLOG_WITH_CUPTI",
}
CMAKE_MODULES = ["TestlogAfterCtest", "TestlogCheckCounts", "TestlogDiscoverTests", "TestlogAddTest"]


class TestlogConan(ConanFile):
    name = "testlog"
    description = "Structured, nested tracing for C++20 and CUDA libraries, shown in the output of their GoogleTest tests"
    license = "MIT"
    topics = ("tracing", "logging", "testing", "googletest")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], **{option: [True, False] for option in SWITCHES}}
    default_options = {
        "shared": False,
        "fPIC": True,
        **{option: option in ("with_gtest", "with_zlib") for option in SWITCHES},
        "spdlog/*:header_only": False,
    }
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"project\(testlog VERSION ([0-9.]+)", load(self, os.path.join(self._root, "CMakeLists.txt")))[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "*.md", "cmake/*", "tracing_core/*", "testlog/*", "cuda_cpu/*", "docs/*",
                        "examples/*", "tools/*"):
            copy(self, pattern, self._root, self.export_sources_folder, excludes=("build/*", ".git/*"))

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("fmt/[>=9 <12]", transitive_headers=True, transitive_libs=True)
        self.requires("spdlog/[>=1.10 <2]", transitive_headers=True, transitive_libs=True)
        self.requires("re2/[>=20220601]")
        if self.options.with_gtest:
            self.requires("gtest/[>=1.12 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.with_zlib:
            self.requires("zlib/[>=1.2.11 <2]")
        if self.options.with_command:
            self.requires("cli11/[>=2.1 <3]", visible=False)
        if self.options.with_httplib:
            self.requires("cpp-httplib/[>=0.11 <1]", visible=False)

    def validate(self):
        if self.settings.os != "Linux" or self.settings.arch not in ("x86_64", "armv8"):
            raise ConanInvalidConfiguration("testlog is for Linux on x86_64 and armv8")
        check_min_cppstd(self, 20)
        for option, needs in (("with_httplib", "with_command"), ("with_nvtx", "with_cuda"), ("with_cupti", "with_cuda")):
            if self.options.get_safe(option) and not self.options.get_safe(needs):
                raise ConanInvalidConfiguration(f"testlog: {option}=True needs {needs}=True")

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option, switch in SWITCHES.items():
            toolchain.cache_variables[switch] = bool(self.options.get_safe(option))
        for switch, value in (("BUILD_TESTS", False), ("BUILD_EXAMPLES", False), ("WITH_CUDA_CPU", False), ("UNITY_BUILD", True)):
            toolchain.cache_variables[f"TESTLOG_{switch}"] = value
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))  # CMakeDeps and PkgConfigDeps of the user make these
        package = os.path.join(self.package_folder, "lib", "cmake", "testlog")
        for pattern in ("*Config*.cmake", "*-targets*.cmake", "*-dependencies.cmake"):
            rm(self, pattern, package)

    def _component(self, namespace, name, requires, library=None, **properties):
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", f"{namespace}::{name.removeprefix(namespace + '_')}")
        component.set_property("pkg_config_name", library or name)
        component.requires = requires
        component.libs = [library or name]
        component.system_libs = ["dl", "pthread"]
        # A program need not name the library: the object does.
        objects = os.path.join(self.package_folder, "lib", "testlog", "objects-*", f"{library or name}_keep", "**", "*.o")
        component.objects = sorted(glob.glob(objects, recursive=True))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "testlog")
        self.cpp_info.set_property("cmake_target_name", "testlog::all")
        modules = os.path.join("lib", "cmake", "testlog")
        self.cpp_info.set_property("cmake_build_modules", [os.path.join(modules, f"{module}.cmake") for module in CMAKE_MODULES])
        self._component("tracing", "tracing_core", ["fmt::fmt"])
        zlib = ["zlib::zlib"] if self.options.with_zlib else []
        self._component("tracing", "tracing_subscriber", ["tracing_core", "spdlog::spdlog", "re2::re2", *zlib])
        for name in ("tracing_inspect", "tracing_mock"):
            self._component("tracing", name, ["tracing_subscriber"])
        self._component("tracing", "tracing_profile", ["tracing_inspect", *zlib])
        if self.options.with_cuda:
            self._component("tracing", "tracing_cuda", ["tracing_core"])
        if self.options.with_nvtx:
            self._component("tracing", "tracing_nvtx", ["tracing_subscriber"])
        if self.options.with_gtest:
            self._component("testlog", "testlog_testlog", ["tracing_subscriber", "gtest::gmock"], library="testlog")
            self._component("testlog", "testlog_main", ["testlog_testlog"])
            if self.options.with_cuda:
                self._component("testlog", "testlog_cuda", ["testlog_testlog", "tracing_cuda"])
            if self.options.with_nvtx:
                self._component("testlog", "testlog_nvtx", ["testlog_testlog", "tracing_nvtx"])
        if self.options.with_command:
            self.runenv_info.prepend_path("PATH", os.path.join(self.package_folder, "bin"))
            self.buildenv_info.prepend_path("PATH", os.path.join(self.package_folder, "bin"))

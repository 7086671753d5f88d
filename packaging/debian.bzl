"""The dependencies of testlog as Debian's packages install them, for Debian's Bazel, which has no modules and no network."""

def _written_impl(repository):
    repository.file("WORKSPACE", "")
    for path, text in repository.attr.files.items():
        repository.file(path, text)

_written = repository_rule(
    implementation = _written_impl,
    attrs = {"files": attr.string_dict()},
)

# Rules that this Bazel has built in, under the name by which it and others load them.
def _native_rules(language, rules):
    _written(
        name = "rules_" + language,
        files = {
            language + "/BUILD": "",
            language + "/defs.bzl": "\n".join(["%s = native.%s" % (rule, rule) for rule in rules]),
        },
    )

# A library whose headers are in /usr/include, where the compiler finds them.
def _installed(name, targets, defines = [], deps = []):
    libraries = [
        "cc_library(name = %r, linkopts = %r, defines = %r, deps = %r)" % (target, linkopts, defines, deps)
        for target, linkopts in targets.items()
    ]
    _written(
        name = name,
        files = {"BUILD": "\n".join(["package(default_visibility = [\"//visibility:public\"])"] + libraries)},
    )

def debian_repositories():
    """Makes the repositories that testlog and Debian's Bazel would fetch.

    The packages are libgtest-dev, libgmock-dev, libfmt-dev, libspdlog-dev, libre2-dev, zlib1g-dev and libcli11-dev.
    """
    _native_rules("cc", ["cc_binary", "cc_library", "cc_test", "cc_toolchain", "cc_toolchain_suite"])
    _native_rules("java", ["java_binary", "java_import", "java_runtime", "java_toolchain"])
    _installed("remote_coverage_tools", {"coverage_report_generator": []})
    _installed("cli11", {"cli11": []})
    _installed("fmt", {"fmt": ["-lfmt"]})
    _installed("googletest", {
        "gtest": ["-lgmock", "-lgtest", "-pthread"],
        "gtest_main": ["-lgmock_main", "-lgmock", "-lgtest", "-pthread"],
    })
    _installed("re2", {"re2": ["-lre2"]})
    _installed(
        "spdlog",
        {"spdlog": ["-lspdlog"]},
        defines = ["SPDLOG_COMPILED_LIB", "SPDLOG_FMT_EXTERNAL", "SPDLOG_SHARED_LIB"],
        deps = ["@fmt"],
    )
    _installed("zlib", {"zlib": ["-lz"]})

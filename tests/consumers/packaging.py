#!/usr/bin/env python3
"""Checks that vcpkg's port and the Conan recipe know the version and every switch of CMakeLists.txt: packaging.py <root>"""
import ast
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
cmake = (root / "CMakeLists.txt").read_text()
port_folder = root / "packaging/vcpkg/testlog"
port = (port_folder / "portfile.cmake").read_text()
manifest = json.loads((port_folder / "vcpkg.json").read_text())
recipe = (root / "packaging/conan/conanfile.py").read_text()
page = (root / "docs/packages.md").read_text()
ast.parse(recipe)
ast.parse((root / "packaging/conan/test_package/conanfile.py").read_text())

version = re.search(r"project\(testlog VERSION ([0-9.]+)", cmake)[1]
switches = re.findall(r"testlog_switch\((TESTLOG_WITH_\w+) .*?( PART_OF [^)]*)?\)", cmake)
mapped = re.findall(r"^  ([a-z-]+) (TESTLOG_\w+)\)?$", port, re.M)
features = set(manifest["features"])

faults = []
if len(switches) < 8:
    faults.append(f"CMakeLists.txt: found {len(switches)} switches only")
if manifest["version"] != version:
    faults.append(f"vcpkg.json: version {manifest['version']}, but CMakeLists.txt has {version}")
if f"testlog/{version}\n" not in page:
    faults.append(f"docs/packages.md does not require testlog/{version}")
for switch, whole in switches:
    if switch not in dict((switch, feature) for feature, switch in mapped):
        faults.append(f"portfile.cmake: {switch} belongs to no feature, so that its dependency is found by accident")
    if f'"{switch}"' not in recipe and "TESTLOG_WITH_CUDA_CPU" not in whole:
        faults.append(f"conanfile.py: {switch} belongs to no option, so that its dependency is found by accident")
if features != {feature for feature, switch in mapped}:
    faults.append(f"portfile.cmake and vcpkg.json differ in {features ^ {feature for feature, switch in mapped}}")
for feature in features:
    if f"`{feature}`" not in page:
        faults.append(f"docs/packages.md does not list the feature {feature}")
print("\n".join(faults) or f"{len(switches)} switches, {len(features)} features")
sys.exit(bool(faults))

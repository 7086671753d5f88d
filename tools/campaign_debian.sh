#!/usr/bin/env bash
# Makes the Debian packages of the tracked files, checks them by lintian, and runs packaging/debian/tests with them:
#
#     tools/campaign.sh debian
#
# They are built in one empty Debian and tried in another, which debootstrap makes: so what they need is declared. Needs root,
# debootstrap, lintian and autopkgtest. SUITE is a release of Debian (bookworm), MIRROR its archive. The packages stay in
# build/debian/$SUITE/packages.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
. tools/campaign_systems.sh
need lintian autopkgtest

unpack_source() {  # <folder>
  local version
  version=$(sed -nE '1s/^testlog \((.*)-[^-]*\).*/\1/p' packaging/debian/changelog)
  tracked_files "testlog-$version/" | gzip -n >"$1/testlog_$version.orig.tar.gz"
  tar -C "$1" -xf "$1/testlog_$version.orig.tar.gz"
  mv "$1/testlog-$version" "$1/source"
  cp -r "$1/source/packaging/debian" "$1/source/debian"
}

new_system build
mkdir "$out/build/packages"
unpack_source "$out/build/packages"
in_system build 'apt-get -qq update
  apt-get -qq install --no-install-recommends build-essential >/dev/null
  cd /packages/source
  apt-get -qq build-dep --no-install-recommends . >/dev/null
  dpkg-buildpackage --no-sign -j"$(nproc)"'
rm -rf "$out/packages"
mkdir "$out/packages"
find "$out/build/packages" -maxdepth 1 -type f -exec mv -t "$out/packages" {} +

# The tag left out asks for the number of a bug report, which the first upload to Debian closes.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$out"/packages/*.changes

new_system try
in_system try 'apt-get -qq update'
autopkgtest "$out"/packages/*.changes -- chroot "$out/try"
echo "The packages: $out/packages"

# Empty Debian systems for the campaigns that need some. To be sourced in the root of the tree.
#
# SUITE is a release of Debian (bookworm), MIRROR its archive. The systems are in build/debian/$SUITE.
readonly suite=${SUITE:-bookworm} mirror=${MIRROR:-http://deb.debian.org/debian}
readonly out=$PWD/build/debian/$suite

# need <tool>...: stops if one is missing, or without the rights to make systems.
need() {
  ((EUID == 0)) || { echo 'tools/campaign.sh: debootstrap and chroot need root' >&2; exit 2; }
  local tool
  for tool in debootstrap "$@"; do
    command -v "$tool" >/dev/null || { echo "tools/campaign.sh: $tool is missing: apt-get install $tool" >&2; exit 2; }
  done
}

# new_system <name>: the first one is kept as a pattern for the others.
new_system() {
  if [[ ! -e $out/empty.done ]]; then
    rm -rf "$out/empty"
    mkdir -p "$out"
    debootstrap --variant=minbase "$suite" "$out/empty" "$mirror"
    touch "$out/empty.done"
  fi
  rm -rf "${out:?}/$1"
  cp -a "$out/empty" "$out/$1"
}

# in_system <name> <command>: in a mount namespace of its own, so that nothing stays mounted.
in_system() {
  DEBIAN_FRONTEND=noninteractive unshare --mount \
    bash -euc 'mount -t proc proc "$1/proc"; exec chroot "$1" bash -euc "$2"' - "$out/$1" "$2"
}

# tracked_files <prefix>: a tar file of them as they are in the working tree.
tracked_files() {
  local tree
  tree=$(git stash create)
  git archive --prefix="$1" "${tree:-HEAD}"
}

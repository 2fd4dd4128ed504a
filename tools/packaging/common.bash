# What the makers of packages share; sourced from the top of the tree.
say() { printf 'package: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# The version has one home: netprof.h.
version=$(sed -n 's/^#define NETPROF_VERSION_STRING "\(.*\)"$/\1/p' netprof.h)

# source_tree DIR: the files of this commit, with its time, and no others.
source_tree() {
    mkdir -p "$1"
    git archive --format=tar HEAD | tar -x -C "$1"
}

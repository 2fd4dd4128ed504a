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

# fill_in DIR URL TARBALL: the recipes, with the version, where the release will be and what the tarball is.
fill_in() {
    local to=$1 url=$2 tarball=$3
    mkdir -p "$to"
    cp -r tools/packaging/{spack,easybuild,conda,conan,vcpkg,modulefile,netprof.spec,Containerfile} "$to"
    find "$to" -type f -exec sed -i -e "s#@URL@#$url#g" -e "s/@VERSION@/$version/g" \
        -e "s/@SHA256@/$(sha256sum "$tarball" | cut -d ' ' -f 1)/g" \
        -e "s/@SHA512@/$(sha512sum "$tarball" | cut -d ' ' -f 1)/g" {} +
    mv "$to"/easybuild/netprof-@VERSION@-* "$to/easybuild/netprof-$version-GCCcore-13.3.0.eb"
}

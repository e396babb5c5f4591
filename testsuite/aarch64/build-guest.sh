#!/usr/bin/env bash
# Copyright 2026 The Netty over RPMA Authors
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with the
# License. You may obtain a copy of the License at
#
#     https://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on an
# "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.


# Builds the guest that run.sh boots, and prints its folder. The guest consists of Debian 13 for arm64, unpacked from its
# packages, and a kernel with the given page size. Nothing is installed on this machine, no file of apt is changed, and no program
# for arm64 is run.
#
#   build-guest.sh 4k|16k [--update]
#
# The folder is ${XDG_CACHE_HOME:-$HOME/.cache}/netty-rpma/aarch64. It contains
#
#   root       the unpacked packages, which are the read-only root file system of the guest
#   packages   their names and versions
#   4k, 16k    a kernel (vmlinuz), its first file system (initramfs: busybox and the required modules), and its release
#
# Existing files are used as they are, unless --update builds all of them again. Two simultaneous calls build only once.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../tools/private-apt.sh
. "$here/../../tools/private-apt.sh"

readonly release=trixie
# These packages and their dependencies are installed. The second line is for the project's scripts and for tests that start
# programs.
readonly packages=(openjdk-25-jre-headless librpma0 ibverbs-providers iproute2 busybox-static
    bash coreutils findutils grep libc-bin mawk procps sed util-linux)
# The kernel's modules, including everything below a folder. Modules load the modules that they depend on.
readonly modules=(fs/9p fs/configfs fs/netfs fs/overlayfs net/9p net/ipv4/udp_tunnel.ko.xz net/ipv6/ip6_udp_tunnel.ko.xz
    drivers/infiniband/core drivers/infiniband/sw drivers/net/dummy.ko.xz drivers/net/veth.ko.xz crypto lib)

say() {
    echo "aarch64: $*" >&2
}

fail() {
    say "$@"
    exit 1
}

pages=${1-}
[[ $pages == 4k || $pages == 16k ]] && [[ -z ${2-} || $2 == --update ]] || {
    say "usage: build-guest.sh 4k|16k [--update]"
    exit 2
}
cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set: the cache has no place}/.cache}/netty-rpma/aarch64
readonly pages cache

mkdir -p "$cache"
exec {lock}> "$cache/lock"
flock "$lock"
[[ ${2-} != --update ]] || rm -rf "$cache/root" "$cache/4k" "$cache/16k"
if [[ -f $cache/packages && -d $cache/root && -f $cache/$pages/release ]]; then
    echo "$cache"
    exit 0
fi

mapfile -t missing < <(
    private_apt_missing
    command -v busybox > /dev/null || echo busybox-static
    command -v xz > /dev/null || echo xz-utils
)
((${#missing[@]} == 0)) || fail "not installed: ${missing[*]}; on Debian install them with: sudo apt-get install ${missing[*]}"
available=$(df -P -B 1M "$cache" | awk 'NR == 2 { print $4 }')
((available >= 2000)) || fail "the guest needs 2000 MiB, $cache has $available MiB free: make room there, or set XDG_CACHE_HOME" \
    "to another place"

# Only the holder of the lock runs here, so existing files are leftovers of an earlier call that was killed.
readonly work=$cache/build
rm -rf "$work"
mkdir -p "$work/kernel"
trap 'rm -rf "$work/apt" "$work/kernel"' EXIT
private_apt_create "$work/apt" arm64 "$release"

# logged WHAT COMMAND...: runs a command whose output is only shown if the command fails.
logged() {
    local what=$1
    shift
    "$@" >> "$work/log" 2>&1 || {
        tail -n 5 "$work/log" >&2
        fail "$what; see $work/log"
    }
}

say "downloading packages for arm64 from $DEBIAN_MIRROR $release, about 180 MB"
logged "$DEBIAN_MIRROR does not have $release for arm64" private_apt "$work/apt" apt-get -o APT::Update::Error-Mode=any update

if [[ ! -f $cache/packages || ! -d $cache/root ]]; then
    rm -rf "$cache/root" "$cache/packages"
    logged "$DEBIAN_MIRROR does not give the packages" private_apt "$work/apt" apt-get -y --download-only \
        --no-install-recommends install "${packages[@]}"
    mkdir "$work/root"
    for package in "$work"/apt/cache/archives/*.deb; do
        logged "$package cannot be unpacked" dpkg-deb -x "$package" "$work/root"
        dpkg-deb -W --showformat '${Package} ${Version}\n' "$package" >> "$work/packages"
    done
    # Creates what the scripts of the packages would create, as far as it is needed here.
    printf '%s\n' 'root:x:0:0:root:/root:/bin/bash' 'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin' \
        > "$work/root/etc/passwd"
    printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' > "$work/root/etc/group"
    ln -sf bash "$work/root/usr/bin/sh"
    ln -sf mawk "$work/root/usr/bin/awk"
    mv "$work/root" "$work/packages" "$cache/"
fi

if [[ ! -f $cache/$pages/release ]]; then
    meta=linux-image-arm64
    [[ $pages == 4k ]] || meta+=-$pages
    kernel=$(private_apt "$work/apt" apt-cache depends "$meta" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p')
    [[ -n $kernel ]] || fail "$meta of $release depends on no kernel"
    (
        cd "$work/kernel"
        logged "$DEBIAN_MIRROR does not give $kernel" private_apt "$work/apt" apt-get download "$kernel"
        logged "$kernel cannot be unpacked" dpkg-deb -x "$kernel"_*.deb tree
        version=${kernel#linux-image-}
        mkdir -p first/bin "first/lib/modules/$version"
        cp tree/usr/lib/modules/"$version"/modules.{order,builtin}* "first/lib/modules/$version/"
        target=$PWD/first/lib/modules/$version
        cd "tree/usr/lib/modules/$version/kernel"
        cp -r --parents -t "$target" "${modules[@]}"
        cd "$target"
        find . -name '*.ko.xz' -exec xz -d {} +
        cd "$work/kernel"
        logged "the modules' dependencies cannot be found" busybox depmod -b first "$version"
        cp "$cache/root/usr/bin/busybox" first/bin/
        # The remaining part of the first process belongs to run.sh, so that it can be changed without building the guest again.
        # shellcheck disable=SC2016 # for another shell
        printf '%s\n' '#!/bin/busybox sh' 'exec < /dev/console > /dev/console 2>&1' \
            'for module in 9pnet_virtio 9p; do /bin/busybox modprobe "$module" || exit; done' \
            '/bin/busybox mkdir /control' \
            '/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072 control /control || exit' \
            'exec /bin/busybox sh /control/init' > first/init
        chmod 755 first/init
        mkdir made
        (cd first && find . | busybox cpio -o -H newc 2> /dev/null | gzip -1) > made/initramfs
        cp "tree/boot/vmlinuz-$version" made/vmlinuz
        echo "$version" > made/release
    )
    rm -rf "${cache:?}/$pages"
    mv "$work/kernel/made" "$cache/$pages"
fi
rm -f "$work/log"
echo "$cache"

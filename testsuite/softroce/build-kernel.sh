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

# Prints the path of the user-mode kernel, and builds the kernel first if it is not in the cache.
#
# The cache is ${XDG_CACHE_HOME:-$HOME/.cache}/netty-rpma/softroce/. It has a folder for each combination of the version of the
# source package, the architecture and the checksum of kernel.config. Two simultaneous calls build only once, because the second
# call waits for the first.
#
# The source is the newest package linux-source-N.M that is installed. If that is older than Linux 6.16 or none is installed, the
# source of a newer version is downloaded from Debian's backports, because a user-mode kernel before 6.16 takes more than twice as
# long for each system call. Nothing is installed then. Without the download, the old version is built.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=packages.sh
. "$here/packages.sh"
# shellcheck source=../../tools/private-apt.sh
. "$here/../../tools/private-apt.sh"

# The suite from which a newer source is downloaded, and the version that is taken if the suite has several. The stages that
# verify.sh runs by default have run on this version.
readonly BACKPORTS=trixie-backports
readonly TESTED_SOURCE=linux-source-7.2

say() {
    echo "softroce: $*" >&2
}

fail() {
    say "$@"
    exit 1
}

arch=$(uname -m)
[[ $arch == x86_64 ]] || fail "a user-mode kernel exists for x86_64 only, this machine is $arch;" \
    "run on a machine with an RDMA device, or where 'modprobe rdma_rxe' works"

cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set: the cache has no place}/.cache}/netty-rpma/softroce
# The size of the area for the registers of a process (the XSAVE area) in a kernel before Linux 6.16. The kernel reads and writes
# the registers as a whole, and the host refuses to write only a part of them. The size in the source, 2,696 bytes, is sufficient
# for AVX-512, but a processor with AMX has 11,008 bytes of registers.
readonly XSTATE_BYTES=12288
# The change of notice_refused_memory, as a program of sed.
readonly NOTICE_REFUSED_MEMORY='
    s/^\(\t*\)proc_data->syscall_data_len = mm_id->syscall_data_len;$/&\n\1proc_data->err = 0;/
    s/^\(\t*\)if (sig == SIGTRAP && proc_data->err != 0) {$/\1if (proc_data->err != 0) {\n\1\tif (proc_data->err == -ENOMEM)\n\1\t\treport_enomem();/'

# The checksum covers the options in kernel.config (but not the other comments in it), the changes of the source, and the version,
# so that a kernel that was built when another version was in use is not taken.
checksum=$({
    grep '^\(# \)\?CONFIG_' "$here/kernel.config"
    echo "$XSTATE_BYTES $NOTICE_REFUSED_MEMORY $TESTED_SOURCE"
} | sha256sum)
suffix=$arch-${checksum:0:12}

# Whether the first version is newer than the second one, which may be empty.
is_newer() {
    [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort -V | tail -n 1) == "$1" ]]
}

# Prints the kernel in the cache that was built from the newest source.
cached_kernel() {
    local newest
    newest=$(cd "$cache" 2> /dev/null && compgen -G "*-$suffix/linux" | sort -V | tail -n 1) && [[ -n $newest ]] &&
        echo "$cache/$newest"
}

# Sets the newest source that is installed, and its version. Both are empty if none is installed.
find_installed() {
    version=
    if installed=$(softroce_installed_source); then
        version=$(dpkg-query -W -f '${Version}' "$installed" 2> /dev/null || echo "${installed#linux-source-}")
    fi
}
find_installed

# Prints the kernel in the cache, unless a newer source has been installed since it was built.
usable_kernel() {
    local kernel built
    kernel=$(cached_kernel) || return 1
    built=${kernel#"$cache"/}
    ! is_newer "$version" "${built%-"$suffix"/linux}" && echo "$kernel"
}

usable_kernel && exit 0

mapfile -t missing < <(
    softroce_missing_build_packages
    # Without a source and without the programs that download one, the old one must be installed.
    [[ -n $installed || -z $(private_apt_missing) ]] || echo "$SOFTROCE_OLD_SOURCE"
)
if ((${#missing[@]} > 0)); then
    if ((EUID == 0)) && command -v apt-get > /dev/null; then
        say "installing the packages that build the user-mode kernel: ${missing[*]}"
        "$here/install-packages.sh" "${missing[@]}" > /dev/null || fail "could not install ${missing[*]}"
        exec "${BASH_SOURCE[0]}"
    fi
    fail "the user-mode kernel cannot be built without ${missing[*]}; install with:" \
        "sudo $here/install-packages.sh ${missing[*]}"
fi

mkdir -p "$cache"
exec 9> "$cache/lock"
if ! flock -n 9; then
    say "another run builds the user-mode kernel: waiting for it"
    # The wait is divided into short ones, because a signal would leave a child with a long wait behind.
    until flock -n 9; do
        sleep 0.5
    done
fi
usable_kernel && exit 0

# Only the holder of the lock runs here, so existing files are leftovers of an earlier build that was killed.
rm -rf "$cache"/build.*

available=$(df -P -B 1M "$cache" | awk 'NR == 2 { print $4 }')
((available >= 1500)) || fail "building the kernel needs 1500 MiB, $cache has $available MiB free: make room there," \
    "or set XDG_CACHE_HOME to another place"

build=$cache/build.$$
log=$cache/build-failed.log
job=
failed=0
finish() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP
    if [[ -n $job ]]; then
        # Ends the whole process group, because ending only make would leave its compilers running.
        kill -KILL -- "-$job" 2> /dev/null || true
        wait "$job" 2> /dev/null || true
    fi
    if ((status != 0)); then
        say "removing the unfinished build"
    fi
    if ((failed)); then
        mv -f "$build/log" "$log"
    fi
    rm -rf "$build"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
mkdir "$build"

# Runs a command in the background, as a process group, so that a signal ends all its processes at once, and sets $result to its
# status. (If it returned the status, its caller would test it, and bash ignores set -e in functions whose status is tested.) The
# command inherits neither the lock nor the output of this script.
in_background() {
    set -m
    "$@" >> "$build/log" 2>&1 < /dev/null 9>&- &
    job=$!
    set +m
    while kill -0 "$job" 2> /dev/null; do
        sleep 0.5 9>&-
        progress
    done
    result=0
    wait "$job" || result=$?
    job=
}

# Runs a step of the build. If it fails, shows why and ends the script.
step() {
    in_background "$@"
    if ((result != 0)); then
        failed=1
        # If several compilers run at once, the reason is rarely at the end of the output.
        grep -i -B 2 -m 5 'error:\|no rule to make\|\*\*\* \[\|not survive' "$build/log" >&2 || tail "$build/log" >&2
        say "building the user-mode kernel failed ($1: exit code $result); the whole log: $log"
        exit 1
    fi
}

started=$SECONDS
told=$SECONDS
progress() {
    if ((SECONDS - told >= 30)); then
        told=$SECONDS
        say "... $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s," \
            "$(grep -c '^  CC ' "$build/log" || true) of about 900 files compiled"
    fi
}

# The sources of other architectures, and of devices and file systems that are never compiled, are not unpacked; these are three
# quarters of all sources. Their Kconfig files and makefiles are unpacked, because the configuration reads them.
unpack() {
    local folder exclude=('--exclude=*/tools/perf' '--exclude=*/tools/testing/selftests'
        '--exclude=*/Documentation/*.rst' '--exclude=*/Documentation/*.yaml' '--exclude=*/Documentation/*.txt')
    for folder in samples sound tools/testing fs/{bcachefs,btrfs,ceph,f2fs,nfs,ntfs3,ocfs2,smb,xfs} \
        drivers/{accel,ata,clk,comedi,gpu,hid,iio,infiniband/hw,md,media,mfd,mmc,mtd,net/can,net/dsa,net/ethernet} \
        drivers/{net/wireless,phy,pinctrl,platform,power,regulator,s390,scsi,soc,spi,staging,thermal,video,watchdog}; do
        exclude+=("--exclude=*/$folder/*.[chS]")
    done
    for folder in alpha arc arm arm64 csky hexagon loongarch m68k microblaze mips nios2 openrisc parisc powerpc riscv \
        s390 sh sparc xtensa; do
        exclude+=("--exclude=*/arch/$folder/*.[chS]" "--exclude=*/arch/$folder/*.dts*")
    done
    mkdir "$build/source"
    xz -dc -T0 "$source" | tar -x -C "$build/source" --strip-components=1 "${exclude[@]}"
}

# Reserves enough space for the registers of every processor, for which older versions have a constant. They are also stored on
# the kernel's stacks; see CONFIG_KERNEL_STACK_ORDER.
make_room_for_registers() {
    local file=$build/source/arch/x86/um/user-offsets.c
    ! softroce_is_fast "$version" || return 0
    sed -i "s/^\(\tDEFINE_LONGS(HOST_FP_SIZE, \)2696);/\1$XSTATE_BYTES);/" "$file"
    grep -q "HOST_FP_SIZE, $XSTATE_BYTES" "$file" || {
        echo "error: $file does not contain 'HOST_FP_SIZE, 2696' any more"
        return 1
    }
}

# With seccomp the process of the host that runs a process of the guest reports a failed mapping by SIGSYS, but Linux 7.2 expects
# SIGTRAP. If the host refuses memory, the process of the guest would repeat the access for ever. After this change it is ended by
# a signal, as with ptrace, and the kernel prints the reason. A version that does not contain the line is not changed.
notice_refused_memory() {
    local file=$build/source/arch/um/os-Linux/skas/process.c
    ! grep -q 'sig == SIGTRAP && proc_data->err' "$file" || sed -i "$NOTICE_REFUSED_MEMORY" "$file"
}

configure() {
    make -C "$build/source" ARCH=um O="$build/out" allnoconfig
    cd "$build/out"
    "$build/source/scripts/kconfig/merge_config.sh" -O . -m .config "$here/kernel.config"
    make ARCH=um olddefconfig
    # If the configuration dropped a symbol because it was renamed or a dependency is not met, the guest would misbehave without
    # any other sign.
    local line
    while read -r line; do
        grep -qxF -- "$line" .config || {
            echo "kernel.config: the configuration does not contain '$line'"
            return 1
        }
    done < <(grep '^CONFIG_' "$here/kernel.config")
}

compile() {
    exec nice -n 5 make -C "$build/out" ARCH=um -j"$(nproc)" linux
}

# Downloads the package of a newer source, and unpacks it.
download() {
    local packages name=$TESTED_SOURCE
    private_apt_create "$build/apt" "$(dpkg --print-architecture)" "$BACKPORTS"
    private_apt "$build/apt" apt-get -o APT::Update::Error-Mode=any update
    packages=$(private_apt "$build/apt" apt-cache search --names-only '^linux-source-[0-9.]+$' | cut -d ' ' -f 1 | sort -V)
    grep -qx "$name" <<< "$packages" || name=$(tail -n 1 <<< "$packages")
    softroce_is_fast "$name" || {
        echo "error: the newest source in $BACKPORTS is '$name'"
        return 1
    }
    mkdir "$build/package"
    cd "$build/package"
    private_apt "$build/apt" apt-get download "$name"
    dpkg-deb -x "$name"_*.deb .
    dpkg-deb -f "$name"_*.deb Version > version
    rm "$name"_*.deb
    mv "usr/src/$name.tar.xz" source.tar.xz
}

source=
if [[ -z $version ]] || ! softroce_is_fast "$version"; then
    result=1
    if [[ -z $(private_apt_missing) ]]; then
        say "downloading the source of the kernel from $DEBIAN_MIRROR $BACKPORTS, about 165 MB"
        in_background download
    fi
    if ((result == 0)); then
        source=$build/package/source.tar.xz
        version=$(< "$build/package/version")
    else
        tail -n 3 "$build/log" >&2 || true
        if [[ -z $version ]] && ((EUID == 0)) && command -v apt-get > /dev/null; then
            "$here/install-packages.sh" "$SOFTROCE_OLD_SOURCE" >> "$build/log" 2>&1 || true
            find_installed
        fi
        [[ -n $version ]] || fail "there is no source of the kernel: it could not be downloaded, and $SOFTROCE_OLD_SOURCE is" \
            "not installed; set DEBIAN_MIRROR to another mirror, or install it with: sudo $here/install-packages.sh $SOFTROCE_OLD_SOURCE"
        say "it could not be downloaded; using $installed instead, whose system calls take more than twice as long"
    fi
fi
[[ -n $source ]] || source=/usr/src/$installed.tar.xz
readonly version source
target=$cache/$version-$suffix

say "building the user-mode kernel once, about 4 minutes on 2 processors (log: $build/log)"
step unpack
step make_room_for_registers
step notice_refused_memory
step configure
step compile
strip -o "$build/linux" "$build/out/linux"
mkdir "$build/kernel"
mv "$build/linux" "$build/kernel/linux"
mv "$build/out/.config" "$build/kernel/config"
# The kernel is moved to the cache in one step, so that the cache never contains a part of it.
mv -T "$build/kernel" "$target"
rm -f "$log"
say "built $target/linux in $((SECONDS - started)) s"
echo "$target/linux"

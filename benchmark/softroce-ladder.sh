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

# Measures in one run what each layer costs on real verbs: perftest, a C program on librpma, the same program in Java on
# io.rpma, and RpmaChannel. Each rung measures round trips of 64 B, and 64 KiB messages in one direction. It runs in a virtual
# machine with two processors, because programs that poll need one processor each. The virtual machine is QEMU with Debian's own
# kernel and SoftRoCE. Only the ratios are meaningful, because without KVM everything is 20 to 30 times slower than on real
# hardware.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
readonly here
readonly root=${here%/*}
readonly parts=$here/softroce-ladder
readonly target=$here/target
readonly work=$target/ladder
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/netty-rpma/ladder
readonly packages=(qemu-system-x86 perftest busybox-static kmod cpio gcc libc6-dev librpma-dev libibverbs-dev
    iproute2 librpma0 libibverbs1 librdmacm1 ibverbs-providers)
readonly modules=(virtio_pci 9pnet_virtio 9p overlay dummy crc32_generic crc32c_generic rdma_rxe rdma_ucm ib_uverbs)

accelerator=auto
limit=900
rounds=3
install=
for option; do
    case $option in
        --accel=auto | --accel=kvm | --accel=tcg) accelerator=${option#*=} ;;
        --limit=*) limit=${option#*=} ;;
        --rounds=[1-9]) rounds=${option#*=} ;;
        --install) install=1 ;;
        *)
            echo "usage: softroce-ladder.sh [--accel=auto|kvm|tcg] [--rounds=1..9] [--limit=SECONDS] [--install]" >&2
            echo "  --install  installs missing packages with apt-get, as root" >&2
            exit 2
            ;;
    esac
done

fail() {
    echo "softroce-ladder.sh: $*" >&2
    exit 1
}

missing() {
    local command
    for command in qemu-system-x86_64:qemu-system-x86 ib_send_lat:perftest busybox:busybox-static depmod:kmod cpio:cpio \
        gcc:gcc rdma:iproute2; do
        PATH=$PATH:/usr/sbin:/sbin command -v "${command%:*}" > /dev/null || echo "${command#*:}"
    done
    [[ -r /usr/include/librpma.h ]] || echo librpma-dev
    [[ -r /usr/include/infiniband/verbs.h ]] || echo libibverbs-dev
}

lacking=$(missing | tr '\n' ' ')
if [[ -n $lacking ]]; then
    command -v apt-get > /dev/null || fail "not installed (the names are those of Debian): $lacking"
    if [[ -z $install ]] || ((EUID != 0)); then
        fail "not installed: $lacking; as root: $0 --install"
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${packages[@]}" >&2
fi
PATH=$PATH:/usr/sbin:/sbin
[[ $(uname -m) == x86_64 ]] || fail "this script needs x86-64; this machine is $(uname -m)"

# Debian's stock kernel, which is unpacked once, outside of the source tree.
kernel() {
    compgen -G "$cache/boot/vmlinuz-*" > /dev/null && return
    command -v apt-get > /dev/null || fail "the kernel comes from Debian's package linux-image-amd64, and there is no apt-get"
    local name folder
    name=$(apt-cache depends linux-image-amd64 2> /dev/null | sed -n 's/^ *Depends: //p' | head -n 1)
    [[ -n $name ]] || fail "apt knows no package linux-image-amd64: apt-get update"
    echo "fetching $name..." >&2
    folder=$(mktemp -d)
    (cd "$folder" && apt-get download -q "$name" > /dev/null && dpkg-deb -x ./*.deb tree) || fail "$name cannot be fetched"
    depmod -b "$folder/tree" "$(basename "$folder"/tree/lib/modules/*)"
    mkdir -p "${cache%/*}"
    mv "$folder/tree" "$cache"
    rm -r "$folder"
}

initial_memory() {
    local version folder module
    version=$(basename "$cache"/lib/modules/*)
    folder=$work/initramfs
    mkdir -p "$folder/modules" "$folder/bin"
    cp "$(command -v busybox)" "$folder/bin/busybox"
    cp "$parts/init" "$folder/init"
    for module in "${modules[@]}"; do
        modprobe -d "$cache" -S "$version" --show-depends "$module"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' > "$work/modules"
    while read -r module; do
        cp "$module" "$folder/modules/"
        basename "$module"
    done < "$work/modules" > "$folder/modules.list"
    (cd "$folder" && find . | cpio -o -H newc --quiet) | gzip -1 > "$work/initramfs.gz"
}

kernel
# Builds the benchmark if necessary.
"$root/run-benchmark.sh" --list > /dev/null
rm -rf "$work"
mkdir -p "$work/results"
gcc -std=gnu11 -O2 -Wall -Wextra -o "$work/ladder" "$here/src/main/c/ladder.c" -lrpma -libverbs
initial_memory
cat > "$work/results/job" <<JOB
export ROUNDS=$rounds LADDER='$work/ladder' JAVA_HOME='$("$root/tools/find-java.sh")' TARGET='$target'
. '$parts/rungs.sh'
JOB

guest=
end_guest() {
    [[ -z $guest ]] || kill "$guest" 2> /dev/null || true
}
trap end_guest EXIT

# Starts the guest. Fails if the guest does not report within some seconds that it is up. The guest reads the time from the
# processor, as a real machine does. The kernel distrusts the counter of an emulated processor, and would otherwise read an
# emulated timer, which takes microseconds.
start() {
    local accel=$1 cpu=$2 patience=$3 second
    rm -f "$work/results/up"
    echo "starting a guest with $accel..." >&2
    qemu-system-x86_64 -accel "$accel" -cpu "$cpu" -smp 2 -m 3G -nodefaults -no-user-config -display none -no-reboot \
        -serial "file:$work/console.log" -kernel "$cache"/boot/vmlinuz-* -initrd "$work/initramfs.gz" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable clocksource=tsc" \
        -virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap" \
        -virtfs "local,path=$work/results,mount_tag=results,security_model=none" < /dev/null 2> "$work/qemu.log" &
    guest=$!
    for ((second = 0; second < patience * 5; second++)); do
        [[ ! -e $work/results/up ]] || return 0
        kill -0 "$guest" 2> /dev/null || break
        sleep 0.2
    done
    end_guest
    wait "$guest" 2> /dev/null || true
    guest=
    return 1
}

began=$SECONDS
used=
if [[ $accelerator != tcg && -w /dev/kvm ]] && start kvm host,arch-capabilities=off 15; then
    used=kvm
elif [[ $accelerator == kvm ]]; then
    fail "no guest with KVM on this machine; see $work/qemu.log and $work/console.log"
elif start tcg,thread=multi max 90; then
    used=tcg
else
    fail "the guest did not start; see $work/qemu.log and $work/console.log"
fi
while kill -0 "$guest" 2> /dev/null; do
    ((SECONDS - began < limit)) || fail "not done within $limit s; so far: $(cat "$work/results/rungs" 2> /dev/null); see $work/results"
    sleep 0.5
done
guest=
[[ -e $work/results/done ]] || fail "a rung failed: $(tail -n 3 "$work/results/log"); see $work/results"
awk -v used="$used" -f "$parts/table.awk" "$work/results/rungs"

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

# Runs a command on emulated aarch64. `run.sh --help` describes the usage.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
readonly EXIT_GUEST_FAILED=125

usage() {
    cat << 'USAGE'
Usage: testsuite/aarch64/run.sh [OPTION...] [--] COMMAND [ARGUMENT...]
       testsuite/aarch64/run.sh [--pages SIZE] --build

Runs COMMAND on Debian 13 for arm64, in a machine that QEMU emulates, and returns its exit code. That machine has two
processors (Neoverse N1), the software RDMA device rxe0 (RoCE v2) at 10.77.0.1 and fd77::1, librpma and OpenJDK 25. It has no
connection to other networks. Emulated code takes 20 to 50 times as long. The packages are downloaded from Debian once and
cached (build-guest.sh). This host needs QEMU (apt-get install qemu-system-arm), apt, busybox-static and xz-utils.

The machine has the folder of this project, Maven's repository and the working directory at the same paths. What COMMAND writes
to them is discarded; the folder $RPMA_RESULTS is kept. Standard input is /dev/null. The two output streams stay two streams, or
are merged in their exact order if both have the same destination. COMMAND gets the environment variables RPMA_*.

Options:
  --pages SIZE     the size of the kernel's pages: 4k (default) or 16k
  --results DIR    the folder for the results of COMMAND, which gets it in RPMA_RESULTS (default: none)
  --mem SIZE       the memory of the guest (default: 4G)
  --build          only build the guest and print its folder; with --update before it, use the newest packages

Exit code: that of COMMAND (128 + N if it was ended by signal N), 125 if the guest ended without one, 2 for a wrong option.

Examples:
  testsuite/aarch64/run.sh getconf PAGESIZE
  testsuite/aarch64/run.sh --pages 16k ./run-example.sh echo --bytes 4MiB
  RPMA_PROVIDER=soft testsuite/aarch64/run.sh ./run-example.sh echo --bytes 4MiB
USAGE
}

say() {
    echo "aarch64: $*" >&2
}

fail() {
    say "$@"
    exit "$EXIT_GUEST_FAILED"
}

wrong_option() {
    say "$@"
    say "see $0 --help"
    exit 2
}

pages=4k
results=
memory=4G
build_only=0
update=()

while (($# > 0)); do
    case $1 in
        --pages | --results | --mem)
            (($# > 1)) || wrong_option "$1 needs a value"
            case $1 in
                --pages) pages=$2 ;;
                --results) results=$2 ;;
                --mem) memory=$2 ;;
            esac
            shift
            ;;
        --build) build_only=1 ;;
        --update) update=(--update) ;;
        -h | --help)
            usage
            exit 0
            ;;
        --)
            shift
            break
            ;;
        -*) wrong_option "no such option: $1" ;;
        *) break ;;
    esac
    shift
done

[[ $pages == 4k || $pages == 16k ]] || wrong_option "--pages $pages: Debian has kernels of 4k and of 16k"
[[ $memory =~ ^[0-9]{1,6}[MG]$ ]] || wrong_option "--mem $memory: a number and M or G is needed, as 4G"
if ((build_only)); then
    (($# == 0)) || wrong_option "--build takes no command: $*"
    exec "$here/build-guest.sh" "$pages" "${update[@]}"
fi
(($# > 0)) || wrong_option "no command given"

if ! command -v qemu-system-aarch64 > /dev/null; then
    fail "qemu-system-aarch64 is not installed; install it with: sudo apt-get install --no-install-recommends qemu-system-arm"
fi
guest=$("$here/build-guest.sh" "$pages" "${update[@]}") || fail "there is no guest to run in"

control=
qemu=
# shellcheck disable=SC2317 # called by the trap
finish() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP
    if [[ -n $qemu ]]; then
        kill -KILL "$qemu" 2> /dev/null || true
        wait "$qemu" 2> /dev/null || true
    fi
    rm -rf "$control"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

control=$(mktemp -d "${TMPDIR:-/tmp}/aarch64.XXXXXX") || fail "a temporary folder cannot be created: set TMPDIR to a folder for it"
[[ $control != *,* ]] || fail "QEMU accepts no folder with a comma in its name: set TMPDIR to a folder other than $TMPDIR"
mkdir -p "$control/out/results"
cp "$here/init" "$control/init"

# The class path that Maven has written shows where the repository is.
repository=$(cat "$root"/*/target/test.classpath 2> /dev/null | tr ':' '\n' |
    sed -n 's:^\(/.*\)/io/netty/netty-common/.*:\1:p' | head -n 1) || true
{
    echo "w $root"
    [[ -z $repository ]] || echo "r $repository"
    [[ $PWD/ == "$root"/* ]] || echo "w $PWD"
} > "$control/folders"

merge=0
if [[ /proc/self/fd/1 -ef /proc/self/fd/2 ]]; then
    merge=1
fi
printf '%s=%q\n' merge "$merge" date "$(date +%s)" > "$control/settings"
{
    echo 'export PATH=/usr/bin:/usr/sbin HOME=/root LANG=C.UTF-8 TERM=dumb USER=root LOGNAME=root'
    echo 'export JAVA_HOME=/usr/lib/jvm/java-25-openjdk-arm64 RPMA_RESULTS=/control/out/results'
    # shellcheck disable=SC2016 # for the guest's shell
    echo 'PATH=$JAVA_HOME/bin:$PATH'
    for name in $(compgen -e RPMA_); do
        [[ $name == RPMA_RESULTS ]] || printf 'export %s=%q\n' "$name" "${!name}"
    done
    printf 'cd -- %q || exit %d\n' "$PWD" "$EXIT_GUEST_FAILED"
    printf 'exec --'
    printf ' %q' "$@"
    echo
} > "$control/command"

# QEMU truncates the files that it writes to, and can only wait for pipes. This script also holds the pipes open. The relays would
# otherwise wait forever if QEMU ended before it has opened them.
mkfifo "$control/stdout" "$control/stderr"
cat "$control/stdout" &
relays=("$!")
cat "$control/stderr" >&2 &
relays+=("$!")
exec {stdout_pipe}> "$control/stdout" {stderr_pipe}> "$control/stderr"

# share TAG FOLDER OPTION: shares a folder with the guest.
shares=()
share() {
    shares+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap$3"
        -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
share control "$control" ''
share root "$guest/root" ,readonly=on
share host / ,readonly=on

# QEMU creates it, unless it ends before.
: > "$control/kernel.log"
say "running on Debian 13 for arm64, $(< "$guest/$pages/release"), emulated"
qemu-system-aarch64 -M virt -cpu neoverse-n1 -accel tcg,thread=multi -smp 2 -m "$memory" -nodefaults -no-reboot -nographic \
    -kernel "$guest/$pages/vmlinuz" -initrd "$guest/$pages/initramfs" \
    -append 'console=ttyAMA0 loglevel=5 panic=-1 mitigations=off dummy.numdummies=0' \
    -serial "file:$control/kernel.log" -monitor none \
    -device virtio-serial-pci \
    -chardev "file,id=stdout,path=$control/stdout" -device virtserialport,chardev=stdout,nr=1 \
    -chardev "file,id=stderr,path=$control/stderr" -device virtserialport,chardev=stderr,nr=2 \
    "${shares[@]}" < /dev/null >> "$control/qemu.log" 2>&1 &
qemu=$!
qemu_status=0
wait "$qemu" || qemu_status=$?
qemu=
exec {stdout_pipe}>&- {stderr_pipe}>&-
wait "${relays[@]}" || true

if [[ -n $results ]]; then
    mkdir -p -- "$results"
    cp -r "$control/out/results/." "$results/"
fi
code=
if [[ -s $control/out/exit ]]; then
    code=$(< "$control/out/exit")
fi
if [[ ! $code =~ ^[0-9]{1,3}$ ]]; then
    tail -n 30 "$control/qemu.log" "$control/kernel.log" >&2
    fail "the guest ended without an exit code of the command (QEMU's own: $qemu_status)"
fi
if grep -E 'BUG:|WARNING: CPU|Oops|Call trace|Out of memory|Killed process' "$control/kernel.log" >&2; then
    say "the guest's kernel reported trouble"
fi
exit "$code"

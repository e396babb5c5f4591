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

# Runs the tests that depend most on librpma with the librpma of several Debian releases, regardless of the version that this
# machine has: the contract suite, the tests of the binding, and the tests of the transport's one-sided operations and messages.
# `run.sh --help` describes the usage.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
# shellcheck source=../../tools/private-apt.sh
. "$root/tools/private-apt.sh"
readonly work=$root/testsuite/target/librpma-versions
readonly case_seconds=1200

usage() {
    cat << 'USAGE'
Usage: testsuite/librpma-versions/run.sh [RELEASE...]

Downloads librpma of each release of Debian (default: bookworm, which has 1.2, and trixie, which has 1.3), its libraries of
rdma-core, and the C library that they need from the mirror ($DEBIAN_MIRROR, http://deb.debian.org/debian). It uses apt with its
own settings, so that nothing is installed on this machine and none of apt's files is changed. It unpacks the libraries to
testsuite/target/librpma-versions and runs the following tests with each release, in the guest of testsuite/softroce or, as root,
on this machine's RDMA device. A separate mount namespace has these libraries in place of the machine's:

  contract   the rules of librpma's man pages
  binding    the tests of io.rpma.librpma
  transport  one-sided operations, transfers and message channels

It uses the existing build of `mvn package`. The report is report.txt, next to the logs. Exit code: 0 if all tests passed with
every release.
USAGE
}

fail() {
    echo "librpma-versions: $*" >&2
    exit 2
}

# This script calls itself with these arguments where the tests run. `--inside LIBRARIES COMMAND...` runs a command with
# libraries that are mounted over those in the folder of the same name. No other process sees them. The lower folders are only
# read.
if [[ ${1-} == --inside ]]; then
    export LIBRARIES=$2
    shift 2
    # shellcheck disable=SC2016 # expanded by the other shell
    exec unshare -m bash -c '
        folder=${LIBRARIES##*/tree}
        mount -t overlay overlay -o "lowerdir=$LIBRARIES:$folder" "$folder" || exit 125
        cmp "$LIBRARIES/librpma.so.0" "$folder/librpma.so.0" || exit 125
        exec "$@"' inside "$@"
fi

releases=()
for argument in "$@"; do
    case $argument in
        -h | --help)
            usage
            exit 0
            ;;
        [a-z]*) releases+=("$argument") ;;
        *) fail "no such release or option: $argument; see $0 --help" ;;
    esac
done
((${#releases[@]} > 0)) || releases=(bookworm trixie)

mapfile -t missing < <(private_apt_missing)
((${#missing[@]} == 0)) || fail "not installed: ${missing[*]}; they are needed to download packages of Debian"
for module in transport-rpma-native transport-rpma; do
    [[ -f $root/$module/target/test.classpath ]] || fail "$module is not built: mvn -B -DskipTests package"
done
java=$("$root/tools/find-java.sh")/bin/java
architecture=$(dpkg --print-architecture)

# fetch RELEASE: unpacks the packages to $work/RELEASE/tree, and writes their versions to $work/RELEASE/version.
fetch() {
    local release=$1 folder=$work/$1 rdmacm=librdmacm1 package
    rm -rf "$folder"
    mkdir -p "$folder"
    private_apt_create "$folder/apt" "$architecture" "$release"
    private_apt "$folder/apt" apt-get -o APT::Update::Error-Mode=any update > "$folder/apt.log" 2>&1 || {
        tail -n 5 "$folder/apt.log" >&2
        fail "$DEBIAN_MIRROR does not have $release; see $folder/apt.log"
    }
    # Debian 13 has renamed this package.
    if private_apt "$folder/apt" apt-cache show librdmacm1t64 > /dev/null 2>&1; then
        rdmacm=librdmacm1t64
    fi
    (
        cd "$folder"
        private_apt "$folder/apt" apt-get download librpma0 libibverbs1 ibverbs-providers "$rdmacm" libnl-3-200 \
            libnl-route-3-200 libc6
    ) >> "$folder/apt.log" 2>&1 || {
        tail -n 5 "$folder/apt.log" >&2
        fail "$DEBIAN_MIRROR does not give the packages of $release; see $folder/apt.log"
    }
    for package in "$folder"/*.deb; do
        dpkg-deb -x "$package" "$folder/tree"
    done
    # Debian 12 has some of the libraries in /lib, which is the same folder.
    if [[ -d $folder/tree/lib ]]; then
        cp -a "$folder/tree/lib/." "$folder/tree/usr/lib/"
        rm -r "$folder/tree/lib"
    fi
    echo "librpma $(dpkg-deb -f "$folder"/librpma0_*.deb Version), rdma-core" \
        "$(dpkg-deb -f "$folder"/libibverbs1_*.deb Version)" > "$folder/version"
}

# in_java RELEASE MODULE MAIN ARGUMENT...: runs a program of the module's tests, and the processes that it starts, with the
# libraries of a release.
in_java() {
    local libraries module=$2
    libraries=$(dirname "$(find "$work/$1/tree" -name librpma.so.0)")
    shift 2
    (
        cd "$root/$module"
        timeout --kill-after=30 "$case_seconds" "$root/testsuite/softroce/run.sh" "$here/run.sh" --inside "$libraries" "$java" \
            --enable-native-access=ALL-UNNAMED -ea -Xmx1g -Dbasedir="$PWD" \
            -cp "target/test-classes:target/classes:$(< target/test.classpath)" "$@"
    )
}

# junit RELEASE MODULE OPTION...: runs JUnit tests.
junit() {
    local release=$1 module=$2
    shift 2
    in_java "$release" "$module" org.junit.platform.console.ConsoleLauncher execute --fail-if-no-tests --details=verbose \
        --details-theme=ascii --disable-banner --disable-ansi-colors "$@"
}

run_part() {
    case $2 in
        contract) in_java "$1" transport-rpma-native io.rpma.contract.ContractMain -v ;;
        binding) junit "$1" transport-rpma-native --select-package=io.rpma.librpma ;;
        transport)
            junit "$1" transport-rpma -c io.rpma.netty.OneSidedTest -c io.rpma.netty.TransferTest \
                -c io.rpma.netty.MessageChannelTest
            ;;
    esac
}

# counts_of LOG: prints how many tests passed and failed, according to the output of either launcher.
counts_of() {
    awk '
        /^\[ *[0-9]+ tests successful/ { gsub(/[^0-9]/, ""); passed += $0 }
        /^\[ *[0-9]+ tests failed/ { gsub(/[^0-9]/, ""); failed += $0 }
        /^[0-9]+ of [0-9]+ cases passed, [0-9]+ failed/ { passed = $1; failed = $6 }
        END { print passed + 0, failed + 0 }
    ' "$1"
}

good=1
mkdir -p "$work"
: > "$work/report.txt"
for release in "${releases[@]}"; do
    fetch "$release"
done
for release in "${releases[@]}"; do
    for part in contract binding transport; do
        log=$work/$release/$part.log
        began=$SECONDS
        outcome=
        run_part "$release" "$part" > "$log" 2>&1 || {
            good=0
            outcome=", FAILED: see ${log#"$root/"}"
        }
        read -r passed failed < <(counts_of "$log")
        echo "$release, $(< "$work/$release/version"), $part: $passed passed, $failed failed," \
            "$((SECONDS - began)) s$outcome" | tee -a "$work/report.txt"
    done
done
((good))

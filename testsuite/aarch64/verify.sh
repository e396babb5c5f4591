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


# Runs the project's tests on emulated aarch64, with kernels of two page sizes. `verify.sh --help` describes the usage.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
readonly logs=$root/testsuite/target/aarch64
# Only the first compiler is used. Code that a test runs once has ended before the second compiler would have saved as much time
# as it takes. The time limits of JUnit are intended for machines that are not emulated, and the limits of the tests themselves
# are multiplied.
readonly options=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED -ea -Xmx1g
    -Djunit.jupiter.execution.timeout.mode=disabled -Dio.rpma.examples.jvmOptions=-XX:TieredStopAtLevel=1)
export RPMA_TEST_PATIENCE=${RPMA_TEST_PATIENCE:-20}

usage() {
    cat << 'USAGE'
Usage: testsuite/aarch64/verify.sh [--pages SIZE] [STAGE...]

Runs the tests on Debian 13 for arm64, which run.sh emulates: first with a kernel with pages of 16 KiB, then with pages of 4 KiB,
or only with those of --pages (4k or 16k). It uses the existing build of `mvn package`. It takes hours, so no build runs it.

Stages (default: the first four, in this order):
  echo       ./run-example.sh echo on soft, and on real librpma over SoftRoCE; the checksums must match
  contract   the rules of librpma's man pages, on soft
  native     the other tests of transport-rpma-native, on soft
  transport  the tests of transport-rpma, on soft
  librpma    the rules of librpma's man pages, on real librpma over SoftRoCE
  CLASS...   test classes of these modules by their full names, on $RPMA_PROVIDER (default: soft)

The whole output of each stage is in testsuite/target/aarch64. JUnit's time limits are disabled. The time limits of the contract
suite and of the processes of soft's tests are multiplied by $RPMA_TEST_PATIENCE (20). A stage is ended after
$RPMA_AARCH64_STAGE_SECONDS (14400) and then fails. Exit code: 0 if all tests passed.
USAGE
}

fail() {
    echo "verify.sh: $*" >&2
    exit 2
}

sizes=(16k 4k)
stages=()
classes=()
while (($# > 0)); do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --pages)
            [[ ${2-} == 4k || ${2-} == 16k ]] || fail "--pages ${2-}: Debian has kernels of 4k and of 16k"
            sizes=("$2")
            shift
            ;;
        echo | contract | native | transport | librpma) stages+=("$1") ;;
        io.rpma.*) classes+=("$1") ;;
        *) fail "no such stage or option: $1; see $0 --help" ;;
    esac
    shift
done
((${#classes[@]} == 0)) || stages+=(classes)
((${#stages[@]} > 0)) || stages=(echo contract native transport)
for module in transport-rpma-native transport-rpma codec-examples; do
    [[ -d $root/$module/target/classes ]] || fail "$module is not built: mvn -B -DskipTests package"
done

# guest COMMAND...: runs a command in the guest that is currently tested.
guest() {
    timeout --kill-after=30 "${RPMA_AARCH64_STAGE_SECONDS:-14400}" "$here/run.sh" --pages "$pages" "$@"
}

# in_java MODULE MAIN ARGUMENT...: runs a program of the module's tests, in the module's folder.
in_java() {
    local module=$1
    shift
    (
        cd "$root/$module"
        guest java "${options[@]}" -Dbasedir="$PWD" -cp "target/test-classes:target/classes:$(< target/test.classpath)" "$@"
    )
}

# junit MODULE OPTION...: runs JUnit tests.
junit() {
    local module=$1
    shift
    in_java "$module" org.junit.platform.console.ConsoleLauncher execute --fail-if-no-tests --details=verbose \
        --details-theme=ascii --disable-banner --disable-ansi-colors "$@"
}

echo_on() {
    (
        cd "$root"
        RPMA_PROVIDER=$1 guest env JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1 ./run-example.sh echo --bytes 4MiB --round-trips 1000
    )
}

# Runs the requested classes of each module.
selected() {
    local class native=() transport=()
    for class in "${classes[@]}"; do
        case $class in
            io.rpma.netty.*) transport+=(-c "$class") ;;
            *) native+=(-c "$class") ;;
        esac
    done
    { ((${#native[@]} == 0)) || junit transport-rpma-native "${native[@]}"; } &&
        { ((${#transport[@]} == 0)) || junit transport-rpma "${transport[@]}"; }
}

run_stage() {
    local provider=${RPMA_PROVIDER:-soft}
    export RPMA_PROVIDER=soft
    case $1 in
        echo) echo_on soft && echo_on librpma ;;
        contract) in_java transport-rpma-native io.rpma.contract.ContractMain -v ;;
        librpma) RPMA_PROVIDER=librpma in_java transport-rpma-native io.rpma.contract.ContractMain -v ;;
        native)
            junit transport-rpma-native --scan-class-path=target/test-classes --exclude-classname='.*ContractTest'
            ;;
        transport) junit transport-rpma --scan-class-path=target/test-classes ;;
        classes) RPMA_PROVIDER=$provider selected ;;
    esac
}

# counts_of LOG: prints how many tests passed and failed, according to the output of either launcher.
counts_of() {
    awk '
        /^\[ *[0-9]+ tests successful/ { gsub(/[^0-9]/, ""); passed += $0 }
        /^\[ *[0-9]+ tests failed/ { gsub(/[^0-9]/, ""); failed += $0 }
        /^[0-9]+ of [0-9]+ cases passed, [0-9]+ failed/ { passed = $1; failed = $6 }
        /^checksum=[0-9a-f]* match$/ { passed++ }
        END { print passed + 0, failed + 0 }
    ' "$1"
}

good=1
mkdir -p "$logs"
: > "$logs/report.txt"
for pages in "${sizes[@]}"; do
    for stage in "${stages[@]}"; do
        log=$logs/$pages-$stage.log
        began=$SECONDS
        outcome=
        (run_stage "$stage") > "$log" 2>&1 || {
            good=0
            outcome=", FAILED: see ${log#"$root/"}"
        }
        read -r passed failed < <(counts_of "$log")
        echo "pages of $pages, $stage: $passed passed, $failed failed, $((SECONDS - began)) s$outcome" | tee -a "$logs/report.txt"
    done
done
((good))

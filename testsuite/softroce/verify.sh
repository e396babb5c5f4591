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

# Runs the project's tests on real librpma. `verify.sh --help` describes the usage.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
readonly logs=$root/testsuite/target/verify
readonly stage_seconds=1800

usage() {
    cat << 'USAGE'
Usage: testsuite/softroce/verify.sh [OPTION...] [STAGE...]

Builds the tests and runs them on real librpma: on this machine's RDMA device, or in the user-mode kernel of run.sh if there is
none.

Options:
  --no-build  use the existing build of `mvn package` or `mvn verify`
  --jobs N    run N stages at the same time, each in a separate kernel, which uses one processor (default: 1); the stages chaos
              and chaos-paths measure pauses, so at most one other stage runs beside each of them, and only if there are two
              processors

Stages (default: all of them, in this order):
  echo       ./run-example.sh echo --bytes 32MiB: the provider is librpma and the checksums match
  contract   the rules of librpma's man pages, which all providers must follow
  native     the other tests of transport-rpma-native, except those of the providers soft and tcp, which use no device
  transport  the tests of transport-rpma
  paths      shared memory and the device at the same time, behind one listener
  siw        streams, message channels and one-sided operations on an iWARP device, siw0 of the guest
  c-peers    message channels against a C program that uses librpma, in both roles (needs gcc and librpma-dev)
  examples   the tests of codec-examples: every example in a separate process, Netty's codecs, gRPC, programs through tcp-proxy
  cli        the tests of ./rpma
  frameworks the tests of the adapters of Vert.x and Reactor Netty, and of the starter of Spring Boot
  suite      Netty's transport testsuite; writes its table to testsuite/target/compliance.md
  chaos      a minute of testsuite/chaos: clients that die, stop, run out of memory and break the protocol next to checked traffic
  chaos-paths  the same on shared memory, rxe0, siw0 and TCP of one server at the same time (in the guest)
  siw-suite  Netty's transport testsuite on siw0, except the tests that need more queue pairs than siw has, or that expect a
             refused connection; only if it is named
  refusals   without a device, and with a low limit of locked memory, the example reports what is missing (in the guest)

The whole output of each stage is in testsuite/target/verify. Exit code: 0 if all tests passed.
USAGE
}

build=1
jobs=1
stages=()
while (($# > 0)); do
    argument=$1
    shift
    case $argument in
        -h | --help)
            usage
            exit 0
            ;;
        --no-build) build=0 ;;
        --jobs)
            if [[ ! ${1:-} =~ ^[1-9][0-9]?$ ]]; then
                echo "verify.sh: --jobs needs a number from 1 to 99 and got '${1:-}'; see $0 --help" >&2
                exit 2
            fi
            jobs=$1
            shift
            ;;
        echo | contract | native | transport | paths | siw | c-peers | examples | cli | frameworks | suite | chaos | chaos-paths | \
            siw-suite | refusals)
            stages+=("$argument")
            ;;
        *)
            echo "verify.sh: no such stage or option: $argument; see $0 --help" >&2
            exit 2
            ;;
    esac
done
((${#stages[@]} > 0)) || stages=(echo contract native transport paths siw c-peers examples cli frameworks suite \
    chaos chaos-paths refusals)

java=$("$root/tools/find-java.sh")/bin/java
cd "$root"
mkdir -p "$logs"

if ((build)); then
    echo "verify: building"
    mvn -B -q -DskipTests package
fi

# bounded COMMAND...: ends a command that hangs, so that the following stages can run. No stage needs more than half of this
# time.
bounded() {
    timeout --kill-after=30 "$stage_seconds" "$@" || {
        local status=$?
        if ((status == 124)); then
            echo "verify.sh: ended after $stage_seconds seconds"
        fi
        return "$status"
    }
}

# The options of run.sh that in_java uses.
run_options=()

# in_java MODULE MAIN ARGUMENT...: runs a program of the module's tests on real librpma, in the module's folder as Maven does.
in_java() {
    local module=$1
    shift
    if [[ ! -f $module/target/test.classpath ]]; then
        echo "verify.sh: $module is not built: omit --no-build, or run mvn -B -DskipTests package"
        return 2
    fi
    (
        cd "$module"
        # The guest has one processor. A program that a test of the examples starts has ended before the second compiler would
        # have saved as much time as it takes. It takes several seconds to start, so the test that kills and restarts such
        # programs kills 10 of them and not 20.
        bounded "$here/run.sh" "${run_options[@]}" "$java" --enable-native-access=ALL-UNNAMED -ea -Xmx1g -Dbasedir="$PWD" \
            -Dio.rpma.examples.jvmOptions=-XX:TieredStopAtLevel=1 -Dio.rpma.examples.kills=10 \
            -cp "target/test-classes:target/classes:$(< target/test.classpath)" "$@"
    )
}

# junit MODULE OPTION...: runs the module's JUnit tests.
junit() {
    local module=$1
    shift
    in_java "$module" org.junit.platform.console.ConsoleLauncher execute --scan-class-path=target/test-classes \
        --fail-if-no-tests --details=verbose --details-theme=ascii --disable-banner --disable-ansi-colors "$@"
}

# The features of the transport that an iWARP device supports: everything except immediate data. README.md lists its limits.
siw() {
    local run_options=(--siw)
    in_java transport-rpma org.junit.platform.console.ConsoleLauncher execute --fail-if-no-tests --details=verbose \
        --details-theme=ascii --disable-banner --disable-ansi-colors -c io.rpma.netty.IwarpTest \
        -c io.rpma.netty.MessageChannelTest -c io.rpma.netty.StreamTest -c io.rpma.netty.BulkTest \
        -c io.rpma.netty.HalfClosedTest -c io.rpma.netty.PrefixTest -c io.rpma.netty.OneSidedTest \
        --exclude-tag=immediate-data --exclude-tag=acknowledged-receives --exclude-tag=refusals-by-the-peer &&
        in_java transport-rpma -Dio.rpma.provider=auto org.junit.platform.console.ConsoleLauncher execute --fail-if-no-tests \
            --details=verbose --details-theme=ascii --disable-banner --disable-ansi-colors -c io.rpma.netty.PathsTest \
            --include-tag=iwarp
}

# refused WORDS OPTION...: checks that the example ends at once with an error that contains the words, in a guest with these
# options of run.sh.
refused() {
    local words=$1 output status=0
    shift
    output=$(bounded "$here/run.sh" "$@" "$root/run-example.sh" echo --bytes 1MiB 2>&1) || status=$?
    printf '%s\n' "$*" "$output"
    [[ $status == 1 && $output == *"echo failed: "*"$words"* ]] || {
        echo "expected: exit code 1 and '$words' in the output; got: exit code $status"
        return 1
    }
}

c_peers() {
    if ! command -v gcc > /dev/null || [[ ! -f /usr/include/librpma.h || ! -f /usr/include/infiniband/verbs.h ]]; then
        echo "c-peers needs gcc, librpma-dev and libibverbs-dev"
        return 1
    fi
    in_java testsuite io.rpma.testsuite.ComplianceMain CPeersTest
}

run_stage() {
    case $1 in
        refusals) refused 'no usable RDMA device' --no-device && refused '(ulimit -l)' --memlock 64 ;;
        echo) bounded "$here/run.sh" "$root/run-example.sh" echo --bytes 32MiB ;;
        contract) in_java transport-rpma-native io.rpma.contract.ContractMain -v ;;
        native)
            junit transport-rpma-native --exclude-classname='.*ContractTest' --exclude-package=io.rpma.soft \
                --exclude-package=io.rpma.tcp
            ;;
        transport) junit transport-rpma ;;
        paths)
            in_java transport-rpma -Dio.rpma.provider=auto org.junit.platform.console.ConsoleLauncher execute \
                --fail-if-no-tests --details=verbose --details-theme=ascii --disable-banner --disable-ansi-colors \
                -c io.rpma.netty.PathsTest
            ;;
        siw) siw ;;
        c-peers) c_peers ;;
        examples) junit codec-examples ;;
        cli) junit cli ;;
        frameworks) junit integrations/vertx && junit integrations/reactor-netty && junit integrations/spring-boot ;;
        suite) bounded "$here/run.sh" --suite ;;
        # siw cannot create many queue pairs for a process, and does not report that nobody listens on a port (README.md).
        siw-suite)
            bounded "$here/run.sh" --siw --suite -Dio.rpma.testsuite.excludedTags=many-queue-pairs,refused-connections
            ;;
        # All processes of the guest share one processor, so a neighbour has to wait for it, whether or not other processes are
        # hostile.
        chaos)
            bounded "$here/run.sh" --keep "$root/testsuite/chaos/target" "$root/testsuite/chaos/run.sh" --provider librpma \
                --minutes 1 --pause 1000
            ;;
        # These cases attack each of the paths. Most of the time is needed to start processes.
        chaos-paths)
            bounded "$here/run.sh" --both-devices --keep "$root/testsuite/chaos/target" "$root/testsuite/chaos/run.sh" \
                --provider auto --case kill,scribble,wire,violations --minutes 1 --pause 1000
            ;;
    esac
}

# counts_of LOG: prints how many tests passed and failed, according to the output of either launcher.
counts_of() {
    awk '
        /^\[ *[0-9]+ tests successful/ { gsub(/[^0-9]/, ""); passed += $0 }
        /^\[ *[0-9]+ tests failed/ { gsub(/[^0-9]/, ""); failed += $0 }
        /^[0-9]+ of [0-9]+ cases passed, [0-9]+ failed/ { passed = $1; failed = $6 }
        /: Netty.s suite, [0-9]+ of/ {
            for (i = 2; i <= NF; i++) {
                if ($i ~ /^passed/) passed += $(i - 1)
                if ($i ~ /^failed/) failed += $(i - 1)
            }
        }
        END { print passed + 0, failed + 0 }
    ' "$1"
}

# failures_in LOG: prints the failed tests with what each of them printed and threw. Fails if the log contains none. JUnit's
# verbose tree begins each test with "+-- " or "'-- " and its name, and ends it with its status; the contract's own launcher and
# that of Netty's suite list the failures at the end.
failures_in() {
    awk '
        /^Failures \(/ { listed = 1 }
        listed { print; found = 1; next }
        /^[| ]*[+\047]-- / { block = "" }
        { block = block $0 "\n" }
        /status: \[X\]/ { printf "%s\n", block; block = ""; found = 1 }
        END { exit !found }
    ' "$1"
}

# perform STAGE: runs a stage and reports its result, also as "PASSED FAILED" in the file STAGE.counts.
perform() {
    local stage=$1 log=$logs/$1.log began=$SECONDS good=1 counts
    run_stage "$stage" > "$log" 2>&1 || good=0
    case $stage in
        echo)
            if ! grep -q '^provider=librpma$' "$log" || ! grep -q '^checksum=[0-9a-f]* match$' "$log"; then
                good=0
            fi
            counts=("$good" $((1 - good)))
            ;;
        refusals | chaos | chaos-paths) counts=("$good" $((1 - good))) ;;
        *)
            read -r -a counts < <(counts_of "$log")
            # An aborted stage has not reported all of its results.
            if ((good == 0 && counts[1] == 0)); then
                counts[1]=1
            fi
            ;;
    esac
    if [[ $stage == echo || $stage == refusals || $stage == chaos* ]]; then
        cat "$log"
    elif ((good == 0)); then
        # Prints the failures if there are any in the log, and otherwise the point at which the stage was aborted.
        failures_in "$log" || tail -n 50 "$log"
        grep -E '^verify.sh: ended' "$log" || true
    fi
    echo "verify: $stage on librpma: ${counts[0]} passed, ${counts[1]} failed, $((SECONDS - began)) s"
    echo "${counts[@]}" > "$logs/$stage.counts"
}

# The number of stages that are running.
running=0

# await_at_most N: waits until no more than N stages are running.
await_at_most() {
    while ((running > $1)); do
        wait -n || true
        running=$((running - 1))
    done
}

# How many other stages may run when a stage starts.
others=$((jobs - 1))
for stage in "${stages[@]}"; do
    if [[ $stage == chaos* ]]; then
        beside=$(($(nproc) > 1 ? 1 : 0))
        others=$((others < beside ? others : beside))
    fi
    await_at_most "$others"
    rm -f "$logs/$stage.counts"
    echo "verify: $stage, log in ${logs#"$root/"}/$stage.log"
    perform "$stage" &
    running=$((running + 1))
done
await_at_most 0

passed=0
failed=0
for stage in "${stages[@]}"; do
    counts=(0 1)
    [[ ! -f $logs/$stage.counts ]] || read -r -a counts < "$logs/$stage.counts"
    passed=$((passed + counts[0]))
    failed=$((failed + counts[1]))
done
echo "$passed passed, $failed failed" | tee "$logs/total"
((failed == 0))

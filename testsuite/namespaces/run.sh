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

# Runs connections between hosts, which are network namespaces of this machine. `run.sh --help` describes the details.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root

usage() {
    cat << 'USAGE'
Usage: testsuite/namespaces/run.sh [--quick]

Creates two or three network namespaces, connects them by veth, and runs these tests between them, with the provider auto and
the paths shared-memory, rdma and tcp:
  - echo between two hosts, which uses TCP
  - one server that is reached by shared memory on its own host and by TCP from two other hosts at the same time
  - the examples remote-log and memory-cache between two hosts
  - a host that disappears: its connections end by the deadlines of docs/tcp-protocol.md, within a minute (not with --quick)

Root rights are not needed, because everything is created in a user namespace. It disappears together with the processes that
hold it, however they end. This script builds nothing; run `mvn -B -DskipTests package` before. The tests are those of
NamespacesTest in codec-examples.

Exit code: 0 if all tests passed, 1 if not, 2 if this user may not create the namespaces on this machine.
USAGE
}

exclude=()
for argument in "$@"; do
    case $argument in
        -h | --help)
            usage
            exit 0
            ;;
        --quick) exclude=(--exclude-tag=slow) ;;
        *)
            echo "run.sh: no such option: $argument; see $0 --help" >&2
            exit 2
            ;;
    esac
done

for command in unshare nsenter ip; do
    if ! command -v "$command" > /dev/null; then
        echo "run.sh: $command is needed: install util-linux and iproute2" >&2
        exit 2
    fi
done
if ! output=$(unshare --user --map-root-user --net ip link add one type veth peer name two 2>&1); then
    cat >&2 << EXPLANATION
run.sh: this user cannot make network namespaces with veth here: $output
Needed are user namespaces (sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 where there is such a
setting, kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu, seccomp=unconfined in a container) and the kernel's module
veth. Or run this as root.
EXPLANATION
    exit 2
fi
if [[ ! -f $root/codec-examples/target/test.classpath || ! -d $root/codec-examples/target/test-classes ]]; then
    echo "run.sh: not built yet: run mvn -B -DskipTests package first" >&2
    exit 2
fi

java=$("$root/tools/find-java.sh")/bin/java
cd "$root/codec-examples"
exec "$java" --enable-native-access=ALL-UNNAMED -ea -Xmx256m -cp "target/test-classes:target/classes:$(< target/test.classpath)" \
    org.junit.platform.console.ConsoleLauncher execute -c io.rpma.examples.NamespacesTest --fail-if-no-tests --details=tree \
    --disable-banner ${exclude[@]+"${exclude[@]}"}

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

# Runs the compliance suite without Maven. `run-suite.sh --help` describes the usage.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

usage() {
    cat << 'USAGE'
Usage: testsuite/run-suite.sh [-Dname=value | -J<JVM option>]... [CLASS...]

Runs the compliance suite in one JVM, on the provider in RPMA_PROVIDER (default: soft): all of it, or the classes with these
simple names. Prints one line for each class and the totals, and writes testsuite/target/compliance.md. The exit code is 0 if
no test failed. It builds nothing; run `mvn -pl testsuite -am process-test-classes` before.

Every build runs the whole suite on soft and a part of it over TCP. RPMA_PROVIDER=tcp runs all of it over TCP, without a device.

Examples:
  testsuite/run-suite.sh
  RPMA_PROVIDER=tcp testsuite/run-suite.sh
  testsuite/run-suite.sh SocketEchoComplianceTest
  testsuite/run-suite.sh -Dio.rpma.testsuite.allocator=rpma
  testsuite/run-suite.sh -J--sun-misc-unsafe-memory-access=allow
  testsuite/softroce/run.sh --keep testsuite/target testsuite/run-suite.sh
USAGE
}

options=()
classes=()
for argument in "$@"; do
    case $argument in
        -h | --help)
            usage
            exit 0
            ;;
        -D*) options+=("$argument") ;;
        -J*) options+=("${argument#-J}") ;;
        -*)
            echo "run-suite.sh: no such option: $argument; see $0 --help" >&2
            exit 2
            ;;
        *) classes+=("$argument") ;;
    esac
done

if [[ ! -f $here/target/test.classpath || ! -d $here/target/test-classes ]]; then
    echo "run-suite.sh: not built yet: run mvn -pl testsuite -am process-test-classes first" >&2
    exit 2
fi

java=$("$here/../tools/find-java.sh")/bin/java
export RPMA_PROVIDER=${RPMA_PROVIDER:-soft}
exec "$java" --enable-native-access=ALL-UNNAMED -ea -Xmx1g -Dio.netty.leakDetection.level=paranoid \
    -Duser.language=en -Duser.country=US ${options[@]+"${options[@]}"} \
    -cp "$here/target/test-classes:$(< "$here/target/test.classpath")" \
    io.rpma.testsuite.ComplianceMain ${classes[@]+"${classes[@]}"}

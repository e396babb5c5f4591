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

# Runs the test suites of frameworks on epoll and on RPMA, and prints what differs. `run.sh --help` tells how, README.md what
# it means.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
# One class of tests; the longest takes a few minutes on TCP.
readonly class_seconds=900

usage() {
    cat << 'USAGE'
Usage: testsuite/ecosystem/run.sh [OPTION...] SUITE...

Runs a framework's own tests twice, each class in a process of its own: on Netty's epoll transport, and with the agent on RPMA.
What differs is run a second time, and counts as different if it differs again. Prints the counts and a table of the
differences; exit code 1 if one of them is not explained in testsuite/ecosystem/explained. What the suites need comes from Maven
Central the first time.

Suites:
  grpc                  gRPC's interoperability tests, as published (grpc-interop-testing), without and with TLS
  vertx                 the tests of Vert.x core that concern streams, as published (vertx-core, tests)
  reactor-netty=FOLDER  the tests of Reactor Netty's TCP and HTTP servers and clients, which are not published: the folder has
                        its sources, of the version that pom.xml names

Options:
  --classes REGEX       only the classes whose simple names match
  --rounds N            how often what differs is run in all (default: 2)
  --provider NAME       soft (default), librpma or tcp
  --no-build            take the agent that `mvn package` has left

Whatever the tests print is in testsuite/ecosystem/target/SUITE. A suite can be run in parts: the table is about all classes that
have results there.
USAGE
}

fail() {
    echo "run.sh: $*" >&2
    exit 2
}

classes=
rounds=2
provider=soft
build=1
suites=()
while (($# > 0)); do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --classes | --rounds | --provider)
            (($# > 1)) || fail "$1 needs a value; see $0 --help"
            case $1 in
                --classes) classes=$2 ;;
                --rounds) rounds=$2 ;;
                --provider) provider=$2 ;;
            esac
            shift
            ;;
        --no-build) build=0 ;;
        grpc | vertx) suites+=("$1") ;;
        reactor-netty=*)
            [[ -d ${1#*=}/reactor-netty-core/src/test/java ]] || fail "there is no ${1#*=}/reactor-netty-core/src/test/java"
            suites+=("$1")
            ;;
        *) fail "no such suite or option: $1; see $0 --help" ;;
    esac
    shift
done
((${#suites[@]} > 0)) || fail "which suite? See $0 --help"
[[ $rounds =~ ^[1-9]$ ]] || fail "--rounds is '$rounds'; a number from 1 to 9 is needed"

jdk=$("$root/tools/find-java.sh")
java=$jdk/bin/java
agent=$root/agent/target/transport-rpma-agent-0.1.0-SNAPSHOT.jar
if ((build)); then
    echo "ecosystem: building"
    (cd "$root" && mvn -B -q -DskipTests package -pl agent -am)
fi
[[ -f $agent ]] || fail "$agent is not built: leave out --no-build"

# alone COMMAND...: in a network namespace of its own, since suites have ports that they insist on, and addresses that are to
# take every packet and answer none. Name servers are out of reach at once.
alone() {
    unshare --net --map-root-user bash -c 'ip link set lo up && ip link add hole arp off type veth peer name bottom \
        && ip address add 198.18.0.1/24 dev hole && ip link set bottom up && ip link set hole up \
        && ip route add 10.0.0.0/24 dev hole && ip route add 192.168.255.0/24 dev hole && exec "$@"' alone "$@"
}
alone true || fail "a network namespace is needed for each class of tests, and cannot be made here (unshare --net, ip)"

# class_path SUITE: has Maven resolve it, once.
class_path() {
    local file=$here/target/$1.classpath
    if [[ ! -s $file || $here/pom.xml -nt $file ]]; then
        (cd "$here" && mvn -B -q -P "$1" dependency:build-classpath -Dmdep.outputFile="$file") >&2
    fi
    echo "$(< "$file")"
}

# classes_in JAR PACKAGES: the names of the classes of tests in those packages of a jar.
classes_in() {
    unzip -Z1 "$1" | grep -E "^($2)/[A-Za-z0-9]*Test\.class$" | sed 's:\.class$::; s:/:.:g' | sort
}

# run_class SUITE TRANSPORT ROUND CLASS: one class of tests, in a process; its report and its output remain.
run_class() {
    local folder=$here/target/$1/$2/$3/${4##*.} options=()
    mkdir -p "$folder"
    case $2 in
        epoll) options=(-Dvertx.transport=epoll) ;;
        # Where a JVM has nothing over RPMA, its last line says so.
        rpma) options=("-javaagent:$agent=report" "-Dio.rpma.provider=$provider" -Dvertx.transport=epoll) ;;
    esac
    (
        cd "$folder"
        alone timeout --kill-after=10 "$class_seconds" "$java" --enable-native-access=ALL-UNNAMED -Xshare:off -Xmx2g \
            -ea:io.rpma... --add-opens=java.base/java.lang=ALL-UNNAMED "${options[@]}" -cp "$suite_path" \
            org.junit.platform.console.ConsoleLauncher execute -c "$4" --reports-dir . --disable-banner --disable-ansi-colors \
            --details=none > output.log 2>&1 || true
    )
    [[ -n $(find "$folder" -name 'TEST-*.xml') ]] || echo "ecosystem: ${4##*.} on $2 did not finish within $class_seconds s"
}

# run_suite NAME CLASSES: all rounds of one suite, and its table.
run_suite() {
    local suite=$1 round class simple again
    local -a wanted=()
    shift
    for class in "$@"; do
        simple=${class##*.}
        if [[ -z $classes || $simple =~ ^($classes)$ ]]; then
            wanted+=("$class")
        fi
    done
    ((${#wanted[@]} > 0)) || fail "no class of $suite matches '$classes'"
    for class in "${wanted[@]}"; do
        rm -rf "$here/target/$suite"/*/*/"${class##*.}"
    done
    for ((round = 1; round <= rounds && ${#wanted[@]} > 0; round++)); do
        echo "ecosystem: $suite, round $round, ${#wanted[@]} classes"
        for class in "${wanted[@]}"; do
            run_class "$suite" epoll "$round" "$class"
            run_class "$suite" rpma "$round" "$class"
        done
        again=" $("$java" "$differences" "$here/target/$suite" "$here/explained/$suite.txt" --classes | tr '\n' ' ')"
        local -a left=()
        for class in "${wanted[@]}"; do
            if [[ $again == *" ${class##*.} "* ]]; then
                left+=("$class")
            fi
        done
        wanted=(${left[@]+"${left[@]}"})
    done
    grep -rhE '^rpma-agent: RPMA carried' "$here/target/$suite/rpma" --include=output.log | awk -v suite="$suite" '
        { bytes += $4; connections += $NF }
        END { print "ecosystem: " suite ": RPMA carried " bytes + 0 " bytes of " connections + 0 " connections" }'
    "$java" "$differences" "$here/target/$suite" "$here/explained/$suite.txt"
}

# compile_reactor_netty SOURCES: the tests of its TCP and HTTP, and of the others in its sources what these need.
compile_reactor_netty() {
    local core=$1/reactor-netty-core/src http=$1/reactor-netty-http/src
    rm -rf "$own"
    mkdir -p "$own"
    "$jdk/bin/javac" -nowarn -proc:none --release 25 -d "$own" -cp "$path" \
        -sourcepath "$http/test/java:$core/test/java:$core/testFixtures/java" \
        "$core"/test/java/reactor/netty/tcp/Tcp{Client,Server}Tests.java \
        "$http"/test/java/reactor/netty/http/server/HttpServerTests.java \
        "$http"/test/java/reactor/netty/http/client/HttpClientTest.java
    cp -r "$core/test/resources/." "$http/test/resources/." "$own"
    found=(reactor.netty.tcp.TcpClientTests reactor.netty.tcp.TcpServerTests reactor.netty.http.server.HttpServerTests
        reactor.netty.http.client.HttpClientTest)
}

differences=$here/src/main/java/io/rpma/ecosystem/Differences.java
bad=0
for argument in "${suites[@]}"; do
    suite=${argument%%=*}
    path=$(class_path "$suite")
    own=$here/target/$suite-classes
    suite_path=$own:$path
    case $suite in
        grpc)
            mkdir -p "$own"
            "$jdk/bin/javac" -nowarn --release 25 -d "$own" -cp "$path" "$here"/src/grpc/java/io/grpc/testing/integration/*.java
            run_suite grpc io.grpc.testing.integration.GrpcPlaintextTest io.grpc.testing.integration.GrpcTlsTest || bad=1
            ;;
        vertx)
            jar=$(tr ':' '\n' <<< "$path" | grep -E 'vertx-core-[0-9.]*-tests\.jar$')
            packages='io/vertx/tests/(net|tls|http|http/(compression|connection|fileupload|headers|sendfile)|metrics|eventbus)'
            # QUIC is no stream of TCP's.
            mapfile -t found < <(classes_in "$jar" "$packages" | grep -vE 'Http3|CompositeHttpServer')
            run_suite vertx "${found[@]}" || bad=1
            ;;
        reactor-netty)
            sources=$(cd "${argument#*=}" && pwd -P)
            compile_reactor_netty "$sources"
            run_suite reactor-netty "${found[@]}" || bad=1
            ;;
    esac
done
exit "$bad"

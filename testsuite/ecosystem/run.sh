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

# Runs the test suites of frameworks on epoll and on RPMA, and prints the differences. `run.sh --help` describes the usage, and
# README.md explains the results.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
# The time limit for one test class. The longest one takes several minutes on TCP.
readonly class_seconds=1500

usage() {
    cat << 'USAGE'
Usage: testsuite/ecosystem/run.sh [OPTION...] SUITE...

Runs the tests of a framework twice, each class in a separate process: on Netty's epoll transport, and with the agent on RPMA.
Tests that differ or fail are run again, and count as different if they differ again. Prints the counts and a table of the
differences. The exit code is 1 if one of them has no explanation in testsuite/ecosystem/explained, if a class could not be run to
its end, or if nothing was run. The first run downloads what the suites need from Maven Central.

Suites:
  grpc                  gRPC's interoperability tests, as published (grpc-interop-testing), without and with TLS
  vertx                 the tests of Vert.x core that concern streams, as published (vertx-core, tests)
  reactor-netty=FOLDER  the tests of Reactor Netty's core and of its HTTP part that concern streams, which are not published; the
                        folder must contain its sources, in the version of the project's pom.xml

Options:
  --classes REGEX       only the classes whose simple names match
  --rounds N            how many times tests that differ or fail are run in total (default: 2)
  --provider NAME       soft (default), librpma or tcp
  --jobs N              how many classes run at the same time (default: 2, which runs each class on both transports at once)
  --resume              keep the existing results, and run only the missing ones
  --no-build            use the agent of the existing build of `mvn package`
  --agent JAR           use this agent

The output of the tests is in testsuite/ecosystem/target/SUITE. A suite can be run in parts: the table contains all classes that
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
jobs=2
resume=0
build=1
agent=$root/agent/target/transport-rpma-agent-0.1.0-SNAPSHOT.jar
suites=()
while (($# > 0)); do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --classes | --rounds | --provider | --jobs | --agent)
            (($# > 1)) || fail "$1 needs a value; see $0 --help"
            case $1 in
                --classes) classes=$2 ;;
                --rounds) rounds=$2 ;;
                --provider) provider=$2 ;;
                --jobs) jobs=$2 ;;
                --agent)
                    [[ -f $2 ]] || fail "--agent is '$2', which is not a file"
                    agent=$(realpath "$2")
                    build=0
                    ;;
            esac
            shift
            ;;
        --resume) resume=1 ;;
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
((${#suites[@]} > 0)) || fail "no suite is named; see $0 --help"
[[ $rounds =~ ^[1-9]$ ]] || fail "--rounds is '$rounds'; a number from 1 to 9 is needed"
[[ $jobs =~ ^[1-9]$ ]] || fail "--jobs is '$jobs'; a number from 1 to 9 is needed"

jdk=$("$root/tools/find-java.sh")
java=$jdk/bin/java
if ((build)); then
    echo "ecosystem: building"
    (cd "$root" && mvn -B -q -DskipTests package -pl agent -am)
fi
[[ -f $agent ]] || fail "$agent is not built: omit --no-build"

# alone COMMAND...: runs a command in its own network namespace, because some suites require specific ports, and addresses that
# accept every packet and answer none. Queries to name servers fail at once.
alone() {
    unshare --net --map-root-user bash -c 'ip link set lo up && ip link add hole arp off type veth peer name bottom \
        && ip address add 198.18.0.1/24 dev hole && ip link set bottom up && ip link set hole up \
        && ip route add 10.0.0.0/24 dev hole && ip route add 192.168.255.0/24 dev hole && exec "$@"' alone "$@"
}
alone true || fail "each test class needs a network namespace, which cannot be created here (unshare --net, ip)"

# class_path SUITE: lets Maven resolve the class path once.
class_path() {
    local file=$here/target/$1.classpath
    if [[ ! -s $file || $here/pom.xml -nt $file ]]; then
        (cd "$here" && mvn -B -q -P "$1" dependency:build-classpath -Dmdep.outputFile="$file") >&2
    fi
    echo "$(< "$file")"
}

# concrete JAR: reads names of class files in the jar from the standard input, and prints the names of the classes that are not
# abstract.
concrete() {
    sed 's:\.class$::; s:/:.:g' | xargs "$jdk/bin/javap" -package -cp "$1:$path" \
        | sed -nE 's/^(public )?(final )?class ([A-Za-z0-9_.]+) .*\{$/\3/p' | sort
}

# tests_of_vertx JAR PACKAGES: prints the names of the test classes in those packages.
tests_of_vertx() {
    "$jdk/bin/jar" --list --file "$1" | grep -E "^io/vertx/tests/($2)/[A-Za-z0-9]*Test\.class$" | concrete "$1"
}

# run_class SUITE TRANSPORT ROUND CLASS: runs one test class in one process until a test fails, and then continues in another
# process. In a later round, it only runs the tests that again.txt lists. The results and the output are kept. If the class
# could not be run to its end, the file incomplete contains a message.
run_class() {
    local folder=$here/target/$1/$2/$3/${4##*.} options=() before after=0
    local -r deadline=$((SECONDS + class_seconds))
    if [[ -f $folder/finished ]]; then
        return
    fi
    mkdir -p "$folder"
    case $2 in
        epoll) options=(-Dvertx.transport=epoll) ;;
        # If a JVM has transferred nothing over RPMA, its last line says so.
        rpma) options=("-javaagent:$agent=report" "-Dio.rpma.provider=$provider" -Dvertx.transport=epoll) ;;
    esac
    cd "$folder"
    : > only.txt
    touch results.tsv
    (($3 == 1)) || grep "^${4##*.}#" "$here/target/$1/again.txt" > only.txt
    until alone timeout --foreground --kill-after=10 $((deadline > SECONDS ? deadline - SECONDS : 1)) "$java" \
        --enable-native-access=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED -XX:TieredStopAtLevel=1 -Xmx2g \
        -ea:io.rpma... "${options[@]}" -cp "$here/target/runner:$suite_path" io.rpma.ecosystem.RunClass "$4" results.tsv \
        only.txt >> output.log 2>&1; do
        before=$after
        after=$(wc -c < results.tsv)
        if ((SECONDS >= deadline)); then
            echo "ecosystem: ${4##*.} on $2 did not finish within $class_seconds s: $folder/output.log" > incomplete
            break
        elif ((after <= before)); then
            echo "ecosystem: ${4##*.} on $2 cannot be run: $folder/output.log" > incomplete
            break
        fi
    done
    [[ ! -f incomplete ]] || cat incomplete
    touch finished
}

# run_one ...: runs run_class in a separate process, as soon as fewer than $jobs are running.
run_one() {
    while (($(jobs -rp | wc -l) >= jobs)); do
        wait -n
    done
    run_class "$@" &
}

# run_suite NAME CLASSES: runs all rounds of one suite, and prints its table. Returns 1 if a difference is not explained, if a
# class that has results here was not run to its end, or if no test was run.
run_suite() {
    local suite=$1 round class simple transport incomplete status=0
    local -r again=$here/target/$suite/again.txt
    local -a wanted=()
    shift
    if (($# == 0)); then
        echo "ecosystem: no test classes of $suite were found"
        return 1
    fi
    for class in "$@"; do
        simple=${class##*.}
        if [[ -z $classes || $simple =~ ^($classes)$ ]]; then
            wanted+=("$class")
        fi
    done
    if ((${#wanted[@]} == 0)); then
        echo "ecosystem: no class of $suite matches '$classes'"
        return
    fi
    selected=$((selected + ${#wanted[@]}))
    for class in "${wanted[@]}"; do
        ((resume)) || rm -rf "$here/target/$suite"/*/*/"${class##*.}"
    done
    mkdir -p "$here/target/$suite"
    : > "$again"
    for ((round = 1; round <= rounds && ${#wanted[@]} > 0; round++)); do
        echo "ecosystem: $suite, round $round, ${#wanted[@]} classes"
        for class in "${wanted[@]}"; do
            run_one "$suite" epoll "$round" "$class"
            run_one "$suite" rpma "$round" "$class"
        done
        wait
        "$java" "$differences" "$here/target/$suite" "$here/explained/$suite.txt" --again > "$again"
        local -a left=()
        for class in "${wanted[@]}"; do
            if grep -q "^${class##*.}#" "$again"; then
                left+=("$class")
            fi
        done
        wanted=(${left[@]+"${left[@]}"})
    done
    grep -rhaE '^rpma-agent: RPMA carried' "$here/target/$suite/rpma" --include=output.log | awk -v suite="$suite" '
        { bytes += $4; connections += $NF }
        END { print "ecosystem: " suite ": RPMA carried " bytes + 0 " bytes of " connections + 0 " connections" }'
    "$java" "$differences" "$here/target/$suite" "$here/explained/$suite.txt" || status=1
    incomplete=$(find "$here/target/$suite" -name incomplete -exec cat {} +)
    if [[ -n $incomplete ]]; then
        echo "$incomplete"
        status=1
    fi
    for transport in epoll rpma; do
        if [[ -z $(find "$here/target/$suite/$transport" -name results.tsv -size +0 -print -quit) ]]; then
            echo "ecosystem: no test of $suite was run on $transport"
            status=1
        fi
    done
    return "$status"
}

# compile_reactor_netty SOURCES: compiles the tests of the core and of the HTTP part, each with its own resources, because both
# have classes with the same names. Tests are left out if they need parts of Reactor Netty under names that the published jars
# do not have. The tests are compiled once per folder. After a change of the sources, remove target/reactor-netty-classes.
compile_reactor_netty() {
    local part sources
    if [[ $own/compiled -nt $here/pom.xml && $(< "$own/compiled") == "$1" ]]; then
        return
    fi
    rm -rf "$own"
    for part in core http; do
        mkdir -p "$own/$part"
        sources=$1/reactor-netty-$part/src
        find "$sources/test/java" "$1/reactor-netty-core/src/testFixtures/java" -name '*.java' ! -name package-info.java \
            ! -name DefaultLoopResourcesTest.java ! -path '*/reactor-netty-core/src/*/DefaultPooledConnectionProviderTest.java' \
            > "$own/$part.files"
        "$jdk/bin/javac" -nowarn -proc:none --release 25 -d "$own/$part" -cp "$path" "@$own/$part.files"
        cp -r "$sources/test/resources/." "$own/$part"
    done
    echo "$1" > "$own/compiled"
}

# tests_of_reactor_netty PART: prints the names of the compiled test classes that have a server, or whose superclass has one.
tests_of_reactor_netty() {
    (cd "$own/$1" && grep -rlE 'DisposableServer|BaseHttpTest|HttpSendFileTests|ConnectionInfoTests|SslProviderTests' \
        --include='*Test*.class' reactor) | sed -E 's/(\$.*)?\.class$/.class/' | grep -E 'Tests?\.class$' | grep -v /udp/ \
        | sort -u | concrete "$own/$1"
}

differences=$here/src/main/java/io/rpma/ecosystem/Differences.java
"$jdk/bin/javac" -nowarn -d "$here/target/runner" -cp "$(class_path grpc)" "$here/src/main/java/io/rpma/ecosystem/RunClass.java"
bad=0
# The number of classes of all suites that were chosen to be run.
selected=0
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
            packages='net|tls|http|http/(compression|connection|fileupload|sendfile)|metrics|eventbus|tracing|endpoint|ha'
            packages+='|addressresolver'
            # QUIC does not use TCP streams, and tests of values, such as options and addresses, make no connections.
            others='Http3|CompositeHttpServer|DomainSocket|Options|Config|MimeMapping|Method|Local|ReplyFailure|Expectation'
            others+='|Alternatives|Versions|NodeInfo|HostAndPort|RFC3986|SocketAddress|UriUtils|JsonEventBus|MessageQueueOn'
            others+='|LoadBalancing'
            mapfile -t found < <(tests_of_vertx "$jar" "$packages" | grep -vE "$others" || true)
            run_suite vertx "${found[@]}" || bad=1
            ;;
        reactor-netty)
            sources=$(cd "${argument#*=}" && pwd -P)
            compile_reactor_netty "$sources"
            suite_path=$own/core:$path
            mapfile -t found < <(tests_of_reactor_netty core)
            run_suite reactor-netty-core "${found[@]}" || bad=1
            suite_path=$own/http:$path
            mapfile -t found < <(tests_of_reactor_netty http)
            run_suite reactor-netty-http "${found[@]}" || bad=1
            ;;
    esac
done
((selected > 0)) || bad=1
exit "$bad"

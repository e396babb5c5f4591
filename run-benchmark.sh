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

# Measures Netty over RPMA beside Netty's own transports, built first if need be: `./run-benchmark.sh --quick` takes two
# minutes, `./run-benchmark.sh` takes its time, `./run-benchmark.sh --help` lists the options. The report goes to
# benchmark/target/report. `./run-benchmark.sh provider` measures the provider's data path alone, with the options of JMH.
# `./run-benchmark.sh soak` sends 100 million messages there and back and demands that nothing is lost and memory stays flat.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
readonly here
readonly oldest_java=25
readonly target=$here/benchmark/target
readonly class_path_file=$target/runtime.classpath
readonly build_log=$target/build.log

fail() {
    echo "run-benchmark.sh: $*" >&2
    exit 1
}

# Prints the feature release (25 for 25.0.1) of the JDK or JRE in a folder; nothing if there is none.
java_release() {
    local line
    [[ -x $1/bin/java && -r $1/release ]] || return 0
    while IFS= read -r line; do
        if [[ $line =~ ^JAVA_VERSION=\"([0-9]+) ]]; then
            echo "${BASH_REMATCH[1]}"
            return 0
        fi
    done < "$1/release"
}

# Prints where the Java is to be found that runs the benchmark: the one that is set up, if it is new enough, else any installed.
find_java() {
    local folder release on_path=
    if command -v java > /dev/null; then
        on_path=$(readlink -f "$(command -v java)")
        on_path=${on_path%/bin/java}
    fi
    for folder in "${JAVA_HOME:-/none}" "${on_path:-/none}" /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* \
        ~/.sdkman/candidates/java/* ~/.jdks/* ~/.local/share/mise/installs/java/* ~/.asdf/installs/java/* \
        $(sed -n 's:.*<jdkHome>\(.*\)</jdkHome>.*:\1:p' ~/.m2/toolchains.xml 2> /dev/null); do
        release=$(java_release "$folder")
        if [[ -n $release ]] && ((release >= oldest_java)); then
            echo "$folder"
            return 0
        fi
    done
    fail "a JDK $oldest_java or newer is needed and none was found: not in JAVA_HOME (${JAVA_HOME:-unset})," \
        "not on the PATH (${on_path:-no java}), not in /usr/lib/jvm, /usr/java, /opt, ~/.sdkman/candidates/java or ~/.jdks." \
        "Install one there, or point JAVA_HOME at it."
}

# Whether there is nothing to build: the class path is newer than everything it comes from.
is_built() {
    [[ -f $class_path_file && -d $target/classes ]] || return 1
    local module changed folders=()
    for module in transport-rpma-native transport-rpma benchmark; do
        folders+=("$here/$module/pom.xml" "$here/$module/src/main")
    done
    changed=$(find "$here/pom.xml" "${folders[@]}" -newer "$class_path_file" -print -quit)
    [[ -z $changed ]]
}

build() {
    command -v mvn > /dev/null || fail "Maven is needed to build the benchmark: install it (Debian: apt install maven)"
    # Two that are started at once build once.
    mkdir -p "$target"
    exec {lock}> "$target/build.lock"
    if command -v flock > /dev/null; then
        flock "$lock"
        ! is_built || return 0
    fi
    echo "building once..." >&2
    if ! (cd "$here" && mvn -B -q -DskipTests -Dcheckstyle.skip -pl benchmark -am package) > "$build_log" 2>&1; then
        tail -n 40 "$build_log" >&2
        fail "the build failed; its whole output is in $build_log"
    fi
    exec {lock}>&-
}

java=$(find_java)
is_built || build

# The file names the jars as lib/...:lib/...
jars=:$(< "$class_path_file")
class_path=$target/classes${jars//:lib\//:$target/lib/}
if [[ ${1-} == provider ]]; then
    shift
    exec "$java/bin/java" -cp "$class_path" io.rpma.benchmark.ProviderCosts "$@"
fi
if [[ ${1-} == soak ]]; then
    shift
    exec "$java/bin/java" -cp "$class_path" io.rpma.benchmark.Soak --logs "$target/soak" "$@"
fi
exec "$java/bin/java" --enable-native-access=ALL-UNNAMED -cp "$class_path" io.rpma.benchmark.Benchmark \
    --report "$target/report" "$@"

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

# Runs an example, built first if need be: `./run-example.sh` lists them, `./run-example.sh echo` runs one.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
readonly here
readonly target=$here/codec-examples/target
readonly class_path_file=$target/runtime.classpath
readonly build_log=$target/build.log

fail() {
    echo "run-example.sh: $*" >&2
    exit 1
}

# Whether there is nothing to build: the class path is newer than everything it comes from.
is_built() {
    [[ -f $class_path_file && -d $target/classes ]] || return 1
    local module changed sources=("$here/pom.xml")
    for module in transport-rpma-native transport-rpma codec-examples; do
        sources+=("$here/$module/pom.xml" "$here/$module/src/main")
    done
    changed=$(find "${sources[@]}" -newer "$class_path_file" -print -quit)
    [[ -z $changed ]]
}

build() {
    command -v mvn > /dev/null || fail "Maven is needed to build the examples: install it (Debian: apt install maven)"
    # Two that are started at once build once.
    mkdir -p "$target"
    exec {lock}> "$target/build.lock"
    if command -v flock > /dev/null; then
        flock "$lock"
        ! is_built || return 0
    fi
    echo "building once..." >&2
    if ! (cd "$here" && mvn -B -q -DskipTests -Dcheckstyle.skip -pl codec-examples -am package) > "$build_log" 2>&1; then
        tail -n 40 "$build_log" >&2
        fail "the build failed; its whole output is in $build_log"
    fi
    exec {lock}>&-
}

java=$("$here/build/find-java.sh")
is_built || build

# The file names the jars as lib/...:lib/...
jars=:$(< "$class_path_file")
# The serial collector and a small heap do: the data path allocates next to nothing. protobuf-java calls sun.misc.Unsafe, of which
# Java 25 warns unless told not to; Netty does without it, as it does by default on that Java.
exec "$java/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Dio.netty.noUnsafe=true \
    -XX:+UseSerialGC -Xmx256m \
    -cp "$target/classes${jars//:lib\//:$target/lib/}" io.rpma.examples.Examples "$@"

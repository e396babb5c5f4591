# shellcheck shell=bash
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

# Sourced by the scripts that run a program of this project. The scripts can be called from any folder and through links.
#
#   launch MODULE ARGUMENT...    executes java with the class path of a module and these arguments; first builds the module if
#                                necessary
#   $launch_root                 the folder of the project

set -euo pipefail

launch_root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
readonly launch_root

launch_fail() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# Returns whether nothing has to be built, because the class path file is newer than all sources of the module.
launch_is_built() {
    local name sources=("$launch_root/pom.xml")
    [[ -f $launch_root/$1/target/runtime.classpath && -d $launch_root/$1/target/classes ]] || return 1
    for name in transport-rpma-native transport-rpma "$1"; do
        sources+=("$launch_root/$name/pom.xml" "$launch_root/$name/src/main")
    done
    [[ -z $(find "${sources[@]}" -newer "$launch_root/$1/target/runtime.classpath" -print -quit) ]]
}

# Only one build runs at a time, whichever program is started, because the programs share modules. A module that another process
# has built in the meantime is not built again. The lock is released at the end of the braces, so the program does not inherit
# it.
launch_build() {
    local log=$launch_root/$1/target/build.log
    command -v mvn > /dev/null || launch_fail "Maven is needed to build it: install it (Debian: apt install maven)"
    mkdir -p "$launch_root/target" "${log%/*}"
    {
        ! command -v flock > /dev/null || flock 9
        if ! launch_is_built "$1"; then
            echo "building once..." >&2
            if ! (cd "$launch_root" && mvn -B -q -DskipTests -Dcheckstyle.skip -pl "$1" -am package) > "$log" 2>&1; then
                tail -n 40 "$log" >&2
                launch_fail "the build failed; its whole output is in $log"
            fi
        fi
    } 9> "$launch_root/target/build.lock"
}

# Prints the jar file of a module, if it contains its newest classes. A build of a release also creates other jar files.
launch_jar() {
    local jar
    for jar in "$launch_root/$1/target/"*.jar; do
        case $jar in
            *-sources.jar | *-javadoc.jar | *-tests.jar) continue ;;
        esac
        if [[ -f $jar && -z $(find "$launch_root/$1/target/classes" -type f -newer "$jar" -print -quit) ]]; then
            echo "$jar"
            return
        fi
    done
}

launch() {
    local target=$launch_root/$1/target java jars classes archive=()
    java=$("$launch_root/tools/find-java.sh")
    launch_is_built "$1" || launch_build "$1"
    classes=$(launch_jar "$1")
    if [[ -z $classes ]]; then
        classes=$target/classes
    elif [[ $1 != benchmark && -w $target ]]; then
        # When a program ends, the JVM stores the classes that it has loaded from jar files (JEP 350), so that the next program of
        # the module starts faster. It replaces the archive when the class path has changed. The benchmark passes its options on
        # to the JVMs that it measures, so it gets none.
        archive=(-XX:+AutoCreateSharedArchive "-XX:SharedArchiveFile=$target/classes.jsa" '-Xlog:cds*=off' '-Xlog:aot*=off')
    fi
    shift
    # The entries for jar files have the form lib/...:lib/... The path is quoted, because bash would replace an & in it.
    jars=:$(< "$target/runtime.classpath")
    jars=${jars//:lib\//":$target/lib/"}
    exec "$java/bin/java" --enable-native-access=ALL-UNNAMED ${archive[@]+"${archive[@]}"} \
        -cp "$classes$jars" "$@"
}

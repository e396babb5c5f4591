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

# Builds and runs the jcstress cases for the memory order of soft, and prints a summary. `run.sh --help` describes the usage, and
# README.md explains the results.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
# The product is the number of states that are live at the same time. Turns.OBJECTS must be more than twice as large.
readonly strides=(-strideSize 16 -strideCount 4)

usage() {
    cat << 'USAGE'
Usage: testsuite/jcstress/run.sh [OPTION...] [CLASS...]

Runs the jcstress cases for the memory order of the provider soft (docs/memory-order.md): all of them, or those whose class names
match one of these regular expressions. Prints one line for each case: the number of results, how many of them are forbidden, and
how many show what a case without the fence allows. The exit code is 1 if a forbidden result was observed or a case could not be
run. The first build downloads jcstress from Maven Central.

Options:
  -m, --mode MODE       the preset of jcstress: sanity, quick (default), default, tough or stress
  --time MILLISECONDS   the time of one iteration (default: that of the preset)
  --iterations N        the iterations in each JVM (default: that of the preset)
  --one-jvm             use one JVM with C2, instead of several JVMs with different compilers, for a quick check
  --without-fence CLASS:N
                        use a copy of this class of soft without the N-th full fence of its source; the cases of that
                        fence should then fail
  --no-build            use the existing build
  -h, --help            print this text
  -- OPTION...          other options of jcstress (java -cp 'target/lib/*' org.openjdk.jcstress.Main -h)

The whole output of jcstress is in testsuite/jcstress/target/run.log, its report in testsuite/jcstress/target/results.
USAGE
}

fail() {
    echo "run.sh: $*" >&2
    exit 2
}

mode=quick
build=1
cuts=()
options=()
classes=()
# Without these options, jcstress chooses the JVMs, and passes on the option with which it was started.
jvm=()
while (($# > 0)); do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        -m | --mode | --time | --iterations | --without-fence)
            (($# > 1)) || fail "$1 needs a value; see $0 --help"
            case $1 in
                -m | --mode) mode=$2 ;;
                --time)
                    [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "--time is '$2', which is not a number of milliseconds"
                    options+=(-time "$2")
                    ;;
                --iterations)
                    [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "--iterations is '$2', which is not a number"
                    options+=(-iters "$2")
                    ;;
                --without-fence)
                    [[ $2 =~ ^[A-Za-z]+:[1-9][0-9]*$ ]] || fail "--without-fence is '$2'; a class and the number of one of its fences are needed"
                    cuts+=("$2")
                    ;;
            esac
            shift
            ;;
        --one-jvm) jvm=(-jvmArgs "--enable-native-access=ALL-UNNAMED -XX:-TieredCompilation") ;;
        --no-build) build=0 ;;
        --)
            shift
            options+=("$@")
            break
            ;;
        -*) fail "no such option: $1; see $0 --help" ;;
        *) classes+=("$1") ;;
    esac
    shift
done

jdk=$("$root/tools/find-java.sh")
target=$here/target
if ((build)); then
    echo "jcstress: building"
    (cd "$root" && mvn -B -q -Pjcstress -Dmaven.test.skip=true -Dcheckstyle.skip -pl testsuite/jcstress -am package)
fi
[[ -d $target/classes && -d $target/lib ]] || fail "the cases are not built: omit --no-build"

# Copies of classes without fences, which precede the project's classes on the class path.
sources=$root/transport-rpma-native/src/main/java
rm -rf "$target/without-fence"
mkdir -p "$target/without-fence/classes"
for cut in ${cuts[@]+"${cuts[@]}"}; do
    source=$(find "$sources/io/rpma/soft" -name "${cut%:*}.java")
    [[ -n $source ]] || fail "soft has no class ${cut%:*}"
    copy=$target/without-fence/sources/${source#"$sources/"}
    mkdir -p "${copy%/*}"
    [[ -f $copy ]] || cp "$source" "$copy"
    # The fences are counted in the source, because the copy may already lack one.
    line=$(awk -v n="${cut#*:}" '/^ *Memory\.fullFence\(\);$/ && ++count == n { print NR }' "$source")
    [[ -n $line ]] || fail "${cut%:*} has fewer than ${cut#*:} full fences: $source"
    sed -i "${line}s/Memory\.fullFence();//" "$copy"
done
if ((${#cuts[@]} > 0)); then
    find "$target/without-fence/sources" -name '*.java' -exec "$jdk/bin/javac" --release 25 -nowarn -proc:none \
        -d "$target/without-fence/classes" -cp "$target/lib/*" {} +
fi

# The names of the cases, joined to one expression.
selection=$(IFS='|'; echo "${classes[*]-}")
log=$target/run.log
rm -rf "$target/results"
cd "$target"
echo "jcstress: running, with the output in ${log#"$root/"}"
status=0
"$jdk/bin/java" --enable-native-access=ALL-UNNAMED -cp "$target/without-fence/classes:$target/classes:$target/lib/*" org.openjdk.jcstress.Main -m "$mode" -v \
    "${strides[@]}" -spinStyle THREAD_YIELD -sc false -af NONE -t "${selection:-.*}" -r "$target/results" ${jvm[@]+"${jvm[@]}"} \
    ${options[@]+"${options[@]}"} > "$log" 2>&1 || status=$?

# The results over all JVMs follow the line RUN RESULTS: the state of a case and its name, then a line for each result.
awk -v status="$status" '
    function finish() {
        if (name != "") {
            verdict = state
            if (forbidden > 0) {
                verdict = "FORBIDDEN"
            } else if (state == "OK" && expected && interesting == 0) {
                verdict = "not shown"
            }
            printf "%-46s %12d %10d %10d   %s\n", name, samples, forbidden, interesting, verdict
            cases++
            bad += forbidden > 0 || state != "OK"
        }
        name = ""
        samples = forbidden = interesting = expected = 0
    }
    /^RUN RESULTS/ {
        results = 1
        printf "%-46s %12s %10s %10s\n", "case", "results", "forbidden", "shown"
    }
    !results { next }
    /^\.+ \[[A-Z]+\] / {
        finish()
        state = substr($2, 2, length($2) - 2)
        name = $3
        sub(/^.*(soft|tcp)\./, "", name)
        expected = name ~ /Without/
    }
    match($0, / +[0-9,]+ +<?[0-9.]+% +(Acceptable|Forbidden|Interesting) /) {
        split(substr($0, RSTART, RLENGTH), field, " ")
        gsub(",", "", field[1])
        samples += field[1]
        forbidden += field[3] == "Forbidden" ? field[1] : 0
        interesting += field[3] == "Interesting" ? field[1] : 0
    }
    END {
        finish()
        if (cases == 0) {
            exit 2
        }
        printf "jcstress: %d cases, %d of them bad\n", cases, bad
        exit bad > 0 || status != 0
    }' "$log" || {
    bad=$?
    if ((bad == 2)); then
        tail -n 30 "$log" >&2
        fail "no case has run"
    fi
    exit "$bad"
}

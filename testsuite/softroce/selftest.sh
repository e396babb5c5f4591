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

# Checks the documented behaviour of run.sh in guests that this script starts, and prints a line for each check. The exit code
# is 0 if all checks have succeeded.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
run=$here/run.sh
kernel=$("$run" --build)

# Temporary files that the runs below leave behind would be in this folder.
work=$(mktemp -d "${TMPDIR:-/tmp}/selftest of softroce.XXXXXX")
# The path of the control folder may not contain a blank, so it is in a sibling folder. Both folders are checked.
mkdir -m 755 "${work// /-}"
export TMPDIR=${work// /-}
chmod 755 "$work"
cd "$work"
# shellcheck disable=SC2317 # called by the trap
cleanup() {
    local status=$?
    rm -rf "$work" "$TMPDIR"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

checks=0
failures=0

ok() {
    checks=$((checks + 1))
    echo "ok $checks - $1"
}

not_ok() {
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "not ok $checks - $1"
    printf '    expected: %s\n    got:      %s\n' "${2@Q}" "${3@Q}"
    if [[ -s $work/stderr ]]; then
        sed 's/^/    stderr: /' "$work/stderr"
    fi
}

# same NAME EXPECTED GOT
same() {
    if [[ $2 == "$3" ]]; then ok "$1"; else not_ok "$1" "$2" "$3"; fi
}

# like NAME PATTERN GOT
like() {
    # shellcheck disable=SC2053 # the right side is a pattern
    if [[ $3 == $2 ]]; then ok "$1"; else not_ok "$1" "$2" "$3"; fi
}

skip() {
    echo "skipped - $1: $2"
}

# Runs a command in the guest. Sets $code to the exit code, writes the streams to the files stdout and stderr, and sets $out and
# $err to their text. $err does not contain the lines that run.sh itself prints.
guest() {
    code=0
    "$run" --guest "$@" > "$work/stdout" 2> "$work/stderr" || code=$?
    out=$(tr -d '\0' < "$work/stdout")
    err=$(grep -v '^softroce: ' "$work/stderr" || true)
}

# Prints the processes of the guests that this script has started. Their command lines contain the folder for
# temporary files.
own_guests() {
    local process line
    for process in /proc/[0-9]*; do
        if [[ $process/exe -ef $kernel ]]; then
            line=$(tr '\0' ' ' 2> /dev/null < "$process/cmdline") || continue
            if [[ $line == *"$TMPDIR/"* ]]; then
                echo "${process#/proc/}"
            fi
        fi
    done
}

milliseconds() {
    local now=${EPOCHREALTIME/[.,]/}
    echo $((now / 1000))
}

# wait_until SECONDS COMMAND...: returns whether the command succeeds within that time.
wait_until() {
    local deadline=$(($(milliseconds) + $1 * 1000))
    shift
    until "$@"; do
        (($(milliseconds) < deadline)) || return 1
        sleep 0.05
    done
}

# ----------------------------------------------------------------------------------------------- exit code and messages

for expected in 0 7 125 255; do
    guest bash -c "exit $expected"
    same "exit code $expected" "$expected" "$code"
done
# shellcheck disable=SC2016 # for the inner shell
guest bash -c 'kill -KILL $$'
same 'exit code of a command that was killed' 137 "$code"
guest this-command-does-not-exist
same 'exit code of a command that does not exist' 127 "$code"
like 'and the message names it' '*this-command-does-not-exist*not found*' "$err"

started=$(milliseconds)
guest true
echo "      (a whole run of 'true': $(($(milliseconds) - started)) ms)"
same 'nothing on stdout but the command'"'"'s own' '' "$out"
same 'one line on stderr says where it runs' 1 \
    "$(grep -c '^softroce: running in a user-mode kernel .* on rxe0$' stderr)"
same 'and nothing else is there' '' "$err"

guest busybox poweroff -f
same 'a guest that ends without an exit code: 125' 125 "$code"
like 'and the message says so' '*without an exit code*kernel.log*' "$(< stderr)"
log=$(sed -n 's/.*messages are in //p' stderr)
if [[ -n $log && -f $log ]]; then
    ok 'and the kernel'"'"'s messages are kept'
    rm -r "${log%/*}"
else
    not_ok 'and the kernel'"'"'s messages are kept' 'a file' "$log"
fi

started=$(milliseconds)
guest bash -c 'sleep 100 & echo started'
same 'what the command leaves running does not hold the guest' "0 started 1" \
    "$code $out $(($(milliseconds) - started < 30000))"

# --------------------------------------------------------------------------------------- arguments, folder, environment

# shellcheck disable=SC2016
arguments=(one 'two words' "it's" 'say "so"' '' $'two\nlines' $'ends in a line break\n' 'back\slash'
    '$HOME `id` $(id)' '*' '~' '-n' '--' '!' $'tab\there' 'größe' $'\x80\xff' '&& ;|<>')
printf '<%s>\0' "${arguments[@]}" > expected
guest printf '<%s>\0' "${arguments[@]}"
if cmp -s expected stdout; then ok 'arguments arrive as they are'; else not_ok 'arguments' "$(< expected)" "$out"; fi

mkdir -p "deep/a folder with 'quotes'"
cd "deep/a folder with 'quotes'"
guest pwd
same 'working directory' "$PWD" "$out"
cd "$work"
guest ls deep
same 'a relative path' "a folder with 'quotes'" "$out"
code=0
err=$(cd /dev && "$run" --guest true 2>&1) || code=$?
like 'a working directory that does not exist inside is refused' '125 *working directory /dev*' "$code $err"

guest readlink /proc/self/fd/0
same 'standard input is /dev/null' /dev/null "$out"

RPMA_PROVIDER=soft RPMA_SELFTEST=$'a\n"b"' MAVEN_OPTS='-Xmx1g -Da=b' JAVA_HOME='/a b' SELFTEST_SECRET=1 guest env -0
environment=$(tr '\0' '\1' < stdout)
like 'the provider is librpma, whatever RPMA_PROVIDER was' $'*RPMA_PROVIDER=librpma\1*' $'\1'"$environment"
like 'RPMA_* is passed' $'*\1RPMA_SELFTEST=a\n"b"\1*' $'\1'"$environment"
like 'MAVEN_OPTS is passed' $'*\1MAVEN_OPTS=-Xmx1g -Da=b\1*' $'\1'"$environment"
like 'JAVA_HOME is passed' $'*\1JAVA_HOME=/a b\1*' $'\1'"$environment"
like 'PATH is passed' "*"$'\1'"PATH=$PATH"$'\1'* $'\1'"$environment"
like 'HOME is passed' "*"$'\1'"HOME=$HOME"$'\1'* $'\1'"$environment"
if [[ $environment == *SELFTEST_SECRET* ]]; then
    not_ok 'nothing else is passed' '' "$environment"
else
    ok 'nothing else is passed'
fi

# --------------------------------------------------------------------------------------------------------------- output

guest bash -c 'echo out; echo err >&2; echo out2; echo err2 >&2'
same 'two streams: stdout' $'out\nout2' "$out"
same 'two streams: stderr' $'err\nerr2' "$err"

# Both streams have the same destination, so their order must be exact.
code=0
# shellcheck disable=SC2016
"$run" --guest bash -c 'for ((i = 0; i < 500; i++)); do echo "out $i"; echo "err $i" >&2; done' > both 2>&1 || code=$?
for ((i = 0; i < 500; i++)); do echo "out $i" && echo "err $i"; done > expected
if grep -v '^softroce: ' both | cmp -s - expected; then
    ok 'one place for both streams: their order'
else
    not_ok 'one place for both streams: their order' "$(head -n 4 expected)" "$(head -n 4 both)"
fi

head -c 8000000 /dev/urandom > random
printf '\r\n\n\r\t\0\4\3\x1a' >> random
guest cat random
if cmp -s random stdout; then ok '8 MB of any bytes'; else not_ok '8 MB of any bytes' 'the same' 'something else'; fi

"$run" --guest cat random 2> stderr | (sleep 2 && cat) > stdout
if cmp -s random stdout; then
    ok 'a slow reader loses nothing'
else
    not_ok 'a slow reader loses nothing' 'the same' 'something else'
fi

started=$(milliseconds)
"$run" --guest cat /dev/zero 2> stderr | head -c 10 > stdout || code=$?
same 'a reader that goes away ends the command' '141 1' "$code $(($(milliseconds) - started < 30000))"

# Each line must be available when it is written and not only at the end, so the time in the guest's line must equal the time at
# which it is read.
late=0
lines=0
# shellcheck disable=SC2016
while read -r line; do
    lines=$((lines + 1))
    if [[ ! $line =~ ^[0-9]+$ ]] || (($(milliseconds) - line > 1500)); then
        late=$((late + 1))
    fi
done < <("$run" --guest bash -c 'for i in 1 2 3 4; do echo $(($(date +%s%N) / 1000000)); sleep 1; done' 2> stderr)
same 'lines come as they are written, and clocks agree' '4 lines, 0 late' "$lines lines, $late late"

# -------------------------------------------------------------------------------------------------------------- folders

# shellcheck disable=SC2016
guest --results "$work/results of it" bash -c '
    echo kept > "$RPMA_SOFTROCE_RESULTS/file"
    mkdir "$RPMA_SOFTROCE_RESULTS/sub"'
same 'results folder' 'kept' "$(cat 'results of it/file')"
same 'and a folder in it' 1 "$([[ -d 'results of it/sub' ]] && echo 1)"

mkdir 'kept, too' other
# shellcheck disable=SC2016
guest --keep 'kept, too' --keep made-by-keep bash -c '
    echo 1 > "kept, too/file"
    echo 2 > made-by-keep/file
    echo 3 > other/file
    echo 4 > file
    head -c 3000000 random > "kept, too/large"
    rm random
    cat other/file file'
same 'writing elsewhere works inside' $'3\n4' "$out"
same 'the folders to keep' '12' "$(tr -d '\n' < 'kept, too/file')$(tr -d '\n' < made-by-keep/file)"

if mke2fs=$(PATH=$PATH:/usr/sbin:/sbin type -P mke2fs); then
    truncate -s 32M 'a disk'
    "$mke2fs" -q -t ext4 -F 'a disk'
    # shellcheck disable=SC2016 # for the inner shell
    guest --disk 'a disk' --no-device bash -c 'mkdir /run/disk && mount -t ext4 /dev/ubda /run/disk && echo written > /run/disk/file &&
        sync /run/disk/file'
    guest --disk 'a disk' --no-device bash -c 'mkdir /run/disk && mount -t ext4 /dev/ubda /run/disk && cat /run/disk/file'
    same 'a disk has what was synced' 'written' "$out"
else
    skip 'a disk has what was synced' 'mke2fs is not installed (e2fsprogs)'
fi
guest --disk 'no such disk' true
same 'a disk that does not exist is a wrong option' 2 "$code"
if head -c 3000000 random | cmp -s - 'kept, too/large'; then
    ok 'a large file is whole, what was removed inside is still there'
else
    not_ok 'a large file' 'the same' 'something else'
fi
same 'anything else is discarded' '' "$(ls other; ls file 2> /dev/null || true)"

guest bash -c 'rm -rf deep && mkdir deep && touch deep/new && mv deep deeper && ls deeper'
same 'a folder of the host can be removed, made anew and renamed inside' '0 new' "$code $out"

# shellcheck disable=SC2016
guest bash -c 'set -e
    for folder in /tmp "$HOME" /dev/shm /run/lock /var/tmp; do echo x > "$folder/softroce-selftest"; done
    [[ $(cat <(echo fd)) == fd ]]
    [[ -c /dev/pts/ptmx && $(ulimit -l) == unlimited && $(ulimit -n) == 65536 ]]
    getent hosts "$(hostname)"'
like 'places to write, limits, host name' '0 10.77.0.1*' "$code $out"

# The default results folder exists only if it contains something.
# shellcheck disable=SC2016
guest bash -c 'echo x > "$RPMA_SOFTROCE_RESULTS/selftest-of-softroce"'
mapfile -t found < <(compgen -G "$here/../target/softroce/*/selftest-of-softroce")
same 'default results folder' 1 "${#found[@]}"
for file in "${found[@]}"; do
    rm "$file"
    rmdir "${file%/*}"
done

# ----------------------------------------------------------------------------------------------------------------- RDMA

guest rdma link
like 'rxe0' '*link rxe0/1 state ACTIVE physical_state LINK_UP netdev rdma0*' "$out"
if command -v ibv_devinfo > /dev/null; then
    guest ibv_devinfo
    like 'ibv_devinfo' '*rxe0*PORT_ACTIVE*active_mtu:*4096*' "$out"
else
    skip ibv_devinfo 'not installed (ibverbs-utils)'
fi
if command -v ib_write_lat > /dev/null && grep -q '^cpu MHz' /proc/cpuinfo; then
    # perftest samples the clock while it starts. It reports infinite times if the samples vary too much, as on a busy machine.
    guest bash -c 'for i in {1..50}; do
            ib_write_lat -R -F -n 100 > /dev/null 2>&1 &
            sleep 0.2
            out=$(ib_write_lat -R -F -n 100 10.77.0.1 2>&1) && ! grep -q -w inf <<< "$out" && break
            kill $! 2> /dev/null
            wait
        done
        echo "$out"'
    like 'perftest measures finite times' '* 2 *100 *[0-9].[0-9]*' "$out"
else
    skip perftest 'not installed, or the host does not tell the frequency of its processor'
fi
guest --no-device rdma link
same 'no device' '' "$out"
like 'and the message says so' '*without an RDMA device' "$(< stderr)"

guest bash -c 'timeout 5 bash -c "exec 3<> /dev/tcp/192.0.2.254/80"; echo $?'
same 'a TCP connection to the black hole times out' 124 "$out"

if gcc -std=gnu11 -O2 -Wall -Wextra -Werror -o "$work/selftest" "$here/selftest.c" -lrpma -libverbs 2> stderr; then
    for address in 10.77.0.1 fd77::1; do
        guest ./selftest pingpong "$address" 7471 200
        like "librpma: client and server at $address" '0 200 round trips,*' "$code $out"
    done
    guest --siw ./selftest pingpong 10.77.0.1 7471 200
    like 'librpma on siw0' '0 200 round trips,*' "$code $out"
    for address in 10.77.0.1 10.78.0.1 fd78::1; do
        guest --both-devices ./selftest pingpong "$address" 7471 200
        like "librpma on both devices, at $address" '0 200 round trips,*' "$code $out"
    done
    guest ./selftest connect 10.77.0.1 7471 5
    like 'librpma: nobody listens' '*rejected after 0.*' "$out"
    guest ./selftest connect 192.0.2.254 7471 5
    like 'librpma: the black hole' '0 *no event in 5 s' "$code $out"
    guest --no-device ./selftest connect 10.77.0.1 7471 5
    like 'librpma without a device' '3 *errno 19 (No such device)' "$code $err"
    guest --memlock 64 ./selftest register 10.77.0.1 1048576
    like 'librpma beyond the limit of locked memory' '3 rpma_mr_reg: *errno 12 (*' "$code $err"
    guest --as-user ./selftest register 10.77.0.1 1048576
    like 'librpma as a user without a limit' '0 registered 1048576 bytes' "$code $out"

    # A page that is not adjacent to other pages is a separate mapping of the host, and 1 GiB has four times as many pages as a
    # host allows mappings by default. Root can raise the limit, and the limit must be restored afterwards.
    limit=$(< /proc/sys/vm/max_map_count)
    if ((EUID == 0)); then
        guest ./selftest touch $((1 << 30))
        same '1 GiB of scattered pages' '0 touched 1073741824 bytes' "$code $out"
        same 'and the limit of the host is as before' "$limit" "$(< /proc/sys/vm/max_map_count)"
    fi
    scattered=$work/selftest
else
    scattered=
    skip librpma 'gcc, librpma-dev or libibverbs-dev is not there (apt-get install gcc librpma-dev libibverbs-dev)'
fi
# shellcheck disable=SC2016
guest --memlock 64 --results "$work/results of nobody" bash -c \
    'id -un; ulimit -l; cd && touch file && echo x > "$RPMA_SOFTROCE_RESULTS/file"'
same 'the unprivileged user, its limit, its folders' $'0 nobody\n64' "$code $out"

# ----------------------------------------------------------------------------------------------------------------- Java

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
# The guest does not get these variables, and Java prints a line for each of them.
if version=$(env -u JAVA_TOOL_OPTIONS -u JDK_JAVA_OPTIONS "$java" -version 2>&1); then
    started=$(milliseconds)
    guest "$java" -version
    same 'java -version' "0 $version" "$code $err"
    echo "      (in $(($(milliseconds) - started)) ms)"
    printf '%s\n' 'public class Seed { public static void main(String[] a) throws Exception {' \
        'System.out.println(java.security.SecureRandom.getInstanceStrong().generateSeed(64).length); } }' > Seed.java
    started=$(milliseconds)
    guest timeout 60 "$java" Seed.java
    same 'random numbers do not block' '0 64' "$code $out"
    echo "      (compiled and run in $(($(milliseconds) - started)) ms)"
else
    skip 'java -version' 'no java'
fi

# -------------------------------------------------------------------------------------------- directly, and bad options

# The guest itself is a machine with a usable RDMA device, so the command can run directly.
# shellcheck disable=SC2016
guest "$run" bash -c 'echo "$RPMA_PROVIDER"; [[ -d $RPMA_SOFTROCE_RESULTS ]]; exit 9'
same 'on a machine with a device it runs directly' '9 librpma' "$code $out"
same 'and says so' 1 "$(grep -c '^softroce: running directly, on .* rxe0$' stderr)"

# refused CODE PATTERN ARGUMENT...
refused() {
    local expected=$1 pattern=$2
    shift 2
    code=0
    err=$("$run" "$@" 2>&1) || code=$?
    like "refused: $*" "$expected softroce: $pattern" "$code $err"
}
refused 2 '*no command*'
refused 2 '*no such option: --nonsense*' --nonsense true
refused 2 '*--mem 12: *' --mem 12 true
refused 2 '*--mem 100M: *at least 256M*' --mem 100M true
refused 2 '*--memlock many: *' --memlock many true
refused 2 '*--results needs a value*' --results
refused 125 '*has room for the guest*1023998976 MiB*--mem*' --guest --mem 999999G true
refused 125 '*cannot create*/proc/x*' --guest --results /proc/x true

# librpma is missing, and the user may not install it.
cp -r "$here" copy
# shellcheck disable=SC2016
echo 'softroce_has_library() { [[ $1 != librpma.so.0 ]]; }' >> copy/packages.sh
as_nobody=()
if ((EUID == 0)); then
    as_nobody=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups env "HOME=$TMPDIR")
fi
code=0
err=$("${as_nobody[@]}" copy/run.sh --guest true 2>&1) || code=$?
like 'a missing package: its name, and the command that installs it' \
    "125 softroce: *not installed: librpma0; install with: sudo $work/copy/install-packages.sh" "$code $err"

# No privilege of root is needed.
if ((EUID == 0)); then
    mkdir -p nobody/cache/netty-rpma/softroce "$TMPDIR/nobody"
    cp -r "${kernel%/*}" nobody/cache/netty-rpma/softroce
    chown -R nobody nobody "$TMPDIR/nobody"
    code=0
    # shellcheck disable=SC2016
    out=$(cd nobody && "${as_nobody[@]}" XDG_CACHE_HOME="$PWD/cache" TMPDIR="$TMPDIR/nobody" \
        "$run" --guest --results "$PWD/results" \
        bash -c 'rdma link; touch file && echo x > "$RPMA_SOFTROCE_RESULTS/file"; id -u' 2> "$work/stderr") || code=$?
    like 'as a user of the host' '0 *rxe0*ACTIVE*0' "$code $out"
    same 'and its results' x "$(cat nobody/results/file)"
    if [[ -n $scattered ]]; then
        cp "$scattered" "$TMPDIR/nobody-touch"
        code=0
        before=$(< /proc/sys/vm/max_map_count)
        err=$(cd nobody && "${as_nobody[@]}" XDG_CACHE_HOME="$PWD/cache" TMPDIR="$TMPDIR/nobody" \
            "$run" --guest --results "$PWD/results" "$TMPDIR/nobody-touch" touch $((1 << 30)) 2>&1) || code=$?
        if ((before < 200000 && $(< /proc/sys/vm/max_map_count) < 200000)); then
            like 'a user that needs more mappings than the host allows gets a message' \
                "125 *max_map_count*sudo sysctl -w vm.max_map_count=*" "$code $err"
        else
            skip 'more mappings than the host allows' 'vm.max_map_count is high, perhaps because root runs another guest'
        fi
        rm "$TMPDIR/nobody-touch"
    fi
    rmdir "$TMPDIR/nobody"
else
    skip 'as a user of the host' 'we are one'
fi

# ------------------------------------------------------------------------------------------------- ending it, and after

# shellcheck disable=SC2016
for signal in TERM INT HUP; do
    : > stdout
    env --default-signal=INT "$run" --guest bash -c 'sleep 1000 & echo up; sleep 1000' > stdout 2> stderr &
    job=$!
    wait_until 30 grep -q up stdout || true
    before=$(own_guests | wc -l)
    kill "-$signal" "$job"
    code=0
    wait "$job" || code=$?
    same "$signal ends the guest" "$((128 + $(kill -l "$signal"))), some, 0" \
        "$code, $( ((before)) && echo some), $(own_guests | wc -l)"
done

: > stdout
"$run" --guest --results killed bash -c 'echo up; sleep 1000' > stdout 2> stderr &
job=$!
wait_until 30 grep -q up stdout || true
before=$(own_guests | wc -l)
{
    kill -KILL "$job"
    wait "$job" || true
} 2> /dev/null
# shellcheck disable=SC2317 # called by wait_until
no_guests() {
    [[ -z $(own_guests) ]]
}
same 'a run that is killed outright takes the guest with it' 'some, 0' \
    "$( ((before)) && echo some), $(wait_until 20 no_guests || true; own_guests | wc -l)"
touch -d '1 hour ago' "$TMPDIR"/softroce.*/lock
guest true
same 'and the next run removes what it left' '' "$(ls "$TMPDIR")"

"$run" --guest bash -c 'sleep 1; echo first' > first 2> stderr &
job=$!
guest bash -c 'sleep 1; echo second'
wait "$job"
same 'two at a time' 'first second' "$(< first) $out"

same 'no process is left' '' "$(own_guests)"
same 'no temporary file is left' '' "$(ls "$TMPDIR")"

echo "$((checks - failures)) of $checks checks held"
((failures == 0))

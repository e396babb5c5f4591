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

# Repeatedly cuts the power of a machine that appends to a log, and checks that all acknowledged records are still there.
# `run.sh --help` describes the details.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
readonly here root
readonly LANES=2
# RECORDS is the capacity of a lane, regardless of the sizes of its records. RENEW is the number of records after which a new
# disk is used.
readonly RECORDS=120000
readonly RENEW=60000
# The maximum time on a busy machine until the machine has booted, and until the first record has been acknowledged.
readonly PATIENCE_SECONDS=600
# A power cut happens at most this long after the first acknowledged record, or, every eighth time, after the disk was mounted.
readonly APPENDING_MILLIS=1500
readonly STARTING_MILLIS=4000

usage() {
    cat << 'USAGE'
Usage: testsuite/power-cut/run.sh [--times N] [--control N] [--seed S] [--provider soft|librpma]

Runs the example remote-log, its server and two writers, in a user-mode Linux kernel whose disk (ext4) is a file of this host,
and kills that kernel with SIGKILL at a random moment. As in a power cut, all data that was not on the disk is lost. The numbers
of the records that were acknowledged to the writers are outside of the machine by then, because each of them is written to a
file of this host. The next start of the machine mounts the disk, reads the log and compares: each acknowledged record must be
there, complete and in order. Then the writers continue until the next cut.

  --times N        the number of all cuts, which are divided among the providers (default: 200)
  --control N      the number of cuts of each provider with remote-log --no-sync, which acknowledges records that are not on the
                   disk. Records must be lost then; otherwise the cuts prove nothing (default: 10; 0 for none)
  --seed S         determines the moments of the cuts (default: the time)
  --provider NAME  only soft, or only librpma (default: both, at the same time)

This script needs what testsuite/softroce/run.sh needs, and mke2fs (e2fsprogs). It does not build Java classes; run
`mvn -B -DskipTests package` before.

It prints a table. Exit code: 0 if no acknowledged record was lost or torn, and some were in each control; 1 otherwise; 2 for a
wrong option or a missing program.
USAGE
}

fail() {
    echo "power-cut: $*" >&2
    exit 2
}

times=200
control=10
seed=$(date +%s)
providers=(soft librpma)
while (($# > 0)); do
    case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --times | --control | --seed | --provider)
            (($# > 1)) || fail "$1 needs a value; see $0 --help"
            case $1 in
                --times) times=$2 ;;
                --control) control=$2 ;;
                --seed) seed=$2 ;;
                --provider) providers=("$2") ;;
            esac
            shift 2
            ;;
        *) fail "no such option: $1; see $0 --help" ;;
    esac
done
for number in "$times" "$control" "$seed"; do
    [[ $number =~ ^[0-9]{1,15}$ ]] || fail "$number: a number is needed; see $0 --help"
done
for provider in "${providers[@]}"; do
    [[ $provider == soft || $provider == librpma ]] || fail "--provider $provider: soft or librpma"
done
mke2fs=$(PATH=$PATH:/usr/sbin:/sbin type -P mke2fs) || fail "mke2fs is needed: install e2fsprogs"
[[ -f $root/codec-examples/target/test.classpath && -f $root/codec-examples/target/test-classes/io/rpma/examples/PowerCutMain.class ]] ||
    fail "not built yet: run mvn -B -DskipTests package first"
"$root/testsuite/softroce/run.sh" --build > /dev/null || fail "there is no user-mode kernel"

# The disk is in memory if there is enough space. Only the content of the disk's file matters, and not when it reaches the
# host's own disk.
parent=${TMPDIR:-/tmp}
if [[ -w /dev/shm ]] && (($(df -P -B 1M /dev/shm | awk 'NR == 2 { print $4 }') >= 6000)); then
    parent=/dev/shm
fi
work=$(mktemp -d "$parent/power-cut.XXXXXX")
jobs=()
# shellcheck disable=SC2317 # called by the trap
cleanup() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP
    if ((${#jobs[@]} > 0)); then
        kill "${jobs[@]}" 2> /dev/null || true
        wait "${jobs[@]}" || true
    fi
    rm -rf "$work"
    exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# ------------------------------------------------------------------------------------------------------- one machine

# Cuts the power of machines of one kind. Arguments: the provider, the number of cuts, additional options of the server. Writes
# its row of the table to $work/NAME.row.
cut_often() (
    set -euo pipefail
    name=$1 provider=$2 cuts=$3
    shift 3
    options=("$@")
    disk=$work/$name.disk
    results=$work/$name.results
    RANDOM=$((seed % 32768))
    guest=
    said=
    trap - EXIT
    trap '[[ -z $guest ]] || { kill "$guest"; wait "$guest"; } 2> /dev/null; exit 143' TERM INT HUP

    # The records that each lane is known to contain: those that were acknowledged to its writer, and those that were found last
    # time.
    acknowledged=() found=() starts=()
    sum_acknowledged=0 sum_found=0 lost=0 torn=0 cut=0 damaged=0

    new_disk() {
        rm -f "$disk"
        truncate -s 96M "$disk"
        "$mke2fs" -q -t ext4 -F -E lazy_itable_init=0,lazy_journal_init=0 "$disk"
        for ((lane = 0; lane < LANES; lane++)); do
            acknowledged[lane]=0 found[lane]=0
        done
    }

    # Prints a number from a file of eight-byte numbers: the first number, or the last one that is complete.
    number_in() {
        local size
        size=$(stat -c %s "$1")
        if ((size < 8)); then
            return 1
        fi
        if [[ $2 == first ]]; then
            size=8
        fi
        od -An -t u8 --endian=big -j $((size / 8 * 8 - 8)) -N 8 "$1" | tr -d ' '
    }

    boot() {
        local host=127.0.0.1 device=--no-device
        if [[ $provider == librpma ]]; then
            host=10.77.0.1
            device=--guest
        fi
        rm -rf "$results"
        mkdir "$results"
        cd "$root/codec-examples"
        exec {said}< <(exec "$root/testsuite/softroce/run.sh" "$device" --mem 1G --disk "$disk" --results "$results" -- \
            "$here/guest.sh" "${java[@]}" "-Dio.rpma.provider=$provider" -- "$results" "$host" "$LANES" "$RECORDS" \
            ${options[@]+"${options[@]}"} 2>> "$work/$name.log")
        guest=$!
    }

    # Handles a line that the machine has printed.
    hear() {
        local what lane count rest
        echo "$1" >> "$work/$name.log"
        read -r what lane count rest <<< "$1"
        case $what in
            found | torn)
                if [[ $what == torn ]]; then
                    torn=$((torn + 1))
                    damaged=1
                fi
                if ((count < acknowledged[lane])); then
                    lost=$((lost + acknowledged[lane] - count))
                    damaged=1
                fi
                sum_found=$((sum_found + count - found[lane]))
                found[lane]=$count
                ;;
        esac
    }

    # Handles the lines of the machine until it has printed the given word.
    await() {
        local line
        while IFS= read -r -t "$PATIENCE_SECONDS" -u "$said" line; do
            hear "$line"
            if [[ $line == "$1" ]]; then
                return 0
            fi
            if [[ $line == ended* ]]; then
                break
            fi
        done
        echo "$name: the machine did not print '$1'; its output:" >&2
        tail -n 30 "$work/$name.log" >&2
        kill "$guest" 2> /dev/null || true
        wait "$guest" 2> /dev/null || true
        exit 1
    }

    # softroce/run.sh kills the kernel by SIGKILL, and returns when all of its processes have ended.
    power_off() {
        local line lane first last
        kill -TERM "$guest"
        wait "$guest" || true
        guest=
        while IFS= read -r -u "$said" line; do
            hear "$line"
        done
        exec {said}<&-
        for ((lane = 0; lane < LANES; lane++)); do
            if [[ -f $results/acknowledged-$lane ]] && first=$(number_in "$results/acknowledged-$lane" first); then
                last=$(number_in "$results/acknowledged-$lane" last)
                if ((first < acknowledged[lane])); then
                    # The server had fewer records than were acknowledged before.
                    lost=$((lost + acknowledged[lane] - first))
                    damaged=1
                fi
                sum_acknowledged=$((sum_acknowledged + last - first))
                acknowledged[lane]=$last
            fi
        done
    }

    pause() {
        local millis=$((RANDOM * ($1 + 1) / 32768))
        sleep "$((millis / 1000)).$(printf %03d $((millis % 1000)))"
    }

    began=$SECONDS
    new_disk
    while ((cut < cuts)); do
        boot
        if ((cut % 8 == 7)); then
            # The cut happens while the journal is replayed, the log is read or the server starts.
            await mounted
            pause "$STARTING_MILLIS"
        else
            await checked
            if ((damaged)); then
                power_off
                new_disk
                damaged=0
                continue
            fi
            await appending
            pause "$APPENDING_MILLIS"
        fi
        power_off
        cut=$((cut + 1))
        echo "$name: $cut cuts, $sum_acknowledged acknowledged, $lost lost, $torn torn, $((SECONDS - began)) s" >&2
        full=0
        for ((lane = 0; lane < LANES; lane++)); do
            full=$((full || acknowledged[lane] > RENEW))
        done
        if ((full || cut == cuts)); then
            # Check what the last cut of this disk has left.
            boot
            await checked
            power_off
            new_disk
            damaged=0
        fi
    done
    printf '%s|%s|%s|%s|%s|%s|%s|%s\n' "$provider" "${options[*]:-sync}" "$cut" "$sum_acknowledged" "$sum_found" "$lost" "$torn" \
        "$((SECONDS - began))" > "$work/$name.row"
)

java_home=$("$root/tools/find-java.sh")
java=("$java_home/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Dio.netty.noUnsafe=true
    -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -cp
    "$root/codec-examples/target/test-classes:$root/codec-examples/target/classes:$(< "$root/codec-examples/target/test.classpath")")
echo "power-cut: seed $seed" >&2
status=0
provide() {
    if ((control > 0)); then
        cut_often "$1-control" "$1" "$control" --no-sync
    fi
    cut_often "$1" "$1" "$(((times + ${#providers[@]} - 1) / ${#providers[@]}))"
}
for provider in "${providers[@]}"; do
    provide "$provider" &
    jobs+=("$!")
done
for job in "${jobs[@]}"; do
    wait "$job" || status=1
done
jobs=()

printf '%-9s %-10s %6s %13s %10s %8s %6s %8s\n' provider server cuts acknowledged found lost torn seconds
for provider in "${providers[@]}"; do
    for name in "$provider" "$provider-control"; do
        [[ -f $work/$name.row ]] || continue
        IFS='|' read -r _ server cuts acknowledged found lost torn seconds < "$work/$name.row"
        printf '%-9s %-10s %6d %13d %10d %8d %6d %8d\n' "$provider" "$server" "$cuts" "$acknowledged" "$found" "$lost" "$torn" \
            "$seconds"
        if [[ $name == *-control ]]; then
            if ((lost + torn == 0)); then
                echo "power-cut: $provider without sync lost no record, so these cuts prove nothing" >&2
                status=1
            fi
        elif ((lost + torn > 0 || acknowledged == 0)); then
            status=1
        fi
    done
done
exit "$status"

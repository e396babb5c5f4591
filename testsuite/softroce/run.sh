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

# Runs a command on real librpma, with or without RDMA hardware. `run.sh --help` describes the usage, and README.md describes
# how it works.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=packages.sh
. "$here/packages.sh"
# shellcheck source=control-folder.sh
. "$here/control-folder.sh"

readonly EXIT_GUEST_FAILED=125

usage() {
    cat << 'USAGE'
Usage: testsuite/softroce/run.sh [OPTION...] [--] COMMAND [ARGUMENT...]
       testsuite/softroce/run.sh [OPTION...] --suite [CLASS...]
       testsuite/softroce/run.sh --build

Runs COMMAND on the provider librpma (RPMA_PROVIDER=librpma) and returns its exit code. On a machine with a usable RDMA
device, COMMAND runs directly. Otherwise it runs inside a user-mode Linux kernel that has the software device rxe0
(RoCE v2) at 10.77.0.1 and fd77::1. The kernel is built once and cached.

Inside, the files, the working directory and the arguments are those of the host. What COMMAND writes is discarded,
except in the results folder and in the folders of --keep. Its standard input is /dev/null. Its two output streams stay
two streams, or are merged in their exact order if both have the same destination. COMMAND gets the environment
variables PATH, HOME, JAVA_HOME, LANG, LC_*, TZ, TERM, USER, LOGNAME, MAVEN_OPTS, MAVEN_ARGS and RPMA_*. Addresses in
192.0.2.0/24 are a black hole: an attempt to connect to them times out.

Options:
  --results DIR    the folder for the results of COMMAND, which gets it in RPMA_SOFTROCE_RESULTS
                   (default: a new folder in testsuite/target/softroce, which is removed if it stays empty)
  --keep DIR       also let COMMAND write to this folder of the host; may be repeated
  --disk FILE      give the guest a disk, /dev/ubda, whose content is this file of the host; implies --guest
  --mem SIZE       the memory of the guest, for example 512M or 6G (default: 4G)
  --guest          use the guest even if this machine has an RDMA device
  --build          only build the kernel and print its path
  --suite          run Netty's transport testsuite (testsuite/run-suite.sh), all of it or the classes that follow

The following options describe the guest and imply --guest:
  --siw            create the iWARP device siw0 instead of rxe0
  --both-devices   create rxe0, and also siw0 at 10.78.0.1 and fd78::1
  --no-device      create no RDMA device
  --as-user        run COMMAND as the unprivileged user nobody; its HOME is an empty folder
  --memlock KIB    limit its locked memory, as `ulimit -l` does (default: unlimited); implies --as-user, since root has
                   no limit

Exit code: that of COMMAND (128 + N if it was ended by signal N), 125 if the guest ended without one or if COMMAND failed
after the host had refused memory to the guest, 141 if the reader of the output closed it, 2 for a wrong option.

Each page that a process in the guest touches can need a mapping of the host, which limits their number
(vm.max_map_count). If root runs this script, it raises the limit while guests run, and the last one restores it. For
other users, a message reports that the limit was reached.

Examples:
  testsuite/softroce/run.sh ./run-example.sh echo --bytes 32MiB
  testsuite/softroce/run.sh --keep testsuite/target mvn -o -B verify
  testsuite/softroce/run.sh bash -c 'rdma link; ibv_devinfo -v > "$RPMA_SOFTROCE_RESULTS/devinfo.txt"'
  testsuite/softroce/run.sh --memlock 64 ./run-example.sh echo
USAGE
}

say() {
    echo "softroce: $*" >&2
}

fail() {
    say "$@"
    exit "$EXIT_GUEST_FAILED"
}

wrong_option() {
    say "$@"
    say "see $0 --help"
    exit 2
}

# -------------------------------------------------------------------------------------------------------------- options

results=
keep=()
memory=4G
disk=
force_guest=0
build_only=0
device=rxe
as_user=0
memlock=unlimited

while (($# > 0)); do
    case $1 in
        --results | --keep | --disk | --mem | --memlock)
            (($# > 1)) || wrong_option "$1 needs a value"
            case $1 in
                --results) results=$2 ;;
                --keep) keep+=("$2") ;;
                --disk)
                    disk=$2
                    force_guest=1
                    ;;
                --mem) memory=$2 ;;
                --memlock)
                    memlock=$2
                    as_user=1
                    force_guest=1
                    ;;
            esac
            shift
            ;;
        --guest) force_guest=1 ;;
        --build) build_only=1 ;;
        --suite)
            shift
            keep+=("${here%/*}/target")
            set -- -- "${here%/*}/run-suite.sh" "$@"
            continue
            ;;
        --siw | --both-devices | --no-device)
            device=${1#--}
            device=${device/both-devices/both}
            device=${device/no-device/none}
            force_guest=1
            ;;
        --as-user)
            as_user=1
            force_guest=1
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        --)
            shift
            break
            ;;
        -*) wrong_option "no such option: $1" ;;
        *) break ;;
    esac
    shift
done

if ((build_only)); then
    (($# == 0)) || wrong_option "--build takes no command: $*"
    exec "$here/build-kernel.sh"
fi
(($# > 0)) || wrong_option "no command given"
[[ $memory =~ ^([0-9]{1,6})([MG])$ ]] || wrong_option "--mem $memory: a number and M or G is needed, as 512M or 6G"
mebibytes=$((10#${BASH_REMATCH[1]}))
if [[ ${BASH_REMATCH[2]} == G ]]; then
    mebibytes=$((mebibytes * 1024))
fi
((mebibytes >= 256)) || wrong_option "--mem $memory: the guest needs at least 256M"
[[ $memlock =~ ^([0-9]{1,12}|unlimited)$ ]] || wrong_option "--memlock $memlock: a number of KiB is needed"

# Creates a folder if necessary and prints its real path. The guest's list of mounts has one path per line.
folder_of() {
    [[ $1 != *$'\n'* ]] || wrong_option "the name of a folder must not contain a line break: ${1@Q}"
    if [[ ! -d $1 ]]; then
        local reason
        reason=$(mkdir -p -- "$1" 2>&1) || fail "$reason"
        # The command runs as the user nobody in the guest, and must be able to write to the folder.
        ((as_user == 0)) || chmod 777 -- "$1"
    fi
    [[ -w $1 ]] || fail "the folder $1 is not writable"
    realpath -- "$1"
}

disk_parameter=()
if [[ -n $disk ]]; then
    [[ -f $disk && -w $disk ]] || wrong_option "--disk $disk: an existing file is needed, which can be written to"
    disk=$(realpath -- "$disk")
fi

own_results=0
if [[ -z $results ]]; then
    own_results=1
    results=$here/../target/softroce/$(date +%Y%m%dT%H%M%S)-$$
fi

# --------------------------------------------------------------------------------------------------------------- direct

# Prints the name of an RDMA device that can be used directly. One of its ports must be active and the network interface of the
# port must have an address, because rdma_cm finds devices by their addresses.
usable_device() {
    local state port interface
    [[ -w /dev/infiniband/rdma_cm ]] && softroce_has_library librpma.so.0 || return 1
    for state in /sys/class/infiniband/*/ports/*/state; do
        [[ -r $state && $(< "$state") == *ACTIVE* ]] || continue
        port=${state%/state}
        for interface in $({
            cat "$port"/gid_attrs/ndevs/*
            ls "${port%/ports/*}/device/net"
        } 2> /dev/null | sort -u); do
            if [[ -n $(ip -o address show dev "$interface" scope global 2> /dev/null) ]]; then
                port=${port%/ports/*}
                echo "${port##*/}"
                return 0
            fi
        done
    done
    return 1
}

if ((force_guest == 0)) && found=$(usable_device); then
    say "running directly, on this machine's RDMA device $found"
    results=$(folder_of "$results")
    export RPMA_PROVIDER=librpma RPMA_SOFTROCE_RESULTS=$results
    exec -- "$@" < /dev/null
fi

# ---------------------------------------------------------------------------------------------------------------- guest

control=
child=
guest=
kernel=

# Prints the processes of the host that belong to the guest. The guest has its own session.
guest_processes() {
    local stat line fields
    for stat in /proc/[0-9]*/stat; do
        # Processes may end at any time. The name in parentheses may contain any characters, unlike the fields after it.
        read -r line 2> /dev/null < "$stat" || continue
        read -r -a fields <<< "${line##*) }"
        if [[ ${fields[3]} == "$guest" && ${stat%/stat}/exe -ef $kernel ]]; then
            stat=${stat%/stat}
            echo "${stat#/proc/}"
        fi
    done
}

# Ends the remaining processes of the guest, and returns when they are gone.
end_guest_processes() {
    local left
    for ((tries = 0; tries < 200; tries++)); do
        mapfile -t left < <(guest_processes)
        ((${#left[@]} > 0)) || return 0
        kill -KILL "${left[@]}" 2> /dev/null || true
        # The processes are not children of this shell, so it cannot wait for them.
        sleep 0.02
    done
    say "these processes of the guest do not end: ${left[*]}"
}

# The limit of the mappings of a process on this host. Runs that raise the limit share a file. Each run holds a shared lock on
# it while it runs. The file contains the value before the first run and the value that was set last.
readonly map_limit=/proc/sys/vm/max_map_count
map_limit_file=
map_limit_users=

# Raises the limit so that every page of the guest's memory can be a separate mapping.
raise_map_limit() {
    local needed=$((mebibytes * 256 + 65536)) before original='' set='' mutex
    ((EUID == 0)) || return 0
    map_limit_file=${kernel%/*/linux}/max_map_count
    exec {mutex}> "$map_limit_file.lock" {map_limit_users}>> "$map_limit_file"
    flock "$mutex"
    flock -s "$map_limit_users"
    before=$(< "$map_limit")
    if ((before < needed)) && { echo "$needed" > "$map_limit"; } 2> /dev/null; then
        read -r original set < "$map_limit_file" || true
        # The file may come from a run that was killed, and something else may have changed the limit since then.
        [[ $before == "$set" ]] || original=$before
        echo "$original $needed" > "$map_limit_file"
    fi
    exec {mutex}>&-
}

# The last run that ends restores the limit, unless something else has changed it in the meantime.
restore_map_limit() {
    local original set mutex
    [[ -n $map_limit_users ]] || return 0
    exec {mutex}> "$map_limit_file.lock"
    flock "$mutex"
    if flock -n "$map_limit_users" && read -r original set < "$map_limit_file"; then
        if [[ $(< "$map_limit") == "$set" ]]; then
            { echo "$original" > "$map_limit"; } 2> /dev/null || true
        fi
        : > "$map_limit_file"
    fi
    exec {mutex}>&-
}

# shellcheck disable=SC2317 # called by the trap
finish() {
    local status=$?
    trap - EXIT
    trap '' INT TERM HUP
    if [[ -n $child ]]; then
        kill "$child" 2> /dev/null || true
        wait "$child" || true
    fi
    if [[ -n $guest ]]; then
        kill -KILL "$guest" 2> /dev/null || true
        wait "$guest" 2> /dev/null || true
        end_guest_processes
    fi
    restore_map_limit
    rm -rf "$control"
    if ((own_results)); then
        rmdir "$results" 2> /dev/null || true
    fi
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

mapfile -t missing < <(softroce_missing_run_packages)
if ((${#missing[@]} > 0)); then
    if ((EUID == 0)) && command -v apt-get > /dev/null; then
        say "installing what is missing: ${missing[*]}"
        output=$("$here/install-packages.sh" --run 2>&1) || {
            printf '%s\n' "$output" >&2
            fail "could not install ${missing[*]}"
        }
        mapfile -t missing < <(softroce_missing_run_packages)
    fi
    ((${#missing[@]} == 0)) || fail "not installed: ${missing[*]}; install with: sudo $here/install-packages.sh"
fi

# These folders belong to the guest's kernel, not to the host.
for folder in /proc /sys /dev /run; do
    [[ $PWD/ != $folder/* ]] ||
        fail "the working directory $PWD does not exist inside the guest: run from another folder"
done

# The path of the control folder is passed on the kernel's command line, and must be visible in the guest.
parent=${TMPDIR:-/tmp}
[[ $parent =~ ^/[A-Za-z0-9/._+-]+$ && ! $parent/ =~ ^/(proc|sys|dev|run)/ ]] || parent=/tmp
softroce_control_folder "$parent" || fail "a temporary folder cannot be created: set TMPDIR to a folder for it"

# The build runs in the background, so that a signal ends it at once.
"$here/build-kernel.sh" > "$control/kernel" &
child=$!
wait "$child" || fail "there is no user-mode kernel to run in"
child=
kernel=$(< "$control/kernel")

# Prints a folder for the file that contains the guest's memory. The file grows when the guest uses more memory. A full folder
# would crash the guest at any time, so the space must be available at the start.
memory_folder() {
    local folder type flags room available report=
    for folder in /dev/shm "${TMPDIR:-/tmp}" /var/tmp; do
        [[ -d $folder && -w $folder ]] || continue
        read -r type flags < <(findmnt -n -o FSTYPE,OPTIONS -T "$folder") || continue
        if [[ ,$flags, == *,noexec,* ]]; then
            report+=", $folder is mounted noexec"
            continue
        fi
        room=$(df -P -B 1M "$folder" | awk 'NR == 2 { print $4 }')
        if [[ $type == tmpfs ]]; then
            available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
            room=$((available < room ? available : room))
        fi
        if ((room >= mebibytes)); then
            echo "$folder"
            return 0
        fi
        report+=", $folder has $room MiB"
    done
    say "no folder has room for the guest's memory of $mebibytes MiB (--mem)${report}; set TMPDIR to a larger one," \
        "or use less memory with --mem"
    return 1
}

memory_file_folder=$(memory_folder) || exit "$EXIT_GUEST_FAILED"
raise_map_limit

# The file contains pairs of lines: a folder of the host, and its path in the guest. If this script has chosen the results
# folder, the folder is in a target folder that the command must be able to delete, so it has another path in the guest.
results=$(folder_of "$results")
results_inside=$results
if ((own_results)); then
    results_inside=/run/results
fi
{
    printf '%s\n' "$results" "$results_inside"
    for folder in "${keep[@]}"; do
        folder=$(folder_of "$folder")
        printf '%s\n' "$folder" "$folder"
    done
} > "$control/mounts"

# If both output streams have the same destination, they share one pipe in the guest, because their order would be lost
# otherwise.
merge=0
if [[ /proc/self/fd/1 -ef /proc/self/fd/2 ]]; then
    merge=1
fi

busybox=$(type -P busybox || echo /bin/busybox)
for name in ip rdma setpriv; do
    printf '%s=%q\n' "$name" "$(PATH=$PATH:/usr/sbin:/sbin type -P "$name")"
done > "$control/settings"
printf '%s=%q\n' bash "$BASH" busybox "$busybox" device "$device" memlock "$memlock" as_user "$as_user" merge "$merge" \
    mhz "$(sed -n '/^cpu MHz/ { s/.*: *//p; q }' /proc/cpuinfo)" working_directory "$PWD" >> "$control/settings"

{
    printf 'umask %s\n' "$(umask)"
    for name in $(compgen -e); do
        case $name in
            PATH | HOME | JAVA_HOME | LANG | LC_* | TZ | TERM | USER | LOGNAME | MAVEN_OPTS | MAVEN_ARGS | RPMA_*)
                printf 'export %s=%q\n' "$name" "${!name}"
                ;;
        esac
    done
    printf 'export RPMA_PROVIDER=librpma RPMA_SOFTROCE_RESULTS=%q\n' "$results_inside"
    if ((as_user)); then
        echo 'export HOME=/run/home USER=nobody LOGNAME=nobody'
    fi
    printf 'cd -- %q || exit %d\n' "$PWD" "$EXIT_GUEST_FAILED"
    printf 'exec --'
    printf ' %q' "$@"
    echo
} > "$control/command"

if [[ -n $disk ]]; then
    # A link is used because the kernel's command line cannot contain blanks and commas in a path.
    ln -s "$disk" "$control/disk"
    disk_parameter=("ubda=$control/disk")
fi

mkdir "$control/out"
{
    printf '#!%s sh\n' "$busybox"
    tail -n +2 "$here/init"
} > "$control/init"
chmod 755 "$control" "$control/init"

# The kernel makes the files that it writes to non-blocking for all processes that have them open, and it can poll pipes but not
# regular files. It therefore gets separate pipes. Only this script's relays write to the output streams of this script.
mkfifo "$control/stdout" "$control/stderr" "$control/messages"
cat "$control/stdout" &
relays=("$!")
cat "$control/stderr" >&2 &
relays+=("$!")
cat "$control/messages" > "$control/kernel.log" &
relays+=("$!")
exec {stdout_pipe}> "$control/stdout" {stderr_pipe}> "$control/stderr" {messages_pipe}> "$control/messages"

# The kernel and the processes of the guest alternate, and switch at each system call. On one processor of the host, this is
# four to five times as fast as on two. Each guest gets a processor that no other guest uses, as long as there is one.
processors=()
allowed=$(grep '^Cpus_allowed_list:' /proc/self/status)
IFS=, read -r -a ranges <<< "${allowed##*[[:space:]]}"
for range in "${ranges[@]}"; do
    for ((processor = ${range%-*}; processor <= ${range#*-}; processor++)); do
        processors+=("$processor")
    done
done
processor=${processors[$$ % ${#processors[@]}]}
for candidate in "${processors[@]}"; do
    exec {processor_lock}> "${kernel%/*/linux}/processor.$candidate"
    if flock -n "$processor_lock"; then
        processor=$candidate
        break
    fi
    exec {processor_lock}>&-
done

version=${kernel%/linux}
version=${version##*/}
# With seccomp a process of the guest hands its system calls to the kernel by a futex instead of being traced. It could leave the
# guest on purpose, but what runs here has the rights of this user anyway. An older kernel does not know the parameter, and would
# pass it to the first process.
kernel_parameters=()
if softroce_is_fast "$version"; then
    kernel_parameters=(seccomp=auto)
fi
case $device in
    rxe) say "running in a user-mode kernel ($version) on rxe0" ;;
    siw) say "running in a user-mode kernel ($version) on siw0" ;;
    both) say "running in a user-mode kernel ($version) on rxe0 and siw0" ;;
    none) say "running in a user-mode kernel ($version) without an RDMA device" ;;
esac

# If this script is killed, the guest is killed too.
(
    ulimit -c 0
    exec env -i "TMPDIR=$memory_file_folder" "HOME=$control" "$(type -P taskset)" -c "$processor" \
        "$(type -P setpriv)" --pdeathsig KILL "$kernel" "mem=${mebibytes}M" \
        root=/dev/root rootfstype=hostfs rootflags=/ ro "init=$control/init" "uml_dir=$control/uml" umid=guest \
        con=null con0=null,fd:1 "con1=null,fd:$stdout_pipe" "con2=null,fd:$stderr_pipe" ssl=null \
        ${disk_parameter[@]+"${disk_parameter[@]}"} ${kernel_parameters[@]+"${kernel_parameters[@]}"} dummy.numdummies=0 \
        console=tty0 loglevel=5 printk.devkmsg=on
) < /dev/null >&"$messages_pipe" 2>&1 &
guest=$!
kernel_status=0
# Bash itself reports a child that was aborted, as the kernel is when it panics. The report is suppressed because this script
# prints a better one.
wait -n "$guest" "${relays[0]}" "${relays[1]}" 2> /dev/null || kernel_status=$?
if kill -0 "$guest" 2> /dev/null; then
    # A relay has ended before its stream, because its reader has closed the stream. This ends any command that continues to
    # write.
    exit 141
fi
end_guest_processes
guest=

exec {stdout_pipe}>&- {stderr_pipe}>&- {messages_pipe}>&-
wait "${relays[@]}" || true

# Prints a message if the host refused memory to the guest, which ends a process of the guest by signal 11, or the guest itself.
# Returns whether this has happened.
explain_map_limit() {
    grep -q 'ran out of memory on the host side' "$control/kernel.log" || return 1
    local limit
    limit=$(< "$map_limit")
    say "the host refused the guest memory: a process of the guest has probably touched more pages than a process of this" \
        "host may have mappings, $limit (vm.max_map_count): about $((limit / 256)) MiB, if they are scattered. Use" \
        "less memory (java -Xmx), or raise the limit: sudo sysctl -w vm.max_map_count=$((mebibytes * 256 + 65536))"
}

code=
if [[ -s $control/out/exit ]]; then
    code=$(< "$control/out/exit")
fi
if [[ ! $code =~ ^[0-9]{1,3}$ ]]; then
    cp "$control/kernel.log" "$results/kernel.log"
    tail -n 20 "$control/kernel.log" >&2
    explain_map_limit || true
    fail "the guest ended without an exit code of the command (its kernel's own: $kernel_status);" \
        "the kernel's messages are in $results/kernel.log"
fi
if explain_map_limit && ((code != 0)); then
    cp "$control/kernel.log" "$results/kernel.log"
    fail "the command's own exit code was $code; the kernel's messages are in $results/kernel.log"
fi
if grep -q -E 'BUG:|WARNING: CPU|Oops|Call Trace|Out of memory|do not end:' "$control/kernel.log"; then
    cp "$control/kernel.log" "$results/kernel.log"
    say "the guest's kernel reported trouble, see $results/kernel.log"
fi
exit "$code"

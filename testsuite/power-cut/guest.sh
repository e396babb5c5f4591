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

# Runs inside the machine whose power is cut. It mounts the disk, which replays the journal, and starts the server of remote-log
# and its writers. run.sh starts this script and ends the machine. Arguments: the java command up to the class, as words; then
# --, then the folder that survives the power cut, the address, the number of lanes, the number of records, and additional
# options of the server.

set -euo pipefail

readonly PORT=7471
readonly disk=/run/disk

java=()
while [[ $1 != -- ]]; do
    java+=("$1")
    shift
done
shift
folder=$1 host=$2 lanes=$3 records=$4
shift 4

mkdir "$disk"
mount -t ext4 /dev/ubda "$disk"
echo mounted
# The writers read the log before the server changes anything in it. The server does that when the first of them is granted its
# lane.
"${java[@]}" io.rpma.examples.PowerCutMain "$disk/log" "$lanes" "$host" "$PORT" "$folder" &
"${java[@]}" io.rpma.examples.Examples remote-log --server --host "$host" --port "$PORT" --file "$disk/log" --clients "$lanes" \
    --records "$records" --record-bytes 64 "$@" &
# Neither process ends normally.
code=0
wait -n || code=$?
echo "ended $code"
exit 1

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

# Creates the folder by which run.sh and its guest communicate. Sourced by run.sh.

# Creates a folder of this run in the folder $1, and removes the folders of earlier runs that were killed. A folder belongs to a
# run as long as its process holds the lock of the file "lock" in it. Sets "control" to the path of the folder.
softroce_control_folder() {
    local folder parent_lock
    # Other runs remove folders whose lock nobody holds. The lock of the parent folder prevents that between the creation of the
    # folder and the locking of its file.
    exec {parent_lock}< "$1"
    flock "$parent_lock"
    control=$(mktemp -d "$1/softroce.XXXXXX") || return 1
    exec {control_lock}> "$control/lock"
    flock "$control_lock"
    for folder in "$1"/softroce.*; do
        if [[ -O $folder && -f $folder/lock && $folder != "$control" ]] && flock -n "$folder/lock" true; then
            rm -rf "$folder"
        fi
    done
    exec {parent_lock}<&-
}

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

# Downloads packages of another release or architecture of Debian. Nothing is installed, no file of the machine's apt is changed,
# and root is not needed. Sourced by scripts that build guests.

# The mirror of Debian. The variable of this name in the environment selects another one.
readonly DEBIAN_MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
readonly DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Prints what is missing for the functions below, as the names of Debian packages.
private_apt_missing() {
    command -v apt-get > /dev/null || echo apt
    command -v dpkg-deb > /dev/null || echo dpkg
    [[ -r $DEBIAN_KEYRING ]] || echo debian-archive-keyring
}

# private_apt_create FOLDER ARCHITECTURE SUITE: creates the folder with the settings of an apt that knows only the packages of
# this suite of the mirror, and for which none of them is installed. It does not download the lists of packages.
private_apt_create() {
    local folder=$1 architecture=$2 suite=$3
    mkdir -p "$folder"/etc/{apt.conf.d,preferences.d,sources.list.d,trusted.gpg.d} "$folder"/state/lists/partial \
        "$folder"/cache/archives/partial
    touch "$folder/status"
    # The proxy settings of this machine apply here too.
    cp /etc/apt/apt.conf.d/* "$folder/etc/apt.conf.d/" 2> /dev/null || true
    echo "$architecture" > "$folder/architecture"
    echo "deb [arch=$architecture signed-by=$DEBIAN_KEYRING] $DEBIAN_MIRROR $suite main" > "$folder/etc/sources.list"
}

# private_apt FOLDER PROGRAM ARGUMENT...: runs a program of apt (apt-get or apt-cache) with the settings in this folder.
private_apt() {
    local folder=$1 program=$2 architecture
    shift 2
    architecture=$(< "$folder/architecture")
    "$program" -q -o "Dir::Etc=$folder/etc" -o "Dir::State=$folder/state" -o "Dir::State::status=$folder/status" \
        -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User="$(id -un)" -o "APT::Architecture=$architecture" \
        -o "APT::Architectures=$architecture" "$@"
}

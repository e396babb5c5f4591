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

# Checks what must be installed on the host. The checks look for the files that are used, and report the Debian packages that
# contain them. Sourced by run.sh, build-kernel.sh and install-packages.sh.

# The Debian packages that are needed to boot the guest and to run commands in it.
# shellcheck disable=SC2034 # used by the scripts that source this file
SOFTROCE_RUN_PACKAGES=(busybox-static iproute2 util-linux librpma0 libibverbs1 librdmacm1 ibverbs-providers
    ibverbs-utils rdmacm-utils)
# The Debian packages that are needed to build the guest's kernel, besides its source.
# shellcheck disable=SC2034
SOFTROCE_BUILD_PACKAGES=(flex bison bc xz-utils gcc libc6-dev make libelf-dev)

# The package of the oldest source that can be built. It is used if no newer one is installed and none can be downloaded.
# shellcheck disable=SC2034
SOFTROCE_OLD_SOURCE=linux-source-6.12

# Returns whether a command with the name exists, in PATH or in one of the system folders that the PATH of an unprivileged user
# lacks.
softroce_has_command() {
    command -v "$1" > /dev/null || [[ -x /usr/sbin/$1 || -x /sbin/$1 ]]
}

# Returns whether one of the usual folders of the dynamic linker contains a file that matches the pattern.
softroce_has_library() {
    compgen -G "/usr/lib/$1" > /dev/null || compgen -G "/usr/lib/*-linux-gnu/$1" > /dev/null ||
        compgen -G "/usr/lib64/$1" > /dev/null || compgen -G "/usr/local/lib/$1" > /dev/null ||
        compgen -G "/usr/local/lib64/$1" > /dev/null || compgen -G "/usr/local/lib/*-linux-gnu/$1" > /dev/null
}

# Prints the missing packages that are needed to run the guest, one per line.
softroce_missing_run_packages() {
    softroce_has_command busybox || echo busybox-static
    { softroce_has_command ip && softroce_has_command rdma; } || echo iproute2
    { softroce_has_command flock && softroce_has_command setpriv && softroce_has_command taskset &&
        softroce_has_command findmnt; } || echo util-linux
    softroce_has_library librpma.so.0 || echo librpma0
    softroce_has_library libibverbs.so.1 || echo libibverbs1
    softroce_has_library librdmacm.so.1 || echo librdmacm1
    softroce_has_library 'libibverbs/librxe-rdmav*.so' || echo ibverbs-providers
}

# Prints the newest source of the kernel that is installed, as linux-source-N.M. Fails if none is installed that can be built.
softroce_installed_source() {
    local newest
    newest=$({
        echo "$SOFTROCE_OLD_SOURCE"
        compgen -G '/usr/src/linux-source-*.tar.xz' | sed 's|.*/\(.*\)\.tar\.xz|\1|'
    } | sort -V | tail -n 1)
    [[ -r /usr/src/$newest.tar.xz ]] && echo "$newest"
}

# softroce_is_fast VERSION: returns whether a user-mode kernel of this version handles system calls by seccomp, as it does since
# Linux 6.16. This takes less than half of the time of ptrace, which older ones use.
softroce_is_fast() {
    [[ $(printf '%s\n' 6.16 "${1#linux-source-}" | sort -V | head -n 1) == 6.16 ]]
}

# Prints the missing packages that are needed to build the kernel, except its source, one per line.
softroce_missing_build_packages() {
    local command
    for command in flex bison bc gcc make; do
        softroce_has_command "$command" || echo "$command"
    done
    softroce_has_command xz || echo xz-utils
    [[ -r /usr/include/stdio.h ]] || echo libc6-dev
    [[ -r /usr/include/libelf.h ]] || echo libelf-dev
}

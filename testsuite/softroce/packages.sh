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

# What must be installed on the host: looked for by the thing that is used, reported by the Debian package that brings
# it. Sourced by run.sh, build-kernel.sh and install-packages.sh.

# The Debian packages that boot the guest and serve what runs in it.
# shellcheck disable=SC2034 # used by the scripts that source this file
SOFTROCE_RUN_PACKAGES=(busybox-static iproute2 util-linux librpma0 libibverbs1 librdmacm1 ibverbs-providers
    ibverbs-utils rdmacm-utils)
# The Debian packages that build its kernel.
# shellcheck disable=SC2034
SOFTROCE_BUILD_PACKAGES=(linux-source-6.12 flex bison bc xz-utils gcc libc6-dev make libelf-dev)

SOFTROCE_SOURCE=/usr/src/linux-source-6.12.tar.xz

# Whether a command of that name is there, in PATH or in one of the system's folders that an unprivileged PATH leaves
# out.
softroce_has_command() {
    command -v "$1" > /dev/null || [[ -x /usr/sbin/$1 || -x /sbin/$1 ]]
}

# Whether one of the dynamic linker's usual folders has a file that matches the pattern.
softroce_has_library() {
    compgen -G "/usr/lib/$1" > /dev/null || compgen -G "/usr/lib/*-linux-gnu/$1" > /dev/null ||
        compgen -G "/usr/lib64/$1" > /dev/null || compgen -G "/usr/local/lib/$1" > /dev/null ||
        compgen -G "/usr/local/lib64/$1" > /dev/null || compgen -G "/usr/local/lib/*-linux-gnu/$1" > /dev/null
}

# Prints the packages without which the guest cannot run, one per line.
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

# Prints the packages without which the kernel cannot be built, one per line.
softroce_missing_build_packages() {
    local command
    [[ -r $SOFTROCE_SOURCE ]] || echo linux-source-6.12
    for command in flex bison bc gcc make; do
        softroce_has_command "$command" || echo "$command"
    done
    softroce_has_command xz || echo xz-utils
    [[ -r /usr/include/stdio.h ]] || echo libc6-dev
    [[ -r /usr/include/libelf.h ]] || echo libelf-dev
}

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

# Installs the Debian packages that run.sh needs: all of them, or with --run only those that a machine needs if the kernel is
# already in its cache. Other arguments are the names of additional packages. Continuous integration calls this script, and so do
# run.sh and build-kernel.sh if they are permitted to.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=packages.sh
. "$here/packages.sh"

packages=("${SOFTROCE_RUN_PACKAGES[@]}" "${SOFTROCE_BUILD_PACKAGES[@]}")
case ${1-} in
    --run)
        packages=("${SOFTROCE_RUN_PACKAGES[@]}")
        shift
        ;;
    -*)
        echo "usage: install-packages.sh [--run] [PACKAGE...]" >&2
        exit 2
        ;;
esac
packages+=("$@")
if ! command -v apt-get > /dev/null; then
    echo "install-packages.sh: there is no apt-get; install the packages of your distribution for these: ${packages[*]}" >&2
    exit 1
fi
if ((EUID != 0)); then
    echo "install-packages.sh: only root may install packages: sudo $here/install-packages.sh $*" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# A new container has no package lists, and an old one has outdated lists, so the lists are fetched if the first attempt fails.
apt-get install -y -q --no-install-recommends "${packages[@]}" ||
    { apt-get update -q && apt-get install -y -q --no-install-recommends "${packages[@]}"; }

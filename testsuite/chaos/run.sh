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

# Runs hostile processes next to verified traffic, which they must not affect. The processes are killed or stopped, forge
# messages or overwrite shared memory. The tests are built first if necessary. The script prints one table, and exits with 1
# unless nothing was lost, corrupted or leaked and no neighbour paused. `run.sh --help` lists the options.

set -euo pipefail

# shellcheck source=tools/launch.sh
. "$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")/tools/launch.sh"

launch testsuite/chaos -XX:+UseSerialGC -Xmx256m io.rpma.chaos.Chaos --logs "$launch_root/testsuite/chaos/target/logs" "$@"

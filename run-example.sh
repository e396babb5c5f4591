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

# Runs an example, which is built first if necessary. `./run-example.sh` lists the examples, and `./run-example.sh echo` runs
# one.

set -euo pipefail

# shellcheck source=tools/launch.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/tools/launch.sh"

# The serial collector and a small heap are sufficient, because the data path allocates almost nothing. protobuf-java calls
# sun.misc.Unsafe, and Java 25 prints a warning about this unless an option allows it. Netty runs without sun.misc.Unsafe, as it
# does by default on that Java version.
launch codec-examples --sun-misc-unsafe-memory-access=allow -Dio.netty.noUnsafe=true -XX:+UseSerialGC -Xmx256m \
    io.rpma.examples.Examples "$@"

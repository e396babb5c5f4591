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

# Measures Netty over RPMA and Netty's own transports for comparison. The benchmark is built first if necessary.
# `./run-benchmark.sh --quick` takes two minutes, `./run-benchmark.sh` takes longer, and `./run-benchmark.sh --help` lists the
# options. The report is written to benchmark/target/report. `./run-benchmark.sh provider` measures the provider's data path
# alone, with the options of JMH. `./run-benchmark.sh soak` sends 100 million messages back and forth and checks that none is
# lost and that the memory does not grow. `./run-benchmark.sh one-sided` measures reads, writes, flushes and atomic writes of
# another process's memory.

set -euo pipefail

# shellcheck source=tools/launch.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/tools/launch.sh"

case ${1-} in
    provider) launch benchmark io.rpma.benchmark.ProviderCosts "${@:2}" ;;
    soak) launch benchmark io.rpma.benchmark.Soak --logs "$launch_root/benchmark/target/soak" "${@:2}" ;;
    one-sided) launch benchmark io.rpma.benchmark.OneSidedBenchmark --report "$launch_root/benchmark/target/report" "${@:2}" ;;
    *) launch benchmark io.rpma.benchmark.Benchmark --report "$launch_root/benchmark/target/report" "$@" ;;
esac

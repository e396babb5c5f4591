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

# Builds the searchable Javadoc site of both libraries in target/javadoc. A warning makes it fail.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
readonly root
cd "$root"

java=$(tools/find-java.sh)
if [[ ! -f transport-rpma/target/test.classpath ]]; then
    mvn -B -q -DskipTests -pl transport-rpma -am package
fi
rm -rf target/javadoc
"$java/bin/javadoc" -quiet -notimestamp -use -Xdoclint:all,-missing -Werror --release 25 -encoding UTF-8 \
    -windowtitle 'Netty over RPMA' -doctitle 'Netty over RPMA' \
    --source-path transport-rpma-native/src/main/java:transport-rpma/src/main/java \
    --class-path "$(< transport-rpma/target/test.classpath)" \
    -d target/javadoc io.rpma io.rpma.netty
echo "target/javadoc/index.html"

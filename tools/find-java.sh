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

# Prints the folder of a Java installation that can run this project: the configured one if it is new enough, otherwise any
# installed one.

set -euo pipefail

readonly oldest=25

# Prints the feature release (25 for 25.0.1) of the JDK or JRE in a folder, or nothing if there is none.
release_of() {
    local line
    [[ -x $1/bin/java && -r $1/release ]] || return 0
    while IFS= read -r line; do
        if [[ $line =~ ^JAVA_VERSION=\"([0-9]+) ]]; then
            echo "${BASH_REMATCH[1]}"
            return 0
        fi
    done < "$1/release"
}

on_path=
if command -v java > /dev/null; then
    on_path=$(readlink -f "$(command -v java)")
    on_path=${on_path%/bin/java}
fi
by_toolchain=()
if [[ -r ~/.m2/toolchains.xml ]]; then
    mapfile -t by_toolchain < <(sed -n 's:.*<jdkHome>\(.*\)</jdkHome>.*:\1:p' ~/.m2/toolchains.xml)
fi
for folder in "${JAVA_HOME:-/none}" "${on_path:-/none}" ${by_toolchain[@]+"${by_toolchain[@]}"} /usr/lib/jvm/* /usr/java/* \
    /opt/java/* /opt/jdk* ~/.sdkman/candidates/java/* ~/.jdks/* ~/.local/share/mise/installs/java/* ~/.asdf/installs/java/*; do
    release=$(release_of "$folder")
    if [[ -n $release ]] && ((release >= oldest)); then
        echo "$folder"
        exit 0
    fi
done
echo "A JDK $oldest or newer is needed and none was found: not in JAVA_HOME (${JAVA_HOME:-unset}), not on the PATH" \
    "(${on_path:-no java}), not in /usr/lib/jvm, /usr/java, /opt, ~/.sdkman/candidates/java, ~/.jdks or ~/.m2/toolchains.xml." \
    "Install one there, or point JAVA_HOME at it." >&2
exit 1

/*
 * Copyright 2026 The Netty over RPMA Authors
 *
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with the
 * License. You may obtain a copy of the License at
 *
 *     https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on an
 * "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License.
 */
package io.rpma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that runs of {@code testsuite/softroce/run.sh} that start at the same time keep their control folders. */
@Timeout(240)
class ControlFolderTest {
    private static final Path SCRIPT = Documents.PROJECT.resolve("testsuite/softroce/control-folder.sh");

    @TempDir
    private Path parent;

    private Run bash(String commands) throws Exception {
        return Run.of(parent, List.of("bash", "-c", "set -euo pipefail; . \"$0\"; " + commands, SCRIPT.toString(),
            parent.toString()));
    }

    /** Without the lock of the parent folder, about every fifth folder was removed. */
    @Test
    void noRunRemovesTheFolderOfAnother() throws Exception {
        Run run = bash("""
            for round in {1..20}; do
                for i in {1..6}; do
                    (softroce_control_folder "$1"; sleep 0.02; [[ -f $control/lock ]] || echo "lost $control") &
                done
                wait
            done""");
        assertEquals("", run.output());
        assertEquals(0, run.code());
    }

    @Test
    void theFolderOfAnEndedRunIsRemoved() throws Exception {
        Run ended = bash("softroce_control_folder \"$1\"; echo $control");
        Path left = Path.of(ended.output().strip());
        assertEquals(parent, left.getParent());
        Run next = bash("softroce_control_folder \"$1\"; echo $control");
        assertFalse(Files.exists(left), next.output());
    }
}

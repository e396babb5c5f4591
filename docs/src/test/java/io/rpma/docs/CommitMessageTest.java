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
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the hook that checks commit messages. */
@Timeout(120)
class CommitMessageTest {
    @TempDir
    private Path folder;

    private Run check(String message) throws Exception {
        Path file = Files.writeString(folder.resolve("message"), message);
        return Run.of(folder, List.of(Documents.PROJECT.resolve("tools/hooks/commit-msg").toString(), file.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Fix lost wake-up when a loop goes to sleep\n", "Ping each path of an address\n\nBecause.\n",
        "# A comment of Git's\nBring the list up to date\n\nIt was not.\n# Another one\n", "Add a test without a last newline"})
    void whatIsWellFormedPasses(String message) throws Exception {
        assertEquals(new Run(0, ""), check(message));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        Added a test             | use the imperative
        Adding a test            | use the imperative
        Fixes a test             | use the imperative
        fix a test               | does not begin with a capital letter
        Fix a test.              | ends with a full stop
        Merge branch 'main'      | rebase the branch instead
        ''                       | is empty
        """)
    void whatIsNotIsNamed(String subject, String complaint) throws Exception {
        Run run = check(subject + "\n");
        assertEquals(1, run.code());
        assertTrue(run.output().contains(complaint), run::output);
        assertTrue(run.output().contains(subject), run::output);
    }

    @Test
    void theLengthOfASubjectIsLimited() throws Exception {
        assertEquals(0, check("F" + "x".repeat(71) + "\n").code());
        Run run = check("F" + "x".repeat(72) + "\n");
        assertEquals(1, run.code());
        assertTrue(run.output().contains("has 73 characters; at most 72 are allowed"), run::output);
    }

    @Test
    void anEmptyLineFollowsTheSubject() throws Exception {
        Run run = check("Fix a test\nbecause it failed.\n");
        assertEquals(1, run.code());
        assertTrue(run.output().contains("the second line is not empty"), run::output);
    }

    @Test
    void eachCommitOfARangeIsChecked() throws Exception {
        assertEquals(new Run(0, ""), git("init", "-q"));
        commit("Add a file");
        commit("Added a test");
        commit("Add a third one");
        assertEquals(new Run(0, ""), checkRange("HEAD~1..HEAD"));
        Run run = checkRange("HEAD");
        assertEquals(1, run.code());
        assertTrue(run.output().contains("use the imperative"), run::output);
        assertFalse(run.output().contains("third"), run::output);
    }

    @Test
    void aRangeThatDoesNotExistIsAnError() throws Exception {
        assertEquals(new Run(0, ""), git("init", "-q"));
        commit("Add a file");
        Run run = checkRange("none..HEAD");
        assertTrue(run.code() != 0, run::output);
        assertTrue(run.output().contains("none..HEAD"), run::output);
    }

    private Run checkRange(String range) throws Exception {
        return Run.of(folder, List.of(Documents.PROJECT.resolve("tools/hooks/commit-msg").toString(), "--range", range));
    }

    private void commit(String message) throws Exception {
        assertEquals(new Run(0, ""), git("-c", "user.name=A", "-c", "user.email=a@localhost", "-c", "commit.gpgSign=false",
            "commit", "-q", "--no-verify", "--allow-empty", "-m", message));
    }

    private Run git(String... arguments) throws Exception {
        return Run.of(folder, Stream.concat(Stream.of("git"), Stream.of(arguments)).toList());
    }
}

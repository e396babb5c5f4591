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
package io.rpma.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ListingTest {
    @Test
    void withoutANameTheExamplesAreListedWithALineEach() {
        StringWriter listing = new StringWriter();
        CommandLine examples = Examples.commandLine().setOut(new PrintWriter(listing));
        assertEquals(0, examples.execute());
        for (CommandLine example : examples.getSubcommands().values()) {
            String name = example.getCommandName();
            String description = example.getCommandSpec().usageMessage().description()[0];
            assertEquals(1, listing.toString().lines()
                .filter(line -> line.strip().matches(name + " +" + description)).count(), listing::toString);
        }
    }

    @Test
    void helpIsTheSameList() {
        StringWriter listing = new StringWriter();
        StringWriter help = new StringWriter();
        assertEquals(0, Examples.commandLine().setOut(new PrintWriter(listing)).execute());
        assertEquals(0, Examples.commandLine("--help").setOut(new PrintWriter(help)).execute("--help"));
        assertEquals(listing.toString(), help.toString());
    }

    /** Only the example that is run is loaded, so that the others do not delay its start. */
    @Test
    void anExampleThatIsNamedIsTheOnlyOneThatIsLookedInto() {
        Set<String> all = Examples.commandLine().getSubcommands().keySet();
        assertTrue(all.size() > 10, all::toString);
        for (String name : all) {
            assertEquals(Set.of(name), Examples.commandLine(name, "--help").getSubcommands().keySet());
        }
        assertEquals(all, Examples.commandLine("--help", "echo").getSubcommands().keySet());
    }

    @Test
    void anExampleThatIsNoneIsNamed() {
        StringWriter error = new StringWriter();
        assertEquals(2, Examples.commandLine("ecco").setErr(new PrintWriter(error)).execute("ecco"));
        assertTrue(error.toString().contains("'ecco'"), error::toString);
    }
}

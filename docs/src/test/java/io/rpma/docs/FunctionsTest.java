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
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the page for C programmers has the same functions as the package page of {@code io.rpma}, with the same members. */
class FunctionsTest {
    private static final Path SOURCES = Documents.PROJECT.resolve("transport-rpma-native/src/main/java/io/rpma");
    private static final Pattern OF_PACKAGE = Pattern.compile("<tr><td>\\{@code (rpma_\\w+)}</td><td>(.*?)</td></tr>");
    private static final Pattern LINK = Pattern.compile("\\{@link ([\\w.]+)#(\\w+)");
    private static final Pattern OF_PAGE = Pattern.compile("^\\| `(rpma_\\w+)` \\| (.*) \\|$", Pattern.MULTILINE);
    private static final Pattern MEMBER = Pattern.compile("\\[`([\\w.]+)\\.(\\w+)`]");

    private static TreeMap<String, Set<String>> rows(String text, Pattern row, Pattern member) {
        TreeMap<String, Set<String>> rows = new TreeMap<>();
        Matcher found = row.matcher(text);
        while (found.find()) {
            Set<String> members = new TreeSet<>();
            Matcher each = member.matcher(found.group(2));
            while (each.find()) {
                members.add(each.group(1) + "." + each.group(2));
            }
            assertTrue(!members.isEmpty(), found::group);
            rows.put(found.group(1), members);
        }
        return rows;
    }

    @Test
    void everyFunctionIsOnThePage() throws IOException {
        String packagePage = Files.readString(SOURCES.resolve("package-info.java")).replaceAll("\\n \\*\\s*", " ");
        TreeMap<String, Set<String>> functions = rows(packagePage, OF_PACKAGE, LINK);
        assertEquals(84, functions.size());
        assertEquals(functions,
            rows(Files.readString(Documents.FOLDER.resolve("rpma-for-c-programmers.md")), OF_PAGE, MEMBER));
    }
}

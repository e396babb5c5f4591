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
package io.rpma.librpma;

import io.rpma.Rpma;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Checks that every function that the installed library exports is bound, and has a row in the table of the package's
 * documentation.
 */
class FunctionTableTest {
    private static final Path PACKAGE_PAGE = module().resolve("src/main/java/io/rpma/package-info.java");
    private static final Pattern ROW = Pattern.compile("<tr><td>\\{@code (rpma_\\w+)}</td><td>(.*?)</td></tr>");
    private static final Pattern LINK = Pattern.compile("\\{@link (\\w+)#(\\w+)(?:\\(([^)]*)\\))?}");

    @Test
    void everyExportedFunctionIsBound() throws Exception {
        for (String function : exported()) {
            MethodHandle handle = null;
            for (Class<?> type : List.of(Librpma.class, LibrpmaDataPath.class)) {
                for (var field : type.getDeclaredFields()) {
                    if (field.getName().equals(function.substring("rpma_".length()).toUpperCase(Locale.ROOT))) {
                        handle = (MethodHandle) field.get(null);
                    }
                }
            }
            assertNotNull(handle, function + " is exported by the installed library and has no binding");
        }
    }

    @Test
    void everyExportedFunctionHasARow() throws Exception {
        TreeMap<String, List<String>> rows = rows();
        Set<String> exported = exported();
        Set<String> without = new TreeSet<>(exported);
        without.removeAll(rows.keySet());
        assertEquals(Set.of(), without, "exported by the installed library, without a row in " + PACKAGE_PAGE);
        Set<String> unknown = new TreeSet<>(rows.keySet());
        unknown.removeAll(exported);
        assertEquals(Set.of(), unknown, "in the table, but not exported by the installed library");
    }

    @Test
    void everyRowLinksExistingMembers() throws Exception {
        TreeMap<String, List<String>> rows = rows();
        assertEquals(84, rows.size());
        Set<String> members = new HashSet<>();
        rows.forEach((function, links) -> {
            assertTrue(!links.isEmpty(), function + " has no link");
            for (String link : links) {
                assertTrue(memberExists(link), function + " links " + link + ", which does not exist");
                members.add(link);
            }
        });
        // The bound functions and the documented functions are the same.
        assertEquals(new TreeSet<>(LibrpmaFunctions.names()), new TreeSet<>(rows.keySet()));
        assertTrue(members.size() > 80, "the links must not be the same few members repeatedly");
    }

    // Returns the folder of this module, regardless of the working directory. The tests are compiled to target/test-classes in
    // this folder.
    private static Path module() {
        try {
            return Path.of(FunctionTableTest.class.getProtectionDomain().getCodeSource().getLocation().toURI()).getParent()
                .getParent();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static Set<String> exported() throws Exception {
        Library.provider();
        Path library;
        // Returns the file that this process has loaded, regardless of where it was found.
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            library = maps.filter(line -> line.contains("/librpma.so")).map(line -> Path.of(line.substring(line.indexOf('/'))))
                .findFirst().orElseThrow(() -> new AssertionError("the library is loaded and not mapped"));
        }
        Set<String> exported = ElfSymbols.exportedFunctions(library).stream().filter(name -> name.startsWith("rpma_"))
            .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(exported.size() >= 84, library + " exports only " + exported);
        return exported;
    }

    private static TreeMap<String, List<String>> rows() throws IOException {
        String page = Files.readString(PACKAGE_PAGE).replaceAll("\\n \\*\\s*", " ");
        TreeMap<String, List<String>> rows = new TreeMap<>();
        Matcher row = ROW.matcher(page);
        while (row.find()) {
            List<String> links = LINK.matcher(row.group(2)).results().map(link -> link.group()).toList();
            assertEquals(null, rows.put(row.group(1), links), row.group(1) + " has two rows");
        }
        return rows;
    }

    private static boolean memberExists(String link) {
        Matcher parts = LINK.matcher(link);
        assertTrue(parts.matches(), link);
        Class<?> type;
        try {
            type = Class.forName(Rpma.class.getPackageName() + "." + parts.group(1));
        } catch (ClassNotFoundException e) {
            return false;
        }
        for (Method method : type.getMethods()) {
            String parameters = Arrays.stream(method.getParameterTypes()).map(FunctionTableTest::javadocName)
                .collect(Collectors.joining(", "));
            if (method.getName().equals(parts.group(2)) && (parts.group(3) == null || parts.group(3).equals(parameters))) {
                return true;
            }
        }
        return false;
    }

    private static String javadocName(Class<?> type) {
        return type.isMemberClass() ? type.getDeclaringClass().getSimpleName() + "." + type.getSimpleName()
            : type.getSimpleName();
    }
}

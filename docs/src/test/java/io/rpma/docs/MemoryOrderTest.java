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

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests that the fields, methods and fences in memory-order.md are those of the sources. */
class MemoryOrderTest {
    private static final Path FILE = Documents.FOLDER.resolve("memory-order.md");
    private static final Pattern ROW = Pattern.compile("^\\| (M\\d+) \\|(.*)$", Pattern.MULTILINE);
    /** A row, or an item of a list. */
    private static final Pattern PART = Pattern.compile("^\\| M\\d+ \\|.*$|^\\* .*$(?:\\n  .*$)*", Pattern.MULTILINE);
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern QUALIFIED = Pattern.compile("([A-Z]\\w*[a-z]\\w*)\\.(\\w+)");
    private static final Pattern BARE = Pattern.compile("[a-z]\\w*|[A-Z][A-Z_]+");
    /** A row of the table of fences: the place, the rows that it belongs to. */
    private static final Pattern FENCE = Pattern.compile("^\\| `(\\w+)(?:\\.(\\w+))?`([^|]*)\\| ((?:M\\d+|,| |to)+) \\|",
        Pattern.MULTILINE);
    private static final Pattern NAMED = Pattern.compile(
        "rows? ((?:M\\d+|,|\\s|and|to|\\*|//)+)of\\s[\\s*/]*docs/memory-order\\.md");
    private static final Pattern NUMBERS = Pattern.compile("M(\\d+)(?:\\s[\\s*/]*to\\s[\\s*/]*M(\\d+))?");
    /** Words in code font that are values, of Java, or functions of the kernel. */
    private static final Set<String> VALUES = Set.of("null", "false", "true", "sfence", "msync", "volatile", "BROKEN", "STARVED",
        "READY_TOP");

    /** The names of the fields and methods of each class; nested classes have entries of their own. */
    private static final Map<String, Set<String>> MEMBERS = new HashMap<>();
    /** For each method with full fences, the text from its comment to the last of them, one entry for each fence. */
    private static final Map<String, List<String>> FENCES = new TreeMap<>();

    /** The volatile and atomic fields, and those with a VarHandle, as {@code Class.field}. */
    private static final Set<String> SHARED = new TreeSet<>();

    private static String text;

    @BeforeAll
    static void read() throws IOException {
        text = Files.readString(FILE);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> sources = new ArrayList<>();
            for (String folder : List.of("soft", "software", "posix")) {
                try (Stream<Path> tree = Files.walk(Documents.PROJECT.resolve("transport-rpma-native/src/main/java/io/rpma")
                        .resolve(folder))) {
                    tree.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                }
            }
            JavacTask task = (JavacTask) compiler.getTask(null, files, null, null, null,
                files.getJavaFileObjectsFromPaths(sources));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new Scan(unit, positions).scan(unit, null);
            }
        }
    }

    private static final class Scan extends TreeScanner<Void, String> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final String source;
        private String type;
        private long after;

        Scan(CompilationUnitTree unit, SourcePositions positions) throws IOException {
            this.unit = unit;
            this.positions = positions;
            source = unit.getSourceFile().getCharContent(true).toString();
        }

        @Override
        public Void visitClass(ClassTree tree, String method) {
            String outer = type;
            if (!tree.getSimpleName().isEmpty()) {
                type = tree.getSimpleName().toString();
                Set<String> members = MEMBERS.computeIfAbsent(type, name -> new TreeSet<>());
                after = positions.getStartPosition(unit, tree);
                for (Tree member : tree.getMembers()) {
                    if (member instanceof VariableTree field) {
                        members.add(field.getName().toString());
                        if (field.getModifiers().getFlags().contains(Modifier.VOLATILE)
                            || field.getType().toString().startsWith("Atomic")) {
                            SHARED.add(type + '.' + field.getName());
                        }
                    } else if (member instanceof MethodTree each) {
                        members.add(each.getName().toString());
                    }
                    scan(member, method);
                    after = positions.getEndPosition(unit, member);
                }
                type = outer;
                return null;
            }
            return super.visitClass(tree, method);
        }

        @Override
        public Void visitMethod(MethodTree tree, String method) {
            return super.visitMethod(tree, tree.getName().toString());
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree tree, String method) {
            if (tree.getMethodSelect().toString().endsWith("findVarHandle")) {
                String owner = tree.getArguments().getFirst().toString();
                String field = tree.getArguments().get(1).toString();
                SHARED.add(owner.substring(0, owner.indexOf('.')) + '.' + field.substring(1, field.length() - 1));
            }
            if (tree.getMethodSelect().toString().equals("Memory.fullFence")) {
                FENCES.computeIfAbsent(type + '.' + method, name -> new ArrayList<>())
                    .add(source.substring((int) after, (int) positions.getStartPosition(unit, tree)));
            }
            return super.visitMethodInvocation(tree, method);
        }
    }

    /** A name without a class belongs to a class that its row names. */
    @Test
    void everyFieldAndEveryMethodIsThere() {
        Set<String> wrong = new TreeSet<>();
        Set<String> rows = new TreeSet<>();
        Matcher row = ROW.matcher(text);
        while (row.find()) {
            rows.add(row.group(1));
            Set<String> inRow = new TreeSet<>();
            Matcher type = Pattern.compile("\\b[A-Z]\\w*[a-z]\\w*").matcher(row.group(2));
            while (type.find()) {
                inRow.addAll(MEMBERS.getOrDefault(type.group(), Set.of()));
            }
            Matcher code = CODE.matcher(row.group(2));
            while (code.find()) {
                String name = code.group(1);
                Matcher qualified = QUALIFIED.matcher(name);
                if (qualified.matches()) {
                    if (!MEMBERS.getOrDefault(qualified.group(1), Set.of()).contains(qualified.group(2))) {
                        wrong.add(row.group(1) + ": " + name);
                    }
                } else if (BARE.matcher(name).matches() && !VALUES.contains(name) && !inRow.contains(name)) {
                    wrong.add(row.group(1) + ": " + name);
                } else if (name.matches("[A-Z]\\w*[a-z]\\w*") && !MEMBERS.containsKey(name) && !name.endsWith("Stress")) {
                    wrong.add(row.group(1) + ": " + name);
                }
            }
        }
        assertTrue(rows.size() >= 60, rows::toString);
        assertEquals(Set.of(), wrong);
    }

    /** Each row, and each item of the list of fields that order nothing else, names classes and their fields. */
    @Test
    void everyVolatileFieldIsThere() {
        Set<String> listed = new TreeSet<>();
        Matcher part = PART.matcher(text);
        while (part.find()) {
            Set<String> types = new TreeSet<>();
            Set<String> names = new TreeSet<>();
            Matcher code = CODE.matcher(part.group());
            while (code.find()) {
                Matcher qualified = QUALIFIED.matcher(code.group(1));
                if (qualified.matches()) {
                    listed.add(code.group(1));
                } else {
                    names.add(code.group(1));
                }
            }
            Matcher type = Pattern.compile("\\b[A-Z]\\w*[a-z]\\w*").matcher(part.group());
            while (type.find()) {
                types.add(type.group());
            }
            for (String each : types) {
                Set<String> members = MEMBERS.getOrDefault(each, Set.of());
                names.stream().filter(members::contains).forEach(name -> listed.add(each + '.' + name));
            }
        }
        Set<String> missing = new TreeSet<>(SHARED);
        missing.removeAll(listed);
        assertTrue(SHARED.size() >= 60, SHARED::toString);
        assertEquals(Set.of(), missing);
    }

    @Test
    void everyFenceIsListedWithTheRowsThatItsCommentNames() {
        Map<String, Integer> counts = new TreeMap<>();
        Map<String, Set<Integer>> listed = new TreeMap<>();
        Matcher fence = FENCE.matcher(text.substring(text.indexOf("| Fence | Rows |")));
        while (fence.find()) {
            String place = fence.group(2) != null ? fence.group(1) + '.' + fence.group(2) : FENCES.keySet().stream()
                .filter(each -> each.startsWith(fence.group(1) + '.')).findFirst().orElse(fence.group(1));
            counts.merge(place, fence.group(3).contains("two") ? 2 : 1, Integer::sum);
            listed.computeIfAbsent(place, name -> new TreeSet<>()).addAll(numbers(fence.group(4)));
        }
        Map<String, Integer> existing = new TreeMap<>();
        Map<String, Set<Integer>> named = new TreeMap<>();
        FENCES.forEach((place, texts) -> {
            existing.put(place, texts.size());
            Set<Integer> numbers = named.computeIfAbsent(place, name -> new TreeSet<>());
            Matcher comment = NAMED.matcher(texts.getLast());
            while (comment.find()) {
                numbers.addAll(numbers(comment.group(1)));
            }
        });
        assertEquals(existing, counts);
        assertEquals(named, listed);
    }

    private static Set<Integer> numbers(String rows) {
        Set<Integer> numbers = new TreeSet<>();
        Matcher number = NUMBERS.matcher(rows);
        while (number.find()) {
            int first = Integer.parseInt(number.group(1));
            int last = number.group(2) == null ? first : Integer.parseInt(number.group(2));
            for (int i = first; i <= last; i++) {
                numbers.add(i);
            }
        }
        return numbers;
    }
}

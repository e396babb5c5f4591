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

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests how many classes of one package refer to each other, directly or through others: none of them can be understood without
 * all the others.
 */
@Timeout(300)
class KnotsTest {
    private static final int LARGEST = 4;
    /** The interfaces of {@code io.rpma} are the objects of librpma, which create each other. */
    private static final Set<String> ALLOWED = Set.of("io.rpma");

    /** The classes with a source file of their own, and those of the same package that each of them refers to. */
    private static Map<String, Set<String>> references() {
        Map<String, Set<String>> all = new TreeMap<>();
        for (JavaClass type : new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.rpma")) {
            Set<String> ofType = all.computeIfAbsent(sourceOf(type), name -> new TreeSet<>());
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass target = dependency.getTargetClass().getBaseComponentType();
                if (target.getPackageName().equals(type.getPackageName())) {
                    ofType.add(sourceOf(target));
                }
            }
        }
        return all;
    }

    private static String sourceOf(JavaClass type) {
        JavaClass outermost = type;
        while (outermost.getEnclosingClass().isPresent()) {
            outermost = outermost.getEnclosingClass().get();
        }
        return outermost.getName();
    }

    private static Set<String> reachable(String from, Map<String, Set<String>> references) {
        Set<String> reached = new TreeSet<>();
        Deque<String> left = new ArrayDeque<>(List.of(from));
        while (!left.isEmpty()) {
            for (String next : references.getOrDefault(left.pop(), Set.of())) {
                if (reached.add(next)) {
                    left.push(next);
                }
            }
        }
        return reached;
    }

    @Test
    void noMoreThanFourClassesOfAPackageReferToEachOther() {
        Map<String, Set<String>> references = references();
        assertTrue(references.size() > 300, references.size() + " classes were found");
        Map<String, Set<String>> reachable = new TreeMap<>();
        references.keySet().forEach(type -> reachable.put(type, reachable(type, references)));
        List<Set<String>> tooLarge = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        reachable.forEach((type, targets) -> {
            Set<String> knot = new TreeSet<>(targets);
            knot.removeIf(other -> !reachable.getOrDefault(other, Set.of()).contains(type));
            if (seen.add(type) && knot.size() > LARGEST && !ALLOWED.contains(type.substring(0, type.lastIndexOf('.')))) {
                tooLarge.add(knot);
            }
            seen.addAll(knot);
        });
        assertEquals(List.of(), tooLarge);
    }
}

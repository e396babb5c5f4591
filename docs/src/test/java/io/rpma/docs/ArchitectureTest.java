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

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.rpma.AddressRange;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the drawing in {@code ARCHITECTURE.md}, which shows which package may depend on which, and further rules for all classes.
 */
@Timeout(300)
class ArchitectureTest {
    private static final String[] PROVIDERS = {"io.rpma.librpma", "io.rpma.soft..", "io.rpma.tcp"};
    private static final String[] BELOW_PROVIDERS = {"io.rpma.posix", "io.rpma.software"};
    private static final SliceAssignment PACKAGES_OF_THE_TRANSPORT = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String name = type.getPackageName();
            return (name + ".").startsWith("io.rpma.netty.") ? SliceIdentifier.of(name) : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "the packages of the transport";
        }
    };
    private static final SliceAssignment CLASSES_OF_SOFT = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return type.getPackageName().equals("io.rpma.soft") ? SliceIdentifier.of(type.getName().split("\\$")[0])
                : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "the classes of io.rpma.soft, each with its nested ones";
        }
    };
    private static final Pattern MAIN_SOURCE = Pattern.compile(".*/src/main/(java|module)/.*\\.java");
    private static final JavaClasses ALL =
        new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.rpma");

    @Test
    void theTransportNamesNoProvider() {
        noClasses().that().resideInAPackage("io.rpma.netty..").should()
            .dependOnClassesThat(resideInAnyPackage(PROVIDERS).or(resideInAnyPackage(BELOW_PROVIDERS)))
            .because("it uses every provider through io.rpma only").check(ALL);
    }

    /** Packages that depend on each other in a cycle cannot be understood one at a time. */
    @Test
    void thePackagesOfTheTransportHaveNoCycle() {
        slices().assignedFrom(PACKAGES_OF_THE_TRANSPORT).should().beFreeOfCycles().check(ALL);
        noClasses().that().resideInAPackage("io.rpma.netty.*..").should().dependOnClassesThat().resideInAPackage("io.rpma.netty")
            .because("io.rpma.netty consists of them").check(ALL);
    }

    @Test
    void onlyTheTransportUsesItsInternalPackages() {
        noClasses().that().resideOutsideOfPackage("io.rpma.netty..").should()
            .dependOnClassesThat().resideInAPackage("io.rpma.netty.*..")
            .because("the module exports only io.rpma.netty").check(ALL);
    }

    @Test
    void theProvidersDoNotKnowNetty() {
        noClasses().that().resideInAnyPackage(PROVIDERS).or().resideInAnyPackage(BELOW_PROVIDERS)
            .or().resideInAPackage("io.rpma").should()
            .dependOnClassesThat().resideInAnyPackage("io.netty..", "io.rpma.netty..")
            .because("RPMA for Java can be used without Netty").check(ALL);
    }

    @Test
    void theProvidersDoNotKnowEachOther() {
        for (String provider : PROVIDERS) {
            for (String other : PROVIDERS) {
                if (!provider.equals(other)) {
                    noClasses().that().resideInAPackage(provider).should().dependOnClassesThat().resideInAPackage(other)
                        .because("code that two providers share is in io.rpma.software or io.rpma.posix").check(ALL);
                }
            }
        }
    }

    @Test
    void theChoiceOfAProviderIsInOnePlace() {
        noClasses().that().resideInAPackage("io.rpma").and(not(belongTo(equivalentTo(Rpma.class)))).should()
            .dependOnClassesThat().resideInAnyPackage(PROVIDERS)
            .because("Rpma chooses the provider, and the other types of io.rpma are what providers implement").check(ALL);
    }

    @Test
    void whatSoftAndTcpShareKnowsNeither() {
        classes().that().resideInAPackage("io.rpma.software").should()
            .onlyDependOnClassesThat(resideInAnyPackage("io.rpma", "io.rpma.software", "io.rpma.posix", "java..", "org.slf4j"))
            .because("io.rpma.software is below both").check(ALL);
    }

    @Test
    void thePackagesOfSoftHaveNoCycle() {
        slices().matching("io.rpma.(**)").namingSlices("$1").should().beFreeOfCycles()
            .because("each can be understood together with those below it only")
            .check(ALL.that(resideInAPackage("io.rpma.soft..")));
        noClasses().that().resideInAPackage("io.rpma.soft.*..").should().dependOnClassesThat().resideInAPackage("io.rpma.soft")
            .because("io.rpma.soft is above its sub-packages").check(ALL);
    }

    /** A class is understood with those below it, as the table of the layers has them, only if none of these needs it too. */
    @Test
    void theClassesOfSoftHaveNoCycle() {
        slices().assignedFrom(CLASSES_OF_SOFT).should().beFreeOfCycles().check(ALL);
    }

    @Test
    void softAloneUsesItsPackages() {
        noClasses().that().resideOutsideOfPackage("io.rpma.soft..").should()
            .dependOnClassesThat().resideInAPackage("io.rpma.soft.*..")
            .because("their classes are only public for the other packages of soft").check(ALL);
    }

    @Test
    void systemCallsKnowOfRpmaTheExceptionsAlone() {
        noClasses().that().resideInAPackage("io.rpma.posix").should()
            .dependOnClassesThat(resideInAPackage("io.rpma..").and(not(resideInAPackage("io.rpma.posix")))
                .and(not(equivalentTo(RpmaException.class))).and(not(equivalentTo(RpmaError.class)))
                .and(not(equivalentTo(RpmaUnavailableException.class))).and(not(equivalentTo(AddressRange.class))))
            .because("io.rpma.posix binds the C library, and uses only the errors and the address ranges of RPMA")
            .check(ALL);
    }

    @Test
    void programsUseWhatUsersUse() {
        noClasses().that().resideInAnyPackage("io.rpma.examples", "io.rpma.vertx", "io.rpma.reactor").should()
            .dependOnClassesThat(resideInAnyPackage(PROVIDERS).or(resideInAnyPackage(BELOW_PROVIDERS)))
            .because("an application uses only io.rpma and io.rpma.netty").check(ALL);
    }

    /** A class that needs more lines has more than one task. */
    @Test
    void noSourceFileHasMoreThanFiveHundredLines() throws IOException {
        List<String> tooLong = new ArrayList<>();
        int files = 0;
        try (Stream<Path> found = Files.walk(Documents.PROJECT)) {
            for (Path file : (Iterable<Path>) found.filter(each -> MAIN_SOURCE.matcher(each.toString()).matches())::iterator) {
                files++;
                long lines = Files.readAllLines(file).size();
                if (lines > 500) {
                    tooLong.add(Documents.PROJECT.relativize(file) + " has " + lines + " lines");
                }
            }
        }
        assertTrue(files > 300, files + " files were found: the pattern is outdated");
        assertEquals(List.of(), tooLong);
    }
}

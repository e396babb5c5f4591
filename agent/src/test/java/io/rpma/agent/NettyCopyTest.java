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

package io.rpma.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which copies of Netty the agent leaves as they are, by jar files that contain only what the agent looks at. */
class NettyCopyTest {
    private static final String NETTY = "io/netty/";
    private static final String VERSIONS = "META-INF/io.netty.versions.properties";

    @TempDir
    private Path folder;
    private int jars;

    /** Creates a jar file of Netty 4.2 with this file of versions, or without such a file if it is {@code null}. */
    private URL jar(String root, String versions) throws IOException {
        Path jar = Files.createDirectory(folder.resolve("folder-" + ++jars)).resolve("application.jar");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new ZipEntry(root + "bootstrap/AbstractBootstrap.class"));
            out.putNextEntry(new ZipEntry(root + "channel/IoHandlerFactory.class"));
            if (versions != null) {
                out.putNextEntry(new ZipEntry(VERSIONS));
                out.write(versions.getBytes(StandardCharsets.ISO_8859_1));
            }
        }
        return jar.toUri().toURL();
    }

    private String reasonAgainst(String versions) throws IOException {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {jar(NETTY, versions)}, null)) {
            return NettyCopy.reasonAgainst(loader, "io.netty");
        }
    }

    private static String left(String version, String root) {
        return "Netty " + version + " in the package " + root + " (application.jar) is left as it is: RPMA needs Netty "
            + "4.2.13.Final or newer";
    }

    private static String left(String version) {
        return left(version, "io.netty");
    }

    @Test
    void theVersionOfTheTransportCounts() throws Exception {
        assertEquals(left("4.2.12.Final"), reasonAgainst("netty-transport.version=4.2.12.Final\n"));
        assertEquals(left("4.2.12.Final"),
            reasonAgainst("netty-buffer.version=4.2.13.Final\nnetty-transport.version=4.2.12.Final\n"));
        assertNull(reasonAgainst("netty-transport.version=4.2.13.Final\n"));
        assertNull(reasonAgainst("netty-buffer.version=4.2.12.Final\nnetty-transport.version=4.2.13.Final\n"));
    }

    /** Of the files of all modules, a jar file that combines the modules has only one. */
    @ParameterizedTest
    @ValueSource(strings = {"netty-buffer", "netty-common", "netty-codec-base", "netty-handler", "netty-resolver",
        "netty-transport-native-unix-common"})
    void theVersionOfAnotherModuleCountsIfThereIsNoneOfTheTransport(String module) throws Exception {
        assertEquals(left("4.2.4.Final"), reasonAgainst(module + ".version=4.2.4.Final\n" + module + ".shortCommitHash=0\n"));
        assertNull(reasonAgainst(module + ".version=4.2.17.Final\n"));
    }

    @Test
    void theVersionsOfLibrariesThatAreReleasedSeparatelyDoNotCount() throws Exception {
        String others = "netty-incubator-codec-classes-quic.version=0.0.70.Final\nnetty-tcnative-classes.version=2.0.70.Final\n";
        assertNull(reasonAgainst(others));
        assertEquals(left("4.2.4.Final"), reasonAgainst(others + "netty-resolver.version=4.2.4.Final\n"));
    }

    @Test
    void aCopyWithoutAVersionIsTakenForANewOne() throws Exception {
        assertNull(reasonAgainst(null));
        assertNull(reasonAgainst("# nothing\n"));
    }

    /** The jar files of other copies on the class path say nothing about this one. */
    @Test
    void onlyTheFileNextToTheClassesCounts() throws Exception {
        URL[] path = {jar("other/io/netty/", "netty-transport.version=4.2.4.Final\n"),
            jar(NETTY, "netty-common.version=4.2.17.Final\n")};
        try (URLClassLoader loader = new URLClassLoader(path, null)) {
            assertNull(NettyCopy.reasonAgainst(loader, "io.netty"));
            assertEquals(left("4.2.4.Final", "other.io.netty"), NettyCopy.reasonAgainst(loader, "other.io.netty"));
        }
    }
}

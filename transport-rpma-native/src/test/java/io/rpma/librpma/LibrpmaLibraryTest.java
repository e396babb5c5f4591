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

import io.rpma.Device;
import io.rpma.Rpma;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.RpmaUnavailableException;
import io.rpma.posix.Posix;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Tests the messages about what a machine may lack. */
class LibrpmaLibraryTest {
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "rpma_conn_completion_get | librpma 0.9",
        "rpma_conn_completion_get rpma_cq_get_completion | librpma 0.10",
        "rpma_cq_get_completion rpma_cq_get_wc | librpma 0.11",
        "rpma_cq_get_wc | librpma 0.12",
        "rpma_cq_get_wc rpma_atomic_write rpma_write_atomic | librpma 0.13",
        "rpma_cq_get_wc rpma_atomic_write | librpma 0.14",
        "printf | not librpma",
    })
    void tellsTheReleasesApart(String symbols, String found) {
        Set<String> has = Set.of(symbols.split(" "));
        RpmaUnavailableException e = assertThrows(RpmaUnavailableException.class,
            () -> LibrpmaLibrary.refuseOld("/opt/librpma.so.0", has::contains));
        assertTrue(e.getMessage().startsWith("the library /opt/librpma.so.0 is " + found), e.getMessage());
        assertTrue(e.getMessage().contains("librpma 1.0 or newer is needed"), e.getMessage());
        assertTrue(e.getMessage().contains("librpma0"), e.getMessage());
    }

    @Test
    void takesAnyReleaseSince10() {
        LibrpmaLibrary.refuseOld("librpma.so.0", Set.of("rpma_conn_wait", "rpma_atomic_write", "rpma_cq_get_wc")::contains);
        LibrpmaLibrary.refuseIncomplete("librpma.so.0", LibrpmaFunctions.names(), symbol -> true);
    }

    @Test
    void anOldLibraryIsRefusedBeforeAnythingIsBound() throws Exception {
        Path library = compile("void rpma_cq_get_wc(void) {} void rpma_atomic_write(void) {} void rpma_write_atomic(void) {}");
        ForkedJvm jvm = ForkedJvm.run(Choose.class, NATIVE, "-Dio.rpma.provider=librpma", "-Dio.rpma.library=" + library);
        jvm.assertOutputContains("-Dio.rpma.provider=librpma was asked for, but the library " + library + " is librpma 0.13",
            "librpma 1.0 or newer is needed", "-Dio.rpma.provider=soft");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    @Test
    void aLibraryThatLacksFunctionsIsRefused() throws Exception {
        Path library = compile("void rpma_conn_wait(void) {}");
        ForkedJvm jvm = ForkedJvm.run(Choose.class, NATIVE, "-Dio.rpma.provider=librpma", "-Dio.rpma.library=" + library);
        jvm.assertOutputContains("looks like librpma 1.x, but does not have ", "rpma_cq_get_wc", "rpma_peer_new");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    @Test
    void aLibraryThatIsNotThereIsNamed() throws Exception {
        ForkedJvm jvm = ForkedJvm.run(Choose.class, NATIVE, "-Dio.rpma.provider=librpma", "-Dio.rpma.library=/nonexistent");
        jvm.assertOutputContains("the library /nonexistent could not be loaded: there is no such library", "librpma0",
            "-Dio.rpma.library=<path>");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    @Test
    void aFileThatIsNoLibraryIsNamed() throws Exception {
        Path text = Files.writeString(folder.resolve("librpma.so.0"), "not a library");
        ForkedJvm jvm = ForkedJvm.run(Choose.class, NATIVE, "-Dio.rpma.provider=librpma", "-Dio.rpma.library=" + text);
        jvm.assertOutputContains("the file exists, but is not a library for this machine");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "librpma", "soft"})
    void aJvmWithoutNativeAccessIsToldTheFlag(String provider) throws Exception {
        ForkedJvm jvm = ForkedJvm.run(Choose.class, "--illegal-native-access=deny", "-Dio.rpma.provider=" + provider);
        jvm.assertOutputContains("this JVM refuses native access to the class path; start it with"
            + " --enable-native-access=ALL-UNNAMED");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    @Test
    void onTheModulePathTheFlagNamesTheModule() throws Exception {
        Path classes = Path.of(Rpma.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path logging = Path.of(LoggerFactory.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path tests = Path.of(Choose.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Assumptions.assumeTrue(Files.isRegularFile(classes) || Files.exists(classes.resolve("module-info.class")),
            "the classes were compiled without their module declaration");
        ForkedJvm jvm = ForkedJvm.run(Choose.class, "--illegal-native-access=deny", "-Dio.rpma.provider=soft",
            "--module-path", classes + ":" + logging, "--patch-module", "io.rpma=" + tests, "--module",
            "io.rpma/" + Choose.class.getName());
        jvm.assertOutputContains("this JVM refuses native access to the module io.rpma; start it with"
            + " --enable-native-access=io.rpma");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    @Test
    void theFirstTouchOfTheCLibraryTellsTheFlagToo() throws Exception {
        ForkedJvm jvm = ForkedJvm.run(TouchPosix.class, "--illegal-native-access=deny");
        jvm.assertOutputContains("this JVM refuses native access to the class path; start it with"
            + " --enable-native-access=ALL-UNNAMED");
        assertEquals(1, jvm.exitCode(), jvm.output());
    }

    @Test
    void withoutADeviceThereAreNoneAndTheCauseSaysSo() throws Exception {
        RpmaProvider provider = Library.provider();
        List<Device> devices = provider.devices();
        Assumptions.assumeTrue(devices.isEmpty(), "this machine has a device: " + devices);
        assertTrue(Rpma.unavailabilityCause().getMessage().contains("no usable RDMA device was found"));
        UnsatisfiedLinkError error = assertThrows(UnsatisfiedLinkError.class, Rpma::ensureAvailability);
        assertTrue(error.getMessage().contains("rdma link"), error.getMessage());
        for (String address : new String[] {"127.0.0.1", "::1", "0.0.0.0", "::", "192.0.2.1"}) {
            RpmaException e = assertThrows(RpmaException.class, () -> provider.localDevice(InetAddress.getByName(address)));
            assertEquals(RpmaError.PROVIDER, e.error());
            assertEquals(Posix.ENODEV, e.errno(), e.getMessage());
        }
        LibrpmaConfigTest.assertRefused(RpmaError.PROVIDER, "no usable RDMA device",
            () -> provider.reachable(InetAddress.getLoopbackAddress()));
        assertEquals(InetAddress.getByName("192.0.2.1"), provider.reachable(InetAddress.getByName("192.0.2.1")));
        LibrpmaConfigTest.assertRefused(RpmaError.INVALID, "the address is null", () -> provider.reachable(null));
        LibrpmaConfigTest.assertRefused(RpmaError.INVALID, "the address is null", () -> provider.localDevice(null));
        LibrpmaConfigTest.assertRefused(RpmaError.INVALID, "the address is null", () -> provider.remoteDevice(null));
    }

    @Test
    void askedForByNameWithoutADeviceItSaysWhatIsMissing() throws Exception {
        RpmaProvider provider = Library.provider();
        Assumptions.assumeTrue(provider.devices().isEmpty(), "this machine has a device");
        ForkedJvm jvm = ForkedJvm.run(Choose.class, NATIVE, "-Dio.rpma.provider=librpma");
        jvm.assertOutputContains("-Dio.rpma.provider=librpma was asked for, but no usable RDMA device was found (the library is"
            + " librpma 1.x", "-Dio.rpma.provider=soft needs neither library nor device");
        assertEquals(7, jvm.exitCode(), jvm.output());
    }

    private Path compile(String source) throws Exception {
        Path file = Files.writeString(folder.resolve("fake.c"), source);
        Path library = folder.resolve("libfake.so");
        Process gcc;
        try {
            gcc = new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", library.toString(), file.toString()).inheritIO().start();
        } catch (IOException e) {
            Assumptions.abort("no gcc to make a library with: " + e.getMessage());
            return null;
        }
        assertTrue(gcc.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, gcc.exitValue());
        return library;
    }

    private static final class Choose {
        public static void main(String[] args) {
            try {
                System.out.println("provider: " + Rpma.provider().name());
            } catch (RpmaUnavailableException e) {
                System.out.println(e.getMessage());
                System.exit(7);
            }
        }
    }

    private static final class TouchPosix {
        public static void main(String[] args) {
            System.out.println(Posix.PAGE_SIZE);
        }
    }
}

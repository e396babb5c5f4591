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
package io.rpma.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.Gson;
import io.rpma.Rpma;
import io.rpma.cli.Report.Remedy;
import java.io.File;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class InfoTest {
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";
    private static final ProcessBuilder.Redirect FULL_DISK = ProcessBuilder.Redirect.to(new File("/dev/full"));

    private static Report report(CliRun run) {
        assertEquals("", run.error());
        return new Gson().fromJson(run.out(), Report.class);
    }

    @Test
    void tellsWhatThisMachineGets() throws Exception {
        Report report = report(CliRun.of(List.of(NATIVE), Map.of(), "info", "--json").ended(0));
        assertEquals("auto", report.provider().wish());
        assertEquals("the default", report.provider().wishedBy());
        assertEquals(Rpma.isAvailable() ? "librpma" : "soft", report.provider().name());
        assertEquals(Rpma.library().isPresent(), report.library().version() != null, report.library()::toString);
        assertEquals(Rpma.isAvailable(), report.library().problem() == null, report.library()::toString);
        assertEquals("granted", report.nativeAccess().state());
        Report.UsableDevice best = report.provider().devices().getFirst();
        assertTrue(best.maxQueuePairs() > 0 && best.maxMessageBytes() > 0 && !best.addresses().isEmpty(), best::toString);
        if (Rpma.isAvailable()) {
            Report.RdmaDevice device = report.devices().stream().filter(each -> each.name().equals(best.name())).findFirst()
                .orElseThrow();
            assertEquals(true, device.usable());
            Report.Port port = device.ports().getFirst();
            assertEquals("ACTIVE", port.state());
            assertTrue(!port.gids().isEmpty() && !port.networkInterfaces().isEmpty(), port::toString);
            assertTrue(best.addresses().containsAll(port.addresses()), best.addresses() + " and " + port.addresses());
            assertTrue(report.files().stream().allMatch(Report.DeviceFile::accessible), report.files()::toString);
            assertTrue(report.missing().isEmpty() || report.missing().getFirst().what().contains("locked"),
                report.missing()::toString);
        } else {
            assertEquals("librpma cannot be used: " + Rpma.unavailabilityCause().getMessage(), report.provider().reason());
            assertTrue(!report.missing().isEmpty());
        }
    }

    @Test
    void isWrittenForPeople() throws Exception {
        CliRun run = CliRun.of(List.of(NATIVE), Map.of("RPMA_PROVIDER", "soft"), "info").ended(0);
        assertTrue(run.out().startsWith("provider         soft: software RDMA"), run::out);
        assertTrue(run.out().contains("wish: soft (the variable RPMA_PROVIDER)"), run::out);
        assertTrue(run.out().contains("device soft at "), run::out);
        assertTrue(run.out().contains("native access    granted by " + NATIVE), run::out);
        assertEquals("", run.error());
    }

    @Test
    void withoutTheLibraryItTellsHowToGetIt() throws Exception {
        List<String> without = List.of(NATIVE, "-Dio.rpma.library=/nowhere/librpma.so.0");
        Report report = report(CliRun.of(without, Map.of(), "info", "--json").ended(0));
        assertEquals("soft", report.provider().name());
        assertNull(report.library().version());
        assertNull(report.library().path());
        assertNotNull(report.library().problem());
        Remedy remedy = report.missing().getFirst();
        assertTrue(remedy.what().startsWith("librpma 1.0 or newer (/nowhere/librpma.so.0"), remedy::toString);
        assertTrue(remedy.command().contains("rpma"), remedy::toString);

        Report insisted = report(CliRun.of(without, Map.of(), "info", "--json", "--provider", "librpma").ended(1));
        assertNull(insisted.provider().name());
        assertEquals("--provider", insisted.provider().wishedBy());
        assertTrue(insisted.provider().reason().contains("/nowhere/librpma.so.0"), insisted.provider()::reason);
    }

    @Test
    void aLibraryThatIsAnotherIsNotTakenForIt() throws Exception {
        CliRun run = CliRun.of(List.of(NATIVE, "-Dio.rpma.library=libc.so.6"), Map.of(), "info", "--json").ended(0);
        Report report = report(run);
        assertNull(report.library().version());
        assertTrue(report.library().path().endsWith("libc.so.6"), report.library()::toString);
        assertTrue(report.library().problem().contains("not librpma"), report.library()::toString);
    }

    @Test
    void withoutNativeAccessItNamesTheFlag() throws Exception {
        Report report = report(CliRun.of(List.of("--illegal-native-access=deny"), Map.of(), "info", "--json").ended(1));
        assertNull(report.provider().name());
        assertEquals("refused", report.nativeAccess().state());
        assertEquals("java " + NATIVE + " ...", report.missing().getFirst().command());
        assertTrue(report.provider().reason().contains(NATIVE), report.provider()::reason);
    }

    @Test
    void aProviderThatIsNoneIsAnError() throws Exception {
        Report report = report(CliRun.of(List.of(NATIVE), Map.of("RPMA_PROVIDER", "hard"), "info", "--json").ended(1));
        assertEquals("RPMA_PROVIDER is 'hard'; it must be one of auto, librpma, soft, tcp", report.provider().reason());
        Report both = report(CliRun.of(List.of(NATIVE, "-Dio.rpma.provider=none"), Map.of("RPMA_PROVIDER", "hard"), "info",
            "--json").ended(1));
        assertEquals("-Dio.rpma.provider is 'none'; it must be one of auto, librpma, soft, tcp", both.provider().reason());
        Report insisted = report(CliRun.of(List.of(NATIVE, "-Dio.rpma.library=/nowhere/librpma.so.0"),
            Map.of("RPMA_PROVIDER", "librpma"), "info", "--json").ended(1));
        assertTrue(insisted.provider().reason().startsWith("RPMA_PROVIDER=librpma was asked for, but "),
            insisted.provider()::reason);
        CliRun option = CliRun.of(List.of(NATIVE), Map.of(), "info", "--json", "--provider", "hard").ended(2);
        assertTrue(option.error().contains("'hard' is not a provider; the providers are: [auto, librpma, soft, tcp]"),
            option::error);
        CliRun number = CliRun.of(List.of(NATIVE), Map.of(), "info", "--timeout", "x").ended(2);
        assertTrue(number.error().contains("--timeout x: 1 to 2147483"), number::error);
    }

    @Test
    void pathsThatTheProcessDoesNotHaveAreLeftOut() throws Exception {
        Report report = report(CliRun.of(List.of(NATIVE, "-Dio.rpma.netty.paths=rdma,tcp"), Map.of(), "info", "--json",
            "--provider", "tcp").ended(0));
        assertEquals(List.of("tcp"), report.paths());
    }

    @Test
    void noPathLeftIsAnError() throws Exception {
        Report report = report(CliRun.of(List.of(NATIVE, "-Dio.rpma.netty.paths=rdma"), Map.of(), "info", "--json",
            "--provider", "soft").ended(1));
        assertEquals("soft", report.provider().name());
        assertEquals(List.of(), report.paths());
    }

    @Test
    void aLibraryWithoutAFileNameIsNotFound() throws Exception {
        for (String name : new String[] {"/", ""}) {
            CliRun run = CliRun.of(List.of(NATIVE, "-Dio.rpma.library=" + name), Map.of(), "info").ended(0);
            assertTrue(run.out().contains(name + ": not loaded"), run::toString);
        }
    }

    @Test
    void outputThatIsLostIsAnError() throws Exception {
        for (String[] arguments : new String[][] {{"info", "--json"}, {"info"}, {"--help"}}) {
            CliRun run = CliRun.of(FULL_DISK, List.of(NATIVE), Map.of(), arguments).ended(1);
            assertTrue(run.error().endsWith("the output could not be written completely\n"), run::error);
        }
    }

    @Test
    void aWrongOptionIsAnotherKindOfError() throws Exception {
        CliRun run = CliRun.of(List.of(NATIVE), Map.of(), "info", "--jason").ended(2);
        assertTrue(run.error().contains("--jason"), run::error);
    }
}

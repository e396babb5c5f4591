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

package io.rpma.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import io.rpma.Rpma;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/** Tests that the correct promise reports what is missing on a machine or set wrongly, and how to fix it. */
@Timeout(60)
class BadEnvironmentTest {
    /** A program in a separate JVM that binds the addresses of its arguments one after the other, and prints each result. */
    static final class Binder {
        public static void main(String[] addresses) throws Exception {
            RpmaEventLoopGroup group;
            try {
                group = new RpmaEventLoopGroup(1);
            } catch (RuntimeException e) {
                System.out.println("GROUP " + e);
                return;
            }
            Future<?> task = group.next().submit(() -> { });
            System.out.println("LOOP " + (task.await(20, TimeUnit.SECONDS) && task.isSuccess() ? "runs" : "does not run"));
            for (String address : addresses) {
                ChannelFuture bind = new ServerBootstrap().group(group).channel(RpmaServerChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(new InetSocketAddress(address, 0)).await();
                System.out.println("BIND " + (bind.isSuccess() ? "ok" : withCauses(bind.cause())));
            }
            System.exit(0);
        }

        private static String withCauses(Throwable failure) {
            return failure + (failure.getCause() == null ? "" : " because of " + withCauses(failure.getCause()));
        }
    }

    private static String run(String word, List<String> options, String... addresses) throws Exception {
        try (ChildJvm child = new ChildJvm(options, Binder.class, addresses)) {
            String said = "";
            for (int i = 0; i < Math.max(1, addresses.length); i++) {
                said += child.await(word) + "\n";
            }
            return said;
        }
    }

    private static List<String> with(String... options) {
        List<String> all = new ArrayList<>(ChildJvm.ordinary());
        all.addAll(List.of(options));
        return all;
    }

    private static void assertSays(String said, String... parts) {
        for (String part : parts) {
            assertTrue(said.contains(part), "'" + part + "' is not in: " + said);
        }
    }

    @Test
    void noNativeAccessNamesTheFlag() throws Exception {
        String said = run("GROUP", List.of("--illegal-native-access=deny", "-XX:TieredStopAtLevel=1"));
        assertSays(said, "--enable-native-access=ALL-UNNAMED");
    }

    @Test
    void librpmaWithoutADeviceFailsTheBindAndSaysHowToLook() throws Exception {
        assumeFalse(Rpma.isAvailable(), "this machine has an RDMA device");
        String said = run("BIND", with("-Dio.rpma.provider=librpma"), "127.0.0.1");
        assertSays(said, "io.rpma.provider=librpma", "-Dio.rpma.provider=soft");
    }

    @Test
    void aMissingLibraryFailsTheBindAndSaysHowToInstallIt() throws Exception {
        String said = run("BIND", with("-Dio.rpma.provider=librpma", "-Dio.rpma.library=/nowhere/librpma.so.0"), "127.0.0.1");
        assertSays(said, "/nowhere/librpma.so.0", "librpma0");
    }

    @Test
    void aProviderThatDoesNotExistFailsTheBindAndSaysWhichDo() throws Exception {
        String said = run("BIND", with("-Dio.rpma.provider=verbs"), "127.0.0.1");
        assertSays(said, "'verbs'", "auto, librpma, soft, tcp");
    }

    @Test
    void anAddressOfAnotherHostFailsItsBindAndTheNextOneWorks() throws Exception {
        String said = run("BIND", ChildJvm.ordinary(), "192.0.2.1", "127.0.0.1");
        assertSays(said, "java.net.BindException: Cannot assign requested address: /192.0.2.1:0", "ok");
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, (4 << 20) - 1, (4L << 40) + 1, Long.MAX_VALUE})
    void aLimitOfMemoryThatIsNotAllowedIsNamedWithThoseThatAre(long value) throws Exception {
        List<String> options = with("-Dio.rpma.netty.maxRegisteredBytes=" + value);
        try (ChildJvm child = new ChildJvm(options, Binder.class, "127.0.0.1")) {
            // A loop whose thread has ended would leave the promise of a bind without a result.
            assertSays(child.await("LOOP"), "runs");
            assertSays(child.await("BIND"), "-Dio.rpma.netty.maxRegisteredBytes is " + value + "; allowed are 4194304 to"
                + " 4398046511104, and without the property the value is ");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 63, (1 << 24) + 1, 1_000_000_000, 4_294_967_808L})
    void aNumberOfSharedBuffersThatIsNotAllowedFailsTheBindAndNamesWhatIs(long value) throws Exception {
        String said = run("BIND", with("-Dio.rpma.netty.sharedReceiveBuffers=" + value), "127.0.0.1");
        assertSays(said, "-Dio.rpma.netty.sharedReceiveBuffers is " + value + "; allowed are 64 to 16777216, and without the"
            + " property the value is 512");
    }

    /** The limit is only needed when a peer has large data, but it is checked when a channel is bound. */
    @Test
    void aNegativeLimitOfMemoryForLargeDataFailsTheBindAndNamesWhatIsAllowed() throws Exception {
        String said = run("BIND", with("-Dio.rpma.netty.maxBulkBytes=-1"), "127.0.0.1");
        assertSays(said, "-Dio.rpma.netty.maxBulkBytes is -1; allowed are 0 to 4398046511104, and without the property the value"
            + " is ");
    }

    @ParameterizedTest
    @CsvSource({"maxRegisteredBytes, 1g", "maxRegisteredBytes, ''", "maxBulkBytes, 99999999999999999999",
        "sharedReceiveBuffers, 0x100"})
    void whatIsNoNumberIsNamed(String name, String value) throws Exception {
        assertSays(run("BIND", with("-Dio.rpma.netty." + name + '=' + value), "127.0.0.1"), "-Dio.rpma.netty." + name + " is '"
            + value + "', which is not a number in digits without a unit; allowed are ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "1000000001", "9223372036854775807", "50us", ""})
    void aTimeToPollThatIsNotAllowedFailsTheGroup(String value) throws Exception {
        assertSays(run("GROUP", with("-Dio.rpma.netty.spinNanos=" + value)), "IllegalArgumentException: -Dio.rpma.netty.spinNanos"
            + " is ", value, "; allowed are 0 to 1000000000, and without the property the value is 50000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"foo", ""})
    void aPollingThatDoesNotExistFailsTheGroup(String value) throws Exception {
        assertSays(run("GROUP", with("-Dio.rpma.netty.polling=" + value)), "IllegalArgumentException: -Dio.rpma.netty.polling"
            + " is " + value + "; allowed are adaptive, spin and block");
    }

    @ParameterizedTest
    @ValueSource(strings = {"soft.withoutImmediateData=yes", "soft.faults=", "librpma.critical=0"})
    void aSwitchThatIsNeitherOnNorOffFailsTheBind(String property) throws Exception {
        String[] parts = property.split("=", -1);
        assertSays(run("BIND", with("-Dio.rpma." + property), "127.0.0.1"), "-Dio.rpma." + parts[0] + " is '" + parts[1]
            + "'; it must be true or false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"providr", "soft.directroy", "netty.path", "nety.paths", "Provider"})
    void aPropertyThatDoesNotExistIsNamedOnce(String name) throws Exception {
        try (ChildJvm child = new ChildJvm(with("-Dio.rpma." + name + "=tcp", "-Dio.rpma.provider=soft"), Binder.class,
                "127.0.0.1", "127.0.0.1")) {
            String[] parts = child.rest().split("-Dio.rpma." + name + " has no effect, because there is no such property", -1);
            assertEquals(2, parts.length, () -> String.join("|", parts));
            assertSays(parts[0], "WARN");
            assertSays(parts[1], "io.rpma.provider", "io.rpma.soft.directory", "io.rpma.netty.paths", "BIND ok");
        }
    }

    @Test
    void propertiesThatExistCauseNoWarning() throws Exception {
        try (ChildJvm child = new ChildJvm(with("-Dio.rpma.netty.spinNanos=0", "-Dio.rpma.soft.faults=FALSE",
                "-Dio.rpma.provider=soft", "-Dio.rpma.examples.trace=true", "-Dio.rpma=x"), Binder.class, "127.0.0.1")) {
            assertFalse(child.rest().contains("has no effect"));
        }
    }

    @Test
    void noMemoryForLargeDataIsAllowed() throws Exception {
        assertSays(run("BIND", with("-Dio.rpma.netty.maxBulkBytes=0"), "127.0.0.1"), "ok");
    }

    @Test
    void theLimitsThemselvesAreAllowed() throws Exception {
        for (String buffers : List.of("64", "16777216")) {
            assertSays(run("BIND", with("-Dio.rpma.netty.sharedReceiveBuffers=" + buffers,
                "-Dio.rpma.netty.maxRegisteredBytes=4194304"), "127.0.0.1"), "ok");
        }
    }
}

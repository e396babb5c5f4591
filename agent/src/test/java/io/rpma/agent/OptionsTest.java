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
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the options of the agent, and which addresses they select. */
class OptionsTest {
    private static Selection selection(String options) {
        return new Selection(Options.parse(options));
    }

    private static InetSocketAddress unresolved(String host, int port) {
        return InetSocketAddress.createUnresolved(host, port);
    }

    @Test
    void selectsAllButNameServersByDefault() {
        Selection all = selection(null);
        assertTrue(all.includesRemote(unresolved("anything", 8080)));
        assertTrue(all.includesLocal(new InetSocketAddress(0)));
        assertTrue(all.includesRemote(null));
        assertFalse(all.includesRemote(unresolved("anything", 53)));
        assertTrue(selection("ports=53").includesRemote(unresolved("anything", 53)));
        assertFalse(all.includesRemote(Target.TCP.address()));
    }

    @Test
    void selectsPorts() {
        Selection ports = selection("ports=8080, 9000-9100;report");
        assertTrue(ports.includesRemote(unresolved("anything", 8080)));
        assertTrue(ports.includesRemote(unresolved("anything", 9000)));
        assertTrue(ports.includesLocal(new InetSocketAddress(9100)));
        assertFalse(ports.includesRemote(unresolved("anything", 9101)));
        assertFalse(ports.includesLocal(new InetSocketAddress(8081)));
        assertFalse(ports.includesRemote(null));
    }

    @Test
    void anOptionThatIsRepeatedAddsToTheFirst() {
        Selection several = selection("ports=8080;ports=9000-9100;hosts=db1;hosts=db2");
        for (String host : new String[] {"db1", "db2"}) {
            assertTrue(several.includesRemote(unresolved(host, 8080)));
            assertTrue(several.includesRemote(unresolved(host, 9050)));
            assertFalse(several.includesRemote(unresolved(host, 8081)));
        }
    }

    @ParameterizedTest
    @CsvSource({"db1, db1, true", "DB1, db1, true", "db1, db2, false", "*.cluster, a.cluster, true", "*.cluster, cluster, false",
        "10.0.0.2, 10.0.0.2, true", "10.0.0.2, 10.0.0.3, false", "10.0.0.0/8, 10.9.8.7, true", "10.0.0.0/8, 11.0.0.1, false",
        "10.128.0.0/9, 10.127.0.1, false", "fd00::/8, fd12::1, true", "fd00::/8, 10.0.0.1, false", "10.0.0.0/8, name, false"})
    void selectsHosts(String pattern, String host, boolean selected) {
        assertEquals(selected, selection("hosts=" + pattern).includesRemote(unresolved(host, 80)));
    }

    @Test
    void selectsServersOnEveryAddressByPort() throws Exception {
        Selection some = selection("ports=80;hosts=10.0.0.2");
        assertTrue(some.includesLocal(new InetSocketAddress(80)));
        assertFalse(some.includesLocal(new InetSocketAddress(81)));
        assertTrue(some.includesLocal(new InetSocketAddress(InetAddress.getByName("10.0.0.2"), 80)));
        assertFalse(some.includesLocal(new InetSocketAddress(InetAddress.getByName("10.0.0.3"), 80)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"prots=1 | unknown option 'prots'", "ports=x | 'x' is not a port",
        "ports=70000 | not a port", "ports=9-8 | ends before it begins", "hosts= | an empty host",
        "hosts=10.0.0.0/33 | not a network", "hosts=a/8 | not a network", "report=maybe | true or false",
        "hosts=* | without the option hosts, all hosts are selected", "hosts=10.0.0.* | a network such as 10.0.0.0/8",
        "hosts=db* | '*' is allowed only at the beginning", "hosts=db1 db2 | separated by commas",
        "hosts=10.1/16 | '10.1' is not an address", "hosts=192.168.1 | four numbers", "hosts=10 | four numbers",
        "prefix=shaded | such as shaded.io.netty"})
    void refusesOthers(String options, String message) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> Options.parse(options));
        assertTrue(e.getMessage().contains(message), e.getMessage());
    }
}

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
package io.grpc.testing.integration;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.testing.TlsTesting;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.JUnit4;

/** The interoperability tests of gRPC with TLS and certificates of both sides. */
@RunWith(JUnit4.class)
public class GrpcTlsTest extends GrpcTest {
    @Override
    protected ServerBuilder<?> getServerBuilder() {
        try {
            return server(TlsServerCredentials.newBuilder()
                .keyManager(TlsTesting.loadCert("server1.pem"), TlsTesting.loadCert("server1.key"))
                .trustManager(TlsTesting.loadCert("ca.pem")).clientAuth(TlsServerCredentials.ClientAuth.REQUIRE).build());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        try {
            return client(TlsChannelCredentials.newBuilder()
                .keyManager(TlsTesting.loadCert("client.pem"), TlsTesting.loadCert("client.key"))
                .trustManager(TlsTesting.loadCert("ca.pem")).build());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Checks that the server receives the client's certificate. */
    @Test
    public void certificateOfTheClient() {
        assertX500SubjectDn("CN=testclient, O=Internet Widgits Pty Ltd, ST=Some-State, C=AU");
    }
}

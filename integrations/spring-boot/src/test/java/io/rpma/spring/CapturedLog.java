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
package io.rpma.spring;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Captures what is logged while a test runs. The tests' logger writes to {@code System.err}. */
final class CapturedLog implements BeforeEachCallback, AfterEachCallback {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private PrintStream before;

    @Override
    public void beforeEach(ExtensionContext context) {
        before = System.err;
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    }

    @Override
    public void afterEach(ExtensionContext context) {
        System.setErr(before);
        before.print(text());
    }

    String text() {
        return bytes.toString(StandardCharsets.UTF_8);
    }
}

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
package io.rpma.contract;

import io.rpma.Rpma;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Counts the tests of one run. At the end, it writes how many tests there were and how many passed to the standard output and, if
 * the build folder is known, to {@code target/contract-<provider>.txt}.
 */
final class Tally implements BeforeAllCallback, TestWatcher {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(Tally.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        counts(context);
    }

    @Override
    public void testSuccessful(ExtensionContext context) {
        counts(context).passed.incrementAndGet();
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        counts(context).failed.incrementAndGet();
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        counts(context).skipped.incrementAndGet();
    }

    @Override
    public void testDisabled(ExtensionContext context, Optional<String> reason) {
        counts(context).skipped.incrementAndGet();
    }

    private static Counts counts(ExtensionContext context) {
        return context.getRoot().getStore(NAMESPACE).getOrComputeIfAbsent(Counts.class, key -> new Counts(), Counts.class);
    }

    /** The counts of the run. The test engine closes this object after all tests. */
    static final class Counts implements AutoCloseable {
        final AtomicInteger passed = new AtomicInteger();
        final AtomicInteger failed = new AtomicInteger();
        final AtomicInteger skipped = new AtomicInteger();

        @Override
        public void close() {
            String provider = Rpma.provider().name();
            int cases = passed.get() + failed.get() + skipped.get();
            String line = "contract: provider=" + provider + " cases=" + cases + " passed=" + passed + " failed=" + failed
                + " skipped=" + skipped;
            System.out.println(line);
            String module = System.getProperty("basedir");
            if (module != null) {
                try {
                    Path target = Files.createDirectories(Path.of(module, "target"));
                    Files.writeString(target.resolve("contract-" + provider + ".txt"), line + System.lineSeparator());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }
}

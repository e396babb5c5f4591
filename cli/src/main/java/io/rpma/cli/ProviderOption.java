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

import io.rpma.Rpma;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The option that selects the provider. It takes effect before the provider is first used. */
final class ProviderOption {
    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help and end")
    private boolean help;

    private String name;

    @Option(names = "--provider", paramLabel = "NAME",
        description = "auto, librpma, soft or tcp (default: the variable RPMA_PROVIDER, else auto)", converter = Converter.class)
    void choose(String wish) {
        name = wish;
        System.setProperty(Rpma.PROVIDER_PROPERTY, wish);
    }

    /** Returns whether the option was given. */
    boolean isGiven() {
        return name != null;
    }

    /** Rejects a name that is none of a provider. */
    private static final class Converter implements ITypeConverter<String> {
        private static final List<String> NAMES = List.of("auto", "librpma", "soft", "tcp");

        @Override
        public String convert(String text) {
            // The class that selects the provider also ignores blanks and the case of letters.
            String name = text.trim().toLowerCase(Locale.ROOT);
            if (!NAMES.contains(name)) {
                throw new TypeConversionException("'" + text + "' is not a provider; the providers are: " + NAMES);
            }
            return name;
        }
    }
}

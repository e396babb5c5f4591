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

import io.rpma.RpmaException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.web.server.PortInUseException;
import reactor.netty.ChannelBindException;

/**
 * Explains what to change if an application cannot start because its server cannot listen over RPMA. Spring Boot explains a port
 * that is in use.
 */
final class RpmaBindFailureAnalyzer extends AbstractFailureAnalyzer<ChannelBindException> {
    private static final String PATHS = "-Dio.rpma.netty.paths";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ChannelBindException cause) {
        IllegalArgumentException argument = findCause(cause, IllegalArgumentException.class);
        if (argument != null && argument.getMessage() != null && argument.getMessage().contains(PATHS)) {
            return analysis(argument.getMessage(), "Correct " + PATHS + " or the option RPMA_PATHS, or set neither",
                cause);
        }
        String property = wrongProperty(cause);
        if (property != null) {
            return analysis(property, "Correct the value of the property, or remove the property", cause);
        }
        if (findCause(cause, RpmaException.class) == null || findCause(rootFailure, PortInUseException.class) != null) {
            return null;
        }
        return analysis(cause.getCause().getMessage(), "Change server.address or server.port, or provide what is missing", cause);
    }

    /**
     * Returns what is wrong with the value of a property of RPMA, or {@code null}. Static initializers read some properties. When
     * such a class is used again, the JVM reports the first failure only as a part of a text, followed by the thread's name.
     */
    private static String wrongProperty(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            int start = each.getMessage() == null ? -1 : each.getMessage().indexOf("-Dio.rpma.");
            if (start >= 0 && (each instanceof IllegalArgumentException || each instanceof ExceptionInInitializerError)) {
                int end = each.getMessage().lastIndexOf(" [in thread ");
                return each.getMessage().substring(start, end < 0 ? each.getMessage().length() : end);
            }
        }
        return null;
    }

    private static FailureAnalysis analysis(String reason, String action, ChannelBindException cause) {
        return new FailureAnalysis("server.rpma.enabled=true, and the server cannot listen over RPMA: " + reason,
            action + "; or set server.rpma.enabled=false.", cause);
    }
}

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

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;

/**
 * The class that the JVM calls to start the agent. Only this class is compiled for Java 8, so that a JVM that is too old for the
 * transport prints one line on the standard error stream and runs its application without the agent.
 */
public final class Premain {
    private static final int JAVA = 25;

    private Premain() {
    }

    /**
     * Starts the agent. If the start fails, the failure is printed and the application runs unchanged.
     *
     * @param options the text after the equals sign on the command line, or {@code null}
     * @param instrumentation the instrumentation of this JVM
     */
    public static void premain(String options, Instrumentation instrumentation) {
        String version = System.getProperty("java.specification.version");
        int java = version.startsWith("1.") ? 8 : Integer.parseInt(version);
        if (java < JAVA) {
            System.err.println("rpma-agent: the application is left as it is: RPMA needs Java " + JAVA + " or newer, and this is "
                + version);
            return;
        }
        try {
            // Netty's classes call the agent's classes, and any loader may have loaded them. Only the bootstrap loader is a
            // parent of every loader.
            File jar = new File(Premain.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(jar));
            Class.forName("io.rpma.agent.Agent", true, null)
                .getMethod("start", String.class, Instrumentation.class, File.class)
                .invoke(null, options, instrumentation, jar);
        } catch (Throwable e) {
            System.err.println("rpma-agent: the application is left as it is: the agent could not be started");
            e.printStackTrace();
        }
    }
}

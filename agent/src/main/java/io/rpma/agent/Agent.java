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
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.jar.JarFile;
import net.bytebuddy.dynamic.ClassFileLocator;

/**
 * The entry point of the agent. The agent runs an application that uses Netty 4.2 over RPMA without changing the application's
 * code.
 */
public final class Agent {
    private Agent() {
    }

    /**
     * Starts the agent. {@code Premain} calls this method of the class that the bootstrap class loader has loaded.
     *
     * @param text the options of the agent, or {@code null} if there are none
     * @param instrumentation the instrumentation of this JVM
     * @param file the jar file of the agent
     * @throws IOException if the jar file cannot be read
     */
    public static void start(String text, Instrumentation instrumentation, File file) throws IOException {
        Options options;
        try {
            options = Options.parse(text);
        } catch (IllegalArgumentException e) {
            Log.say("the application is left as it is: " + e.getMessage());
            return;
        }
        JarFile jar = new JarFile(file);
        Swaps swaps = new Swaps(options, file, jar);
        Sites.start(swaps);
        instrumentation.addTransformer(new NettyTransformer(options, new ClassFileLocator.ForJarFile(jar)));
        if (options.report()) {
            Log.say("ready");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> swaps.carried().forEach(Log::say), "rpma-agent-report"));
        }
    }
}

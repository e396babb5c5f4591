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

package io.rpma.agent.programs;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.lang.ref.WeakReference;
import java.util.concurrent.TimeUnit;

/** What an application does with event loops themselves. */
public final class LoopManners {
    private LoopManners() {
    }

    /** Runs the program, and prints the results. */
    public static void main(String[] arguments) {
        System.out.println("result: dropped group collected " + isCollected(droppedGroup()));
    }

    /** Creates a group, and uses none of its loops, so that they have no threads. */
    private static WeakReference<EventLoopGroup> droppedGroup() {
        return new WeakReference<>(new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory()));
    }

    private static boolean isCollected(WeakReference<?> reference) {
        for (long start = System.nanoTime(); reference.get() != null;) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(20)) {
                return false;
            }
            System.gc();
        }
        return true;
    }
}

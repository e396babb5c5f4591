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
package io.rpma.testsuite;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/** Netty's own leak detectors, each with a listener that records its reports. */
final class CountingLeakDetectors extends ResourceLeakDetectorFactory {
    private static final int COLLECTIONS = 2;
    private static final long COLLECTION_MILLIS = 10_000;

    private static final ConcurrentLinkedQueue<String> LEAKS = new ConcurrentLinkedQueue<>();
    private static final List<ResourceLeakDetector<Object>> DETECTORS = new CopyOnWriteArrayList<>();

    @Override
    @SuppressWarnings({"deprecation", "unchecked"})
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(Class<T> resource, int samplingInterval, long maxActive) {
        ResourceLeakDetector<T> detector = new ResourceLeakDetector<>(resource, samplingInterval);
        detector.setLeakListener((type, records) -> LEAKS.add(type + records));
        DETECTORS.add((ResourceLeakDetector<Object>) detector);
        return detector;
    }

    /** Returns whether the detectors of this process are those of this class, and track every buffer. */
    static boolean active() {
        return instance() instanceof CountingLeakDetectors
            && ResourceLeakDetector.getLevel() == ResourceLeakDetector.Level.PARANOID;
    }

    /** Collects garbage, makes the detectors check it, and returns the leaks that were reported since the last call. */
    static List<String> drain() throws InterruptedException {
        for (int i = 0; i < COLLECTIONS; i++) {
            collectGarbage();
            // A detector checks for leaks when it begins to track another object.
            ByteBuf probe = PooledByteBufAllocator.DEFAULT.directBuffer(1);
            probe.release();
            for (ResourceLeakDetector<Object> detector : DETECTORS) {
                Object followed = new Object();
                detector.trackForcibly(followed).close(followed);
            }
        }
        List<String> found = new ArrayList<>();
        for (String leak = LEAKS.poll(); leak != null; leak = LEAKS.poll()) {
            found.add(leak);
        }
        return found;
    }

    /** Returns when the garbage collector has found the objects that were unreachable before this call. */
    private static void collectGarbage() throws InterruptedException {
        ReferenceQueue<Object> found = new ReferenceQueue<>();
        WeakReference<Object> canary = new WeakReference<>(new Object(), found);
        System.gc();
        if (found.remove(COLLECTION_MILLIS) != canary) {
            throw new IllegalStateException("System.gc() does not collect garbage: is -XX:+DisableExplicitGC set?");
        }
    }
}

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

package io.rpma.netty.memory;

import io.rpma.Device;
import io.rpma.DeviceLimits;
import io.rpma.Peer;
import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A device as used by the transport. It has one protection domain for the whole process, in which the slabs are registered, so
 * that any buffer of the allocator can be sent on any channel of the device.
 */
public final class Fabric {
    private static final ConcurrentHashMap<Key, Fabric> FABRICS = new ConcurrentHashMap<>();
    private static final AtomicInteger IDS = new AtomicInteger();

    private record Key(RpmaProvider provider, String device) {
    }

    private final int id = IDS.getAndIncrement();
    private final Device device;
    private final Peer peer;
    private final boolean iwarp;

    private Fabric(Device device) throws RpmaException {
        this.device = device;
        peer = device.newPeer();
        iwarp = device.isIwarp();
    }

    /** Returns the fabric of a device. It is created on first use and kept for the life of the process. */
    public static Fabric of(Device device) throws RpmaException {
        Key key = new Key(device.provider(), device.name());
        Fabric fabric = FABRICS.get(key);
        if (fabric != null) {
            return fabric;
        }
        synchronized (FABRICS) {
            fabric = FABRICS.get(key);
            if (fabric == null) {
                fabric = new Fabric(device);
                FABRICS.put(key, fabric);
            }
            return fabric;
        }
    }

    public int id() {
        return id;
    }

    public RpmaProvider provider() {
        return device.provider();
    }

    public Peer peer() {
        return peer;
    }

    public Device device() {
        return device;
    }

    public DeviceLimits limits() {
        return device.limits();
    }

    /** Returns whether the device uses iWARP. */
    public boolean isIwarp() {
        return iwarp;
    }

    /**
     * Returns whether each work request that sends data has to be signalled, because the completion of a later one does not imply
     * that its memory can be used again. This is so with iWARP: Linux's {@code siw} passes the pages of a work request that is
     * not signalled to TCP without a copy, and TCP may still send them when later work requests have completed.
     */
    public boolean signalsData() {
        return iwarp;
    }

    /** Returns whether the device supports immediate data. */
    public boolean hasImmediateData() {
        return device.hasImmediateData();
    }

    /**
     * Throws an exception if the device does not support immediate data.
     *
     * @param remedy what to do instead
     */
    public void requireImmediateData(String remedy) throws RpmaException {
        if (!device.hasImmediateData()) {
            throw new RpmaException(RpmaError.NOT_SUPPORTED, "the RDMA device " + device.name()
                + " does not support immediate data, like every iWARP device: " + remedy);
        }
    }

    @Override
    public String toString() {
        return device.name();
    }
}

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

package io.rpma.netty;

import io.netty.buffer.ByteBuf;
import io.netty.util.AbstractReferenceCounted;
import io.rpma.MemoryUsage;
import io.rpma.RegionDescriptor;
import io.rpma.RemoteMemoryRegion;
import io.rpma.Rpma;
import io.rpma.RpmaException;
import io.rpma.RpmaProvider;
import io.rpma.netty.memory.Fabric;
import java.io.UncheckedIOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;

/**
 * Memory of a peer, opened from the descriptor that the peer sent ({@code rpma_mr_remote_from_descriptor(3)}). It can be used
 * on channels that are connected to that peer; on any other channel, operations fail with
 * {@link io.rpma.CompletionStatus#REM_ACCESS_ERR} and end the connection.
 *
 * <p>Reference-counted; operations retain the region until they have completed. Thread-safe.
 */
public final class RpmaRemoteRegion extends AbstractReferenceCounted {
    /** Linux assigns no addresses above this one unless a process asks for them. */
    private static final long END_OF_ADDRESSES = 1L << 48;
    private static final int REMOTE = MemoryUsage.bits(Set.of(MemoryUsage.READ_SRC, MemoryUsage.WRITE_DST,
        MemoryUsage.FLUSH_VISIBILITY, MemoryUsage.FLUSH_PERSISTENT));

    /** The region as opened by one provider. */
    private record Opened(RpmaProvider provider, RemoteMemoryRegion region, Opened next) {
    }

    private final byte[] descriptor;
    private final long address;
    private final long size;
    private final int usages;
    // A list by provider of the channels on which the region was used, usually one. New entries are added at the front.
    private volatile Opened opened;

    private RpmaRemoteRegion(byte[] descriptor, long address, long size, int usages) {
        this.descriptor = descriptor;
        this.address = address;
        this.size = size;
        this.usages = usages;
    }

    /**
     * Opens a region.
     *
     * @param descriptor its next {@link RpmaRegion#DESCRIPTOR_BYTES} bytes are read; they are not trusted. It must have been
     *     created for the path of the channels on which the region is used, as the peer's {@link RpmaPrivateDataFactory} does
     * @return the region, which the caller must release
     * @throws ProtocolException if the bytes are not a descriptor, or not one that a provider of this process accepts; the
     *     message says why, and the position has not moved
     */
    public static RpmaRemoteRegion open(ByteBuffer descriptor) throws ProtocolException {
        return open(descriptor, Rpma.providers());
    }

    /** Opens a region that will be used with channels of any of the given providers. */
    static RpmaRemoteRegion open(ByteBuffer descriptor, List<RpmaProvider> providers) throws ProtocolException {
        if (descriptor.remaining() < RpmaRegion.DESCRIPTOR_BYTES) {
            throw new ProtocolException("a region's descriptor is truncated: it must have " + RpmaRegion.DESCRIPTOR_BYTES
                + " bytes, not " + descriptor.remaining());
        }
        RegionDescriptor said = RegionDescriptor.read(descriptor);
        long address = said.address();
        long size = said.size();
        int usages = said.usages();
        if (size <= 0) {
            throw new ProtocolException("this is not a descriptor of a region, or it is one of another version: its size would"
                + " be "
                + Long.toUnsignedString(size) + " bytes");
        }
        if (address < 0 || address >= END_OF_ADDRESSES || size > END_OF_ADDRESSES - address) {
            throw new ProtocolException("this is not a descriptor of a region, or it is one of another version: " + size
                + " bytes at 0x" + Long.toHexString(address) + " would lie outside of every address space");
        }
        if (usages == 0) {
            throw new ProtocolException("this is not a descriptor of a region, or it is one of another version: it names no"
                + " usage");
        }
        if ((usages & REMOTE) == 0) {
            throw new ProtocolException("the region was registered for " + MemoryUsage.of(usages)
                + " only, none of which allows access by the peer");
        }
        byte[] copy = new byte[RpmaRegion.DESCRIPTOR_BYTES];
        descriptor.get(descriptor.position(), copy);
        RpmaRemoteRegion region = new RpmaRemoteRegion(copy, address, size, usages);
        region.openOnAny(providers);
        descriptor.position(descriptor.position() + RpmaRegion.DESCRIPTOR_BYTES);
        return region;
    }

    /**
     * Opens a region.
     *
     * @param descriptor its next {@link RpmaRegion#DESCRIPTOR_BYTES} bytes are read; they are not trusted
     * @return the region, which the caller must release
     * @throws ProtocolException if the bytes are not a descriptor; the message says why
     */
    public static RpmaRemoteRegion open(ByteBuf descriptor) throws ProtocolException {
        int bytes = Math.min(descriptor.readableBytes(), RpmaRegion.DESCRIPTOR_BYTES);
        ByteBuffer copy = ByteBuffer.allocate(bytes);
        descriptor.getBytes(descriptor.readerIndex(), copy);
        RpmaRemoteRegion region = open(copy.flip());
        descriptor.skipBytes(bytes);
        return region;
    }

    /** Opens the region with each provider that accepts the descriptor; which of them is needed depends on the channel. */
    private void openOnAny(List<RpmaProvider> providers) throws ProtocolException {
        StringJoiner reasons = new StringJoiner("; ");
        List<RpmaException> refusals = new ArrayList<>();
        for (RpmaProvider provider : providers) {
            try {
                open(provider);
            } catch (RpmaException e) {
                reasons.add(e.getMessage());
                refusals.add(e);
            }
        }
        if (opened == null) {
            ProtocolException refused = new ProtocolException("this is not a descriptor of a region on any path of this process: "
                + reasons);
            refusals.forEach(refused::addSuppressed);
            throw refused;
        }
    }

    /** Returns the size in bytes. */
    public long size() {
        return size;
    }

    /** Returns the usages that the peer registered the region for. */
    public Set<MemoryUsage> usages() {
        return MemoryUsage.of(usages);
    }

    /** Returns the address at which the region begins in the peer. */
    long address() {
        return address;
    }

    boolean allows(MemoryUsage usage) {
        return (usages & usage.bit()) != 0;
    }

    /** Returns the region as opened by the provider of a fabric. */
    RemoteMemoryRegion on(Fabric fabric) throws RpmaException {
        RpmaProvider provider = fabric.provider();
        for (Opened known = opened; known != null; known = known.next) {
            if (known.provider == provider) {
                return known.region;
            }
        }
        return open(provider);
    }

    private synchronized RemoteMemoryRegion open(RpmaProvider provider) throws RpmaException {
        for (Opened known = opened; known != null; known = known.next) {
            if (known.provider == provider) {
                return known.region;
            }
        }
        RemoteMemoryRegion region;
        try {
            region = provider.openRemoteRegion(ByteBuffer.wrap(descriptor));
        } catch (RpmaException e) {
            throw new RpmaException(e.error(), e.errno(), "the peer's region cannot be used by " + RpmaPath.of(provider) + ": "
                + e.getMessage(), e);
        }
        opened = new Opened(provider, region, opened);
        return region;
    }

    @Override
    protected void deallocate() {
        for (Opened known = opened; known != null; known = known.next) {
            try {
                known.region.close();
            } catch (RpmaException e) {
                throw new UncheckedIOException("a remote region could not be released", e);
            }
        }
    }

    @Override
    public RpmaRemoteRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public RpmaRemoteRegion retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpmaRemoteRegion touch() {
        super.touch();
        return this;
    }

    @Override
    public RpmaRemoteRegion touch(Object hint) {
        return this;
    }

    @Override
    public String toString() {
        return "remote region of " + size + " bytes for " + usages();
    }
}

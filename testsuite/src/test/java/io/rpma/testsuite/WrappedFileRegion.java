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

import io.netty.channel.FileRegion;
import io.netty.util.AbstractReferenceCounted;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;

/** A file region of a type that no transport knows, so that its bytes are available through {@link #transferTo} only. */
final class WrappedFileRegion extends AbstractReferenceCounted implements FileRegion {
    private final FileRegion wrapped;

    WrappedFileRegion(FileRegion wrapped) {
        this.wrapped = wrapped;
    }

    @Override
    public long position() {
        return wrapped.position();
    }

    @Override
    @Deprecated
    public long transfered() {
        return wrapped.transferred();
    }

    @Override
    public long transferred() {
        return wrapped.transferred();
    }

    @Override
    public long count() {
        return wrapped.count();
    }

    @Override
    public long transferTo(WritableByteChannel target, long position) throws IOException {
        return wrapped.transferTo(target, position);
    }

    @Override
    public FileRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public FileRegion retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public FileRegion touch() {
        return this;
    }

    @Override
    public FileRegion touch(Object hint) {
        return this;
    }

    @Override
    protected void deallocate() {
        wrapped.release();
    }
}

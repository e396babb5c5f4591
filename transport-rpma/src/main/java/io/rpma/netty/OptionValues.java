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

import io.netty.channel.ChannelOption;
import io.rpma.netty.DeclaredOptions.Declared;

/** The values that the options of one channel have. Thread-safe. */
final class OptionValues {
    private final DeclaredOptions declared;
    // The values that have been set, by the positions of their options; null if there are none. Each change replaces the array.
    private volatile Object[] stored;

    /** Creates the values of a channel whose options all have their defaults. */
    OptionValues(DeclaredOptions declared) {
        this.declared = declared;
    }

    <T> T get(Declared<T> option) {
        Object[] now = stored;
        return option.value(now == null ? null : now[option.index()]);
    }

    /** Sets an option, or throws an exception. */
    void set(Declared<?> option, Object given) {
        Object value = option.stored(given);
        synchronized (this) {
            Object[] changed = stored == null ? new Object[declared.count()] : stored.clone();
            changed[option.index()] = value;
            stored = changed;
        }
    }

    /** Sets an option, or returns {@code false} if it is not declared. */
    boolean set(ChannelOption<?> option, Object value) {
        Declared<?> found = declared.find(option);
        if (found == null) {
            return false;
        }
        set(found, value);
        return true;
    }

    /** Returns whether an option is declared and has been set. */
    boolean isSet(ChannelOption<?> option) {
        Declared<?> found = declared.find(option);
        Object[] now = stored;
        return found != null && now != null && now[found.index()] != null;
    }

    /** Returns the options that are declared. */
    DeclaredOptions declared() {
        return declared;
    }

    /** Returns a copy, which does not change with this object. */
    OptionValues copy() {
        OptionValues copy = new OptionValues(declared);
        copy.stored = stored;
        return copy;
    }
}

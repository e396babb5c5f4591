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
import io.netty.util.NetUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The options of one channel: each is declared once, with its default and what is allowed, and is from then on listed, given back
 * and set by its name. Declared while the configuration is made; thread-safe afterwards.
 */
final class OptionValues {
    private final List<Value<?>> values = new ArrayList<>();

    /** One option's value. */
    static final class Value<T> {
        private final ChannelOption<T> option;
        private final Class<T> type;
        private final UnaryOperator<T> in;
        private final UnaryOperator<T> out;
        private volatile T value;
        private volatile boolean isSet;

        private Value(ChannelOption<T> option, Class<T> type, T initial, UnaryOperator<T> in, UnaryOperator<T> out) {
            this.option = option;
            this.type = type;
            this.in = in;
            this.out = out;
            value = initial;
        }

        T get() {
            return out.apply(value);
        }

        /** Sets it, or refuses. The type is checked here, because an option is generic for the compiler only. */
        void set(Object given) {
            value = in.apply(type.cast(given));
            isSet = true;
        }
    }

    Value<Boolean> flag(ChannelOption<Boolean> option, boolean initial) {
        return value(option, Boolean.class, initial);
    }

    /** Declares a number of any size. */
    Value<Integer> number(ChannelOption<Integer> option, int initial) {
        return value(option, Integer.class, initial);
    }

    /** Declares a number within bounds; another is refused. */
    Value<Integer> number(ChannelOption<Integer> option, int initial, int min, int max) {
        return value(option, Integer.class, initial, given -> {
            check(option, given, "", min, max);
            return given;
        }, UnaryOperator.identity());
    }

    /** Declares {@code SO_BACKLOG}, how many accepted connections of a server channel wait for {@code read()}. */
    Value<Integer> backlog() {
        return number(ChannelOption.SO_BACKLOG, NetUtil.SOMAXCONN, 0, Integer.MAX_VALUE);
    }

    <T> Value<T> value(ChannelOption<T> option, Class<T> type, T initial) {
        return value(option, type, initial, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * Declares an option.
     *
     * @param in refuses what is set, or returns what to keep of it
     * @param out returns what to give back of what is kept
     */
    <T> Value<T> value(ChannelOption<T> option, Class<T> type, T initial, UnaryOperator<T> in, UnaryOperator<T> out) {
        Value<T> declared = new Value<>(option, type, initial, in, out);
        values.add(declared);
        return declared;
    }

    /** The options, in the order of their declaration. */
    ChannelOption<?>[] options() {
        return values.stream().map(each -> each.option).toArray(ChannelOption<?>[]::new);
    }

    /** An option's value, or {@code null} if it is not declared here. */
    @SuppressWarnings("unchecked")
    <T> Value<T> find(ChannelOption<T> option) {
        for (Value<?> each : values) {
            if (each.option == option) {
                return (Value<T>) each;
            }
        }
        return null;
    }

    /** Sets an option, or returns {@code false} if it is not declared here. */
    boolean set(ChannelOption<?> option, Object value) {
        Value<?> found = find(option);
        if (found == null) {
            return false;
        }
        found.set(value);
        return true;
    }

    /** Whether an option is declared here, and has been set. */
    boolean isSet(ChannelOption<?> option) {
        Value<?> found = find(option);
        return found != null && found.isSet;
    }

    /** Sets each option that is declared here to what it is there. */
    void copyFrom(OptionValues others) {
        for (Value<?> each : values) {
            each.set(others.find(each.option).get());
        }
    }

    /** Refuses a number that is out of bounds. */
    static void check(ChannelOption<?> option, int value, String unit, int min, int max) {
        if (value < min || value > max) {
            String name = option.name();
            throw new IllegalArgumentException(name.substring(name.lastIndexOf('#') + 1) + " is " + value + unit
                + "; allowed are " + min + " to " + max);
        }
    }
}

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
 * The options of one channel. Each is declared once, with its default and its allowed values, and can then be listed, read and
 * set. Options are declared while the configuration is constructed; thread-safe afterwards.
 */
final class OptionValues {
    private final List<Value<?>> values = new ArrayList<>();

    /** The value of one option. */
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

        /**
         * Sets the value, or throws an exception. The type is checked here, because an option is generic at compile time only.
         */
        void set(Object given) {
            if (given != null && !type.isInstance(given)) {
                throw new ClassCastException(nameOf(option) + " is '" + given + "' of the type " + given.getClass().getName()
                    + "; its type is " + type.getName());
            }
            value = in.apply(type.cast(given));
            isSet = true;
        }
    }

    Value<Boolean> flag(ChannelOption<Boolean> option, boolean initial) {
        return value(option, Boolean.class, initial);
    }

    /** Declares a number without bounds. */
    Value<Integer> number(ChannelOption<Integer> option, int initial) {
        return value(option, Integer.class, initial);
    }

    /** Declares a number with bounds; setting any other number fails. */
    Value<Integer> number(ChannelOption<Integer> option, int initial, int min, int max) {
        return value(option, Integer.class, initial, given -> {
            check(option, given, "", min, max);
            return given;
        }, UnaryOperator.identity());
    }

    /** Declares {@code SO_BACKLOG}, the number of accepted connections of a server channel that may wait for {@code read()}. */
    Value<Integer> backlog() {
        return number(ChannelOption.SO_BACKLOG, NetUtil.SOMAXCONN, 0, Integer.MAX_VALUE);
    }

    <T> Value<T> value(ChannelOption<T> option, Class<T> type, T initial) {
        return value(option, type, initial, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * Declares an option.
     *
     * @param in converts a value that is set to the value to store, or throws an exception
     * @param out converts the stored value to the value to return
     */
    <T> Value<T> value(ChannelOption<T> option, Class<T> type, T initial, UnaryOperator<T> in, UnaryOperator<T> out) {
        Value<T> declared = new Value<>(option, type, initial, in, out);
        values.add(declared);
        return declared;
    }

    /** Returns the options in the order of their declaration. */
    ChannelOption<?>[] options() {
        return values.stream().map(each -> each.option).toArray(ChannelOption<?>[]::new);
    }

    /** Returns an option's value, or {@code null} if the option is not declared here. */
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

    /** Returns whether an option is declared here and has been set. */
    boolean isSet(ChannelOption<?> option) {
        Value<?> found = find(option);
        return found != null && found.isSet;
    }

    /** Sets each option that is declared here to its value in the other configuration. */
    void copyFrom(OptionValues others) {
        for (Value<?> each : values) {
            each.set(others.find(each.option).get());
        }
    }

    /** Throws an exception if a number is out of bounds. */
    static void check(ChannelOption<?> option, int value, String unit, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(nameOf(option) + " is " + value + unit + "; allowed are " + min + " to " + max);
        }
    }

    /** Returns the name of an option without the class that declares it. */
    static String nameOf(ChannelOption<?> option) {
        return option.name().substring(option.name().lastIndexOf('#') + 1);
    }
}

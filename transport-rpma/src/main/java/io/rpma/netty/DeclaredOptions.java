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
 * The options of one kind of channel. Each is declared once, with its default and its allowed values, while the class of the
 * configuration is initialized. All channels of the kind share the declarations; their values are {@link OptionValues}. Immutable
 * once all options are declared.
 */
final class DeclaredOptions {
    private final List<Declared<?>> all = new ArrayList<>();

    /** One option. */
    static final class Declared<T> {
        private final ChannelOption<T> option;
        private final int index;
        private final Class<T> type;
        private final T initial;
        private final UnaryOperator<T> in;
        private final UnaryOperator<T> out;

        private Declared(ChannelOption<T> option, int index, Class<T> type, T initial, UnaryOperator<T> in,
                UnaryOperator<T> out) {
            this.option = option;
            this.index = index;
            this.type = type;
            this.initial = initial;
            this.in = in;
            this.out = out;
        }

        /** Returns its position among the options of its kind of channel. */
        int index() {
            return index;
        }

        /**
         * Returns the value to store for one that is set, or throws an exception. The type is checked here, because an option is
         * generic at compile time only.
         */
        Object stored(Object given) {
            if (given != null && !type.isInstance(given)) {
                throw new ClassCastException(nameOf(option) + " is '" + given + "' of the type " + given.getClass().getName()
                    + "; its type is " + type.getName());
            }
            return in.apply(type.cast(given));
        }

        /**
         * Returns the value of the option.
         *
         * @param stored what {@link #stored} has returned, or {@code null} if the option has not been set
         */
        T value(Object stored) {
            return out.apply(stored == null ? initial : type.cast(stored));
        }
    }

    Declared<Boolean> flag(ChannelOption<Boolean> option, boolean initial) {
        return value(option, Boolean.class, initial);
    }

    /** Declares a number without bounds. */
    Declared<Integer> number(ChannelOption<Integer> option, int initial) {
        return value(option, Integer.class, initial);
    }

    /** Declares a number with bounds; setting any other number fails. */
    Declared<Integer> number(ChannelOption<Integer> option, int initial, int min, int max) {
        return value(option, Integer.class, initial, given -> {
            check(option, given, "", min, max);
            return given;
        }, UnaryOperator.identity());
    }

    /** Declares {@code SO_BACKLOG}, the number of accepted connections of a server channel that may wait for {@code read()}. */
    Declared<Integer> backlog() {
        return number(ChannelOption.SO_BACKLOG, NetUtil.SOMAXCONN, 0, Integer.MAX_VALUE);
    }

    <T> Declared<T> value(ChannelOption<T> option, Class<T> type, T initial) {
        return value(option, type, initial, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * Declares an option.
     *
     * @param in converts a value that is set to the value to store, or throws an exception
     * @param out converts the stored value to the value to return
     */
    <T> Declared<T> value(ChannelOption<T> option, Class<T> type, T initial, UnaryOperator<T> in, UnaryOperator<T> out) {
        Declared<T> declared = new Declared<>(option, all.size(), type, initial, in, out);
        all.add(declared);
        return declared;
    }

    int count() {
        return all.size();
    }

    /** Returns the options in the order of their declaration. */
    ChannelOption<?>[] options() {
        return all.stream().map(each -> each.option).toArray(ChannelOption<?>[]::new);
    }

    /** Returns the declaration of an option, or {@code null} if it is not declared here. */
    @SuppressWarnings("unchecked")
    <T> Declared<T> find(ChannelOption<T> option) {
        for (Declared<?> each : all) {
            if (each.option == option) {
                return (Declared<T>) each;
            }
        }
        return null;
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

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

import io.netty.util.internal.SystemPropertyUtil;

/** A number that is set by a system property. */
public final class NumberProperty {
    private NumberProperty() {
    }

    /**
     * Returns the value of a property.
     *
     * @param name the name of the property
     * @param unset the value if the property is not set
     * @param min the smallest value that is allowed
     * @param max the largest value that is allowed
     * @throws IllegalArgumentException if the property has another value, or is not a number
     */
    public static long get(String name, long unset, long min, long max) {
        String text = SystemPropertyUtil.get(name);
        if (text == null) {
            return unset;
        }
        String wrong = text;
        try {
            long value = Long.parseLong(text.trim());
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            wrong = '\'' + text + "', which is not a number in digits without a unit";
        }
        throw new IllegalArgumentException("-D" + name + " is " + wrong + "; allowed are " + min + " to " + max
            + ", and without the property the value is " + unset);
    }
}

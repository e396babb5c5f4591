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
package io.rpma.benchmark;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/** Writes JSON with one member per line. */
final class Json {
    private final StringBuilder text = new StringBuilder();
    private final Deque<Character> open = new ArrayDeque<>();
    private boolean first = true;

    /** Begins an object that is an element of an array or the whole document. */
    Json object() {
        return open("", '{', '}');
    }

    /** Begins an object that is a member of an object. */
    Json object(String name) {
        return open(quote(name) + ": ", '{', '}');
    }

    /** Begins an array that is a member of an object. */
    Json array(String name) {
        return open(quote(name) + ": ", '[', ']');
    }

    /** Ends the object or array that was begun last and has not been ended yet. */
    Json end() {
        char bracket = open.pop();
        if (!first) {
            newLine();
        }
        text.append(bracket);
        first = false;
        if (open.isEmpty()) {
            text.append('\n');
        }
        return this;
    }

    Json member(String name, String value) {
        next().append(quote(name)).append(": ").append(quote(value));
        return this;
    }

    Json member(String name, double value) {
        next().append(quote(name)).append(": ").append(number(value));
        return this;
    }

    Json member(String name, double[] values) {
        next().append(quote(name)).append(": [");
        for (int i = 0; i < values.length; i++) {
            text.append(i == 0 ? "" : ", ").append(number(values[i]));
        }
        text.append(']');
        return this;
    }

    Json value(String value) {
        next().append(quote(value));
        return this;
    }

    @Override
    public String toString() {
        return text.toString();
    }

    private Json open(String name, char begin, char end) {
        next().append(name).append(begin);
        open.push(end);
        first = true;
        return this;
    }

    private StringBuilder next() {
        if (!first) {
            text.append(',');
        }
        first = false;
        if (!open.isEmpty()) {
            newLine();
        }
        return text;
    }

    private void newLine() {
        text.append('\n').append("  ".repeat(open.size()));
    }

    private static String number(double value) {
        if (!Double.isFinite(value)) {
            return "null";
        }
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value)
            : String.format(Locale.ROOT, "%.6g", value);
    }

    private static String quote(String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}

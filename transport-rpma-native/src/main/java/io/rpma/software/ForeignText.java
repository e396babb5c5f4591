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
package io.rpma.software;

import java.nio.charset.StandardCharsets;

/** Text that another process has sent, for a message in the log. */
public final class ForeignText {
    private ForeignText() {
    }

    /**
     * Returns UTF-8 text without characters that control the output, such as the end of a line: the sender could otherwise forge
     * lines of the log. Each of these characters is replaced by its number.
     */
    public static String of(byte[] utf8) {
        StringBuilder text = new StringBuilder();
        new String(utf8, StandardCharsets.UTF_8).codePoints().forEach(one -> {
            if (isPrintable(one)) {
                text.appendCodePoint(one);
            } else {
                text.append(String.format("\\u{%x}", one));
            }
        });
        return text.toString();
    }

    private static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
                Character.SURROGATE, Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}

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
package io.rpma.cli;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * A number in the value of an option. The commands parse numbers by this class, because the message of picocli for a wrong number
 * does not say which numbers are allowed.
 */
final class NumberArgument {
    private NumberArgument() {
    }

    /**
     * Returns the number in a text.
     *
     * @param option the name of the option, for the message
     * @throws ParameterException if the text is no whole number from {@code least} to {@code most}; the message says that
     */
    static int parse(CommandLine command, String option, String text, int least, int most) {
        return (int) parse(command, option, text, least, most, "");
    }

    /**
     * Returns the number in a text.
     *
     * @param option the name of the option, for the message
     * @param explanation is appended to the message
     * @throws ParameterException if the text is no whole number from {@code least} to {@code most}; the message says that
     */
    static long parse(CommandLine command, String option, String text, long least, long most, String explanation) {
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The message below also covers this case.
        }
        throw new ParameterException(command, option + ' ' + text + ": " + least + " to " + most + explanation);
    }
}

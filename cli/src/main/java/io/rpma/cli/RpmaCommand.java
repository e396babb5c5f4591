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

import io.rpma.netty.RpmaPath;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code ./rpma}. */
@Command(name = "./rpma", subcommands = {InfoCommand.class, PingCommand.class}, synopsisSubcommandLabel = "COMMAND",
    customSynopsis = "./rpma COMMAND [OPTION...]", commandListHeading = "%nCommands:%n",
    footer = {"", "./rpma COMMAND --help shows the options of one."})
public final class RpmaCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this help and end")
    private boolean help;

    private RpmaCommand() {
    }

    /**
     * Runs a command and ends the process with exit code 0 if the command succeeded, 1 if it failed, and 2 if its arguments were
     * wrong.
     *
     * @param arguments the name of the command and its options
     */
    public static void main(String... arguments) {
        System.exit(run(commandLine(), arguments));
    }

    /** Runs a command and returns its exit code. A command has failed if its output was lost, of which no exception tells. */
    private static int run(CommandLine commandLine, String... arguments) {
        int code;
        try {
            code = commandLine.execute(arguments);
        } catch (LinkageError e) {
            // A library could not be loaded.
            return explain(e, commandLine);
        }
        if (code == CommandLine.ExitCode.OK && System.out.checkError()) {
            commandLine.getErr().println("the output could not be written completely");
            commandLine.getErr().flush();
            return CommandLine.ExitCode.SOFTWARE;
        }
        return code;
    }

    static CommandLine commandLine() {
        return new CommandLine(new RpmaCommand())
            .registerConverter(InetSocketAddress.class, AddressArgument::parse)
            .registerConverter(RpmaPath.class, PathArgument::parse)
            .setUsageHelpAutoWidth(true)
            .setExecutionExceptionHandler(RpmaCommand::explain);
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return CommandLine.ExitCode.OK;
    }

    /** Prints the messages of a failure and its causes, without a stack trace. What only contains a cause is left out. */
    private static int explain(Exception failure, CommandLine command, CommandLine.ParseResult ignored) {
        return explain(failure, command);
    }

    private static int explain(Throwable failure, CommandLine command) {
        Throwable first = failure;
        while (first.getMessage() == null && first.getCause() != null) {
            first = first.getCause();
        }
        StringBuilder words = new StringBuilder(command.getCommandName()).append(" failed: ").append(FailureText.of(first));
        for (Throwable cause = first.getCause(); cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null && words.indexOf(cause.getMessage()) < 0) {
                words.append(System.lineSeparator()).append("  because: ").append(cause.getMessage());
            }
        }
        command.getErr().println(words);
        return CommandLine.ExitCode.SOFTWARE;
    }
}

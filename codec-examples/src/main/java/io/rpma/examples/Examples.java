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
package io.rpma.examples;

import java.nio.file.FileSystemException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The main class of {@code run-example.sh}. Without arguments it lists the examples. With the name of an example it runs the
 * example.
 */
@Command(name = "./run-example.sh",
    synopsisSubcommandLabel = "EXAMPLE", customSynopsis = "./run-example.sh EXAMPLE [OPTION...]",
    commandListHeading = "%nExamples:%n",
    footer = {"", "./run-example.sh EXAMPLE --help shows the options of one."})
public final class Examples implements Callable<Integer> {
    private static final List<Class<?>> ALL = List.of(
        EchoExample.class,
        HttpExample.class,
        TlsEchoExample.class,
        Http2TlsExample.class,
        WebSocketExample.class,
        ProtobufExample.class,
        RedisExample.class,
        GrpcExample.class,
        FileServerExample.class,
        TcpProxyExample.class,
        RemoteLogExample.class,
        MemoryCacheExample.class);

    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "show this list and end")
    private boolean help;

    private Examples() {
    }

    /**
     * Runs an example and ends the process: with 0 if it succeeded, 1 if it failed, 2 if it was called wrongly.
     *
     * @param arguments the name of the example and its options
     */
    public static void main(String... arguments) {
        CommandLine commandLine = commandLine(arguments);
        int code;
        try {
            code = commandLine.execute(arguments);
        } catch (LinkageError e) {
            // A system property of the transport has a wrong value, or a library could not be loaded.
            code = explain(e, commandLine);
        }
        System.exit(code);
    }

    /**
     * Returns the parser for the arguments. If they begin with the name of an example, the parser contains only this example,
     * because inspecting all examples, and the classes that they load, takes longer than running many of them.
     */
    static CommandLine commandLine(String... arguments) {
        List<Class<?>> named = ALL.stream().filter(each -> arguments.length > 0
            && each.getAnnotation(Command.class).name().equals(arguments[0])).toList();
        CommandLine commandLine = new CommandLine(new Examples());
        (named.isEmpty() ? ALL : named).forEach(commandLine::addSubcommand);
        return commandLine
            .registerConverter(ByteSize.class, ByteSize::parse)
            .registerConverter(TcpProxyExample.End.class, TcpProxyExample.End::parse)
            .setUsageHelpAutoWidth(true)
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setExecutionExceptionHandler(Examples::explain);
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return CommandLine.ExitCode.OK;
    }

    /** Prints the messages of a failure and its causes, without a stack trace unless a property requests it. */
    private static int explain(Exception failure, CommandLine command, CommandLine.ParseResult ignored) {
        return explain(failure, command);
    }

    private static int explain(Throwable failure, CommandLine command) {
        StringBuilder words = new StringBuilder(command.getCommandName()).append(" failed: ").append(sentence(failure));
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (words.indexOf(sentence(cause)) < 0) {
                words.append(System.lineSeparator()).append("  because: ").append(sentence(cause));
            }
        }
        command.getErr().println(words);
        if (Boolean.getBoolean("io.rpma.examples.trace")) {
            failure.printStackTrace(command.getErr());
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Returns the message of a failure, with its class if the message gives no reason. */
    private static String sentence(Throwable failure) {
        boolean hasReason = !(failure instanceof FileSystemException ofFile) || ofFile.getReason() != null;
        return failure.getMessage() != null && hasReason ? failure.getMessage() : failure.toString();
    }
}

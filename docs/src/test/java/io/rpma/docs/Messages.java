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
package io.rpma.docs;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The messages in the source code: those of exceptions, which are created by {@code new} or by one of the project's own methods
 * for that, and warnings and errors in the log. A value in a message is represented by {@code …}.
 */
final class Messages {
    /** The character that represents a value. */
    static final String VALUE = "…";

    private static final List<String> MODULES = List.of("transport-rpma-native", "transport-rpma", "integrations/micrometer",
        "integrations/vertx", "integrations/reactor-netty", "integrations/spring-boot");
    private static final Pattern EXCEPTION = Pattern.compile("\\w*(Exception|Error|Failure)");
    private static final Pattern FACTORY = Pattern.compile(
        "of|invalid|failure|noDevice|refused|unsupported|broken|breakDown|fail|violation|check|require|warn|error");

    // The keys are messages and the values their classes. If several classes have the same message, it is the first one.
    private final TreeMap<String, String> classes = new TreeMap<>();

    private Messages() {
    }

    /** Reads the sources in the project's folder. */
    static TreeMap<String, String> read(Path project) throws IOException {
        Messages messages = new Messages();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> sources = new ArrayList<>();
            for (String module : MODULES) {
                try (Stream<Path> tree = Files.walk(project.resolve(module).resolve("src/main/java"))) {
                    tree.filter(file -> file.toString().endsWith(".java")).sorted().forEach(sources::add);
                }
            }
            JavacTask task = (JavacTask) compiler.getTask(null, files, null, null, null,
                files.getJavaFileObjectsFromPaths(sources));
            for (CompilationUnitTree unit : task.parse()) {
                String file = Path.of(unit.getSourceFile().getName()).getFileName().toString();
                messages.new Scan(file.substring(0, file.length() - ".java".length())).scan(unit, null);
            }
        }
        return messages.classes;
    }

    private final class Scan extends TreeScanner<Void, Void> {
        private final String type;

        Scan(String type) {
            this.type = type;
        }

        @Override
        public Void visitNewClass(NewClassTree tree, Void nothing) {
            if (EXCEPTION.matcher(tree.getIdentifier().toString()).matches()) {
                tree.getArguments().forEach(this::add);
            }
            return super.visitNewClass(tree, nothing);
        }

        @Override
        public Void visitMethodInvocation(MethodInvocationTree tree, Void nothing) {
            String method = tree.getMethodSelect().toString();
            if (FACTORY.matcher(method.substring(method.lastIndexOf('.') + 1)).matches()
                && !method.matches("(List|Set|Map|Path|Optional|Stream|FunctionDescriptor|Duration)\\.of")) {
                tree.getArguments().forEach(this::add);
            }
            return super.visitMethodInvocation(tree, nothing);
        }

        private void add(ExpressionTree argument) {
            if (argument instanceof ConditionalExpressionTree choice) {
                add(choice.getTrueExpression());
                add(choice.getFalseExpression());
                return;
            }
            String text = text(argument).replaceAll("(" + VALUE + "|\\{})+", VALUE).strip();
            // A text that is only the name of a function, or a value, is a part of another message.
            if (text.contains(" ") && text.replace(VALUE, "").length() >= 8) {
                classes.putIfAbsent(text, type);
            }
        }
    }

    private static String text(ExpressionTree tree) {
        return switch (tree) {
            case LiteralTree literal when literal.getValue() instanceof String string -> string;
            case BinaryTree sum when sum.getKind() == com.sun.source.tree.Tree.Kind.PLUS ->
                text(sum.getLeftOperand()) + text(sum.getRightOperand());
            case ParenthesizedTree inner when !(inner.getExpression() instanceof ConditionalExpressionTree) ->
                text(inner.getExpression());
            default -> VALUE;
        };
    }
}

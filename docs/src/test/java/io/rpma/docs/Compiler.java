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

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** Compiles Java code that is not in a file. */
final class Compiler {
    private static final Pattern NAME = Pattern.compile("^(?:public )?(?:final )?class (\\w+)", Pattern.MULTILINE);

    private Compiler() {
    }

    /** Compiles a class with the class path of this JVM into a folder. Returns the errors of the compiler. */
    static String compile(Path folder, String code) throws IOException {
        Matcher name = NAME.matcher(code);
        if (!name.find()) {
            return "no class in " + code;
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter complaints = new StringWriter();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(folder));
            JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///" + name.group(1) + ".java"),
                    JavaFileObject.Kind.SOURCE) {
                @Override
                public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                    return code;
                }
            };
            boolean good = compiler.getTask(complaints, files, null, List.of("-proc:none", "-Xlint:deprecation"), null,
                List.of(source)).call();
            return good && complaints.toString().isEmpty() ? "" : complaints + code;
        }
    }
}

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

package io.rpma.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Examines a copy of Netty by the files that are next to its classes. */
final class NettyCopy {
    /** The class whose loading reveals a copy of Netty: every client and every server uses it. */
    static final String LANDMARK = "bootstrap/AbstractBootstrap";
    /** A class file that exists in Netty 4.2 and not in Netty 4.1. */
    private static final String SINCE_4_2 = "channel/IoHandlerFactory.class";
    private static final String VERSIONS = "META-INF/io.netty.versions.properties";
    private static final String TRANSPORT_KEY = "netty-transport.version";
    private static final Pattern MODULE_KEY = Pattern.compile("netty-[^.]+\\.version");
    /** The version of a release of all modules, 4.1 or 4.2. */
    private static final Pattern RELEASE = Pattern.compile("4\\.\\d+\\.\\d+\\..*");
    private static final Pattern VERSION = Pattern.compile("4\\.2\\.(\\d+)\\..*");
    /** The oldest micro version that the transport has been tested with. */
    private static final int OLDEST_MICRO = 13;

    private NettyCopy() {
    }

    /** Returns why the agent does not change the copy of Netty in this package, or {@code null} if it does. */
    static String reasonAgainst(ClassLoader loader, String root) {
        URL landmark = loader.getResource(root.replace('.', '/') + '/' + LANDMARK + ".class");
        String version = version(loader, landmark);
        String name = "Netty" + (version == null ? "" : " " + version) + " in the package " + root + where(landmark);
        if (loader.getResource(root.replace('.', '/') + '/' + SINCE_4_2) == null) {
            return name + " is left as it is: RPMA needs Netty 4.2";
        }
        Matcher matcher = VERSION.matcher(version == null ? "" : version);
        if (matcher.matches() && Integer.parseInt(matcher.group(1)) < OLDEST_MICRO) {
            return name + " is left as it is: RPMA needs Netty 4.2." + OLDEST_MICRO + ".Final or newer";
        }
        return null;
    }

    /** Returns the message about a relocated copy of Netty whose package is not among the options. */
    static String unnamed(ClassLoader loader, String root) {
        URL landmark = loader.getResource(root.replace('.', '/') + '/' + LANDMARK + ".class");
        boolean is42 = loader.getResource(root.replace('.', '/') + '/' + SINCE_4_2) != null;
        return "a relocated Netty in the package " + root + where(landmark) + " is left as it is: "
            + (is42 ? "the option prefix=" + root + " puts it on RPMA" : "RPMA needs Netty 4.2");
    }

    private static String where(URL landmark) {
        if (landmark == null) {
            return "";
        }
        String url = landmark.toString();
        int end = url.lastIndexOf("!/");
        return end < 0 ? "" : " (" + url.substring(url.lastIndexOf('/', end - 1) + 1, end) + ")";
    }

    /**
     * Returns the version of the copy of Netty that contains the class file, or {@code null} if its jar file does not contain the
     * version. Each module of Netty has a file with its own version. A jar file that combines the modules often has only one of
     * these files, of whichever module. All modules of a release have the same version, so that of another module counts if
     * there is none of the transport.
     */
    private static String version(ClassLoader loader, URL landmark) {
        String ofOther = null;
        for (URL url : versions(loader, landmark)) {
            Properties properties = new Properties();
            try {
                URLConnection connection = url.openConnection();
                // A cache would keep the jar file open.
                connection.setUseCaches(false);
                try (InputStream in = connection.getInputStream()) {
                    properties.load(in);
                }
            } catch (IOException e) {
                continue;
            }
            String version = properties.getProperty(TRANSPORT_KEY);
            if (version != null) {
                return version;
            }
            if (ofOther == null) {
                ofOther = versionOfAnyModule(properties);
            }
        }
        return ofOther;
    }

    /**
     * Returns the version of the first module of Netty in alphabetical order, or {@code null} if there is none. Libraries that
     * are released separately, such as netty-tcnative, have other version numbers.
     */
    private static String versionOfAnyModule(Properties properties) {
        for (String key : new TreeSet<>(properties.stringPropertyNames())) {
            String version = properties.getProperty(key);
            if (MODULE_KEY.matcher(key).matches() && RELEASE.matcher(version).matches()) {
                return version;
            }
        }
        return null;
    }

    private static List<URL> versions(ClassLoader loader, URL landmark) {
        List<URL> urls = new ArrayList<>();
        String class0 = landmark == null ? "" : landmark.toString();
        int end = class0.lastIndexOf("!/");
        try {
            if (end >= 0) {
                urls.add(URI.create(class0.substring(0, end + 2) + VERSIONS).toURL());
            } else {
                loader.getResources(VERSIONS).asIterator().forEachRemaining(urls::add);
            }
        } catch (IOException | IllegalArgumentException e) {
            // The version remains unknown.
        }
        return urls;
    }
}

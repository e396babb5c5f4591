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

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rpma.docs.Documents.Block;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.yaml.snakeyaml.Yaml;

/** Tests the blocks in the documents that are not Java: commands, parts of poms and links. */
@Timeout(240)
class OtherBlocksTest {
    private static final Set<String> KINDS = Set.of("java", "java run", "diff", "sh", "sh run", "xml", "yaml", "dockerfile");
    private static final Pattern LINK = Pattern.compile("\\[[^]]+]\\(([^)#]*)(#[^)]*)?\\)");
    private static final Pattern INSTRUCTION = Pattern.compile("(FROM|RUN|COPY|ENTRYPOINT|ENV|CMD|WORKDIR) .+");

    @Test
    void everyKindOfBlockIsTested() throws Exception {
        for (Path file : Documents.files()) {
            if (file.endsWith("protocol.md") || file.endsWith("one-sided.md")) {
                continue;
            }
            Set<String> kinds = new TreeSet<>();
            boolean open = false;
            for (String line : Files.readAllLines(file)) {
                if (line.strip().startsWith("```")) {
                    open = !open;
                    if (open) {
                        kinds.add(line.strip().substring(3));
                    }
                }
            }
            assertTrue(KINDS.containsAll(kinds), () -> file + " has " + kinds + "; tested are " + KINDS);
        }
    }

    @Test
    void commandsAreWellFormedAndTheProjectsOwnExist() throws Exception {
        List<Block> blocks = Documents.blocks("sh");
        assertTrue(blocks.size() > 5, blocks::toString);
        for (Block block : blocks) {
            String script = String.join("\n", block.text());
            assertEquals(new Run(0, ""), Run.of(Documents.PROJECT, List.of("bash", "-n", "-c", script)), block::toString);
            for (String line : block.text()) {
                String command = line.split(" ")[0];
                if (command.startsWith("./") || command.startsWith("testsuite/")) {
                    assertTrue(Files.isExecutable(Documents.PROJECT.resolve(command)), () -> block + ": there is no " + command);
                }
            }
        }
    }

    @Test
    void commandsThatAreToBeRunSucceed() throws Exception {
        int count = 0;
        for (Block block : Documents.blocks("sh")) {
            if (block.kind().equals("sh run")) {
                Run run = Run.of(Documents.PROJECT, List.of("bash", "-e", "-c", String.join("\n", block.text())));
                assertEquals(0, run.code(), () -> block + ": " + run.output());
                assertTrue(run.output().contains("provider"), run::output);
                count++;
            }
        }
        assertTrue(count >= 2, "only " + count);
    }

    @Test
    void dependenciesAreInTheBom() throws Exception {
        Element bom = parse(Files.readString(Documents.PROJECT.resolve("bom/pom.xml")));
        String version = text(bom, "version");
        Set<String> known = new TreeSet<>();
        NodeList managed = ((Element) bom.getElementsByTagName("dependencyManagement").item(0))
            .getElementsByTagName("artifactId");
        for (int i = 0; i < managed.getLength(); i++) {
            known.add(managed.item(i).getTextContent());
        }
        // The modules must be those that are published.
        Set<String> published = new TreeSet<>();
        NodeList modules = parse(Files.readString(Documents.PROJECT.resolve("pom.xml"))).getElementsByTagName("module");
        for (int i = 0; i < modules.getLength(); i++) {
            String pom = Files.readString(Documents.PROJECT.resolve(modules.item(i).getTextContent()).resolve("pom.xml"));
            Element module = parse(pom);
            if (!pom.contains("<maven.deploy.skip>true<") && !modules.item(i).getTextContent().equals("bom")) {
                NodeList own = module.getChildNodes();
                for (int j = 0; j < own.getLength(); j++) {
                    if (own.item(j).getNodeName().equals("artifactId")) {
                        published.add(own.item(j).getTextContent());
                    }
                }
            }
        }
        assertEquals(published, known);

        List<Block> blocks = Documents.blocks("xml");
        assertFalse(blocks.isEmpty());
        for (Block block : blocks) {
            Element snippet = parse(String.join("\n", block.text()));
            String artifact = text(snippet, "artifactId");
            assertTrue(known.contains(artifact) || artifact.equals("transport-rpma-bom"), () -> block + ": " + artifact);
            NodeList versions = snippet.getElementsByTagName("version");
            for (int i = 0; i < versions.getLength(); i++) {
                assertEquals(version, versions.item(i).getTextContent(), block::toString);
            }
        }
    }

    private static Element parse(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(xml)))
            .getDocumentElement();
    }

    private static String text(Element element, String name) {
        return element.getElementsByTagName(name).item(0).getTextContent();
    }

    @Test
    void manifestsAreWellFormed() throws Exception {
        for (Block block : Documents.blocks("yaml")) {
            Map<String, Object> manifest = new Yaml().load(String.join("\n", block.text()));
            // The block is a file of Kubernetes or of Docker Compose.
            assertTrue(manifest.keySet().containsAll(List.of("apiVersion", "kind", "metadata", "spec"))
                || manifest.keySet().equals(Set.of("services", "volumes")), block::toString);
        }
        for (Block block : Documents.blocks("dockerfile")) {
            for (String line : block.text()) {
                assertTrue(INSTRUCTION.matcher(line).matches(), () -> block + ": " + line);
            }
        }
    }

    @Test
    void linksLeadSomewhere() throws Exception {
        for (Path file : Documents.files()) {
            Matcher link = LINK.matcher(Files.readString(file));
            while (link.find()) {
                String target = link.group(1);
                if (target.contains("://")) {
                    continue;
                }
                Path to = target.isEmpty() ? file : file.resolveSibling(target);
                assertTrue(Files.exists(to), () -> file + " links to " + target);
                if (link.group(2) != null && to.toString().endsWith(".md")) {
                    String anchor = link.group(2).substring(1);
                    assertTrue(Files.readAllLines(to).stream().filter(line -> line.startsWith("#"))
                        .map(line -> line.replaceFirst("#+ ", "").toLowerCase().replaceAll("[^a-z0-9 -]", "").replace(' ', '-'))
                        .anyMatch(anchor::equals), () -> file + " links to " + link.group());
                }
            }
        }
    }
}

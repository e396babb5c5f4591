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
package io.rpma.soft.host;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.RpmaUnavailableException;
import io.rpma.posix.Posix;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A folder in which listeners have their Unix sockets, for processes of several users or containers
 * ({@code -Dio.rpma.soft.directory}). It is opened once and accessed by that descriptor ({@code /proc/self/fd}), so that its path
 * may have any length and another file system may be mounted over it. If it is deleted and created again, the new folder has to
 * be opened ({@link #renewed}).
 *
 * <p>For each socket there is a lock file, which the listener's process keeps locked ({@code flock(2)}) while it listens: the
 * kernel releases the lock when the process ends. No process ever waits for a lock. The holder of the lock may remove or replace
 * the socket; a process that starts to listen also removes the files of processes that have ended.
 *
 * <p>A user that may write to the folder may open the files in it: their mode is derived from that of the folder.
 */
public final class SharedFolder {
    /** The system property that names the folder. */
    public static final String DIRECTORY_PROPERTY = "io.rpma.soft.directory";

    static final int WORLD_WRITABLE = 0002;
    private static final int GROUP_WRITABLE = 0020;
    private static final int STICKY = 01000;
    private static final int SET_GROUP = 02000;
    private static final int OWNER = 0600;
    private static final int GROUP = 0060;
    private static final int OTHERS = 0006;
    private static final int FILE_TYPE = 0170000;
    private static final int SYMBOLIC_LINK = 0120000;
    private static final int OVERFLOW_GROUP = 65_534;
    private static final String LOCK = ".lock";
    /** The name of a listener, and its possible suffixes. */
    private static final Pattern NAME =
        Pattern.compile("(rpma[0-9]+-[0-9]+-[0-9a-f]+(?:%[0-9]+)?-[0-9]+)(?:\\.lock|\\.[0-9a-f]{16})?");
    /** The number of files that are checked for removal, so that a full folder does not delay the caller. */
    private static final int MOST_FILES = 4_096;
    /** The number of times a lock file is opened again because its holder has just removed it. */
    private static final int MOST_TRIES = 100;

    private static final String CONFIGURED_PATH = System.getProperty(DIRECTORY_PROPERTY);
    // Opened by the first call that needs it, and not by a static initializer: the folder may appear after an attempt has failed.
    // Guarded by the lock of the class.
    private static SharedFolder configured;

    private final String shown;
    private final String place;

    private SharedFolder(String shown, int fd) {
        this.shown = shown;
        place = "/proc/self/fd/" + fd;
    }

    /**
     * Returns the folder that is configured for this process, {@code null} if there is none.
     *
     * @throws RpmaUnavailableException if it cannot be used; the message says why. A later call tries again
     */
    public static synchronized SharedFolder configured() {
        if (configured == null && isConfigured()) {
            try {
                configured = open(CONFIGURED_PATH);
            } catch (RpmaException e) {
                throw new RpmaUnavailableException(e.getMessage(), e);
            }
        }
        return configured;
    }

    /** Returns whether processes of other users may be peers. The folder may not be usable yet. */
    public static boolean isConfigured() {
        return CONFIGURED_PATH != null;
    }

    /** Opens a folder; it stays open for the life of the process. */
    public static SharedFolder open(String path) throws RpmaException {
        // The dot makes the call fail if the path is not a folder.
        int fd = path.isBlank() || path.indexOf('\0') >= 0 ? -Posix.ENOENT : FileCalls.openPlace(path + "/.");
        if (fd < 0) {
            String remedy = switch (-fd) {
                case Posix.ENOENT -> "; create it with the mode 2770, and with the group of the users who may share memory";
                case Posix.EACCES -> "; this process needs the permission to search it (x)";
                default -> "; it must be a folder";
            };
            throw SoftLog.failure(RpmaError.PROVIDER, -fd, "-D" + DIRECTORY_PROPERTY + '=' + path + " cannot be used: "
                + Posix.strerror(-fd) + remedy, null);
        }
        SharedFolder folder = new SharedFolder(path, fd);
        boolean done = false;
        try {
            int mode = folder.number("", "mode");
            if ((mode & WORLD_WRITABLE) != 0 && (mode & STICKY) == 0) {
                String octal = Integer.toOctalString(mode & 07777);
                throw SoftLog.failure(RpmaError.PROVIDER, Posix.EACCES, "-D" + DIRECTORY_PROPERTY + '=' + path
                    + " cannot be used: its mode is " + octal + ", so any user can replace the files of any other user; give it"
                    + " the mode 2770 and a group, or at least the sticky bit (chmod +t)", null);
            }
            done = true;
            return folder;
        } finally {
            if (!done) {
                Posix.close(fd);
            }
        }
    }

    /**
     * Returns this folder; if it has been deleted, the one that has been created at its path since. The descriptor of this one
     * stays open, because other threads may be using it.
     *
     * @throws RpmaException if it has been deleted, and there is no other one that can be used
     */
    public SharedFolder renewed() throws RpmaException {
        return number("", "nlink") == 0 ? open(shown) : this;
    }

    /** Returns the path of a file by which the kernel finds it. */
    public String path(String name) {
        return place + '/' + name;
    }

    /** Returns the path of the folder for messages. */
    public String shown() {
        return shown;
    }

    /** Returns the path of a file for messages. */
    public String shown(String name) {
        return shown + '/' + name;
    }

    private int number(String name, String what) throws RpmaException {
        try {
            return ((Number) attributes(name, what).get(what)).intValue();
        } catch (IOException e) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EACCES, "the mode of " + shown(name) + " cannot be read: "
                + e.getMessage() + "; /proc must be mounted", e);
        }
    }

    private Map<String, Object> attributes(String name, String what) throws IOException {
        return name.isEmpty() ? Files.readAttributes(Path.of(place), "unix:" + what)
            : Files.readAttributes(Path.of(path(name)), "unix:" + what, LinkOption.NOFOLLOW_LINKS);
    }

    /** Allows all users that may write to the folder to open a file of this process, which no other process could open yet. */
    public void openToOthers(String name) throws RpmaException {
        if (FaultPoints.ENABLED) {
            FaultPoints.at("openingToOthers");
        }
        int mode = number("", "mode");
        int allowed = OWNER;
        if ((mode & GROUP_WRITABLE) != 0) {
            int group = number("", "gid");
            if (number(name, "gid") != group) {
                // The kernel refuses this if this process is not a member of the group. The group cannot open the file then.
                FileCalls.changeGroup(path(name), group);
            }
            // A group without a number in the user namespace is unknown, unless the file has inherited it from the folder.
            boolean same = (mode & SET_GROUP) != 0 || group != OVERFLOW_GROUP && number(name, "gid") == group;
            allowed |= same ? GROUP : 0;
        }
        allowed |= (mode & WORLD_WRITABLE) != 0 ? GROUP | OTHERS : 0;
        int result = changeMode(name, allowed);
        if (result < 0) {
            throw SoftLog.failure(RpmaError.PROVIDER, -result, "the mode of " + shown(name) + " cannot be changed to "
                + Integer.toOctalString(allowed) + ": " + Posix.strerror(-result), null);
        }
    }

    /** Changes the mode of a file, not that of the target of a symbolic link. Returns 0 or {@code -errno}. */
    private int changeMode(String name, int mode) {
        // The GNU C library before 2.32 cannot do this by one call. The file of a socket can only be opened as a location, and
        // fchmod(2) does not accept such a descriptor, but the path of the descriptor in /proc can be used.
        int fd = FileCalls.openPlaceItself(path(name));
        if (fd < 0) {
            return fd;
        }
        try {
            String file = "/proc/self/fd/" + fd;
            boolean link = ((int) Files.getAttribute(Path.of(file), "unix:mode") & FILE_TYPE) == SYMBOLIC_LINK;
            return link ? -FileCalls.ELOOP : FileCalls.changeMode(file, mode);
        } catch (IOException e) {
            return -Posix.ENOENT;
        } finally {
            Posix.close(fd);
        }
    }

    public int remove(String name) {
        return FileCalls.remove(path(name));
    }

    public int rename(String from, String to) {
        return FileCalls.rename(path(from), path(to));
    }

    /** Returns the owner and the mode of a file as text. */
    public String describe(String name) {
        try {
            Map<String, Object> attributes = attributes(name, "uid,gid,mode");
            return "user " + Integer.toUnsignedString((int) attributes.get("uid")) + ", group "
                + Integer.toUnsignedString((int) attributes.get("gid")) + ", mode "
                + Integer.toOctalString((int) attributes.get("mode") & 07777);
        } catch (IOException e) {
            return "not there";
        }
    }

    // ---- locks

    /**
     * Takes the lock of a name, without waiting.
     *
     * @return the open lock file, {@code -EAGAIN} if another process or another listener has it, or {@code -errno}
     */
    public int lock(String name) throws RpmaException {
        String file = name + LOCK;
        for (int i = 0; i < MOST_TRIES; i++) {
            // Use two calls: in a sticky folder the kernel may refuse to open another user's file with O_CREAT.
            int fd = FileCalls.openFile(path(file));
            boolean created = fd == -Posix.ENOENT;
            if (created) {
                fd = FileCalls.createFile(path(file));
                if (fd == -FileCalls.EEXIST) {
                    continue;
                }
            }
            if (fd < 0) {
                return fd;
            }
            boolean done = false;
            try {
                int result = FileCalls.lock(fd);
                if (result < 0) {
                    return result;
                }
                // Its last holder may have removed it between the two calls.
                if (isFile(fd, file)) {
                    if (created) {
                        openOrRemove(file);
                    }
                    done = true;
                    return fd;
                }
            } finally {
                if (!done) {
                    Posix.close(fd);
                }
            }
        }
        return -Posix.EAGAIN;
    }

    /** Allows others to open a lock file that this process has created and locked, or removes it if that fails. */
    private void openOrRemove(String file) throws RpmaException {
        boolean done = false;
        try {
            openToOthers(file);
            done = true;
        } finally {
            if (!done) {
                remove(file);
            }
        }
    }

    private boolean isFile(int fd, String name) {
        try {
            return Files.readAttributes(Path.of("/proc/self/fd/" + fd), "unix:ino,dev").equals(attributes(name, "ino,dev"));
        } catch (IOException e) {
            return false;
        }
    }

    /** Releases a lock. */
    public void unlock(String name, int lock) {
        remove(name + LOCK);
        Posix.close(lock);
    }

    /** Removes the files of processes that have ended, as far as this process is permitted to. */
    public void sweep() throws RpmaException {
        Set<String> names = new HashSet<>();
        int files = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of(place, "."))) {
            for (Path path : all) {
                Matcher matcher = NAME.matcher(path.getFileName().toString());
                if (matcher.matches()) {
                    names.add(matcher.group(1));
                }
                if (++files == MOST_FILES) {
                    break;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // A process that may write to the folder but not read it leaves that to others.
            return;
        }
        for (String name : names) {
            int lock = lock(name);
            if (lock >= 0) {
                removeAll(name);
                unlock(name, lock);
            }
        }
    }

    /** Removes a listener's socket and its temporary files. Only the holder of the lock may call it. */
    private void removeAll(String name) {
        remove(name);
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of(place, "."), name + ".*")) {
            for (Path path : all) {
                String file = path.getFileName().toString();
                if (!file.endsWith(LOCK)) {
                    remove(file);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            // The remaining files do no harm.
            return;
        }
    }
}

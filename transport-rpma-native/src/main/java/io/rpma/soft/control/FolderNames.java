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
package io.rpma.soft.control;

import io.rpma.RpmaError;
import io.rpma.RpmaException;
import io.rpma.posix.Posix;
import io.rpma.posix.Sockets;
import io.rpma.soft.host.FileCalls;
import io.rpma.soft.host.SharedFolder;
import io.rpma.soft.host.SoftLog;
import io.rpma.soft.host.User;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names of sockets in a {@link SharedFolder}. Every process that may open a socket in the folder is trusted. A listener's name
 * consists of its network namespace, its address and its port, because an address is meaningful only within a network namespace.
 * Listeners of other network namespaces are found by TCP: they send their names.
 *
 * <p>A socket is bound to a temporary name, made to listen, and then renamed atomically, which replaces a file that another
 * process may have left. The temporary name contains the process's token; the kernel reports that name to clients ({@code
 * getpeername(2)}), which can therefore tell whether two listeners belong to the same process, even if the process has no number
 * here because it is in another PID namespace.
 */
public final class FolderNames implements SocketNames {
    /** The prefix of the name that a listener in a folder sends by TCP. */
    static final String INTRODUCTION = "folder/";
    private static final Pattern LISTENER = Pattern.compile("rpma[0-9]+-[0-9]{1,10}-[0-9a-f]{8,32}(%[0-9]{1,10})?-[0-9]{1,5}");
    private static final Pattern TOKEN = Pattern.compile(".*\\.([0-9a-f]{16})");
    /**
     * How long another process may take to remove the remains of a name, in nanoseconds. It needs microseconds, but on a busy
     * machine it may wait long for a processor: one with a processor quota loses most of several periods of 100 ms.
     */
    static final long REMOVAL_NANOS = 2_000_000_000;
    private static final long PAUSE_NANOS = 1_000_000;

    // Replaced under the lock of this object when it has been deleted.
    private volatile SharedFolder folder;
    private final User user;
    private final String listenerPrefix;
    private final String clientPrefix;
    private final long removalNanos;
    private final String token = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
    private final AbstractNames.Probe probe = new AbstractNames.Probe();

    public FolderNames(SharedFolder folder, User user) {
        this(folder, user, REMOVAL_NANOS);
    }

    /**
     * Creates the names.
     *
     * @param removalNanos how long {@link #listen} waits for another process that removes the remains of a name, in nanoseconds
     */
    FolderNames(SharedFolder folder, User user, long removalNanos) {
        this.folder = folder;
        this.user = user;
        this.removalNanos = removalNanos;
        listenerPrefix = "rpma" + ControlMessage.VERSION + '-' + networkNamespace() + '-';
        // The prefix is the same for all users: the port of a client is unique among all clients of the folder's listeners.
        clientPrefix = AbstractNames.PREFIX + "folder/client/";
    }

    /** Returns the number of the network namespace, which is unique on the host. */
    private static String networkNamespace() {
        try {
            String link = Files.readSymbolicLink(Path.of("/proc/self/ns/net")).toString();
            return link.replaceAll("[^0-9]", "");
        } catch (IOException e) {
            // A kernel without network namespaces has a single one.
            return "0";
        }
    }

    @Override
    public String listener(InetSocketAddress address) {
        return listenerPrefix + AbstractNames.digits(address.getAddress()) + '-' + address.getPort();
    }

    @Override
    public String client(InetAddress address, int port) {
        return clientPrefix + AbstractNames.digits(address) + '/' + port;
    }

    @Override
    public boolean exists(String name) throws RpmaException {
        return isBound(name) != -Posix.ECONNREFUSED;
    }

    /** Returns {@code -ECONNREFUSED} if there is no socket of a name, otherwise another result. */
    private int isBound(String name) throws RpmaException {
        // The probe is a socket of the wrong type: the kernel reports that if there is a listener, which is not notified.
        return connect(probe.fd(), name);
    }

    @Override
    public int connect(int fd, String name) throws RpmaException {
        int result;
        do {
            result = SocketAddresses.connect(fd, folder.path(name));
        } while (result == -Posix.EINTR || result == -Posix.ENOENT && renew());
        return result == -Posix.ENOENT ? -Posix.ECONNREFUSED : result;
    }

    /** Opens the folder again if it has been deleted and created again. Returns whether this was the case. */
    private synchronized boolean renew() throws RpmaException {
        SharedFolder before = folder;
        folder = before.renewed();
        return folder != before;
    }

    @Override
    public ListeningSocket listen(InetSocketAddress address, int backlog) throws RpmaException {
        renew();
        // What this listener creates is removed from the same folder, also if that has been replaced by then.
        SharedFolder in = folder;
        String name = listener(address);
        int lock = lock(in, name, address);
        String first = name + '.' + token;
        int fd = -1;
        boolean done = false;
        try {
            fd = AbstractNames.newSocket(Sockets.SOCK_SEQPACKET);
            in.remove(first);
            check(SocketAddresses.bind(fd, in.path(first)), name, address);
            in.openToOthers(first);
            check(Sockets.listen(fd, backlog), name, address);
            check(in.rename(first, name), name, address);
            in.sweep();
            done = true;
        } finally {
            if (!done) {
                in.remove(first);
                if (fd >= 0) {
                    Posix.close(fd);
                }
                in.unlock(name, lock);
            }
        }
        return new ListeningSocket(fd, name, () -> {
            in.remove(name);
            in.unlock(name, lock);
        });
    }

    private int lock(SharedFolder in, String name, InetSocketAddress address) throws RpmaException {
        int lock = in.lock(name);
        long deadline = System.nanoTime() + removalNanos;
        boolean interrupted = false;
        try {
            while (lock == -Posix.EAGAIN && !exists(name) && System.nanoTime() - deadline < 0) {
                // Another process removes the remains of this name, or is about to listen. There is no event to wait for.
                LockSupport.parkNanos(PAUSE_NANOS);
                // A thread that stays interrupted does not pause.
                interrupted |= Thread.interrupted();
                lock = in.lock(name);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        if (lock == -Posix.EAGAIN) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EADDRINUSE, "cannot listen at " + address + ": another process has"
                + " locked " + in.shown(name) + ".lock ('fuser' shows which); end that process, or listen at another port",
                null);
        }
        return check(lock, name, address);
    }

    private int check(int result, String name, InetSocketAddress address) throws RpmaException {
        if (result >= 0) {
            return result;
        }
        String why = "cannot listen at " + address + ": " + folder.shown(name) + " cannot be created: "
            + Posix.strerror(-result);
        switch (-result) {
            case FileCalls.EROFS:
                throw SoftLog.failure(RpmaError.PROVIDER, FileCalls.EROFS, why + "; mount the folder with write access for a"
                    + " process that listens: a process that only connects needs only read access", null);
            case Posix.EACCES, Posix.EPERM:
                throw SoftLog.failure(RpmaError.PROVIDER, -result, why + "; user " + Integer.toUnsignedString(user.id())
                    + " must be allowed to write to the folder (" + folder.describe("") + "), and a file of that name that"
                    + " another user's process has left behind must be removed (" + folder.describe(name) + ')', null);
            default:
                throw SoftLog.failure(RpmaError.PROVIDER, -result, why, null);
        }
    }

    @Override
    public String whyNot(Sockets.Credentials peer) {
        return null;
    }

    @Override
    public boolean mayHaveMade(Sockets.Credentials client, Sockets.Credentials link) {
        return client != null && client.equals(link);
    }

    @Override
    public String token(int fd) {
        Matcher matcher = TOKEN.matcher(SocketAddresses.peerPath(fd));
        return matcher.matches() ? matcher.group(1) : null;
    }

    @Override
    public String introduction(String name) {
        return INTRODUCTION + name;
    }

    @Override
    public String introduced(InetSocketAddress remote, Hello hello, byte[] host) throws RpmaException {
        if (!hello.name().startsWith(INTRODUCTION)) {
            throw SoftLog.failure(RpmaError.PROVIDER, Posix.EACCES, "the listener at " + remote + " has no shared folder"
                + " configured, but this process has: start the listener with -D"
                + SharedFolder.DIRECTORY_PROPERTY + '=' + folder.shown() + " as well, or this process without it", null);
        }
        String name = hello.name().substring(INTRODUCTION.length());
        if (!LISTENER.matcher(name).matches() || !exists(name)) {
            throw SoftLog.failure(RpmaError.PROVIDER, Sockets.EHOSTUNREACH, "the listener at " + remote + " has no socket in "
                + folder.shown() + ": it is on another host, uses another folder, or has listened since before this folder was"
                + " created; both ends need the same one, mounted in both containers (-D" + SharedFolder.DIRECTORY_PROPERTY
                + "), and if it was deleted and created again, the listener must be bound again", null);
        }
        return name;
    }

    @Override
    public RpmaException failure(InetSocketAddress remote, String name, int errno) {
        String permission = errno == Posix.EACCES ? " (" + folder.describe(name) + "); user "
            + Integer.toUnsignedString(user.id()) + " must be allowed to write to the folder (" + folder.describe("")
            + "), whose mode should be 2770, so that the files in it inherit its group" : "";
        return SoftLog.failure(RpmaError.PROVIDER, errno, "connecting to " + remote + " failed: " + folder.shown(name) + ": "
            + Posix.strerror(errno) + permission, null);
    }
}

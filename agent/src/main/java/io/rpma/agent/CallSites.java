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

import java.util.regex.Pattern;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.field.FieldDescription;
import net.bytebuddy.description.field.FieldList;
import net.bytebuddy.description.method.MethodList;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.jar.asm.Label;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.OpenedClassReader;

/**
 * Changes the calls that create channels and the handlers of event loops. The call itself stays the same. Either one of its
 * arguments is first replaced with the result of a method of {@link Sites}, which may return the same object, or the result of
 * the call is passed to such a method. The same is done for the casts by which NIO's event loop accesses its handler.
 */
final class CallSites extends AsmVisitorWrapper.AbstractBase {
    private static final String SITES = "io/rpma/agent/Sites";

    private final String root;
    private int changed;

    /**
     * Creates a visitor for one class.
     *
     * @param root the package of Netty in internal form, with slashes
     */
    CallSites(String root) {
        this.root = root;
    }

    /** Returns the number of calls that were changed. */
    int changed() {
        return changed;
    }

    @Override
    public int mergeWriter(int flags) {
        return flags | ClassWriter.COMPUTE_MAXS;
    }

    @Override
    public ClassVisitor wrap(TypeDescription type, ClassVisitor visitor, Implementation.Context context, TypePool pool,
            FieldList<FieldDescription.InDefinedShape> fields, MethodList<?> methods, int writerFlags, int readerFlags) {
        String owner = type.getInternalName();
        boolean isLegacyLoop = owner.equals(root + "/channel/nio/NioEventLoop")
            || owner.equals(root + "/channel/epoll/EpollEventLoop");
        // Its inner classes are the tasks by which other threads call the handler.
        boolean isOfNioLoop = owner.matches(Pattern.quote(root + "/channel/nio/NioEventLoop") + "(\\$.*)?");
        return new ClassVisitor(OpenedClassReader.ASM_API, visitor) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
                boolean isBootstrap = (access & Opcodes.ACC_STATIC) == 0 && owner.equals(root + "/bootstrap/AbstractBootstrap");
                boolean isIoType = name.equals("isIoType") && (owner.equals(root + "/channel/SingleThreadIoEventLoop")
                    || owner.equals(root + "/channel/ManualIoEventLoop"));
                if (isLegacyLoop && name.startsWith("registeredChannels")) {
                    changed++;
                    int frame = (readerFlags & ClassReader.EXPAND_FRAMES) == 0 ? Opcodes.F_SAME : Opcodes.F_NEW;
                    return new RegisteredChannels(new Calls(next, false, false, isOfNioLoop), owner, descriptor, frame);
                }
                return next == null ? null : new Calls(next, isBootstrap, isIoType, isOfNioLoop);
            }
        };
    }

    /**
     * Writes the beginning of a method of a loop that returns the number of its channels, or their iterator. If the handler of
     * the loop replaces another one, the method returns the result of the agent, because it would ask the original handler, which
     * has none of the channels.
     */
    private final class RegisteredChannels extends MethodVisitor {
        private final String loop;
        private final boolean isNumber;
        private final int frame;

        RegisteredChannels(MethodVisitor next, String loop, String descriptor, int frame) {
            super(OpenedClassReader.ASM_API, next);
            this.loop = loop;
            isNumber = Type.getReturnType(descriptor) == Type.INT_TYPE;
            this.frame = frame;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            Label original = new Label();
            handler();
            visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "isStandIn", "(Ljava/lang/Object;)Z", false);
            visitJumpInsn(Opcodes.IFEQ, original);
            handler();
            visitMethodInsn(Opcodes.INVOKESTATIC, SITES, isNumber ? "registeredChannels" : "registeredChannelsIterator",
                isNumber ? "(Ljava/lang/Object;)I" : "(Ljava/lang/Object;)Ljava/util/Iterator;", false);
            visitInsn(isNumber ? Opcodes.IRETURN : Opcodes.ARETURN);
            visitLabel(original);
            visitFrame(frame, 1, new Object[] {loop}, 0, new Object[0]);
            // The method may begin with a frame of its own, and two frames cannot be at one instruction.
            visitInsn(Opcodes.NOP);
        }

        private void handler() {
            visitVarInsn(Opcodes.ALOAD, 0);
            visitMethodInsn(Opcodes.INVOKEVIRTUAL, loop, "ioHandler", "()L" + root + "/channel/IoHandler;", false);
        }
    }

    private final class Calls extends MethodVisitor {
        private final boolean isBootstrap;
        private final boolean isIoType;
        private final boolean isOfNioLoop;

        Calls(MethodVisitor next, boolean isBootstrap, boolean isIoType, boolean isOfNioLoop) {
            super(OpenedClassReader.ASM_API, next);
            this.isBootstrap = isBootstrap;
            this.isIoType = isIoType;
            this.isOfNioLoop = isOfNioLoop;
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            if (isOfNioLoop && opcode == Opcodes.CHECKCAST && type.equals(root + "/channel/nio/NioIoHandler")) {
                // The loop casts its handler to this class in order to call methods that only this class has.
                changed++;
                super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "handler", "(Ljava/lang/Object;)Ljava/lang/Object;", false);
            }
            super.visitTypeInsn(opcode, type);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            if (opcode == Opcodes.INVOKEINTERFACE && name.equals("newChannel") && descriptor.startsWith("()")
                    && (owner.equals(root + "/channel/ChannelFactory") || owner.equals(root + "/bootstrap/ChannelFactory"))) {
                newChannel(owner);
            } else if (opcode == Opcodes.INVOKEINTERFACE && name.equals("newHandler")
                    && owner.equals(root + "/channel/IoHandlerFactory")) {
                newHandler(owner);
            } else if (opcode == Opcodes.INVOKEINTERFACE && name.equals("register")
                    && owner.equals(root + "/channel/Channel$Unsafe")) {
                register();
            } else if (opcode == Opcodes.INVOKEINTERFACE && name.equals("setOption") && isConfig(owner)) {
                setOption(owner, descriptor);
                return;
            } else if (opcode == Opcodes.INVOKEINTERFACE && name.equals("getOption") && isConfig(owner)) {
                changed++;
                otherOption();
            } else if (isIoType && opcode == Opcodes.INVOKEVIRTUAL && name.equals("getClass")) {
                changed++;
                super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "handlerType", "(Ljava/lang/Object;)Ljava/lang/Class;", false);
                return;
            }
            super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
        }

        /** Returns whether a type is the configuration of channels, or one of those that a channel of a socket returns. */
        private boolean isConfig(String type) {
            return type.equals(root + "/channel/ChannelConfig") || type.equals(root + "/channel/socket/SocketChannelConfig")
                || type.equals(root + "/channel/socket/ServerSocketChannelConfig")
                || type.equals(root + "/channel/socket/DatagramChannelConfig");
        }

        /** Changes the operand stack from (factory) to (other factory). */
        private void newChannel(String type) {
            changed++;
            if (isBootstrap) {
                visitVarInsn(Opcodes.ALOAD, 0);
            } else {
                visitInsn(Opcodes.ACONST_NULL);
            }
            visitLdcInsn(Type.getObjectType(type));
            super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "channelFactory",
                "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Class;)Ljava/lang/Object;", false);
            visitTypeInsn(Opcodes.CHECKCAST, type);
        }

        /** Changes the operand stack from (factory, executor) to (other factory, executor). */
        private void newHandler(String type) {
            changed++;
            visitInsn(Opcodes.SWAP);
            visitLdcInsn(Type.getObjectType(type));
            super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "handlerFactory",
                "(Ljava/lang/Object;Ljava/lang/Class;)Ljava/lang/Object;", false);
            visitTypeInsn(Opcodes.CHECKCAST, type);
            visitInsn(Opcodes.SWAP);
        }

        /** Replaces (config, option, value) on the operand stack with whether the option, or one in its place, is accepted. */
        private void setOption(String owner, String descriptor) {
            changed++;
            // First, (config, option, value) is changed to (value, config, other option).
            visitInsn(Opcodes.DUP_X2);
            visitInsn(Opcodes.POP);
            otherOption();
            // Then this is changed to (config, other option, value).
            visitInsn(Opcodes.DUP2_X1);
            visitInsn(Opcodes.POP2);
            visitInsn(Opcodes.DUP2_X1);
            super.visitMethodInsn(Opcodes.INVOKEINTERFACE, owner, "setOption", descriptor, true);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "accepted", "(Ljava/lang/Object;Ljava/lang/Object;Z)Z", false);
        }

        /** Changes the operand stack from (config, option) to (config, other option). */
        private void otherOption() {
            visitInsn(Opcodes.DUP2);
            visitLdcInsn(Type.getObjectType(root + "/channel/ChannelFactory"));
            super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "option",
                "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Class;)Ljava/lang/Object;", false);
            visitTypeInsn(Opcodes.CHECKCAST, root + "/channel/ChannelOption");
            visitInsn(Opcodes.SWAP);
            visitInsn(Opcodes.POP);
        }

        /** Changes the operand stack from (unsafe, loop, promise) to (unsafe, other loop, promise). */
        private void register() {
            changed++;
            visitInsn(Opcodes.DUP_X1);
            visitLdcInsn(Type.getObjectType(root + "/channel/ChannelFactory"));
            super.visitMethodInsn(Opcodes.INVOKESTATIC, SITES, "loop",
                "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Class;)Ljava/lang/Object;", false);
            visitTypeInsn(Opcodes.CHECKCAST, root + "/channel/EventLoop");
            visitInsn(Opcodes.SWAP);
        }
    }
}

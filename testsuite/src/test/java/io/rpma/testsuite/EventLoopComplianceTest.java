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
package io.rpma.testsuite;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.testsuite.transport.AbstractSingleThreadEventLoopTest;

import java.util.concurrent.Executor;

/** Tests event loops: registration, shutdown with open channels, tasks during shutdown, suspending and scaling. */
public class EventLoopComplianceTest extends AbstractSingleThreadEventLoopTest {
    @Override
    protected EventLoopGroup newEventLoopGroup() {
        return TestTransport.CURRENT.newGroup(0, "event-loop");
    }

    @Override
    protected EventLoopGroup newAutoScalingEventLoopGroup() {
        return new MultiThreadIoEventLoopGroup(SCALING_MAX_THREADS, (Executor) null, AUTO_SCALING_CHOOSER_FACTORY,
            TestTransport.CURRENT.newIoHandlerFactory());
    }

    @Override
    protected Channel newChannel() {
        return TestTransport.CURRENT.newServerChannel();
    }

    @Override
    protected Class<? extends ServerChannel> serverChannelClass() {
        return TestTransport.CURRENT.serverChannel();
    }
}

// SPDX-License-Identifier: Apache-2.0
// The program's end of the socket to the device: calls that wait for their replies.
#pragma once

#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

// A descriptor; -1: why not is in errno. The device may then copy our memory.
int connect_to_socket();
// One call; an errno. Descriptors that come along go to `fds`, which has room for two. One at a time.
int exchange(int socket, const DeviceRequest& request, DeviceReply& reply, int* fds);

}  // namespace softspine::testbeds

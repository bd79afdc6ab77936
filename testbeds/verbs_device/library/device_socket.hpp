// SPDX-License-Identifier: Apache-2.0
// The program's end of the socket to a device: calls that wait for their replies. A program has as many devices as
// $SOFTSPINE_VERBS_DEVICE has sockets; they are told apart by their numbers.
#pragma once

#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

uint32_t count_devices();
// The one whose address is the host's own.
uint32_t own_device();
// The number behind `begin` in the path, if it is that of a device, and what follows; -1: it is none.
int device_in_path(const char* path, const char* begin, const char** rest);

// A descriptor; -1: why not is in errno. The device may then copy our memory.
int connect_to_socket(uint32_t device);
// One call; an errno. Descriptors that come along go to `fds`, which has room for two. One at a time.
int exchange(int socket, const DeviceRequest& request, DeviceReply& reply, int* fds);
// At any time, also during an exchange. Never waits: a socket that has no room wakes the device, too.
void wake_device(int socket);

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// What a kernel shows of an RDMA device below /sys/class/infiniband, as far as programs read it.
#pragma once

namespace softspine::testbeds {

inline constexpr int kNotServed = -2;

// A descriptor from which the file is read; -1: there is no such file, and errno says so; kNotServed: it is not ours.
int open_device_file(const char* path);

}  // namespace softspine::testbeds

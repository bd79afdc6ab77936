// SPDX-License-Identifier: Apache-2.0
// What a kernel shows of a program's devices below /sys/class/infiniband, read from the devices themselves
// (device_files.hpp of the device). Nothing is mounted.
#pragma once

#include <cstddef>

namespace softspine::testbeds {

inline constexpr int kNotServed = -2;

// The file's text, with a zero behind it; its bytes, or -1: there is no such file, and errno says so; kNotServed: the
// path is not below one of our devices.
int device_text(const char* path, char* out, size_t room);
// A descriptor from which it is read; -1 and kNotServed as above.
int open_device_file(const char* path);

}  // namespace softspine::testbeds

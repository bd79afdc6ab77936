// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "testbeds/verbs_device/library/device_socket.hpp"
#include "testbeds/verbs_device/library/file_calls.hpp"

namespace softspine::testbeds {

int device_text(const char* path, char* out, size_t room) {
  const char* rest = nullptr;
  const int device = device_in_path(path, "/sys/class/infiniband/softspine", &rest);
  if (device < 0 || *rest++ != '/') return kNotServed;
  DeviceRequest request{};
  request.call = Call::kReadFile;
  request.command_bytes = static_cast<uint32_t>(strnlen(rest, kCommandBytes));
  std::memcpy(request.command, rest, request.command_bytes);
  const int fd = connect_to_socket(static_cast<uint32_t>(device));
  if (fd < 0) return -1;
  DeviceReply reply{};
  const int error = exchange(fd, request, reply, nullptr);
  syscall(SYS_close, fd);
  if (error != 0 || reply.response_bytes >= room) {
    errno = error != 0 ? error : EIO;
    return -1;
  }
  std::memcpy(out, reply.response, reply.response_bytes);
  out[reply.response_bytes] = '\0';
  return static_cast<int>(reply.response_bytes);
}

}  // namespace softspine::testbeds

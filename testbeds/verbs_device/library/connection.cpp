// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "testbeds/verbs_device/library/device_socket.hpp"
#include "testbeds/verbs_device/library/ours.hpp"

namespace softspine::testbeds {

int call(OurContext& context, const DeviceRequest& request, DeviceReply& reply, int* fds) {
  pthread_mutex_lock(&context.mutex);
  const int error = exchange(context.socket, request, reply, fds);
  if (error == 0) context.port = reply.port;
  pthread_mutex_unlock(&context.mutex);
  return error;
}

bool map_ring(Ring& ring, int fd, uint32_t slots, uint32_t slot_bytes) {
  ring.slots = slots;
  ring.slot_bytes = slot_bytes;
  ring.bytes = queue_bytes(slots, slot_bytes);
  void* const place = mmap(nullptr, ring.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  ring.place = place == MAP_FAILED ? nullptr : static_cast<uint8_t*>(place);
  return ring.place != nullptr;
}

void unmap_ring(Ring& ring) {
  if (ring.place != nullptr) munmap(ring.place, ring.bytes);
  ring.place = nullptr;
}

OurContext* connect_to_device(uint32_t device) {
  const int fd = connect_to_socket(device);
  if (fd < 0) return nullptr;
  auto* const context = make<OurContext>();
  if (context == nullptr) {
    close(fd);
    return refuse(ENOMEM);
  }
  context->socket = fd;
  pthread_mutex_init(&context->mutex, nullptr);
  DeviceRequest request{};
  request.call = Call::kOpen;
  request.number = kDeviceVersion;
  DeviceReply reply{};
  int fds[2] = {-1, -1};
  const int error = call(*context, request, reply, fds);
  void* const bells =
      error != 0 ? MAP_FAILED : mmap(nullptr, sizeof(Doorbells), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
  if (fds[0] >= 0) close(fds[0]);
  if (bells == MAP_FAILED) {
    if (fds[1] >= 0) close(fds[1]);
    close(fd);
    std::free(context);
    return refuse(error != 0 ? error : ENOMEM);
  }
  context->doorbells = static_cast<Doorbells*>(bells);
  context->verbs.context.async_fd = fds[1];
  return context;
}

}  // namespace softspine::testbeds

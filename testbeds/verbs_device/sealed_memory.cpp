// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/sealed_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace softspine::testbeds {

SealedMemory SealedMemory::make(size_t bytes) noexcept {
  SealedMemory made;
  dataplane::OwnedFd fd{memfd_create("softspine-verbs", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return made;
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return made;
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (place == MAP_FAILED) return made;
  made.place_ = static_cast<uint8_t*>(place);
  made.bytes_ = bytes;
  made.fd_ = std::move(fd);
  return made;
}

SealedMemory::~SealedMemory() {
  if (place_ != nullptr) munmap(place_, bytes_);
}

}  // namespace softspine::testbeds

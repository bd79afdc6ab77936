// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/vhost_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <utility>

namespace softspine::dataplane {

namespace {

constexpr uint32_t kMaxRegions = 8;

struct TableHead {
  uint32_t regions;
  uint32_t padding;
};

struct Region {
  uint64_t guest_address;
  uint64_t size;
  uint64_t user_address;
  uint64_t mmap_offset;
};

class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, uint64_t bytes)
      : begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0)), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : begin_(std::exchange(other.begin_, MAP_FAILED)), bytes_(other.bytes_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (*this) munmap(begin_, bytes_);
  }
  explicit operator bool() const { return begin_ != MAP_FAILED; }

 private:
  void* begin_ = MAP_FAILED;
  uint64_t bytes_ = 0;
};

Mapping mapping_of(const Region& region, const OwnedFd& fd) noexcept {
  struct stat file{};
  uint64_t end = 0;
  if (region.size == 0 || __builtin_add_overflow(region.mmap_offset, region.size, &end)) return {};
  if (fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode) || end > static_cast<uint64_t>(file.st_size)) return {};
  return Mapping{fd.get(), end};
}

}  // namespace

bool is_mappable_table(std::span<const uint8_t> payload, std::span<const OwnedFd> descriptors) noexcept {
  TableHead head{};
  if (payload.size() < sizeof head) return false;
  std::memcpy(&head, payload.data(), sizeof head);
  if (head.regions == 0 || head.regions > kMaxRegions || head.regions != descriptors.size()) return false;
  if (payload.size() < sizeof head + head.regions * sizeof(Region)) return false;
  std::array<Mapping, kMaxRegions> all;  // at once, as DPDK will have them
  for (uint32_t i = 0; i < head.regions; ++i) {
    Region region{};
    std::memcpy(&region, payload.data() + sizeof head + i * sizeof region, sizeof region);
    all[i] = mapping_of(region, descriptors[i]);
    if (!all[i]) return false;
  }
  return true;
}

size_t most_descriptors(uint32_t request) noexcept {
  switch (request) {
    case 12:  // SET_VRING_KICK
    case 13:  // SET_VRING_CALL
    case 14:  // SET_VRING_ERR
    case 21:  // SET_SLAVE_REQ_FD
      return 1;
    default: return 0;
  }
}

bool is_of_a_refused_feature(uint32_t request) noexcept {
  switch (request) {
    case 6:   // SET_LOG_BASE
    case 7:   // SET_LOG_FD
    case 26:  // CREATE_CRYPTO_SESSION
    case 27:  // CLOSE_CRYPTO_SESSION
    case 28:  // POSTCOPY_ADVISE
    case 29:  // POSTCOPY_LISTEN
    case 30:  // POSTCOPY_END
    case 31:  // GET_INFLIGHT_FD
    case 32:  // SET_INFLIGHT_FD
      return true;
    default: return false;
  }
}

}  // namespace softspine::dataplane

// SPDX-License-Identifier: Apache-2.0
// All that programs have made at one device: each object is one client's (a process with a connection), and nobody else
// may name it. A handle is number + generation · limit: an old one finds nothing.
//
// Maxima: kQueuePairLimit, kCompletionQueueLimit, MemoryRegions::kRegions, kSharedLimit, kClientLimit; and kWorkLimit
// slots in all rings.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/verbs_device/completion_queue.hpp"
#include "testbeds/verbs_device/memory_regions.hpp"
#include "testbeds/verbs_device/process_memory.hpp"
#include "testbeds/verbs_device/queue_pair.hpp"

namespace softspine::testbeds {

inline constexpr uint32_t kClientLimit = 256;
inline constexpr uint64_t kWorkLimit = 1U << 22;

struct SharedReceiveQueue {
  uint32_t client = 0;
  uint32_t pd = 0;
  uint32_t users = 0;
  uint32_t most_pieces = 0;
  uint32_t limit = 0;  // fewer waiting than that: an event, once
  WorkRing ring;
};

struct CompletionChannel {
  uint32_t client = 0;
  uint32_t users = 0;
  dataplane::OwnedFd fd;
};

struct VerbsClient {
  explicit VerbsClient(pid_t pid) : process(pid), reads(pid), writes(pid) {}
  pid_t process;
  ProcessMemory reads;
  ProcessMemory writes;
  SealedMemory doorbells;
  dataplane::OwnedFd events;  // the end that we write
  std::set<uint32_t> pds;

  bool has_ended() const { return reads.has_ended() || writes.has_ended(); }
  Doorbells& bells() const { return *reinterpret_cast<Doorbells*>(doorbells.place()); }
};

// Objects by handle.
template <typename Object, uint32_t Limit>
class ObjectTable {
 public:
  // The object and its handle; null: there are Limit of them.
  Object* add(uint32_t& handle) {
    for (uint32_t tried = 0; tried < Limit; ++tried, ++next_) {
      const uint32_t number = next_ % Limit;
      if (number >= all_.size()) all_.resize(number + 1);
      if (all_[number].object) continue;
      Entry& entry = all_[number];
      entry.generation = entry.generation % (kHandles / Limit - 1) + 1;
      entry.object = std::make_unique<Object>();
      handle = number + entry.generation * Limit;
      ++next_;
      ++count_;
      return entry.object.get();
    }
    return nullptr;
  }
  Object* find(uint32_t handle) const {
    const uint32_t number = handle % Limit;
    const bool is_it = number < all_.size() && all_[number].generation == handle / Limit;
    return is_it ? all_[number].object.get() : nullptr;
  }
  Object* at(uint32_t number) const { return number < all_.size() ? all_[number].object.get() : nullptr; }
  void remove(uint32_t handle) {
    all_[handle % Limit].object.reset();
    --count_;
  }
  uint32_t count() const { return count_; }
  // remove_if(object) → whether it goes
  template <typename Goes>
  void remove_those(Goes&& goes) {
    for (Entry& entry : all_) {
      if (!entry.object || !goes(*entry.object)) continue;
      entry.object.reset();
      --count_;
    }
  }
  template <typename See>
  void for_each(See&& see) const {
    for (const Entry& entry : all_) {
      if (entry.object) see(*entry.object);
    }
  }

 private:
  static constexpr uint32_t kHandles = 1U << 24;  // a queue pair's number has so many bits
  struct Entry {
    std::unique_ptr<Object> object;
    uint32_t generation = 0;
  };
  std::vector<Entry> all_;
  uint32_t next_ = 1;
  uint32_t count_ = 0;
};

struct VerbsObjects {
  std::vector<std::unique_ptr<VerbsClient>> clients;  // by number; null: gone
  ObjectTable<QueuePair, kQueuePairLimit> queue_pairs;
  ObjectTable<CompletionQueue, kCompletionQueueLimit> completion_queues;
  ObjectTable<SharedReceiveQueue, kSharedLimit> shared_queues;
  ObjectTable<CompletionChannel, kSharedLimit> channels;
  MemoryRegions regions;
  uint64_t slots = 0;  // of all rings

  VerbsClient& client_of(const QueuePair& pair) const { return *clients[pair.client]; }
};

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
// libibverbs' objects, each destroyed with its owner; destroy them in the opposite order of their making.
#pragma once

#include <infiniband/verbs.h>
#include <unistd.h>

#include <memory>
#include <utility>

namespace softspine::tools {

template <auto Destroy>
struct DestroyedBy {
  template <typename T>
  void operator()(T* object) const {
    Destroy(object);
  }
};

using DeviceContext = std::unique_ptr<ibv_context, DestroyedBy<ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, DestroyedBy<ibv_dealloc_pd>>;
using MemoryRegion = std::unique_ptr<ibv_mr, DestroyedBy<ibv_dereg_mr>>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, DestroyedBy<ibv_destroy_comp_channel>>;
using CompletionQueue = std::unique_ptr<ibv_cq, DestroyedBy<ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, DestroyedBy<ibv_destroy_qp>>;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
// libibverbs' objects, each destroyed with its owner; destroy them in the opposite order of their making.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

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

}  // namespace softspine::tools

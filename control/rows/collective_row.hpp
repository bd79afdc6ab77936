// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "control/rows/rank_keys.hpp"

namespace softspine::control {

struct CollectiveRow : RankKeys {
  Collective op = Collective::kAllReduce;
  OneOrMore<Bytes> size;
  std::optional<std::string> plan;
  std::shared_ptr<const CollectivePlan> planned;  // read from it
  std::optional<uint32_t> root;
  dataplane::Duration compute;
};

}  // namespace softspine::control

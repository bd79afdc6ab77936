// SPDX-License-Identifier: Apache-2.0
// What a collective of a file becomes between these hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/model/fabric.hpp"
#include "control/rows/collective_row.hpp"

namespace softspine::control {

// The hosts in the order of the ranks: as they are given, but those of one server come together, where the first of
// them stands, in the order of its GPUs if a topology file has one. NCCL's rings and trees go by servers, too, however
// the ranks are numbered.
std::vector<uint32_t> in_order_of_ranks(const Fabric& fabric, std::span<const uint32_t> hosts);

// Hosts in the order of the ranks. With NCCL's choices for what is `auto`. Nothing if the row's algorithm is not for
// the operation, its root is none of the hosts, which are two at least, or there are too few or too many bytes.
std::optional<CollectiveShape> shape_of(const RankKeys& row, Collective op, uint32_t root, const Fabric& fabric,
                                        std::span<const uint32_t> hosts, uint64_t bytes);
inline constexpr const char* kPxnNeeds = "is for 'direct' between servers of several GPUs, as many in each";
// Of a row with a plan, as that has it.
std::optional<CollectiveShape> shape_of(const CollectiveRow& row, const Fabric& fabric, std::span<const uint32_t> hosts,
                                        uint64_t bytes);

}  // namespace softspine::control

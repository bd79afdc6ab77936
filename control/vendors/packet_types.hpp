// SPDX-License-Identifier: Apache-2.0
// The packets that a line of SONiC's is about, if they have a hash object of their own:
//
//   config switch-hash global ecmp-hash --packet-type ipv4-rdma [--action add|del] FIELD…    sonic-utilities PR 4539
//   config switch-hash global ecmp-hash packet-type ipv4-rdma add|del FIELD…                 SONiC PR 2100, the design
//
// The design's `add` sets the fields; the command's --action add puts them beside those that are there. `del` takes
// fields out of the object, and all of it if it names none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/vendors/vendor_words.hpp"

namespace softspine::control {

struct PacketType {
  enum class Action : uint8_t { kSet, kAdd, kDelete };

  std::optional<size_t> object;  // a place among HashObjectOf; none: the hash of all packets
  Action action = Action::kSet;

  void change(std::optional<FieldSet>& fields, FieldSet given) const;
};

// Takes these words out of `values`. Returns their error; empty: none.
std::string take_packet_type(std::vector<std::string>& values, PacketType& out);

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// What the tables of all generators share.
#pragma once

#include <algorithm>

#include "control/rows/tables.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {

inline const Limits<uint32_t> kSome = at_least<uint32_t>(1);

template <typename Spec>
bool check_size(Reader& reader, Value at, const Spec& spec) {
  const Size size = size_of(spec);
  const auto compare = [&](double found, double most, std::string_view what) {
    return found <= most ||
           reader.fail(at, "too large: " + std::to_string(static_cast<uint64_t>(std::min(found, 1e18))) + " " +
                               std::string(what) + ", at most " + std::to_string(static_cast<uint64_t>(most)));
  };
  const bool nodes = compare(size.nodes, kMaxNodes, "nodes");
  const bool links = compare(size.links, kMaxLinks, "links");
  return compare(size.ports, dataplane::kMaxPorts, "ports on one switch") && nodes && links;
}

// The counts that follow from others must exist before the size is judged.
template <typename Spec>
bool check_shape_and_size(Reader& reader, Value at, const Spec& spec) {
  if (const auto shape = shape_of(spec); !shape) {
    return reader.fail(at.child(shape.error().key), shape.error().message);
  }
  return check_size(reader, at, spec);
}

template <typename Spec>
Table<Spec>& with_hosts(Table<Spec>& table) {
  return table
      .optional("servers_of", &Spec::servers_of,
                "one of several fabrics: its hosts are NICs of that one's servers, in their order")
      .optional("host_vlan", &Spec::host_vlan, "the VLAN of every host that says no `vlan` of its own");
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// The reports' word for a host, by what stands behind it.
#pragma once

#include "control/model/attachment.hpp"

namespace softspine::testbeds {

// The kind of the host's port.
inline const char* edge_kind(const control::Attachment& attachment, uint16_t port) {
  if (const auto* const host = std::get_if<control::EdgeHost>(&attachment)) {
    return std::visit([](const auto& edge) { return edge.kWord; }, host->edges[port]);
  }
  const auto word = [](const auto& kind) -> const char* {
    if constexpr (requires { kind.kWord; }) return kind.kWord;
    return "";
  };
  return std::visit(word, attachment);
}

}  // namespace softspine::testbeds

// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/capture_source.hpp"

#include <algorithm>
#include <filesystem>

namespace softspine::analysis {

namespace {

std::optional<control::LinkEnd> port_named(const control::Fabric& fabric, const std::string& name) {
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) {
      if (fabric.name_of({n, p}) == name) return control::LinkEnd{n, p};
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<CaptureSource, std::string> capture_source(const control::Fabric& fabric, const std::string& text) {
  const size_t equals = text.find('=');
  std::error_code none;
  if (equals == std::string::npos || std::filesystem::exists(text, none)) return CaptureSource{text, {}, {}};
  const std::string place = text.substr(0, equals);
  const std::string file = text.substr(equals + 1);
  const bool is_node = std::ranges::find(fabric.nodes, place, &control::FabricNode::name) != fabric.nodes.end();
  if (is_node) return CaptureSource{file, place, {}};
  const auto port = port_named(fabric, place);
  if (!port) return std::unexpected("there is no node and no port '" + place + "', and no file '" + text + "'");
  return CaptureSource{file, {}, port};
}

}  // namespace softspine::analysis

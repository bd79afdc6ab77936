// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/polarization/merged_text.hpp"

#include <yaml-cpp/yaml.h>

namespace softspine::tests {
namespace {

void merge(YAML::Node into, const YAML::Node& from) {
  for (const auto& entry : from) {
    const auto key = entry.first.as<std::string>();
    if (entry.second.IsMap() && into[key] && into[key].IsMap()) {
      merge(into[key], entry.second);
    } else {
      into[key] = entry.second;
    }
  }
}

}  // namespace

std::string merged(const std::string& text, const std::string& piece) {
  YAML::Node whole = YAML::Load(text);
  merge(whole, YAML::Load(piece));
  return YAML::Dump(whole);
}

}  // namespace softspine::tests

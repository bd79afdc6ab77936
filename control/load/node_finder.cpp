// SPDX-License-Identifier: Apache-2.0
#include "control/load/resolve.hpp"
#include "control/topology/name_patterns.hpp"

namespace softspine::control {

NodeFinder::NodeFinder(Reader& reader, const Expanded& expanded)
    : reader_(reader), fabric_(expanded.fabric), names_known_(expanded.names_known), sets_(expanded.fabric) {}

std::optional<uint32_t> NodeFinder::find(std::string_view name, Value where) {
  if (NodeSets::is_set(name) && names_known_ && !reader_.is_invalid(where)) {
    reader_.fail(where, shown(name) + " is a set of nodes, and one is asked for");
    return std::nullopt;
  }
  const std::vector<uint32_t> found = find_all(name, where, Among::kNodes);
  return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

std::vector<uint32_t> NodeFinder::find_all(std::string_view text, Value where, Among among) {
  if (reader_.is_invalid(where)) return {};
  NamedNodes found = sets_.find(text, among);
  if (found.nodes.empty() && !found.wrong.empty() && names_known_) {
    const auto meant = [&] {
      switch (found.of) {
        case NamedNodes::Of::kServer: return guess_at(reader_, found.unknown, sets_.names_of_servers());
        case NamedNodes::Of::kJob: return reader_.guess(found.unknown, sets_.names_of_jobs());
        case NamedNodes::Of::kNode: return guess_at(reader_, found.unknown, sets_.names());
      }
      return std::string();
    };
    reader_.fail(where, found.wrong + (found.unknown.empty() ? "" : meant()));
  }
  return std::move(found.nodes);
}

std::string guess_at(Reader& reader, std::string_view unknown, const std::vector<std::string_view>& names) {
  const std::vector<std::string> patterns = patterns_near(unknown, names);
  const std::string found = reader.guess(unknown, {patterns.begin(), patterns.end()});
  return found.empty() ? reader.guess(unknown, names) : found;
}

}  // namespace softspine::control

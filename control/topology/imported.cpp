// SPDX-License-Identifier: Apache-2.0
#include "control/topology/imported.hpp"

#include <filesystem>
#include <utility>

#include "control/document/words.hpp"
#include "control/imports/foreign_lags.hpp"

namespace softspine::control {
namespace {

// Nothing if one of them cannot be read, which is then reported.
std::optional<std::vector<ImportFile>> files_of(Reader& reader, const ImportRow& row) {
  const Value where = row.where.child("file");
  const std::vector<Value> places = where.each();
  std::vector<ImportFile> out;
  for (size_t i = 0; i < row.files.items.size(); ++i) {
    const std::filesystem::path folder = std::filesystem::path(where.file()).parent_path();
    ImportFile file{.path = (folder / row.files.items[i]).string(), .text = {}};
    auto text = reader.text_of(file.path);
    if (!text) {
      reader.fail(places[i], shown(row.files.items[i]) + " " + text.error());
      return std::nullopt;
    }
    file.text = std::move(*text);
    out.push_back(std::move(file));
  }
  return out;
}

void add_nodes(Reader& reader, const ForeignTopology& topology, Collected& out, std::vector<uint32_t>& index) {
  for (const ForeignNode& node : topology.nodes) {
    if (out.draft.by_name.contains(node.name)) {
      reader.log().add(error_at(node.place, "the name " + node.name + " is that of a generated node"));
      out.links_known = false;
    }
    const auto role = role_of(node.use);
    index.push_back(role ? out.draft.add_switch(node.name, *role) : out.draft.add_host(node.name, node.server));
  }
}

LagRow row_of(const NamedLag& lag, Value where) {
  std::vector<Endpoint> members;
  for (const std::string& port : lag.ports) members.push_back({lag.between[0], port});
  return {.where = where,
          .name = lag.name,
          .between = {lag.between.begin(), lag.between.end()},
          .members = std::move(members),
          .min_links = lag.min_links,
          .mode = LagMode::kLacp,
          .fast_rate = lag.fast_rate,
          .agreed = true};
}

}  // namespace

void add_imported(Reader& reader, const ImportRow& row, Collected& out) {
  const ImportOptions options{
      .rules = row.rules, .rate = row.rate, .length = row.length, .place = place_of(row.where.child("file"))};
  const auto files = files_of(reader, row);
  const auto topology = files ? import_topology(reader, row.format, *files, options) : std::nullopt;
  if (!topology) {
    out.names_known = false;
    out.links_known = false;
    return;
  }
  std::vector<uint32_t> index;
  add_nodes(reader, *topology, out, index);
  for (const ForeignLink& link : topology->links) {
    if (link.damaged_millionths > 0)
      out.damaged.emplace(static_cast<uint32_t>(out.draft.links.size()), link.damaged_millionths);
    out.draft.links.push_back({.a = {index[link.a.node], link.a.port, {}},
                               .b = {index[link.b.node], link.b.port, {}},
                               .rate = link.rate,
                               .length = link.length,
                               .mtu = link.mtu});
  }
  for (const NamedLag& lag : lags_of(*topology)) out.lags.push_back(row_of(lag, row.where.child("file")));
  for (const Error& note : topology->notes) reader.warn(note);
}

}  // namespace softspine::control

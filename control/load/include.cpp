// SPDX-License-Identifier: Apache-2.0
#include "control/load/include.hpp"

#include <filesystem>
#include <iterator>
#include <map>
#include <unordered_map>

#include "control/document/words.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {
namespace {

std::string place_text(Value at) {
  return std::string(at.file()) + ":" + std::to_string(at.at().line);
}

template <typename T>
void append(std::vector<T>& into, std::vector<T>&& from) {
  into.insert(into.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

class Includer {
 public:
  Includer(Reader& reader, TestbedRow& row) : reader_(reader), row_(row) {}

  void run() {
    const std::vector<Value> places = row_.where.child("include").each();
    remember_names(row_);
    included_.emplace(normal(std::string(row_.where.file())), Value{});
    for (size_t i = 0; i < row_.include.items.size(); ++i) add(row_.include.items[i], places[i], 1);
  }

 private:
  static std::string normal(const std::string& path) {
    std::error_code failed;
    const auto out = std::filesystem::weakly_canonical(path, failed);
    return failed ? std::filesystem::path(path).lexically_normal().string() : out.string();
  }

  void add(const std::string& name, Value at, size_t depth) {
    if (reader_.is_invalid(at)) return;
    const std::string path = (std::filesystem::path(at.file()).parent_path() / name).string();
    const auto [other, is_new] = included_.emplace(normal(path), at);
    if (!is_new) {
      const bool root = other->second.file().empty();
      reader_.fail(at,
                   shown(name) + (root ? " is the testbed itself" : " is included in " + place_text(other->second)));
      return;
    }
    if (depth > kMaxIncludeDepth) {
      reader_.fail(at, "is more than " + std::to_string(kMaxIncludeDepth) + " files deep");
      return;
    }
    if (included_.size() > kMaxIncludedFiles + 1) {
      reader_.fail(at, "more than " + std::to_string(kMaxIncludedFiles) + " files are included");
      return;
    }
    const auto text = reader_.text_of(path);
    if (!text) {
      reader_.fail(at, shown(name) + " " + text.error());
      return;
    }
    bytes_ += text->size();
    if (bytes_ > kMaxTextBytes) {
      reader_.fail(at, "all included files together exceed " + std::to_string(kMaxTextBytes >> 20) + " MiB");
      return;
    }
    const Value root = reader_.open(*text, path);
    if (!root.file().empty()) take(root, depth);
  }

  void take(Value root, size_t depth) {
    TestbedRow part;
    included_table().read(reader_, root, part);
    if (root.kind() != ValueKind::kMap) return;
    const std::vector<Value> places = root.child("include").each();
    const std::vector<std::string> more = part.include.items;
    merge(std::move(part));
    for (size_t i = 0; i < more.size(); ++i) add(more[i], places[i], depth + 1);
  }

  void merge(TestbedRow&& part) {
    check_names(part);
    if (part.fabric.given) {
      if (row_.fabric.given)
        reader_.fail(part.where.child("fabric"), "another file of this testbed has a fabric");
      else
        row_.fabric = std::move(part.fabric);
    }
    append(row_.fabrics.items, std::move(part.fabrics.items));
    if (part.topology) merge_topology(std::move(*part.topology));
    for (size_t i = 0; i < kProfileOfRole.size(); ++i) {
      auto& given = part.roles.*kProfileOfRole[i];
      auto& taken = row_.roles.*kProfileOfRole[i];
      if (given && taken) {
        reader_.fail(part.roles.where.child(kSwitchRoles[i].word),
                     "another file of this testbed has this role's profile");
      } else if (given) {
        taken = std::move(given);
        row_.roles.where = part.roles.where;
      }
    }
    append(row_.profiles.items, std::move(part.profiles.items));
    append(row_.jobs, std::move(part.jobs));
    append(row_.workload, std::move(part.workload));
    append(row_.collectives, std::move(part.collectives));
    append(row_.training, std::move(part.training));
    append(row_.traces, std::move(part.traces));
    append(row_.overrides, std::move(part.overrides));
    append(row_.faults, std::move(part.faults));
    append(row_.expect, std::move(part.expect));
  }

  void merge_topology(TopologyRow&& part) {
    if (!row_.topology) {
      row_.topology = std::move(part);
      return;
    }
    TopologyRow& into = *row_.topology;
    auto& [where, imported, nodes, links, stacks, lags, servers] = part;  // all: a new key must be merged, too
    if (imported.given && into.imported.given) {
      reader_.fail(where.child("import"), "another file of this testbed has an import");
    } else if (imported.given) {
      into.imported = std::move(imported);
    }
    append(into.nodes.items, std::move(nodes.items));
    append(into.stacks.items, std::move(stacks.items));
    append(into.lags, std::move(lags));
    append(into.servers, std::move(servers));
    append(into.links.value, std::move(links.value));
    into.links.given = into.links.given || links.given;
    into.links.good = into.links.good && links.good;
  }

  void remember_names(const TestbedRow& row) {
    for (const auto& item : row.profiles.items) profiles_.emplace(item.name, item.key);
    for (const auto& item : row.fabrics.items) fabrics_.emplace(item.name, item.key);
    if (!row.topology) return;
    for (const auto& item : row.topology->nodes.items) nodes_.emplace(item.name, item.key);
    for (const auto& item : row.topology->stacks.items) stacks_.emplace(item.name, item.key);
  }

  using Names = std::unordered_map<std::string, Value>;

  // Of one file the document has complained about names that stand twice.
  template <typename T>
  void check(Names& names, std::vector<T>& items, std::string_view what) {
    std::erase_if(items, [&](const T& item) {
      const auto [other, is_new] = names.emplace(item.name, item.key);
      if (is_new || other->second.file() == item.key.file()) return false;
      reader_.fail(item.key, "the " + std::string(what) + " " + item.name + " stands in " + place_text(other->second));
      return true;
    });
  }
  void check_names(TestbedRow& part) {
    check(profiles_, part.profiles.items, "profile");
    check(fabrics_, part.fabrics.items, "fabric");
    if (!part.topology) return;
    check(nodes_, part.topology->nodes.items, "node");
    check(stacks_, part.topology->stacks.items, "stack");
  }

  Reader& reader_;
  TestbedRow& row_;
  std::map<std::string, Value> included_;  // where; by its path
  size_t bytes_ = 0;
  Names nodes_;
  Names stacks_;
  Names profiles_;
  Names fabrics_;
};

}  // namespace

void add_included(Reader& reader, TestbedRow& row) {
  if (!row.include.items.empty()) Includer(reader, row).run();
}

}  // namespace softspine::control

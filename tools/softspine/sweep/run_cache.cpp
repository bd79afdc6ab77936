// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/run_cache.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "tools/command/whole_file.hpp"

namespace softspine::tools {

using control::Json;

namespace {

// Entries of another form have other names.
constexpr std::string_view kForm = "1";

std::string id_of_text(std::string_view text) {
  const boost::uuids::name_generator_sha1 generator{boost::uuids::ns::oid()};
  return to_string(generator(text.data(), text.size()));
}

std::expected<std::string, std::string> bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in || !out) return std::unexpected(fmt::format("{} cannot be read", path.string()));
  return std::move(out).str();
}

}  // namespace

std::filesystem::path RunCache::usual_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::filesystem::path(cache) / "softspine" / "sweep";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::filesystem::path(home) / ".cache" / "softspine" / "sweep";
}

std::expected<RunCache, std::string> RunCache::open(const std::filesystem::path& folder,
                                                    const std::filesystem::path& program,
                                                    const std::filesystem::path& testbed) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return std::unexpected(fmt::format("{}: {}", folder.string(), failed.message()));
  const auto program_bytes = std::filesystem::file_size(program, failed);
  const auto program_time =
      failed ? std::filesystem::file_time_type{} : std::filesystem::last_write_time(program, failed);
  if (failed) return std::unexpected(fmt::format("{}: {}", program.string(), failed.message()));
  const auto text = bytes_of(testbed);
  if (!text) return std::unexpected(text.error());
  // Files that the testbed names are beside it.
  return RunCache(folder, fmt::format("{} {} {} {} {}", kForm, program_bytes, program_time.time_since_epoch().count(),
                                      id_of_text(*text), std::filesystem::weakly_canonical(testbed).string()));
}

std::filesystem::path RunCache::entry_of(std::span<const control::Setting> settings) const {
  std::string text = begin_;
  for (const control::Setting& setting : settings) text += "\n" + text_of(setting);
  return folder_ / (id_of_text(text) + ".json");
}

std::string RunCache::id_of_file(const std::string& path) {
  const std::lock_guard guard{contents_->lock};
  const auto [at, is_new] = contents_->ids.try_emplace(path);
  if (is_new) {
    const auto bytes = bytes_of(path);
    at->second = bytes ? id_of_text(*bytes) : "none";
  }
  return at->second;
}

std::optional<FinishedRun> RunCache::find(std::span<const control::Setting> settings) {
  const auto bytes = bytes_of(entry_of(settings));
  if (!bytes) return std::nullopt;
  Json entry = Json::parse(*bytes, nullptr, false);
  if (!entry.is_object() || !entry.contains("inputs") || !entry["inputs"].is_object()) return std::nullopt;
  for (const auto& [path, id] : entry["inputs"].items()) {
    if (id_of_file(path) != id) return std::nullopt;
  }
  const bool is_whole = entry.contains("exit_status") && entry["exit_status"].is_number_integer() &&
                        entry.contains("complaint") && entry["complaint"].is_string() && entry.contains("report");
  if (!is_whole) return std::nullopt;
  return FinishedRun{.exit_status = entry["exit_status"].get<int>(),
                     .report = std::move(entry["report"]),
                     .complaint = entry["complaint"].get<std::string>()};
}

std::expected<void, std::string> RunCache::put(std::span<const control::Setting> settings,
                                               const std::vector<std::string>& inputs, const FinishedRun& run) {
  Json ids = Json::object();
  for (const std::string& path : inputs) ids[path] = id_of_file(path);
  const Json entry{{"inputs", std::move(ids)},
                   {"exit_status", run.exit_status},
                   {"complaint", run.complaint},
                   {"report", run.report}};
  return write_whole(entry_of(settings), entry.dump() + "\n");
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
// A line from whoever is at the other end of the connection, and what is read of it: nothing that nests too deep to be
// copied or printed, no text that a terminal would obey, every number within its range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace softspine::tools {

using Json = nlohmann::ordered_json;

inline constexpr int kMaxNesting = 4;  // our own deepest: a queue pair in the list of an end
inline constexpr int kMaxKeys = 512;   // an ordered object compares a new key with all before it
inline constexpr size_t kMaxSentenceBytes = 300;

// The object that a line is. If it is {"error": …}, that is the error.
std::expected<Json, std::string> object_of(std::string_view line);

// Reads numbers one after the other and keeps the first error.
class NumberReader {
 public:
  explicit NumberReader(const Json& json) : json_(json) {}

  template <typename T>
  void read(const char* key, T& into, uint64_t least, uint64_t most) {
    if (const auto value = number_in(key, least, most)) into = static_cast<T>(*value);
  }
  // Empty: none.
  const std::string& error() const { return error_; }

 private:
  std::optional<uint64_t> number_in(const char* key, uint64_t least, uint64_t most);

  const Json& json_;
  std::string error_;
};

}  // namespace softspine::tools

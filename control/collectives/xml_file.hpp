// SPDX-License-Identifier: Apache-2.0
// An XML file and its mistakes: each has its line, and they come in the order of the file. pugixml knows offsets alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/document/error.hpp"

namespace softspine::control {

constexpr size_t kMaxXmlErrors = 50;  // the later ones are not kept

// Decimal digits alone, `most` at most.
std::optional<uint64_t> whole_number(std::string_view text, uint64_t most);

class XmlFile {
 public:
  // `name` is what errors have. Both must outlive it.
  XmlFile(std::string_view text, const std::string& name);

  // Reads it: the outermost element. Nothing: it is no XML, which is a mistake.
  std::optional<pugi::xml_node> read();

  int line_of(const pugi::xml_node& at) const { return place_of(at.offset_debug()).line; }
  Error error_of(const pugi::xml_node& at, std::string message) const {
    return error_at(at.offset_debug(), std::move(message));
  }

  // A mistake; it returns false.
  bool fail(const pugi::xml_node& at, std::string message) { return add(error_of(at, std::move(message))); }
  bool fail_in(int line, std::string message) { return add({name_, "", line, 0, std::move(message)}); }
  bool is_good() const { return errors_.empty(); }
  Errors take_errors();

 private:
  struct LineColumn {
    int line;
    int column;
  };
  LineColumn place_of(ptrdiff_t offset) const;
  Error error_at(ptrdiff_t offset, std::string message) const;
  bool add(Error error);

  std::string_view text_;
  const std::string& name_;
  std::vector<size_t> begins_{0};  // of lines
  pugi::xml_document document_;
  Errors errors_;
};

}  // namespace softspine::control

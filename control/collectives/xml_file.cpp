// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/xml_file.hpp"

#include <algorithm>
#include <charconv>

namespace softspine::control {

std::optional<uint64_t> whole_number(std::string_view text, uint64_t most) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || out > most) return std::nullopt;
  return out;
}

XmlFile::XmlFile(std::string_view text, const std::string& name) : text_(text), name_(name) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') begins_.push_back(i + 1);
  }
}

std::optional<pugi::xml_node> XmlFile::read() {
  const auto parsed = document_.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
  if (parsed) return document_.document_element();
  add(error_at(parsed.offset, std::string("is no XML: ") + parsed.description()));
  return std::nullopt;
}

Errors XmlFile::take_errors() {
  sort_by_place(errors_);
  return std::move(errors_);
}

XmlFile::LineColumn XmlFile::place_of(ptrdiff_t offset) const {
  const size_t at = std::min(static_cast<size_t>(std::max<ptrdiff_t>(0, offset)), text_.size());
  const auto after = std::ranges::upper_bound(begins_, at);
  return {static_cast<int>(after - begins_.begin()), static_cast<int>(at - *(after - 1)) + 1};
}

Error XmlFile::error_at(ptrdiff_t offset, std::string message) const {
  const auto [line, column] = place_of(offset);
  return {name_, "", line, column, std::move(message)};
}

bool XmlFile::add(Error error) {
  if (errors_.size() < kMaxXmlErrors) errors_.push_back(std::move(error));
  return false;
}

}  // namespace softspine::control

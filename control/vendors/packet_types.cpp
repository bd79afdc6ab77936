// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/packet_types.hpp"

#include <algorithm>
#include <array>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

// The words, by HashObjectOf.
constexpr std::array<std::string_view, dataplane::kHashObjects> kPacketTypes{"ipv4", "ipnip", "ipv6", "ipv4-rdma",
                                                                             "ipv6-rdma"};

std::string read_packet_type(std::string word, PacketType& out) {
  std::ranges::replace(word, '_', '-');
  const auto* found = std::ranges::find(kPacketTypes, word);
  if (found == kPacketTypes.end()) return "there is no packet type " + shown(word);
  out.object = static_cast<size_t>(found - kPacketTypes.begin());
  return "";
}

std::string read_packet_action(std::string_view word, PacketType& out) {
  if (word != "add" && word != "del") return "expected add or del, found " + shown(word);
  out.action = word == "add" ? PacketType::Action::kAdd : PacketType::Action::kDelete;
  return "";
}

// The value of an option, as its own word or behind "=".
std::optional<std::string> option_value(std::string_view option, const std::vector<std::string>& words, size_t& at) {
  const std::string& word = words[at];
  if (word == option) return ++at < words.size() ? words[at] : "";
  if (word.starts_with(option) && word[option.size()] == '=') return word.substr(option.size() + 1);
  return std::nullopt;
}

}  // namespace

void PacketType::change(std::optional<FieldSet>& fields, FieldSet given) const {
  switch (action) {
    case Action::kSet: fields = given; return;
    case Action::kAdd: fields = fields.value_or(0) | given; return;
    case Action::kDelete:
      if (fields) *fields &= ~given;
      if (given == 0 || fields == FieldSet{0}) fields.reset();
      return;
  }
}

std::string take_packet_type(std::vector<std::string>& values, PacketType& out) {
  std::vector<std::string> others;
  std::string error;
  bool has_action = false;
  for (size_t at = 0; at < values.size() && error.empty(); ++at) {
    if (const auto type = option_value("--packet-type", values, at)) {
      error = read_packet_type(*type, out);
    } else if (const auto action = option_value("--action", values, at)) {
      error = read_packet_action(*action, out);
      has_action = true;
    } else if (values[at] == "packet-type" && at + 2 < values.size() + 1) {
      const std::string_view word = at + 2 < values.size() ? std::string_view(values[at + 2]) : "";
      error = read_packet_type(at + 1 < values.size() ? values[at + 1] : "", out);
      if (error.empty()) error = read_packet_action(word, out);
      if (out.action == PacketType::Action::kAdd) out.action = PacketType::Action::kSet;
      at += 2;
    } else {
      others.push_back(values[at]);
    }
  }
  if (error.empty() && has_action && !out.object) error = "--action goes with --packet-type only";
  values = std::move(others);
  return error;
}

}  // namespace softspine::control

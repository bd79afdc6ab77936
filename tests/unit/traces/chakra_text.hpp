// SPDX-License-Identifier: Apache-2.0
// Execution traces as bytes, written field by field: protobuf's wire format by a second hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace softspine::tests {

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7U) out += static_cast<char>(0x80U | (value & 0x7fU));
  return out + static_cast<char>(value);
}
inline std::string number_field(uint32_t field, uint64_t value) {
  return varint(field << 3U) + varint(value);
}
inline std::string bytes_field(uint32_t field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}
inline std::string delimited(const std::string& message) {
  return varint(message.size()) + message;
}

// A node's fields, one behind the other.
class NodeText {
 public:
  NodeText(uint64_t id, uint64_t type) : text_((id == 0 ? "" : number_field(1, id)) + number_field(3, type)) {}
  NodeText& name(const std::string& name) { return add(bytes_field(2, name)); }
  // Packed, as proto3 writes them.
  NodeText& needs(const std::vector<uint64_t>& ids, bool of_data = true) {
    std::string packed;
    for (const uint64_t id : ids) packed += varint(id);
    return add(bytes_field(of_data ? 5 : 4, packed));
  }
  NodeText& need_unpacked(uint64_t id) { return add(number_field(4, id)); }
  NodeText& micros(uint64_t duration) { return add(number_field(7, duration)); }
  NodeText& attribute(const std::string& name, uint64_t value, uint32_t field = 9) {
    return add(bytes_field(10, bytes_field(1, name) + number_field(field, value)));
  }
  NodeText& text(const std::string& name, const std::string& value) {
    return add(bytes_field(10, bytes_field(1, name) + bytes_field(29, value)));
  }
  NodeText& add(const std::string& field) {
    text_ += field;
    return *this;
  }
  NodeText& message(const std::string& peer, uint64_t rank, uint64_t bytes, uint64_t tag = 0) {
    return attribute(peer, rank).attribute("comm_size", bytes).attribute("comm_tag", tag);
  }
  NodeText& collective(uint64_t type, uint64_t bytes, const std::string& group = "") {
    attribute("comm_type", type).attribute("comm_size", bytes);
    return group.empty() ? *this : text("pg_name", group);
  }
  std::string str() const { return delimited(text_); }

 private:
  std::string text_;
};

inline std::string head(const std::string& version = "0.0.4") {
  return delimited(bytes_field(1, version));
}
inline NodeText compute(uint64_t id, uint64_t micros) {
  return NodeText(id, 4).micros(micros);
}
inline NodeText send(uint64_t id, uint64_t to, uint64_t bytes, uint64_t tag = 0) {
  return NodeText(id, 5).message("comm_dst", to, bytes, tag);
}
inline NodeText receive(uint64_t id, uint64_t from, uint64_t bytes, uint64_t tag = 0) {
  return NodeText(id, 6).message("comm_src", from, bytes, tag);
}
inline NodeText collective(uint64_t id, uint64_t type, uint64_t bytes, const std::string& group = "") {
  return NodeText(id, 7).collective(type, bytes, group);
}

}  // namespace softspine::tests

// SPDX-License-Identifier: Apache-2.0
// A message in protobuf's wire format, put together field by field. No generated code: a trace has twenty kinds of
// fields, and each packet is written once.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace softspine::control {

class ProtoText {
 public:
  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

  void number(uint32_t field, uint64_t value) {
    put(uint64_t{field} << 3U | kVarint);
    put(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    put(uint64_t{field} << 3U | kFixed64);
    uint8_t place[sizeof value];
    Coded::WriteLittleEndian64ToArray(value, place);
    bytes_.append(reinterpret_cast<const char*>(place), sizeof place);
  }
  // A string, or the bytes of a message.
  void text(uint32_t field, std::string_view value) {
    put(uint64_t{field} << 3U | kDelimited);
    put(value.size());
    bytes_.append(value);
  }
  void message(uint32_t field, const ProtoText& value) { text(field, value.bytes_); }

 private:
  using Coded = google::protobuf::io::CodedOutputStream;
  static constexpr uint64_t kVarint = 0;
  static constexpr uint64_t kFixed64 = 1;
  static constexpr uint64_t kDelimited = 2;
  static constexpr size_t kMaxVarint = 10;

  void put(uint64_t value) {
    uint8_t place[kMaxVarint];
    const uint8_t* const end = Coded::WriteVarint64ToArray(value, place);
    bytes_.append(reinterpret_cast<const char*>(place), static_cast<size_t>(end - place));
  }

  std::string bytes_;
};

}  // namespace softspine::control

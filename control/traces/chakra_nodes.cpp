// SPDX-License-Identifier: Apache-2.0
#include "control/traces/chakra_nodes.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>

#include "control/document/words.hpp"
#include "control/traces/gunzip_stream.hpp"

namespace softspine::control {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::ArrayInputStream;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::FileInputStream;
using google::protobuf::io::ZeroCopyInputStream;
using WireType = WireFormatLite::WireType;

constexpr uint32_t kMaxMessage = 64U << 20U;
constexpr size_t kMaxNodeName = 60;
// The layout of nodes is the same in all of these.
constexpr std::array<std::string_view, 4> kVersions{"0.0.4", "1.0.0", "1.0.1", "1.0.2"};

WireType wire_of(uint32_t tag) {
  return WireFormatLite::GetTagWireType(tag);
}
int field_of(uint32_t tag) {
  return WireFormatLite::GetTagFieldNumber(tag);
}

// Where the streams stand: the first bytes of what they hold say whether it is gzipped.
bool looks_gzipped(ZeroCopyInputStream& stream) {
  const void* data = nullptr;
  int size = 0;
  do {
    if (!stream.Next(&data, &size)) return false;
  } while (size == 0);
  const auto* const bytes = static_cast<const uint8_t*>(data);
  const bool is_gzip = size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  stream.BackUp(size);
  return is_gzip;
}

bool read_text(CodedInputStream& in, uint32_t tag, size_t most, std::string& out) {
  uint32_t length = 0;
  if (wire_of(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED || !in.ReadVarint32(&length)) return false;
  if (length > static_cast<uint32_t>(std::max(0, in.BytesUntilLimit()))) return false;
  const auto kept = static_cast<uint32_t>(std::min<size_t>(length, most));
  return in.ReadString(&out, static_cast<int>(kept)) && in.Skip(static_cast<int>(length - kept));
}

template <typename Take>
bool read_within(CodedInputStream& in, uint32_t tag, Take&& take) {
  uint32_t length = 0;
  if (wire_of(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED || !in.ReadVarint32(&length)) return false;
  if (length > static_cast<uint32_t>(std::max(0, in.BytesUntilLimit()))) return false;
  const auto limit = in.PushLimit(static_cast<int>(length));
  while (in.BytesUntilLimit() > 0) {
    if (!take()) return false;
  }
  in.PopLimit(limit);
  return true;
}

bool read_number(CodedInputStream& in, uint32_t tag, uint64_t& out) {
  return wire_of(tag) == WireFormatLite::WIRETYPE_VARINT && in.ReadVarint64(&out);
}

bool read_numbers(CodedInputStream& in, uint32_t tag, std::vector<uint64_t>& out) {
  const auto one = [&] {
    uint64_t number = 0;
    if (!in.ReadVarint64(&number)) return false;
    out.push_back(number);
    return true;
  };
  return wire_of(tag) == WireFormatLite::WIRETYPE_VARINT ? one() : read_within(in, tag, one);
}

// An attribute, as far as anybody asks for it.
struct Attribute {
  std::string name;
  std::optional<uint64_t> number;
  std::string text;
  bool has_no = false;  // in a list of bools
};

bool read_bools(CodedInputStream& in, uint32_t tag, Attribute& out) {
  std::vector<uint64_t> bools;
  const bool good = read_within(in, tag, [&] {
    const uint32_t inner = in.ReadTag();
    if (inner == 0) return false;
    return field_of(inner) == 1 ? read_numbers(in, inner, bools) : WireFormatLite::SkipField(&in, inner);
  });
  out.has_no = std::ranges::find(bools, 0U) != bools.end();
  return good;
}

bool read_value(CodedInputStream& in, uint32_t tag, Attribute& out) {
  uint64_t number = 0;
  uint32_t small = 0;
  switch (field_of(tag)) {
    case 7:
    case 9:
    case 11:
    case 13:
    case 27:
      if (!read_number(in, tag, number)) return false;
      out.number = number;
      return true;
    case 15:
    case 17:
      if (!read_number(in, tag, number)) return false;
      out.number = static_cast<uint64_t>(WireFormatLite::ZigZagDecode64(number));
      return true;
    case 19:
    case 23:
      if (wire_of(tag) != WireFormatLite::WIRETYPE_FIXED32 || !in.ReadLittleEndian32(&small)) return false;
      out.number = small;
      return true;
    case 21:
    case 25:
      if (wire_of(tag) != WireFormatLite::WIRETYPE_FIXED64 || !in.ReadLittleEndian64(&number)) return false;
      out.number = number;
      return true;
    case 28: return read_bools(in, tag, out);
    case 29: return read_text(in, tag, kMaxMessage, out.text);
    default: return WireFormatLite::SkipField(&in, tag);
  }
}

bool read_attribute(CodedInputStream& in, uint32_t tag, Attribute& out) {
  return read_within(in, tag, [&] {
    const uint32_t inner = in.ReadTag();
    if (inner == 0) return false;
    return field_of(inner) == 1 ? read_text(in, inner, kMaxNodeName, out.name) : read_value(in, inner, out);
  });
}

void take_attribute(Attribute& from, ChakraNode& out) {
  const std::string_view name = from.name;
  if (name == "is_cpu_op") out.is_cpu_op = from.number.value_or(0) != 0;
  if (name == "num_ops") out.num_ops = from.number.value_or(0);
  if (name == "comm_type") out.comm_type = from.number;
  if (name == "comm_size") out.comm_size = from.number;
  if (name == "comm_src") out.comm_src = from.number;
  if (name == "comm_dst") out.comm_dst = from.number;
  if (name == "comm_tag") out.comm_tag = from.number.value_or(0);
  if (name == "pg_name") out.group = std::move(from.text);
  if (name == "involved_dim") out.is_of_some_dimensions = from.has_no;
}

}  // namespace

struct ChakraNodes::Streams {
  dataplane::OwnedFd file;
  std::unique_ptr<ZeroCopyInputStream> raw;
  std::unique_ptr<GunzipStream> unpacked;
  ZeroCopyInputStream& top() { return unpacked ? static_cast<ZeroCopyInputStream&>(*unpacked) : *raw; }
  void look() {
    if (looks_gzipped(*raw)) unpacked = std::make_unique<GunzipStream>(*raw);
  }
};

ChakraNodes::ChakraNodes(std::string_view text) : streams_(std::make_unique<Streams>()) {
  streams_->raw = std::make_unique<ArrayInputStream>(text.data(), static_cast<int>(text.size()));
  streams_->look();
}

ChakraNodes::ChakraNodes(dataplane::OwnedFd file) : streams_(std::make_unique<Streams>()) {
  streams_->file = std::move(file);
  streams_->raw = std::make_unique<FileInputStream>(streams_->file.get());
  streams_->look();
}

ChakraNodes::~ChakraNodes() = default;

bool ChakraNodes::fail(uint64_t offset, const std::string& message) {
  if (error_.empty()) error_ = message + " (byte " + std::to_string(offset) + ")";
  return false;
}

// At a message's begin, and there is no more.
bool ChakraNodes::ends_well() {
  const auto at = static_cast<uint64_t>(streams_->top().ByteCount());
  if (streams_->unpacked && !streams_->unpacked->is_good()) return fail(at, "its gzip is cut off or broken");
  return has_begun_ || fail(0, "is empty");
}

template <typename Body>
bool ChakraNodes::read_message(Body&& body) {
  if (!error_.empty()) return false;
  const auto begin = static_cast<uint64_t>(streams_->top().ByteCount());
  CodedInputStream in(&streams_->top());
  uint32_t length = 0;
  if (!in.ReadVarint32(&length)) {
    if (in.CurrentPosition() > 0) return fail(begin, "ends within a message's length: it is cut off");
    ends_well();
    return false;
  }
  if (length > kMaxMessage) return fail(begin, "is no execution trace: a message has 64MiB at most");
  const auto limit = in.PushLimit(static_cast<int>(length));
  while (in.BytesUntilLimit() > 0) {
    const uint32_t tag = in.ReadTag();
    const bool good = tag != 0 && body(in, tag);
    if (good) continue;
    const int left = in.BytesUntilLimit();
    in.PopLimit(limit);
    // At the end of the file, or at something that is no field.
    if (error_.empty() && (left <= 0 || in.Skip(left)))
      return fail(begin, "has a message that is none of an execution trace");
    return fail(begin, "ends within a message of " + std::to_string(length) + " bytes: it is cut off");
  }
  in.PopLimit(limit);
  has_begun_ = true;
  return true;
}

bool ChakraNodes::take_version(std::string_view version) {
  const size_t chakra = version.find("-chakra.");
  if (chakra != std::string_view::npos) version.remove_prefix(chakra + 8);
  if (std::ranges::find(kVersions, version) != kVersions.end()) return true;
  std::string known;
  for (const std::string_view each : kVersions) known += (known.empty() ? "" : ", ") + std::string(each);
  return fail(0, "has the version " + shown(version) + "; known are " + known);
}

// The version is a field, or, by older writers, the attribute "schema".
bool ChakraNodes::read_head_field(Input& in, uint32_t tag) {
  std::string text;
  if (field_of(tag) == 1) return read_text(in, tag, kMaxNodeName, text) && take_version(text);
  Attribute attribute;
  if (field_of(tag) != 2) return false;
  if (!read_attribute(in, tag, attribute)) return false;
  return attribute.name != "schema" || take_version(attribute.text);
}

bool ChakraNodes::read_head() {
  return read_message([&](Input& in, uint32_t tag) { return read_head_field(in, tag); });
}

bool ChakraNodes::read_node_field(Input& in, uint32_t tag, ChakraNode& out) {
  uint64_t number = 0;
  Attribute attribute;
  switch (field_of(tag)) {
    case 1: return read_number(in, tag, out.id);
    case 2: return read_text(in, tag, kMaxNodeName, out.name);
    case 3:
      if (!read_number(in, tag, number)) return false;
      if (number == 0 || number > static_cast<uint64_t>(ChakraType::kCollective))
        return fail(out.offset, "a node's type is 1 to 7, and here stands " + std::to_string(number));
      out.type = static_cast<ChakraType>(number);
      return true;
    case 4:
    case 5: return read_numbers(in, tag, out.needs);
    case 6: return read_number(in, tag, number);
    case 7: return read_number(in, tag, out.duration_micros);
    case 8:
    case 9: return WireFormatLite::SkipField(&in, tag);
    case 10:
      if (!read_attribute(in, tag, attribute)) return false;
      take_attribute(attribute, out);
      return true;
    default:
      return fail(out.offset, "a node has the field " + std::to_string(field_of(tag)) + ", which ET 1.0 does not know");
  }
}

bool ChakraNodes::next(ChakraNode& out) {
  out = {};
  out.offset = static_cast<uint64_t>(streams_->top().ByteCount());
  return read_message([&](Input& in, uint32_t tag) { return read_node_field(in, tag, out); });
}

}  // namespace softspine::control

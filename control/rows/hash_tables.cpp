// SPDX-License-Identifier: Apache-2.0
// The tables below a profile's `hash` and `groups`: user-defined fields, and how a group's member is chosen.
#include <bit>
#include <charconv>

#include "control/rows/tables.hpp"
#include "dataplane/hashing/group.hpp"

namespace softspine::control {

using dataplane::Duration;

namespace {

std::optional<uint8_t> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

bool check_udf(Reader& reader, Value at, const UdfRow& row) {
  bool good = true;
  if (uint32_t{row.offset} + row.length > dataplane::kMaxUdfReach) {
    good = reader.wrong(at.child("offset"), "reaches past byte " + std::to_string(dataplane::kMaxUdfReach) +
                                                " behind its base, which is as far as a parser looks");
  }
  if (row.mask && row.mask->bytes.size() != row.length) {
    good = reader.wrong(at.child("mask"), "has " + std::to_string(row.mask->bytes.size()) + " bytes for a length of " +
                                              std::to_string(row.length));
  }
  return good;
}

bool check_groups(Reader& reader, Value at, const GroupsRow& row) {
  if (row.weights && row.kind == GroupKind::kResilient)
    return reader.wrong(at.child("weights"), "a resilient group's members weigh the same");
  return true;
}

const Limits<uint32_t> kSlots = held_to<uint32_t>([](const uint32_t& slots) -> std::string {
  if (std::has_single_bit(slots) && slots >= 16 && slots <= dataplane::kMaxFlowlets) return "";
  return "must be a power of two from 16 to " + std::to_string(dataplane::kMaxFlowlets) + ", not " +
         shown(std::to_string(slots));
});

}  // namespace

std::optional<HexBytes> WordTraits<HexBytes>::parse(std::string_view text) {
  constexpr size_t kMaxBytes = 256;
  if (text.empty() || text.size() % 2 != 0 || text.size() > 2 * kMaxBytes) return std::nullopt;
  HexBytes out;
  for (size_t i = 0; i < text.size(); i += 2) {
    const auto high = digit_of(text[i]);
    const auto low = digit_of(text[i + 1]);
    if (!high || !low) return std::nullopt;
    out.bytes.push_back(static_cast<uint8_t>(*high << 4 | *low));
  }
  return out;
}

std::string WordTraits<HexBytes>::print(const HexBytes& hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : hex.bytes) (out += kDigits[byte >> 4]) += kDigits[byte & 15];
  return out;
}

std::optional<HexNumber> WordTraits<HexNumber>::parse(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  HexNumber out;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.value, is_hex ? 16 : 10);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::string WordTraits<HexNumber>::print(HexNumber number) {
  const auto byte = [&](int shift) { return static_cast<uint8_t>(number.value >> shift); };
  return "0x" + WordTraits<HexBytes>::print({{byte(8), byte(0)}});
}

const Table<UdfRow>& Tables<UdfRow>::table() {
  static const Table<UdfRow> table =
      Table<UdfRow>("udf", "A user-defined field: bytes at an offset from a header, of packets that match.")
          .required("base", &UdfRow::base, "the header that the offset counts from")
          .required("offset", &UdfRow::offset, "bytes from the start of that header")
          .required("length", &UdfRow::length, "bytes", within<uint8_t>(1, dataplane::kMaxUdfBytes))
          .optional("mask", &UdfRow::mask, "as many bytes in hexadecimal; all of them if not given")
          .optional("match", &UdfRow::match, "which packets have it; those that do not hash zeros")
          .check(check_udf);
  return table;
}

const Table<UdfMatchRow>& Tables<UdfMatchRow>::table() {
  static const Table<UdfMatchRow> table =
      Table<UdfMatchRow>("udf_match", "What a packet must be for a user-defined field to be taken from it.")
          .optional("l2_type", &UdfMatchRow::l2_type, "EtherType, behind a tag")
          .optional("l3_protocol", &UdfMatchRow::l3_protocol, "IPv4's protocol, IPv6's next header")
          .optional("l4_dst_port", &UdfMatchRow::l4_dst_port, "of UDP and TCP");
  return table;
}

const Table<GroupsRow>& Tables<GroupsRow>::table() {
  static const Table<GroupsRow> table =
      Table<GroupsRow>("groups", "How one of a group's next hops is chosen.")
          .optional(
              "mode", &GroupsRow::mode,
              "hash; pinned: by the destination's place in its rack; in_port: by the port it came in by; flowlet: "
              "a new draw after a pause; spray: a draw for each packet")
          .optional("kind", &GroupsRow::kind, "modulo; resilient: only a dead member's flows move")
          .optional("buckets", &GroupsRow::buckets, "of a resilient group",
                    within<uint32_t>(1, dataplane::kMaxGroupBuckets))
          .optional("weights", &GroupsRow::weights, "of next hops, by the neighbour's name; 1 if not named")
          .optional("gap", &GroupsRow::gap, "flowlet: the pause after which a flow may take another path",
                    within(Duration::ns(1), Duration::s(1)))
          .optional("flowlets", &GroupsRow::flowlets, "flowlet: slots of the table, a power of two", kSlots)
          .check(check_groups);
  return table;
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// The tables below a profile's `hash` and `groups`: user-defined fields, and how a group's member is chosen.
#include <bit>
#include <charconv>

#include "control/rows/tables.hpp"
#include "dataplane/hashing/ecmp_group.hpp"

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
    good = reader.fail(at.child("offset"), "reaches past byte " + std::to_string(dataplane::kMaxUdfReach) +
                                               " behind its base, which is as far as a parser looks");
  }
  if (row.mask && row.mask->bytes.size() != row.length) {
    good = reader.fail(at.child("mask"), "has " + std::to_string(row.mask->bytes.size()) + " bytes for a length of " +
                                             std::to_string(row.length));
  }
  return good;
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

const Table<FineGrainedRow>& Tables<FineGrainedRow>::table() {
  static const Table<FineGrainedRow> table =
      Table<FineGrainedRow>("fine_grained", "SAI's fine-grained hash field.")
          .required("field", &FineGrainedRow::field, "of the key, by SAI's name")
          .optional("mask", &FineGrainedRow::mask, "of SRC_IPV4, DST_IPV6 and the like: the bits that count")
          .optional("sequence", &FineGrainedRow::sequence,
                    "its place among the others; fields of one sequence other than 0 are added up (exclusive or)");
  return table;
}

const Table<HashObjectRow>& Tables<HashObjectRow>::table() {
  static const Table<HashObjectRow> table =
      Table<HashObjectRow>("hash_object", "The key of some packets; algorithm, seed and offset are the switch's.")
          .optional("fields", &HashObjectRow::fields, "of the key, by SAI's names")
          .optional("udf", &HashObjectRow::udf, "user-defined fields, behind them")
          .optional("fine_grained", &HashObjectRow::fine_grained, "SAI's fine-grained fields, behind all others");
  return table;
}

const Table<Rtag7Row>& Tables<Rtag7Row>::table() {
  static const Table<Rtag7Row> table =
      Table<Rtag7Row>("rtag7", "What RTAG7 has beside one function of one key.")
          .optional("a", &Rtag7Row::a, "block A; its first function, fields and seed are the hash's own")
          .optional("b", &Rtag7Row::b, "block B")
          .optional("output", &Rtag7Row::output, "which of the four functions is the hash: block, first or second")
          .optional("macro_flow", &Rtag7Row::macro_flow, "output and offset by flow");
  return table;
}

namespace {

// An option of either block.
template <typename Row, typename T>
std::optional<T> Row::* of_block(std::optional<T> Rtag7OptionsRow::* member) {
  return member;
}

template <typename Row>
void add_options(Table<Row>& table) {
  table.optional("second", of_block<Row>(&Rtag7OptionsRow::second), "the block's other function")
      .optional("equal_ports", of_block<Row>(&Rtag7OptionsRow::equal_ports),
                "fields of UDP and TCP packets whose ports are the same number")
      .optional("pre_processing", of_block<Row>(&Rtag7OptionsRow::pre_processing), "of each bin: h ^ h >> 3 ^ h << 2")
      .optional("low_ipv6", of_block<Row>(&Rtag7OptionsRow::low_ipv6),
                "the last 32 bits of an IPv6 address instead of all of them folded")
      .optional("symmetric", of_block<Row>(&Rtag7OptionsRow::symmetric), "both directions of a flow hash alike");
}

}  // namespace

const Table<Rtag7ARow>& Tables<Rtag7ARow>::table() {
  static const Table<Rtag7ARow> table = [] {
    Table<Rtag7ARow> out("rtag7_a", "The rest of RTAG7's block A.");
    add_options(out);
    return out;
  }();
  return table;
}

const Table<Rtag7BRow>& Tables<Rtag7BRow>::table() {
  static const Table<Rtag7BRow> table = [] {
    Table<Rtag7BRow> out("rtag7_b", "RTAG7's block B.");
    out.optional("first", &Rtag7BRow::first, "the block's first function")
        .optional("fields", &Rtag7BRow::fields, "of its key; block A's if not given")
        .optional("seed", &Rtag7BRow::seed, "of its key");
    add_options(out);
    return out;
  }();
  return table;
}

const Table<MacroFlowRow>& Tables<MacroFlowRow>::table() {
  static const Table<MacroFlowRow> table =
      Table<MacroFlowRow>("macro_flow", "RTAG7: a table of outputs and offsets, looked up by eight bits of a function.")
          .optional("algorithm", &MacroFlowRow::algorithm, "of block A's key")
          .optional("upper_byte", &MacroFlowRow::upper_byte, "of the function; the lower one if not")
          .required("table", &MacroFlowRow::table, "256 entries, or a part that is repeated");
  return table;
}

const Table<MacroFlowEntryRow>& Tables<MacroFlowEntryRow>::table() {
  static const Table<MacroFlowEntryRow> table =
      Table<MacroFlowEntryRow>("macro_flow_entry", "RTAG7: what the packets of a macro flow take.")
          .required("output", &MacroFlowEntryRow::output, "block, first or second")
          .required("offset", &MacroFlowEntryRow::offset, "bits", within<uint8_t>(0, 15));
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

const Table<EcmpGroupsRow>& Tables<EcmpGroupsRow>::table() {
  static const Table<EcmpGroupsRow> table =
      Table<EcmpGroupsRow>("groups", "How one of a group's next hops is chosen.")
          .optional("mode", &EcmpGroupsRow::mode,
                    "hash; pinned: by the destination's place in its rack; in_port: by the port it came in by, and by "
                    "the hash "
                    "where the port for that is gone; flowlet: a new draw after a pause; spray: a draw for each packet")
          .optional("kind", &EcmpGroupsRow::kind, "modulo; resilient: only a dead member's flows move")
          .optional("buckets", &EcmpGroupsRow::buckets, "of a resilient group",
                    within<uint32_t>(1, dataplane::kMaxEcmpGroupBuckets))
          .optional("weights", &EcmpGroupsRow::weights, "of next hops, by the neighbour's name; 1 if not named")
          .optional("gap", &EcmpGroupsRow::gap, "flowlet: the pause after which a flow may take another path",
                    within(Duration::ns(1), Duration::s(1)))
          .optional("flowlets", &EcmpGroupsRow::flowlets, "flowlet: slots of the table, a power of two", kSlots);
  return table;
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// How the rows' own types are written: the words of enums, addresses, endpoints, maps of numbers.
#pragma once

#include <algorithm>
#include <ranges>
#include <string>

#include "control/format/table.hpp"
#include "control/rows/rows.hpp"
#include "dataplane/flow_control/link_modes.hpp"

namespace softspine::control {

template <>
struct Words<ClockKind> {
  static constexpr std::array all{std::pair{"virtual", ClockKind::kVirtual}, std::pair{"wall", ClockKind::kWall}};
};
template <>
struct Words<NodeKind> {
  static constexpr std::array all{std::pair{"switch", NodeKind::kSwitch}, std::pair{"host", NodeKind::kHost}};
};
template <>
struct Words<ImportFormat> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, ImportFormat>, kImportFormats.size()> words;
    std::ranges::transform(kImportFormats, words.begin(),
                           [](const ImportFormatRow& row) { return std::pair{row.word, row.format}; });
    return words;
  }();
};
template <>
struct WordTraits<NodeRule> {
  static constexpr const char* name = kNodeRuleForm.data();
  static constexpr const char* example = "linux=switch";
  static std::optional<NodeRule> parse(std::string_view text) { return parse_node_rule(text); }
  static std::string print(const NodeRule& rule) { return to_string(rule); }
};
template <>
struct Words<Role> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, Role>, kSwitchRoles.size()> words;
    std::ranges::transform(kSwitchRoles, words.begin(),
                           [](const RoleRow& row) { return std::pair{row.word, row.role}; });
    return words;
  }();
};
template <>
struct Words<Tier2> {
  static constexpr std::array all{std::pair{"any-to-any", Tier2::kAnyToAny}, std::pair{"rail-only", Tier2::kRailOnly}};
};
template <>
struct Words<PlanesMeet> {
  static constexpr std::array all{std::pair{"never", PlanesMeet::kNever}, std::pair{"core", PlanesMeet::kCore}};
};
template <>
struct Words<Blocking> {
  static constexpr std::array all{std::pair{"strict", Blocking::kStrict},
                                  std::pair{"rearrangeable", Blocking::kRearrangeable}};
};
template <>
struct WordTraits<Ratio> {
  static constexpr const char* name = "a ratio";
  static constexpr const char* example = "1:1.125";
  static std::optional<Ratio> parse(std::string_view text);
  static std::string print(Ratio ratio);
};
template <>
struct Words<PcapZero> {
  static constexpr std::array all{std::pair{"first_frame", PcapZero::kFirstFrame},
                                  std::pair{"together", PcapZero::kTogether},
                                  std::pair{"recorded", PcapZero::kRecorded}};
};
template <>
struct Words<GuestKind> {
  static constexpr std::array all{std::pair{"uml", GuestKind::kUml}, std::pair{"qemu", GuestKind::kQemu}};
};
template <>
struct Words<Pattern> {
  static constexpr std::array all{std::pair{"permutation", Pattern::kPermutation},
                                  std::pair{"incast", Pattern::kIncast},
                                  std::pair{"pairs", Pattern::kPairs},
                                  std::pair{"all_to_all", Pattern::kAllToAll},
                                  std::pair{"ring", Pattern::kRing},
                                  std::pair{"list", Pattern::kList},
                                  std::pair{"poisson", Pattern::kPoisson}};
};
template <>
struct Words<FlowListFormat> {
  static constexpr std::array all{std::pair{"hpcc", FlowListFormat::kHpcc}, std::pair{"csv", FlowListFormat::kCsv}};
};
// A job whose servers are listed has none of these words.
template <>
struct Words<Placement> {
  static constexpr std::array all{std::pair{"packed", Placement::kPacked}, std::pair{"random", Placement::kRandom},
                                  std::pair{"min-cut", Placement::kMinCut}};
};
template <>
struct Words<TransportKind> {
  static constexpr std::array all{std::pair{"open_loop", TransportKind::kOpenLoop},
                                  std::pair{"rc", TransportKind::kReliable}};
};
template <>
struct Words<Verb> {
  static constexpr std::array all{std::pair{"write", Verb::kWrite}, std::pair{"send", Verb::kSend}};
};
template <>
struct Words<FlowControl> {
  static constexpr auto all = [] {
    std::array<std::pair<const char*, FlowControl>, dataplane::kLinkModes.size()> words{};
    for (size_t i = 0; i < words.size(); ++i) words[i] = {dataplane::kLinkModes[i].word, dataplane::kLinkModes[i].mode};
    return words;
  }();
};
template <>
struct Words<LagMode> {
  static constexpr std::array all{std::pair{"static", LagMode::kStatic}, std::pair{"lacp", LagMode::kLacp}};
};
template <>
struct Words<BondMode> {
  static constexpr std::array all{std::pair{"lacp", BondMode::kLacp},
                                  std::pair{"active-backup", BondMode::kActiveBackup},
                                  std::pair{"balance-xor", BondMode::kBalanceXor}};
};
template <>
struct Words<LacpRate> {
  static constexpr std::array all{std::pair{"slow", LacpRate::kSlow}, std::pair{"fast", LacpRate::kFast}};
};
template <>
struct Words<XmitHashPolicy> {
  static constexpr std::array all{std::pair{"qp", XmitHashPolicy::kQp}, std::pair{"layer2", XmitHashPolicy::kLayer2},
                                  std::pair{"layer2+3", XmitHashPolicy::kLayer23},
                                  std::pair{"layer3+4", XmitHashPolicy::kLayer34}};
};
template <>
struct Words<RemoteFailover> {
  static constexpr std::array all{std::pair{"none", RemoteFailover::kNone}, std::pair{"route", RemoteFailover::kRoute},
                                  std::pair{"transport", RemoteFailover::kTransport},
                                  std::pair{"both", RemoteFailover::kBoth}};
};
template <>
struct Words<FaultKind> {
  using Word = std::pair<std::string_view, FaultKind>;
  static constexpr auto all = [] {
    std::array<Word, kFaultKinds.size()> words;
    std::ranges::transform(kFaultKinds, words.begin(),
                           [](const FaultKindRow& row) { return Word{row.word, row.kind}; });
    return words;
  }();
  static constexpr auto is_old = [](const FaultKindRow& row) { return !row.old_word.empty(); };
  static constexpr auto old = [] {
    std::array<Word, std::ranges::count_if(kFaultKinds, is_old)> words;
    std::ranges::transform(kFaultKinds | std::views::filter(is_old), words.begin(),
                           [](const FaultKindRow& row) { return Word{row.old_word, row.kind}; });
    return words;
  }();
};
template <>
struct Words<Carrier> {
  static constexpr std::array all{std::pair{"stays", Carrier::kStays}, std::pair{"goes", Carrier::kGoes}};
};
template <>
struct Words<LossyWay> {
  static constexpr std::array all{std::pair{"both", LossyWay::kBoth}, std::pair{"out", LossyWay::kOut},
                                  std::pair{"in", LossyWay::kIn}};
};
template <>
struct Words<Scaling> {
  static constexpr std::array all{std::pair{"each", Scaling::kEach}, std::pair{"split", Scaling::kSplit},
                                  std::pair{"round_robin", Scaling::kRoundRobin},
                                  std::pair{"least_outstanding", Scaling::kLeastOutstanding}};
};
template <>
struct Words<PortChoice> {
  static constexpr std::array all{std::pair{"per_qp", PortChoice::kPerQp},
                                  std::pair{"disjoint", PortChoice::kDisjoint}};
};
template <>
struct Words<QpNumbering> {
  static constexpr std::array all{std::pair{"rxe", QpNumbering::kRxe}, std::pair{"mlx5", QpNumbering::kMlx5},
                                  std::pair{"hns", QpNumbering::kHns}, std::pair{"ionic", QpNumbering::kIonic},
                                  std::pair{"random", QpNumbering::kRandom}};
};
template <>
struct Words<HashAlgorithm> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, HashAlgorithm>, dataplane::kHashAlgorithms.size()> words;
    std::ranges::transform(dataplane::kHashAlgorithms, words.begin(),
                           [](const dataplane::HashAlgorithmRow& row) { return std::pair{row.word, row.algorithm}; });
    return words;
  }();
};
template <>
struct Words<HashModel> {
  static constexpr auto all = [] {
    std::array<std::pair<std::string_view, HashModel>, dataplane::kHashModels.size()> words;
    std::ranges::transform(dataplane::kHashModels, words.begin(),
                           [](const dataplane::HashModelRow& row) { return std::pair{row.word, row.model}; });
    return words;
  }();
};
template <>
struct Words<Rtag7Output> {
  static constexpr std::array all{std::pair{"A0", Rtag7Output::kA0}, std::pair{"B0", Rtag7Output::kB0},
                                  std::pair{"A1", Rtag7Output::kA1}, std::pair{"B1", Rtag7Output::kB1}};
};
template <>
struct Words<UdfBase> {
  static constexpr std::array all{std::pair{"L2", UdfBase::kL2}, std::pair{"L3", UdfBase::kL3},
                                  std::pair{"L4", UdfBase::kL4}};
};
template <>
struct Words<EcmpGroupMode> {
  static constexpr std::array all{std::pair{"hash", EcmpGroupMode::kHash}, std::pair{"pinned", EcmpGroupMode::kPinned},
                                  std::pair{"in_port", EcmpGroupMode::kInPort},
                                  std::pair{"flowlet", EcmpGroupMode::kFlowlet},
                                  std::pair{"spray", EcmpGroupMode::kSpray}};
};
template <>
struct Words<EcmpGroupKind> {
  static constexpr std::array all{std::pair{"modulo", EcmpGroupKind::kModulo},
                                  std::pair{"resilient", EcmpGroupKind::kResilient}};
};
template <>
struct Words<dataplane::UnicastMiss> {
  static constexpr std::array all{std::pair{"flood", dataplane::UnicastMiss::kFlood},
                                  std::pair{"flood_all", dataplane::UnicastMiss::kFloodAll},
                                  std::pair{"drop_lossless", dataplane::UnicastMiss::kDropLossless},
                                  std::pair{"drop", dataplane::UnicastMiss::kDrop}};
};
template <>
struct WordTraits<HexBytes> {
  static constexpr const char* name = "bytes in hexadecimal";
  static constexpr const char* example = "ffff0f";
  static std::optional<HexBytes> parse(std::string_view text);
  static std::string print(const HexBytes& bytes);
};
template <>
struct WordTraits<HexNumber> {
  static constexpr const char* name = "a number of 16 bits";
  static constexpr const char* example = "0x0800";
  static std::optional<HexNumber> parse(std::string_view text);
  static std::string print(HexNumber number);
};
template <>
struct Words<HashField> {
  static constexpr std::array all{std::pair{"IN_PORT", HashField::kInPort},
                                  std::pair{"SRC_MAC", HashField::kSrcMac},
                                  std::pair{"DST_MAC", HashField::kDstMac},
                                  std::pair{"ETHERTYPE", HashField::kEthertype},
                                  std::pair{"VLAN_ID", HashField::kVlanId},
                                  std::pair{"IP_PROTOCOL", HashField::kIpProtocol},
                                  std::pair{"SRC_IP", HashField::kSrcIp},
                                  std::pair{"DST_IP", HashField::kDstIp},
                                  std::pair{"L4_SRC_PORT", HashField::kL4SrcPort},
                                  std::pair{"L4_DST_PORT", HashField::kL4DstPort},
                                  std::pair{"IPV6_FLOW_LABEL", HashField::kIpv6FlowLabel},
                                  std::pair{"RDMA_BTH_OPCODE", HashField::kRdmaBthOpcode},
                                  std::pair{"RDMA_BTH_DEST_QP", HashField::kRdmaBthDestQp},
                                  std::pair{"SRC_IPV4", HashField::kSrcIpv4},
                                  std::pair{"DST_IPV4", HashField::kDstIpv4},
                                  std::pair{"SRC_IPV6", HashField::kSrcIpv6},
                                  std::pair{"DST_IPV6", HashField::kDstIpv6},
                                  std::pair{"INNER_SRC_MAC", HashField::kInnerSrcMac},
                                  std::pair{"INNER_DST_MAC", HashField::kInnerDstMac},
                                  std::pair{"INNER_ETHERTYPE", HashField::kInnerEthertype},
                                  std::pair{"INNER_SRC_IP", HashField::kInnerSrcIp},
                                  std::pair{"INNER_DST_IP", HashField::kInnerDstIp},
                                  std::pair{"INNER_IP_PROTOCOL", HashField::kInnerIpProtocol},
                                  std::pair{"INNER_L4_SRC_PORT", HashField::kInnerL4SrcPort},
                                  std::pair{"INNER_L4_DST_PORT", HashField::kInnerL4DstPort},
                                  std::pair{"INNER_SRC_IPV4", HashField::kInnerSrcIpv4},
                                  std::pair{"INNER_DST_IPV4", HashField::kInnerDstIpv4},
                                  std::pair{"INNER_SRC_IPV6", HashField::kInnerSrcIpv6},
                                  std::pair{"INNER_DST_IPV6", HashField::kInnerDstIpv6}};
};
template <>
struct Format<HashFieldList> {
  static bool read(Reader& reader, Value value, HashFieldList& out);
  static Json schema(SchemaBook& book);
  static Json write(const HashFieldList& list) { return Format<std::vector<HashField>>::write(list.fields); }
};
template <>
struct WordTraits<MacAddress> {
  static constexpr const char* name = "a unicast MAC address";
  static constexpr const char* example = "02:00:00:00:00:01";
  static std::optional<MacAddress> parse(std::string_view text);
  static std::string print(const MacAddress& mac) { return to_string(mac); }
};
template <>
struct WordTraits<AnyAddress> {
  static constexpr const char* name = "an IPv4 or IPv6 address";
  static constexpr const char* example = "10.0.1.10";
  static std::optional<AnyAddress> parse(std::string_view text);
  static std::string print(const AnyAddress& address);
};
template <>
struct WordTraits<AnyPrefix> {
  static constexpr const char* name = "an IPv4 or IPv6 prefix without host bits";
  static constexpr const char* example = "10.0.1.0/24";
  static std::optional<AnyPrefix> parse(std::string_view text);
  static std::string print(const AnyPrefix& prefix);
};
// "tor1:Ethernet4", or "tor1" for its next free port.
template <>
struct WordTraits<Endpoint> {
  static constexpr const char* name = "NODE:PORT";
  static constexpr const char* example = "tor1:Ethernet0";
  static std::optional<Endpoint> parse(std::string_view text);
  static std::string print(const Endpoint& end) { return end.port.empty() ? end.node : end.node + ":" + end.port; }
};
template <>
struct WordTraits<SourcePort> {
  static constexpr const char* name = "per_qp or a UDP port";
  static constexpr const char* example = "per_qp";
  static std::optional<SourcePort> parse(std::string_view text);
  static std::string print(SourcePort port) { return port.port == 0 ? "per_qp" : std::to_string(port.port); }
};

template <>
struct Format<HostsOrCount> {
  static bool read(Reader& reader, Value value, HostsOrCount& out);
  static Json schema(SchemaBook& book);
  static Json write(const HostsOrCount&) { return Json(); }
};

template <>
struct Format<Expected> {
  static bool read(Reader& reader, Value value, Expected& out);
  static Json schema(SchemaBook&) { return text_schema(); }
  static Json write(const Expected&) { return Json(); }
};

// The key of a map of numbers: 0 … keys-1, or several of them, as 24-31; reports an error otherwise.
struct NumberRange {
  uint8_t first = 0;
  uint8_t last = 0;
};
std::optional<NumberRange> read_number_key(Reader& reader, Value key, unsigned keys);

template <typename T, size_t Keys>
struct Format<NumberMap<T, Keys>> {
  static bool read(Reader& reader, Value value, NumberMap<T, Keys>& out) {
    if (value.kind() != ValueKind::kMap) return reader.wrong_type(value, "a map of numbers");
    bool good = true;
    std::array<std::optional<std::string_view>, Keys> seen{};
    for_each_entry(value, [&](Value key, Value content) {
      if (key.kind() != ValueKind::kScalar) return;  // the document has reported it
      if ((Keys == 8 && is_beyond(key)) || (Keys == 64 && is_beyond(content))) {
        reader.ignore(key, table_of(value), (Keys == 8 ? "entries of " : "entries to ") + beyond(key, content));
        return;
      }
      const auto numbers = read_number_key(reader, key, Keys);
      if (numbers && !take_places(reader, key, *numbers, seen)) {
        good = false;
        return;
      }
      T read{};
      const bool read_well = Format<T>::read(reader, content, read) && within_reach(reader, content, read);
      good = numbers && read_well && good;
      if (!numbers || !read_well) return;
      for (unsigned n = numbers->first; n <= numbers->last; ++n) out.items.emplace_back(static_cast<uint8_t>(n), read);
    });
    return good;
  }
  static Json schema(SchemaBook& book) {
    Json content = Format<T>::schema(book);
    if constexpr (std::same_as<T, uint8_t>)
      content = {{"type", {"integer", "string"}}, {"pattern", "^[0-7]$"}, {"minimum", 0}, {"maximum", 7}};
    return map_schema("^[0-9]+(-[0-9]+)?$", std::move(content));
  }
  static Json write(const NumberMap<T, Keys>&) { return Json::object(); }

 private:
  static bool take_places(Reader& reader, Value key, NumberRange numbers,
                          std::array<std::optional<std::string_view>, Keys>& seen) {
    for (unsigned n = numbers.first; n <= numbers.last; ++n) {
      if (!seen[n]) continue;
      const bool said = *seen[n] == key.text();  // reported by the document
      return said ? false : reader.fail(key, std::to_string(n) + " stands in this map already");
    }
    for (unsigned n = numbers.first; n <= numbers.last; ++n) seen[n] = key.text();
    return true;
  }
  // SONiC has up to 16 traffic classes: of a chip with more than eight, no packet is in one of the others here.
  static bool is_beyond(Value key) {
    if (key.dialect() != Dialect::kConfigDb || key.kind() != ValueKind::kScalar) return false;
    const std::string_view text = key.text();
    return text == "8" || text == "9" || (text.size() == 2 && text[0] == '1' && text[1] >= '0' && text[1] <= '5');
  }
  static std::string beyond(Value key, Value content) { return std::string((Keys == 8 ? key : content).text()); }
  // The first word of a path: TC_TO_QUEUE_MAP of TC_TO_QUEUE_MAP.AZURE.
  static std::string table_of(Value at) {
    const std::string path = at.path();
    return path.substr(0, path.find('.'));
  }
  // Traffic classes and queues: eight of each.
  static bool within_reach(Reader& reader, Value at, const T& found) {
    if constexpr (std::same_as<T, uint8_t>) {
      if (found > 7) return reader.fail(at, "must be from 0 to 7, not " + shown(at.text()));
    }
    return true;
  }
};

}  // namespace softspine::control

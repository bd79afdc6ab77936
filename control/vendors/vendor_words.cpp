// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/vendor_words.hpp"

#include <algorithm>
#include <array>

namespace softspine::control {
namespace {

using enum KnobKind;

constexpr uint64_t kMax32 = 0xffff'ffff;
constexpr FieldSet kSrcIp = set_of(HashField::kSrcIp);
constexpr FieldSet kDstIp = set_of(HashField::kDstIp);
constexpr FieldSet kSrcPort = set_of(HashField::kL4SrcPort);
constexpr FieldSet kDstPort = set_of(HashField::kL4DstPort);
constexpr FieldSet kProtocol = set_of(HashField::kIpProtocol);
constexpr FieldSet kFlowLabel = set_of(HashField::kIpv6FlowLabel);
constexpr FieldSet kInPort = set_of(HashField::kInPort);
constexpr FieldSet kVlan = set_of(HashField::kVlanId);
constexpr FieldSet kPorts = kSrcPort | kDstPort;
constexpr FieldSet kFiveTuple = kSrcIp | kDstIp | kProtocol | kPorts;
constexpr FieldSet kEvery = ~FieldSet{0};

constexpr FieldSet kEthernet = set_of(HashField::kSrcMac) | set_of(HashField::kDstMac) | set_of(HashField::kEthertype) |
                               set_of(HashField::kVlanId);
constexpr FieldSet kInnerSrcIp = set_of(HashField::kInnerSrcIp);
constexpr FieldSet kInnerDstIp = set_of(HashField::kInnerDstIp);
constexpr FieldSet kInnerSrcPort = set_of(HashField::kInnerL4SrcPort);
constexpr FieldSet kInnerDstPort = set_of(HashField::kInnerL4DstPort);
constexpr FieldSet kInnerProtocol = set_of(HashField::kInnerIpProtocol);

constexpr std::string_view kNoGtp = "hashes the TEID of GTP, which no packet here has";
constexpr std::string_view kNoInnerLabel = "hashes the flow label inside of tunnels, which no model here does";

// A knob of the hash of LAGs.
constexpr Knob of_lags(std::string_view words, KnobKind kind, FieldSet fields = 0, Families families = Families::kBoth,
                       std::string_view why = {}) {
  return {words, kind, fields, families, 0, why, true};
}

// SONiC.
constexpr std::array kSaiFields{FieldWord{"IN_PORT", HashField::kInPort},
                                FieldWord{"SRC_MAC", HashField::kSrcMac},
                                FieldWord{"DST_MAC", HashField::kDstMac},
                                FieldWord{"ETHERTYPE", HashField::kEthertype},
                                FieldWord{"VLAN_ID", HashField::kVlanId},
                                FieldWord{"IP_PROTOCOL", HashField::kIpProtocol},
                                FieldWord{"SRC_IP", HashField::kSrcIp},
                                FieldWord{"DST_IP", HashField::kDstIp},
                                FieldWord{"L4_SRC_PORT", HashField::kL4SrcPort},
                                FieldWord{"L4_DST_PORT", HashField::kL4DstPort},
                                FieldWord{"IPV6_FLOW_LABEL", HashField::kIpv6FlowLabel},
                                FieldWord{"INNER_SRC_MAC", HashField::kInnerSrcMac},
                                FieldWord{"INNER_DST_MAC", HashField::kInnerDstMac},
                                FieldWord{"INNER_ETHERTYPE", HashField::kInnerEthertype},
                                FieldWord{"INNER_IP_PROTOCOL", HashField::kInnerIpProtocol},
                                FieldWord{"INNER_SRC_IP", HashField::kInnerSrcIp},
                                FieldWord{"INNER_DST_IP", HashField::kInnerDstIp},
                                FieldWord{"INNER_L4_SRC_PORT", HashField::kInnerL4SrcPort},
                                FieldWord{"INNER_L4_DST_PORT", HashField::kInnerL4DstPort},
                                FieldWord{"RDMA_BTH_OPCODE", HashField::kRdmaBthOpcode},
                                FieldWord{"RDMA_BTH_DEST_QP", HashField::kRdmaBthDestQp}};
constexpr std::array kSaiAlgorithms{
    AlgorithmWord{"CRC", HashAlgorithm::kCrc},          AlgorithmWord{"XOR", HashAlgorithm::kXor},
    AlgorithmWord{"RANDOM", HashAlgorithm::kRandom},    AlgorithmWord{"CRC_32LO", HashAlgorithm::kCrc32Lo},
    AlgorithmWord{"CRC_32HI", HashAlgorithm::kCrc32Hi}, AlgorithmWord{"CRC_CCITT", HashAlgorithm::kCrcCcitt},
    AlgorithmWord{"CRC_XOR", HashAlgorithm::kCrcXor}};
constexpr std::array<std::string_view, 1> kSonicPrefixes{"config switch-hash global"};
constexpr std::array kSonicKnobs{Knob{"config switch-hash global ecmp-hash-algorithm", kAlgorithm},
                                 Knob{"config switch-hash global ecmp-hash", kList, kEvery},
                                 of_lags("config switch-hash global lag-hash-algorithm", kAlgorithm),
                                 of_lags("config switch-hash global lag-hash", kList, kEvery)};

// Enterprise SONiC.
constexpr std::array kEnterpriseAlgorithms{AlgorithmWord{"CRC", HashAlgorithm::kCrc},
                                           AlgorithmWord{"XOR", HashAlgorithm::kXor},
                                           AlgorithmWord{"CRC_32LO", HashAlgorithm::kCrc32Lo},
                                           AlgorithmWord{"CRC_32HI", HashAlgorithm::kCrc32Hi},
                                           AlgorithmWord{"CRC_CCITT", HashAlgorithm::kCrcCcitt},
                                           AlgorithmWord{"CRC_XOR", HashAlgorithm::kCrcXor},
                                           AlgorithmWord{"JENKINS_HASH_LO", HashAlgorithm::kJenkinsLo},
                                           AlgorithmWord{"JENKINS_HASH_HI", HashAlgorithm::kJenkinsHi}};
constexpr std::array<std::string_view, 2> kEnterprisePrefixes{"ip load-share hash", "no ip load-share hash"};
constexpr std::array kEnterpriseKnobs{
    Knob{"ip load-share hash seed", kSeed, 0, Families::kBoth, 16'777'215},
    Knob{"ip load-share hash algorithm", kAlgorithm},
    Knob{"ip load-share hash offset flow-based", kUnmodelled, 0, Families::kBoth, 0,
         "the offset follows from each flow: a macro flow, whose table is not in this line"},
    Knob{"ip load-share hash ingress-port", kInclude, kInPort},
    Knob{"ip load-share hash roce qpn", kInclude, kQpField},
    Knob{"ip load-share hash ipv4 ipv4-src-ip", kInclude, kSrcIp, Families::kIpv4},
    Knob{"ip load-share hash ipv4 ipv4-dst-ip", kInclude, kDstIp, Families::kIpv4},
    Knob{"ip load-share hash ipv4 ipv4-ip-proto", kInclude, kProtocol, Families::kIpv4},
    Knob{"ip load-share hash ipv4 ipv4-l4-src-port", kInclude, kSrcPort, Families::kIpv4},
    Knob{"ip load-share hash ipv4 ipv4-l4-dst-port", kInclude, kDstPort, Families::kIpv4},
    Knob{"ip load-share hash ipv4 symmetric", kSymmetric, 0, Families::kIpv4},
    Knob{"ip load-share hash ipv6 ipv6-src-ip", kInclude, kSrcIp, Families::kIpv6},
    Knob{"ip load-share hash ipv6 ipv6-dst-ip", kInclude, kDstIp, Families::kIpv6},
    Knob{"ip load-share hash ipv6 ipv6-next-hdr", kInclude, kProtocol, Families::kIpv6},
    Knob{"ip load-share hash ipv6 ipv6-l4-src-port", kInclude, kSrcPort, Families::kIpv6},
    Knob{"ip load-share hash ipv6 ipv6-l4-dst-port", kInclude, kDstPort, Families::kIpv6},
    Knob{"ip load-share hash ipv6 symmetric", kSymmetric, 0, Families::kIpv6}};

// Cumulus Linux: by NVUE, and by the file that NVUE writes as well.
constexpr std::string_view kDrawn = "switchd draws a seed at random";
constexpr std::array<std::string_view, 6> kNvuePrefixes{
    "nv set system forwarding ecmp-hash",   "nv set system forwarding hash-seed",
    "nv set system forwarding lag-hash",    "nv unset system forwarding ecmp-hash",
    "nv unset system forwarding hash-seed", "nv unset system forwarding lag-hash"};
constexpr std::array kNvueKnobs{
    Knob{"nv set system forwarding hash-seed", kSeed, 0, Families::kBoth, kMax32},
    Knob{"nv set system forwarding ecmp-hash ip-protocol", kSwitch, kProtocol},
    Knob{"nv set system forwarding ecmp-hash source-ip", kSwitch, kSrcIp},
    Knob{"nv set system forwarding ecmp-hash destination-ip", kSwitch, kDstIp},
    Knob{"nv set system forwarding ecmp-hash source-port", kSwitch, kSrcPort},
    Knob{"nv set system forwarding ecmp-hash destination-port", kSwitch, kDstPort},
    Knob{"nv set system forwarding ecmp-hash ipv6-label", kSwitch, kFlowLabel, Families::kIpv6},
    Knob{"nv set system forwarding ecmp-hash ingress-interface", kSwitch, kInPort},
    Knob{"nv set system forwarding ecmp-hash gtp-teid", kUnmodelled, 0, Families::kBoth, 0, kNoGtp},
    Knob{"nv set system forwarding ecmp-hash inner-ip-protocol", kSwitch, kInnerProtocol},
    Knob{"nv set system forwarding ecmp-hash inner-source-ip", kSwitch, kInnerSrcIp},
    Knob{"nv set system forwarding ecmp-hash inner-destination-ip", kSwitch, kInnerDstIp},
    Knob{"nv set system forwarding ecmp-hash inner-source-port", kSwitch, kInnerSrcPort},
    Knob{"nv set system forwarding ecmp-hash inner-destination-port", kSwitch, kInnerDstPort},
    Knob{"nv set system forwarding ecmp-hash inner-ipv6-label", kUnmodelled, 0, Families::kBoth, 0, kNoInnerLabel},
    of_lags("nv set system forwarding lag-hash ip-protocol", kSwitch, kProtocol),
    of_lags("nv set system forwarding lag-hash source-mac", kSwitch, set_of(HashField::kSrcMac)),
    of_lags("nv set system forwarding lag-hash destination-mac", kSwitch, set_of(HashField::kDstMac)),
    of_lags("nv set system forwarding lag-hash source-ip", kSwitch, kSrcIp),
    of_lags("nv set system forwarding lag-hash destination-ip", kSwitch, kDstIp),
    of_lags("nv set system forwarding lag-hash source-port", kSwitch, kSrcPort),
    of_lags("nv set system forwarding lag-hash destination-port", kSwitch, kDstPort),
    of_lags("nv set system forwarding lag-hash ether-type", kSwitch, set_of(HashField::kEthertype)),
    of_lags("nv set system forwarding lag-hash vlan", kSwitch, kVlan),
    of_lags("nv set system forwarding lag-hash gtp-teid", kUnmodelled, 0, Families::kBoth, kNoGtp)};
constexpr std::array<std::string_view, 4> kTrafficPrefixes{"hash_config.", "lag_hash_config.", "ecmp_hash_seed",
                                                           "symmetric_hash_enable"};
constexpr std::array kTrafficKnobs{
    Knob{"ecmp_hash_seed", kSeed, 0, Families::kBoth, kMax32},
    Knob{"hash_config.enable", kEnable},
    Knob{"hash_config.ip_prot", kSwitch, kProtocol},
    Knob{"hash_config.sip", kSwitch, kSrcIp},
    Knob{"hash_config.dip", kSwitch, kDstIp},
    Knob{"hash_config.sport", kSwitch, kSrcPort},
    Knob{"hash_config.dport", kSwitch, kDstPort},
    Knob{"hash_config.ip6_label", kSwitch, kFlowLabel, Families::kIpv6},
    Knob{"hash_config.ing_intf", kSwitch, kInPort},
    Knob{"hash_config.inner_ip_prot", kSwitch, kInnerProtocol},
    Knob{"hash_config.inner_sip", kSwitch, kInnerSrcIp},
    Knob{"hash_config.inner_dip", kSwitch, kInnerDstIp},
    Knob{"hash_config.inner_sport", kSwitch, kInnerSrcPort},
    Knob{"hash_config.inner_dport", kSwitch, kInnerDstPort},
    Knob{"hash_config.inner_ip6_label", kUnmodelled, 0, Families::kBoth, 0, kNoInnerLabel},
    of_lags("lag_hash_config.enable", kEnable),
    of_lags("lag_hash_config.ip_prot", kSwitch, kProtocol),
    of_lags("lag_hash_config.smac", kSwitch, set_of(HashField::kSrcMac)),
    of_lags("lag_hash_config.dmac", kSwitch, set_of(HashField::kDstMac)),
    of_lags("lag_hash_config.sip", kSwitch, kSrcIp),
    of_lags("lag_hash_config.dip", kSwitch, kDstIp),
    of_lags("lag_hash_config.sport", kSwitch, kSrcPort),
    of_lags("lag_hash_config.dport", kSwitch, kDstPort),
    of_lags("lag_hash_config.ether_type", kSwitch, set_of(HashField::kEthertype)),
    of_lags("lag_hash_config.vlan_id", kSwitch, kVlan),
    of_lags("lag_hash_config.gtp_teid", kUnmodelled, 0, Families::kBoth, kNoGtp),
    Knob{"symmetric_hash_enable", kSymmetric}};

// Cisco NX-OS: words of a line stand in any number, so it has a reader of its own.
constexpr std::array<std::string_view, 7> kNxosPrefixes{"ip load-sharing address",
                                                        "no ip load-sharing address",
                                                        "port-channel load-balance src",
                                                        "port-channel load-balance dst",
                                                        "port-channel load-balance src-dst",
                                                        "port-channel load-balance ethernet",
                                                        "port-channel load-balance resilient"};

// Arista EOS. Its ports' words differ by chip.
constexpr std::array kAristaFields{FieldWord{"source-ip", HashField::kSrcIp},
                                   FieldWord{"destination-ip", HashField::kDstIp},
                                   FieldWord{"source-port", HashField::kL4SrcPort},
                                   FieldWord{"destination-port", HashField::kL4DstPort},
                                   FieldWord{"flow-label", HashField::kIpv6FlowLabel},
                                   FieldWord{"ingress-interface", HashField::kInPort},
                                   FieldWord{"src-ip", HashField::kSrcIp},
                                   FieldWord{"dst-ip", HashField::kDstIp},
                                   FieldWord{"next-header", HashField::kIpProtocol},
                                   FieldWord{"src-port", HashField::kL4SrcPort},
                                   FieldWord{"dst-port", HashField::kL4DstPort}};
constexpr std::array<std::string_view, 5> kAristaPrefixes{"ip load-sharing", "no ip load-sharing",
                                                          "load-balance policies load-balance sand profile *",
                                                          "port-channel load-balance", "no port-channel load-balance"};
// Seeds differ by chip; without a line it is zero. If several chips take a knob, its first row is written.
constexpr std::array kAristaKnobs{
    Knob{"ip load-sharing fm6000", kSeed, 0, Families::kBoth, 39},
    Knob{"ip load-sharing trident", kSeed, 0, Families::kBoth, 5},
    Knob{"ip load-sharing arad", kSeed, 0, Families::kBoth, 2},
    Knob{"ip load-sharing petraA", kSeed, 0, Families::kBoth, 2},
    Knob{"no ip load-sharing fm6000", kNoSeed},
    Knob{"no ip load-sharing trident", kNoSeed},
    Knob{"no ip load-sharing arad", kNoSeed},
    Knob{"no ip load-sharing petraA", kNoSeed},
    of_lags("port-channel load-balance trident fields ipv6", kList, kEvery, Families::kIpv6),
    of_lags("port-channel load-balance trident fields ip", kList, kEvery, Families::kIpv4),
    Knob{"port-channel load-balance trident fields mac", kElsewhere},  // of what is not IP
    Knob{"ip load-sharing trident fields ipv6", kList, kEvery, Families::kIpv6},
    Knob{"ip load-sharing trident fields ip", kList, kEvery, Families::kIpv4},
    Knob{"load-balance policies load-balance sand profile * fields ipv6 outer", kList,
         kSrcIp | kDstIp | kProtocol | kFlowLabel, Families::kIpv6},
    Knob{"load-balance policies load-balance sand profile * fields l4 outer", kList, kPorts},
    Knob{"load-balance policies load-balance sand profile * hash seed", kSeed, 0, Families::kBoth, kMax32},
    Knob{"load-balance policies load-balance sand profile * fields udp dst-port", kPayload},
    Knob{"load-balance policies load-balance sand profile * ecmp hash key shift", kUnmodelled, 0, Families::kBoth, 0,
         "shifts the key, in a way that is not published"},
    Knob{"load-balance policies load-balance sand profile * lag hash key shift", kUnmodelled, 0, Families::kBoth, 0,
         "shifts the key, in a way that is not published"},
    Knob{"ip load-sharing sand profile", kProfile},
    of_lags("port-channel load-balance sand profile", kProfile),
    Knob{"port-channel load-balance trident udf", kUnmodelled, 0, Families::kBoth, 0,
         "a UDF, whose length and unit are not in this line: say lag_hash: {udf: […]} of the profile"},
    Knob{"load-balance policies load-balance sand profile * no fields mpls", kElsewhere},
    Knob{"load-balance policies load-balance sand profile * packet-type gue outer-ip", kElsewhere}};

// Junos of EX and QFX switches.
constexpr std::array<std::string_view, 4> kJunosPrefixes{
    "forwarding-options enhanced-hash-key", "forwarding-options hash-key",
    "groups * forwarding-options enhanced-hash-key", "deactivate forwarding-options enhanced-hash-key"};
constexpr std::array kJunosKnobs{
    Knob{"forwarding-options enhanced-hash-key hash-seed", kSeed, 0, Families::kBoth, kMax32},
    Knob{"forwarding-options enhanced-hash-key family inet no-ipv4-source-address", kExclude, kSrcIp, Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet no-ipv4-destination-address", kExclude, kDstIp,
         Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet no-l4-source-port", kExclude, kSrcPort, Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet no-l4-destination-port", kExclude, kDstPort,
         Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet no-protocol", kExclude, kProtocol, Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet no-incoming-port", kExclude, kInPort, Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet vlan-id", kInclude, kVlan, Families::kIpv4},
    Knob{"forwarding-options enhanced-hash-key family inet gtp-tunnel-endpoint-identifier", kUnmodelled, 0,
         Families::kIpv4, 0, kNoGtp},
    Knob{"forwarding-options enhanced-hash-key family inet6 no-ipv6-source-address", kExclude, kSrcIp, Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 no-ipv6-destination-address", kExclude, kDstIp,
         Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 no-l4-source-port", kExclude, kSrcPort, Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 no-l4-destination-port", kExclude, kDstPort,
         Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 no-next-header", kExclude, kProtocol, Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 no-incoming-port", kExclude, kInPort, Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 ipv6-flow-label", kInclude, kFlowLabel, Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 vlan-id", kInclude, kVlan, Families::kIpv6},
    Knob{"forwarding-options enhanced-hash-key family inet6 gtp-tunnel-endpoint-identifier", kUnmodelled, 0,
         Families::kIpv6, 0, kNoGtp},
    Knob{"forwarding-options enhanced-hash-key hash-mode layer2-payload", kElsewhere},
    Knob{"forwarding-options enhanced-hash-key hash-mode layer2-header", kUnmodelled, 0, Families::kBoth, 0,
         "hashes the Ethernet header alone"},
    Knob{"forwarding-options enhanced-hash-key symmetric-hash", kSymmetric},
    Knob{"forwarding-options enhanced-hash-key ecmp-resilient-hash", kUnmodelled, 0, Families::kBoth, 0,
         "resilient groups: groups: {kind: resilient, buckets: …} of the profile, whose number is not in this line"},
    Knob{"forwarding-options enhanced-hash-key ecmp-dlb", kUnmodelled, 0, Families::kBoth, 0,
         "draws by load: groups: {mode: flowlet} of the profile comes near"},
    Knob{"forwarding-options enhanced-hash-key layer2", kElsewhere}};

constexpr std::array kVendors{
    VendorRow{Vendor::kSonic, "SONiC", LineSyntax::kPlain, kSonicPrefixes, kSonicKnobs, kSaiFields, kSaiAlgorithms},
    VendorRow{Vendor::kEnterpriseSonic,
              "Enterprise SONiC",
              LineSyntax::kPlain,
              kEnterprisePrefixes,
              kEnterpriseKnobs,
              {},
              kEnterpriseAlgorithms},
    VendorRow{Vendor::kNvue,
              "Cumulus Linux (NVUE)",
              LineSyntax::kPlain,
              kNvuePrefixes,
              kNvueKnobs,
              {},
              {},
              kFiveTuple,
              kFiveTuple | kFlowLabel,
              kDrawn,
              kFiveTuple | kEthernet,
              true},
    VendorRow{Vendor::kTrafficConf,
              "Cumulus Linux (traffic.conf)",
              LineSyntax::kKeyValue,
              kTrafficPrefixes,
              kTrafficKnobs,
              {},
              {},
              kFiveTuple,
              kFiveTuple | kFlowLabel,
              kDrawn,
              kFiveTuple | kEthernet,
              true},
    // Before Arista, whose lines begin alike.
    VendorRow{Vendor::kNxos, "Cisco NX-OS", LineSyntax::kPlain, kNxosPrefixes, {}, {}, {}},
    VendorRow{Vendor::kArista,
              "Arista EOS",
              LineSyntax::kIndented,
              kAristaPrefixes,
              kAristaKnobs,
              kAristaFields,
              {},
              0,
              0,
              "its default is 0"},
    VendorRow{Vendor::kJunos,
              "Junos",
              LineSyntax::kBraces,
              kJunosPrefixes,
              kJunosKnobs,
              {},
              {},
              kFiveTuple,
              kFiveTuple,
              "a QFX10000 makes one of its MAC address"},
    VendorRow{Vendor::kOpenConfig, "OpenConfig", LineSyntax::kJson, {}, {}, {}, kSaiAlgorithms}};

}  // namespace

std::span<const VendorRow> vendors() {
  return kVendors;
}

std::vector<HashField> fields_of(FieldSet set) {
  std::vector<HashField> out;
  for (unsigned f = 0; f <= static_cast<unsigned>(HashField::kInnerDstIpv6); ++f) {
    if ((set & set_of(static_cast<HashField>(f))) != 0) out.push_back(static_cast<HashField>(f));
  }
  return out;
}

const VendorRow& row_of(Vendor vendor) {
  return *std::ranges::find(kVendors, vendor, &VendorRow::vendor);
}

}  // namespace softspine::control

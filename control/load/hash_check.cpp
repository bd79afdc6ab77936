// SPDX-License-Identifier: Apache-2.0
#include "control/load/hash_check.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "control/rows/row_formats.hpp"
#include "dataplane/hashing/ecmp_group.hpp"
#include "dataplane/hashing/hash_algorithm.hpp"
#include "dataplane/hashing/hash_key.hpp"
#include "dataplane/hashing/ovs_buckets.hpp"

namespace softspine::control {
namespace {

using dataplane::KeyPart;
using dataplane::Udf;

// Bytes of a packet, from a base.
struct Range {
  UdfBase base;
  uint32_t from;
  uint32_t to;
  bool overlaps(const Range& other) const { return base == other.base && from < other.to && other.from < to; }
};

// Where a field lies in packets of one IP version; empty for what lies nowhere (IN_PORT, VLAN_ID).
Range range_of(const KeyPart& part, bool is_ipv6) {
  using S = KeyPart::Source;
  switch (part.source) {
    case S::kBytes: return {part.base, part.offset, uint32_t{part.offset} + part.length};
    case S::kEtherType: return {UdfBase::kL2, 12, 14};
    case S::kProtocol: return is_ipv6 ? Range{UdfBase::kL3, 6, 7} : Range{UdfBase::kL3, 9, 10};
    case S::kFlowLabel: return is_ipv6 ? Range{UdfBase::kL3, 1, 4} : Range{UdfBase::kL3, 0, 0};
    default: return {UdfBase::kL2, 0, 0};
  }
}
Range range_of(const Udf& udf) {
  return {udf.base, udf.offset, uint32_t{udf.offset} + udf.length};
}

bool is_of_version(const Udf& udf, bool is_ipv6) {
  return !udf.l2_type || *udf.l2_type == (is_ipv6 ? 0x86dd : 0x0800);
}
template <typename T>
bool differ(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a != *b;
}
// No packet matches both.
bool exclude_each_other(const Udf& a, const Udf& b) {
  return differ(a.l2_type, b.l2_type) || differ(a.l3_protocol, b.l3_protocol) || differ(a.l4_dst_port, b.l4_dst_port);
}
bool is_of_roce(const KeyPart& part) {
  return part.field == HashField::kRdmaBthDestQp || part.field == HashField::kRdmaBthOpcode;
}

// The field that a UDF's bytes belong to already, if any.
std::optional<HashField> field_under(const Udf& udf, const HashConfig& fields, bool is_ipv6) {
  const dataplane::KeyLayout layout{fields, is_ipv6};
  for (const KeyPart& part : layout.parts()) {
    const bool elsewhere = is_of_roce(part) && udf.l4_dst_port && *udf.l4_dst_port != 4791;
    if (!elsewhere && range_of(part, is_ipv6).overlaps(range_of(udf))) return part.field;
  }
  return std::nullopt;
}

void check_overlaps(Reader& reader, Value list, const HashConfig& hash) {
  HashConfig fields = hash;
  fields.model = HashModel::kSai;
  fields.udfs.clear();
  fields.fine_grained.clear();
  const std::vector<Value> places = list.each();
  for (size_t i = 0; i < hash.udfs.size(); ++i) {
    const Udf& udf = hash.udfs[i];
    const Value where = i < places.size() ? places[i] : list;
    for (size_t j = 0; j < i; ++j) {
      if (range_of(udf).overlaps(range_of(hash.udfs[j])) && !exclude_each_other(udf, hash.udfs[j]))
        reader.fail(where, "overlaps udf[" + std::to_string(j) + "]: its bytes would be hashed twice");
    }
    for (const bool is_ipv6 : {false, true}) {
      if (!is_of_version(udf, is_ipv6)) continue;
      const auto field = field_under(udf, fields, is_ipv6);
      if (!field) continue;
      reader.fail(where, "overlaps the field " + std::string(word_of(*field)) + ": its bytes would be hashed twice");
      break;
    }
  }
}

void check_fields(Reader& reader, Value where, const HashConfig& hash) {
  if (std::ranges::any_of(where.each(), [&](Value field) { return reader.is_invalid(field); })) return;
  std::set<HashField> seen;
  for (const HashField field : hash.fields) {
    if (!seen.insert(field).second) reader.fail(where, std::string(word_of(field)) + " stands here twice");
  }
  using enum HashField;
  for (const auto& [version, both] :
       {std::pair{kSrcIpv4, kSrcIp}, std::pair{kSrcIpv6, kSrcIp}, std::pair{kDstIpv4, kDstIp},
        std::pair{kDstIpv6, kDstIp}, std::pair{kInnerSrcIpv4, kInnerSrcIp}, std::pair{kInnerSrcIpv6, kInnerSrcIp},
        std::pair{kInnerDstIpv4, kInnerDstIp}, std::pair{kInnerDstIpv6, kInnerDstIp}}) {
    if (!seen.contains(version) || !seen.contains(both)) continue;
    reader.fail(where, std::string(word_of(version)) + " is a part of " + std::string(word_of(both)) +
                           ": its bytes would be hashed twice");
  }
  if (hash.fields.empty() && hash.udfs.empty() && hash.fine_grained.empty() &&
      !dataplane::row_of(hash.algorithm).is_drawn)
    reader.fail(where, "leaves nothing to hash");
}

// Bytes of a mask of the field; 0: it is no address of one version.
size_t mask_bytes(HashField field) {
  using enum HashField;
  constexpr HashField kIpv4[] = {kSrcIpv4, kDstIpv4, kInnerSrcIpv4, kInnerDstIpv4};
  constexpr HashField kIpv6[] = {kSrcIpv6, kDstIpv6, kInnerSrcIpv6, kInnerDstIpv6};
  if (std::ranges::find(kIpv4, field) != std::end(kIpv4)) return 4;
  return std::ranges::find(kIpv6, field) != std::end(kIpv6) ? 16 : 0;
}

// Returns whether there are few enough to go on.
bool check_fine_grained(Reader& reader, Value list, const HashConfig& hash) {
  constexpr size_t kMax = 16;
  if (hash.fine_grained.size() > kMax) {
    reader.fail(list, "has " + std::to_string(hash.fine_grained.size()) + " fields: at most " + std::to_string(kMax));
    return false;
  }
  const std::vector<Value> places = list.each();
  for (size_t i = 0; i < std::min(places.size(), hash.fine_grained.size()); ++i) {
    const dataplane::FineGrainedField& fine = hash.fine_grained[i];
    const std::string word(word_of(fine.field));
    if (std::ranges::find(hash.fields, fine.field) != hash.fields.end())
      reader.fail(places[i], word + " stands in 'fields', too: its bytes would be hashed twice");
    if (fine.mask.empty() || fine.mask.size() == mask_bytes(fine.field)) continue;
    const std::string version = mask_bytes(fine.field) == 4 ? "IPv4" : "IPv6";
    reader.fail(places[i].child("mask"), mask_bytes(fine.field) == 0
                                             ? "goes with addresses of one version only, such as SRC_IPV4"
                                             : word + " is an " + version + " address");
  }
  return true;
}

void check_length(Reader& reader, Value where, const HashConfig& hash) {
  const uint32_t most = dataplane::max_key_bytes(shape_of(hash));
  const uint32_t bytes =
      std::max(dataplane::KeyLayout{hash, false}.used_bytes(), dataplane::KeyLayout{hash, true}.used_bytes());
  if (bytes > most)
    reader.fail(where, "the key would have " + std::to_string(bytes) + " bytes: at most " + std::to_string(most));
}

// What a hash object has, or the hash for packets without one.
bool check_key(Reader& reader, Value where, const HashConfig& hash) {
  check_fields(reader, where.child("fields"), hash);
  if (hash.udfs.size() > dataplane::kMaxUdfs) {
    reader.fail(where.child("udf"), "there are " + std::to_string(hash.udfs.size()) + ": a switch has " +
                                        std::to_string(dataplane::kMaxUdfs));
    return false;
  }
  if (!check_fine_grained(reader, where.child("fine_grained"), hash)) return false;
  check_overlaps(reader, where.child("udf"), hash);
  if (hash.model == HashModel::kSai) check_length(reader, where, hash);
  return true;
}

// What only SAI's model has.
void check_sai(Reader& reader, Value where, const HashConfig& hash) {
  const bool is_sai = hash.model == HashModel::kSai;
  const auto needs_sai = [&](bool given, std::string_view key) {
    if (given && !is_sai) reader.fail(where.child(key), "goes with 'model: SAI' only");
  };
  needs_sai(hash.symmetric, "symmetric");
  needs_sai(!hash.fine_grained.empty(), "fine_grained");
  for (size_t i = 0; i < hash.objects.size(); ++i) {
    const std::string_view key = kHashObjectRows[i].first;
    needs_sai(hash.objects[i].has_value(), key);
    if (hash.objects[i] && is_sai) check_key(reader, where.child(key), with_object(hash, *hash.objects[i]));
  }
}

// What no host that forwards has.
void check_of_hosts(Reader& reader, Value where, const HashConfig& hash) {
  const dataplane::HashModelRow& model = dataplane::row_of(hash.model);
  if (!model.is_of_hosts) return;
  if (hash.offset != 0) reader.fail(where.child("offset"), std::string(model.word) + " has none");
  if (!hash.udfs.empty()) reader.fail(where.child("udf"), std::string(model.word) + " has none");
}

void check_linux(Reader& reader, Value where, const HashConfig& hash) {
  const bool is_linux = hash.model == HashModel::kLinux;
  if (!is_linux && hash.linux_policy != 0) reader.fail(where.child("policy"), "goes with 'model: LINUX' only");
  if (is_linux && hash.seed == 0)
    reader.fail(where.child("seed"), "LINUX needs a seed: with fib_multipath_hash_seed 0 each kernel draws its own");
}
// Of Linux, fields count by policy 3 only.
void check_linux_fields(Reader& reader, Value where, const HashConfig& hash) {
  if (hash.model != HashModel::kLinux || hash.linux_policy != 3) return;
  using enum HashField;
  for (const HashField field : hash.fields) {
    if (field != kSrcIp && field != kDstIp && field != kIpProtocol && field != kL4SrcPort && field != kL4DstPort &&
        field != kIpv6FlowLabel)
      reader.fail(where.child("fields"), "fib_multipath_hash_fields has no " + std::string(word_of(field)) + " here");
  }
}

// Of Open vSwitch, the algorithm says what is hashed.
void check_ovs(Reader& reader, Value where, const HashConfig& hash) {
  if (hash.model != HashModel::kOvs) return;
  const Value fields = where.child("fields");
  if (fields.id() != where.id()) reader.fail(fields, "OVS has none for dp_hash: its algorithm says what is hashed");
}

// The algorithms that take a key.
std::string keyed() {
  std::string out;
  for (const dataplane::HashAlgorithmRow& row : dataplane::kHashAlgorithms) {
    if (row.takes_key) out += (out.empty() ? "" : " or ") + std::string(row.word);
  }
  return out;
}

void check_is_in(Reader& reader, Value where, HashModel model, HashAlgorithm algorithm) {
  const dataplane::HashAlgorithmRow& row = dataplane::row_of(algorithm);
  if (!row.is_in(model)) reader.fail(where, std::string(word_of(model)) + " has no " + std::string(row.word));
}

// What has no bin of its own shares RTAG7's bins 1 and 0.
void check_user_bins(Reader& reader, Value where, const HashConfig& hash) {
  constexpr uint32_t kMax = dataplane::KeyLayout::kUserBinBytes;
  const auto bytes_of = [&](const std::vector<HashField>& fields) {
    HashConfig block = hash;
    block.fields = fields;
    return std::max(dataplane::KeyLayout::user_bytes(block, false), dataplane::KeyLayout::user_bytes(block, true));
  };
  uint32_t bytes = bytes_of(hash.fields);
  if (hash.rtag7) {
    for (const auto& fields : {hash.rtag7->a.equal_ports, hash.rtag7->b_fields, hash.rtag7->b.equal_ports})
      bytes = std::max(bytes, fields ? bytes_of(*fields) : 0);
  }
  if (bytes > kMax)
    reader.fail(where, "RTAG7 has " + std::to_string(kMax) +
                           " bytes for RDMA_BTH_*, IPV6_FLOW_LABEL and UDFs together, not " + std::to_string(bytes));
}

void check_macro_flow(Reader& reader, Value where, const HashConfig& hash) {
  const dataplane::Rtag7MacroFlow& flows = *hash.rtag7->macro_flow;
  check_is_in(reader, where.child("algorithm"), hash.model, flows.algorithm);
  const size_t entries = flows.table.size();
  if (entries == 0 || dataplane::Rtag7MacroFlow::kEntries % entries != 0)
    reader.fail(where.child("table"),
                "has " + std::to_string(entries) + " entries: 256, or a number that repeated gives 256");
}

void check_rtag7(Reader& reader, Value where, const HashConfig& hash) {
  if (hash.model != HashModel::kRtag7) {
    if (hash.rtag7) reader.fail(where.child("rtag7"), "goes with 'model: RTAG7' only");
    return;
  }
  check_user_bins(reader, where, hash);
  if (!hash.rtag7) return;
  const Value at = where.child("rtag7");
  check_is_in(reader, at.child("a").child("second"), hash.model, hash.rtag7->a.second);
  check_is_in(reader, at.child("b").child("first"), hash.model, hash.rtag7->b_first);
  check_is_in(reader, at.child("b").child("second"), hash.model, hash.rtag7->b.second);
  if (hash.rtag7->macro_flow) check_macro_flow(reader, at.child("macro_flow"), hash);
}

void check_neighbours(Reader& reader, Value weights, const EcmpGroupConfig& groups, const Fabric& fabric) {
  for (const auto& [name, weight] : groups.weights) {
    const bool found = std::ranges::any_of(
        fabric.nodes, [&name](const FabricNode& node) { return node.kind == NodeKind::kSwitch && node.name == name; });
    if (!found) reader.fail(weights.child(name), "there is no switch " + shown(name));
    constexpr uint32_t kMax = dataplane::kMaxEcmpGroupBuckets;
    if (weight < 1 || weight > kMax)
      reader.fail(weights.child(name),
                  "must be from 1 to " + std::to_string(kMax) + ", not '" + std::to_string(weight) + "'");
  }
}

// The largest group that a switch is sure to have: all its links up, or the parallel ones to a neighbour. (Several
// neighbours below may share a destination: only routes tell; see unsupported_in.)
struct Sizes {
  uint32_t members = 0;
  uint64_t weight = 0;
  std::vector<uint32_t> weights;
};
Sizes largest_group(const Fabric& fabric, uint32_t n, const EcmpGroupConfig& groups) {
  const FabricNode& node = fabric.nodes[n];
  Sizes up;
  std::map<uint32_t, Sizes> down;  // by neighbour
  for (uint16_t p = 0; p < node.ports.size(); ++p) {
    if (!fabric.is_way({n, p})) continue;
    const uint32_t other = fabric.peer_of({n, p}).node;
    const FabricNode& peer = fabric.nodes[other];
    if (peer.kind != NodeKind::kSwitch) continue;
    Sizes& sizes = tier_of(peer.role) > tier_of(node.role) ? up : down[other];
    ++sizes.members;
    sizes.weights.push_back(weight_of(groups, peer.name));
    sizes.weight += sizes.weights.back();
  }
  for (const auto& [peer, sizes] : down) {
    if (sizes.members > up.members) up = sizes;
  }
  return up;
}

// What a group of Open vSwitch cannot be; empty: nothing.
std::string unlike_ovs(const FabricNode& node, uint32_t n, const Profile& profile, const Fabric& fabric,
                       const Sizes& sizes) {
  if (profile.hash_of_lags().model == HashModel::kOvs &&
      std::ranges::any_of(fabric.lags, [n](const Lag& lag) { return lag.nodes[0] == n || lag.nodes[1] == n; }))
    return "'model: OVS' has no hash of LAGs: OVS moves a bond's flows by their load; say 'lag_hash'";
  if (profile.hash.model != HashModel::kOvs) return "";
  if (profile.groups.mode != EcmpGroupMode::kHash && profile.groups.mode != EcmpGroupMode::kPinned)
    return "'model: OVS' has no groups of mode " + std::string(word_of(profile.groups.mode));
  if (dataplane::ovs_hash_values(sizes.weights) > dataplane::kMaxOvsHashValues)
    return "OVS would not use dp_hash for a group of " + node.name + ": its " + std::to_string(sizes.members) +
           " members and their weights need more than " + std::to_string(dataplane::kMaxOvsHashValues) + " hash values";
  return "";
}

}  // namespace

void check_hash(Reader& reader, Value where, const HashConfig& hash) {
  const auto at = [where](std::string_view key) { return where.child(key); };
  const dataplane::HashAlgorithmRow& algorithm = dataplane::row_of(hash.algorithm);
  if (!algorithm.is_in(hash.model)) {
    reader.fail(at("algorithm"), std::string(word_of(hash.model)) + " has no " + std::string(algorithm.word));
    return;
  }
  if (!check_key(reader, where, hash)) return;
  check_sai(reader, where, hash);
  check_linux(reader, where, hash);
  check_of_hosts(reader, where, hash);
  check_linux_fields(reader, where, hash);
  check_ovs(reader, where, hash);
  check_rtag7(reader, where, hash);
  const uint32_t width = algorithm.bits_in(hash.model);
  if (hash.offset >= width) {
    reader.fail(at("offset"), "must be less than " + std::to_string(width) + ", the bits of this algorithm's result");
  }
  const bool says_key = where.child("key").id() != where.id();
  if (says_key && !algorithm.takes_key) reader.fail(at("key"), "goes with the algorithm " + keyed() + " only");
}

void check_groups(Reader& reader, const TestbedRow& row, const std::vector<Profile>& profiles, const Fabric& fabric) {
  // The file's profiles come first, in its order.
  const auto where_of = [&row](uint32_t profile) {
    if (profile >= row.profiles.items.size()) return Value{};
    const auto& item = row.profiles.items[profile];
    return item.value.groups ? item.value.groups->where : item.key;
  };
  for (uint32_t i = 0; i < row.profiles.items.size(); ++i) {
    const auto& groups = row.profiles.items[i].value.groups;
    if (groups && groups->weights) check_neighbours(reader, groups->where.child("weights"), profiles[i].groups, fabric);
  }
  std::set<uint32_t> said;  // profiles
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    if (node.kind != NodeKind::kSwitch || said.contains(node.profile)) continue;
    const Profile& profile = profiles[node.profile];
    const Sizes sizes = largest_group(fabric, n, profile.groups);
    const auto refuse = [&](const std::string& message) {
      reader.fail(where_of(node.profile), message);
      said.insert(node.profile);
    };
    const std::string unlike = unlike_ovs(node, n, profile, fabric, sizes);
    if (!unlike.empty()) {
      refuse(unlike);
    } else if (profile.hash.model == HashModel::kLinux && profile.groups.kind == EcmpGroupKind::kResilient) {
      refuse("'model: LINUX' has no resilient groups here");
    } else if (sizes.members > dataplane::kMaxEcmpGroupMembers) {
      refuse(node.name + " would have a group of " + std::to_string(sizes.members) + " members: at most " +
             std::to_string(dataplane::kMaxEcmpGroupMembers));
    } else if (sizes.weight > dataplane::kMaxEcmpGroupBuckets) {
      refuse("the weights of a group of " + node.name + " sum up to " + std::to_string(sizes.weight) + ": at most " +
             std::to_string(dataplane::kMaxEcmpGroupBuckets));
    } else if (profile.groups.kind == EcmpGroupKind::kResilient && profile.hash.model != HashModel::kOvs &&
               sizes.weight > profile.groups.buckets) {
      const bool is_weighted = sizes.weight > sizes.members;
      refuse(std::to_string(profile.groups.buckets) + " buckets are too few for the " + std::to_string(sizes.members) +
             " members of a group of " + node.name +
             (is_weighted ? ", whose weights sum up to " + std::to_string(sizes.weight) : std::string()));
    }
  }
}

}  // namespace softspine::control

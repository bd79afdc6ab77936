// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/terms.hpp"

#include <fmt/format.h>

#include "control/telemetry/printable.hpp"

namespace softspine::tools {

namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kMaxNameBytes = 64;

bool is_path_mtu(uint32_t bytes) {
  return bytes == 256 || bytes == 512 || bytes == 1024 || bytes == 2048 || bytes == 4096;
}

std::string hex_of(const GidBytes& gid) {
  std::string text;
  for (const uint8_t byte : gid) text += fmt::format("{:02x}", byte);
  return text;
}

std::expected<GidBytes, std::string> gid_from(const Json& json) {
  const auto found = json.find("gid");
  const std::string text = found != json.end() && found->is_string() ? found->get<std::string>() : "";
  const bool is_hex = text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hex) return std::unexpected("the other end's gid is not 32 hexadecimal digits");
  GidBytes gid;
  for (size_t i = 0; i < gid.size(); ++i) gid[i] = static_cast<uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return gid;
}

}  // namespace

std::string validate(const Terms& terms) {
  const Spread& spread = terms.spread;
  if (spread.queue_pairs == 0 || spread.queue_pairs > kMaxQueuePairs)
    return fmt::format("{} queue pairs: 1 to {} are possible", spread.queue_pairs, kMaxQueuePairs);
  if (spread.message_bytes == 0 || spread.message_bytes > kMaxMessageBytes)
    return fmt::format("a message of {} bytes: 1 to 2^31 are possible", spread.message_bytes);
  if (spread.scaling == Scaling::kSplit && spread.message_bytes < spread.queue_pairs)
    return fmt::format("a message of {} bytes cannot be split over {} queue pairs", spread.message_bytes,
                       spread.queue_pairs);
  if (terms.depth == 0 || terms.depth > kMaxDepth)
    return fmt::format("a depth of {}: 1 to {} are possible", terms.depth, kMaxDepth);
  if (terms.buffer_bytes() > kMaxBufferBytes)
    return fmt::format(
        "{} queue pairs × depth {} × {} bytes need {} MiB of buffers, more than 1024: a smaller --depth?",
        spread.queue_pairs, terms.depth, spread.largest_part_bytes(), terms.buffer_bytes() >> 20);
  if (terms.mtu_bytes != 0 && !is_path_mtu(terms.mtu_bytes))
    return fmt::format("an MTU of {}: RDMA has 256, 512, 1024, 2048 and 4096", terms.mtu_bytes);
  if (terms.dscp > 63) return fmt::format("a DSCP of {}: 0 to 63 are possible", terms.dscp);
  if (terms.ack_timeout > 31) return fmt::format("an ACK timeout of {}: 0 to 31 are possible", terms.ack_timeout);
  return "";
}

Json to_json(const Terms& terms) {
  return {{"softspine_verbs", kVersion},
          {"scaling", terms.spread.scaling == Scaling::kSplit ? "split" : "round_robin"},
          {"qps", terms.spread.queue_pairs},
          {"message_bytes", terms.spread.message_bytes},
          {"depth", terms.depth},
          {"mtu_bytes", terms.mtu_bytes},
          {"flow_label", terms.flow_label},
          {"dscp", terms.dscp},
          {"ack_timeout", terms.ack_timeout},
          {"seed", terms.seed}};
}

std::expected<Terms, std::string> terms_from(const Json& json) {
  NumberReader numbers{json};
  Terms terms;
  uint32_t version = 0;
  numbers.read("softspine_verbs", version, kVersion, kVersion);
  numbers.read("qps", terms.spread.queue_pairs, 1, kMaxQueuePairs);
  numbers.read("message_bytes", terms.spread.message_bytes, 1, kMaxMessageBytes);
  numbers.read("depth", terms.depth, 1, kMaxDepth);
  numbers.read("mtu_bytes", terms.mtu_bytes, 0, 4096);
  numbers.read("flow_label", terms.flow_label, 0, 0xFFFFF);
  numbers.read("dscp", terms.dscp, 0, 63);
  numbers.read("ack_timeout", terms.ack_timeout, 0, 31);
  numbers.read("seed", terms.seed, 0, UINT64_MAX);
  if (!numbers.error().empty()) return std::unexpected(numbers.error());
  const auto scaling = json.find("scaling");
  if (scaling == json.end() || (*scaling != "split" && *scaling != "round_robin"))
    return std::unexpected("the other end's scaling is neither split nor round_robin");
  terms.spread.scaling = *scaling == "split" ? Scaling::kSplit : Scaling::kRoundRobin;
  if (const std::string wrong = validate(terms); !wrong.empty()) return std::unexpected(wrong);
  return terms;
}

Json to_json(const End& end) {
  Json pairs = Json::array();
  for (const QueuePairPlace& place : end.queue_pairs) pairs.push_back({{"qp", place.number}, {"psn", place.first_psn}});
  return {{"gid", hex_of(end.gid)}, {"device", end.device}, {"mtu_bytes", end.mtu_bytes},
          {"address", end.address}, {"key", end.key},       {"queue_pairs", std::move(pairs)}};
}

std::expected<End, std::string> end_from(const Json& json) {
  End end;
  const auto gid = gid_from(json);
  if (!gid) return std::unexpected(gid.error());
  end.gid = *gid;
  if (const auto device = json.find("device"); device != json.end() && device->is_string())
    end.device = control::printable(device->get_ref<const std::string&>(), kMaxNameBytes);
  NumberReader numbers{json};
  numbers.read("mtu_bytes", end.mtu_bytes, 256, 4096);
  numbers.read("address", end.address, 0, UINT64_MAX);
  numbers.read("key", end.key, 0, UINT32_MAX);
  const auto pairs = json.find("queue_pairs");
  if (pairs == json.end() || !pairs->is_array() || pairs->empty() || pairs->size() > kMaxQueuePairs)
    return std::unexpected("the other end names no queue pairs, or too many");
  for (const Json& pair : *pairs) {
    NumberReader of_pair{pair};
    QueuePairPlace& place = end.queue_pairs.emplace_back();
    of_pair.read("qp", place.number, 2, 0xFFFFFE);
    of_pair.read("psn", place.first_psn, 0, 0xFFFFFF);
    if (!of_pair.error().empty()) return std::unexpected(of_pair.error());
  }
  if (!numbers.error().empty()) return std::unexpected(numbers.error());
  if (!is_path_mtu(end.mtu_bytes))
    return std::unexpected(fmt::format("the other end's MTU of {} is none of RDMA's", end.mtu_bytes));
  return end;
}

std::string validate(const Verdict& verdict, uint64_t sent_bytes) {
  if (verdict.verified_bytes == sent_bytes) return "";
  return fmt::format("the other end has looked at {} bytes, and {} were sent", verdict.verified_bytes, sent_bytes);
}

Json to_json(const Verdict& verdict) {
  return {{"verified", verdict.is_right()},
          {"verified_bytes", verdict.verified_bytes},
          {"wrong_bytes", verdict.wrong_bytes},
          {"misplaced_parts", verdict.misplaced_parts},
          {"peer_counters", verdict.counters}};
}

std::expected<Verdict, std::string> verdict_from(const Json& json) {
  Verdict verdict;
  NumberReader numbers{json};
  numbers.read("verified_bytes", verdict.verified_bytes, 0, UINT64_MAX);
  numbers.read("wrong_bytes", verdict.wrong_bytes, 0, verdict.verified_bytes);
  numbers.read("misplaced_parts", verdict.misplaced_parts, 0, UINT64_MAX);
  if (!numbers.error().empty()) return std::unexpected(numbers.error());
  const auto counters = json.find("peer_counters");
  if (counters == json.end() || !counters->is_object()) return std::unexpected("the other end names no peer_counters");
  for (const auto& [name, value] : counters->items()) {
    if (!value.is_number_unsigned()) return std::unexpected("the other end's peer_counters are no numbers");
    verdict.counters[control::printable(name, kMaxNameBytes)] = value.get<uint64_t>();
  }
  return verdict;
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/identify_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/rows/row_formats.hpp"
#include "dataplane/hashing/ovs_key.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kMaxShown = 8;

const char* verdict_text(IdentifyVerdict verdict) {
  switch (verdict) {
    case IdentifyVerdict::kIdentified: return "identified";
    case IdentifyVerdict::kNoModel: return "identified, no model here";
    case IdentifyVerdict::kIndistinguishable: return "indistinguishable";
    case IdentifyVerdict::kNothingFits: return "nothing fits";
  }
  return "?";
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  return fmt::format("{}", fmt::join(parts, between));
}

std::vector<std::string> words_of(const std::vector<dp::HashField>& fields) {
  std::vector<std::string> out;
  for (const dp::HashField field : fields) out.emplace_back(control::word_of(field));
  return out;
}

std::vector<std::string> rtag7_options_of(const dp::HashConfig& config) {
  std::vector<std::string> out;
  if (!config.rtag7) return out;
  if (config.rtag7->a.pre_processing) out.emplace_back("pre_processing");
  if (config.rtag7->a.symmetric) out.emplace_back("symmetric");
  if (config.rtag7->a.low_ipv6) out.emplace_back("low_ipv6");
  return out;
}

control::Json hash_json(const dp::HashConfig& config) {
  control::Json out{{"model", control::word_of(config.model)},
                    {"algorithm", control::word_of(config.algorithm)},
                    {"fields", words_of(config.fields)},
                    {"seed", config.seed},
                    {"offset", config.offset}};
  if (config.model == dp::HashModel::kLinux) out["policy"] = config.linux_policy;
  if (config.symmetric) out["symmetric"] = true;
  for (const std::string& option : rtag7_options_of(config)) out["rtag7"]["a"][option] = true;
  return out;
}

std::string link_text(const Identification& found, uint32_t link) {
  return link == kUnknownLink ? "?" : found.links[link];
}

control::Json class_json(const Identification& found, const HashClass& one) {
  const Hypothesis& first = one.hypotheses.front();
  control::Json order = control::Json::array();
  for (const uint32_t link : first.fit.of_bucket)
    order.push_back(link == kUnknownLink ? control::Json{} : control::Json(found.links[link]));
  control::Json alike = control::Json::array();
  for (size_t i = 1; i < one.hypotheses.size(); ++i) alike.push_back(hash_json(one.hypotheses[i].config));
  return {{"hash", hash_json(first.config)},
          {"members", std::move(order)},
          {"agreeing", first.fit.agreeing},
          {"alike", std::move(alike)}};
}

std::string hash_line(const dp::HashConfig& config) {
  const std::string fields = joined(words_of(config.fields), ", ");
  if (config.model == dp::HashModel::kLinux)
    return fmt::format("LINUX policy {}, seed {}, of {}", config.linux_policy, config.seed, fields);
  const dp::HashModelRow& model = dp::row_of(config.model);
  if (model.is_of_hosts)
    return fmt::format("{} {}, {} {}{}", model.word, control::word_of(config.algorithm), model.seed, config.seed,
                       dp::is_symmetric_ovs(config.algorithm) ? "; ports of UDP do not count" : "");
  std::string out = fmt::format("{} {}, seed {}, offset {}, of {}", control::word_of(config.model),
                                control::word_of(config.algorithm), config.seed, config.offset, fields);
  std::vector<std::string> options = rtag7_options_of(config);
  if (config.symmetric) options.emplace_back("symmetric");
  return options.empty() ? out : out + "; " + joined(options, ", ");
}

// The other direction's key fits nothing else.
bool is_symmetric_for_sure(const Identification& found) {
  const auto is_symmetric = [](const Hypothesis& it) { return it.config.symmetric; };
  const auto are_symmetric = [&](const HashClass& it) { return std::ranges::all_of(it.hypotheses, is_symmetric); };
  return !found.classes.empty() && std::ranges::all_of(found.classes, are_symmetric);
}

std::string constant_text(const Identification& found) {
  std::vector<std::string> out;
  for (const FlowPart part : found.constant) out.emplace_back(control::word_of(field_of(part)));
  return joined(out, ", ");
}

std::string members_text(const Identification& found, const Fit& fit) {
  std::vector<std::string> out;
  for (const uint32_t link : fit.of_bucket) out.push_back(link_text(found, link));
  const auto unmet = std::ranges::count(fit.of_bucket, kUnknownLink);
  return fmt::format("  members by bucket: {}{}\n", joined(out, " "),
                     unmet > 0 ? fmt::format("  (?: {} that no flow has met)", unmet) : "");
}

// "SRC_IP 0000ff03": the bits of each part that a sum takes, as they stand in the packet.
std::string sum_text(const Identification& found, const LinearSum& sum) {
  const bool is_ipv6 = found.is_ipv6;
  std::vector<std::string> out;
  for (const SumPart& part : sum) {
    const bool is_address = part.part == FlowPart::kSource || part.part == FlowPart::kDestination;
    std::string hex;
    for (size_t i = 0; i < (is_address && !is_ipv6 ? 4 : part.mask.size()); ++i)
      hex += fmt::format("{:02x}", part.mask[i]);
    out.push_back(std::string(control::word_of(field_of(part.part))) + " " + hex);
  }
  return joined(out, ", ");
}

std::string no_model_text(const Identification& found) {
  const uint32_t agreeing = found.crc ? found.crc->fit.agreeing : found.linear->agreeing;
  std::string out = fmt::format(
      "identified, but no model here has it: {} of {} flows agree; by chance less often than once in 10^{:.0f}\n",
      agreeing, found.flows, -found.chance * 0.30103);
  if (found.crc) return out + "  " + to_string(*found.crc, found.members) + "\n" + members_text(found, found.crc->fit);
  out += fmt::format("  a linear hash: the link follows from {} sum{} (exclusive or) of these bits of a flow\n",
                     found.linear->sums.size(), found.linear->sums.size() == 1 ? "" : "s");
  for (const LinearSum& sum : found.linear->sums) out += "    " + sum_text(found, sum) + "\n";
  return out;
}

control::Json linear_json(const Identification& found) {
  control::Json out = control::Json::array();
  for (const LinearSum& sum : found.linear->sums) out.push_back(sum_text(found, sum));
  return out;
}

std::string identified_text(const Identification& found) {
  const HashClass& one = found.classes.front();
  const Hypothesis& first = one.hypotheses.front();
  std::string out = fmt::format("identified: {} of {} flows agree; by chance less often than once in 10^{:.0f}\n  {}\n",
                                first.fit.agreeing, found.flows, -found.chance * 0.30103, hash_line(first.config));
  out += members_text(found, first.fit);
  if (one.hypotheses.size() > 1) out += "  for such flows the same:\n";
  for (size_t i = 1; i < one.hypotheses.size() && i <= kMaxShown; ++i)
    out += fmt::format("    {}\n", hash_line(one.hypotheses[i].config));
  if (one.hypotheses.size() > kMaxShown + 1)
    out += fmt::format("    … {} more\n", one.hypotheses.size() - 1 - kMaxShown);
  if (dp::row_of(first.config.algorithm).seed == dp::SeedEffect::kLinear)
    out += "  a linear hash: with another seed and another order of members the same flows may share links\n";
  return out;
}

std::string indistinguishable_text(const Identification& found) {
  if (found.classes.empty()) return "indistinguishable: there is no flow yet\n";
  if (found.classes.size() == 1 && !found.is_cut) {
    const bool is_by_chance = found.chance >= kNoChance;
    const std::string why = is_by_chance ? fmt::format("{} flows are too few: chance explains as much", found.flows)
                                         : "one hash fits, and others may";
    return fmt::format("indistinguishable: {}\n  so far {}\n", why,
                       hash_line(found.classes.front().hypotheses.front().config));
  }
  std::string out =
      fmt::format("indistinguishable: {}{} kinds of hashes fit, which would send other flows differently\n",
                  found.is_cut ? "at least " : "", found.classes.size());
  for (size_t i = 0; i < found.classes.size() && i < kMaxShown; ++i)
    out += fmt::format("  {}\n", hash_line(found.classes[i].hypotheses.front().config));
  if (found.classes.size() > kMaxShown) out += fmt::format("  … {} more\n", found.classes.size() - kMaxShown);
  return out + "  --next-probes N names flows that would decide\n";
}

std::string nothing_text(const Identification& found) {
  if (found.is_ended) return fmt::format("nothing has fitted {} flows on a group of {}\n", found.flows, found.members);
  return fmt::format(
      "nothing fits {} flows on a group of {}: another hash, another number of members, unequal members, or flows of "
      "more than one group\n{}",
      found.flows, found.members,
      found.all_seeds ? "" : "  of JENKINS, XXH3, LINUX and OVS only likely seeds were tried; --all-seeds tries all\n");
}

}  // namespace

control::Json identification_json(const Identification& found) {
  control::Json classes = control::Json::array();
  for (const HashClass& one : found.classes) classes.push_back(class_json(found, one));
  control::Json constant = control::Json::array();
  for (const FlowPart part : found.constant) constant.push_back(control::word_of(field_of(part)));
  control::Json out{{"verdict", verdict_text(found.verdict)},
                    {"flows", found.flows},
                    {"flows_of_other_ip_version", found.of_other_version},
                    {"flows_on_several_links", found.on_several_links},
                    {"members", found.members},
                    {"classes", std::move(classes)},
                    {"did_not_vary", std::move(constant)},
                    {"one_way", found.one_way},
                    {"chance_log2", found.chance},
                    {"more_fit", found.is_cut},
                    {"interrupted", found.is_ended}};
  if (found.verdict != IdentifyVerdict::kNoModel) return out;
  if (found.crc) out["crc"] = to_string(*found.crc, found.members);
  if (found.linear) out["linear_sums"] = linear_json(found);
  return out;
}

std::string identification_text(const Identification& found) {
  std::string out;
  if (found.is_ended) out += "interrupted: not all hashes were tried\n";
  switch (found.verdict) {
    case IdentifyVerdict::kIdentified: out += identified_text(found); break;
    case IdentifyVerdict::kNoModel: out += no_model_text(found); break;
    case IdentifyVerdict::kIndistinguishable: out += indistinguishable_text(found); break;
    case IdentifyVerdict::kNothingFits: out += nothing_text(found); break;
  }
  if (!found.constant.empty() && found.flows > 0)
    out += fmt::format("  not told, since it does not vary here: whether {} counts\n", constant_text(found));
  if (found.one_way && found.flows > 0 && !is_symmetric_for_sure(found))
    out += "  not told, since of all flows the smaller address is on one side: whether the hash is symmetric\n";
  if (found.of_other_version > 0)
    out += fmt::format("  {} flows of the other IP version were not used\n", found.of_other_version);
  if (found.on_several_links > 0) out += fmt::format("  {} flows took several links\n", found.on_several_links);
  return out;
}

std::string hash_yaml(const dp::HashConfig& config) {
  const std::string fields = joined(words_of(config.fields), ", ");
  if (config.model == dp::HashModel::kLinux)
    return fmt::format("{{model: LINUX, policy: {}{}, seed: {}}}", config.linux_policy,
                       config.linux_policy == 3 ? ", fields: [" + fields + "]" : "", config.seed);
  if (const dp::HashModelRow& model = dp::row_of(config.model); model.is_of_hosts)
    return fmt::format("{{model: {}, algorithm: {}, seed: {}}}", model.word, control::word_of(config.algorithm),
                       config.seed);
  std::string out =
      fmt::format("{{model: {}, algorithm: {}, fields: [{}], seed: {}, offset: {}", control::word_of(config.model),
                  control::word_of(config.algorithm), fields, config.seed, config.offset);
  if (config.symmetric) out += ", symmetric: true";
  std::vector<std::string> options;
  for (const std::string& option : rtag7_options_of(config)) options.push_back(option + ": true");
  if (!options.empty()) out += ", rtag7: {a: {" + joined(options, ", ") + "}}";
  return out + "}";
}

std::string profile_yaml(const Identification& found, const std::string& name) {
  const Hypothesis& first = found.classes.front().hypotheses.front();
  std::vector<std::string> members;
  for (const uint32_t link : first.fit.of_bucket) members.push_back(link_text(found, link));
  return fmt::format(
      "# Made by softspine identify of {} flows, {} of which agree.\n# Members by bucket: {}\nprofiles:\n  {}:\n    "
      "hash: {}\n",
      found.flows, first.fit.agreeing, joined(members, " "), name, hash_yaml(first.config));
}

}  // namespace softspine::analysis

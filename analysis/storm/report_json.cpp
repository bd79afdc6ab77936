// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/clock_report.hpp"
#include "analysis/storm/storm_report.hpp"
#include "analysis/storm/story_report.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis::storm {

using control::Json;
using dataplane::Duration;
using dataplane::Instant;

namespace {

int64_t ps(Instant at) {
  return at.count_ps();
}
int64_t ps(Duration duration) {
  return duration.count_ps();
}

const char* end_word(PauseEnd how) {
  switch (how) {
    case PauseEnd::kXon: return "xon";
    case PauseEnd::kLapsed: return "lapsed";
    case PauseEnd::kOpen: break;
  }
  return "open";
}

Json priority_json(uint8_t priority) {
  return priority == kAllPriorities ? Json("all") : Json(priority);
}

Json names_json(const PauseLog& log, const std::vector<uint32_t>& nodes) {
  Json out = Json::array();
  for (const uint32_t node : nodes) out.push_back(log.nodes[node].name);
  return out;
}

Json storm_json(const PauseLog& log, const Storm& storm, Duration paused) {
  Json priorities = Json::array();
  for (uint8_t i = 0; i < kPauseClasses; ++i) {
    if ((storm.priorities >> i & 1) != 0) priorities.push_back(priority_json(i));
  }
  Json spread = Json::array();
  for (const Share& share : storm.spread) {
    spread.push_back({{"from", log.name(share.from)},
                      {"to", log.name(share.to)},
                      {"hops", share.hops},
                      {"first_ps", ps(share.first)},
                      {"paused_ps", ps(share.time)}});
  }
  const std::string& node = log.nodes[storm.root].name;
  return {{"root", storm.doubt.empty() ? Json(node) : Json(nullptr)},
          {"seen_from", node},
          {"doubt", storm.doubt.empty() ? Json(nullptr) : Json(storm.doubt)},
          {"from", log.name(storm.from)},
          {"to", log.name(storm.to)},
          {"priorities", std::move(priorities)},
          {"begin_ps", ps(storm.begin)},
          {"end_ps", ps(storm.end)},
          {"ended", end_word(storm.how)},
          {"xoffs", storm.frames},
          {"paused_percent", storm.paused_percent},
          {"explained_ps", ps(storm.explained)},
          {"explained_percent", percent(storm.explained, paused)},
          {"spread", std::move(spread)},
          {"victims", names_json(log, storm.victims)}};
}

Json cycles_json(const PauseLog& log, const std::vector<Cycle>& cycles) {
  Json out = Json::array();
  for (const Cycle& cycle : cycles) {
    Json nodes = Json::array();
    Json ports = Json::array();
    for (const uint32_t port : cycle.ports) {
      nodes.push_back(log.node_name(port));
      ports.push_back(log.name(port));
    }
    out.push_back({{"nodes", std::move(nodes)},
                   {"from", std::move(ports)},
                   {"priority", priority_json(cycle.priority)},
                   {"begin_ps", ps(cycle.begin)},
                   {"end_ps", ps(cycle.end)},
                   {"closed_ps", ps(cycle.time)},
                   {"victims", names_json(log, cycle.victims)},
                   {"fed_by", cycle.fed_by == kNone ? Json(nullptr) : Json(log.nodes[cycle.fed_by].name)},
                   {"turns_up", cycle.turns_up}});
  }
  return out;
}

Json links_json(const PauseLog& log, const std::vector<LinkPauses>& links) {
  Json out = Json::array();
  for (const LinkPauses& it : links) {
    out.push_back({{"from", log.name(it.from)},
                   {"to", log.name(it.to)},
                   {"priority", priority_json(it.priority)},
                   {"pauses", it.pauses},
                   {"xoffs", it.frames},
                   {"ended_by_xon", it.xons},
                   {"lapsed", it.lapsed},
                   {"paused_ps", ps(it.total)},
                   {"paused_percent", percent(it.total, log.length())},
                   {"longest_ps", ps(it.longest)},
                   {"first_ps", ps(it.first)},
                   {"open", it.is_open}});
  }
  return out;
}

Json nodes_json(const PauseLog& log) {
  Json out = Json::array();
  for (const LogNode& node : log.nodes) {
    Json ports = Json::array();
    for (const uint32_t port : node.ports) {
      const LogPort& it = log.ports[port];
      ports.push_back({{"name", it.name},
                       {"peer", it.peer == kNone ? Json(nullptr) : Json(log.name(it.peer))},
                       {"speed_bps", it.speed.is_zero() ? Json(nullptr) : Json(it.speed.count_bps())}});
    }
    out.push_back({{"name", node.name},
                   {"tier", node.tier == kNoTier ? Json(nullptr) : Json(node.tier)},
                   {"ports", std::move(ports)}});
  }
  return out;
}

Json pauses_json(const PauseLog& log) {
  Json out = Json::array();
  for (const Pause& it : log.pauses) {
    if (out.size() == kMaxPausesInJson) break;
    out.push_back({{"from", log.name(it.from)},
                   {"to", log.name(it.to)},
                   {"priority", priority_json(it.priority)},
                   {"begin_ps", ps(it.span.begin)},
                   {"end_ps", ps(it.span.end)},
                   {"xoffs", it.span.frames},
                   {"pauses", it.span.pauses},
                   {"paused_ps", ps(it.span.paused())},
                   {"ended", end_word(it.span.how)}});
  }
  return out;
}

Json capture_json(const CaptureFacts& facts, const PauseLog& log) {
  const Tally& tally = facts.tally;
  return {{"begin_ps", ps(log.begin)},
          {"end_ps", ps(log.end)},
          {"length_ps", ps(log.length())},
          {"began_unix_seconds", facts.began_unix_seconds ? Json(*facts.began_unix_seconds) : Json(nullptr)},
          {"ports", facts.ports},
          {"frames", tally.frames},
          {"pause_frames", tally.pause_frames},
          {"cut_pause_frames", tally.cut_pause_frames},
          {"cut_frames", tally.cut_frames},
          {"strange_frames", tally.strange},
          {"other_mac_control_frames", tally.other_mac_control},
          {"missed_frames", tally.missed},
          {"disordered_frames", tally.disordered},
          {"omitted_pause_frames", tally.omitted},
          {"frames_without_time", tally.timeless},
          {"filtered", tally.is_filtered},
          {"copied_pause_frames", log.copies}};
}

}  // namespace

Json json_report(const CaptureFacts& facts, const PauseLog& log, const Analysis& analysis) {
  Json storms = Json::array();
  for (const Storm& storm : analysis.storms) storms.push_back(storm_json(log, storm, analysis.paused));
  Json origins = Json::array();
  for (const Origin& origin : analysis.origins) {
    origins.push_back({{"node", log.nodes[origin.node].name}, {"explained_ps", ps(origin.explained)}});
  }
  const size_t omitted = log.pauses.size() - std::min(log.pauses.size(), kMaxPausesInJson);
  return {{"file", facts.file},
          {"verdict", word_of(verdict_of(analysis))},
          {"headline", headline(log, analysis)},
          {"capture", capture_json(facts, log)},
          {"clocks", clocks_json(facts.clocks)},
          {"events", story_json(log, analysis, facts.story)},
          {"notes", facts.notes},
          {"too_short", analysis.is_too_short},
          {"sampled", analysis.is_sampled},
          {"storm_after_ps", {{"least", ps(analysis.threshold_min)}, {"most", ps(analysis.threshold_max)}}},
          {"storms", std::move(storms)},
          {"deadlocks", cycles_json(log, analysis.deadlocks)},
          {"fed_cycles", cycles_json(log, analysis.fed_cycles)},
          {"paused_ps", ps(analysis.paused)},
          {"origins", std::move(origins)},
          {"links", links_json(log, analysis.links)},
          {"nodes", nodes_json(log)},
          {"pauses", pauses_json(log)},
          {"pauses_left_out", omitted}};
}

}  // namespace softspine::analysis::storm

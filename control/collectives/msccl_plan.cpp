// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/msccl_plan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "control/collectives/plan_check.hpp"
#include "control/collectives/xml_file.hpp"
#include "control/document/words.hpp"

namespace softspine::control {
namespace {

using pugi::xml_node;

constexpr uint32_t kMaxPlanGpus = 1024;
constexpr uint32_t kMaxPlanChannels = 32;
constexpr uint32_t kMaxPlanChunks = 1024;
constexpr uint32_t kMaxPlanBlocks = 4096;  // of a gpu
constexpr uint64_t kMaxPlanSteps = 1U << 18U;

struct StepType {
  std::string_view word;
  bool receives, reads, adds, writes, sends;
};
constexpr std::array kStepTypes{
    StepType{"s", false, true, false, false, true},     StepType{"r", true, false, false, true, false},
    StepType{"cpy", false, true, false, true, false},   StepType{"rcs", true, false, false, true, true},
    StepType{"rrc", true, true, false, true, false},    StepType{"rrs", true, true, false, false, true},
    StepType{"rrcs", true, true, false, true, true},    StepType{"re", false, true, true, true, false},
    StepType{"nop", false, false, false, false, false},
};

struct CollWord {
  std::string_view word;
  Collective collective;
};
constexpr std::array kCollWords{
    CollWord{"allreduce", Collective::kAllReduce},         CollWord{"allgather", Collective::kAllGather},
    CollWord{"reducescatter", Collective::kReduceScatter}, CollWord{"reduce_scatter", Collective::kReduceScatter},
    CollWord{"alltoall", Collective::kAllToAll},
};

struct ProtoWord {
  std::string_view word;
  CollectiveProtocol protocol;
};
constexpr std::array kProtoWords{
    ProtoWord{"Simple", CollectiveProtocol::kSimple},
    ProtoWord{"LL", CollectiveProtocol::kLl},
    ProtoWord{"LL128", CollectiveProtocol::kLl128},
};

class PlanReader {
 public:
  PlanReader(std::string_view text, const std::string& file) : file_(text, file) {}

  std::expected<SharedPlan, Errors> run() {
    if (const auto root = file_.read()) read(*root);
    if (!file_.is_good()) return std::unexpected(file_.take_errors());
    return plan_;
  }

 private:
  bool fail(const xml_node& at, std::string message) { return file_.fail(at, std::move(message)); }

  // −1 is kNoPeer where it is allowed.
  bool take(const xml_node& node, const char* name, uint64_t most, uint64_t& out, bool may_be_none = false) {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) return fail(node, std::string("needs ") + name);
    const std::string_view text = attribute.value();
    if (may_be_none && text == "-1") {
      out = kNoPeer;
      return true;
    }
    if (const auto number = whole_number(text, most)) {
      out = *number;
      return true;
    }
    return fail(node, std::string(name) + " is a number from " + (may_be_none ? "-1" : "0") + " to " +
                          std::to_string(most) + ", and here stands " + shown(text));
  }
  bool take(const xml_node& node, const char* name, uint64_t most, uint32_t& out, bool may_be_none = false) {
    uint64_t number = 0;
    const bool good = take(node, name, most, number, may_be_none);
    out = static_cast<uint32_t>(number);
    return good;
  }
  template <typename Row, size_t N>
  const Row* take_word(const xml_node& node, const char* name, const std::array<Row, N>& rows) {
    const std::string_view text = node.attribute(name).value();
    const auto found = std::ranges::find(rows, text, &Row::word);
    if (found != rows.end()) return &*found;
    std::string words;
    for (const Row& row : rows) words += (words.empty() ? "" : ", ") + std::string(row.word);
    fail(node, std::string(name) + " is one of " + words + ", and here stands " + shown(text));
    return nullptr;
  }
  // The children of that name; others are mistakes.
  std::vector<xml_node> children(const xml_node& node, std::string_view name) {
    std::vector<xml_node> out;
    for (const xml_node& child : node.children()) {
      if (child.type() != pugi::node_element) continue;
      if (child.name() == name) {
        out.push_back(child);
      } else {
        fail(child, shown(child.name()) + " is not known here, where " + std::string(name) + " stands");
      }
    }
    return out;
  }

  void read(const xml_node& algo) {
    if (std::string_view(algo.name()) != "algo") {
      fail(algo, "expected <algo>, and here stands " + shown(algo.name()));
      return;
    }
    if (!read_head(algo)) return;
    const std::vector<xml_node> gpus = children(algo, "gpu");
    if (gpus.size() != plan_->ranks.size()) {
      fail(algo, "ngpus is " + std::to_string(plan_->ranks.size()) + ", and here are " + std::to_string(gpus.size()));
      return;
    }
    for (const xml_node& gpu : gpus) read_gpu(gpu);
    if (file_.is_good()) check_messages();
    if (file_.is_good()) put_in_order(algo);
  }

  bool read_head(const xml_node& algo) {
    uint32_t gpus = 0;
    const auto* const coll = take_word(algo, "coll", kCollWords);
    const auto* const proto = take_word(algo, "proto", kProtoWords);
    const bool good = take(algo, "ngpus", kMaxPlanGpus, gpus) &&
                      take(algo, "nchannels", kMaxPlanChannels, plan_->channels) &&
                      take(algo, "nchunksperloop", kMaxPlanChunks, plan_->chunks) && read_range(algo);
    if (!good || coll == nullptr || proto == nullptr) return false;
    if (gpus < 2 || plan_->channels == 0 || plan_->chunks == 0)
      return fail(algo, "needs two gpus, a channel and a chunk at least");
    plan_->name = algo.attribute("name").value();
    plan_->collective = coll->collective;
    plan_->protocol = proto->protocol;
    plan_->in_place = algo.attribute("inplace").as_int() != 0 && algo.attribute("outofplace").as_int() == 0;
    plan_->ranks.resize(gpus);
    if (coll->collective != Collective::kAllReduce && plan_->chunks % gpus != 0)
      return fail(algo, "nchunksperloop is a multiple of ngpus for " + std::string(coll->word));
    return true;
  }

  bool read_range(const xml_node& algo) {
    if (algo.attribute("minBytes") && !take(algo, "minBytes", INT64_MAX, plan_->min_bytes)) return false;
    if (!algo.attribute("maxBytes")) return true;
    if (!take(algo, "maxBytes", INT64_MAX, plan_->max_bytes)) return false;
    return plan_->min_bytes <= plan_->max_bytes || fail(algo, "minBytes is more than maxBytes");
  }

  void read_gpu(const xml_node& gpu) {
    uint32_t id = 0;
    if (!take(gpu, "id", plan_->ranks.size() - 1, id)) return;
    if (!gpus_.insert(id).second) {
      fail(gpu, "gpu " + std::to_string(id) + " stands here twice");
      return;
    }
    rank_ = id;
    PlanRank& rank = plan_->ranks[id];
    if (!take(gpu, "s_chunks", kMaxPlanChunks * kMaxPlanGpus, rank.scratch_chunks)) return;
    const std::vector<xml_node> blocks = children(gpu, "tb");
    if (blocks.size() > kMaxPlanBlocks) {
      fail(gpu, "has more than " + std::to_string(kMaxPlanBlocks) + " tbs");
      return;
    }
    block_of_.clear();
    waits_.clear();
    for (const xml_node& block : blocks) read_block(block, rank);
    if (file_.is_good()) mark_steps(rank);
  }

  void read_block(const xml_node& node, PlanRank& rank) {
    PlanBlock block{.line = file_.line_of(node)};
    const uint64_t last = plan_->ranks.size() - 1;
    const bool good = take(node, "id", UINT32_MAX - 1, block.id) && take(node, "send", last, block.to, true) &&
                      take(node, "recv", last, block.from, true) &&
                      take(node, "chan", plan_->channels - 1, block.channel, true);
    if (!good) return;
    if (block.to == rank_ || block.from == rank_) {
      fail(node, "a gpu sends nothing to itself");
      return;
    }
    if (!block_of_.emplace(block.id, rank.blocks.size()).second) {
      fail(node, "tb " + std::to_string(block.id) + " stands here twice");
      return;
    }
    if (block.channel == kNoPeer) block.channel = 0;
    take_connection(node, block);
    rank.blocks.push_back(std::move(block));
    for (const xml_node& step : children(node, "step")) {
      const size_t before = rank.blocks.back().steps.size();
      read_step(step, rank);
      // A mistake of one is not one of all behind it.
      if (rank.blocks.back().steps.size() == before) rank.blocks.back().steps.push_back({.line = file_.line_of(step)});
    }
  }

  void take_connection(const xml_node& node, const PlanBlock& block) {
    if (block.to != kNoPeer && !sends_.try_emplace({rank_, block.to, block.channel}).second)
      fail(node,
           "another tb sends to gpu " + std::to_string(block.to) + " on channel " + std::to_string(block.channel));
    if (block.from != kNoPeer && !receives_.try_emplace({block.from, rank_, block.channel}).second)
      fail(node, "another tb hears gpu " + std::to_string(block.from) + " on channel " + std::to_string(block.channel));
  }

  void read_step(const xml_node& node, PlanRank& rank) {
    PlanBlock& block = rank.blocks.back();
    uint32_t number = 0;
    const StepType* const type = take_word(node, "type", kStepTypes);
    if (type == nullptr || !take(node, "s", UINT32_MAX, number)) return;
    if (number != block.steps.size()) {
      fail(node, "expected step " + std::to_string(block.steps.size()) + ", and here stands " + std::to_string(number));
      return;
    }
    if (++steps_ > kMaxPlanSteps) {
      fail(node, "has more than " + std::to_string(kMaxPlanSteps) + " steps");
      return;
    }
    PlanStep step{.receives = type->receives,
                  .sends = type->sends,
                  .reads = type->reads,
                  .writes = type->writes,
                  .adds = type->adds,
                  .line = file_.line_of(node)};
    // A nop moves nothing, whatever its count.
    const bool is_nop = type->word == "nop";
    if (!is_nop && !take(node, "cnt", kMaxPlanChunks, step.chunks)) return;
    if (is_nop) step.chunks = 1;
    if (step.chunks == 0) {
      fail(node, "cnt is one chunk at least");
      return;
    }
    if (!take_wait(node, rank)) return;
    if (step.reads && !take_place(node, "srcbuf", "srcoff", rank, step.chunks, step.read_place, step.read_chunk))
      return;
    if (step.writes && !take_place(node, "dstbuf", "dstoff", rank, step.chunks, step.write_place, step.write_chunk))
      return;
    add_step(node, block, step);
  }

  void add_step(const xml_node& node, PlanBlock& block, const PlanStep& step) {
    if (step.sends && block.to == kNoPeer) {
      fail(node, "sends, and its tb has send=\"-1\"");
      return;
    }
    if (step.receives && block.from == kNoPeer) {
      fail(node, "receives, and its tb has recv=\"-1\"");
      return;
    }
    if (step.sends) sends_[{rank_, block.to, block.channel}].emplace_back(step.chunks, step.line);
    if (step.receives) receives_[{block.from, rank_, block.channel}].emplace_back(step.chunks, step.line);
    block.steps.push_back(step);
  }

  bool take_wait(const xml_node& node, const PlanRank& rank) {
    Wait wait{.block = rank.blocks.size() - 1, .step = rank.blocks.back().steps.size(), .at = node};
    if (!node.attribute("depid")) return true;
    if (!take(node, "depid", UINT32_MAX - 1, wait.other_id, true)) return false;
    if (wait.other_id == kNoPeer) return true;
    if (!take(node, "deps", UINT32_MAX - 1, wait.other_step, true)) return false;
    if (wait.other_step == kNoPeer) return fail(node, "has a depid, and no deps");
    waits_.push_back(wait);
    return true;
  }

  bool take_place(const xml_node& node, const char* buffer, const char* offset, const PlanRank& rank, uint32_t chunks,
                  PlanPlace& place, uint32_t& chunk) {
    const std::string_view text = node.attribute(buffer).value();
    if (text != "i" && text != "o" && text != "s")
      return fail(node, std::string(buffer) + " is i, o or s, and here stands " + shown(text));
    place = text == "i" ? PlanPlace::kInput : text == "o" ? PlanPlace::kOutput : PlanPlace::kScratch;
    if (!take(node, offset, UINT32_MAX / 2, chunk)) return false;
    const uint32_t all = chunks_of(place, rank);
    return chunk + chunks <= all ||
           fail(node, std::string(offset) + " and cnt go to chunk " + std::to_string(chunk + chunks) + ", and buffer " +
                          std::string(text) + " has " + std::to_string(all));
  }

  uint32_t chunks_of(PlanPlace place, const PlanRank& rank) const {
    if (place == PlanPlace::kScratch) return rank.scratch_chunks;
    const auto block = static_cast<uint32_t>(plan_->chunks / plan_->ranks.size());
    const bool is_input = place == PlanPlace::kInput;
    if (plan_->collective == Collective::kAllGather && is_input) return block;
    if (plan_->collective == Collective::kReduceScatter && !is_input) return block;
    return plan_->chunks;
  }

  // The waits of a gpu, once all of its tbs are known.
  void mark_steps(PlanRank& rank) {
    for (const Wait& wait : waits_) {
      const auto found = block_of_.find(wait.other_id);
      if (found == block_of_.end()) {
        fail(wait.at, "waits for tb " + std::to_string(wait.other_id) + ", which gpu " + std::to_string(rank_) +
                          " does not have");
        continue;
      }
      std::vector<PlanStep>& steps = rank.blocks[found->second].steps;
      if (wait.other_step >= steps.size()) {
        fail(wait.at, "waits for step " + std::to_string(wait.other_step) + " of tb " + std::to_string(wait.other_id) +
                          ", which has " + std::to_string(steps.size()));
        continue;
      }
      uint32_t& mark = steps[wait.other_step].mark;
      if (mark == kNoMark) mark = rank.marks++;
      rank.blocks[wait.block].steps[wait.step].after = mark;
    }
  }

  // Each connection's sends and receives, in their order.
  void check_messages() {
    for (const auto& [link, sent] : sends_) check_messages(link, sent, receives_[link]);
    for (const auto& [link, received] : receives_) {
      if (!sends_.contains(link)) check_messages(link, {}, received);
    }
  }
  using Link = std::tuple<uint32_t, uint32_t, uint32_t>;   // from, to, channel
  using Messages = std::vector<std::pair<uint32_t, int>>;  // chunks, line
  void check_messages(const Link& link, const Messages& sent, const Messages& received) {
    const auto& [from, to, channel] = link;
    const std::string between =
        "from gpu " + std::to_string(from) + " to gpu " + std::to_string(to) + " on channel " + std::to_string(channel);
    for (size_t i = 0; i < std::min(sent.size(), received.size()); ++i) {
      if (sent[i].first == received[i].first) continue;
      file_.fail_in(sent[i].second, "sends " + std::to_string(sent[i].first) + " chunks " + between + ", and line " +
                                        std::to_string(received[i].second) + " receives " +
                                        std::to_string(received[i].first));
      return;
    }
    if (sent.size() > received.size())
      file_.fail_in(sent[received.size()].second, "nobody receives what it sends " + between);
    if (received.size() > sent.size())
      file_.fail_in(received[sent.size()].second, "nobody sends what it receives " + between);
  }

  void put_in_order(const xml_node& algo) {
    for (PlanRank& rank : plan_->ranks) {
      size_t steps = 0;
      for (const PlanBlock& block : rank.blocks) steps += block.steps.size();
      rank.order = order_of_steps(rank);
      if (rank.order.size() != steps) break;
    }
    if (const std::string stop = where_it_stops(*plan_, {}); !stop.empty()) fail(algo, stop);
  }

  struct Wait {
    size_t block = 0;
    size_t step = 0;
    uint32_t other_id = kNoPeer;
    uint32_t other_step = 0;
    xml_node at;
  };

  XmlFile file_;
  std::shared_ptr<CollectivePlan> plan_ = std::make_shared<CollectivePlan>();
  std::set<uint32_t> gpus_;
  std::map<Link, Messages> sends_;
  std::map<Link, Messages> receives_;
  uint64_t steps_ = 0;
  // Of the gpu that is read.
  uint32_t rank_ = 0;
  std::map<uint32_t, size_t> block_of_;  // by id
  std::vector<Wait> waits_;
};

}  // namespace

std::expected<SharedPlan, Errors> read_msccl_plan(std::string_view text, const std::string& name) {
  return PlanReader(text, name).run();
}

}  // namespace softspine::control

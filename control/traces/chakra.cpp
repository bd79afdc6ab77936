// SPDX-License-Identifier: Apache-2.0
#include "control/traces/chakra.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "control/collectives/collective_work.hpp"
#include "control/document/words.hpp"
#include "control/traces/chakra_groups.hpp"
#include "control/traces/message_counts.hpp"
#include "control/traces/rank_builder.hpp"
#include "control/traffic/flow.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {
namespace {

constexpr size_t kMaxChakraRanks = 1U << 16U;
constexpr size_t kMaxChakraErrors = 50;
constexpr uint64_t kMaxChakraMicros = 1'000'000'000'000;
constexpr uint64_t kMaxChakraTag = (1ULL << 31U) - 1;
constexpr size_t kMaxChakraOperations = UINT32_MAX - 1;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr uint64_t kMaxChakraCollective = 1ULL << 22U;
#else
constexpr uint64_t kMaxChakraCollective = 1ULL << 34U;
#endif
constexpr uint64_t kBarrierBytes = 8;

enum ChakraCpu : uint32_t { kOfCpu, kOfGpu, kOfMessages };

// A rank's file, opened as often as it is read.
struct ChakraFile {
  std::string name;
  std::function<std::unique_ptr<ChakraNodes>()> open;
};

class ChakraReader {
 public:
  ChakraReader(const std::string& name, const std::vector<ChakraFile>& files) : name_(name), files_(files) {}

  std::expected<SharedWork, Errors> run() {
    for (rank_ = 0; rank_ < files_.size(); ++rank_) read_file([&](const ChakraNode& node) { add_to_group(node); });
    if (errors_.empty()) {
      const std::string disagree = groups_.finish(static_cast<uint32_t>(files_.size()));
      if (!disagree.empty()) errors_.push_back({name_, "", 0, 0, disagree});
    }
    for (rank_ = 0; rank_ < files_.size() && errors_.empty(); ++rank_) read_rank();
    if (errors_.empty()) {
      if (const auto finished = work_->finish(); !finished) errors_.push_back({name_, "", 0, 0, finished.error()});
    }
    if (errors_.empty()) check_messages();
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    work_->pairs = counts_.pairs();
    return work_;
  }

 private:
  // The operations that a node became: what it needs is the first one's, and who needs it waits for the last one.
  struct Place {
    uint32_t first = 0;
    uint32_t last = 0;
  };
  struct Needs {
    Place place;
    std::vector<uint64_t> ids;
  };

  bool fail(std::string message) {
    if (errors_.size() < kMaxChakraErrors) errors_.push_back({files_[rank_].name, "", 0, 0, std::move(message)});
    return false;
  }
  bool fail_at(const ChakraNode& node, const std::string& message) {
    std::string at = "node " + std::to_string(node.id);
    if (!node.name.empty()) at += " " + shown(node.name);
    return fail(at + " " + message + " (byte " + std::to_string(node.offset) + ")");
  }

  template <typename Take>
  void read_file(Take&& take) {
    const std::unique_ptr<ChakraNodes> nodes = files_[rank_].open();
    if (!nodes) {
      fail(std::string("cannot be opened: ") + std::strerror(errno));
      return;
    }
    ChakraNode node;
    if (nodes->read_head()) {
      while (nodes->next(node)) take(node);
    }
    if (!nodes->error().empty()) fail(nodes->error());
  }

  // The ones of a CPU launch what the GPU then does.
  static bool is_collective(const ChakraNode& node) {
    return node.type == ChakraType::kCollective && (node.comm_type || !node.is_cpu_op);
  }

  void add_to_group(const ChakraNode& node) {
    if (!is_collective(node)) return;
    if (!node.comm_type) {
      fail_at(node, "is a collective without a comm_type");
      return;
    }
    const uint64_t bytes = node.comm_size.value_or(0);
    if (!collective_of_chakra(*node.comm_type)) {
      fail_at(node, "has the comm_type " + std::to_string(*node.comm_type) +
                        ": Gather, Scatter and what ET 1.0 does not name are not known");
    } else if (node.is_of_some_dimensions) {
      fail_at(node,
              "is a collective of some dimensions of a topology (involved_dim): whose ranks these are is not known");
    } else if (!is_chakra_barrier(*node.comm_type) && (bytes == 0 || bytes > kMaxChakraCollective)) {
      fail_at(node, "has no comm_size from 1 byte to 16GiB");
    } else if (const std::string disagree = groups_.add(rank_, node); !disagree.empty()) {
      fail_at(node, disagree);
    }
  }

  void read_rank() {
    builder_.clear();
    places_.clear();
    needs_.clear();
    begun_.clear();
    read_file([&](const ChakraNode& node) { read_node(node); });
    if (!errors_.empty()) return;
    for (const Needs& each : needs_) {
      for (const uint64_t id : each.ids) need(each, id);
    }
    if (!errors_.empty()) return;
    if (!builder_.write(*work_)) fail_circle();
  }

  void need(const Needs& of, uint64_t id) {
    const auto found = places_.find(id);
    if (found != places_.end()) return builder_.need(of.place.first, found->second.last, false);
    fail("node " + std::to_string(builder_.at(of.place.first).line) + " needs node " + std::to_string(id) +
         ", which is not there");
  }

  void read_node(const ChakraNode& node) {
    if (!errors_.empty()) return;
    if (places_.contains(node.id)) {
      fail_at(node, "has an id that another one has");
      return;
    }
    Place place;
    if (!place_node(node, place)) return;
    if (builder_.size() > kMaxChakraOperations) {
      fail("has more operations than can be counted");
      return;
    }
    places_.emplace(node.id, place);
    if (!node.needs.empty()) needs_.push_back({place, node.needs});
  }

  bool place_node(const ChakraNode& node, Place& out) {
    switch (node.type) {
      case ChakraType::kSend: return place_message(node, OperationKind::kSend, node.comm_dst, "comm_dst", out);
      case ChakraType::kReceive: return place_message(node, OperationKind::kReceive, node.comm_src, "comm_src", out);
      case ChakraType::kCollective:
        if (is_collective(node)) {
          place_collective(node, out);
          return true;
        }
        [[fallthrough]];
      case ChakraType::kMemoryLoad:
      case ChakraType::kMemoryStore:
      case ChakraType::kCompute: return place_compute(node, out);
      case ChakraType::kMetadata: out = at_once(node, 0, kOfCpu); return true;
      default: return fail_at(node, "has no type");
    }
  }

  Place at_once(const ChakraNode& node, uint64_t ps, uint32_t cpu) {
    const uint32_t number = builder_.add({.cpu = cpu, .amount = ps, .line = node.id});
    return {number, number};
  }

  bool place_compute(const ChakraNode& node, Place& out) {
    if (node.duration_micros > kMaxChakraMicros) return fail_at(node, "lasts longer than 10^12 µs");
    if (node.duration_micros == 0 && node.num_ops != 0)
      return fail_at(node, "counts its work in num_ops, and has no duration_micros: how long it takes is not known");
    out = at_once(node, node.duration_micros * 1'000'000, node.is_cpu_op ? kOfCpu : kOfGpu);
    return true;
  }

  bool place_message(const ChakraNode& node, OperationKind kind, const std::optional<uint64_t>& peer,
                     const std::string& attribute, Place& out) {
    if (!peer) return fail_at(node, "has no " + attribute);
    if (*peer >= files_.size())
      return fail_at(node, "has the " + attribute + " " + std::to_string(*peer) + ", and there are " +
                               std::to_string(files_.size()) + " ranks");
    const uint64_t bytes = node.comm_size.value_or(0);
    if (bytes > kMaxMessageBytes) return fail_at(node, "has a comm_size of more than 2GiB");
    if (node.comm_tag > kMaxChakraTag) return fail_at(node, "has a comm_tag of 2^31 or more");
    out.first = out.last =
        add_message(node, kind, static_cast<uint32_t>(*peer), static_cast<uint32_t>(node.comm_tag), bytes);
    return true;
  }

  uint32_t add_message(const ChakraNode& node, OperationKind kind, uint32_t peer, uint32_t tag, uint64_t bytes) {
    if (kind == OperationKind::kSend) {
      counts_.send(rank_, peer, tag, bytes);
    } else {
      counts_.receive(rank_, peer, tag);
    }
    return builder_.add({.kind = kind, .peer = peer, .tag = tag, .cpu = kOfMessages, .amount = bytes, .line = node.id});
  }

  void place_collective(const ChakraNode& node, Place& out) {
    const ChakraGroups::Group& group = groups_.of(node.group);
    const uint32_t tag = group.first_tag + begun_[node.group]++;
    out.first = at_once(node, 0, kOfMessages).first;
    std::vector<uint32_t> last;  // that nobody needs
    if (group.ranks.size() > 1) last = add_stream(node, group, tag, out.first);
    out.last = at_once(node, 0, kOfMessages).first;
    builder_.need(out.last, out.first, false);
    for (const uint32_t each : last) builder_.need(out.last, each, false);
  }

  static CollectiveShape shape_of(const ChakraNode& node, uint32_t ranks) {
    CollectiveShape shape{.collective = *collective_of_chakra(*node.comm_type), .ranks = ranks};
    shape.bytes = is_chakra_barrier(*node.comm_type) ? kBarrierBytes : *node.comm_size;
    if (shape.collective == Collective::kAllGather) shape.bytes *= ranks;
    if (shape.collective == Collective::kAllToAll) shape.algorithm = CollectiveAlgorithm::kDirect;
    return shape;
  }

  std::vector<uint32_t> add_stream(const ChakraNode& node, const ChakraGroups::Group& group, uint32_t tag,
                                   uint32_t begin) {
    const auto place = std::ranges::lower_bound(group.ranks, rank_) - group.ranks.begin();
    const auto stream =
        stream_of(shape_of(node, static_cast<uint32_t>(group.ranks.size())), static_cast<uint32_t>(place));
    std::vector<uint32_t> numbers;  // by the stream's
    std::vector<bool> is_needed;
    Operation op;
    while (stream->next(op)) {
      const bool is_message = op.kind == OperationKind::kSend || op.kind == OperationKind::kReceive;
      const uint32_t number = is_message ? add_message(node, op.kind, group.ranks[op.peer], tag, op.bytes)
                                         : at_once(node, 0, kOfMessages).first;
      if (op.needs.empty()) builder_.need(number, begin, false);
      for (const uint64_t need : op.needs) {
        builder_.need(number, numbers[need], false);
        is_needed[need] = true;
      }
      numbers.push_back(number);
      is_needed.push_back(false);
    }
    std::vector<uint32_t> last;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!is_needed[i]) last.push_back(numbers[i]);
    }
    return last;
  }

  void fail_circle() {
    constexpr size_t kNamed = 8;
    std::string text;
    const std::vector<uint32_t>& circle = builder_.circle();
    uint64_t last = UINT64_MAX;
    size_t named = 0;
    for (const uint32_t each : circle) {
      const uint64_t id = builder_.at(each).line;
      if (std::exchange(last, id) == id) continue;
      if (named++ == kNamed) break;
      text += std::to_string(id) + " → ";
    }
    fail("nodes need each other: " + text + std::to_string(builder_.at(circle.front()).line));
  }

  void check_messages() {
    counts_.check(*work_, name_, errors_);
    // What has a place has a node here, unless its id is larger than a line can be.
    for (Error& error : errors_) {
      if (error.column != 0 && error.line != INT_MAX)
        error.message += "; the last is node " + std::to_string(error.line);
      error.line = error.column = 0;
    }
  }

  const std::string& name_;
  const std::vector<ChakraFile>& files_;
  ChakraGroups groups_;
  MessageCounts counts_;
  std::shared_ptr<RecordedWork> work_ = std::make_shared<RecordedWork>();
  Errors errors_;
  // Of the rank that is read.
  uint32_t rank_ = 0;
  RankBuilder builder_;
  std::unordered_map<uint64_t, Place> places_;
  std::vector<Needs> needs_;
  std::unordered_map<std::string, uint32_t> begun_;  // collectives, by group
};

}  // namespace

std::vector<std::string> chakra_files(const std::string& name) {
  std::vector<std::string> out;
  for (size_t rank = 0; rank < kMaxChakraRanks; ++rank) {
    std::string file = name + "." + std::to_string(rank) + ".et";
    std::error_code error;
    if (!std::filesystem::exists(file, error)) file += ".gz";
    if (!std::filesystem::exists(file, error)) break;
    out.push_back(std::move(file));
  }
  return out;
}

std::expected<SharedWork, Errors> load_chakra(const std::string& name, const std::vector<std::string>& files) {
  if (files.empty()) return std::unexpected(Errors{{name, "", 0, 0, "there is no " + name + ".0.et"}});
  std::vector<ChakraFile> ranks;
  for (const std::string& file : files) {
    ranks.push_back({file, [&file]() -> std::unique_ptr<ChakraNodes> {
                       dataplane::OwnedFd fd{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
                       if (!fd) return nullptr;
                       return std::make_unique<ChakraNodes>(std::move(fd));
                     }});
  }
  return ChakraReader(name, ranks).run();
}

std::expected<SharedWork, Errors> read_chakra(const std::vector<std::string_view>& texts) {
  std::vector<ChakraFile> ranks;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    ranks.push_back(
        {"rank " + std::to_string(rank), [text = texts[rank]] { return std::make_unique<ChakraNodes>(text); }});
  }
  return ChakraReader("trace", ranks).run();
}

}  // namespace softspine::control

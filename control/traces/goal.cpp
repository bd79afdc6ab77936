// SPDX-License-Identifier: Apache-2.0
#include "control/traces/goal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "control/document/words.hpp"
#include "control/traces/goal_scanner.hpp"
#include "control/traces/label_table.hpp"
#include "control/traces/message_counts.hpp"
#include "control/traces/rank_builder.hpp"
#include "control/traffic/flow.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMaxGoalRanks = 1U << 20;
constexpr uint64_t kMaxGoalCpus = 1U << 16;
constexpr uint64_t kMaxGoalNumber = UINT32_MAX - 1;  // of tags and NICs; UINT32_MAX is any
constexpr uint64_t kMaxComputeNs = 1'000'000'000'000'000;
constexpr size_t kMaxGoalErrors = 50;
constexpr size_t kMaxGoalOperations = UINT32_MAX - 1;

int goal_line(uint64_t line) {
  return static_cast<int>(std::min<uint64_t>(line, INT_MAX));
}

bool is_goal_verb(std::string_view word) {
  return word == "send" || word == "recv" || word == "calc";
}
bool is_goal_word(std::string_view word) {
  constexpr std::string_view kWords[]{"num_ranks", "rank", "send", "recv", "calc",     "to",
                                      "from",      "tag",  "cpu",  "nic",  "requires", "irequires"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

class GoalReader {
 public:
  GoalReader(GoalScanner scanner, const std::string& file) : scanner_(std::move(scanner)), file_(file) {}

  std::expected<SharedWork, Errors> run() {
    advance();
    read();
    if (!scanner_.failure().empty()) errors_ = {{file_, "", 0, 0, scanner_.failure()}};
    if (errors_.empty()) {
      if (const auto finished = work_->finish(); !finished) errors_.push_back({file_, "", 0, 0, finished.error()});
    }
    if (errors_.empty()) counts_.check(*work_, file_, errors_);
    sort_by_place(errors_);
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    work_->pairs = counts_.pairs();
    return work_;
  }

 private:
  void advance() { token_ = scanner_.next(); }
  bool gave_up() const { return errors_.size() >= kMaxGoalErrors; }
  bool fail_at(uint64_t line, int column, std::string message) {
    if (!gave_up()) errors_.push_back({file_, "", goal_line(line), column, std::move(message)});
    return false;
  }
  bool fail(std::string message) { return fail_at(token_.line, token_.column, std::move(message)); }
  std::string found() const {
    if (token_.kind == GoalToken::Kind::kEnd) return "the file ends here";
    return "here stands " + shown(token_.text);
  }
  bool expect(std::string_view word) {
    if (!token_.is(word)) return fail("expected " + shown(word) + ", and " + found());
    advance();
    return true;
  }
  // Not negative, without a `b`.
  bool take_count(std::string_view what, uint64_t most, uint64_t& out) {
    const bool is_number = token_.kind == GoalToken::Kind::kNumber && !token_.is_negative && !token_.has_bytes;
    if (!is_number || token_.is_bad || token_.number > most) {
      return fail("expected " + std::string(what) + ", a number from 0 to " + std::to_string(most) + ", and " +
                  found());
    }
    out = token_.number;
    advance();
    return true;
  }
  bool take_any(std::string_view what, uint64_t most, uint32_t& out) {
    if (token_.kind == GoalToken::Kind::kNumber && token_.is("-1")) {
      out = UINT32_MAX;
      advance();
      return true;
    }
    uint64_t number = 0;
    const bool good = take_count(what, most, number);
    out = static_cast<uint32_t>(number);
    return good;
  }

  void read() {
    uint64_t count = 0;
    if (!expect("num_ranks") || !take_count("how many ranks", kMaxGoalRanks, count)) return;
    ranks_ = static_cast<uint32_t>(count);
    for (rank_ = 0; rank_ < ranks_; ++rank_) {
      if (!read_rank()) return;
      end_rank();
    }
    if (token_.kind != GoalToken::Kind::kEnd) {
      fail("num_ranks is " + std::to_string(ranks_) + ", so the file ends behind rank " + std::to_string(rank_ - 1) +
           ", and " + found());
    }
  }

  // False: what comes behind cannot be read.
  bool read_rank() {
    if (token_.kind == GoalToken::Kind::kEnd)
      return fail("num_ranks is " + std::to_string(ranks_) + ", and the file ends before rank " +
                  std::to_string(rank_) + ": it is cut off");
    uint64_t number = 0;
    const uint64_t begin = token_.line;
    if (!expect("rank") || !take_count("the number of a rank", kMaxGoalRanks, number)) return false;
    if (number != rank_)
      return fail_at(begin, 1,
                     "expected rank " + std::to_string(rank_) + ", and here stands " + std::to_string(number) +
                         ": ranks stand in their order");
    if (!expect("{")) return false;
    while (!token_.is("}")) {
      if (token_.kind == GoalToken::Kind::kEnd)
        return fail("the file ends within rank " + std::to_string(rank_) + ": it is cut off");
      const uint64_t line = token_.line;
      if (!read_statement()) {
        if (gave_up()) return false;
        if (token_.line == line) {
          scanner_.skip_line(token_);
          advance();
        }
      }
    }
    advance();
    return true;
  }

  bool read_statement() {
    label_.clear();
    if (token_.kind != GoalToken::Kind::kWord || token_.is_bad)
      return fail("expected an operation or a label, and " + found());
    if (is_goal_verb(token_.text)) return read_operation();
    if (is_goal_word(token_.text))
      return fail(shown(token_.text) + " is a word of the format, and begins nothing here");
    label_ = token_.text;
    const GoalToken at = token_;
    advance();
    const bool starts = token_.is("irequires");
    if (starts || token_.is("requires")) return read_need(at, starts);
    if (!token_.is(":"))
      return fail("expected ':', 'requires' or 'irequires' behind " + shown(label_) + ", and " + found());
    advance();
    if (!is_goal_verb(token_.text)) return fail("expected send, recv or calc, and " + found());
    return read_operation();
  }

  bool read_need(const GoalToken& at, bool starts) {
    const uint32_t user = find(label_, at);
    advance();
    if (token_.kind != GoalToken::Kind::kWord) return fail("expected a label, and " + found());
    const uint32_t other = find(token_.text, token_);
    const bool found_both = user != LabelTable::kNone && other != LabelTable::kNone;
    if (found_both) rank_work_.need(user, other, starts);
    advance();
    return true;
  }
  uint32_t find(std::string_view label, const GoalToken& at) {
    const uint32_t out = labels_.find(label);
    if (out == LabelTable::kNone)
      fail_at(at.line, at.column,
              "there is no label " + shown(label) + " before this in rank " + std::to_string(rank_));
    return out;
  }

  bool read_operation() {
    ReadOperation op{.line = token_.line};
    const int column = token_.column;
    const bool good = parse(op) && parse_options(op);
    if (!labels_.add(label_)) {
      const uint64_t before = rank_work_.at(labels_.find(label_)).line;
      labels_.add({});
      fail_at(op.line, column, "the label " + shown(label_) + " stands in line " + std::to_string(before) + " already");
    }
    rank_work_.add(good ? op : ReadOperation{.line = op.line});
    if (rank_work_.size() > kMaxGoalOperations) return fail("has more operations than can be counted");
    if (good) count(op);
    return good;
  }

  bool parse(ReadOperation& op) {
    const bool sends = token_.is("send");
    const bool computes = token_.is("calc");
    advance();
    if (computes) {
      const bool good = take_count("nanoseconds", kMaxComputeNs, op.amount);
      op.amount *= 1'000;
      return good;
    }
    op.kind = sends ? OperationKind::kSend : OperationKind::kReceive;
    const bool is_size = token_.kind == GoalToken::Kind::kNumber && token_.has_bytes && !token_.is_negative;
    if (!is_size || token_.is_bad) return fail("expected bytes, as 8b, and " + found());
    if (token_.number > kMaxMessageBytes) return fail("a message has 2GiB at most, and " + found());
    op.amount = token_.number;
    advance();
    if (!expect(sends ? "to" : "from")) return false;
    return take_peer(sends, op.peer);
  }

  bool take_peer(bool sends, uint32_t& out) {
    if (sends && token_.is("-1")) return fail("a send names its receiver, and " + found());
    const uint64_t line = token_.line;
    const int column = token_.column;
    if (!take_any("a rank", kMaxGoalNumber, out)) return false;
    if (out < ranks_ || out == kAnyRank) return true;
    return fail_at(line, column,
                   "there is no rank " + std::to_string(out) + ": num_ranks is " + std::to_string(ranks_));
  }

  bool parse_options(ReadOperation& op) {
    bool good = true;
    bool has[3]{};
    const auto once = [&](size_t which) {
      good = !std::exchange(has[which], true) || fail(shown(token_.text) + " stands here twice");
    };
    while (good) {
      if (token_.is("cpu")) {
        once(0);
        advance();
        uint64_t cpu = 0;
        good = good && take_count("a cpu", kMaxGoalCpus - 1, cpu);
        op.cpu = static_cast<uint32_t>(cpu);
      } else if (op.kind != OperationKind::kCompute && token_.is("tag")) {
        once(1);
        advance();
        good = good && take_tag(op);
      } else if (op.kind != OperationKind::kCompute && token_.is("nic")) {
        once(2);
        advance();
        uint64_t nic = 0;
        good = good && take_count("a NIC", kMaxGoalNumber, nic);
        work_->totals.nics = std::max(work_->totals.nics, static_cast<uint32_t>(nic + 1));
      } else {
        break;
      }
    }
    return good;
  }
  bool take_tag(ReadOperation& op) {
    if (op.kind == OperationKind::kSend && token_.is("-1")) return fail("a send names its tag, and " + found());
    return take_any("a tag", kMaxGoalNumber, op.tag);
  }

  void count(const ReadOperation& op) {
    if (op.kind == OperationKind::kSend) counts_.send(rank_, op.peer, op.tag, op.amount);
    if (op.kind == OperationKind::kReceive) counts_.receive(rank_, op.peer, op.tag);
  }

  void end_rank() {
    if (!rank_work_.write(*work_)) fail_circle();
    rank_work_.clear();
    labels_.clear();
  }

  void fail_circle() {
    constexpr size_t kNamed = 6;
    const std::vector<uint32_t>& circle = rank_work_.circle();
    std::string text;
    for (size_t i = 0; i < std::min(circle.size(), kNamed); ++i) {
      text +=
          std::string(labels_.label(circle[i])) + " (line " + std::to_string(rank_work_.at(circle[i]).line) + ") → ";
    }
    if (circle.size() > kNamed) text += "… → ";
    fail_at(rank_work_.at(circle[0]).line, 1,
            "a circle of needs in rank " + std::to_string(rank_) + ": " + text + std::string(labels_.label(circle[0])));
  }

  GoalScanner scanner_;
  const std::string& file_;
  GoalToken token_;
  std::string label_;
  uint32_t ranks_ = 0;
  uint32_t rank_ = 0;
  RankBuilder rank_work_;  // of the rank that is read
  LabelTable labels_;
  MessageCounts counts_;
  std::shared_ptr<RecordedWork> work_ = std::make_shared<RecordedWork>();
  Errors errors_;
};

}  // namespace

std::expected<SharedWork, Errors> read_goal(std::string_view text, const std::string& name) {
  return GoalReader(GoalScanner(text), name).run();
}

std::expected<SharedWork, Errors> load_goal(const std::string& path) {
  const dataplane::OwnedFd file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return std::unexpected(Errors{{path, "", 0, 0, std::string("cannot be opened: ") + std::strerror(errno)}});
  return GoalReader(GoalScanner(file.get()), path).run();
}

}  // namespace softspine::control

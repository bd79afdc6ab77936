// SPDX-License-Identifier: Apache-2.0
#include "control/training/simai_workload.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "control/document/words.hpp"

namespace softspine::control {

using dataplane::Duration;

namespace {

constexpr size_t kColumns = 12;
constexpr size_t kMaxNameBytes = 63;
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxNanoseconds = 1'000'000'000'000;
constexpr std::string_view kTransformer = "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
constexpr std::string_view kMicro = "MICRO";

constexpr std::array kOperations{
    std::pair{std::string_view{"ALLREDUCE"}, Collective::kAllReduce},
    std::pair{std::string_view{"ALLGATHER"}, Collective::kAllGather},
    std::pair{std::string_view{"REDUCESCATTER"}, Collective::kReduceScatter},
    std::pair{std::string_view{"ALLTOALL"}, Collective::kAllToAll},
    std::pair{std::string_view{"BROADCAST"}, Collective::kBroadcast},
};

std::optional<uint64_t> number_of(std::string_view text, uint64_t most) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || out > most) return std::nullopt;
  return out;
}

bool is_printable(std::string_view text) {
  return text.size() <= kMaxNameBytes && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

class WorkloadText {
 public:
  WorkloadText(std::string_view text, const std::string& name, ErrorsByKind& errors)
      : lines_(text), name_(name), errors_(errors) {}

  bool read() {
    const std::vector<Field> first = lines_.next();
    if (first.empty()) return errors_.fail("empty", {"", 1, 1}, "is empty: a workload begins with its kind");
    out_.is_micro = first[0].text == kMicro;
    if (!out_.is_micro && first[0].text != kTransformer) {
      return errors_.fail(
          "kind", first[0],
          "must be " + std::string(kTransformer) + " or " + std::string(kMicro) + ", not " + shown(first[0].text));
    }
    return read_keys(first) && read_layers() && !errors_.any();
  }

  SimaiWorkload take() { return std::move(out_); }

 private:
  void note(int line, std::string message) { out_.notes.push_back({name_, "", line, 1, std::move(message)}); }

  bool read_keys(const std::vector<Field>& first) {
    std::string unread;
    for (size_t i = 1; i < first.size(); i += 2) {
      std::string_view key = first[i].text;
      if (key.ends_with(':')) key.remove_suffix(1);
      const auto value = i + 1 < first.size() ? number_of(first[i + 1].text, UINT32_MAX) : std::nullopt;
      if (!value) return errors_.fail("key", first[i], shown(key) + " needs a whole number behind it");
      if (!take_key(key, *value, first[i + 1])) unread += (unread.empty() ? "" : ", ") + shown(key);
    }
    if (!unread.empty()) note(first[0].line, "not obeyed: " + unread);
    return true;
  }

  // False: nobody obeys it.
  bool take_key(std::string_view key, uint64_t value, const Field& at) {
    const auto count = [&](uint32_t& into) {
      if (value == 0) return errors_.fail("zero", at, shown(key) + " must be at least 1");
      into = static_cast<uint32_t>(value);
      return true;
    };
    if (key == "model_parallel_NPU_group") return count(out_.sizes.tensor), true;
    if (key == "ep") return count(out_.sizes.expert), true;
    if (key == "pp") return count(out_.pipeline), true;
    if (key == "all_gpus") return out_.gpus = value, true;
    if (key == "checkpoints") return out_.checkpoints = static_cast<uint32_t>(value), true;
    return key == "checkpoint_initiates" && value == 0;
  }

  bool read_layers() {
    const std::vector<Field> line = lines_.next();
    const auto count = line.size() == 1 ? number_of(line[0].text, kMaxTrainingLayers) : std::nullopt;
    if (!count || *count == 0) {
      return errors_.fail("count", line.empty() ? Field{"", lines_.line(), 1} : line[0],
                          "the second line must be the number of layers, 1 to " + std::to_string(kMaxTrainingLayers));
    }
    for (std::vector<Field> fields = lines_.next(); !fields.empty(); fields = lines_.next()) {
      if (out_.layers.size() == *count) {
        note(fields[0].line,
             "not read: this and what follows it, behind the last of " + std::to_string(*count) + " layers");
        return true;
      }
      if (!read_layer(fields)) return false;
    }
    if (out_.layers.empty()) return errors_.fail("layers", line[0], "no layer follows");
    if (out_.layers.size() < *count) {
      note(line[0].line, "says " + std::to_string(*count) + " layers, and " + std::to_string(out_.layers.size()) +
                             " are there: these are read");
    }
    return true;
  }

  bool read_layer(const std::vector<Field>& fields) {
    if (fields.size() != kColumns) {
      return errors_.fail(
          "columns", fields[0],
          "a layer has " + std::to_string(kColumns) + " columns, this line has " + std::to_string(fields.size()));
    }
    if (!is_printable(fields[0].text)) {
      return errors_.fail("name", fields[0], shown(fields[0].text) + " is no name of a layer: at most 63 letters");
    }
    TrainingLayer& layer = out_.layers.emplace_back();
    layer.name = fields[0].text;
    const auto update = number_of(fields[11].text, kMaxNanoseconds);
    if (!update) return fail_time(fields[11]);
    layer.update = Duration::ns(static_cast<int64_t>(*update));
    return read_phase(std::span(fields).subspan(2, 3), GroupKind::kTensor, layer.forward) &&
           read_phase(std::span(fields).subspan(5, 3), GroupKind::kTensor, layer.input_gradient) &&
           read_phase(std::span(fields).subspan(8, 3), GroupKind::kData, layer.weight_gradient);
  }

  bool fail_time(const Field& at) {
    return errors_.fail("time", at, shown(at.text) + " is no time: whole nanoseconds, at most 10^12");
  }

  bool read_phase(std::span<const Field> fields, GroupKind usual, LayerPhase& out) {
    const auto time = number_of(fields[0].text, kMaxNanoseconds);
    const auto bytes = number_of(fields[2].text, kMaxBytes);
    if (!time) return fail_time(fields[0]);
    if (!bytes) return errors_.fail("bytes", fields[2], shown(fields[2].text) + " is no number of bytes up to 1TiB");
    out.compute = Duration::ns(static_cast<int64_t>(*time));
    out.bytes = *bytes;
    return read_collective(fields[1], usual, out);
  }

  bool read_collective(const Field& field, GroupKind usual, LayerPhase& out) {
    if (field.text == "NONE") return true;
    std::string_view word = field.text;
    out.group = usual;
    if (word.ends_with("_DP_EP")) {
      out.group = GroupKind::kDataOfExperts;
      word.remove_suffix(6);
    } else if (word.ends_with("_EP")) {
      out.group = GroupKind::kExpert;
      word.remove_suffix(3);
    }
    const auto found = std::ranges::find(kOperations, word, &std::pair<std::string_view, Collective>::first);
    if (found == kOperations.end()) {
      return errors_.fail("collective", field,
                          shown(field.text) +
                              " is no collective: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL "
                              "or BROADCAST, and _EP or _DP_EP behind it");
    }
    out.op = found->second;
    return true;
  }

  FieldLines lines_;
  std::string name_;
  ErrorsByKind& errors_;
  SimaiWorkload out_;
};

}  // namespace

std::optional<SimaiWorkload> read_simai_workload(std::string_view text, const std::string& name, ErrorsByKind& errors) {
  WorkloadText workload(text, name, errors);
  if (!workload.read()) return std::nullopt;
  return workload.take();
}

}  // namespace softspine::control

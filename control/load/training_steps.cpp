// SPDX-License-Identifier: Apache-2.0
#include "control/load/training_steps.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "control/collectives/collective_algorithms.hpp"
#include "control/load/collective_shapes.hpp"
#include "control/load/listed_flows.hpp"
#include "control/rows/collective_formats.hpp"
#include "control/training/simai_workload.hpp"
#include "control/training/training_plan.hpp"

namespace softspine::control {
namespace {

struct TrainedModel {
  std::vector<TrainingLayer> layers;
  StepOrder order = StepOrder::kStep;
  ParallelSizes sizes;
};

class TrainedModels {
 public:
  explicit TrainedModels(Reader& reader) : reader_(reader) {}

  std::optional<TrainingStep> step_of(const TrainingRow& row, uint32_t ranks) {
    if (row.file.has_value() == !row.layers.empty()) {
      reader_.fail(row.where, "needs 'file' or 'layers', and not both");
      return std::nullopt;
    }
    auto model = row.file ? model_of_file(row, ranks) : model_of_layers(row);
    if (!model || !has_good_sizes(row, ranks, model->sizes)) return std::nullopt;
    const ParallelGroups groups(ranks, model->sizes);
    TrainingStep out{model->sizes, plan_of(model->layers, model->order, groups, row.compute_scale.millionths)};
    if (out.plan.kinds.empty()) {
      reader_.fail(row.where, "has no collective of two ranks or more: there is nothing to send");
      return std::nullopt;
    }
    warn_of_single_ranks(row, model->layers, groups);
    return out;
  }

 private:
  std::optional<TrainedModel> model_of_file(const TrainingRow& row, uint32_t ranks) {
    const std::string path = path_beside(row.where, *row.file);
    const Value where = row.where.child("file");
    const auto text = reader_.text_of(path);
    if (!text) {
      reader_.fail(where, shown(*row.file) + " cannot be read: " + text.error());
      return std::nullopt;
    }
    ErrorsByKind errors(path);
    auto read = read_simai_workload(*text, path, errors);
    errors.put_into(reader_.log());
    if (!read) return std::nullopt;
    for (Error& note : read->notes) reader_.warn(std::move(note));
    if (read->pipeline > 1) {
      reader_.fail(where, "has " + std::to_string(read->pipeline) + " pipeline stages (pp), and one alone can be run");
      return std::nullopt;
    }
    if (read->checkpoints > 0) {
      reader_.fail(where, "recomputes layers (checkpoints), which cannot be run");
      return std::nullopt;
    }
    if (read->gpus && *read->gpus != ranks) {
      reader_.warn(where,
                   "was made for " + std::to_string(*read->gpus) + " GPUs, and runs on " + std::to_string(ranks));
    }
    TrainedModel out{.layers = std::move(read->layers), .sizes = read->sizes};
    if (read->is_micro) out.order = StepOrder::kOneByOne;
    return out;
  }

  std::optional<TrainedModel> model_of_layers(const TrainingRow& row) {
    TrainedModel out;
    for (const TrainingLayerRow& layer : row.layers) {
      TrainingLayer made{.name = layer.name, .update = layer.update};
      if (!read_phase(layer.forward, GroupKind::kTensor, made.forward) ||
          !read_phase(layer.input_gradient, GroupKind::kTensor, made.input_gradient) ||
          !read_phase(layer.weight_gradient, GroupKind::kData, made.weight_gradient))
        return std::nullopt;
      if (out.layers.size() + layer.times > kMaxTrainingLayers) {
        reader_.fail(row.where.child("layers"), "are more than " + std::to_string(kMaxTrainingLayers));
        return std::nullopt;
      }
      out.layers.insert(out.layers.end(), layer.times, made);
    }
    return out;
  }

  bool read_phase(const LayerPhaseRow& row, GroupKind usual, LayerPhase& out) {
    out.compute = row.compute;
    out.op = row.op;
    out.group = row.group.value_or(usual);
    out.bytes = row.size.value_or(Bytes{}).count;
    if (row.op.has_value() != row.size.has_value())
      return reader_.fail(row.where, row.op ? "needs 'size'" : "has 'size', and no 'op'");
    if (row.group && !row.op) return reader_.fail(row.where.child("group"), "needs 'op'");
    if (row.op == Collective::kSendRecv) return reader_.fail(row.where.child("op"), "cannot be send_recv");
    if (row.size && (out.bytes == 0 || out.bytes > kMaxCollectiveBytes))
      return reader_.fail(row.where.child("size"), "must be 1B to 16GiB");
    return true;
  }

  bool has_good_sizes(const TrainingRow& row, uint32_t ranks, ParallelSizes& sizes) {
    sizes.tensor = row.tensor_parallel.value_or(sizes.tensor);
    sizes.expert = row.expert_parallel.value_or(sizes.expert);
    if (ParallelGroups::fit(ranks, sizes)) return true;
    const bool is_tensor = ranks % sizes.tensor != 0;
    const auto& given = is_tensor ? row.tensor_parallel : row.expert_parallel;
    const std::string size = std::to_string(is_tensor ? sizes.tensor : sizes.expert);
    return reader_.fail(
        given ? row.where.child(is_tensor ? "tensor_parallel" : "expert_parallel") : place_of_layers(row),
        is_tensor ? "has " + size + " ranks in a tensor-parallel group: the " + std::to_string(ranks) +
                        " ranks are no multiple of that"
                  : "spreads experts over " + size + " ranks: the " + std::to_string(ranks / sizes.tensor) +
                        " of a data-parallel group are no multiple of that");
  }

  void warn_of_single_ranks(const TrainingRow& row, std::span<const TrainingLayer> layers,
                            const ParallelGroups& groups) {
    size_t count = 0;
    for (const TrainingLayer& layer : layers) {
      for (const LayerPhase* phase : {&layer.forward, &layer.input_gradient, &layer.weight_gradient})
        count += phase->op && groups.size(phase->group) == 1 ? 1 : 0;
    }
    if (count == 0) return;
    reader_.warn(place_of_layers(row),
                 "has " + std::to_string(count) + " collectives whose groups have one rank: these send nothing");
  }

  Reader& reader_;
};

// An algorithm is for those operations that have it; the others go as NCCL chooses.
RankKeys keys_for(const TrainingRow& row, Collective op) {
  RankKeys out = row;
  const AlgorithmRow* const algorithm = algorithm_row(row.algorithm);
  if (algorithm != nullptr && !algorithm->has(op)) out.algorithm = CollectiveAlgorithm::kAuto;
  return out;
}

// By collective: how often a step begins it.
std::vector<uint64_t> times_of(const TrainingPlan& plan, GroupKind kind) {
  std::vector<uint64_t> out(plan.collectives[static_cast<size_t>(kind)].size());
  for (const TrainingAction& action : plan.actions) {
    const bool is_one = action.kind == TrainingAction::Kind::kBegin && action.group == kind;
    if (is_one) ++out[action.collective];
  }
  return out;
}

}  // namespace

Value place_of_layers(const TrainingRow& row) {
  return row.where.child(row.file ? "file" : "layers");
}

std::optional<TrainingStep> step_of(Reader& reader, const TrainingRow& row, uint32_t ranks) {
  return TrainedModels(reader).step_of(row, ranks);
}

bool for_each_shape(Reader& reader, const TrainingRow& row, const TrainingStep& step, const Fabric& fabric,
                    std::span<const uint32_t> hosts, const std::function<bool(const GroupShape&)>& take) {
  const ParallelGroups groups(static_cast<uint32_t>(hosts.size()), step.sizes);
  for (const GroupKind kind : step.plan.kinds) {
    const std::vector<GroupCollective>& collectives = step.plan.collectives[static_cast<size_t>(kind)];
    const std::vector<uint64_t> times = times_of(step.plan, kind);
    for (uint32_t number = 0; number < groups.count(kind); ++number) {
      const RankGroup group = groups.group(kind, number);
      std::vector<uint32_t> of_group;
      for (const uint32_t rank : group.all()) of_group.push_back(hosts[rank]);
      for (size_t i = 0; i < collectives.size(); ++i) {
        const auto [op, bytes] = collectives[i];
        if (bytes > kMaxCollectiveBytes) {
          return reader.fail(place_of_layers(row), "has a collective of " + std::to_string(bytes) +
                                                       " bytes, and 16GiB are the most that is run");
        }
        const auto shape = shape_of(keys_for(row, op), op, 0, fabric, of_group, bytes);
        if (!shape || !take({kind, number, group, *shape, times[i]})) return false;
      }
    }
  }
  return true;
}

}  // namespace softspine::control

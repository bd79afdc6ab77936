// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <string>

#include "control/collectives/collective_algorithms.hpp"
#include "control/load/collective_shapes.hpp"
#include "control/load/listed_flows.hpp"
#include "control/load/rank_pairs.hpp"
#include "control/load/resolve.hpp"
#include "control/rows/collective_formats.hpp"
#include "control/training/simai_workload.hpp"
#include "control/training/training_plan.hpp"

namespace softspine::control {
namespace {

constexpr size_t kMaxTrainingLayers = 65'536;

struct TrainedModel {
  std::vector<TrainingLayer> layers;
  StepOrder order = StepOrder::kStep;
  ParallelSizes sizes;
};

class TrainingResolver {
 public:
  TrainingResolver(Reader& reader, const Fabric& fabric, Testbed& testbed)
      : reader_(reader), fabric_(fabric), testbed_(testbed) {}

  void resolve(const TrainingRow& row) {
    const auto workload = std::ranges::find(testbed_.workloads, row.name, &Workload::name);
    RankPairs pairs(reader_, fabric_, row, static_cast<uint32_t>(workload - testbed_.workloads.begin()), testbed_);
    const auto ranks = static_cast<uint32_t>(pairs.traffic().hosts.size());
    if (row.file.has_value() == !row.layers.empty()) {
      reader_.fail(row.where, "needs 'file' or 'layers', and not both");
      return;
    }
    auto model = row.file ? model_of_file(row, ranks) : model_of_layers(row);
    if (!model || !has_good_sizes(row, ranks, model->sizes) || !pairs.has_one_scale_up()) return;
    const ParallelGroups groups(ranks, model->sizes);
    TrainingRun out{.name = row.name,
                    .sizes = model->sizes,
                    .plan = plan_of(model->layers, model->order, groups, row.compute_scale.millionths),
                    .iterations = row.iterations,
                    .start = dataplane::Instant::at(row.start),
                    .place = place_of(row.where)};
    if (out.plan.kinds.empty()) {
      reader_.fail(row.where, "has no collective of two ranks or more: there is nothing to send");
      return;
    }
    warn_of_single_ranks(row, model->layers, groups);
    for (const GroupKind kind : out.plan.kinds) {
      if (!take_groups(row, groups, kind, pairs, out)) return;
    }
    if (row.pxn && !has_pxn(out)) reader_.fail(row.where.child("pxn"), kPxnNeeds);
    out.traffic = pairs.finish();
    testbed_.trainings.push_back(std::move(out));
  }

 private:
  static bool has_pxn(const TrainingRun& run) {
    const auto of_group = [](const auto& shapes) { return std::ranges::any_of(shapes, &CollectiveShape::pxn); };
    const auto of_kind = [&](const auto& groups) { return std::ranges::any_of(groups, of_group); };
    return std::ranges::any_of(run.shapes, of_kind);
  }

  Value place_of_layers(const TrainingRow& row) const { return row.where.child(row.file ? "file" : "layers"); }

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
      out.layers.insert(out.layers.end(), layer.times, made);
    }
    if (out.layers.size() <= kMaxTrainingLayers) return out;
    reader_.fail(row.where.child("layers"), "are more than " + std::to_string(kMaxTrainingLayers));
    return std::nullopt;
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

  // An algorithm is for those operations that have it; the others go as NCCL chooses.
  static RankKeys keys_for(const TrainingRow& row, Collective op) {
    RankKeys out = row;
    const AlgorithmRow* const algorithm = algorithm_row(row.algorithm);
    if (algorithm != nullptr && !algorithm->has(op)) out.algorithm = CollectiveAlgorithm::kAuto;
    return out;
  }

  bool take_groups(const TrainingRow& row, const ParallelGroups& groups, GroupKind kind, RankPairs& pairs,
                   TrainingRun& out) {
    const std::vector<GroupCollective>& collectives = out.plan.collectives[static_cast<size_t>(kind)];
    std::vector<uint64_t> times(collectives.size());
    for (const TrainingAction& action : out.plan.actions) {
      const bool is_one = action.kind == TrainingAction::Kind::kBegin && action.group == kind;
      if (is_one) times[action.collective] += row.iterations;
    }
    auto& shapes = out.shapes[static_cast<size_t>(kind)];
    for (uint32_t number = 0; number < groups.count(kind); ++number) {
      const std::vector<uint32_t> ranks = groups.group(kind, number).all();
      std::vector<uint32_t> hosts;
      for (const uint32_t rank : ranks) hosts.push_back(pairs.traffic().hosts[rank]);
      auto& of_group = shapes.emplace_back();
      for (size_t i = 0; i < collectives.size(); ++i) {
        const auto [op, bytes] = collectives[i];
        if (bytes > kMaxCollectiveBytes) {
          return reader_.fail(place_of_layers(row), "has a collective of " + std::to_string(bytes) +
                                                        " bytes, and 16GiB are the most that is run");
        }
        const auto shape = shape_of(keys_for(row, op), op, 0, fabric_, hosts, bytes);
        if (!shape || !pairs.take(*shape, ranks, times[i], TrainingRun::first_channel(kind), place_of_layers(row)))
          return false;
        of_group.push_back(*shape);
      }
    }
    return true;
  }

  Reader& reader_;
  const Fabric& fabric_;
  Testbed& testbed_;
};

}  // namespace

void resolve_trainings(Reader& reader, const std::vector<TrainingRow>& rows, const Fabric& fabric, Testbed& testbed) {
  if (reader.log().count() != 0) return;  // nobody will have them
  TrainingResolver resolver(reader, fabric, testbed);
  for (const TrainingRow& row : rows) resolver.resolve(row);
}

}  // namespace softspine::control

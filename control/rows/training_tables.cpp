// SPDX-License-Identifier: Apache-2.0
// The tables of trainings.
#include "control/rows/rank_key_table.hpp"

namespace softspine::control {

using dataplane::Duration;

const Table<LayerPhaseRow>& Tables<LayerPhaseRow>::table() {
  static const Table<LayerPhaseRow> table =
      Table<LayerPhaseRow>("phase", "What a rank does for a layer in one pass: it computes, then does a collective.")
          .optional("compute", &LayerPhaseRow::compute, "for how long", within(Duration{}, Duration::s(1'000)))
          .optional("op", &LayerPhaseRow::op, "the collective; none if not given")
          .optional("size", &LayerPhaseRow::size, "of the collective, as a collective's `size`")
          .optional("group", &LayerPhaseRow::group,
                    "who does it together: tensor (if not given), of weight gradients data; expert; data_of_experts: "
                    "those with the same experts");
  return table;
}

const Table<TrainingLayerRow>& Tables<TrainingLayerRow>::table() {
  static const Table<TrainingLayerRow> table =
      Table<TrainingLayerRow>("layer", "A layer of a model that is trained.")
          .required("name", &TrainingLayerRow::name, "what the report calls it", kNames)
          .optional("times", &TrainingLayerRow::times, "so many such layers, one behind the other",
                    within<uint32_t>(1, 1'000))
          .optional("forward", &TrainingLayerRow::forward, "of the forward pass, first layer to last")
          .optional("input_gradient", &TrainingLayerRow::input_gradient, "of the backward pass, last layer to first")
          .optional("weight_gradient", &TrainingLayerRow::weight_gradient,
                    "behind it; its collective goes on beside the rest of the backward pass")
          .optional("update", &TrainingLayerRow::update, "of the weights, when their gradients have been exchanged",
                    within(Duration{}, Duration::s(1'000)));
  return table;
}

const Table<TrainingRow>& Tables<TrainingRow>::table() {
  using Row = TrainingRow;
  static const Table<Row> table = with_rank_keys(
      Table<Row>("training", "Steps of a training job on built-in hosts: compute, and collectives that wait for it.")
          .required("name", static_cast<std::string Row::*>(&Row::name), "what counters and expectations call it",
                    kNames)
          .optional("file", &Row::file, "a workload of SimAI's or AICB's, beside this file")
          .optional("layers", &Row::layers, "of the model, from the first on, if there is no file")
          .optional("tensor_parallel", &Row::tensor_parallel,
                    "ranks that share each layer, neighbours; as the file says if not given, or 1",
                    within<uint32_t>(1, 65'536))
          .optional("expert_parallel", &Row::expert_parallel,
                    "ranks that the experts of a layer are spread over; as the file says if not given, or 1",
                    within<uint32_t>(1, 65'536))
          .optional("iterations", static_cast<uint32_t Row::*>(&Row::iterations), "steps", within<uint32_t>(1, 1'000))
          .optional("compute_scale", &Row::compute_scale, "of all times of compute and of update",
                    within(Share{0}, Share{100'000'000})));
  return table;
}

}  // namespace softspine::control

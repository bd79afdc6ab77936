// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "control/training/parallel_groups.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

constexpr const char* kLayer =
    "[{name: a, times: 2, forward: {compute: 5us, op: all_reduce, size: 1MiB}, weight_gradient: {op: reduce_scatter, "
    "size: 2MiB}}]";

std::string with_training(const std::string& keys) {
  return with_fabric("training:\n  - {name: t, " + keys + "}\n");
}

TEST(Trainings, AreAWorkloadWithTheConnectionsOfTheirGroups) {
  const Testbed testbed = read_well(with_training("tensor_parallel: 2, iterations: 3, layers: " + std::string(kLayer)));
  const TrainingRun& run = testbed.trainings.at(0);
  EXPECT_EQ(run.iterations, 3u);
  EXPECT_EQ(run.plan.layers, (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(run.plan.kinds, (std::vector{GroupKind::kTensor, GroupKind::kData}));
  const auto& tensor = run.shapes[static_cast<size_t>(GroupKind::kTensor)];
  ASSERT_EQ(tensor.size(), 2u);
  EXPECT_EQ(tensor[0].at(0).ranks, 2u);
  EXPECT_EQ(tensor[0].at(0).bytes, 1u << 20);
  const RankTraffic& traffic = run.traffic;
  EXPECT_EQ(testbed.workloads.at(traffic.workload).name, "t");
  EXPECT_EQ(testbed.workloads.at(traffic.clears.value()).name, "t-cts");
  const ParallelGroups groups(4, run.sizes);
  ASSERT_FALSE(traffic.channel.empty());
  for (size_t i = 0; i < traffic.channel.size(); ++i) {
    const auto kind = static_cast<GroupKind>(traffic.channel[i] / TrainingRun::kMaxChannels);
    EXPECT_EQ(groups.number_of(kind, traffic.from_rank[i]), groups.number_of(kind, traffic.to_rank[i])) << i;
  }
}

TEST(Trainings, TakeAnAlgorithmForWhatHasIt) {
  const Testbed testbed = read_well(with_training(
      "algorithm: tree, tensor_parallel: 4, layers: [{name: a, forward: {op: all_reduce, size: 1MiB}, input_gradient: "
      "{op: all_to_all, size: 1MiB}}]"));
  const auto& shapes = testbed.trainings.at(0).shapes[static_cast<size_t>(GroupKind::kTensor)].at(0);
  EXPECT_EQ(shapes.at(0).algorithm, CollectiveAlgorithm::kTree);
  EXPECT_EQ(shapes.at(1).algorithm, CollectiveAlgorithm::kDirect);
}

TEST(Trainings, AreRefusedWithPlaceAndReason) {
  const auto complaint = [](const std::string& keys) {
    const Complaints all = complaints_about(with_training(keys));
    return all.empty() ? std::string("none") : all.front();
  };
  const std::string layers = ", layers: " + std::string(kLayer);
  EXPECT_EQ(complaint("iterations: 1"), "5 training[0]: needs 'file' or 'layers', and not both");
  EXPECT_EQ(complaint("tensor_parallel: 3" + layers),
            "5 training[0].tensor_parallel: has 3 ranks in a tensor-parallel group: the 4 ranks are no multiple of "
            "that");
  EXPECT_EQ(complaint("expert_parallel: 3" + layers),
            "5 training[0].expert_parallel: spreads experts over 3 ranks: the 4 of a data-parallel group are no "
            "multiple of that");
  std::string many = "layers: [{name: a, times: 537}";
  for (int i = 0; i < 65; ++i) many += ", {name: a, times: 1000}";
  EXPECT_EQ(complaint(many + "]"), "5 training[0].layers: are more than 65536");
  EXPECT_EQ(complaint("layers: [{name: a, forward: {op: all_reduce}}]"),
            "5 training[0].layers[0].forward: needs 'size'");
  EXPECT_EQ(complaint("layers: [{name: a, forward: {size: 1MiB}}]"),
            "5 training[0].layers[0].forward: has 'size', and no 'op'");
  EXPECT_EQ(complaint("layers: [{name: a, forward: {group: data}}]"),
            "5 training[0].layers[0].forward.group: needs 'op'");
  EXPECT_EQ(complaint("layers: [{name: a, forward: {op: send_recv, size: 1MiB}}]"),
            "5 training[0].layers[0].forward.op: cannot be send_recv");
  EXPECT_EQ(complaint("layers: [{name: a, forward: {op: all_reduce, size: 17GiB}}]"),
            "5 training[0].layers[0].forward.size: must be 1B to 16GiB");
  EXPECT_EQ(complaint("layers: [{name: a, forward: {op: all_reduce, size: 1MiB}}]"),
            "5 training[0]: has no collective of two ranks or more: there is nothing to send");
}

class TrainingFiles : public testing::Test {
 protected:
  ~TrainingFiles() override { std::filesystem::remove(path_); }
  std::string with_file(const std::string& text, const std::string& keys = "") const {
    std::ofstream(path_) << text;
    return with_training("file: " + path_ + keys);
  }

  const std::string path_ = testing::TempDir() + "config-workload.txt";
};

constexpr const char* kHead = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ";

TEST_F(TrainingFiles, SayTheSizesUnlessTheTestbedDoes) {
  const std::string text = std::string(kHead) + "all_gpus: 4\n1\na -1 1 ALLREDUCE 4096 1 NONE 0 1 ALLREDUCE 8192 1\n";
  const Testbed testbed = read_well(with_file(text));
  EXPECT_EQ(testbed.trainings.at(0).sizes.tensor, 2u);
  EXPECT_EQ(testbed.inputs, std::vector<std::string>{path_});
  EXPECT_TRUE(testbed.warnings.empty());
  EXPECT_EQ(read_well(with_file(text, ", tensor_parallel: 4")).trainings.at(0).sizes.tensor, 4u);
}

TEST_F(TrainingFiles, WarnOfWhatIsNotObeyed) {
  const Testbed testbed =
      read_well(with_file(std::string(kHead) + "all_gpus: 8 ga: 2\n1\na -1 1 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1\n"));
  ASSERT_EQ(testbed.warnings.size(), 2u);
}

TEST_F(TrainingFiles, AreRefusedIfTheyHavePipelinesOrRecompute) {
  const std::string layer = "\n1\na -1 1 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1\n";
  EXPECT_EQ(complaints_about(with_file(kHead + ("pp: 2" + layer))),
            Complaints{"5 training[0].file: has 2 pipeline stages (pp), and one alone can be run"});
  EXPECT_EQ(complaints_about(with_file(kHead + ("checkpoints: 1" + layer))),
            Complaints{"5 training[0].file: recomputes layers (checkpoints), which cannot be run"});
}

}  // namespace
}  // namespace softspine::control

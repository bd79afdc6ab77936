// SPDX-License-Identifier: Apache-2.0
// Texts as AICB writes them, and what is wrong with others.
#include "control/training/simai_workload.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

using dataplane::Duration;

constexpr std::string_view kHead =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 2 pp: 1 vpp: 4 ga: 1 all_gpus: 64 "
    "checkpoints: 0 checkpoint_initiates: 0\n";

struct Read {
  std::optional<SimaiWorkload> workload;
  std::vector<std::string> errors;  // LINE:COLUMN message
};

Read read(const std::string& text) {
  ErrorsByKind errors("w.txt");
  Read out{.workload = read_simai_workload(text, "w.txt", errors)};
  ErrorLog log;
  errors.put_into(log);
  for (const Error& error : log.finish())
    out.errors.push_back(std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.message);
  EXPECT_EQ(out.workload.has_value(), out.errors.empty());
  return out;
}

std::string error_of(const std::string& text) {
  const Read out = read(text);
  return out.errors.empty() ? "none" : out.errors.front();
}

std::string with_layer(const std::string& layer) {
  return std::string(kHead) + "1\n" + layer;
}

TEST(SimaiWorkload, HasSizesAndLayers) {
  const Read out = read(std::string(kHead) +
                        "2\nattention\t-1\t752000\tALLREDUCE\t20971520\t752001\tALLGATHER_EP\t7\t752002\tREDUCESCATTER"
                        "\t8\t100\nmoe -1 1 ALLTOALL_EP 64 1 BROADCAST 32 1 ALLGATHER_DP_EP 16 9\ntest\n");
  ASSERT_TRUE(out.workload);
  const SimaiWorkload& it = *out.workload;
  EXPECT_FALSE(it.is_micro);
  EXPECT_EQ(it.sizes.tensor, 8u);
  EXPECT_EQ(it.sizes.expert, 2u);
  EXPECT_EQ(it.pipeline, 1u);
  EXPECT_EQ(it.gpus, 64u);
  ASSERT_EQ(it.layers.size(), 2u);
  EXPECT_EQ(it.layers[0].name, "attention");
  EXPECT_EQ(it.layers[0].forward.compute, Duration::us(752));
  EXPECT_EQ(it.layers[0].forward.op, Collective::kAllReduce);
  EXPECT_EQ(it.layers[0].forward.group, GroupKind::kTensor);
  EXPECT_EQ(it.layers[0].input_gradient.group, GroupKind::kExpert);
  EXPECT_EQ(it.layers[0].input_gradient.bytes, 7u);
  EXPECT_EQ(it.layers[0].weight_gradient.group, GroupKind::kData);
  EXPECT_EQ(it.layers[0].weight_gradient.op, Collective::kReduceScatter);
  EXPECT_EQ(it.layers[0].update, Duration::ns(100));
  EXPECT_EQ(it.layers[1].forward.op, Collective::kAllToAll);
  EXPECT_EQ(it.layers[1].input_gradient.op, Collective::kBroadcast);
  EXPECT_EQ(it.layers[1].weight_gradient.group, GroupKind::kDataOfExperts);
  ASSERT_EQ(it.notes.size(), 2u);
  EXPECT_EQ(it.notes[0].message, "not obeyed: 'vpp', 'ga'");
  EXPECT_EQ(it.notes[1].line, 5);
}

TEST(SimaiWorkload, OfMicroHasNoSizes) {
  const Read out = read("MICRO\n1\nmicro_test\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLTOALL\t4096\t1");
  ASSERT_TRUE(out.workload);
  EXPECT_TRUE(out.workload->is_micro);
  EXPECT_EQ(out.workload->sizes.tensor, 1u);
  EXPECT_FALSE(out.workload->layers[0].forward.op);
}

TEST(SimaiWorkload, SaysThatFewerLayersAreThere) {
  const Read out = read(std::string(kHead) + "839\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n");
  ASSERT_TRUE(out.workload);
  EXPECT_EQ(out.workload->notes.back().message, "says 839 layers, and 1 are there: these are read");
}

TEST(SimaiWorkload, IsRefusedWithItsLine) {
  EXPECT_EQ(error_of(""), "1:1 is empty: a workload begins with its kind");
  EXPECT_EQ(error_of("DATA\n"), "1:1 must be HYBRID_TRANSFORMER_FWD_IN_BCKWD or MICRO, not 'DATA'");
  EXPECT_EQ(error_of("MICRO ep: two\n"), "1:7 'ep' needs a whole number behind it");
  EXPECT_EQ(error_of("MICRO ep: 0\n1\n"), "1:11 'ep' must be at least 1");
  EXPECT_EQ(error_of("MICRO\nmany\n"), "2:1 the second line must be the number of layers, 1 to 65536");
  EXPECT_EQ(error_of("MICRO\n1\n"), "2:1 no layer follows");
  EXPECT_EQ(error_of(with_layer("a -1 1 NONE 0")), "3:1 a layer has 12 columns, this line has 5");
  EXPECT_EQ(error_of(with_layer("a -1 x NONE 0 1 NONE 0 1 NONE 0 1")),
            "3:6 'x' is no time: whole nanoseconds, at most 10^12");
  EXPECT_EQ(error_of(with_layer("a -1 1 NONE 0 1 NONE 0 1 NONE 0 -1")),
            "3:33 '-1' is no time: whole nanoseconds, at most 10^12");
  EXPECT_EQ(error_of(with_layer("a -1 1 NONE 1099511627777 1 NONE 0 1 NONE 0 1")),
            "3:13 '1099511627777' is no number of bytes up to 1TiB");
  EXPECT_EQ(error_of(with_layer("a -1 1 ALLREDUCEALLTOALL 0 1 NONE 0 1 NONE 0 1")),
            "3:8 'ALLREDUCEALLTOALL' is no collective: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or "
            "BROADCAST, and _EP or _DP_EP behind it");
  EXPECT_EQ(error_of(with_layer("\x01 -1 1 NONE 0 1 NONE 0 1 NONE 0 1")).substr(0, 4), "3:1 ");
}

}  // namespace
}  // namespace softspine::control

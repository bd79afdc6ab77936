// SPDX-License-Identifier: Apache-2.0
// The messages of a Chakra execution trace, one after the other: protobuf's wire format, each behind its length.
//
// Source: mlcommons/chakra 1.0.0, schema/protobuf/et_def.proto. Repeated integers come packed or one by one. Parts
// of a node that nobody here asks for (inputs, outputs, unknown attributes) are passed over; a field that ET 1.0 does
// not have is an error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"

namespace google::protobuf::io {
class CodedInputStream;
class ZeroCopyInputStream;
}  // namespace google::protobuf::io

namespace softspine::control {

enum class ChakraType : uint8_t {
  kInvalid,
  kMetadata,
  kMemoryLoad,
  kMemoryStore,
  kCompute,
  kSend,
  kReceive,
  kCollective
};

struct ChakraNode {
  uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::kInvalid;
  std::vector<uint64_t> needs;  // control and data
  uint64_t duration_micros = 0;
  bool is_cpu_op = false;
  uint64_t num_ops = 0;
  std::optional<uint64_t> comm_type;
  std::optional<uint64_t> comm_size;
  std::optional<uint64_t> comm_src;
  std::optional<uint64_t> comm_dst;
  uint64_t comm_tag = 0;
  std::string group;                   // pg_name
  bool is_of_some_dimensions = false;  // involved_dim has a no
  uint64_t offset = 0;                 // of its length, in what a gzipped file holds
};

class ChakraNodes {
 public:
  // What `text` holds, or the file, which may be gzipped.
  explicit ChakraNodes(std::string_view text);
  explicit ChakraNodes(dataplane::OwnedFd file);
  ~ChakraNodes();
  ChakraNodes(const ChakraNodes&) = delete;
  ChakraNodes& operator=(const ChakraNodes&) = delete;

  // The first message. False: see error().
  bool read_head();
  // False at the end, and where something is wrong: see error().
  bool next(ChakraNode& out);

  // Empty: nothing is wrong. With the offset.
  const std::string& error() const { return error_; }

 private:
  using Input = google::protobuf::io::CodedInputStream;

  // False: the end, or an error. `body` reads a message whose length is known.
  template <typename Body>
  bool read_message(Body&& body);
  bool read_head_field(Input& in, uint32_t tag);
  bool read_node_field(Input& in, uint32_t tag, ChakraNode& out);
  bool take_version(std::string_view version);
  bool fail(uint64_t offset, const std::string& message);
  bool ends_well();

  struct Streams;
  std::unique_ptr<Streams> streams_;
  bool has_begun_ = false;
  std::string error_;
};

}  // namespace softspine::control

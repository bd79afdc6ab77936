// SPDX-License-Identifier: Apache-2.0
// Builds a Document's tree from the events of yaml-cpp's parser.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <string>
#include <string_view>
#include <vector>

#include "control/document/document.hpp"

namespace softspine::control {

// Thrown through yaml-cpp, which has no other way to be stopped.
struct Refusal {
  Position at;
  std::string message;
};

class DocumentBuilder final : public YAML::EventHandler {
 public:
  DocumentBuilder(Document& document, ErrorLog& log) : document_(document), log_(log) {}

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  struct Extent {  // with aliases written out
    uint64_t values = 0;
    uint64_t bytes = 0;
  };
  struct Open {  // a sequence or map that has not ended
    uint32_t index = 0;
    YAML::anchor_t anchor = 0;
    uint32_t last_child = 0;
    Extent extent{1, 0};
  };
  struct Anchored {
    uint32_t index = 0;
    Extent extent;  // no values: not known, or not ended yet
  };

  uint32_t add(ValueKind kind, const YAML::Mark& mark, Extent extent = {1, 0});
  void grow(Extent by, Position at);
  void attach(uint32_t index);
  void open(ValueKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
  void close();
  void remember(YAML::anchor_t anchor, Anchored what);
  void check_tag(uint32_t index, const std::string& tag);
  void check_keys();
  void complain(uint32_t index, std::string message);

  Document& document_;
  ErrorLog& log_;
  std::vector<Open> open_;
  std::vector<Anchored> anchored_;  // by yaml-cpp's number
  bool started_ = false;
};

}  // namespace softspine::control

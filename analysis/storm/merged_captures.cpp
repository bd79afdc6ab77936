// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/merged_captures.hpp"

#include <algorithm>
#include <map>

namespace softspine::analysis::storm {

using dataplane::Duration;

namespace {

// Empty: the name alone is ambiguous, and needs the label before it.
std::string own_name(const CaptureOutline& capture, size_t number) {
  const std::string& name = capture.interfaces[number].name;
  if (capture.place.empty()) return name.find(':') == std::string::npos ? "" : name;
  const bool is_port = capture.place.find(':') != std::string::npos;
  if (is_port && capture.interfaces.size() == 1) return capture.place;
  const std::string node = node_part(capture.place) + ":";
  if (name.starts_with(node)) return name;
  return node + (name.empty() ? "interface " + std::to_string(number) : name);
}

std::string name_of(const CaptureOutline& capture, size_t number) {
  const std::string own = own_name(capture, number);
  if (!own.empty()) return own;
  const std::string& name = capture.interfaces[number].name;
  return capture.label + "/" + (name.empty() ? "interface " + std::to_string(number) : name);
}

}  // namespace

MergedCaptures::MergedCaptures(const std::vector<CaptureOutline>& captures, const CaptureGroup& group) {
  std::map<std::string, std::vector<size_t>> owners;  // of a name
  for (const AlignedCapture& it : group.captures) {
    const CaptureOutline& capture = captures[it.capture];
    for (size_t i = 0; i < capture.interfaces.size(); ++i) {
      auto& of_name = owners[name_of(capture, i)];
      if (of_name.empty() || of_name.back() != it.capture) of_name.push_back(it.capture);
    }
  }
  Duration most;
  Duration second;
  for (const AlignedCapture& it : group.captures) {
    const CaptureOutline& capture = captures[it.capture];
    first_.push_back(interfaces_.size());
    maps_.push_back(it.map);
    second = std::max(second, std::min(most, it.uncertainty));
    most = std::max(most, it.uncertainty);
    for (size_t i = 0; i < capture.interfaces.size(); ++i) {
      CapturedInterface interface = capture.interfaces[i];
      const std::string name = name_of(capture, i);
      interface.machine = capture.place.empty() ? capture.label + "/" + kThisMachine : node_part(capture.place);
      interface.name = owners[name].size() == 1 ? name : capture.label + "/" + name;
      interface.is_named = interface.name == own_name(capture, i);
      interface.hears = capture.hears;
      interface.time = {it.map(capture.clock.first), it.map(capture.clock.last)};
      interfaces_.push_back(std::move(interface));
    }
  }
  first_.push_back(interfaces_.size());
  uncertainty_ = most + second;
}

bool MergedCaptures::place(size_t n, CapturedFrame& frame) const {
  if (frame.interface >= first_[n + 1] - first_[n]) return false;
  frame.interface += static_cast<uint32_t>(first_[n]);
  frame.at = maps_[n](frame.at);
  return true;
}

std::vector<std::string> labels_of(const std::vector<std::string>& files) {
  std::map<std::string, size_t> names;
  const auto name = [](const std::string& file) { return file.substr(file.rfind('/') + 1); };
  for (const std::string& file : files) ++names[name(file)];
  std::vector<std::string> out;
  for (const std::string& file : files) {
    std::string label = names[name(file)] == 1 ? name(file) : file;
    std::ranges::replace(label, ':', '_');  // what stands before it would be a node
    out.push_back(std::move(label));
  }
  return out;
}

}  // namespace softspine::analysis::storm

// SPDX-License-Identifier: Apache-2.0
#include "control/report/junit_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/printable.hpp"
#include "control/telemetry/svg.hpp"

namespace softspine::control {
namespace {

std::string escaped(const std::string& text) {
  std::string lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines += printable(text.substr(begin, end - begin), end - begin);
    if (end < text.size()) lines += '\n';
    begin = end + 1;
  }
  return xml_escaped(lines);
}

std::string text_of(const JunitCase& it, const std::string& suite) {
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", escaped(suite),
                                escaped(it.name), it.seconds);
  if (!it.file.empty()) out += fmt::format(" file=\"{}\"", escaped(it.file));
  if (it.line > 0) out += fmt::format(" line=\"{}\"", it.line);
  if (it.failure.empty()) return out + "/>\n";
  const std::string words = escaped(it.failure);
  const char* const kind = it.is_error ? "error" : "failure";
  return out + fmt::format(">\n      <{0} message=\"{1}\">{1}</{0}>\n    </testcase>\n", kind, words);
}

}  // namespace

std::string junit_text(const std::string& suite, const std::vector<JunitCase>& cases, double seconds,
                       const std::string& output) {
  const auto count = [&cases](bool is_error) {
    return std::ranges::count_if(
        cases, [is_error](const JunitCase& it) { return !it.failure.empty() && it.is_error == is_error; });
  };
  const std::string numbers = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{:.3f}\"",
                                          cases.size(), count(false), count(true), seconds);
  std::string out =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"{1}\" {0}>\n",
                  numbers, escaped(suite));
  for (const JunitCase& it : cases) out += text_of(it, suite);
  if (!output.empty()) out += "    <system-out>" + escaped(output) + "</system-out>\n";
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// A value that the command line puts into a testbed: `run.seed=3`, `workload[0].qps=4`, `profiles.*.mtu=9000`.
//
// The path is that of error messages. Items of a list have numbers from 0 (`[0]` or `.0`), and `*` or `[*]` is every
// entry of a map or a list. A key that is not there is added, and so are maps that lead to it; an item that is not
// there is an error. The value is YAML: a word, `[1, 2]` or `{kind: ring}`. What an anchor holds is set for its
// aliases, too; below an alias nothing is set.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "control/document/document.hpp"

namespace softspine::control {

struct Setting {
  std::string path;
  std::string value;
};

// Of "PATH=VALUE".
std::expected<Setting, std::string> setting_of(std::string_view text);
// "PATH=VALUE"
std::string text_of(const Setting& setting);

// The document with the settings in it, one after the other; those that cannot be made are added to `log`. Set values
// have no line.
std::unique_ptr<const Document> with_settings(std::unique_ptr<const Document> document,
                                              std::span<const Setting> settings, ErrorLog& log);

}  // namespace softspine::control

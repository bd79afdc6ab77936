// SPDX-License-Identifier: Apache-2.0
#include "tools/command/app_description.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace softspine::tools {

using control::Json;

namespace {

Json names_of(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

Json option_json(const CLI::Option& option) {
  return {{"names", names_of(option)},
          {"value", option.get_type_size() == 0 ? "" : option.get_type_name()},
          {"description", option.get_description()}};
}

Json positional_json(const CLI::Option& option) {
  return {{"name", option.get_name(true)},
          {"value", option.get_type_name()},
          {"required", option.get_required()},
          {"repeated", option.get_items_expected_max() > 1},
          {"description", option.get_description()}};
}

}  // namespace

Json description_of(const CLI::App& app) {
  Json out = {{"name", app.get_name()},   {"description", app.get_description()}, {"footer", app.get_footer()},
              {"options", Json::array()}, {"positionals", Json::array()},         {"commands", Json::array()}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      out["positionals"].push_back(positional_json(*option));
    } else {
      out["options"].push_back(option_json(*option));
    }
  }
  for (const CLI::App* command : app.get_subcommands({})) out["commands"].push_back(description_of(*command));
  return out;
}

bool describe_if_asked(const CLI::App& app, int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != "--describe") return false;
  fmt::print("{}\n", description_of(app).dump(2));
  return true;
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/import_hash_command.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "control/document/text_file.hpp"
#include "control/document/words.hpp"
#include "control/rows/row_formats.hpp"
#include "control/telemetry/json.hpp"
#include "control/vendors/hash_reading.hpp"
#include "tools/command/complain.hpp"
#include "tools/softspine/error_list.hpp"

namespace softspine::tools {

using control::HashReading;
using control::Json;
using control::LineNote;

namespace {

constexpr size_t kLinesShown = 5;

struct ImportHashArguments {
  std::string file;
  bool json = false;
  bool all = false;
};

Status fail(const std::string& file, const std::vector<LineNote>& errors) {
  control::Errors list;
  for (const LineNote& note : errors) list.push_back({file, "", note.line, note.line > 0 ? 1 : 0, note.text});
  print_list(list);
  return Status::kWrongInput;
}

Json words_of(const std::vector<control::HashField>& fields) {
  Json out = Json::array();
  for (const control::HashField field : fields) out.push_back(control::word_of(field));
  return out;
}

Json udfs_json(const std::vector<dataplane::Udf>& udfs) {
  Json out = Json::array();
  for (const dataplane::Udf& udf : udfs) {
    Json match = Json::object();
    if (udf.l3_protocol) match["l3_protocol"] = *udf.l3_protocol;
    if (udf.l4_dst_port) match["l4_dst_port"] = *udf.l4_dst_port;
    out.push_back(
        {{"base", control::word_of(udf.base)}, {"offset", udf.offset}, {"length", udf.length}, {"match", match}});
  }
  return out;
}

// The further parts of the profile's `hash` and `lag_hash`: UDFs, hash objects.
void add_rest(const control::HashObjectFields& objects, const std::vector<dataplane::Udf>& udfs, Json& out) {
  if (!udfs.empty()) out["udf"] = udfs_json(udfs);
  for (size_t i = 0; i < objects.size(); ++i) {
    if (objects[i]) out[std::string(control::kHashObjectRows[i].first)] = {{"fields", words_of(*objects[i])}};
  }
}

// Only settings that were read; others stay with the profile.
Json hash_json(const HashReading& reading) {
  control::HashConfig hash;
  apply_reading(reading, hash);
  Json out = Json::object();
  if (reading.algorithm) out["algorithm"] = control::word_of(*reading.algorithm);
  if (reading.fields || reading.adds_qp) out["fields"] = words_of(hash.fields);
  if (reading.symmetric) out["symmetric"] = *reading.symmetric;
  if (reading.seed) out["seed"] = *reading.seed;
  if (reading.offset) out["offset"] = *reading.offset;
  add_rest(reading.objects, reading.udfs, out);
  return out;
}

// Settings of lines about LAGs alone.
Json lag_json(const HashReading& reading) {
  Json out = Json::object();
  if (reading.lag_algorithm) out["algorithm"] = control::word_of(*reading.lag_algorithm);
  if (reading.lag_fields) out["fields"] = words_of(*reading.lag_fields);
  if (reading.lag_seed) out["seed"] = *reading.lag_seed;
  add_rest(reading.lag_objects, reading.lag_udfs, out);
  return out;
}

Json notes_json(const std::vector<LineNote>& notes) {
  Json out = Json::array();
  for (const LineNote& note : notes) {
    Json one = note.line > 0 ? Json{{"line", note.line}} : Json::object();
    one["text"] = note.text;
    out.push_back(std::move(one));
  }
  return out;
}

// Flow style, which YAML and JSON have in common but for the quotes.
std::string yaml_of(const Json& value) {
  std::string out;
  const auto add = [&out](const std::string& item) { out += (out.empty() ? "" : ", ") + item; };
  if (value.is_array()) {
    for (const Json& each : value) add(yaml_of(each));
    return "[" + out + "]";
  }
  if (!value.is_object()) return value.is_string() ? value.get<std::string>() : value.dump();
  for (const auto& [key, each] : value.items()) add(key + ": " + yaml_of(each));
  return "{" + out + "}";
}

// As comments, so that the whole is YAML.
void print_notes(const char* title, const std::vector<LineNote>& notes, size_t most) {
  if (notes.empty()) return;
  fmt::print("# {}\n", title);
  for (size_t i = 0; i < std::min(notes.size(), most); ++i) {
    fmt::print("#   {}{}\n", notes[i].line > 0 ? fmt::format("{}: ", notes[i].line) : "",
               control::shown(notes[i].text));
  }
}

// Ours, not the file's words.
void print_own(const char* title, const std::vector<LineNote>& notes) {
  if (!notes.empty()) fmt::print("# {}\n", title);
  for (const LineNote& note : notes)
    fmt::print("#   {}{}\n", note.line > 0 ? fmt::format("{}: ", note.line) : "", note.text);
}

void print_profile(const ImportHashArguments& arguments, const HashReading& reading) {
  const size_t most = arguments.all ? SIZE_MAX : kLinesShown;
  fmt::print("# {}: {}, {} lines on hashing, {} others ignored\n", control::shown(arguments.file),
             row_of(*reading.vendor).name, reading.taken.size() + reading.partly.size() + reading.not_taken.size(),
             reading.ignored_count);
  print_notes("taken", reading.taken, SIZE_MAX);
  print_own("taken in part", reading.partly);
  print_own("not taken", reading.not_taken);
  print_own("left open", reading.remarks);
  print_notes(reading.ignored_count > most ? "ignored, the first" : "ignored", reading.ignored, most);
  std::string name = std::filesystem::path(arguments.file).stem().string();
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  if (name.empty() || !std::ranges::all_of(name, is_plain)) name = "imported";
  const Json lags = lag_json(reading);
  fmt::print("profiles:\n  {}: {{hash: {}{}}}\n", name, yaml_of(hash_json(reading)),
             lags.empty() ? "" : ", lag_hash: " + yaml_of(lags));
}

Status import_hash(const ImportHashArguments& arguments) {
  const auto text = control::read_text_file(arguments.file);
  if (!text) return fail(arguments.file, {{0, text.error()}});
  if (text->size() > control::kMaxTextBytes)
    return fail(arguments.file, {{0, fmt::format("is larger than {} MiB", control::kMaxTextBytes >> 20)}});
  const HashReading reading = control::read_hash(*text);
  if (!reading.errors.empty()) return fail(arguments.file, reading.errors);
  if (!arguments.json) {
    print_profile(arguments, reading);
    return Status::kDone;
  }
  const Json out{{"file", arguments.file},
                 {"vendor", row_of(*reading.vendor).name},
                 {"hash", hash_json(reading)},
                 {"lag_hash", lag_json(reading)},
                 {"taken", notes_json(reading.taken)},
                 {"taken_in_part", notes_json(reading.partly)},
                 {"not_taken", notes_json(reading.not_taken)},
                 {"left_open", notes_json(reading.remarks)},
                 {"ignored_lines", reading.ignored_count},
                 {"ignored", notes_json(reading.ignored)}};
  fmt::print("{}\n", out.dump(2, ' ', false, Json::error_handler_t::replace));
  return Status::kDone;
}

}  // namespace

void add_import_hash_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ImportHashArguments>();
  CLI::App* command = app.add_subcommand("import-hash", "the ECMP hash of a switch's configuration as a profile");
  command->footer(
      "Reads configurations of Cumulus Linux (nv commands, traffic.conf), Arista EOS, Cisco NX-OS, Junos (set and\n"
      "braces), SONiC (config switch-hash, Enterprise SONiC's ip load-share), OpenConfig (JSON). Whose it is follows\n"
      "from its lines.\n"
      "A testbed's profile reads the same file by `switch_config`; SONiC's JSON files by `config_db` and "
      "`switch_json`.\n"
      "Examples:\n"
      "  softspine import-hash leaf1.conf\n"
      "  softspine import-hash leaf1.conf > profiles.yaml       what is no YAML is a comment\n"
      "  softspine import-hash policy.json --json | jq .hash");
  command->add_option("FILE", arguments->file, "a switch's configuration")->required();
  command->add_flag("--all", arguments->all, "list every ignored line");
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments, &status] { status = import_hash(*arguments); });
}

}  // namespace softspine::tools

// SPDX-License-Identifier: Apache-2.0
// The sections of the page, each made of a recording's tables alone. A section that has nothing to say is empty.
#pragma once

#include <string>

#include "control/record/database.hpp"

namespace softspine::analysis::page {

using control::Database;

std::string overview_section(Database& recording);     // what was run, and the verdict
std::string heat_section(Database& recording);         // the fabric by tier, by how busy its links were
std::string pauses_section(Database& recording);       // who was paused when
std::string queues_section(Database& recording);       // the fullest queues over time
std::string groups_section(Database& recording);       // priority groups over time, and where they raise XOFF
std::string flows_section(Database& recording);        // completion times, and the slowest flows with their causes
std::string shares_section(Database& recording);       // how switches spread over their uplinks
std::string hash_section(Database& recording);         // what members of hash groups sent, and should have
std::string drops_section(Database& recording);        // by place and reason
std::string faults_section(Database& recording);       // what each cost
std::string collectives_section(Database& recording);  // bus bandwidths
std::string trainings_section(Database& recording);    // steps, compute and exposed communication
std::string waits_section(Database& recording);        // ranks that waited longest, and for what

// A picture that the recording has, as an image: nothing in it runs.
std::string picture(Database& recording, const std::string& name, const std::string& words);

}  // namespace softspine::analysis::page

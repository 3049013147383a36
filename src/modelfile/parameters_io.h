/// The numbers that are learned beside the tables, to and from the sections of a file: one for each
/// array.
#pragma once

#include <vector>

#include "modelfile/section_loader.h"
#include "store/section.h"
#include "tape/parameters.h"

namespace leveret::modelfile {

/// Appends sections that read the parameters when they are written.
void add_parameters(std::vector<store::SectionView>& sections, const tape::Parameters& parameters);

/// Fills arrays that have their shapes. std::runtime_error says what is wrong with the sections.
void load_parameters(tape::Parameters& parameters, SectionLoader& sections);

}  // namespace leveret::modelfile

/// What is learned beside the tables, to and from the sections of a file: one for each array.
#pragma once

#include <vector>

#include "block/parameters.h"
#include "modelfile/section_loader.h"
#include "store/section.h"

namespace leveret::modelfile {

/// Appends sections that read the parameters when they are written.
void add_parameters(std::vector<store::SectionView>& sections, const block::Parameters& parameters);

/// Fills arrays that have their shapes. std::runtime_error says what is wrong with the sections.
void load_parameters(block::Parameters& parameters, SectionLoader& sections);

}  // namespace leveret::modelfile

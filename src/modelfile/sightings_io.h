/// Counts of what training has seen of namespaces, to and from the sections of a file
/// (leveret-model(5)).
#pragma once

#include <vector>

#include "model/model.h"
#include "modelfile/section_loader.h"
#include "store/section.h"

namespace leveret::modelfile {

/// Appends the sections of a model that knows some; they keep what they read.
void add_sightings(std::vector<store::SectionView>& sections, const model::Model& model);

/// Fills those of a model that has its namespaces; a file without them knows nothing.
/// `lacks_features`: some that were learned are not in the file, so that how many were new says
/// nothing of how many it knows. std::runtime_error says what is wrong with the sections.
void load_sightings(const model::Model& model, SectionLoader& sections,
                    bool lacks_features = false);

}  // namespace leveret::modelfile

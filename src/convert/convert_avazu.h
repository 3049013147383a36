/// Avazu's click set (Kaggle 2014): comma separated, one header line, columns id, click, hour
/// (YYMMDDHH), C1, banner_pos, site_*, app_*, device_* and C14 to C21. Test files lack click.
#pragma once

#include "convert/convert_csv.h"

namespace leveret::convert {

/// Options for a CsvConverter that reads Avazu's files, with or without the header line: the id is
/// dropped, `hour` becomes the hour of the day, and all other columns, numbers as they look, are
/// categories under their own names.
CsvOptions avazu_options();

}  // namespace leveret::convert

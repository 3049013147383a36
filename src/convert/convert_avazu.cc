#include "convert/convert_avazu.h"

namespace leveret::convert {

CsvOptions avazu_options() {
  CsvOptions options;
  options.columns = {"id",         "click",        "hour",         "C1",
                     "banner_pos", "site_id",      "site_domain",  "site_category",
                     "app_id",     "app_domain",   "app_category", "device_id",
                     "device_ip",  "device_model", "device_type",  "device_conn_type",
                     "C14",        "C15",          "C16",          "C17",
                     "C18",        "C19",          "C20",          "C21"};
  options.header_begins = "id";
  options.label = "click";
  options.labels = CsvOptions::Labels::kIfThere;
  options.ignore = {"id"};
  options.hour = "hour";
  options.advises = false;
  return options;
}

}  // namespace leveret::convert

// The log density of a model of Stan and its gradient, as C functions. The model's own C++ is included before this file.
// Terms that no parameter changes are left out, as Stan's samplers do.
#include <cstdint>
#include <fstream>
#include <stan/io/json/json_data.hpp>
#include <stan/model/log_prob_grad.hpp>

extern "C" void* new_density(const char* file) {
  std::ifstream stream(file);
  stan::json::json_data data(stream);
  return &new_model(data, 0, &std::cerr);
}

extern "C" int64_t density(uint64_t count, const double* x, double* gradient, double* value, const void* model) {
  static thread_local Eigen::VectorXd point, slope;
  const auto& own = *static_cast<const stan_model*>(model);
  point = Eigen::Map<const Eigen::VectorXd>(x, count);
  try {
    *value = stan::model::log_prob_grad<true, true>(own, point, slope, nullptr);
  } catch (const std::exception&) {
    return 1;
  }
  Eigen::Map<Eigen::VectorXd>(gradient, count) = slope;
  return 0;
}

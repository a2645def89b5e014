// kernel.cuh: kernel declarations. Each kernel comes with NAME_parameters, an array whose length is the number of its
// parameters. The host queries that length from the driver (src/gpu/driver/module.rs); the array itself is never read.
#pragma once
namespace sr {
template <class Function> struct Parameters;
template <class... P> struct Parameters<void(P...)> { static constexpr unsigned int count = sizeof...(P); };
}  // namespace sr
#define DECLARED_KERNEL(NAME, ...)                                                            \
  extern "C" __global__ void NAME(__VA_ARGS__);                                               \
  extern "C" {                                                                                \
  __device__ unsigned char NAME##_parameters[sr::Parameters<decltype(NAME)>::count];          \
  }                                                                                           \
  extern "C" __global__ void

#define KERNEL(NAME, ...) DECLARED_KERNEL(NAME, __VA_ARGS__) NAME(__VA_ARGS__)
// With launch bounds, in parentheses: (threads, resident blocks).
#define BOUNDED_KERNEL(BOUNDS, NAME, ...) DECLARED_KERNEL(NAME, __VA_ARGS__) __launch_bounds__ BOUNDS NAME(__VA_ARGS__)

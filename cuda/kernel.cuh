// kernel.cuh: how a kernel begins. Beside each there is NAME_parameters, an array as long as the kernel has parameters:
// the host asks the driver for its length (src/gpu/driver/module.rs), and nothing ever reads it.
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
// With launch bounds, in brackets: (threads, blocks at a time).
#define BOUNDED_KERNEL(BOUNDS, NAME, ...) DECLARED_KERNEL(NAME, __VA_ARGS__) __launch_bounds__ BOUNDS NAME(__VA_ARGS__)

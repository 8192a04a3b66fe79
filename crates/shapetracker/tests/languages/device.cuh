// Nests and kernels, run on a GPU by nvcc or on the processor by any compiler of C++, and compared with what is expected.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __CUDACC__
#include <vector>

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

// Numbers on the device.
template <typename T> struct Numbers {
    T *at;
    size_t bytes;
    Numbers(const T *from, size_t count) : at(nullptr), bytes(count * sizeof(T)) {
        check(cudaMalloc((void **)&at, bytes + sizeof(T)), "cudaMalloc");
        check(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    void back(T *to) { check(cudaMemcpy(to, at, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy"); }
    ~Numbers() { cudaFree(at); }
};
#else
PROCESSOR
#define __device__
#endif

static int right, wrong;
static void compare(const char *name, long call, uint64_t found, uint64_t expected) {
    if (found == expected) { ++right; return; }
    if (++wrong <= 20)
        printf("%s, call %ld: %llu and not %llu\n", name, call, (unsigned long long)found, (unsigned long long)expected);
}

// Runs a nest for each call, which is a row of values.
template <typename Kernel>
static void nest(const char *name, Kernel kernel, const long long *values, int parameters, const unsigned long long *expected, int calls) {
    std::vector<unsigned long long> sums(calls, 1);
#ifdef __CUDACC__
    Numbers<long long> rows(values, (size_t)calls * parameters);
    Numbers<unsigned long long> out(sums.data(), calls);
    kernel<<<(calls + 255) / 256, 256>>>(rows.at, out.at, calls);
    check(cudaGetLastError(), name);
    check(cudaDeviceSynchronize(), name);
    out.back(sums.data());
#else
    (void)parameters;
    blockIdx.x = 0;
    for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) kernel(values, sums.data(), calls);
#endif
    for (int call = 0; call < calls; ++call) compare(name, call, sums[call], expected[call]);
}

// Runs a kernel on a buffer that holds 1, 2, 3 and so on, and compares the hash of all elements.
template <typename Kernel>
static void gather(const char *name, Kernel kernel, long inputs, long elements, unsigned long long expected) {
    float *in = (float *)aligned_alloc(128, (inputs * sizeof(float) + 255) / 128 * 128);
    float *out = (float *)aligned_alloc(128, (elements * sizeof(float) + 255) / 128 * 128);
    for (long i = 0; i < inputs; ++i) in[i] = (float)(i + 1);
    for (long i = 0; i < elements; ++i) out[i] = -1;
#ifdef __CUDACC__
    {
        Numbers<float> from(in, inputs), to(out, elements);
        kernel<<<(unsigned)((elements + 255) / 256 + 1), 256>>>(from.at, to.at);
        check(cudaGetLastError(), name);
        check(cudaDeviceSynchronize(), name);
        to.back(out);
    }
#else
    run(kernel, in, inputs, out, elements);
#endif
    uint64_t hash = START;
    for (long i = 0; i < elements; ++i) hash = (hash ^ (uint64_t)(int64_t)out[i]) * 0x100000001b3u;
    free(in);
    free(out);
    compare(name, 0, hash, expected);
}


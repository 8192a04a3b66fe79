// Runs a kernel `run(__global ulong *sums)` of an OpenCL program once for each of so many work-items, and prints the sums.
// Ends with 77 where there is no device.

#define CL_TARGET_OPENCL_VERSION 120
#define _POSIX_C_SOURCE 200809L
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static void check(cl_int error, const char *what) {
    if (error == CL_SUCCESS) return;
    fprintf(stderr, "%s: error %d\n", what, (int)error);
    exit(1);
}

static char *text_of(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(1);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (!text || fread(text, 1, *length, file) != *length) exit(1);
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    if (count != 3) return 1;
    cl_platform_id platforms[16];
    cl_uint found = 0;
    cl_device_id device = NULL;
    if (clGetPlatformIDs(16, platforms, &found) != CL_SUCCESS) found = 0;
    for (cl_uint at = 0; at < found && at < 16 && !device; ++at)
        if (clGetDeviceIDs(platforms[at], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) device = NULL;
    if (!device) {
        fprintf(stderr, "there is no device for OpenCL\n");
        return 77;
    }
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    fprintf(stderr, "%s\n", name);

    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");
    size_t length;
    const char *text = text_of(arguments[1], &length);
    cl_program program = clCreateProgramWithSource(context, 1, &text, &length, &error);
    check(error, "source");
    error = clBuildProgram(program, 1, &device, "-cl-std=CL1.2 -Werror", NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[1 << 20];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
        check(error, "build");
    }
    cl_kernel kernel = clCreateKernel(program, "run", &error);
    check(error, "kernel");
    size_t items = (size_t)atol(arguments[2]), bytes = items * sizeof(cl_ulong), one = 1;
    cl_ulong *sums = calloc(items, sizeof(cl_ulong));
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, sums, &error);
    check(error, "buffer");
    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "argument");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &one, 0, NULL, NULL), "start");
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, sums, 0, NULL, NULL), "read");
    for (size_t at = 0; at < items; ++at) printf("%llu\n", (unsigned long long)sums[at]);
    return 0;
}

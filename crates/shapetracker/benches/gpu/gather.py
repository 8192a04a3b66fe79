"""Generated CUDA kernels: compiled, checked and measured. See README.md; without a GPU they are only compiled."""

import ctypes
import glob
import json
import math
import re
import statistics
import subprocess
import sys
import sysconfig

# The chain of the command, and the same in PyTorch.
ROWS = [
    ("plain copy", "(8192, 8192)", lambda x: x.clone()),
    ("4096 x 4096", "(4096, 4096).T", lambda x: x.T),
    ("4097 x 4095", "(4097, 4095).T", lambda x: x.T),
    ("64 x 1024 x 512 (0, 2, 1)", "(64, 1024, 512).permute(0, 2, 1)", lambda x: x.permute(0, 2, 1)),
    ("257^3 reversed", "(257, 257, 257).permute(2, 1, 0)", lambda x: x.permute(2, 1, 0)),
    ("NCHW to NHWC", "(32, 64, 112, 112).permute(0, 2, 3, 1)", lambda x: x.permute(0, 2, 3, 1)),
    ("NHWC to NCHW", "(32, 112, 112, 64).permute(0, 3, 1, 2)", lambda x: x.permute(0, 3, 1, 2)),
    ("5-D reversed", "(32, 32, 32, 32, 32).permute(4, 3, 2, 1, 0)", lambda x: x.permute(4, 3, 2, 1, 0)),
    ("6-D reversed", "(16, 16, 16, 16, 16, 16).permute(5, 4, 3, 2, 1, 0)", lambda x: x.permute(5, 4, 3, 2, 1, 0)),
    ("middle axes exchanged", "(64, 512, 8, 64).permute(0, 2, 1, 3)", lambda x: x.permute(0, 2, 1, 3)),
    ("padded and transposed", "(4000, 4000).pad((48, 48), (48, 48)).T",
     lambda x: __import__("torch").nn.functional.pad(x, (48, 48, 48, 48)).T),
    ("reshape of a transpose", "(4096, 4096).T.reshape(8192, 2048)", lambda x: x.T.reshape(8192, 2048)),
    ("reshape of a transpose, flat", "(4096, 4096).T.reshape(16777216)", lambda x: x.T.reshape(-1)),
    ("im2col by taps", "(16, 64, 58, 58).unfold(2, 3, 1).unfold(3, 3, 1).permute(0, 1, 4, 5, 2, 3)",
     lambda x: x.unfold(2, 3, 1).unfold(3, 3, 1).permute(0, 1, 4, 5, 2, 3)),
    ("im2col by pixels", "(16, 64, 58, 58).unfold(2, 3, 1).unfold(3, 3, 1).permute(0, 2, 3, 1, 4, 5)",
     lambda x: x.unfold(2, 3, 1).unfold(3, 3, 1).permute(0, 2, 3, 1, 4, 5)),
]


def kernel(command, chain):
    """The kernel of a chain, its blocks of 256 threads, and the shape that it writes."""
    answer = subprocess.run([command, "index", chain, "--lang", "cuda", "--kernel", "--json"],
                            check=True, capture_output=True, text=True)
    answer = json.loads(answer.stdout)
    text = answer["code"]
    blocks = re.search(r"^// Start (\d+) blocks", text)
    threads = re.search(r"^// Start at least (\d+) threads", text)
    threads = int(threads[1]) if threads else math.prod(answer["shape"])
    return text, int(blocks[1]) if blocks else -(-threads // 256), answer["shape"]


def way(text):
    return "tiles" if "__shared__" in text else "fours" if "float4" in text else "single"


class Nvrtc:
    def __init__(self):
        places = [f"{sysconfig.get_paths()['purelib']}/nvidia/*/lib/libnvrtc.so.*"]
        found = [path for place in places for path in sorted(glob.glob(place)) if ".alt." not in path]
        self.lib = ctypes.CDLL((found or ["libnvrtc.so"])[0])

    def compile(self, text, architecture):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"gather.cu", 0, None, None)
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
        failed = self.lib.nvrtcCompileProgram(program, 1, options)
        self.lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.lib.nvrtcGetProgramLog(program, log)
        if failed or log.value.strip():
            raise SystemExit(f"{log.value.decode()}\n{text}")
        self.lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
        binary = ctypes.create_string_buffer(size.value)
        self.lib.nvrtcGetCUBIN(program, binary)
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return binary.raw


def gpu():
    """PyTorch, if it has a GPU."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def loaded(binary):
    """A function that starts a kernel."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        error = getattr(cuda, name)(*arguments)
        if error:
            raise SystemExit(f"{name}: error {error}")

    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), binary)
    call("cuModuleGetFunction", ctypes.byref(function), module, b"gather")

    def start(stream, blocks, source, target):
        pointers = [ctypes.c_void_p(source.data_ptr()), ctypes.c_void_p(target.data_ptr())]
        arguments = (ctypes.c_void_p * 2)(*[ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in pointers])
        call("cuLaunchKernel", function, blocks, 1, 1, 256, 1, 1, 0, ctypes.c_void_p(stream), arguments, None)

    return start


def milliseconds(torch, run):
    """The median of 50 runs."""
    for _ in range(10):
        run()
    times = []
    for _ in range(50):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def main(command):
    nvrtc, torch = Nvrtc(), gpu()
    if torch is None:
        for name, chain, _ in ROWS:
            text, blocks, _ = kernel(command, chain)
            for architecture in ["sm_80", "sm_90"]:
                nvrtc.compile(text, architecture)
            print(f"{name}: {way(text)}, {blocks} blocks")
        print("there is no GPU: the kernels were compiled and not run")
        return
    torch.zeros(1, device="cuda")  # Modules are loaded into PyTorch's context, which this makes.
    major, minor = torch.cuda.get_device_capability()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    print("| row | way | kernel GB/s | of a device copy | contiguous() of a device copy |")
    print("|---|---|---|---|---|")
    for name, chain, in_torch in ROWS:
        text, blocks, shape = kernel(command, chain)
        start = loaded(nvrtc.compile(text, f"sm_{major}{minor}"))
        base = [int(size) for size in re.match(r"\(([^)]*)\)", chain)[1].split(",")]
        source = torch.rand(base, device="cuda")
        target = torch.full(shape, -1.0, device="cuda")
        start(torch.cuda.current_stream().cuda_stream, blocks, source, target)
        torch.cuda.synchronize()
        if not torch.equal(target, in_torch(source)):
            raise SystemExit(f"{name}: the kernel is wrong\n{text}")
        other = torch.rand(shape, device="cuda")
        copy = milliseconds(torch, lambda: target.copy_(other))
        theirs = milliseconds(torch, lambda: in_torch(source).contiguous())
        ours = milliseconds(torch, lambda: start(torch.cuda.current_stream().cuda_stream, blocks, source, target))
        speed = 2 * 4 * math.prod(shape) / ours / 1e6
        print(f"| {name} | {way(text)} | {speed:.0f} | {copy / ours:.2f} | {copy / theirs:.2f} |")


main(sys.argv[1] if len(sys.argv) > 1 else "shapetracker")

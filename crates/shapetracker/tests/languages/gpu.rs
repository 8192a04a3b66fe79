//! CUDA kernels on the processor: how blocks of threads run there, and what their accesses to memory cost a GPU.

use std::fmt::Write;

use shapetracker::ShapeTracker;
use shapetracker::expr::Language;

use crate::cases::Case;
use crate::oracle::RawView;
use crate::programs::c_head;
use crate::tools::{Tool, hash};
use shapetracker_testing::Rng;

/// What a kernel in CUDA needs of CUDA.
///
/// A block runs its threads one after the other. The first time each goes as far as the barrier; if there is one, all run again,
/// and past it. Up to the barrier a thread reads what nobody writes and writes what it wrote the first time, so that the second run
/// changes nothing. What shared memory held is destroyed after each block. Every float knows when it is read or written: lanes of
/// a warp that access memory in the same step do so in one instruction, of which the largest number of accesses to one bank and
/// the sectors of 32 bytes are counted.
pub(crate) const CUDA: &str = r#"
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>
#define __global__
#define __launch_bounds__(threads)
#define __shared__ static
struct Place { unsigned x, y, z; };
static Place threadIdx, blockIdx;
static const Place blockDim = {256, 1, 1};

struct Barrier {};
static bool stops;
static unsigned waiting;
static inline void __syncthreads() { ++waiting; if (stops) throw Barrier(); }

enum Kind { READ, WRITE, READ_SHARED, WRITE_SHARED };
struct Access { uintptr_t at; unsigned bytes; };
static std::vector<Access> accesses[4][256];
static uintptr_t in_begin, in_end, out_begin, out_end;
static void access(bool writes, const void *address, unsigned bytes) {
    const uintptr_t at = (uintptr_t)address;
    const bool in = in_begin <= at && at < in_end, out = out_begin <= at && at < out_end;
    if (writes ? in : out) { printf("a wrong direction\n"); exit(1); }
    accesses[in ? READ : out ? WRITE : writes ? WRITE_SHARED : READ_SHARED][threadIdx.x].push_back({at, bytes});
}

struct Float {
    float value;
    operator float() const { access(false, this, 4); return value; }
    void operator=(float other) { access(true, this, 4); value = other; }
    void operator=(const Float &other) { *this = (float)other; }
};
struct alignas(16) float4 {
    float x, y, z, w;
    void operator=(float4 other) { access(true, this, 16); x = other.x; y = other.y; z = other.z; w = other.w; }
    float4(float x, float y, float z, float w) : x(x), y(y), z(z), w(w) {}
    float4(const float4 &other) : x(other.x), y(other.y), z(other.z), w(other.w) { access(false, &other, 16); }
};
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

static size_t most_in_a_bank, sectors[2], floats[2];
static void count() {
    for (unsigned warp = 0; warp < 256; warp += 32)
        for (int kind = 0; kind < 4; ++kind) {
            size_t steps = 0;
            for (unsigned lane = 0; lane < 32; ++lane) steps = std::max(steps, accesses[kind][warp + lane].size());
            for (size_t step = 0; step < steps; ++step) {
                std::set<uintptr_t> words, parts;
                for (unsigned lane = 0; lane < 32; ++lane)
                    if (step < accesses[kind][warp + lane].size()) {
                        const Access one = accesses[kind][warp + lane][step];
                        words.insert(one.at / 4), parts.insert(one.at / 32);
                        if (kind <= WRITE) floats[kind] += one.bytes / 4;
                    }
                if (kind <= WRITE) { sectors[kind] += parts.size(); continue; }
                size_t banks[32] = {};
                for (uintptr_t word : words) most_in_a_bank = std::max(most_in_a_bank, ++banks[word % 32]);
            }
        }
}

template <typename Kernel> static void run_block(Kernel kernel, const Float *in, Float *out) {
    waiting = 0;
    for (int time = 0; time < 2; ++time) {
        stops = time == 0;
        for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) {
            for (auto &kind : accesses) kind[threadIdx.x].clear();
            try { kernel(in, out); } catch (Barrier) {}
        }
        if (waiting == 0) break;
        if (waiting % 256 != 0) { printf("some threads wait for others that do not\n"); exit(1); }
    }
    count();
    for (auto &thread : accesses[WRITE_SHARED])
        for (Access one : thread) ((Float *)one.at)->value = NAN;
}

// As many threads as there are elements, and more.
template <typename Kernel> static void run(Kernel kernel, float *in, long inputs, float *out, long elements) {
    in_begin = (uintptr_t)in, in_end = (uintptr_t)(in + inputs), out_begin = (uintptr_t)out, out_end = (uintptr_t)(out + elements);
    most_in_a_bank = sectors[0] = sectors[1] = floats[0] = floats[1] = 0;
    for (blockIdx.x = 0; blockIdx.x < (elements + 255) / 256 + 1; ++blockIdx.x) run_block(kernel, (Float *)in, (Float *)out);
}
"#;

/// A kernel whose floats are counted.
pub(crate) fn counted(kernel: &str) -> String {
    format!("#define float Float\n{kernel}#undef float\n")
}

/// A tracker, and what it reads according to the oracle.
pub(crate) fn case(name: &str, tracker: &ShapeTracker) -> Case {
    let raw = tracker.views().iter().map(|view| RawView {
        shape: view.shape().to_vec(),
        strides: view.strides().to_vec(),
        offset: view.offset(),
        mask: view.mask().map(<[_]>::to_vec),
    });
    Case::new(name, &raw.collect::<Vec<_>>())
}

/// What a kernel wrote, and what that took.
struct Ran {
    hash: u64,
    /// The most accesses of one instruction to one bank of shared memory.
    in_a_bank: usize,
    /// The sectors of 32 bytes that instructions read and wrote, each in as many floats.
    read: [usize; 2],
    written: [usize; 2],
}

/// Runs the kernels of some cases; `None` where there is no compiler.
fn ran(what: &str, cases: &[Case]) -> Option<Vec<Ran>> {
    let tool = Tool::cpp()?;
    let (mut text, mut main) = (c_head() + CUDA, String::new());
    for (number, case) in cases.iter().enumerate() {
        let kernel = counted(&case.code.kernel(Language::Cuda).expect("there is a kernel"));
        let (inputs, elements) = (case.buffer_len(), case.addresses.len());
        let _ = writeln!(text, "#define gather gather_{number}\n{kernel}#undef gather\n");
        let _ = writeln!(main, "    test(gather_{number}, {inputs}, {elements});");
    }
    text += "template <typename Kernel> static void test(Kernel kernel, long inputs, long elements) {\n\
        float *in = (float *)aligned_alloc(128, (inputs * sizeof(float) + 127) / 128 * 128);\n\
        float *out = (float *)aligned_alloc(128, (elements * sizeof(float) + 127) / 128 * 128);\n\
        for (long i = 0; i < inputs; ++i) in[i] = (float)(i + 1);\n\
        for (long i = 0; i < elements; ++i) out[i] = -1;\n\
        run(kernel, in, inputs, out, elements);\n\
        for (long i = 0; i < elements; ++i) mix((int64_t)out[i]);\n\
        printf(\"%zu %zu %zu %zu %zu \", most_in_a_bank, sectors[0], floats[0], sectors[1], floats[1]);\n\
        free(in);\n    free(out);\n    show();\n}\n\n";
    let lines = tool.lines(what, &format!("{text}int main() {{\n{main}    return 0;\n}}\n"));
    assert_eq!(lines.len(), cases.len(), "{what}: every kernel prints a line");
    let read = |line: &String| {
        let mut words = line.split(' ');
        let mut number = || words.next().expect("a number").parse::<usize>().expect("a number");
        let (in_a_bank, read, written) = (number(), [number(), number()], [number(), number()]);
        let hash = u64::from_str_radix(words.next().expect("a hash"), 16).expect("a hash");
        Ran { hash, in_a_bank, read, written }
    };
    Some(lines.iter().map(read).collect())
}

/// How the kernel of a case moves elements.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Way {
    One,
    Four,
    Tile,
}

fn way(case: &Case) -> Way {
    let kernel = case.code.kernel(Language::Cuda).expect("there is a kernel");
    match (kernel.contains("__shared__"), kernel.contains("float4")) {
        (true, _) => Way::Tile,
        (_, true) => Way::Four,
        _ => Way::One,
    }
}

/// Every element is what it should be, and is written once. Through tiles no instruction needs a bank of shared memory twice, and
/// all of them together move at most twice the sectors that hold the elements.
fn check(cases: &[Case], ran: &[Ran]) {
    for (case, ran) in cases.iter().zip(ran) {
        let kernel = case.code.kernel(Language::Cuda).expect("there is a kernel");
        assert_eq!(ran.hash, hash(case.gathered()), "{}:\n{kernel}", case.name);
        assert!(ran.in_a_bank <= 1, "{}: {} accesses to one bank\n{kernel}", case.name, ran.in_a_bank);
        assert_eq!(ran.written[1], case.addresses.len(), "{}: each element is written once\n{kernel}", case.name);
        if way(case) == Way::Tile {
            let is_wasteful = |[sectors, floats]: [usize; 2]| sectors * 8 > floats * 2;
            let (read, written) = (ran.read, ran.written);
            assert!(!is_wasteful(read) && !is_wasteful(written), "{}: {read:?} {written:?}\n{kernel}", case.name);
        }
    }
}

/// Chains, how each is moved, and whether each sector that is read or written is so as a whole, and once.
fn chains() -> [(&'static str, Way, bool); 39] {
    use Way::{Four, One, Tile};
    [
        ("(64, 96).T", Tile, true),
        ("(96, 64).T.flip(0)", Tile, true),
        ("(96, 64).T.flip(0, 1)", Tile, true),
        ("(3, 64, 32, 2).permute(3, 2, 0, 1)", Tile, true),
        ("(3, 8, 64, 32).permute(0, 2, 3, 1)", One, false),
        ("(3, 32, 64, 32).permute(0, 2, 3, 1)", Tile, true),
        ("(3, 64, 32, 32).permute(0, 3, 1, 2)", Tile, true),
        ("(8, 4, 2, 8, 8).permute(4, 3, 2, 1, 0)", Tile, true),
        ("(4, 4, 4, 4, 4, 4).permute(5, 4, 3, 2, 1, 0)", Tile, true),
        ("(65, 33).T", Tile, false),
        ("(16, 16).T", Tile, false),
        ("(15, 64).T", One, false),
        ("(64, 15).T", One, false),
        ("(1, 47, 1, 38).permute(3, 1, 2, 0)", Tile, false),
        ("(40, 50).T.pad((1, 2), (3, 4))", Tile, false),
        ("(40, 50).pad((1, 2), (3, 4)).T", Tile, false),
        ("(40, 50).T.pad((0, 60), (0, 0))", Tile, false),
        ("(17, 2, 37).permute(2, 1, 0).expand(37, 2, 17).flip(1)", Tile, false),
        ("(64, 128).T.reshape(64, 128)", Tile, true),
        ("(64, 128).T.reshape(8192)", Tile, true),
        ("(48, 40).T.reshape(1920)", Tile, false),
        ("(8, 64, 32).permute(2, 1, 0).reshape(2048, 8).T.reshape(16384)", Tile, true),
        ("(64, 64).shrink((0, 64), (0, 40)).T", Tile, true),
        ("(64, 64).step(1, 2).T", One, false),
        ("(64, 64)", Four, true),
        ("(6, 8)", Four, true),
        ("(6, 8).flip(1)", One, false),
        ("(6, 4, 8).permute(1, 0, 2)", Four, true),
        ("(6, 4, 8).permute(1, 0, 2).reshape(192)", Four, true),
        ("(6, 8).pad((1, 1), (4, 8))", Four, false),
        ("(6, 8).pad((1, 1), (2, 2))", One, false),
        ("(6, 8).shrink((0, 6), (0, 6)).pad((0, 0), (0, 2))", One, false),
        ("(6, 8).shrink((0, 6), (2, 8)).pad((0, 0), (2, 0))", One, false),
        ("(6, 8).shrink((0, 6), (4, 8)).pad((0, 0), (4, 0))", Four, false),
        ("(6, 9).shrink((0, 6), (0, 8))", One, false),
        ("(6, 12).shrink((0, 6), (4, 12))", Four, false),
        ("(6, 12).shrink((0, 6), (2, 10))", One, false),
        ("(6, 8)[:, None].expand(6, 3, 8)", Four, false),
        ("(6, 1).expand(6, 8)", One, false),
    ]
}

/// These chains as cases.
pub(crate) fn moved() -> Vec<Case> {
    let of = |(chain, ..): (&str, Way, bool)| {
        let tracker = chain.parse::<shapetracker::Chain>().expect("a chain").tracker().expect("a tracker");
        case(chain, &tracker)
    };
    chains().into_iter().map(of).collect()
}

#[test]
fn kernels_of_tiles_and_of_fours() {
    let (chains, cases) = (chains(), moved());
    for (case, (chain, expected, _)) in cases.iter().zip(chains) {
        assert_eq!(way(case), expected, "{chain}");
    }
    let Some(ran) = ran("gpu", &cases) else { return };
    check(&cases, &ran);
    for (ran, (chain, way, whole)) in ran.iter().zip(chains) {
        let of = |[sectors, floats]: [usize; 2]| format!("{sectors} sectors for {floats} floats");
        println!("{chain}: {way:?}, reads {}, writes {}", of(ran.read), of(ran.written));
        if whole {
            assert_eq!((ran.read[0] * 8, ran.written[0] * 8), (ran.read[1], ran.written[1]), "{chain}");
        }
    }
}

/// A chain of random operations on a tensor of a few thousand elements.
pub(crate) fn random(rng: &mut Rng) -> ShapeTracker {
    let sizes = [1, 2, 3, 4, 5, 8, 12, 16, 17, 20, 31, 32, 33, 40, 64, 65];
    let mut shape = Vec::new();
    for _ in 0..2 + rng.index(3) {
        let room = 6_000 / shape.iter().product::<i64>().max(1);
        let fitting: Vec<i64> = sizes.into_iter().filter(|size| *size <= room).collect();
        shape.push(*rng.pick(&fitting));
    }
    let mut tracker = ShapeTracker::contiguous(&shape).expect("it is small");
    for _ in 0..1 + rng.index(4) {
        let shape = tracker.shape().to_vec();
        let axis = rng.index(shape.len());
        let changed = match rng.index(8) {
            0..3 => {
                let mut axes: Vec<i64> = (0..shape.len() as i64).collect();
                for place in (1..axes.len()).rev() {
                    axes.swap(place, rng.index(place + 1));
                }
                tracker.permute(&axes)
            }
            3 => tracker.flip([axis as i64]),
            4 => {
                let mut pads = vec![(0, 0); shape.len()];
                let by = *rng.pick(&[1, 4]);
                pads[axis] = (rng.index(3) as i64 * by, rng.index(3) as i64 * by);
                tracker.pad(&pads)
            }
            5 => {
                let mut ranges: Vec<(i64, i64)> = shape.iter().map(|size| (0, *size)).collect();
                let by = (*rng.pick(&[1, 4])).min(shape[axis] / 4);
                ranges[axis] = (by, shape[axis]);
                tracker.shrink(&ranges)
            }
            6 => {
                let mut joined = shape.clone();
                if axis + 1 < joined.len() {
                    let inner = joined.remove(axis + 1);
                    joined[axis] *= inner;
                }
                tracker.reshape(&joined)
            }
            _ => {
                let mut cut = shape.clone();
                let by = *rng.pick(&[2, 3, 4, 16]);
                if cut[axis] % by == 0 {
                    cut[axis] /= by;
                    cut.insert(axis + rng.index(2), by);
                }
                tracker.reshape(&cut)
            }
        };
        tracker = changed.expect("the operation fits the shape");
    }
    tracker
}

#[test]
fn random_kernels() {
    let mut rng = Rng(0x6e0);
    let cases: Vec<Case> =
        (0..240).map(|_| random(&mut rng)).map(|tracker| case(&tracker.to_string(), &tracker)).collect();
    let count = |expected: Way| cases.iter().filter(|case| way(case) == expected).count();
    println!("{} of single elements, {} of four, {} of tiles", count(Way::One), count(Way::Four), count(Way::Tile));
    assert!([Way::One, Way::Four, Way::Tile].iter().all(|way| count(*way) >= 30));
    let Some(ran) = ran("gpu_random", &cases) else { return };
    check(&cases, &ran);
}

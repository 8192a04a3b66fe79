//! How each method is called: the lines that its page is about. What they do is asked of the library.

use shapetracker::ArrayLibrary;

/// A line that calls a method on an array `x`.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The name of the method, as in [`shapetracker::Method`] or [`shapetracker::MovementKind::names`].
    pub method: &'static str,
    /// Whose arrays `x` is one of; `None` for the notation of this library, which stands for both.
    pub of: Option<ArrayLibrary>,
    /// The shape of `x`, whose sizes may be names.
    pub shape: &'static [&'static str],
    /// The line.
    pub code: &'static str,
}

const P: Option<ArrayLibrary> = Some(ArrayLibrary::PyTorch);
const N: Option<ArrayLibrary> = Some(ArrayLibrary::NumPy);

const BTC: &[&str] = &["B", "T", "C"];
const ONE: &[&str] = &["1", "T", "C"];
const EVEN: &[&str] = &["B", "T", "2*C"];
const MATRIX: &[&str] = &["H", "W"];
const MATRICES: &[&str] = &["B", "H", "W"];
const WINDOWS: &[&str] = &["B", "T + 1"];
/// Whether `to` copies depends on strides, which are followed in numbers only.
const IMAGES: &[&str] = &["2", "3", "2", "4"];

const fn call(
    method: &'static str,
    of: Option<ArrayLibrary>,
    shape: &'static [&'static str],
    code: &'static str,
) -> Call {
    Call { method, of, shape, code }
}

/// All of them, those of a method together.
pub const CALLS: &[Call] = &[
    call("reshape", P, BTC, "x.reshape(B, T*C)"),
    call("reshape", N, BTC, "x.reshape(B, T*C)"),
    call("view", P, BTC, "x.view(B, T*C)"),
    call("permute", P, BTC, "x.permute(0, 2, 1)"),
    call("transpose", P, BTC, "x.transpose(1, 2)"),
    call("transpose", N, BTC, "x.transpose(0, 2, 1)"),
    call("expand", P, ONE, "x.expand(B, T, C)"),
    call("broadcast_to", N, ONE, "np.broadcast_to(x, (B, T, C))"),
    call("broadcast_to", P, ONE, "torch.broadcast_to(x, (B, T, C))"),
    call("pad", N, MATRIX, "np.pad(x, ((0, 0), (1, 2)))"),
    call("pad", P, MATRIX, "F.pad(x, (1, 2))"),
    call("shrink", None, EVEN, "x.shrink((0, B), (0, T), (C, 2*C))"),
    call("flip", P, MATRIX, "x.flip(1)"),
    call("flip", N, MATRIX, "np.flip(x, 1)"),
    call("step", None, EVEN, "x.step(1, 1, 2)"),
    call("slice", None, EVEN, "x.slice(:, :, C:)"),
    call("squeeze", P, ONE, "x.squeeze(0)"),
    call("squeeze", N, ONE, "x.squeeze(0)"),
    call("unsqueeze", P, MATRIX, "x.unsqueeze(1)"),
    call("as_strided", P, MATRIX, "x.as_strided((W, H), (1, W))"),
    call("contiguous", P, BTC, "x.contiguous()"),
    call("copy", N, BTC, "x.copy()"),
    call("T", N, MATRIX, "x.T"),
    call("T", P, MATRIX, "x.T"),
    call("mT", N, MATRICES, "x.mT"),
    call("mT", P, MATRICES, "x.mT"),
    call("t", P, MATRIX, "x.t()"),
    call("swapaxes", N, BTC, "x.swapaxes(1, 2)"),
    call("swapaxes", P, BTC, "x.swapaxes(1, 2)"),
    call("swapdims", P, BTC, "x.swapdims(1, 2)"),
    call("moveaxis", N, BTC, "np.moveaxis(x, 0, 2)"),
    call("moveaxis", P, BTC, "x.moveaxis(0, 2)"),
    call("movedim", P, BTC, "x.movedim(0, 2)"),
    call("rollaxis", N, BTC, "np.rollaxis(x, 2, 0)"),
    call("permute_dims", N, BTC, "np.permute_dims(x, (0, 2, 1))"),
    call("matrix_transpose", N, MATRICES, "np.matrix_transpose(x)"),
    call("flatten", P, BTC, "x.flatten(1, 2)"),
    call("flatten", N, BTC, "x.flatten()"),
    call("ravel", N, BTC, "x.ravel()"),
    call("ravel", P, BTC, "x.ravel()"),
    call("view_as", P, BTC, "x.view_as(torch.zeros(B, T*C))"),
    call("reshape_as", P, BTC, "x.reshape_as(torch.zeros(B, T*C))"),
    call("expand_as", P, ONE, "x.expand_as(torch.zeros(B, T, C))"),
    call("unflatten", P, &["B", "H*D"], "x.unflatten(1, (H, D))"),
    call("expand_dims", N, MATRIX, "np.expand_dims(x, 1)"),
    call("narrow", P, EVEN, "x.narrow(2, C, C)"),
    call("select", P, BTC, "x.select(1, 0)"),
    call("chunk", P, EVEN, "x.chunk(2, 2)[1]"),
    call("split", P, EVEN, "x.split(C, 2)[1]"),
    call("split", N, EVEN, "np.split(x, 2, 2)[1]"),
    call("tensor_split", P, EVEN, "x.tensor_split(2, 2)[1]"),
    call("array_split", N, EVEN, "np.array_split(x, 2, 2)[1]"),
    call("hsplit", N, &["H", "2*W"], "np.hsplit(x, 2)[1]"),
    call("hsplit", P, &["H", "2*W"], "x.hsplit(2)[1]"),
    call("vsplit", N, &["2*H", "W"], "np.vsplit(x, 2)[1]"),
    call("vsplit", P, &["2*H", "W"], "x.vsplit(2)[1]"),
    call("dsplit", N, EVEN, "np.dsplit(x, 2)[1]"),
    call("dsplit", P, EVEN, "x.dsplit(2)[1]"),
    call("unbind", P, BTC, "x.unbind(1)[0]"),
    call("unfold", P, WINDOWS, "x.unfold(1, 2, 1)"),
    call("sliding_window_view", N, WINDOWS, "sliding_window_view(x, 2, 1)"),
    call("diagonal", N, &["H", "H"], "x.diagonal()"),
    call("diagonal", P, &["H", "H"], "x.diagonal()"),
    call("fliplr", N, MATRIX, "np.fliplr(x)"),
    call("fliplr", P, MATRIX, "x.fliplr()"),
    call("flipud", N, MATRIX, "np.flipud(x)"),
    call("flipud", P, MATRIX, "x.flipud()"),
    call("rot90", N, MATRIX, "np.rot90(x)"),
    call("rot90", P, MATRIX, "x.rot90()"),
    call("rearrange", P, BTC, "rearrange(x, 'b t c -> b (t c)')"),
    call("rearrange", N, BTC, "rearrange(x, 'b t c -> b (t c)')"),
    call("repeat", P, MATRIX, "x.repeat(2, 1)"),
    call("repeat", P, MATRIX, "repeat(x, 'h w -> h w c', c=3)"),
    call("tile", N, MATRIX, "np.tile(x, (2, 1))"),
    call("tile", P, MATRIX, "x.tile(2, 1)"),
    call("repeat_interleave", P, MATRIX, "x.repeat_interleave(2, 1)"),
    call("pixel_shuffle", P, &["4*C", "H", "W"], "F.pixel_shuffle(x, 2)"),
    call("pixel_unshuffle", P, &["C", "2*H", "2*W"], "F.pixel_unshuffle(x, 2)"),
    call("roll", N, MATRIX, "np.roll(x, 1, 1)"),
    call("roll", P, MATRIX, "x.roll(1, 1)"),
    call("to", P, IMAGES, "x.to(memory_format=torch.channels_last)"),
    call("clone", P, BTC, "x.clone()"),
    call("astype", N, BTC, "x.astype(np.float32)"),
    call("array", N, BTC, "np.array(x)"),
    call("asarray", N, BTC, "np.asarray(x)"),
    call("asanyarray", N, BTC, "np.asanyarray(x)"),
    call("detach", P, BTC, "x.detach()"),
    call("requires_grad_", P, BTC, "x.requires_grad_()"),
    call("numpy", P, BTC, "x.numpy()"),
    call("from_numpy", N, BTC, "torch.from_numpy(x)"),
    call("asfortranarray", N, MATRIX, "np.asfortranarray(x)"),
    call("reinterpret_tensor", P, MATRIX, "reinterpret_tensor(x, (W, H), (1, W))"),
    call("ascontiguousarray", N, BTC, "np.ascontiguousarray(x)"),
];

/// An array that a line may be called on: how it lies, in words, and the line that makes it.
#[derive(Clone, Debug)]
pub struct Given {
    /// How it lies.
    pub lies: &'static str,
    /// The line that makes `x`.
    pub code: String,
}

impl Call {
    /// The arrays that the line is called on, all of one shape.
    pub fn arrays(&self) -> Vec<Given> {
        let zeros = |sizes: &[String]| match self.of {
            P => format!("torch.zeros({})", sizes.join(", ")),
            N => format!("np.zeros(({}{}))", sizes.join(", "), if sizes.len() == 1 { "," } else { "" }),
            _ => format!("({})", sizes.join(", ")),
        };
        let shape: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        let last = shape.len() - 1;
        let mut arrays = vec![Given { lies: "in row-major order", code: zeros(&shape) }];
        if last > 0 {
            let mut swapped = shape.clone();
            swapped.swap(last - 1, last);
            let method = if self.of == N { "swapaxes" } else { "transpose" };
            arrays.push(Given { lies: "transposed", code: format!("{}.{method}(-2, -1)", zeros(&swapped)) });
        }
        let mut wide = shape.clone();
        wide[last] = match shape[last].as_str() {
            size if size.chars().all(char::is_alphabetic) => format!("2*{size}"),
            size => size.parse().map_or_else(|_| format!("2*({size})"), |size: i64| (2 * size).to_string()),
        };
        arrays.push(Given {
            lies: "the left half of a wider one",
            code: format!("{}[..., :{}]", zeros(&wide), shape[last]),
        });
        let mut one = shape.clone();
        if one[0] != "1" {
            one[0] = "1".into();
            let list = shape.join(", ");
            let code = match self.of {
                N => format!("np.broadcast_to({}, ({list}))", zeros(&one)),
                _ => format!("{}.expand({list})", zeros(&one)),
            };
            arrays.push(Given { lies: "one slice, repeated", code });
        }
        for given in &mut arrays {
            given.code = format!("x = {}", given.code);
        }
        arrays
    }

    /// The line behind the one that makes its array.
    pub fn on(&self, given: &Given) -> String {
        format!("{}\n{}", given.code, self.code)
    }

    /// The libraries that the page speaks of.
    pub fn libraries(&self) -> Vec<ArrayLibrary> {
        self.of.map_or_else(|| vec![ArrayLibrary::PyTorch, ArrayLibrary::NumPy], |library| vec![library])
    }
}

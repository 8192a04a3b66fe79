//! The rows of the table: data, and nothing else.

/// A copy that is measured.
pub(crate) struct Row {
    /// What the table calls it; the words of the command line are sought in it.
    pub(crate) name: &'static str,
    /// The layout, in the library's notation.
    pub(crate) chain: &'static str,
    /// The same in NumPy.
    pub(crate) numpy: NumPy,
    /// The same in OpenCV, from the image `x` into `out`, where it has a function for it.
    pub(crate) opencv: Option<&'static str>,
    /// What HPTT is reported to reach with f32, as a fraction of memcpy; it is not run here.
    pub(crate) hptt: &'static str,
    /// What the row's cells say.
    pub(crate) unit: Unit,
}

/// What NumPy does to copy the tensor `x` into `out`, which is contiguous and has the layout's shape.
#[derive(Clone, Copy)]
pub(crate) enum NumPy {
    /// One copy of a view.
    View(&'static str),
    /// Several, because what the layout says is no single view: what is made once, and what is measured.
    Chain(&'static str, &'static str),
}

/// How a time is shown.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// As a fraction of the speed of memcpy.
    Fraction,
    /// As nanoseconds a copy, where calls cost more than bytes.
    Nanoseconds,
}

const fn view(name: &'static str, chain: &'static str, numpy: &'static str, hptt: &'static str) -> Row {
    Row { name, chain, numpy: NumPy::View(numpy), opencv: None, hptt, unit: Unit::Fraction }
}

const fn chain(name: &'static str, chain: &'static str, once: &'static str, measured: &'static str) -> Row {
    Row { name, chain, numpy: NumPy::Chain(once, measured), opencv: None, hptt: "", unit: Unit::Fraction }
}

const fn small(name: &'static str, chain: &'static str, numpy: NumPy) -> Row {
    Row { name, chain, numpy, opencv: None, hptt: "", unit: Unit::Nanoseconds }
}

/// Of images, whose elements are bytes.
const fn pixels(name: &'static str, chain: &'static str, numpy: NumPy, opencv: &'static str) -> Row {
    Row { name, chain, numpy, opencv: Some(opencv), hptt: "", unit: Unit::Fraction }
}

impl Row {
    /// Whether it is measured with elements of a type; those of images are bytes.
    pub(crate) fn is_of(&self, elements: &str) -> bool {
        self.opencv.is_none() || elements == "u8"
    }
}

/// All rows, in the order of the table.
pub(crate) const ROWS: &[Row] = &[
    view("plain copy, 4096 x 4096", "(4096, 4096)", "x", ""),
    view("transpose, 4096 x 4096", "(4096, 4096).permute(1, 0)", "x.T", "0.39"),
    view("transpose, 4097 x 4095", "(4097, 4095).permute(1, 0)", "x.T", "0.27"),
    view("axes (0, 2, 1), 64 x 1024 x 512", "(64, 1024, 512).permute(0, 2, 1)", "x.transpose(0, 2, 1)", "0.55"),
    view("3-D reversed, 257 x 257 x 257", "(257, 257, 257).permute(2, 1, 0)", "x.T", "0.34"),
    view(
        "NCHW to NHWC, 32 x 64 x 112 x 112",
        "(32, 64, 112, 112).permute(0, 2, 3, 1)",
        "x.transpose(0, 2, 3, 1)",
        "0.46",
    ),
    view(
        "NHWC to NCHW, 32 x 112 x 112 x 64",
        "(32, 112, 112, 64).permute(0, 3, 1, 2)",
        "x.transpose(0, 3, 1, 2)",
        "0.51",
    ),
    view("5-D reversed, 24 x 28 x 30 x 26 x 32", "(24, 28, 30, 26, 32).permute(4, 3, 2, 1, 0)", "x.T", "0.51"),
    view(
        "6-D reversed, 16 x 18 x 12 x 14 x 20 x 16",
        "(16, 18, 12, 14, 20, 16).permute(5, 4, 3, 2, 1, 0)",
        "x.T",
        "0.56",
    ),
    view("broadcast of a row, 4096 x 4096", "(1, 4096).expand(4096, 4096)", "np.broadcast_to(x, out.shape)", ""),
    view("broadcast of a column, 4096 x 4096", "(4096, 1).expand(4096, 4096)", "np.broadcast_to(x, out.shape)", ""),
    view("rows backwards, x[:, ::-1] of 4096 x 4096", "(4096, 4096).flip(1)", "x[:, ::-1]", ""),
    view("strided slice, x[:, ::2] of 4096 x 8192", "(4096, 8192).step(1, 2)", "x[:, ::2]", ""),
    chain(
        "im2col 3 x 3, padding 1, 8 x 64 x 56 x 56, by taps",
        "(8, 64, 56, 56).pad((0, 0), (0, 0), (1, 1), (1, 1))
            .as_strided((8, 64, 3, 3, 56, 56), (215296, 3364, 58, 1, 58, 1))",
        "
padded = np.zeros((8, 64, 58, 58), x.dtype)
windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3)).transpose(0, 1, 4, 5, 2, 3)
",
        "
padded[:, :, 1:-1, 1:-1] = x
np.copyto(out, windows)
",
    ),
    chain(
        "im2col 3 x 3, padding 1, 8 x 64 x 56 x 56, by pixels",
        "(8, 64, 56, 56).pad((0, 0), (0, 0), (1, 1), (1, 1))
            .as_strided((8, 56, 56, 64, 3, 3), (215296, 58, 1, 3364, 58, 1))",
        "
padded = np.zeros((8, 64, 58, 58), x.dtype)
windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3)).transpose(0, 2, 3, 1, 4, 5)
",
        "
padded[:, :, 1:-1, 1:-1] = x
np.copyto(out, windows)
",
    ),
    chain(
        "reshape of a transpose, 4095 x 4096",
        "(4095, 4096).permute(1, 0).reshape(4095, 4096)",
        "whole = out.reshape(4096, 4095)",
        "np.copyto(whole, x.T)",
    ),
    chain(
        "reshaped transpose transposed, 4096 x 4096, an axis splits",
        "(4096, 4096).permute(1, 0).reshape(2048, 8192).permute(1, 0)",
        "between = np.zeros((4096, 4096), x.dtype)",
        "
np.copyto(between, x.T)
np.copyto(out, between.reshape(2048, 8192).T)
",
    ),
    chain(
        "reshaped transpose transposed, 4095 x 4096, no axis splits",
        "(4095, 4096).permute(1, 0).reshape(4095, 4096).permute(1, 0)",
        "between = np.zeros((4096, 4095), x.dtype)",
        "
np.copyto(between, x.T)
np.copyto(out, between.reshape(4095, 4096).T)
",
    ),
    pixels(
        "pixels of 3 bytes, transpose, 4096 x 4096",
        "(4096, 4096, 3).permute(1, 0, 2)",
        NumPy::View("x.transpose(1, 0, 2)"),
        "cv2.transpose(x, out)",
    ),
    pixels(
        "pixels of 3 bytes, flipped, 4096 x 4096",
        "(4096, 4096, 3).flip(1)",
        NumPy::View("x[:, ::-1]"),
        "cv2.flip(x, 1, out)",
    ),
    pixels(
        "pixels of 3 bytes, turned by 90 degrees, 4096 x 4096",
        "(4096, 4096, 3).permute(1, 0, 2).flip(1)",
        NumPy::View("x.transpose(1, 0, 2)[:, ::-1]"),
        "cv2.rotate(x, cv2.ROTATE_90_CLOCKWISE, out)",
    ),
    pixels(
        "pixels of 3 bytes to 3 planes, 4096 x 4096",
        "(4096, 4096, 3).permute(2, 0, 1)",
        NumPy::View("x.transpose(2, 0, 1)"),
        "cv2.split(x, list(out))",
    ),
    pixels(
        "3 planes to pixels of 3 bytes, 4096 x 4096",
        "(3, 4096, 4096).permute(1, 2, 0)",
        NumPy::View("x.transpose(1, 2, 0)"),
        "cv2.merge(list(x), out)",
    ),
    pixels(
        "RGB to BGR, 4096 x 4096",
        "(4096, 4096, 3).flip(2)",
        NumPy::View("x[:, :, ::-1]"),
        "cv2.cvtColor(x, cv2.COLOR_RGB2BGR, out)",
    ),
    pixels(
        "pixels of 3 bytes with a border of 16, 4096 x 4096",
        "(4096, 4096, 3).pad((16, 16), (16, 16), (0, 0))",
        NumPy::Chain("", "out.fill(0)\nout[16:-16, 16:-16] = x"),
        "cv2.copyMakeBorder(x, 16, 16, 16, 16, cv2.BORDER_CONSTANT, out, 0)",
    ),
    small("small: plain copy, 64", "(64)", NumPy::View("x")),
    small("small: transpose, 8 x 8", "(8, 8).permute(1, 0)", NumPy::View("x.T")),
    small("small: 3-D reversed, 4 x 4 x 4", "(4, 4, 4).permute(2, 1, 0)", NumPy::View("x.T")),
    small(
        "small: 6 x 6 padded to 8 x 8",
        "(6, 6).pad((1, 1), (1, 1))",
        NumPy::Chain("", "out.fill(0)\nout[1:-1, 1:-1] = x"),
    ),
    small(
        "small: reshaped transpose transposed, 7 x 9",
        "(7, 9).permute(1, 0).reshape(7, 9).permute(1, 0)",
        NumPy::Chain("", "np.copyto(out, x.T.reshape(7, 9).T)"),
    ),
];

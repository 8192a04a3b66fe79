//! What people paste: messages, tracebacks, sessions of Python, shapes and strides as they are printed, calls and types, as the
//! chain that they are about.

use shapetracker::Chain;
use shapetracker_testing::is_text_held;

/// What comes of a text: the tracker; `!` and why it cannot be read; `?` and why it cannot be done.
fn answer(text: &str) -> String {
    let (chain, err) = Chain::read(text);
    match err {
        Some(err) => format!("! {}", err.message()),
        None => chain.tracker().map_or_else(|err| format!("? {}", err.message()), |tracker| tracker.to_string()),
    }
}

#[test]
fn what_people_paste_is_the_chain_that_it_is_about() {
    for (text, expected) in [
        // Messages and tracebacks of PyTorch, NumPy and JAX.
        (
            "RuntimeError: shape '[2, 3]' is invalid for input of size 12",
            "? reshape: shape (12,) has 12 elements, but shape (2, 3) needs 6",
        ),
        (
            "shape '[2, -1]' is invalid for input of size 7",
            "? reshape: the size of axis 1 cannot be inferred: 7 elements are not divisible by 2, the product of the other sizes",
        ),
        ("RuntimeError: shape '[2, 8, -1]' is invalid for input of size 96", "(2, 8, 6):(48, 6, 1)"),
        (
            "RuntimeError: Cannot view a tensor with shape torch.Size([2, 3]) and strides (1, 2) as a tensor with shape (6,)!",
            "(6,):(1,) over (2, 3):(1, 2)",
        ),
        (
            "Cannot view a tensor with shape torch.Size([8, 4, 16]) and strides (64, 1, 4) as a tensor with shape (8, 64)!",
            "(8, 64):(64, 1) over (8, 4, 16):(64, 1, 4)",
        ),
        (
            "torch._dynamo.exc.TorchRuntimeError: Cannot view a tensor with shape torch.Size([2, 3, 4]) and strides (12, 1, 3) as a tensor with shape (6, 4)!",
            "(6, 4):(4, 1) over (2, 3, 4):(12, 1, 3)",
        ),
        (
            "ValueError: cannot reshape array of size 12 into shape (5,)",
            "? reshape: shape (12,) has 12 elements, but shape (5,) needs 5",
        ),
        ("ValueError: cannot reshape array of size 12 into shape (3,4)", "(3, 4):(4, 1)"),
        (
            "TypeError: cannot reshape array of shape (2, 3) (size 6) into shape (4,) (size 4)",
            "? reshape: shape (2, 3) has 6 elements, but shape (4,) needs 4",
        ),
        (
            "RuntimeError: The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]",
            "? expand: axis 1 has size 3 and cannot become 4: only an axis of size 1 can be broadcast",
        ),
        (
            "RuntimeError: setStorage: sizes [2, 3], strides [4, 1], storage offset 1, and itemsize 4 requiring a storage size of 32 are out of bounds for storage of size 24",
            "(2, 3):(4, 1) offset 1",
        ),
        (
            "ValueError: operands could not be broadcast together with remapped shapes [original->remapped]: (3,)  and requested shape (2,)",
            "? expand: axis 0 has size 3 and cannot become 2: only an axis of size 1 can be broadcast",
        ),
        (
            "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            "! the message does not say of which array it speaks: write the array in front of the line that raised it, as in `torch.zeros(2, 3).transpose(0, 1).view(6)`",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    torch.zeros(2, 3).t().view(6)\nRuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    torch.zeros(2, 3).t().view(6)\n  File \"/venv/lib/python3.11/site-packages/torch/_tensor.py\", line 9, in view\n    return func(*args, **kwargs)\nRuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 9, in <module>\n    model(x)\n  File \"m.py\", line 3, in forward\n    return x.transpose(1, 2).view(4, 6)\nRuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            "? the shape of the array `x` is not known: write it in place of the name, as in `(2, 3).permute(1, 0)`",
        ),
        (
            "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nRuntimeError: shape '[4, 5]' is invalid for input of size 24",
            "? reshape: shape (24,) has 24 elements, but shape (4, 5) needs 20",
        ),
        // Code in front of a message or of a traceback is what the message is about.
        (
            "x = torch.zeros(2, 3, 4)\nx.transpose(1, 2).view(2, 12)\nRuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
            "(2, 12):(12, 1) over (2, 4, 3):(12, 1, 4)",
        ),
        (
            "torch.zeros(2, 3).t().view(6)\n---------------------------------------------------------------------------\nRuntimeError                              Traceback (most recent call last)\nCell In[3], line 1\n----> 1 torch.zeros(2, 3).t().view(6)\n\nRuntimeError: view size is not compatible with input tensor's size and stride",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        // IPython has arrows in front of the lines that were called.
        (
            "---------------------------------------------------------------------------\nRuntimeError                              Traceback (most recent call last)\nCell In[3], line 2\n      1 n = 6\n----> 2 torch.zeros(2, 3).t().view(6)\n\nFile ~/venv/lib/python3.11/site-packages/torch/_tensor.py:9, in view(*args)\n      8 def view(*args):\n----> 9     return func(*args)\n\nRuntimeError: view size is not compatible with input tensor's size and stride",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        // Whatever the exception is, the line that raised it says what was asked for.
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    np.zeros((2, 3))[:, 0, 0]\nIndexError: too many indices for array: array is 2-dimensional, but 3 were indexed",
            "! expected at most 2 entries, one per axis",
        ),
        (
            "IndexError: too many indices for array: array is 2-dimensional, but 3 were indexed",
            "! the message does not say of which array it speaks: write the array in front of the line that raised it, as in `torch.zeros(2, 3).transpose(0, 1).view(6)`",
        ),
        (
            "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
            "! the message does not say of which array it speaks: write the array in front of the line that raised it, as in `torch.zeros(2, 3).transpose(0, 1).view(6)`",
        ),
        (
            "ValueError: could not broadcast input array from shape (3,) into shape (4,)",
            "? expand: axis 0 has size 3 and cannot become 4: only an axis of size 1 can be broadcast",
        ),
        (
            "ValueError: operands could not be broadcast together with shapes (2,3) (4,) ",
            "? expand: axis 1 has size 4 and cannot become 3: only an axis of size 1 can be broadcast",
        ),
        (
            "ValueError: operands could not be broadcast together with shapes (4,) (2,3) ",
            "? expand: axis 1 has size 4 and cannot become 3: only an axis of size 1 can be broadcast",
        ),
        // Sessions of Python.
        (
            ">>> x = torch.zeros(2, 3)\n>>> x.t().view(6)\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nRuntimeError: view size is not compatible with input tensor's size and stride",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        // What `as_strided` takes.
        ("(2, 3, 4), (12, 1, 3), 0", "(2, 3, 4):(12, 1, 3)"),
        ("(2, 3), (1, 2)", "(2, 3):(1, 2)"),
        ("(2, 3), (4, 1), 5", "(2, 3):(4, 1) offset 5"),
        (
            "Sw<3,3,3> o 0 o (8,64):(64,1)",
            "! a swizzle combines bits of the address by exclusive or, which no strides say: write its index as an expression over variables",
        ),
        (">>> x = torch.zeros(2, 3)\n>>> x.t().stride()\n(1, 3)", "(3, 2):(1, 3)"),
        (
            ">>> x = torch.zeros(2, 3)\n>>> x.t()\ntensor([[0., 0.],\n        [0., 0.],\n        [0., 0.]])\n>>> y = x.t()\n>>> y.reshape(6)",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        (
            ">>> import numpy as np\n>>> a = np.arange(6).reshape(2, 3)\n>>> a.strides\n(24, 8)\n>>> a.T",
            "(3, 2):(1, 3)",
        ),
        (">>> np.zeros((2, 3)).T.flags['C_CONTIGUOUS']\nFalse", "(3, 2):(1, 3)"),
        // Shapes and strides as they are printed.
        ("torch.Size([2, 3])", "(2, 3):(3, 1)"),
        ("torch.Size([2, 3]) (1, 2)", "(2, 3):(1, 2)"),
        ("torch.Size([2, 3]), (1, 2)", "(2, 3):(1, 2)"),
        ("torch.Size([2, 3]).T", "(3, 2):(1, 3)"),
        ("torch.Size([2, 3, 4]).view(6, 4)", "(6, 4):(4, 1)"),
        ("shape=(2, 3), strides=(24, 8), dtype=float64", "(2, 3):(3, 1)"),
        ("shape=(2, 3), strides=(4, 8), dtype=dtype('<f4')", "(2, 3):(1, 2)"),
        ("shape: (2, 3), strides: (8, 16), itemsize: 8", "(2, 3):(1, 2)"),
        ("x.shape = torch.Size([2, 3]), x.stride() = (1, 2)", "(2, 3):(1, 2)"),
        ("x.size(): torch.Size([2, 3]); x.stride(): (1, 2)", "(2, 3):(1, 2)"),
        ("size=(4, 4), stride=(8, 2), storage_offset=1", "(4, 4):(8, 2) offset 1"),
        ("shape=(2, 3), strides=(3, 1)", "(2, 3):(3, 1)"),
        (
            "shape=(2, 3), strides=(12, 5), dtype=float32",
            "! a stride of 5 bytes is no whole number of elements of 4 bytes",
        ),
        ("View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False)", "(2, 3):(1, 2)"),
        (
            "ShapeTracker(views=(View(shape=(3, 2), strides=(1, 3), offset=0, mask=None, contiguous=False), View(shape=(6,), strides=(1,), offset=0, mask=None, contiguous=True)))",
            "(6,):(1,) over (3, 2):(1, 3)",
        ),
        // Code of PyTorch, inductor and einops.
        ("x = torch.zeros(4, 6); x.view(torch.Size([6, 4]))", "(6, 4):(4, 1)"),
        ("torch.zeros(torch.Size([2, 3])).t()", "(3, 2):(1, 3)"),
        ("torch.zeros(2, 3).t().is_contiguous()", "(3, 2):(1, 3)"),
        ("torch.empty_strided((2, 3), (1, 2))", "(2, 3):(1, 2)"),
        ("torch.empty_strided(size=(2, 3), stride=(1, 2), dtype=torch.float32, device='cuda')", "(2, 3):(1, 2)"),
        ("reinterpret_tensor(torch.zeros(6), (3, 2), (1, 3), 0)", "(3, 2):(1, 3)"),
        (
            "reinterpret_tensor(buf0, (2, 3), (3, 1), 0)",
            "? the shape of the array `buf0` is not known: write it in place of the name, as in `(2, 3).permute(1, 0)`",
        ),
        ("torch.arange(1, 25).view(2, 3, 4)", "(2, 3, 4):(12, 4, 1)"),
        ("torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)", "(2, 3, 4, 5):(60, 20, 5, 1)"),
        (
            "x = torch.randn(8, 128, 768)\nB, T, C = x.shape\nx.view(B, T, 12, C // 12).transpose(1, 2)",
            "(8, 12, 128, 64):(98304, 64, 768, 1)",
        ),
        (
            "q, k, v = torch.randn(2, 4, 96).chunk(3, dim=-1)\nk.view(2, 4, 8, 4).permute(0, 2, 1, 3)",
            "(2, 8, 4, 4):(384, 4, 96, 1) offset 32",
        ),
        ("einops.rearrange(torch.zeros(2, 8, 12), 'b t (h d) -> b h t d', h=3)", "(2, 3, 8, 4):(96, 4, 12, 1)"),
        ("torch.zeros(2, 3).detach().numpy().T", "(3, 2):(1, 3)"),
        ("torch.zeros(2, 3).requires_grad_().t()", "(3, 2):(1, 3)"),
        (
            "torch.zeros(2, 3).float().t()",
            "! `float` is not read: it copies where the type or the device is another one, and its elements lie as those of `.clone()` do: write that, or leave it out",
        ),
        ("F.pad(torch.zeros(2, 3), (1, 1), value=-1.5)", "(2, 5):(3, 1) offset -1 mask ((0, 2), (1, 4))"),
        // Code of NumPy.
        ("np.zeros((2, 3)).T.flags.c_contiguous", "(3, 2):(1, 3)"),
        ("np.zeros((2, 3), order='F')", "(2, 3):(1, 2)"),
        ("np.empty((2, 3), dtype=np.float32, order=\"F\").T", "(3, 2):(2, 1)"),
        ("np.asfortranarray(np.zeros((2, 3)))", "(2, 3):(3, 1)"),
        ("x = np.zeros((2, 3)); x.shape = (3, 2); x.T", "(2, 3):(1, 2)"),
        ("x = np.zeros((2, 3))\nx.shape = 6\nx", "(6,):(1,)"),
        ("np.arange(2, 8).reshape(2, 3)", "(2, 3):(3, 1)"),
        ("np.arange(0, 10, 3)", "(4,):(1,)"),
        ("np.arange(10, 0, -3)", "(4,):(1,)"),
        ("torch.from_numpy(np.zeros((2, 3))).t()", "(3, 2):(1, 3)"),
        ("np.lib.stride_tricks.sliding_window_view(np.zeros(10), 3)", "(8, 3):(1, 1)"),
        ("np.broadcast_to(np.zeros((3, 1)), (3, 4))", "(3, 4):(1, 0)"),
        ("jnp.zeros((2, 3)).T", "(3, 2):(1, 3)"),
        // Types and layouts of MLIR, XLA, CuTe and tinygrad.
        ("memref<4x8xf32, strided<[1, 4]>>", "(4, 8):(1, 4)"),
        ("f32[2,3]{0,1}", "(2, 3):(1, 2)"),
        ("Layout<Shape<_2,_3>,Stride<_1,_2>>", "(2, 3):(1, 2)"),
        ("(_2,_3):(_1,_2)", "(2, 3):(1, 2)"),
        ("((2,4),8):((1,16),2)", "(8, 8):(8, 1) over (4, 2, 8):(16, 1, 2)"),
    ] {
        if !is_text_held(text, 0) {
            continue;
        }
        assert_eq!(answer(text), expected, "{text}");
        // Nor does a part of it break anything.
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let _ = Chain::read(&text[..end]).0.progress(None);
            let _ = Chain::read_from(&text[end..], Some(&[2, 3, 4])).0.progress(None);
        }
    }
}

#[test]
fn messages_say_where_they_are_meant() {
    let text = "RuntimeError: shape '[2, 3]' is invalid for input of size 12";
    let chain: Chain = text.parse().unwrap();
    assert_eq!((&text[chain.start_span()], &text[chain.span(0)]), ("12", "[2, 3]"));
    // Two numbers of one size, and strides in bytes.
    let text = "shape=(2, 3), strides=(12, 5), dtype=float32";
    let err = text.parse::<Chain>().unwrap_err();
    assert_eq!(&text[err.span()], "(12, 5)");
}

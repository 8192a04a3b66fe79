//! A page for each message of PyTorch, NumPy, JAX and einops that is read: the rows of [`KnownMessage::ALL`].

use shapetracker::advice::Does;
use shapetracker::{Chain, KnownMessage, ShapeTracker};

use crate::asked::tuple;
use crate::figure::{Cells, escaped, figure};
use crate::methods::html;
use crate::page::{Page, address, code, head, prose, python, row, shown};

/// A message as a library writes it, and a line that makes it do so.
#[derive(Clone, Copy, Debug)]
pub struct Raised {
    /// How the message begins, as in [`KnownMessage::begins`].
    pub begins: &'static str,
    /// The name of the exception and the message.
    pub message: &'static str,
    /// A line that raises it.
    pub code: &'static str,
    /// What the line asks of one array, where the line itself is not read: it computes new values.
    pub asks: Option<&'static str>,
    /// Lines of an exercise, of which some raise.
    pub lines: [&'static str; 3],
}

/// All of them.
pub const RAISED: &[Raised] = &[
    Raised {
        begins: "view size is not compatible with input tensor's size and stride",
        message: "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans \
                  across two contiguous subspaces). Use .reshape(...) instead.",
        code: "torch.zeros(2, 3, 4).transpose(1, 2).view(2, 12)",
        asks: None,
        lines: [
            "torch.zeros(4, 6).t().view(24)",
            "torch.zeros(4, 6)[:, :3].view(2, 2, 3)",
            "torch.zeros(2, 3, 4).permute(2, 0, 1).view(4, 6)",
        ],
    },
    Raised {
        begins: "Cannot view a tensor with shape",
        message: "ValueError: Cannot view a tensor with shape torch.Size([2, 3]) and strides (1, 2) as a tensor with shape (6,)!",
        code: "torch.zeros(3, 2).t().view(6)",
        asks: None,
        lines: [
            "torch.zeros(3, 1).t().view(3)",
            "torch.zeros(3, 4).t().view(12)",
            "torch.zeros(3, 4).t().view(2, 2, 3)",
        ],
    },
    Raised {
        begins: "shape '",
        message: "RuntimeError: shape '[2, 3]' is invalid for input of size 12",
        code: "torch.zeros(12).view(2, 3)",
        asks: None,
        lines: ["torch.zeros(12).view(2, -1, 3)", "torch.zeros(12).view(5, -1)", "torch.zeros(3, 4).view(6, 2)"],
    },
    Raised {
        begins: "cannot reshape array of size",
        message: "ValueError: cannot reshape array of size 12 into shape (5,)",
        code: "np.zeros(12).reshape(5)",
        asks: None,
        lines: ["np.zeros(12).reshape(-1, 4)", "np.zeros(12).reshape(-1, 5)", "np.zeros((3, 4)).reshape(2, 2, 3)"],
    },
    Raised {
        begins: "cannot reshape array of shape",
        message: "TypeError: cannot reshape array of shape (2, 3) (size 6) into shape (4,) (size 4)",
        code: "jnp.zeros((2, 3)).reshape(4)",
        asks: None,
        lines: ["jnp.zeros((2, 3)).reshape(3, 2)", "jnp.zeros((2, 3)).reshape(2, 2)", "jnp.zeros((2, 3)).reshape(-1)"],
    },
    Raised {
        begins: "The expanded size of the tensor",
        message: "RuntimeError: The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension \
                  1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]",
        code: "torch.zeros(2, 3).expand(2, 4)",
        asks: None,
        lines: ["torch.zeros(2, 1).expand(2, 4)", "torch.zeros(3).expand(2, 3)", "torch.zeros(2).expand(2, 3)"],
    },
    Raised {
        begins: "The size of tensor a",
        message: "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        code: "torch.zeros(2, 3) + torch.zeros(2, 4)",
        asks: Some("torch.zeros(2, 3).expand(2, 4)"),
        lines: ["torch.zeros(2, 1).expand(2, 4)", "torch.zeros(4).expand(2, 4)", "torch.zeros(2).expand(2, 4)"],
    },
    Raised {
        begins: "setStorage: sizes",
        message: "RuntimeError: setStorage: sizes [2, 3], strides [4, 1], storage offset 1, and itemsize 4 requiring a storage \
                  size of 32 are out of bounds for storage of size 24",
        code: "torch.zeros(6).as_strided((2, 3), (4, 1), 1)",
        asks: None,
        lines: [
            "torch.zeros(6).as_strided((2, 3), (3, 1), 0)",
            "torch.zeros(6).as_strided((2, 3), (3, 1), 1)",
            "torch.zeros(6).as_strided((4, 3), (1, 1), 0)",
        ],
    },
    Raised {
        begins: "operands could not be broadcast together with shapes",
        message: "ValueError: operands could not be broadcast together with shapes (2,3) (4,) ",
        code: "np.zeros((2, 3)) + np.zeros(4)",
        asks: Some("np.broadcast_to(np.zeros(4), (2, 3))"),
        lines: [
            "np.broadcast_to(np.zeros(3), (2, 3))",
            "np.broadcast_to(np.zeros((2, 1)), (2, 3))",
            "np.broadcast_to(np.zeros(2), (2, 3))",
        ],
    },
    Raised {
        begins: "operands could not be broadcast together with remapped shapes",
        message: "ValueError: operands could not be broadcast together with remapped shapes [original->remapped]: (3,)  and \
                  requested shape (2,)",
        code: "np.broadcast_to(np.zeros(3), (2,))",
        asks: None,
        lines: [
            "np.broadcast_to(np.zeros(1), (2,))",
            "np.broadcast_to(np.zeros(3), (2, 3))",
            "np.broadcast_to(np.zeros(3), (3, 2))",
        ],
    },
    Raised {
        begins: "could not broadcast input array from shape",
        message: "ValueError: could not broadcast input array from shape (3,) into shape (4,)",
        code: "np.zeros(4)[:] = np.zeros(3)",
        asks: Some("np.broadcast_to(np.zeros(3), (4,))"),
        lines: [
            "np.broadcast_to(np.zeros(1), (4,))",
            "np.broadcast_to(np.zeros(4), (3, 4))",
            "np.broadcast_to(np.zeros(3), (3, 4))",
        ],
    },
    Raised {
        begins: "axes don't match array",
        message: "ValueError: axes don't match array",
        code: "np.zeros((2, 3)).transpose(0, 1, 2)",
        asks: None,
        lines: [
            "np.zeros((2, 3)).transpose(-1, 0)",
            "np.zeros((2, 3, 4)).transpose(1, 0)",
            "np.zeros((2, 3, 4)).transpose()",
        ],
    },
    Raised {
        begins: "Shape mismatch, can't divide axis of length",
        message: "einops.EinopsError: Shape mismatch, can't divide axis of length 10 in chunks of 3",
        code: "rearrange(torch.zeros(10, 4), '(a b) c -> a b c', b=3)",
        asks: None,
        lines: [
            "rearrange(torch.zeros(10, 4), '(a b) c -> a b c', b=5)",
            "rearrange(torch.zeros(10, 4), 'a (b c) -> a b c', b=3)",
            "rearrange(torch.zeros(10, 4), 'a (b c) -> (a b) c', c=2)",
        ],
    },
    Raised {
        begins: "the tensor has a non-zero number of elements",
        message: "RuntimeError: the tensor has a non-zero number of elements, but its data is not allocated yet",
        code: "torch.zeros(2, 3).t().numpy()",
        asks: None,
        lines: ["torch.zeros(2, 3).numpy()", "torch.zeros(2, 3).t().view(6)", "torch.zeros(2, 3).t()[1].view(2)"],
    },
];

/// What the library says of a line of numbers: whether it raises, and why.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Whether the library of the line raises an error at it.
    pub raises: bool,
    /// Why, or what it does instead, as sentences.
    pub sentence: String,
    /// What to write instead, where something may be.
    pub code: Option<String>,
    /// The array that the line is about, and what comes of it where that can be.
    pub layouts: Option<(ShapeTracker, Option<ShapeTracker>)>,
}

/// What the library says of a text of numbers.
///
/// ```
/// let said = shapetracker_reference::judged("torch.zeros(4, 6).t().view(24)");
/// assert!(said.raises && said.sentence.starts_with("`.view(24)` raises a RuntimeError"));
/// assert!(!shapetracker_reference::judged("torch.zeros(4, 6).view(24)").raises);
/// ```
///
/// Of JAX, which copies as its compiler decides, only the layout is said.
pub fn judged(text: &str) -> Judged {
    let (chain, unread) = Chain::read_from(text, None);
    let progress = chain.progress(None);
    let over_base = |tensor: &shapetracker::Stored| tensor.over_base().ok();
    let x = progress.steps.first().and_then(over_base);
    if let Some(message) =
        unread.map(|err| err.message().to_owned()).or_else(|| progress.error.as_ref().map(|err| err.message()))
    {
        let layouts = x.map(|x| (x, None));
        return Judged { raises: true, sentence: sentence(&message), code: None, layouts };
    }
    let last = progress.steps.last().and_then(over_base);
    let advice = match chain.advice(None) {
        Ok(advice) => advice,
        Err(err) => {
            return Judged {
                raises: true,
                sentence: sentence(&err.message()),
                code: None,
                layouts: x.map(|x| (x, None)),
            };
        }
    };
    let is_known = !text.contains("jnp.");
    let said =
        advice.libraries.iter().find(|said| is_known && chain.library().is_none_or(|library| library == said.library));
    let mut text = said.map_or_else(|| advice.sentence.clone(), |said| said.sentence.clone());
    if let (Some(Does::Raises), Err(why)) = (said.map(|said| said.does), &advice.view) {
        text += &format!(" Why: {why}.");
    }
    let raises = said.is_some_and(|said| matches!(said.does, Does::Raises | Does::Cannot));
    Judged { raises, sentence: text, code: said.and_then(|said| said.code.clone()), layouts: x.map(|x| (x, last)) }
}

/// A message of the library as a sentence: the operation that it begins with is code.
fn sentence(message: &str) -> String {
    match message.split_once(": ") {
        Some((op, rest)) if !op.contains(' ') => format!("`{op}`: {rest}."),
        _ => format!("{}{}.", message[..1].to_uppercase(), &message[1..]),
    }
}

/// The path of the page of a message.
fn path(raised: &Raised) -> String {
    let message = raised.begins.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let words = match raised.begins {
        // It says no more in front of its numbers.
        "shape '" => "shape is invalid for input of size",
        _ => message,
    };
    format!("errors/{}", address(&words.replace('\'', "")))
}

/// The pages of all messages.
///
/// # Errors
/// A message without a line that raises it.
pub fn error_pages() -> Result<Vec<Page>, String> {
    let raised = |known: &KnownMessage| {
        let found = RAISED.iter().find(|raised| raised.begins == known.begins());
        found.ok_or_else(|| format!("there is no line that raises `{}`: write one in `errors.rs`", known.begins()))
    };
    KnownMessage::ALL.iter().map(|known| Ok(page(known, raised(known)?))).collect()
}

fn page(known: &KnownMessage, raised: &Raised) -> Page {
    let Raised { message, code: line, asks, lines, .. } = raised;
    let asked = asks.unwrap_or(line);
    let said = judged(asked);
    let mut text = format!(
        "# {}\n\n<pre class=\"message\"><code>{}</code></pre>\n\n{} raises it, for instance here:\n\n{}",
        prose(&title(raised)),
        escaped(message),
        known.library(),
        python(line)
    );
    if let Some(asks) = asks {
        text += &format!("What that asks of one of the arrays is the broadcast\n\n{}", python(asks));
    }
    text += "## Why\n\n";
    if !said.raises {
        text += "The layout is not at fault. ";
    }
    text += &format!("{}\n\n", prose(&said.sentence));
    if let Some((x, result)) = &said.layouts {
        text += &head(&["", "shape", "strides"]);
        let strides = |tracker: &ShapeTracker| match tracker.as_view() {
            Some(view) => code(&tuple(view.strides())),
            None => "none: it is not one view".to_owned(),
        };
        text += &row(&["the array".to_owned(), code(&tuple(x.shape())), strides(x)]);
        if let Some(result) = result {
            text += &row(&["what is asked for".to_owned(), code(&tuple(result.shape())), strides(result)]);
        }
        text += "\n";
    }
    if let Some(code) = &said.code {
        text += &format!("## What to write instead\n\n{}", python(code));
    }
    let svg = said.layouts.as_ref().and_then(|(x, result)| match result {
        Some(result) => figure(
            &[Cells::of("the array", x), Cells::of("what is asked for", result)],
            "The addresses before and after",
        ),
        None => figure(&[Cells::of("the array", x)], "The addresses of the array"),
    });
    text += "## In a picture\n\n";
    text +=
        &shown(svg.as_deref(), "In each cell stands the place in memory of the element that is read.", asked, "flow");
    if known.has_shapes() {
        text +=
            "The explorer reads the message itself, too: paste it there, and it shows the array that it is about.\n\n";
    } else {
        text += "The message does not say of which array it speaks. Paste it into the explorer with the line that raised it, or with \
                 the whole traceback.\n\n";
    }
    text += "## Exercise\n\nWhich of these lines raise an error?\n\n";
    text += &python(&lines.join("\n"));
    text += "<details>\n<summary>The answer</summary>\n<ul>\n";
    for line in lines {
        let said = judged(line);
        let raises = if said.raises { "An error" } else { "No error" };
        text += &format!("<li><code>{}</code>: {raises}. {}</li>\n", escaped(line), html(&said.sentence));
    }
    text += "</ul>\n</details>\n\n";
    let about =
        format!("Why {} raises it, what the strides have to do with it, and what to write instead.", known.library());
    Page { path: path(raised), title: title(raised), about, text }
}

/// The message without what follows its first sentence.
fn title(raised: &Raised) -> String {
    let message = raised.message.split(" (at least").next().unwrap_or_default();
    let message = message.split(".  ").next().unwrap_or_default();
    let message = message.split(" requiring").next().unwrap_or_default();
    message.trim_end().trim_end_matches('.').to_owned()
}

//! The reference on the site: a page for each movement operation, each message of PyTorch and NumPy that is read, and each operation
//! on CuTe's layouts.
//!
//! What a page claims is asked of the library, of a line of code that is written here: where elements lie before and after it, what
//! PyTorch and NumPy do, and for which sizes. Only the lines are written by hand (`calls.rs`), since no table says how somebody
//! would call a method. The pages are Markdown, and their pictures SVG: whoever looks for an error finds them without a script.

mod asked;
mod calls;
mod cute;
mod errors;
mod figure;
mod methods;
mod page;

pub use asked::{Asked, Copied, Library, Lies, asked, trackers};
pub use calls::{CALLS, Call, Given};
pub use cute::{OPERATIONS, Operation, cute_pages};
pub use errors::{RAISED, Raised, error_pages, judged};
pub use figure::{Cells, figure};
pub use methods::{method_names, method_pages};
pub use page::{Page, embed, explorer};

/// All pages, the first of which leads to all others.
///
/// # Errors
/// What has no line or no example, or one that cannot be read, as a sentence.
pub fn pages() -> Result<Vec<Page>, String> {
    let parts = [
        ("Messages", "What libraries say, and what it means.", error_pages()?),
        ("Movement operations", "What each does to strides, and when it copies.", method_pages()?),
        ("Operations on layouts of CuTe", "What each makes of a layout.", cute_pages()?),
    ];
    let title = "Reference: messages, movement operations, CuTe";
    let mut text = format!(
        "# {title}\n\nA page for each message of PyTorch and NumPy about views, for each operation that moves no values, and for each \
         operation on layouts of CuTe: what it does to strides, when it copies, a picture, and an exercise. What the pages say is \
         computed by the library from the examples on them.\n\n"
    );
    for (name, about, pages) in &parts {
        text += &format!("## {name}\n\n{about}\n\n");
        for Page { path, title, .. } in pages {
            text += &format!("- [{}]({path}.md)\n", page::prose(title));
        }
        text += "\n";
    }
    let about = "Each error of PyTorch and NumPy about views, each movement operation and each CuTe operation: strides, copies, pictures.";
    let first = Page { path: "index".into(), title: title.into(), about: about.into(), text };
    Ok(std::iter::once(first).chain(parts.into_iter().flat_map(|(_, _, pages)| pages)).collect())
}

//! A page as Markdown, and the links between pages and to the explorer.

use crate::figure::escaped;

/// A page of the reference.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its path below the folder of the reference, without the ending: `methods/permute`. It never changes, as others link to it.
    pub path: String,
    /// Its title, which search engines and tabs show.
    pub title: String,
    /// What it is about, in a sentence, which search engines show under the title.
    pub about: String,
    /// Its text.
    pub text: String,
}

impl Page {
    /// The page as a file of Markdown, title and description before it.
    pub fn markdown(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        format!("---\ntitle: {}\ndescription: {}\n---\n\n{}", quoted(&self.title), quoted(&self.about), self.text)
    }
}

/// The name of a page: letters, digits and hyphens, small ones only, since some hosts tell no others apart.
pub(crate) fn address(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// The explorer, as a page of the reference reaches it, showing a text. `pane` is the one pane that is shown in a frame.
pub fn explorer(text: &str, pane: Option<&str>) -> String {
    let mut fragment = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => fragment.push('+'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b',' | b':' | b'=' | b'.' | b'-' | b'_' => {
                fragment.push(byte.into())
            }
            _ => fragment += &format!("%{byte:02X}"),
        }
    }
    let pane = pane.map(|pane| format!("?embed={pane}")).unwrap_or_default();
    format!("../../explorer/index.html{pane}#c={fragment}")
}

/// Code of Python as a block.
pub(crate) fn python(code: &str) -> String {
    format!("```python\n{code}\n```\n\n")
}

/// A sentence in which code stands between backticks, as Markdown: what else would mean something there stands for itself.
pub(crate) fn prose(sentence: &str) -> String {
    let escaped = |part: &str| {
        part.chars().flat_map(|c| "*_<>[]\\#".contains(c).then_some('\\').into_iter().chain([c])).collect::<String>()
    };
    let parts = sentence.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { format!("`{part}`") } else { escaped(part) }).collect()
}

/// A row of a table, of Markdown.
pub(crate) fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', "<br>")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The first row of a table, and the rule under it.
pub(crate) fn head(cells: &[&str]) -> String {
    let names: Vec<String> = cells.iter().map(ToString::to_string).collect();
    let rule = "|---".repeat(cells.len());
    format!("{}{rule}|\n", row(&names))
}

/// Text between backticks.
pub(crate) fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// A picture with what it shows, a link to the same in the explorer, and the same alive in a frame, which is loaded when it is
/// opened.
pub(crate) fn shown(svg: Option<&str>, caption: &str, text: &str, pane: &str) -> String {
    let (link, frame) = (explorer(text, None), explorer(text, Some(pane)));
    let picture = svg.map(|svg| format!("<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n\n"));
    format!(
        "{}<p><a href=\"{link}\">Open it in the explorer</a></p>\n<details class=\"live\">\n<summary>Try it here</summary>\n{}\n</details>\n\n",
        picture.unwrap_or_default(),
        embed(&frame, text),
    )
}

/// The line of HTML that shows a pane of the explorer on another page.
pub fn embed(frame: &str, text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    format!(
        "<iframe src=\"{frame}\" title=\"{}\" width=\"100%\" height=\"360\" loading=\"lazy\"></iframe>",
        escaped(&format!("Tensor explorer: {last}"))
    )
}

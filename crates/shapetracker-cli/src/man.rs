//! Manual pages, made of what the help texts are made of: one of the command, and one of each of its commands.

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use serde_json::json;

use crate::answer::{Answer, Failure};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker man > shapetracker.1
  shapetracker man explain > shapetracker-explain.1
  shapetracker man explain | man -l -
  shapetracker man layout compose | man -l -

The first page names the others, which are in the archives of releases.

With --json: name, page.")]
pub(crate) struct Args {
    /// The command that the page is about, such as explain; without one it is about all of them.
    command: Vec<String>,
}

pub(crate) fn man(args: &Args, all: Command) -> Result<Answer, Failure> {
    let name = all.get_name().to_owned();
    let version = all.get_version().unwrap_or_default().to_owned();
    let mut all = all.disable_help_subcommand(true);
    // From here on the commands have their whole names, and the options that are common to all.
    all.build();
    let mut about = &all;
    for wanted in &args.command {
        about = about.find_subcommand(wanted).ok_or_else(|| {
            let names: Vec<&str> = about.get_subcommands().map(Command::get_name).collect();
            let of = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Failure::new("usage", format!("there is no command `{wanted}`; the commands are {of}"))
        })?;
    }
    let man = Man::new(about.clone()).source(format!("{name} {version}")).manual("User Commands");
    let page = page(about, &man).map_err(|error| Failure::new("io", error.to_string()))?;
    let name = about.get_display_name().unwrap_or(&name).to_owned();
    Ok(Answer { json: json!({ "name": name, "page": page }), text: page, positive: true })
}

/// The sections in the order of other manuals. What the help says after the options is what describes a command, apart
/// from its examples.
fn page(about: &Command, man: &Man) -> std::io::Result<String> {
    let after = about.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, description): (Vec<&str>, Vec<&str>) =
        after.split("\n\n").partition(|paragraph| paragraph.starts_with("Example"));

    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    paragraphs(&description).to_writer(&mut page)?;
    man.render_options_section(&mut page)?;
    if about.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    // The first line, `Examples:`, is the title.
    let examples: Vec<&str> = examples.iter().filter_map(|text| Some(text.split_once('\n')?.1)).collect();
    if !examples.is_empty() {
        Roff::new().control("SH", ["EXAMPLES"]).to_writer(&mut page)?;
        paragraphs(&examples).to_writer(&mut page)?;
    }
    // Every section begins with the definition of the apostrophe; one will do.
    let (page, apostrophe) = (String::from_utf8_lossy(&page), Roff::new().render());
    Ok(apostrophe.clone() + &page.replace(&apostrophe, ""))
}

/// Paragraphs of a help text: lines that are indented stay as they are, the others are filled.
fn paragraphs(texts: &[&str]) -> Roff {
    let mut page = Roff::new();
    for text in texts.iter().filter(|text| !text.is_empty()) {
        page.control("PP", []);
        let mut verbatim = false;
        for line in text.lines() {
            if verbatim != line.starts_with(' ') {
                verbatim = !verbatim;
                page.control(if verbatim { "nf" } else { "fi" }, []);
            }
            page.text([roman(line)]);
        }
        if verbatim {
            page.control("fi", []);
        }
    }
    page
}

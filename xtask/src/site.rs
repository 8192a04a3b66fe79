//! The site: all that there is to read, and the explorer, as one folder of static files that any host serves from any folder. It asks
//! for nothing from elsewhere. The pages of the reference are made by `shapetracker-reference`, of what the library answers.
//!
//! Its pages are the texts of the checkout. They keep their names and their folders, so that a relative link leads to the same in the
//! checkout and on the site; `xtask/site/zensical.toml` lists them. A file that is no text is a page that shows it. Zensical makes pages
//! of them: it needs no compiler, rebuilds in a second, brings search and dark pages, and loads nothing. mdBook would have to be
//! compiled, and the releases of Material for MkDocs, by the same authors, are to be maintained only.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use crate::{
    package,
    release::{at, copy, has_page, manual, page_files, write},
    steps, web,
    workspace::{Outcome, Stop, Workspace, failed, skipped},
};

/// What makes the pages.
const GENERATORS: [&str; 2] = ["zensical==0.0.73", "pdoc==16.0.0"];
/// The modules whose names people import.
const MODULES: &str = "shapetracker shapetracker.cute shapetracker.dask shapetracker.numpy shapetracker.onnx \
                       shapetracker.sharding shapetracker.zarr shapetracker.compat.tinygrad";
/// The variable of the environment that says where the site will lie; only then there is a list of its pages for search engines.
const ADDRESS: &str = "SITE_URL";
/// Pages that are checked as places where links lead to, but neither for their own links nor for how they are reached: their makers
/// answer for them, and some of their links are made by scripts.
const MADE_ELSEWHERE: [&str; 2] = ["api/", "explorer/"];

/// Makes the site in a folder, or where build outputs are.
pub(crate) fn build(workspace: &Workspace, folder: Option<&str>) -> Outcome {
    let folder = folder.map(|folder| env::current_dir().unwrap_or_default().join(folder));
    if let Some(folder) = &folder
        && fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
    {
        return Err(failed(format!("{} is not empty, and nothing in it is replaced", folder.display())));
    }
    let folder = folder.unwrap_or_else(|| workspace.target("site"));
    make(workspace, &folder)?;
    anstream::println!("{}", folder.join("index.html").display());
    Ok(())
}

/// The step of the tests.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    make(workspace, &workspace.target("site"))
}

/// Makes the site, and checks its links.
pub(crate) fn make(workspace: &Workspace, folder: &Path) -> Outcome {
    let python = steps::with_package(workspace)?;
    // No other step has use for them.
    if !workspace.succeeds(workspace.command(&python, "-m pip install --quiet --retries 1").args(GENERATORS)) {
        return Err(skipped(format!("pip could not install {}", GENERATORS.join(" and "))));
    }
    if !has_page(workspace) {
        web::build(workspace)?;
    }
    workspace.run(&mut workspace.cargo_release("build --release --bins"))?;
    // With the features that it has in the command.
    workspace.run(
        &mut workspace.cargo_release("build --release --package shapetracker-reference --features shapetracker/serde"),
    )?;
    // In a folder of their own they are those of the libraries only, whatever else was documented.
    let rust = workspace.target("site-api");
    workspace
        .run(workspace.cargo(&format!("doc --no-deps {} --target-dir", steps::libraries(workspace))).arg(&rust))?;

    let work = workspace.target("site-pages");
    for folder in [&work, &folder.to_owned()] {
        if folder.is_dir() {
            fs::remove_dir_all(folder).map_err(|error| at(folder, error))?;
        }
    }
    let (sources, pages) = (workspace.path("xtask/site"), work.join("pages"));
    let config = read(&sources.join("zensical.toml"))?;
    write(&work.join("zensical.toml"), &config)?;
    copy(&sources.join("custom.css"), &pages.join("custom.css"))?;
    copy(&workspace.path("web/public/icon.svg"), &pages.join("icon.svg"))?;
    texts(workspace, &config, &pages)?;
    write(&pages.join("api.md"), &api(workspace))?;
    let program = workspace.target("release").join(format!("shapetracker{}", env::consts::EXE_SUFFIX));
    for (name, roff) in manual(|arguments| workspace.read(&mut workspace.command(&program, arguments)))? {
        write(&pages.join(format!("manual/{name}.md")), &manual_page(&roff))?;
    }
    let reference = workspace.target("release").join(format!("shapetracker-reference{}", env::consts::EXE_SUFFIX));
    workspace.run(workspace.command(&reference, "").arg(pages.join("reference")))?;
    // What NumPy does is what its pages say, and so PyTorch, where that is installed.
    workspace
        .run(workspace.command(&python, "-W ignore xtask/site/check_reference.py").arg(pages.join("reference")))?;
    let mut zensical = workspace.command(&python, "-m zensical build --clean");
    workspace.run(zensical.current_dir(&work))?;

    copy_all(&work.join("site"), folder)?;
    // Its links would hold at the root of a host only.
    fs::remove_file(folder.join("404.html")).map_err(|error| at(folder, error))?;
    copy_all(&rust.join("doc"), &folder.join("api/rust"))?;
    let mut pdoc = workspace.command(&python, "-W ignore xtask/site/python_api.py");
    pdoc.arg(folder.join("api/python")).arg(work.join("templates")).args(MODULES.split_whitespace());
    workspace.run(&mut pdoc)?;
    for (name, path) in page_files(workspace)? {
        copy(&path, &folder.join("explorer").join(name))?;
    }
    let list = folder.join("sitemap.xml");
    match env::var(ADDRESS) {
        Ok(address) => write(&list, &sitemap(folder, &address)?)?,
        // The generator's is empty, as it does not know where the site will lie.
        Err(_) => fs::remove_file(&list).map_err(|error| at(&list, error))?,
    }
    check_links(folder)
}

/// The list of all pages for search engines, which take whole addresses only; those of the APIs are reached from the others.
fn sitemap(folder: &Path, address: &str) -> Result<String, Stop> {
    let mut names = files_below(folder, "")?;
    names.retain(|name| name.ends_with(".html") && !name.starts_with("api/"));
    names.sort();
    let address = address.trim_end_matches('/');
    let entries = names.iter().map(|name| format!("<url><loc>{address}/{name}</loc></url>\n")).collect::<String>();
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n"
    ))
}

/// Puts the texts that the navigation names, and all that they link to, where the generator finds them.
fn texts(workspace: &Workspace, config: &str, pages: &Path) -> Outcome {
    let is_text = |name: &&str| name.ends_with(".md") && workspace.path(name).is_file();
    let mut waiting: Vec<String> = config.split('"').filter(is_text).map(str::to_owned).collect();
    let mut done = BTreeSet::new();
    while let Some(name) = waiting.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        let (from, to) = (workspace.path(&name), pages.join(page_of(&name)));
        if name.ends_with(".md") {
            let (text, linked) = with_links(&read(&from)?, &name, |path| workspace.path(path))?;
            write(&to, &text)?;
            waiting.extend(linked);
        } else if page_of(&name) == name {
            copy(&from, &to)?;
        } else {
            let language = if name.ends_with(".rs") { "rust" } else { "text" };
            let file = name.rsplit('/').next().unwrap_or(&name);
            write(&to, &format!("# {file}\n\n````{language} title=\"{name}\"\n{}\n````\n", read(&from)?.trim_end()))?;
        }
    }
    Ok(())
}

/// What shows a file of the checkout on the site, as the generator finds it.
fn page_of(name: &str) -> String {
    let is_shown_as_it_is = [".md", ".png", ".svg"].iter().any(|ending| name.ends_with(ending));
    match name.strip_prefix("web/") {
        _ if is_shown_as_it_is => name.to_owned(),
        Some(page) if page.ends_with(".html") => format!("explorer/{page}"),
        _ => format!("{name}.md"),
    }
}

/// A text with its relative links as they are on the site, and the files that they lead to.
fn with_links(text: &str, name: &str, path: impl Fn(&str) -> PathBuf) -> Result<(String, Vec<String>), Stop> {
    let (mut changed, mut linked, mut in_block) = (String::new(), Vec::new(), false);
    for line in text.split_inclusive('\n') {
        in_block ^= line.trim_start().starts_with("```");
        let mut parts = line.split("](");
        let first = parts.next().unwrap_or_default();
        changed += first;
        // A link in code is none.
        let mut ticks = first.matches('`').count();
        for part in parts {
            changed += "](";
            let in_code = ticks % 2 == 1;
            ticks += part.matches('`').count();
            let (link, rest) = part.split_at(part.find(')').unwrap_or(0));
            let (file, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
            if in_block || in_code || file.is_empty() || file.contains("://") {
                changed += part;
                continue;
            }
            let mut file = resolved(name, file);
            if path(&file).is_dir() {
                file = format!("{file}/README.md").trim_start_matches('/').to_owned();
            }
            if !path(&file).is_file() {
                return Err(failed(format!("{name}: `{link}` leads nowhere")));
            }
            let page = page_of(&file);
            changed += &format!("{}{page}{fragment}{rest}", "../".repeat(name.matches('/').count()));
            if !MADE_ELSEWHERE.iter().any(|folder| page.starts_with(folder)) {
                linked.push(file);
            }
        }
    }
    Ok((changed, linked))
}

/// The path of what a link of a file leads to, from the root of the checkout or of the site.
fn resolved(name: &str, link: &str) -> String {
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The page that leads to the interfaces of all libraries.
fn api(workspace: &Workspace) -> String {
    let mut text = "# API in Rust and Python\n\n## Rust\n\n".to_owned();
    let mut libraries = package::published(workspace);
    libraries.retain(|package| package::is_library(package));
    for library in libraries {
        let (module, about) = (library.name.replace('-', "_"), library.description.as_deref().unwrap_or_default());
        text += &format!("- [{}](api/rust/{module}/index.html): {about}\n", library.name);
    }
    text += "\n## Python\n\n";
    for module in MODULES.split_whitespace() {
        text += &format!("- [{module}](api/python/{}.html)\n", module.replace('.', "/"));
    }
    text
}

/// A page of the manual as text for the generator. The few requests that the command's pages have become elements of HTML, so that
/// no character of a text means anything to Markdown; a blank line ends an element that stands by itself.
fn manual_page(roff: &str) -> String {
    let (mut page, mut open) = (String::new(), Vec::new());
    // Ends the elements that are open but for the first ones.
    let end = |page: &mut String, open: &mut Vec<&str>, first: usize| {
        for element in open.drain(first.min(open.len())..).rev() {
            *page += &format!("</{element}>\n");
        }
    };
    let mut lines = roff.lines();
    while let Some(line) = lines.next() {
        let (request, rest) = line.split_once(' ').unwrap_or((line, ""));
        match request {
            ".TH" => page += &format!("# {}\n", rest.split(' ').next().unwrap_or_default().replace('-', " ")),
            ".SH" => {
                end(&mut page, &mut open, 0);
                // What the page is about stands under its title.
                if rest != "NAME" {
                    page += &format!("\n## {}{}\n", &rest[..1], rest[1..].to_lowercase());
                }
            }
            ".TP" => {
                if open.first() != Some(&"dl") {
                    end(&mut page, &mut open, 0);
                    page += "\n<dl>\n";
                    open.push("dl");
                }
                end(&mut page, &mut open, 1);
                page += &format!("<dt>{}</dt>\n<dd>\n", inline(lines.next().unwrap_or_default()));
                open.push("dd");
            }
            ".PP" if open.len() > 1 => page += "<br>\n",
            ".PP" => end(&mut page, &mut open, 0),
            ".br" if !page.ends_with("<br>\n") => page += "<br>\n",
            ".RS" => {
                page += "<ul>\n";
                open.push("ul");
            }
            ".IP" => page += "<li>",
            ".RE" => end(&mut page, &mut open, 2),
            ".nf" => {
                page += "\n```sh\n";
                for line in lines.by_ref().take_while(|line| *line != ".fi") {
                    page += &format!("{}\n", plain(line).trim_start());
                }
                page += "```\n";
            }
            _ if line.is_empty() || line.starts_with('.') => {}
            _ => {
                if open.is_empty() {
                    page += "\n<p>\n";
                    open.push("p");
                }
                page += &format!("{}\n", inline(line));
            }
        }
    }
    end(&mut page, &mut open, 0);
    page
}

/// A line of a manual without its escapes.
fn plain(line: &str) -> String {
    let fonts = ["\\fB", "\\fI", "\\fR"];
    fonts.iter().fold(line.replace("\\*(Aq", "'"), |line, font| line.replace(font, "")).replace('\\', "")
}

/// A line of a manual as HTML.
fn inline(line: &str) -> String {
    if let Some(command) = plain(line).strip_prefix("shapetracker-").and_then(|rest| rest.strip_suffix("(1)")) {
        return format!("<a href=\"shapetracker-{command}.html\">shapetracker {}</a>", command.replace('-', " "));
    }
    let text = line.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace("\\*(Aq", "'").replace("\\fB", "<strong>").replace("\\fI", "<em>");
    let parts = text.split_inclusive("\\fR").map(|part| {
        let is_emphasised = part.rfind("<em>") > part.rfind("<strong>");
        part.replace("\\fR", if is_emphasised { "</em>" } else { "</strong>" })
    });
    let html = parts.collect::<String>().replace('\\', "");
    let is_code = |place: usize| place % 2 == 1;
    let parts = html.split('`').enumerate();
    parts.map(|(place, part)| if is_code(place) { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

/// Checks that every link of the pages leads somewhere, that every page is reached from the first one, and that nothing is loaded
/// from elsewhere.
pub(crate) fn check_links(folder: &Path) -> Outcome {
    let files: BTreeSet<String> = files_below(folder, "")?.into_iter().collect();
    let is_page = |name: &&String| name.ends_with(".html") && !MADE_ELSEWHERE.iter().any(|made| name.starts_with(made));
    let (mut complaints, mut leads) = (Vec::new(), BTreeMap::new());
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in files.iter().filter(is_page) {
        let html = read(&folder.join(name))?;
        let mut linked = BTreeSet::new();
        for (element, attribute, link) in attributes(&html) {
            if !["href", "src"].contains(&attribute) || link.starts_with("mailto:") {
                continue;
            }
            if link.contains("://") {
                if element != "a" {
                    complaints.push(format!("{name} loads {link}"));
                }
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { name.clone() } else { resolved(name, file) };
            // Scripts of the explorer read its fragments, and rustdoc's pages of code name lines.
            let has_marks = file.ends_with(".html") && !file.starts_with("explorer/") && !file.contains("/src/");
            if link.starts_with('/') || !files.contains(&file) {
                complaints.push(format!("{name}: `{link}` leads nowhere"));
            } else if has_marks && !fragment.is_empty() {
                if !known.contains_key(&file) {
                    known.insert(file.clone(), marks(&read(&folder.join(&file))?));
                }
                if !known[&file].contains(fragment) {
                    complaints.push(format!("{name}: `{link}` leads to no place of that page"));
                }
            }
            linked.insert(file);
        }
        leads.insert(name, linked);
    }
    let (mut reached, mut waiting) = (BTreeSet::new(), vec!["index.html"]);
    while let Some(name) = waiting.pop() {
        if reached.insert(name) {
            waiting.extend(leads.get(&name.to_owned()).into_iter().flatten().map(String::as_str));
        }
    }
    let unreached = leads.keys().filter(|name| !reached.contains(name.as_str()));
    complaints.extend(unreached.map(|name| format!("{name} is not reached from the first page")));
    anstream::println!(
        "{} files, {} pages of texts, all reached and all their links checked",
        files.len(),
        leads.len()
    );
    if complaints.is_empty() { Ok(()) } else { Err(failed(complaints.join("\n"))) }
}

/// The attributes in a text of HTML, each with its element.
fn attributes(html: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    html.split('<').flat_map(|tag| {
        let element = tag.split([' ', '>']).next().unwrap_or_default();
        let tag = &tag[..tag.find('>').unwrap_or(0)];
        let mut parts = tag.split('"');
        std::iter::from_fn(move || {
            let (name, value) = (parts.next()?, parts.next()?);
            Some((element, name.trim_end_matches('=').rsplit(char::is_whitespace).next()?, value))
        })
    })
}

/// The places of a page that a fragment may name.
fn marks(html: &str) -> BTreeSet<String> {
    let named = attributes(html).filter(|(_, attribute, _)| ["id", "name"].contains(attribute));
    named.map(|(_, _, value)| value.to_owned()).collect()
}

/// The paths of all files below a folder, with slashes.
fn files_below(folder: &Path, prefix: &str) -> Result<Vec<String>, Stop> {
    let mut names: Vec<String> = web::files(folder)?.into_iter().map(|(name, _)| format!("{prefix}{name}")).collect();
    for entry in fs::read_dir(folder).map_err(|error| at(folder, error))?.flatten() {
        if entry.path().is_dir() {
            names.extend(files_below(&entry.path(), &format!("{prefix}{}/", entry.file_name().to_string_lossy()))?);
        }
    }
    Ok(names)
}

/// Copies all that is below a folder, but what begins with a dot.
fn copy_all(from: &Path, to: &Path) -> Outcome {
    let names = files_below(from, "")?;
    names.iter().filter(|name| !name.starts_with('.')).try_for_each(|name| copy(&from.join(name), &to.join(name)))
}

fn read(path: &Path) -> Result<String, Stop> {
    fs::read_to_string(path).map_err(|error| at(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_same_as_in_the_checkout() {
        let text = "[a](../b/README.md#c) `[1](x)` [d](https://d.e) [f](#g) [h](src/h.rs)\n```\n[i](j)\n```\n[k](../../web/l.html)\n";
        let path = |name: &str| {
            Path::new(env!("CARGO_MANIFEST_DIR")).join(if name.ends_with("README") { "" } else { "Cargo.toml" })
        };
        let (text, linked) = with_links(text, "crates/a/README.md", path).ok().unwrap();
        let expected = "[a](../../crates/b/README.md#c) `[1](x)` [d](https://d.e) [f](#g) [h](../../crates/a/src/h.rs.md)\n\
                        ```\n[i](j)\n```\n[k](../../explorer/l.html)\n";
        assert_eq!(
            (&text[..], &linked[..]),
            (expected, &["crates/b/README.md".into(), "crates/a/src/h.rs".into()][..])
        );
        assert!(with_links("[a](b)", "c.md", |_| PathBuf::new()).is_err());
    }

    #[test]
    fn manual_pages_are_html() {
        let roff = ".TH shapetracker-explain 1\n.SH OPTIONS\n.TP\n\\fB\\-\\-where\\fR \\fI<X>\\fR\nWhat `x` isn\\*(Aqt\n.TP\n\
                    shapetracker\\-layout\\-show(1)\nA layout\n.SH EXAMPLES\n.PP\n.nf\n  run \\*(Aq\\-\\*(Aq\n.fi\n";
        let page = "# shapetracker explain\n\n## Options\n\n<dl>\n<dt><strong>--where</strong> <em>&lt;X></em></dt>\n<dd>\nWhat <code>x</code> isn't\n\
                    </dd>\n<dt><a href=\"shapetracker-layout-show.html\">shapetracker layout show</a></dt>\n<dd>\nA layout\n</dd>\n</dl>\n\
                    \n## Examples\n\n```sh\nrun '-'\n```\n";
        assert_eq!(manual_page(roff), page);
    }

    #[test]
    fn attributes_are_those_of_elements() {
        let html = r#"<a class="b" href="c#d">href="e"</a><h1 id="f">"#;
        assert_eq!(
            attributes(html).collect::<Vec<_>>(),
            [("a", "class", "b"), ("a", "href", "c#d"), ("h1", "id", "f")]
        );
    }
}

//! Colours: a ramp for addresses, and the two themes of everything else.

/// From low to high addresses: even steps of lightness (OKLCH, 0.33 to 0.94) while the hue turns from violet to yellow.
pub(super) const RAMP: [&str; 24] = [
    "#3a1381", "#35238e", "#2c3199", "#1d3fa2", "#014da4", "#015b9b", "#036799", "#057199", "#087b9a", "#04859c",
    "#018f9e", "#0c999e", "#0ca49e", "#04ae9d", "#08b999", "#07c491", "#2ece86", "#5dd47c", "#7fda72", "#9ddf69",
    "#b9e360", "#d4e75a", "#edea57", "#ffed86",
];
/// The first colours of the ramp need white text, all others black text, for a contrast of at least 4.5 to 1.
pub(super) const DARK_COLOURS: usize = 9;

/// The colours of the light theme stand at the elements, too: where style sheets are taken out, the picture is light.
pub(super) const PAPER: &str = "#ffffff";
pub(super) const INK: &str = "#1f2328";
pub(super) const DIM: &str = "#59636e";
pub(super) const LINE: &str = "#a8b1bb";
pub(super) const BLANK: &str = "#e9edf1";
pub(super) const MARK: &str = "#c2114b";

/// The style sheet. It says the same in every picture of a page, and names nothing outside of the class `shapetracker`.
///
/// The light or dark theme is that of the reader's system, unless the notebook has one of its own (JupyterLab and VS
/// Code say so at an element above). The picture brings its own background: it is readable even where the guess is
/// wrong.
pub(super) fn style() -> String {
    let light = format!("--p:{PAPER};--i:{INK};--d:{DIM};--l:{LINE};--b:{BLANK};--m:{MARK}");
    let dark = "--p:#14171c;--i:#e6e9ee;--d:#9aa4b0;--l:#566270;--b:#262c34;--m:#ff7a9c";
    format!(
        "<style>.shapetracker{{{light};background:var(--p);color:var(--i)}}\
         @media(prefers-color-scheme:dark){{.shapetracker{{{dark}}}}}\
         [data-jp-theme-light=true] .shapetracker,.vscode-light .shapetracker{{{light}}}\
         [data-jp-theme-light=false] .shapetracker,.vscode-dark .shapetracker{{{dark}}}\
         .shapetracker .paper{{fill:var(--p)}}.shapetracker .ink{{fill:var(--i)}}.shapetracker .dim{{fill:var(--d)}}\
         .shapetracker .blank{{stroke:var(--b)}}.shapetracker .hatch{{stroke:var(--d)}}\
         .shapetracker .hole{{stroke:var(--l)}}.shapetracker .halo{{stroke:var(--p)}}\
         .shapetracker .mark{{stroke:var(--m)}}.shapetracker .badge{{fill:var(--m)}}</style>"
    )
}

/// The style sheet of what is around the picture. Notebooks have styles of their own for paragraphs and tables, with
/// colours and backgrounds that need not go with ours.
pub(super) const NOTEBOOK: &str = "<style>\
    div.shapetracker{display:inline-block;max-width:100%;padding:0 0 12px;border-radius:6px;overflow-x:auto;\
    font:13px/1.5 system-ui,sans-serif}\
    .shapetracker p{margin:8px 12px 0!important;max-width:720px;color:inherit!important;overflow-wrap:anywhere}\
    .shapetracker table{margin:0 12px;border-collapse:collapse;color:inherit;font:inherit}\
    .shapetracker tr,.shapetracker th,.shapetracker td{padding:2px 16px 2px 0!important;text-align:left!important;\
    vertical-align:top;color:inherit!important;background:none!important;border:0!important;max-width:280px;\
    white-space:normal}</style>";

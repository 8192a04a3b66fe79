//! The command `shapetracker`: explains, merges and checks tensor layouts, writes code for them, processes them in
//! batches, and moves the data of files through them.
//!
//! What is public here is the command as one function, [`run`], for programs that have its words beside others.

mod answer;
mod apply;
mod batch;
mod check;
mod code;
mod conditions;
mod describe;
mod explain;
mod explore;
mod files;
mod grid;
mod index;
mod input;
mod layout;
mod man;
mod map;
mod merge;
mod nest;
mod plan;
mod shard;
mod shown;
mod simplify;
mod symbolic;
mod table;
#[cfg(feature = "zarr")]
mod zarr;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use serde_json::{Value, json};

use answer::{Answer, Failure};

/// Tensor layouts made plain: which chains of movement operations are one strided view, which are not, and why.
#[derive(Parser)]
#[command(name = "shapetracker", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    color: colorchoice_clap::Color,
    /// Print one line of JSON instead of text; each command's help names its keys.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Follow a chain of operations: what each does to the views, and the layout that results.
    Explain(explain::Args),
    /// Merge two views into one, or prove that no single view does what both do.
    Merge(merge::Args),
    /// Can a tensor be viewed under another shape without a copy? If not: why not, and the smallest copy that helps.
    Check(check::Args),
    /// In which order the elements of a layout lie, what it leaves out and shares, and what takes it as it is: BLAS, CUDA, cuDNN, arrays.
    Describe(describe::Args),
    /// The equations on an earlier view's strides under which a later view merges with it.
    Conditions(conditions::Args),
    /// The cheapest code for the address of an element, in the language of your choice.
    Index(index::Args),
    /// Make any index expression cheaper without changing its value.
    Simplify(simplify::Args),
    /// A map from loops to several expressions: is it one-to-one, is it onto, and what undoes it?
    Map(map::Args),
    /// What a kernel computes as loops: their splits, what each access does along them, and the code.
    Nest(nest::Args),
    /// Move the data of a .npy or .safetensors file through a chain of operations, in one pass.
    Apply(apply::args::Args),
    /// How the data of a chain would be moved: the loops, and how many bytes are read and written.
    Plan(plan::Args),
    /// A tensor spread over devices: which views of it need no communication, and what must move for the others.
    Shard(shard::Args),
    /// The algebra of CuTe's layouts: composition, complement, tiles, inverses, bits, and bank conflicts.
    Layout(layout::Args),
    /// See any layout in the browser: serves the explorer's page, to this machine only.
    Explore(explore::Args),
    /// Reduce the chain or the views on each line of a JSON Lines file to the fewest views.
    Batch(batch::Args),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print a manual page, for man to show.
    Man(man::Args),
}

#[derive(clap::Args)]
#[command(after_help = "Example:
  shapetracker completions bash > ~/.local/share/bash-completion/completions/shapetracker

With --json: shell, script.")]
struct CompletionsArgs {
    /// The shell to print the script for.
    shell: clap_complete::Shell,
}

const EXAMPLES: &str = "Examples:
  shapetracker explain '(3, 2).permute(1, 0).reshape(3, 2)'
  shapetracker merge '(2, 3):(1, 2)' '(3, 2):(2, 1)'
  shapetracker merge '(H, T):(1, H)' '(H*T)' --where 'T=1..4097'
  shapetracker check --shape 2,3 --strides 1,2 --to 3,2
  shapetracker describe '(8, 32, 32, 3).permute(0, 3, 1, 2)' --dtype f16
  shapetracker conditions --shape 10,3,3 --later '(6):(4)'
  shapetracker index '(4, 4).pad((1, 1), (0, 0))' --lang cuda
  shapetracker simplify '(x*4 + y) // 4' --where 'x=0..10, y=0..4'
  shapetracker map '(i, j) -> (i // 4, j, i % 4)' --where 'i=0..16, j=0..8'
  shapetracker nest 'C[i, j] += A[i, k] * B[k, j]' 'A = (64, 16)' 'B = (32, 16).T' 'C = (64, 32)'
  shapetracker apply 'permute(1, 0)' weights.npy transposed.npy
  shapetracker plan '(4096, 4096).permute(1, 0)' --dtype f32
  shapetracker shard '(8, 512, 1024) @ dp=2, tp=4 : S(0), S(1)' --view 4096,1024
  shapetracker layout compose '(6,2):(8,2)' '(4,3):(3,1)'
  shapetracker explore '(3, 2).permute(1, 0).reshape(3, 2)' --open
  shapetracker batch --crc32 --expr chains.jsonl

Views are written (shape):(strides), as in (2, 3):(1, 2) offset 4, and stand next to memory first.
Exit status: 0 success, 1 a negative answer or a failed line of a batch, 2 bad usage or bad input.";

/// Runs the command whose words these are, the name of the program first, and returns its exit status: 0 for success, 1 for a negative
/// answer, 2 for words or input that it cannot read.
///
/// Answers are written to standard output, failures to standard error. `apply` handles the signals that end a process, and `explore` does
/// not return: the command takes the process to be its own.
///
/// ```
/// assert_eq!(shapetracker_cli::run(["shapetracker", "explain", "(3, 2).permute(1, 0)"]), 0);
/// assert_eq!(shapetracker_cli::run(["shapetracker", "check", "--shape", "2,3", "--strides", "1,2", "--to", "3,2"]), 1);
/// ```
pub fn run(words: impl IntoIterator<Item = impl Into<OsString>>) -> u8 {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    match Cli::try_parse_from(&words) {
        Ok(cli) => carry_out(cli),
        Err(err) => usage_error(&err, words.iter().any(|word| word == "--json")),
    }
}

fn carry_out(cli: Cli) -> u8 {
    cli.color.write_global();
    let answer = match cli.command {
        Command::Explain(args) => {
            return match explain::explain(&args) {
                Ok(explain::Told::Names(answer)) => give(&answer, cli.json),
                Ok(explain::Told::Numbers(explained)) => {
                    let mut to = BufWriter::new(anstream::stdout());
                    let written = explained.write(cli.json, &mut to).and_then(|()| to.flush());
                    status(written).unwrap_or(0)
                }
                Err(failure) => report(&failure, cli.json),
            };
        }
        Command::Apply(args) => apply::apply(&args, cli.json),
        Command::Batch(args) => {
            return match batch::batch(&args, &mut Cli::command()) {
                Ok(true) => 0,
                Ok(false) => 1,
                Err(failure) => report(&failure, cli.json),
            };
        }
        Command::Explore(args) => {
            return explore::explore(&args, cli.json).map_or_else(|failure| report(&failure, cli.json), |()| 0);
        }
        question => asked(question),
    };
    match answer {
        Ok(answer) => give(&answer, cli.json),
        Err(failure) => report(&failure, cli.json),
    }
}

/// The answer of a command that only answers.
fn asked(question: Command) -> Result<Answer, Failure> {
    match question {
        Command::Merge(args) => merge::merge(&args),
        Command::Check(args) => check::check(&args),
        Command::Describe(args) => describe::describe(&args),
        Command::Conditions(args) => conditions::conditions(&args),
        Command::Index(args) => index::index(&args),
        Command::Simplify(args) => simplify::simplify(&args),
        Command::Map(args) => map::map(&args),
        Command::Nest(args) => nest::nest(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Shard(args) => shard::shard(&args),
        Command::Layout(args) => layout::layout(&args),
        Command::Completions(args) => Ok(completions(&args)),
        Command::Man(args) => man::man(&args, Cli::command()),
        Command::Explain(_) | Command::Apply(_) | Command::Explore(_) | Command::Batch(_) => Err(Failure::new(
            "command",
            "a line cannot have the commands `explain`, `apply`, `explore` and `batch`: a chain is a line's base and ops, \
             and the others do more than to answer",
        )),
    }
}

/// What a command writes with `--json`, from its words without the name of the program, which the description of the command line reads.
fn asked_in_words(command: &mut clap::Command, words: &[String]) -> Result<Value, Failure> {
    if words.iter().any(|word| word == "-") {
        let message = "the command of a line cannot read standard input, which `-` asks for";
        return Err(Failure::new("command", message));
    }
    let words = std::iter::once("shapetracker").chain(words.iter().map(|word| &word[..]));
    let parsed = command.try_get_matches_from_mut(words).and_then(|found| Cli::from_arg_matches(&found));
    let cli = parsed.map_err(|err| Failure::new("usage", first_paragraph(&err)))?;
    Ok(asked(cli.command)?.json)
}

/// Writes an answer, and says whether it is positive.
fn give(answer: &Answer, json: bool) -> u8 {
    let text = if json { &(answer.json.to_string() + "\n") } else { &answer.text };
    print(&mut anstream::stdout(), text).unwrap_or(u8::from(!answer.positive))
}

fn completions(args: &CompletionsArgs) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "shapetracker", &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    let shell = args.shell.to_possible_value().map(|shell| shell.get_name().to_owned());
    Answer { json: json!({ "shell": shell, "script": text }), text, positive: true }
}

/// Says what is wrong with the command line, or shows the help or the version that was asked for.
fn usage_error(err: &clap::Error, wants_json: bool) -> u8 {
    if !wants_json || matches!(err.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Nobody is left to tell when this fails.
        let _ = err.print();
        return err.exit_code().clamp(0, 2) as u8;
    }
    report(&Failure::new("usage", first_paragraph(err)), true)
}

/// What is wrong with a command line, in one sentence: the other paragraphs are usage and advice.
fn first_paragraph(err: &clap::Error) -> String {
    let rendered = err.render().to_string();
    let paragraph = rendered.lines().take_while(|line| !line.is_empty()).map(str::trim);
    let message = paragraph.collect::<Vec<_>>().join(" ");
    message.trim_start_matches("error: ").to_owned()
}

/// Reports a failure: a sentence on standard error, or an object on standard output where JSON was asked for.
fn report(failure: &Failure, json: bool) -> u8 {
    let printed = if json {
        print(&mut anstream::stdout(), &(failure.json().to_string() + "\n"))
    } else {
        print(&mut anstream::stderr(), &failure.text())
    };
    printed.unwrap_or(failure.status())
}

/// Writes a text; returns an exit status if that could not be done.
fn print(to: &mut impl Write, text: &str) -> Option<u8> {
    status(to.write_all(text.as_bytes()).and_then(|()| to.flush()))
}

/// The exit status where an answer could not be written. A reader that has seen enough is no fault.
fn status(written: io::Result<()>) -> Option<u8> {
    match written {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => Some(2),
        _ => None,
    }
}

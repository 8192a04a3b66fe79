//! NumPy, in a process of its own that measures as we do.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::contest::Pair;
use crate::rows;

/// A Python that waits for copies to measure.
pub(crate) struct NumPy {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// NumPy and its version.
    pub(crate) version: String,
    /// OpenCV and its version, if it is there.
    pub(crate) opencv: Option<String>,
}

impl NumPy {
    /// Starts the interpreter that the variable `PYTHON` names, or `python3`; says why it cannot.
    pub(crate) fn start() -> Result<NumPy, String> {
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(&python);
        command.args(["-c", include_str!("in_python.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{python}: {error}"))?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{python} has no pipes"));
        };
        let mut numpy =
            NumPy { child, requests, answers: BufReader::new(answers), version: String::new(), opencv: None };
        let versions = numpy.answer().map_err(|reason| format!("{python}: {reason}"))?;
        let (version, opencv) = versions.split_once('\t').unwrap_or((&versions, ""));
        numpy.version = version.to_owned();
        numpy.opencv = (!opencv.is_empty()).then(|| opencv.to_owned());
        Ok(numpy)
    }

    /// The checksum of the result, and the times.
    pub(crate) fn contest(
        &mut self,
        dtype: &str,
        base: &[i64],
        shape: &[i64],
        copy: &rows::NumPy,
        time: Duration,
    ) -> Result<(u32, Vec<Pair>), String> {
        let sizes = |shape: &[i64]| shape.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
        let (once, measured) = match copy {
            rows::NumPy::View(view) => (format!("view = {view}"), "np.copyto(out, view)"),
            rows::NumPy::Chain(once, measured) => ((*once).to_owned(), *measured),
        };
        let (base, shape, time) = (sizes(base), sizes(shape), time.as_millis());
        // Rust's literals of such text are Python's too.
        writeln!(self.requests, "{dtype}\t{base}\t{shape}\t{time}\t{once:?}\t{measured:?}")
            .and_then(|()| self.requests.flush())
            .map_err(|error| error.to_string())?;
        let answer = self.answer()?;
        let mut words = answer.split(' ');
        let crc32 = words.next().and_then(|word| word.parse().ok());
        let figures: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
        let (Some(crc32), Some(figures)) = (crc32, figures) else {
            return Err(format!("not an answer: {answer}"));
        };
        let pairs = figures.chunks_exact(2).map(|pair| Pair { memcpy: pair[0], copy: pair[1] });
        Ok((crc32, pairs.collect()))
    }

    fn answer(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Err(error) => Err(error.to_string()),
            Ok(0) => Err("the interpreter has ended".to_owned()),
            Ok(_) => match line.trim_end_matches(['\r', '\n']).strip_prefix("error ") {
                Some(reason) => Err(reason.to_owned()),
                None => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
            },
        }
    }
}

impl Drop for NumPy {
    fn drop(&mut self) {
        // It has nothing to finish, and one that has ended already needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

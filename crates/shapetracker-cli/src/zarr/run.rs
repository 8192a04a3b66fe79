//! Moves an array chunk by chunk, as a schedule says.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use shapetracker_chunks::{ChunkPlan, Schedule, Step};
use shapetracker_copy::{Plan, Threads};

use super::store::{Sink, Source, chunk_bytes};
use crate::answer::Failure;
use crate::files::OutputFolder;

/// How an array is moved within some memory.
pub(super) struct Run {
    pub(super) schedule: Schedule,
    /// How many chunks are read, moved or written at the same time.
    threads: usize,
}

impl Run {
    /// The order in which chunks are read and written, so that at most so many bytes are in memory. Where they are too few
    /// for all threads, fewer threads do it.
    pub(super) fn new(plan: &ChunkPlan, memory: u64, width: usize, threads: u16) -> Result<Run, Failure> {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads.into(),
        };
        let chunks = plan.input().len().max(plan.output().len()).max(1);
        // The schedule counts chunks as they are moved. While one is decoded or encoded, its thread has it in two more
        // forms: as it is stored, and between two codecs or without what is beyond the edge of the array.
        let codecs = 2 * chunk_bytes(plan.input(), width).max(chunk_bytes(plan.output(), width));
        let mut threads = threads.min(chunks).max(1);
        loop {
            let left = memory.saturating_sub(codecs.saturating_mul(threads as u64));
            match plan.rounds(left, width as u64, threads) {
                Ok(schedule) => return Ok(Run { schedule, threads }),
                Err(err) if err.is_too_little_memory() && threads > 1 => threads /= 2,
                Err(err) if err.is_too_little_memory() => {
                    let needed = needed(plan, width, codecs);
                    let message = format!(
                        "--memory is too little: a chunk that is read and one that is written take {needed} bytes with \
                         what their codecs need; more memory or, with --chunks, smaller chunks of the output are needed"
                    );
                    return Err(Failure::new("memory", message));
                }
                Err(err) => return Err(err.into()),
            }
        }
    }

    /// Reads, moves and writes every chunk; what is masked has the value of `fill`.
    pub(super) fn run(
        &self,
        plan: &ChunkPlan,
        source: &Source,
        sink: &Sink,
        output: &OutputFolder,
        fill: &[u8],
    ) -> Result<(), Failure> {
        let width = source.width;
        let write = |(chunk, bytes): (usize, Vec<u8>)| output.write(bytes.len() as u64, || sink.write(chunk, bytes));
        let filled =
            |chunk: usize| -> Result<Vec<u8>, Failure> { Ok(fill.repeat(plan.output().numel(chunk) as usize)) };
        let mut read: HashMap<usize, Vec<u8>> = HashMap::new();
        let mut open: HashMap<usize, Vec<u8>> = HashMap::new();
        for step in self.schedule.steps() {
            match step {
                Step::Open(chunks) => {
                    for &chunk in chunks {
                        let is_filled = plan.filled(&plan.output().chunk(chunk)?)?;
                        let bytes = plan.output().numel(chunk) as usize * width;
                        open.insert(chunk, if is_filled { filled(chunk)? } else { vec![0; bytes] });
                    }
                }
                Step::Read(chunks) => {
                    read.extend(self.each(chunks.to_vec(), |chunk| Ok((chunk, source.read(chunk)?)))?);
                }
                Step::Move(pieces) => {
                    // Each output chunk is one thread's, with all of its pieces.
                    let mut moves: Vec<(usize, Vec<u8>, Vec<usize>)> = Vec::new();
                    for &(to, from) in pieces {
                        match moves.last_mut() {
                            Some((chunk, _, inputs)) if *chunk == to => inputs.push(from),
                            _ => moves.push((to, open.remove(&to).unwrap_or_default(), vec![from])),
                        }
                    }
                    let read = &read;
                    open.extend(self.each(moves, |(chunk, mut bytes, inputs)| {
                        let within = plan.output().chunk(chunk)?;
                        for input in inputs {
                            for section in plan.piece(&within, input)?.sections() {
                                let from = read.get(&input).map_or(&[][..], Vec::as_slice);
                                let to = &mut bytes[section.bytes(width)];
                                Plan::new(section.tracker(), width)?.read_over_bytes(from, to, &Threads::one())?;
                            }
                        }
                        Ok((chunk, bytes))
                    })?);
                }
                Step::Forget(chunks) => {
                    for chunk in chunks {
                        read.remove(chunk);
                    }
                }
                Step::Write(chunks) => {
                    let whole: Vec<(usize, Vec<u8>)> =
                        chunks.iter().filter_map(|chunk| open.remove_entry(chunk)).collect();
                    self.each(whole, write)?;
                }
            }
        }
        self.each(self.schedule.untouched().to_vec(), |chunk| write((chunk, filled(chunk)?)))?;
        Ok(())
    }

    /// Does something to every item, some at the same time. Ends at the first failure.
    fn each<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        if self.threads.min(items.len()) < 2 {
            return items.into_iter().map(work).collect();
        }
        let threads = self.threads.min(items.len());
        let items = Mutex::new(items.into_iter());
        let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
        // Nobody begins an item after another has failed.
        let ended = || while next().is_some() {};
        let work = || {
            let mut done = Vec::new();
            while let Some(item) = next() {
                done.push(work(item).inspect_err(|_| ended())?);
            }
            Ok(done)
        };
        thread::scope(|scope| {
            let helpers: Vec<_> = (1..threads)
                .map_while(|_| thread::Builder::new().name("chunks".into()).spawn_scoped(scope, work).ok())
                .collect();
            let mut all = work();
            for helper in helpers {
                let done = helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                match (&mut all, done) {
                    (Ok(all), Ok(done)) => all.extend(done),
                    (Ok(_), Err(failure)) => all = Err(failure),
                    (Err(_), _) => {}
                }
            }
            all
        })
    }
}

/// The least memory with which a chunk can be read and another be written.
fn needed(plan: &ChunkPlan, width: usize, codecs: u64) -> u64 {
    (chunk_bytes(plan.input(), width) + chunk_bytes(plan.output(), width)).saturating_add(codecs)
}

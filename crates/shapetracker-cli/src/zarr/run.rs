//! Moves an array chunk by chunk, as a schedule says.
//!
//! While this thread moves what was read, others read the next chunks of the schedule and write those that are complete, so
//! that neither the disk nor a codec is waited for where there is something else to do.

use std::collections::HashMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, Scope, ScopedJoinHandle};

use shapetracker_chunks::{ChunkPlan, Schedule, Step};
use shapetracker_copy::{Plan, Threads};

use super::store::{Sink, Source, chunk_bytes};
use crate::answer::Failure;
use crate::files::OutputFolder;

/// How an array is moved within some memory.
pub(super) struct Run {
    pub(super) schedule: Schedule,
    /// How many threads move pieces; where there are several, half as many read and as many write besides.
    threads: usize,
}

/// Fewer bytes per thread than this take less time than starting the thread.
const BYTES_PER_THREAD: usize = 512 << 10;

impl Run {
    /// The order in which chunks are read and written, so that at most so many bytes are in memory. Where they are too few
    /// for all threads, fewer threads do it.
    pub(super) fn new(plan: &ChunkPlan, memory: u64, width: usize, threads: u16) -> Result<Run, Failure> {
        let threads = match threads {
            0 => thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads.into(),
        };
        let (input, output) = (chunk_bytes(plan.input(), width), chunk_bytes(plan.output(), width));
        let mut threads = threads.min(plan.input().len().max(plan.output().len())).max(1);
        loop {
            // The schedule counts chunks as they are moved. While one is decoded or encoded, its thread has it in two more
            // forms: as it is stored, and between two codecs or without what is beyond the edge of the array. What is read
            // ahead or waits for the disk comes on top.
            let besides = match threads {
                1 => input.max(output).saturating_mul(2),
                _ => input.saturating_add(output).saturating_mul(3 * helpers(threads) as u64),
            };
            match plan.rounds(memory.saturating_sub(besides), width as u64, 1) {
                Ok(schedule) => return Ok(Run { schedule, threads }),
                Err(err) if err.is_too_little_memory() && threads > 1 => threads /= 2,
                Err(err) if err.is_too_little_memory() => {
                    let needed = input.saturating_add(output).saturating_add(besides);
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
        let read = |chunk: usize| source.read(chunk);
        let write = |chunk: usize, bytes: Vec<u8>| output.write(bytes.len() as u64, || sink.write(chunk, bytes));
        let pieces = Pieces { plan, width: source.width, fill, threads: self.threads };
        if self.threads == 1 {
            return pieces.follow(&self.schedule, read, write);
        }
        let helpers = helpers(self.threads);
        let ahead = Ahead::new(&self.schedule, helpers);
        let (queue, waiting) = mpsc::sync_channel(0);
        let writers = Writers { waiting: Mutex::new(waiting), failure: Mutex::new(None) };
        thread::scope(|scope| {
            // However this ends, the readers stop and, with the queue, the writers.
            let queue = queue;
            let _stop = Stop(&ahead);
            for _ in 0..helpers {
                begin(scope, "reader", || ahead.work(read))?;
                begin(scope, "writer", || writers.work(write))?;
            }
            pieces.follow(
                &self.schedule,
                |_| ahead.take(),
                |chunk, bytes| {
                    writers.check()?;
                    queue.send((chunk, bytes)).map_err(|_| Failure::new("io", "nothing can be written any more"))
                },
            )
        })?;
        writers.check()
    }
}

/// How many threads read, and how many write, beside so many that move.
fn helpers(threads: usize) -> usize {
    threads.div_ceil(2)
}

/// The pieces of chunks that are moved.
struct Pieces<'a> {
    plan: &'a ChunkPlan,
    width: usize,
    fill: &'a [u8],
    threads: usize,
}

impl Pieces<'_> {
    /// Follows a schedule, with what reads a chunk and what writes one.
    fn follow(
        &self,
        schedule: &Schedule,
        mut read: impl FnMut(usize) -> Result<Vec<u8>, Failure>,
        mut write: impl FnMut(usize, Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let output = self.plan.output();
        let (mut inputs, mut outputs) = (HashMap::new(), HashMap::new());
        for step in schedule.steps() {
            match step {
                Step::Open(chunks) => {
                    for &chunk in chunks {
                        let is_filled = self.plan.filled(&output.chunk(chunk)?)?;
                        let zeros = || vec![0; output.numel(chunk) as usize * self.width];
                        outputs.insert(chunk, if is_filled { self.filled(chunk) } else { zeros() });
                    }
                }
                Step::Read(chunks) => {
                    for &chunk in chunks {
                        inputs.insert(chunk, read(chunk)?);
                    }
                }
                Step::Move(pieces) => self.move_pieces(pieces, &inputs, &mut outputs)?,
                Step::Forget(chunks) => {
                    for chunk in chunks {
                        inputs.remove(chunk);
                    }
                }
                Step::Write(chunks) => {
                    for &chunk in chunks {
                        write(chunk, outputs.remove(&chunk).unwrap_or_default())?;
                    }
                }
            }
        }
        for &chunk in schedule.untouched() {
            write(chunk, self.filled(chunk))?;
        }
        Ok(())
    }

    /// A chunk of the output in which everything is masked.
    fn filled(&self, chunk: usize) -> Vec<u8> {
        self.fill.repeat(self.plan.output().numel(chunk) as usize)
    }

    /// Moves pieces, which are pairs of an output chunk and an input chunk in the order of the output chunks. All of one
    /// output chunk are moved by one thread.
    fn move_pieces(
        &self,
        pieces: &[(usize, usize)],
        inputs: &HashMap<usize, Vec<u8>>,
        outputs: &mut HashMap<usize, Vec<u8>>,
    ) -> Result<(), Failure> {
        let groups: Vec<_> = pieces
            .chunk_by(|one, next| one.0 == next.0)
            .map(|group| (group, outputs.remove(&group[0].0).unwrap_or_default()))
            .collect();
        let bytes: usize = inputs.values().chain(groups.iter().map(|(_, bytes)| bytes)).map(Vec::len).sum();
        let threads = self.threads.min(groups.len()).min(bytes / BYTES_PER_THREAD).max(1);
        let groups = Mutex::new(groups.into_iter());
        let next = || locked(&groups).next();
        let work = || {
            let mut moved = Vec::new();
            while let Some((group, mut bytes)) = next() {
                self.move_into(group, inputs, &mut bytes).inspect_err(|_| while next().is_some() {})?;
                moved.push((group[0].0, bytes));
            }
            Ok::<_, Failure>(moved)
        };
        if threads == 1 {
            outputs.extend(work()?);
            return Ok(());
        }
        thread::scope(|scope| {
            let others = (1..threads).map(|_| begin(scope, "chunks", work)).collect::<Result<Vec<_>, _>>()?;
            outputs.extend(work()?);
            for other in others {
                outputs.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok(())
        })
    }

    /// Moves pieces into the memory of their output chunk.
    fn move_into(
        &self,
        pieces: &[(usize, usize)],
        inputs: &HashMap<usize, Vec<u8>>,
        bytes: &mut [u8],
    ) -> Result<(), Failure> {
        let within = self.plan.output().chunk(pieces[0].0)?;
        for (_, input) in pieces {
            let from = inputs.get(input).map_or(&[][..], Vec::as_slice);
            for section in self.plan.piece(&within, *input)?.sections() {
                let to = &mut bytes[section.bytes(self.width)];
                Plan::new(section.tracker(), self.width)?.read_over_bytes(from, to, &Threads::one())?;
            }
        }
        Ok(())
    }
}

/// Chunks that are read ahead, in the order of a schedule.
struct Ahead {
    order: Vec<usize>,
    /// At most so many chunks are read, or being read, that were not taken yet.
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// How many chunks were begun to be read, and how many were taken.
    begun: usize,
    taken: usize,
    /// By their places in the order. A reader's panic is passed on.
    read: HashMap<usize, thread::Result<Result<Vec<u8>, Failure>>>,
    stopped: bool,
}

impl Ahead {
    fn new(schedule: &Schedule, most: usize) -> Ahead {
        let reads = schedule.steps().iter().filter_map(|step| match step {
            Step::Read(chunks) => Some(chunks),
            _ => None,
        });
        let state = State { begun: 0, taken: 0, read: HashMap::new(), stopped: false };
        Ahead { order: reads.flatten().copied().collect(), most, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Reads chunks until there are no more.
    fn work(&self, read: impl Fn(usize) -> Result<Vec<u8>, Failure>) {
        loop {
            let mut state = self.when(|state| {
                state.stopped || state.begun == self.order.len() || state.begun < state.taken + self.most
            });
            let place = state.begun;
            if state.stopped || place == self.order.len() {
                return;
            }
            state.begun += 1;
            drop(state);
            let chunk = catch_unwind(AssertUnwindSafe(|| read(self.order[place])));
            locked(&self.state).read.insert(place, chunk);
            self.changed.notify_all();
        }
    }

    /// The next chunk of the schedule.
    fn take(&self) -> Result<Vec<u8>, Failure> {
        let mut state = self.when(|state| state.read.contains_key(&state.taken));
        let place = state.taken;
        let chunk = state.read.remove(&place);
        state.taken += 1;
        drop(state);
        self.changed.notify_all();
        match chunk {
            Some(Ok(chunk)) => chunk,
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(Failure::new("io", "a chunk was not read")),
        }
    }

    fn when(&self, is: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.changed.wait_while(locked(&self.state), |state| !is(state));
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the readers end.
struct Stop<'a>(&'a Ahead);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).stopped = true;
        self.0.changed.notify_all();
    }
}

/// Chunks that are complete and wait for a thread that writes them.
struct Writers {
    waiting: Mutex<mpsc::Receiver<(usize, Vec<u8>)>>,
    failure: Mutex<Option<Failure>>,
}

impl Writers {
    /// Writes chunks until the queue ends; after a failure, nothing more.
    fn work(&self, write: impl Fn(usize, Vec<u8>) -> Result<(), Failure>) {
        loop {
            // Not while the chunk is written: the others wait for the next one.
            let next = locked(&self.waiting).recv();
            let Ok((chunk, bytes)) = next else { return };
            if locked(&self.failure).is_none()
                && let Err(failure) = write(chunk, bytes)
            {
                locked(&self.failure).get_or_insert(failure);
            }
        }
    }

    /// The failure of a writer, if one has failed.
    fn check(&self) -> Result<(), Failure> {
        locked(&self.failure).take().map_or(Ok(()), Err)
    }
}

/// Starts a thread.
fn begin<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, Failure> {
    let thread = thread::Builder::new().name(name.into()).spawn_scoped(scope, work);
    thread.map_err(|err| Failure::new("io", format!("a thread cannot start: {err}")))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

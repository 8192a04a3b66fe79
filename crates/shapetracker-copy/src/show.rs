//! A plan as text: the loops from the outside in, what they decide, and what moves in the innermost.

use std::fmt::{self, Display, Formatter, Write};

use crate::cover::Planned;
use crate::form::Condition;
use crate::mover::{Axis, Inner, Loop, Mover, Shuffled, Tiles};
use crate::nest::{Direction, Nest};
use crate::walk::Walk;

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Condition { form, range } = self;
        match (range.start, range.end) {
            (i64::MIN, end) => write!(f, "{form} < {end}"),
            (start, i64::MAX) => write!(f, "{form} >= {start}"),
            (start, end) => write!(f, "{start} <= {form} < {end}"),
        }
    }
}

/// Numbers of elements; of bytes where those are no whole elements.
struct Elements(isize, usize);

impl Display for Elements {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Elements(bytes, width) = *self;
        match bytes.unsigned_abs().is_multiple_of(width) {
            true => write!(f, "{:+}", bytes / width as isize),
            false => write!(f, "{bytes:+} bytes"),
        }
    }
}

impl Display for Walk {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (numel, views) = (self.tracker.numel(), self.tracker.views().len());
        writeln!(f, "{numel} elements walked through {views} views, a run of equally spaced addresses at a time")
    }
}

/// The most floors or conditions of a box that are shown.
const MOST: usize = 16;

impl Nest {
    /// The loops, each line indented by some steps.
    pub(crate) fn show(&self, f: &mut impl Write, depth: usize) -> fmt::Result {
        if let Some(stage) = &self.stage {
            writeln!(f, "{:1$}into a stage of {2} elements", "", 2 * depth, stage.numel())?;
            match stage.loops() {
                Planned::Parts(nests) => nests.iter().try_for_each(|nest| nest.show(f, depth + 1))?,
                Planned::Walk(walk) => write!(f, "{:1$}{walk}", "", 2 * (depth + 1))?,
            }
            writeln!(f, "{:1$}and from there", "", 2 * depth)?;
        }
        let mut depth = depth;
        for (at, (axis, extent)) in self.outside.iter().enumerate() {
            let leaps = self.leaps && at + 1 == self.outside.len();
            let how = if leaps { ", as far at a time as all below stays the same" } else { "" };
            writeln!(f, "{:1$}for i{axis} in 0..{2}{how}", "", 2 * depth, extent.count)?;
            depth += 1;
        }
        let indent = 2 * depth;
        for (at, floor) in self.floors.iter().enumerate().take(MOST) {
            writeln!(f, "{:indent$}q{at} = ({}) // {}", "", floor.numerator, floor.divisor)?;
        }
        for condition in self.conditions.iter().take(MOST) {
            writeln!(f, "{:indent$}data where {condition}", "")?;
        }
        for (all, what) in [(self.floors.len(), "floors"), (self.conditions.len(), "conditions")] {
            if all > MOST {
                writeln!(f, "{:indent$}and {} more {what}", "", all - MOST)?;
            }
        }
        if self.mover.moves_nothing() {
            return writeln!(f, "{:indent$}filled: no data", "");
        }
        if !self.outside.is_empty() {
            let side = if self.direction == Direction::Read { "from" } else { "to" };
            writeln!(f, "{:indent$}{side} element {}", "", self.address)?;
        }
        self.mover.show(f, depth, self.width)?;
        if self.margins.is_some() {
            writeln!(f, "{:indent$}the rest filled in rows", "")?;
        }
        Ok(())
    }
}

impl Mover {
    fn show(&self, f: &mut impl Write, depth: usize, width: usize) -> fmt::Result {
        let mut depth = depth;
        let strides = |axis: &Axis| (Elements(axis.from, width), Elements(axis.to, width));
        for around in &self.loops {
            let indent = 2 * depth;
            match (around, &self.inner) {
                (Loop::Over(axis), _) if axis.count == 1 => continue,
                (Loop::Over(axis), _) => {
                    let (from, to) = strides(axis);
                    let part = if axis.span.is_some() { ", where there is data" } else { "" };
                    writeln!(f, "{:indent$}{} times: read {from}, write {to}{part}", "", axis.count)?;
                }
                (_, Inner::Tiles(tiles)) => {
                    let across = *around == Loop::Across;
                    let (group, steps) =
                        if across { (&tiles.across, tiles.steps.0) } else { (&tiles.down, tiles.steps.1) };
                    let count = group.last().map_or(1, |axis| axis.count.div_ceil(steps));
                    writeln!(f, "{:indent$}{count} tiles {}", "", if across { "across" } else { "down" })?;
                }
                _ => continue,
            }
            depth += 1;
        }
        let indent = 2 * depth;
        let unit = if self.unit == width { String::new() } else { format!(" of {} bytes", self.unit) };
        match &self.inner {
            Inner::Rows(run, _) if run.count == 1 => writeln!(f, "{:indent$}one element{unit}", ""),
            Inner::Rows(run, _) => {
                let part = if run.span.is_some() { ", filled where there is no data" } else { "" };
                writeln!(f, "{:indent$}a run of {} elements{unit}{part}", "", run.count)
            }
            Inner::Shuffled(Shuffled { block, along, steps, .. }) => {
                let inner: usize = block.iter().map(|axis| axis.count).product();
                let (all, some) = (along.count * inner, steps * inner);
                writeln!(f, "{:indent$}a run of {all} elements{unit}, put in order {some} at a time", "")
            }
            Inner::Strided(axis) => {
                let (from, to) = strides(axis);
                writeln!(f, "{:indent$}{} elements{unit}: read {from}, write {to}", "", axis.count)
            }
            Inner::Tiles(tiles) => tiles.show(f, indent, &unit, width),
        }
    }
}

impl Tiles {
    fn show(&self, f: &mut impl Write, indent: usize, unit: &str, width: usize) -> fmt::Result {
        let whole = |group: &[Axis], steps: usize| -> usize {
            let inner: usize = group.iter().rev().skip(1).map(|axis| axis.count).product();
            inner * group.last().map_or(1, |axis| axis.count.min(steps))
        };
        let (columns, rows) = (whole(&self.across, self.steps.0), whole(&self.down, self.steps.1));
        if rows == 1 {
            let step = Elements(self.across[0].from, width);
            return writeln!(f, "{:indent$}{columns} elements{unit} gathered ({step}), written as a run", "");
        }
        writeln!(f, "{:indent$}a tile of {columns} columns and {rows} rows{unit}, read by columns, written by rows", "")
    }
}

//! A tracker's access lowered to loops by hand: what a compiler does that has its own loops and its own instructions.

use shapetracker::ShapeTracker;
use shapetracker::expr::{Linear, Term};

/// An instruction of a small loop machine: values are numbered, and each is made of earlier ones.
#[derive(Debug)]
enum Instruction {
    Constant(i64),
    Loop(usize),
    /// `value * factor`.
    Scale(usize, i64),
    Add(usize, usize),
    /// Division that rounds down.
    FloorDivide(usize, i64),
}

#[derive(Default)]
struct Program(Vec<Instruction>);

impl Program {
    fn push(&mut self, instruction: Instruction) -> usize {
        self.0.push(instruction);
        self.0.len() - 1
    }

    /// A linear form, over loops and over floors that are values already.
    fn form(&mut self, form: &Linear, floors: &[usize]) -> usize {
        let mut sum = self.push(Instruction::Constant(form.constant()));
        for (term, factor) in form.terms() {
            let value = match term {
                Term::Variable(axis) => self.push(Instruction::Loop(*axis)),
                Term::Floor(at) => floors[*at],
            };
            let scaled = self.push(Instruction::Scale(value, *factor));
            sum = self.push(Instruction::Add(sum, scaled));
        }
        sum
    }

    fn run(&self, index: &[i64]) -> Vec<i64> {
        let mut values: Vec<i64> = Vec::new();
        for instruction in &self.0 {
            values.push(match *instruction {
                Instruction::Constant(value) => value,
                Instruction::Loop(axis) => index[axis],
                Instruction::Scale(value, factor) => values[value] * factor,
                Instruction::Add(a, b) => values[a] + values[b],
                Instruction::FloorDivide(value, divisor) => values[value].div_euclid(divisor),
            });
        }
        values
    }
}

fn main() -> Result<(), shapetracker::Error> {
    // A transposed matrix, flattened, padded at its end and cut into rows of 5: three views, a division and a mask.
    let st = ShapeTracker::contiguous([4, 6])?.permute([1, 0])?.reshape([24])?.pad([(0, 1)])?.reshape([5, 5])?;
    let access = st.access()?;
    assert!(access.affine().is_none()); // a floor is left: no loop nest without a division reads this

    // Floors come before what is made of them, so that one pass lowers everything.
    let mut program = Program::default();
    let mut floors = Vec::new();
    for floor in access.floors() {
        let numerator = program.form(&floor.numerator, &floors);
        floors.push(program.push(Instruction::FloorDivide(numerator, floor.divisor)));
    }
    let guards: Vec<_> = access.conditions().iter().map(|guard| (guard, program.form(&guard.form, &floors))).collect();
    let address = access.address().map(|address| program.form(address, &floors));

    for row in 0..5 {
        for column in 0..5 {
            let values = program.run(&[row, column]);
            let valid = guards.iter().all(|(guard, value)| guard.allows(values[*value].into()));
            let read = address.filter(|_| valid).map(|address| values[address]);
            assert_eq!(read, st.address(&[row, column]));
        }
    }
    Ok(())
}

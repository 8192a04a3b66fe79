//! Nests: the loops of a statement over several layouts.

use std::ffi::c_char;

use indexpr::{Body, Clip, Size};
use shapetracker_symbolic::{Question, StatementNest, bounded};

use crate::caller::{Caller, Handle, free, handed, handed_text};
use crate::error::{Error, Mistake};
use crate::expression::language;

/// The loops around a statement over several layouts. It changes as loops are split and put into another order, so that no two threads
/// use one at a time.
#[derive(Clone)]
pub struct Nest(StatementNest);

impl Handle for Nest {
    const WHAT: &'static str = "nest";
}

/// Changes a nest: as a copy, so that what is refused leaves it as it was.
///
/// # Safety
/// The promises of the caller of a function of this interface.
#[allow(unsafe_code)]
unsafe fn changed(
    operation: &'static str,
    nest: *mut Nest,
    does: impl FnOnce(&Caller, &mut StatementNest) -> Result<(), Mistake>,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of(operation) };
    caller.done(|caller| {
        let nest = caller.handle_mut("the nest", nest)?;
        let mut copy = nest.0.clone();
        does(caller, &mut copy)?;
        nest.0 = copy;
        Ok(())
    })
}

/// Texts in a list.
fn texts<'c>(
    caller: &'c Caller,
    what: &str,
    list: *const *const c_char,
    count: usize,
) -> Result<Vec<&'c str>, Mistake> {
    caller.list(what, list, count)?.iter().map(|&text| caller.text(what, text)).collect()
}

/// The loops of a statement: lines, or parts with `;` between them, that are layouts as `st_tracker_read` reads them
/// (`x = (n,).pad((1, 1))`), sizes of loops (`i = 0..64`) and one statement (`y[i] += x[i + k] * w[k]`), whose right side is text of the
/// language that is written. Loops that are not on the left are reduced; padding of what is read is 0. `known` may be null.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_read(text: *const c_char, known: *const c_char, out: *mut *mut Nest) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("read") };
    caller.answer(out, |caller| {
        let (text, known) = (caller.text("the statement", text)?, caller.text_or_none("what is known", known)?);
        let nest = bounded(|| {
            let mut question = Question::new(known).map_err(|err| Mistake::text("where", &err))?;
            let statement = question.statement(text).map_err(|err| Mistake::text("read", &err))?;
            let scope = question.scope().map_err(|err| Mistake::text("where", &err))?;
            statement.nest(&scope).map_err(|err| Mistake::text("read", &err))
        });
        Ok(handed(Nest(nest?)))
    })
}

/// Runs a loop as several, the outermost first: the product of the factors is its size. Factors are texts, numbers or expressions over
/// the names. The loops are called as this one, with a number behind: `i0`, `i1`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_split(
    nest: *mut Nest,
    name: *const c_char,
    factors: *const *const c_char,
    count: usize,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        changed("split", nest, |caller, nest| {
            let name = caller.text("the name of the loop", name)?;
            let factor = |text| nest.parse(text).map(Size::from).map_err(|err| Mistake::text("split", &err));
            let factors = texts(caller, "the factors", factors, count)?.into_iter().map(factor);
            let factors = factors.collect::<Result<Vec<_>, _>>()?;
            Ok(nest.nest_mut().split(name, &factors)?)
        })
    }
}

/// Splits loops so that no access has a division that a split avoids.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_split_where_affine(nest: *mut Nest) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        changed("split_where_affine", nest, |_, nest| {
            nest.nest_mut().split_where_affine()?;
            Ok(())
        })
    }
}

/// Puts all loops into an order: their names, the outermost first.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_reorder(nest: *mut Nest, names: *const *const c_char, count: usize) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        changed("reorder", nest, |caller, nest| {
            Ok(nest.nest_mut().reorder(&texts(caller, "the names of loops", names, count)?)?)
        })
    }
}

/// Runs the body only where the guards of some accesses hold, by shorter loops: reduced ones alone where `only_reduced`, so that what is
/// before and after these still is run for every element.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_clip(
    nest: *mut Nest,
    accesses: *const *const c_char,
    count: usize,
    only_reduced: bool,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        changed("clip", nest, |caller, nest| {
            let accesses = texts(caller, "the names of accesses", accesses, count)?;
            Ok(nest.nest_mut().clip(&accesses, if only_reduced { Clip::Reduced } else { Clip::All })?)
        })
    }
}

/// The loops as text of a language: `python`, `c`, `cuda`, `opencl`, `metal`, `wgsl`, `rust` or `mlir`. `body` stands in the innermost loop,
/// `before` and `after` around the innermost loops that are reduced; in them `{x}` is the index of the access `x`, and `{x?}` its guard.
/// Each may be null: then the body is the statement itself, and nothing stands around it.
///
/// Errors: a language that there is not, and what it does not have (`language`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_code(
    nest: *const Nest,
    language: *const c_char,
    body: *const c_char,
    before: *const c_char,
    after: *const c_char,
    out: *mut *mut c_char,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("code") };
    caller.answer(out, |caller| {
        let nest = &caller.handle("the nest", nest)?.0;
        let language = self::language("code", caller.text("the language", language)?)?;
        let lines = |what, text| Ok::<_, Mistake>(caller.text_or_none(what, text)?.unwrap_or_default());
        let body = match caller.text_or_none("the body", body)? {
            Some(body) => Body::new(body),
            None => nest.body(language).map_err(|err| Mistake::text("code", &err))?,
        };
        let body = body.before(lines("what stands before", before)?).after(lines("what stands after", after)?);
        let code = nest.nest().code(language, &body);
        code.map(handed_text).map_err(|err| Mistake::new("language", "code", err.to_string()))
    })
}

/// Ends a nest; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_nest_free(nest: *mut Nest) {
    // SAFETY: the promise of the caller.
    unsafe { free(nest) }
}

//! Factors of polynomials: numbers, names, and what the coefficients of a name that occurs once have in common.
//!
//! Complete for what is linear in some name, as differences of products of sizes are.

use crate::poly::{Poly, TooLarge, Var};

/// The factors of a polynomial that are not numbers. Their product is the polynomial, up to a number.
pub(crate) fn factors(poly: &Poly) -> Vec<Poly> {
    let mut factors = Vec::new();
    if poly.number().is_some() {
        return factors;
    }
    let monomial = poly.common_monomial();
    factors.extend(monomial.factors().map(Poly::from));
    let mut rest = vec![primitive(&poly.over_monomial(monomial))];
    while let Some(poly) = rest.pop() {
        if poly.number().is_some() {
            continue;
        }
        match split(&poly) {
            Some((factor, other)) => rest.extend([other, factor]),
            None => factors.push(poly),
        }
    }
    factors
}

/// A factor of a polynomial that has no monomial as a factor, and the rest.
fn split(poly: &Poly) -> Option<(Poly, Poly)> {
    if poly.terms().len() < 4 {
        // Two factors of two terms each make four, unless terms cancel: of these there is the difference of two squares.
        return squares(poly);
    }
    for var in poly.vars() {
        if let Some((by, rest)) = poly.linear_in(var) {
            let common = primitive(&gcd(&by, &rest, 8).ok()?);
            if common.number().is_none() {
                let other = poly.div_exact(&common).ok()??;
                return Some((common, other));
            }
            // Linear in this name, and nothing in common: there is no other factor.
            return None;
        }
    }
    None
}

/// `a^2 - b^2` of two monomials.
fn squares(poly: &Poly) -> Option<(Poly, Poly)> {
    let &[(m, c), (n, d)] = poly.terms() else { return None };
    let root = |monomial: crate::poly::Monomial, factor: i128| {
        let factors: Vec<Var> = monomial.factors().collect();
        let pairs = factors.chunks(2);
        let whole = pairs.clone().all(|pair| matches!(pair, [a, b] if a == b));
        let number = factor.isqrt();
        (whole && number * number == factor).then(|| {
            pairs.map(|pair| Poly::from(pair[0])).try_fold(Poly::from(number), |product, var| product.mul(&var))
        })
    };
    let (plus, minus) = if c > 0 && d < 0 { ((m, c), (n, -d)) } else { return None };
    let (a, b) = (root(plus.0, plus.1)?.ok()?, root(minus.0, minus.1)?.ok()?);
    Some((a.sub(&b).ok()?, a.add(&b).ok()?))
}

/// The polynomial without the number that all coefficients have as a factor.
fn primitive(poly: &Poly) -> Poly {
    match poly.content() {
        0 | 1 => poly.clone(),
        content => poly.over_number(content),
    }
}

/// A common divisor of two polynomials: the greatest one, unless they are too large or too deep for it.
pub(crate) fn gcd(a: &Poly, b: &Poly, depth: usize) -> Result<Poly, TooLarge> {
    if a.is_zero() {
        return Ok(b.clone());
    }
    if b.is_zero() {
        return Ok(a.clone());
    }
    let number = shapetracker_base::int::gcd(a.content(), b.content());
    if a.number().is_some() || b.number().is_some() || depth == 0 {
        return Ok(Poly::from(number));
    }
    let (m, n) = (a.common_monomial(), b.common_monomial());
    let common = Poly::term(m.common(n), 1);
    let (a, b) = (primitive(&a.over_monomial(m)), primitive(&b.over_monomial(n)));
    let greatest = primitive_gcd(&a, &b, depth)?;
    greatest.mul(&common)?.scale(number)
}

/// The greatest common divisor of two polynomials without factors of one term.
fn primitive_gcd(a: &Poly, b: &Poly, depth: usize) -> Result<Poly, TooLarge> {
    if a.number().is_some() || b.number().is_some() {
        return Ok(Poly::one());
    }
    if a == b || a.neg()? == *b {
        return Ok(a.clone());
    }
    let (of_a, of_b) = (a.vars(), b.vars());
    // A name that only one of them has is in no common divisor: its coefficients have all common divisors.
    for (poly, other, vars, others) in [(a, b, &of_a, &of_b), (b, a, &of_b, &of_a)] {
        if let Some(&var) = vars.iter().find(|var| !others.contains(var)) {
            let mut common = other.clone();
            for coefficient in poly.powers_of(var) {
                common = gcd(&common, &coefficient, depth - 1)?;
            }
            return Ok(primitive(&common));
        }
    }
    // Euclid's algorithm in one name, with contents taken out.
    let Some(&var) = of_a.iter().min_by_key(|&&var| a.degree_in(var).min(b.degree_in(var))) else {
        return Ok(Poly::one());
    };
    let content =
        |poly: &Poly| poly.powers_of(var).iter().try_fold(Poly::zero(), |common, power| gcd(&common, power, depth - 1));
    let (in_a, in_b) = (content(a)?, content(b)?);
    let outer = gcd(&in_a, &in_b, depth - 1)?;
    let over = |poly: &Poly, by: &Poly| Ok(poly.div_exact(by)?.unwrap_or_else(|| poly.clone()));
    let (mut x, mut y) = (over(a, &in_a)?, over(b, &in_b)?);
    if x.degree_in(var) < y.degree_in(var) {
        (x, y) = (y, x);
    }
    for _ in 0..8 {
        if y.is_zero() {
            return outer.mul(&x);
        }
        if y.degree_in(var) == 0 {
            return Ok(outer);
        }
        let rest = pseudo_remainder(x, &y, var)?;
        let inner =
            rest.powers_of(var).iter().try_fold(Poly::zero(), |common, power| gcd(&common, power, depth - 1))?;
        x = y;
        y = if rest.is_zero() { rest } else { over(&rest, &inner)? };
    }
    Ok(Poly::one())
}

/// The remainder of a multiple of one polynomial by another one, as polynomials in one name.
fn pseudo_remainder(mut x: Poly, y: &Poly, var: Var) -> Result<Poly, TooLarge> {
    let degree = y.degree_in(var);
    let lead = y.powers_of(var).pop().unwrap_or_default();
    while !x.is_zero() && x.degree_in(var) >= degree {
        let power = x.degree_in(var);
        let top = x.powers_of(var).pop().unwrap_or_default();
        let shift = Poly::from(var).pow(power - degree)?;
        x = x.mul(&lead)?.sub(&y.mul(&top)?.mul(&shift)?)?;
        if x.has(var) && x.degree_in(var) == power {
            return Err(TooLarge::Number); // Cannot be: the first terms cancel.
        }
        if degree == 0 {
            break;
        }
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(polys: &[Poly]) -> Poly {
        polys.iter().try_fold(Poly::one(), |product, poly| product.mul(poly)).unwrap()
    }

    #[test]
    fn factors_multiply_to_the_polynomial() {
        let [a, b, c, d] = [0, 1, 2, 3].map(|var| Poly::from(Var(var)));
        let one = Poly::one();
        let cases = [
            vec![a.sub(&one).unwrap(), b.sub(&one).unwrap()],
            vec![a.clone(), b.mul(&c).unwrap().sub(&one).unwrap(), d.sub(&b).unwrap()],
            vec![a.sub(&b).unwrap(), a.add(&b).unwrap()],
            vec![a.add(&b).unwrap().add(&c).unwrap(), b.sub(&c).unwrap()],
        ];
        for case in cases {
            let whole = product(&case);
            let found = factors(&whole);
            assert_eq!(found.len(), case.len(), "{whole:?}: {found:?}");
            let again = product(&found);
            assert!(again == whole || again.neg().unwrap() == whole, "{whole:?}: {found:?}");
        }
    }

    #[test]
    fn a_common_divisor_is_found_in_several_names() {
        let [a, b, c] = [0, 1, 2].map(|var| Poly::from(Var(var)));
        let common = a.mul(&b).unwrap().sub(&c).unwrap();
        let x = common.mul(&a.add(&c).unwrap()).unwrap();
        let y = common.mul(&b.sub(&c).unwrap()).unwrap();
        let found = gcd(&x, &y, 8).unwrap();
        assert!(found == common || found.neg().unwrap() == common, "{found:?}");
    }
}

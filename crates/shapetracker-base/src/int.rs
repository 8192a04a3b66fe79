//! Integer arithmetic that rounds down: the greatest common divisor, and division by the floor and the ceiling.
//!
//! Everything that divides in the crates that stand on this one divides with these functions: Rust's `/` rounds towards
//! zero, and an index expression rounds down.

/// The greatest common divisor of two numbers of any sign; `gcd(0, 0)` is 0.
///
/// ```
/// assert_eq!(shapetracker_base::int::gcd(-12, 18), 6);
/// assert_eq!(shapetracker_base::int::gcd(0, -5), 5);
/// ```
///
/// # Panics
/// With overflow checks, when the divisor would be 2^127.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        // Once both fit 64 bits, they do for good.
        if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
            return gcd_64(a, b).into();
        }
        (a, b) = (b, a % b);
    }
    a
}

/// [`gcd`] of natural numbers of 64 bits. Most that are asked about are 1, or divide one another.
fn gcd_64(mut a: u64, mut b: u64) -> u64 {
    while b > 1 {
        (a, b) = (b, a % b);
    }
    if b == 1 { 1 } else { a }
}

/// `(g, x, y)` with `a x + b y = g`, the greatest common divisor; for `a, b >= 0`, not both 0.
///
/// ```
/// let (g, x, y) = shapetracker_base::int::extended_gcd(12, 18);
/// assert_eq!((g, 12 * x + 18 * y), (6, 6));
/// ```
pub fn extended_gcd(a: i128, b: i128) -> (i128, i128, i128) {
    let (mut r, mut x, mut y) = ((a, b), (1, 0), (0, 1));
    while r.1 != 0 {
        let q = div(r.0, r.1);
        r = (r.1, r.0 - q * r.1);
        x = (x.1, x.0 - q * x.1);
        y = (y.1, y.0 - q * y.1);
    }
    (r.0, x.0, y.0)
}

/// `a / b` for `a >= 0`, `b > 0`: nearly always both fit 64 bits, where division is several times faster.
///
/// ```
/// assert_eq!(shapetracker_base::int::div(17, 5), 3);
/// ```
#[inline]
pub fn div(a: i128, b: i128) -> i128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => i128::from(a / b),
        _ => a / b,
    }
}

/// `a % b` for `a >= 0`, `b > 0`, as fast.
///
/// ```
/// assert_eq!(shapetracker_base::int::rem(17, 5), 2);
/// ```
#[inline]
pub fn rem(a: i128, b: i128) -> i128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => i128::from(a % b),
        _ => a % b,
    }
}

/// The quotient rounded down, by a divisor of either sign that is not 0.
///
/// ```
/// use shapetracker_base::int::div_floor;
/// assert_eq!((div_floor(7, 2), div_floor(-7, 2), div_floor(7, -2)), (3, -4, -4));
/// ```
#[inline]
pub fn div_floor(a: i128, b: i128) -> i128 {
    let (a, b) = if b < 0 { (-a, -b) } else { (a, b) };
    match (i64::try_from(a), i64::try_from(b)) {
        // The divisor is positive here, so that this cannot overflow.
        (Ok(a), Ok(b)) => a.div_euclid(b).into(),
        _ => a.div_euclid(b),
    }
}

/// The quotient rounded up, by a divisor of either sign that is not 0.
///
/// ```
/// use shapetracker_base::int::div_ceil;
/// assert_eq!((div_ceil(7, 2), div_ceil(-7, 2), div_ceil(7, -2)), (4, -3, -3));
/// ```
#[inline]
pub fn div_ceil(a: i128, b: i128) -> i128 {
    -div_floor(-a, b)
}

/// [`div_ceil`] of 64-bit numbers, by a positive divisor: for loops in which every nanosecond counts.
///
/// ```
/// use shapetracker_base::int::div_ceil_64;
/// assert_eq!((div_ceil_64(7, 2), div_ceil_64(-7, 2), div_ceil_64(i64::MAX, 2)), (4, -3, 1 << 62));
/// ```
#[inline]
pub fn div_ceil_64(a: i64, b: i64) -> i64 {
    // Division rounds towards zero, which is up where the quotient is negative.
    a / b + i64::from(a % b > 0)
}

/// How many bits integers need for a smallest and a largest value: 32 where those suffice, and else 64.
///
/// ```
/// use shapetracker_base::int::bits;
/// assert_eq!((bits((-5, i32::MAX.into())), bits((0, 1 << 31))), (32, 64));
/// ```
pub fn bits((low, high): (i64, i64)) -> u32 {
    if i32::try_from(low).is_ok() && i32::try_from(high).is_ok() { 32 } else { 64 }
}

//! All that is to be told of the accesses to one tile.

use crate::{AccessPattern, Census, ComposedLayout, Error, Swizzle};

/// What the accesses to one tile cost, and the swizzle that leaves no bank conflict where there are some.
///
/// ```
/// use shapetracker_cute::{AccessPattern, AccessReport, Layout};
///
/// let rows: Layout = "((8,32),8):((8,64),1)".parse()?;
/// let columns: Layout = "((64,8),8):((64,8),1)".parse()?;
/// let patterns = [rows, columns].map(|layout| AccessPattern::new(layout, 2).unwrap().with_vector(8).unwrap());
/// let report = AccessReport::new(&patterns)?;
/// assert_eq!(report.accesses.iter().map(|access| access.banks.most).collect::<Vec<_>>(), [1, 8]);
/// assert_eq!(report.swizzle.unwrap().to_string(), "Sw<3,3,3>");
/// assert_eq!(report.accesses[1].swizzled.as_ref().unwrap().to_string(), "Sw<3,3,3> o 0 o ((64,8),8):((64,8),1)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessReport {
    /// Each access by itself.
    pub accesses: Vec<Access>,
    /// The swizzle of [`AccessPattern::conflict_free_swizzle`]; nothing where there is none, or none was looked for.
    pub swizzle: Option<Swizzle>,
    /// Whether a swizzle was looked for: some access has a conflict, and all may be swizzled, because none is already
    /// and no address is negative.
    pub searched: bool,
}

/// What one access costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The access.
    pub pattern: AccessPattern,
    /// The most values that one instruction could move ([`AccessPattern::widest_vector`]).
    pub widest: i64,
    /// Its bank conflicts ([`AccessPattern::bank_conflicts`]).
    pub banks: Census,
    /// Its sectors of global memory ([`AccessPattern::sectors`]).
    pub sectors: Census,
    /// Its addresses under the swizzle of the report.
    pub swizzled: Option<ComposedLayout>,
}

impl AccessReport {
    /// The report on all accesses to one tile: what writes it and what reads it.
    ///
    /// # Errors
    /// [`Error::is_limit`] as in [`AccessPattern::bank_conflicts`].
    pub fn new(patterns: &[AccessPattern]) -> Result<AccessReport, Error> {
        let access = |pattern: &AccessPattern| {
            Ok::<_, Error>(Access {
                pattern: pattern.clone(),
                widest: pattern.widest_vector()?,
                banks: pattern.bank_conflicts()?,
                sectors: pattern.sectors()?,
                swizzled: None,
            })
        };
        let mut accesses = patterns.iter().map(access).collect::<Result<Vec<_>, _>>()?;
        let conflicts = accesses.iter().any(|access| access.banks.most > 1);
        let searched = conflicts && patterns.iter().all(AccessPattern::can_be_swizzled);
        let swizzle = if searched { AccessPattern::conflict_free_swizzle(patterns)? } else { None };
        if let Some(swizzle) = swizzle {
            for access in &mut accesses {
                access.swizzled = Some(access.pattern.under(swizzle)?);
            }
        }
        Ok(AccessReport { accesses, swizzle, searched })
    }

    /// The largest degree of a bank conflict; 1 where there is none, and 0 without any access.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, AccessReport, Layout};
    ///
    /// let column: Layout = "(32,32):(32,1)".parse()?;
    /// assert_eq!(AccessReport::new(&[AccessPattern::new(column, 4)?])?.worst(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn worst(&self) -> i64 {
        self.accesses.iter().map(|access| access.banks.most).max().unwrap_or(0)
    }
}

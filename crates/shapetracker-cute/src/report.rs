//! All that is to be told of the accesses to one tile.

use crate::{AccessPattern, Census, ComposedLayout, Error, Swizzle};

/// What the accesses to one tile cost, and the swizzle that removes all bank conflicts where there are some.
///
/// ```
/// use shapetracker_cute::{AccessPattern, AccessReport, Layout};
///
/// let rows: Layout = "((8,32),8):((8,64),1)".parse()?;
/// let columns: Layout = "((64,8),8):((64,8),1)".parse()?;
/// let patterns = [rows, columns].map(|layout| AccessPattern::new(layout, 2).unwrap().with_vector(8).unwrap());
/// let report = AccessReport::new(&patterns)?;
/// assert_eq!(report.swizzle.unwrap().to_string(), "Sw<3,3,3>");
/// assert_eq!(report.accesses[1].swizzled.as_ref().unwrap().to_string(), "Sw<3,3,3> o 0 o ((64,8),8):((64,8),1)");
/// // Nothing moves past the end of the tile.
/// assert_eq!(report.elements, Some([4096, 4096]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessReport {
    /// Each access by itself.
    pub accesses: Vec<Access>,
    /// The swizzle of [`AccessPattern::conflict_free_swizzle`], or why there is none.
    pub swizzle: Result<Swizzle, NoSwizzle>,
    /// How many elements of shared memory the tile needs: without the swizzle, and with it, which may move addresses past
    /// the largest one. Nothing where there is no swizzle.
    pub elements: Option<[i64; 2]>,
}

/// Why a report has no swizzle.
///
/// ```
/// use shapetracker_cute::{AccessPattern, AccessReport, Layout, NoSwizzle};
///
/// let column: Layout = "(32,2):(-32,1)".parse()?;
/// let report = AccessReport::new(&[AccessPattern::new(column, 4)?])?;
/// assert_eq!(report.swizzle, Err(NoSwizzle::Negative { access: 0, address: -992 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoSwizzle {
    /// There is nothing to remove.
    #[error("no access has a bank conflict")]
    NoConflict,
    /// A layout is under a swizzle already.
    #[error("no swizzle was looked for: a layout has one already")]
    Swizzled {
        /// The number of the access.
        access: usize,
    },
    /// A swizzle acts on addresses that are not negative.
    #[error("no swizzle was looked for: an address is negative")]
    Negative {
        /// The number of the access.
        access: usize,
        /// Its least address.
        address: i64,
    },
    /// Under each swizzle of the family that was searched some access has a conflict.
    #[error("no swizzle of up to 5 bits removes all conflicts")]
    Unremoved,
    /// No swizzle was found to remove all conflicts, and of some it was not decided.
    #[error("the search for a swizzle that removes all conflicts stopped at its work limit: there may be one")]
    Undecided,
}

/// What one access costs.
///
/// ```
/// use shapetracker_cute::{AccessPattern, AccessReport, Layout};
///
/// // Half precision numbers by rows of 64, a thread a row: each thread could move 8 of its values at once.
/// let rows: Layout = "(32,64):(64,1)".parse()?;
/// let report = AccessReport::new(&[AccessPattern::new(rows, 2)?])?;
/// let access = &report.accesses[0];
/// assert_eq!((access.pattern.vector(), access.widest), (1, 8));
/// assert_eq!((access.banks.most, access.sectors.most), (32, 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// ```
    /// use shapetracker_cute::{AccessPattern, AccessReport, Layout};
    ///
    /// // The largest address is 916, and one of those that the swizzle changes becomes 927.
    /// let layout: Layout = "(20,5):(48,1)".parse()?;
    /// let report = AccessReport::new(&[AccessPattern::new(layout, 4)?])?;
    /// assert_eq!(report.swizzle.unwrap().to_string(), "Sw<4,0,5>");
    /// assert_eq!(report.elements, Some([917, 928]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_limit`] as in [`AccessPattern::bank_conflicts`]. A search for a swizzle that stops at its work limit
    /// is no error, but [`NoSwizzle::Undecided`].
    ///
    /// # Cost
    /// For each access that of [`AccessPattern::bank_conflicts`] and [`AccessPattern::sectors`]; where there are
    /// conflicts, that of [`AccessPattern::conflict_free_swizzle`], too.
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
        let accesses = patterns.iter().map(access).collect::<Result<Vec<_>, _>>()?;
        let mut report = AccessReport { accesses, swizzle: Err(NoSwizzle::NoConflict), elements: None };
        if report.worst() > 1 {
            report.swizzle = removing(patterns)?;
        }
        if let Ok(swizzle) = report.swizzle {
            let mut elements = [0; 2];
            for access in &mut report.accesses {
                let swizzled = access.pattern.under(swizzle)?;
                for (most, addresses) in elements.iter_mut().zip([access.pattern.addresses(), &swizzled]) {
                    *most = addresses.cosize()?.max(*most);
                }
                access.swizzled = Some(swizzled);
            }
            report.elements = Some(elements);
        }
        Ok(report)
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

/// The swizzle that removes all conflicts of some accesses, where it may be looked for.
fn removing(patterns: &[AccessPattern]) -> Result<Result<Swizzle, NoSwizzle>, Error> {
    for (access, addresses) in patterns.iter().map(AccessPattern::addresses).enumerate() {
        if addresses.swizzle() != Swizzle::IDENTITY {
            return Ok(Err(NoSwizzle::Swizzled { access }));
        }
        let address = addresses.layout().range().map_or(0, |(low, _)| low + addresses.offset());
        if address < 0 {
            return Ok(Err(NoSwizzle::Negative { access, address }));
        }
    }
    match AccessPattern::conflict_free_swizzle(patterns) {
        Ok(found) => Ok(found.ok_or(NoSwizzle::Unremoved)),
        Err(err) if err.is_limit() => Ok(Err(NoSwizzle::Undecided)),
        Err(err) => Err(err),
    }
}

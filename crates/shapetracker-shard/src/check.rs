//! Is a placement that somebody claims what the devices hold?

use shapetracker_base::text::tuple;

use crate::digits::digits;
use crate::error::Fault;
use crate::reshape::coordinates;
use crate::rows::holder;
use crate::sharded::unravel;
use crate::work::Work;
use crate::{Check, Error, Placement, Sharded, Undecided, Witness};

impl Sharded {
    /// Is this how the devices hold the elements, under another shape or the same one?
    ///
    /// Both are tensors of the same elements in row-major order on the same mesh. Every device must hold the same elements in
    /// the same order; the witness is a device and the first local element that is another one.
    ///
    /// ```
    /// use shapetracker_shard::{Check, Mesh, Placement, Sharded};
    ///
    /// // What PyTorch 2.15 makes of it in two steps, `.view(16).view(2, 8)`, without a word.
    /// let mesh = Mesh::new([("tp", 2)])?;
    /// let before = Sharded::new([4, 4], mesh.clone(), [Placement::Shard(1)])?;
    /// let claimed = Sharded::new([2, 8], mesh, [Placement::Shard(1)])?;
    /// let Check::Refuted(why) = before.check(&claimed)? else { panic!("device 1 has the places 2, 3, 6 and 7") };
    /// assert_eq!(
    ///     why.to_string(),
    ///     "device (tp=1): local element 0 is element (0, 2) of shape (4, 4), which is (0, 2) of shape (2, 8), where (0, 4) \
    ///      is claimed",
    /// );
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Other meshes, or another number of elements.
    pub fn check(&self, claimed: &Sharded) -> Result<Check, Error> {
        self.same_elements("check", claimed)?;
        if self.numel() == 0 {
            return Ok(Check::Proved);
        }
        let partial = |tensor: &Sharded, k: usize| tensor.placements()[k] == Placement::Partial;
        if let Some(k) = (0..self.mesh().rank()).find(|&k| partial(self, k) != partial(claimed, k)) {
            return Ok(Check::Refuted(self.partial_sums(claimed, k)));
        }
        Ok(match self.first_difference(claimed) {
            Err(why) => Check::Undecided(why),
            Ok(None) => Check::Proved,
            Ok(Some((device, position))) => Check::Refuted(self.refuted(claimed, device, position)),
        })
    }

    /// Whether both have the same number of elements on the same mesh.
    pub(crate) fn same_elements(&self, operation: &'static str, other: &Sharded) -> Result<(), Error> {
        if self.mesh() != other.mesh() {
            let (from, to) = (self.mesh().to_string(), other.mesh().to_string());
            return Err(Error::new(operation, Fault::MeshesDiffer { from, to }));
        }
        if self.numel() != other.numel() {
            let (from, to) = (self.shape().to_vec(), other.shape().to_vec());
            let fault = Fault::SizesDiffer { from, to, have: self.numel(), need: other.numel() };
            return Err(Error::new(operation, fault));
        }
        Ok(())
    }

    /// The first position that some device holds in only one of both, and such a device; at least one element.
    fn first_difference(&self, other: &Sharded) -> Result<Option<(Vec<i64>, i64)>, Undecided> {
        let mesh = self.mesh().sizes();
        let shards = |tensor: &Sharded, k: usize| mesh[k] > 1 && tensor.placements()[k].axis().is_some();
        if let Some(k) = (0..mesh.len()).find(|&k| shards(self, k) != shards(other, k)) {
            // Whoever has the coordinate 0 has position 0, and one with another has it only where this axis does not shard.
            let mut device = vec![0; mesh.len()];
            device[k] = 1;
            return Ok(Some((device, 0)));
        }
        let mut first: Option<i64> = None;
        let digits = digits(self).zip(digits(other));
        let mut work = Work::new("comparing what devices hold");
        for k in (0..mesh.len()).filter(|&k| shards(self, k)) {
            let differs = match &digits {
                // Of two digits the one with the smaller step goes up alone.
                Some((a, b)) => {
                    let steps = [a[k], b[k]].map(|digit| digit.map_or(0, |digit| digit.step));
                    (steps[0] != steps[1]).then(|| steps[0].min(steps[1]))
                }
                None => {
                    let of = |tensor: &Sharded, work: &mut Work| {
                        coordinates(tensor.shape(), mesh, &tensor.placements()[..=k], work)
                    };
                    of(self, &mut work)?.difference(&of(other, &mut work)?, &mut work)?
                }
            };
            first = first.into_iter().chain(differs).min();
        }
        Ok(first.map(|position| (holder(self, position, &vec![0; mesh.len()]), position)))
    }

    /// The evidence at the first position that only one of both gives to the device: what is before it is the same in both.
    fn refuted(&self, claimed: &Sharded, device: Vec<i64>, position: i64) -> Witness {
        let local = self.below(&device, position);
        let global = [self, claimed].map(|tensor| tensor.holds(&device, local));
        let index = |tensor: &Sharded, position: i64| tuple(&unravel(position, tensor.shape())).to_string();
        let shapes = [self, claimed].map(|tensor| tuple(tensor.shape()).to_string());
        let is = match global[0] {
            Some(position) => {
                let same = if self.shape() == claimed.shape() {
                    String::new()
                } else {
                    format!(", which is {} of shape {}", index(claimed, position), shapes[1])
                };
                format!("is element {} of shape {}{same}", index(self, position), shapes[0])
            }
            None => "does not exist".into(),
        };
        let should = match global[1] {
            Some(position) => format!("{} is claimed", index(claimed, position)),
            None => "none is claimed".into(),
        };
        let sentence = format!("device {}: local element {local} {is}, where {should}", self.mesh().device(&device));
        Witness { device, local: [local; 2], global, missing: None, sentence }
    }

    /// The evidence where one of both holds partial sums along a mesh axis.
    fn partial_sums(&self, claimed: &Sharded, k: usize) -> Witness {
        let device = vec![0; self.mesh().rank()];
        let [before, after] = [self, claimed].map(|tensor| tensor.placements()[k]);
        let says = |placement: Placement| match placement {
            Placement::Partial => "each device holds a summand of element 0",
            _ => "element 0 is whole",
        };
        let sentence = format!(
            "along mesh axis {} {}, and the claim is that {}",
            self.mesh().names()[k],
            says(before),
            says(after)
        );
        Witness { device, local: [0, 0], global: [Some(0), Some(0)], missing: None, sentence }
    }
}

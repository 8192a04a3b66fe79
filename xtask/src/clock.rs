//! How long something took, and for how long it kept the processors busy.

use std::time::{Duration, Instant};

/// When something began, and what the commands had computed by then.
pub(crate) struct Clock {
    begin: Instant,
    processor: Option<Duration>,
}

impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { begin: Instant::now(), processor: processor_time() }
    }

    /// Whether it has taken long enough for anybody to ask why.
    pub(crate) fn is_worth_telling(&self) -> bool {
        self.begin.elapsed() >= Duration::from_secs(2)
    }

    /// The time since then, and that of the processors, which other programs on the machine do not add to.
    pub(crate) fn taken(&self) -> String {
        let time = seconds(self.begin.elapsed());
        match self.processor.zip(processor_time()) {
            Some((before, now)) => format!("{time} ({} of processors)", seconds(now.saturating_sub(before))),
            None => time,
        }
    }
}

/// The processor time of all commands that have ended, where the system tells: on Linux.
fn processor_time() -> Option<Duration> {
    let line = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses, which may contain anything: the fields from the third on. The sixteenth and the
    // seventeenth are those of the children that were waited for, in hundredths of a second.
    let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(13);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Duration::from_millis(10 * (user + system)))
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(120) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(seconds(Duration::from_millis(12_345)), "12.3 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
    }
}

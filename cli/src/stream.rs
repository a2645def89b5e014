//! Memory bandwidth, the reference for contractions.

use rayon::prelude::*;
use sparring::par::filled;
use sparring::{Cpu, Cuda, Error, Result};

use crate::timing::{Times, timed};

/// Elements per task.
const PART: usize = 1 << 15;

/// GB/s of c(i) += a(i)·b(i) on all threads, 32 bytes per element: three f64 arrays of `bytes` bytes each, the best
/// of `repeat` runs after a warm-up.
pub(crate) fn stream(cpu: &Cpu, bytes: usize, repeat: u32) -> Result<f64> {
    const WHAT: &str = "the stream kernel";
    let len = (bytes / size_of::<f64>()).max(128);
    cpu.threads().install(|| {
        let (a, b, mut c) = (filled(len, 1.0f64, WHAT)?, filled(len, 0.5f64, WHAT)?, filled(len, 0.25f64, WHAT)?);
        let mut times = Times::default();
        for round in 0..=repeat {
            let ((), ms) = timed(|| {
                c.par_chunks_mut(PART).zip(a.par_chunks(PART)).zip(b.par_chunks(PART)).for_each(|((c, a), b)| {
                    c.iter_mut().zip(a).zip(b).for_each(|((c, a), b)| *c += a * b);
                });
            });
            if round > 0 {
                times.push(ms);
            }
        }
        Ok(4.0 * (len * size_of::<f64>()) as f64 / times.minimum() / 1e6)
    })
}

/// GB/s, read and written, of a copy of `bytes` bytes on a GPU, if the memory budget allows it.
pub(crate) fn copied(cuda: &Cuda, bytes: usize) -> Result<Option<f64>> {
    match cuda.copy_bandwidth(bytes) {
        Ok(bandwidth) => Ok(Some(bandwidth / 1e9)),
        Err(Error::Budget { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

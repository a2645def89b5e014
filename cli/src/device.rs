//! The device that a command runs on: `--device`.

use std::fmt;

use sparring::{Cuda, Error};

use crate::timing::timed;

/// The processor, or a GPU by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Device {
    #[default]
    Cpu,
    Cuda(usize),
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

/// The option of commands that run on CPU or GPU.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct DeviceArg {
    /// Device to run on: cpu, or cuda:N for GPU number N
    #[arg(long, value_name = "DEVICE", default_value_t, value_parser = parse)]
    pub(crate) device: Device,
}

/// Parses `--device`.
pub(crate) fn parse(text: &str) -> Result<Device, String> {
    let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    match text.strip_prefix("cuda:").and_then(number) {
        Some(ordinal) => Ok(Device::Cuda(ordinal)),
        None if text == "cpu" => Ok(Device::Cpu),
        None => Err("it is 'cpu', or 'cuda:N' for GPU number N, counted from 0".into()),
    }
}

/// The error for an option that does not apply to a GPU.
pub(crate) fn refused(option: &str, why: &str) -> Error {
    Error::Unsupported { what: format!("{option} on a GPU"), why: why.into() }
}

/// Rejects the first option that is given; each has a name and the reason why it does not apply to a GPU.
pub(crate) fn refuse(options: &[(bool, &str, &str)]) -> sparring::Result<()> {
    match options.iter().find(|(given, ..)| *given) {
        Some((_, option, why)) => Err(refused(option, why)),
        None => Ok(()),
    }
}

/// The result of `f` and its time in milliseconds; the device is idle before and after.
pub(crate) fn timed_on<T>(cuda: &Cuda, f: impl FnOnce() -> sparring::Result<T>) -> sparring::Result<(T, f64)> {
    cuda.synchronize()?;
    let (result, ms) = timed(|| f().and_then(|x| cuda.synchronize().map(|()| x)));
    Ok((result?, ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_cpu_and_cuda_n() {
        assert_eq!(
            (parse("cpu"), parse("cuda:0"), parse("cuda:12")),
            (Ok(Device::Cpu), Ok(Device::Cuda(0)), Ok(Device::Cuda(12)))
        );
        for wrong in ["", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:+1", "cuda:1x", "CPU", "cuda:99999999999999999999"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        for device in [Device::Cpu, Device::Cuda(3)] {
            assert_eq!(parse(&device.to_string()), Ok(device));
        }
    }
}

//! Computes how much memory training can use under a memory limit of the process, and which limit leaves enough memory
//! for training.

/// The number of bytes reserved for the rest of the process (the interpreter, input, buffers) if the limit is large
/// enough.
const RESERVED_BYTES: usize = 96 << 20;

/// The memory that counting can use is the limit divided by this number.
pub const COUNTING_DIVISOR: usize = 2;

/// Returns the number of bytes that training can use under a limit.
pub fn usable_memory(limit: usize) -> usize {
    limit.saturating_sub(RESERVED_BYTES).max(limit / 2)
}

/// Returns the lowest limit that leaves `bytes` bytes for training, formatted as users write it: `612M`.
pub fn limit_leaving(bytes: u64) -> String {
    let limit = bytes.saturating_add(RESERVED_BYTES as u64).min(bytes.saturating_mul(2));
    format!("{}M", limit.div_ceil(1 << 20))
}

/// Formats a number of bytes as users write limits, in megabytes, rounded up: `612M`.
pub fn format_megabytes(bytes: u64) -> String {
    format!("{}M", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_leaves_the_bytes_needed() {
        for bytes in [0, 1, 5 << 20, 96 << 20, (96 << 20) + 1, 1 << 40] {
            let limit: usize = limit_leaving(bytes).trim_end_matches('M').parse().unwrap();
            assert!(usable_memory(limit << 20) as u64 >= bytes, "{bytes}");
            assert!(limit == 0 || (usable_memory((limit - 1) << 20) as u64) < bytes, "{bytes}");
        }
    }
}

//! The digamma function, bit for bit as SentencePiece's trainer computes it.

/// The derivative of log Γ(x), by its recurrence up to 7 and then by its asymptotic series.
pub fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 7.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    x -= 1.0 / 2.0;
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let fourth = square * square;
    result
        + (x.ln() + (1.0 / 24.0) * square - (7.0 / 960.0) * fourth + (31.0 / 8064.0) * fourth * square
            - (127.0 / 30720.0) * fourth * fourth)
}

//! Text to rewritten text, with offsets kept: one file per step.

//! The vision node: skills in, streams out.

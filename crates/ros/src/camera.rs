mod serve;

pub use serve::{CameraTopics, serve};

#[cfg(test)]
mod tests;

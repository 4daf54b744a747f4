mod pairing;
mod picture;
mod serve;
mod source;

pub use serve::{CameraTopics, serve};
pub use source::{CameraPose, Source, SourceTopics};

#[cfg(test)]
mod tests;

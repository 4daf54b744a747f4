/// Pictures of a folder, over and over.
pub mod folder;

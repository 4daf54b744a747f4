use std::path::{Path, PathBuf};

use super::embedded;

/// Why the shipped configuration was not written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Files that are there already; nothing was written.
    #[error("{} already there: {}; nothing was written. Use --force to overwrite", if .0.len() == 1 { "a file is" } else { "files are" }, names(.0))]
    Exists(Vec<PathBuf>),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// What happens to files that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// They are left, and nothing at all is written.
    Keep,
    /// They are overwritten.
    Overwrite,
}

/// Writes the shipped configuration below `folder` and answers the files written.
pub fn init(folder: &Path, existing: Existing) -> Result<Vec<PathBuf>, InitError> {
    let paths: Vec<PathBuf> = embedded::FILES.iter().map(|file| folder.join(file.name)).collect();
    let there: Vec<PathBuf> = paths.iter().filter(|path| path.exists()).cloned().collect();
    if existing == Existing::Keep && !there.is_empty() {
        return Err(InitError::Exists(there));
    }
    for (file, path) in embedded::FILES.iter().zip(&paths) {
        let written =
            path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, file.text));
        written.map_err(|source| InitError::Write { path: path.display().to_string(), source })?;
    }
    Ok(paths)
}

fn names(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    let more = if paths.len() > 5 { format!(" and {} more", paths.len() - 5) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

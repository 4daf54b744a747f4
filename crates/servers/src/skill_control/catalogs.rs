use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use cerebellum_wire::catalog::{Catalog, CatalogFault};
use tracing::warn;

/// The catalog that is built in.
const SHIPPED: &str = include_str!("../../../../config/skills.yaml");
const SHIPPED_NAME: &str = "config/skills.yaml (built in)";
/// The largest catalog file, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The most files of a catalog folder that are read.
const FILES_MAX: usize = 256;
/// What is wrong with a pipe, a socket or a device.
const NO_FILE: &str = "is no regular file";

/// The template catalog and where it comes from: built in, a file, or a folder of files. Changes on disk are noticed at the
/// next look.
pub struct Catalogs {
    path: Option<PathBuf>,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    seen: Vec<Seen>,
    catalog: Arc<Catalog>,
}

/// What tells that a file has changed.
#[derive(Clone, PartialEq, Eq)]
struct Seen {
    path: PathBuf,
    modified: Option<SystemTime>,
    bytes: u64,
    /// A pipe or a device is not opened: it may keep the reader waiting for ever.
    is_file: bool,
}

/// Why there is no catalog to begin with.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// The file or folder cannot be read.
    #[error("cannot read the skill catalog {}: {source}; SKILLS_CATALOG must name a file or a folder of .yaml files", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was read and holds not one usable template.
    #[error("the skill catalog {} has no usable template: {}", path.display(), faults.join("; "))]
    Unusable {
        /// Its path.
        path: PathBuf,
        /// What is wrong with it, each with file and line.
        faults: Vec<String>,
    },
}

impl Catalogs {
    /// The built-in catalog.
    pub fn shipped() -> Self {
        let catalog = Arc::new(Catalog::read([(SHIPPED_NAME, SHIPPED)]));
        Self { path: None, loaded: Mutex::new(Loaded { seen: Vec::new(), catalog }) }
    }

    /// The catalog in a file or in the `.yaml` and `.yml` files of a folder, in order of their names. One bad template or
    /// one bad file of several is no error here: see [`Catalog::faults`].
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        let unreadable = |source| CatalogError::Unreadable { path: path.to_owned(), source };
        let seen = look(path).map_err(unreadable)?;
        let catalog = read(&seen);
        if catalog.templates().is_empty() && !catalog.faults().is_empty() {
            let faults = catalog.faults().iter().map(ToString::to_string).collect();
            return Err(CatalogError::Unusable { path: path.to_owned(), faults });
        }
        for fault in catalog.faults() {
            warn!(%fault, "template left out");
        }
        Ok(Self { path: Some(path.to_owned()), loaded: Mutex::new(Loaded { seen, catalog: Arc::new(catalog) }) })
    }

    /// The catalog as it is on disk now. While it cannot be read, the last one stays in use and its faults say so.
    pub fn current(&self) -> Arc<Catalog> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(path) = &self.path else { return Arc::clone(&loaded.catalog) };
        match look(path) {
            Ok(seen) if seen == loaded.seen => {}
            Ok(seen) => loaded.take(seen),
            Err(error) => loaded.miss(path, &error),
        }
        Arc::clone(&loaded.catalog)
    }
}

impl Loaded {
    fn take(&mut self, seen: Vec<Seen>) {
        let catalog = read(&seen);
        self.seen = seen;
        if catalog.templates().is_empty() && !catalog.faults().is_empty() {
            // A half-written file is the usual reason: keep what worked.
            let mut kept = Catalog::clone(&self.catalog);
            kept.replace_faults(catalog.faults().to_vec());
            self.catalog = Arc::new(kept);
        } else {
            self.catalog = Arc::new(catalog);
        }
        for fault in self.catalog.faults() {
            warn!(%fault, "template left out");
        }
    }

    fn miss(&mut self, path: &Path, error: &io::Error) {
        let fault = CatalogFault {
            file: path.display().to_string(),
            line: None,
            message: format!("cannot be read any more ({error}); the templates read before stay in use"),
        };
        if self.catalog.faults() == [fault.clone()] {
            return;
        }
        warn!(%fault, "catalog is gone");
        let mut kept = Catalog::clone(&self.catalog);
        kept.replace_faults(vec![fault]);
        self.catalog = Arc::new(kept);
        self.seen.clear();
    }
}

/// The files of the catalog with what tells that they change.
fn look(path: &Path) -> io::Result<Vec<Seen>> {
    let meta = fs::metadata(path)?;
    if meta.is_file() {
        return Ok(vec![seen(path.to_owned(), &meta)]);
    }
    if !meta.is_dir() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, NO_FILE));
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        let is_yaml = entry.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        if is_yaml && let Ok(meta) = fs::metadata(&entry) {
            files.push(seen(entry, &meta));
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.truncate(FILES_MAX);
    Ok(files)
}

fn seen(path: PathBuf, meta: &fs::Metadata) -> Seen {
    Seen { path, modified: meta.modified().ok(), bytes: meta.len(), is_file: meta.is_file() }
}

fn read(files: &[Seen]) -> Catalog {
    let mut texts = Vec::with_capacity(files.len());
    let mut faults = Vec::new();
    for file in files {
        let name = file.path.display().to_string();
        match read_one(file) {
            Ok(text) => texts.push((name, text)),
            Err(message) => faults.push(CatalogFault { file: name, line: None, message }),
        }
    }
    let mut catalog = Catalog::read(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    for fault in faults {
        catalog.report(fault);
    }
    catalog
}

fn read_one(file: &Seen) -> Result<String, String> {
    if !file.is_file {
        return Err(NO_FILE.to_owned());
    }
    if file.bytes > FILE_BYTES_MAX {
        return Err(format!("has {} bytes, at most {FILE_BYTES_MAX} are read", file.bytes));
    }
    fs::read_to_string(&file.path).map_err(|error| format!("cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(name: &str) -> String {
        format!("  - {{name: {name}, description: d, skill: {{mode: segment_all}}}}\n")
    }

    fn names(catalogs: &Catalogs) -> Vec<String> {
        catalogs.current().templates().iter().map(|template| template.name.clone()).collect()
    }

    #[test]
    fn the_built_in_catalog_needs_no_file() {
        assert_eq!(names(&Catalogs::shipped()).len(), 5);
    }

    #[test]
    fn a_change_on_disk_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skills.yaml");
        fs::write(&path, format!("templates:\n{}", template("one"))).unwrap();
        let catalogs = Catalogs::open(&path).unwrap();
        fs::write(&path, format!("templates:\n{}{}", template("one"), template("two"))).unwrap();
        assert_eq!(names(&catalogs), ["one", "two"]);
    }

    #[test]
    fn a_folder_is_read_in_order_and_a_name_that_exists_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.yaml"), format!("templates:\n{}", template("one"))).unwrap();
        fs::write(dir.path().join("b.yml"), format!("templates:\n{}{}", template("one"), template("two"))).unwrap();
        fs::write(dir.path().join("notes.txt"), "no catalog").unwrap();
        let catalogs = Catalogs::open(dir.path()).unwrap();
        assert_eq!(names(&catalogs), ["one", "two"]);
        assert!(catalogs.current().faults()[0].to_string().contains("b.yml:2: template one: the name exists"));
        fs::write(dir.path().join("c.yaml"), format!("templates:\n{}", template("three"))).unwrap();
        assert_eq!(names(&catalogs), ["one", "two", "three"]);
    }

    #[test]
    fn a_file_that_goes_or_breaks_leaves_the_last_templates_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skills.yaml");
        fs::write(&path, format!("templates:\n{}", template("one"))).unwrap();
        let catalogs = Catalogs::open(&path).unwrap();
        fs::write(&path, "templates: [").unwrap();
        assert_eq!(names(&catalogs), ["one"]);
        assert_eq!(catalogs.current().faults().len(), 1);
        fs::remove_file(&path).unwrap();
        assert_eq!(names(&catalogs), ["one"]);
        assert!(catalogs.current().faults()[0].to_string().contains("cannot be read any more"));
        fs::write(&path, format!("templates:\n{}", template("back"))).unwrap();
        assert_eq!(names(&catalogs), ["back"]);
        assert_eq!(catalogs.current().faults(), []);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_refused_without_being_opened() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe.yaml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let error = Catalogs::open(path).err().unwrap().to_string();
            assert!(error.contains("is no regular file") && error.contains("SKILLS_CATALOG"), "{error}");
        }
        fs::write(dir.path().join("good.yaml"), format!("templates:\n{}", template("one"))).unwrap();
        let catalogs = Catalogs::open(dir.path()).unwrap();
        assert_eq!(names(&catalogs), ["one"]);
        assert!(catalogs.current().faults()[0].to_string().ends_with("pipe.yaml: is no regular file"));
    }

    #[test]
    fn a_catalog_that_cannot_be_read_at_the_start_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("no.yaml");
        let error = Catalogs::open(&missing).err().unwrap().to_string();
        assert!(error.contains("no.yaml") && error.contains("SKILLS_CATALOG"), "{error}");
        fs::write(&missing, "templates:\n  - {name: A}\n").unwrap();
        let error = Catalogs::open(&missing).err().unwrap().to_string();
        assert!(error.contains("no.yaml:2: template A"), "{error}");
    }
}

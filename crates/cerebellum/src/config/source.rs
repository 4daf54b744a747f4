use std::path::{Component, Path, PathBuf};

use super::embedded::{self, EmbeddedFile};
use super::environment::Environment;
use super::fault::{ConfigFault, excerpt, quoted};

/// What decides which configuration is read.
pub struct Lookup<'a> {
    /// `--config`: a folder, or a root file.
    pub config: Option<&'a Path>,
    /// The folder that relative paths count from; empty for the one the program was started in.
    pub working_folder: &'a Path,
    /// The variables: `CEREBELLUM_CONFIG`, `CEREBELLUM_DEPLOYMENT`, `XDG_CONFIG_HOME`, `HOME`.
    pub environment: &'a Environment,
}

/// Where the files are: a folder on disk over the embedded ones, or those alone; and which file is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The folder on disk, if any. No include leads out of it.
    pub folder: Option<PathBuf>,
    /// The root file below the folder, such as `config.yaml` or `deployment/robot.yaml`.
    pub file: String,
}

/// A file of the configuration that is not YAML of settings: a catalog, a list of things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A file or a folder on disk.
    Disk(PathBuf),
    /// The one the program carries.
    Embedded(EmbeddedFile),
}

/// The text of a file, and how a person would name the file.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) text: String,
}

const ROOT_FILE: &str = "config.yaml";

/// Finds the root: `--config`, `CEREBELLUM_CONFIG`, `./config`, XDG, embedded; and in it the root file that
/// `CEREBELLUM_DEPLOYMENT` picks. A root file that is named outright wins over the preset.
pub fn locate(lookup: &Lookup<'_>) -> Result<Root, ConfigFault> {
    let environment = lookup.environment;
    let asked = match lookup.config {
        Some(path) => Some((path.to_path_buf(), "--config")),
        None => environment.get("CEREBELLUM_CONFIG").map(|path| (PathBuf::from(path), "CEREBELLUM_CONFIG")),
    };
    let folder = match asked {
        Some((path, setting)) => {
            let on_disk = lookup.working_folder.join(&path);
            if on_disk.is_file() {
                return root_of_file(&on_disk, setting);
            }
            if on_disk.is_dir() {
                require_root(&on_disk, &path, setting, &preset(environment)?)?;
            } else if on_disk.exists() {
                let message = format!(
                    "{setting}: {} is neither a folder nor a regular file; name a folder with {ROOT_FILE}, or a root file",
                    path.display()
                );
                return Err(ConfigFault::outside(message));
            } else {
                let message = format!(
                    "{setting}: {} does not exist; name a folder or a file, or make one with: cerebellum config init {}",
                    path.display(),
                    path.display()
                );
                return Err(ConfigFault::outside(message));
            }
            Some(on_disk)
        }
        None => default_folder(lookup),
    };
    let root = Root { folder, file: preset(environment)? };
    if find(&root, &root.file).is_none() {
        let message =
            format!("CEREBELLUM_DEPLOYMENT: there is no {}; accepted: {}", root.file, presets(&root).join(", "));
        return Err(ConfigFault::outside(message));
    }
    Ok(root)
}

/// A folder that was named has a root file of its own: with a wrong folder the shipped configuration would run unnoticed.
fn require_root(folder: &Path, named: &Path, setting: &str, preset: &str) -> Result<(), ConfigFault> {
    if [ROOT_FILE, preset].iter().any(|file| folder.join(file).is_file()) {
        return Ok(());
    }
    let named = named.display();
    Err(ConfigFault::outside(format!(
        "{setting}: {named} has no {ROOT_FILE}; name the folder that has it, or make one with: cerebellum config init {named}"
    )))
}

fn root_of_file(path: &Path, setting: &str) -> Result<Root, ConfigFault> {
    let unreadable = || ConfigFault::outside(format!("{setting}: {} has no usable name", path.display()));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(unreadable)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.file_name().is_some_and(|folder| folder == "deployment") {
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return Ok(Root { folder: Some(above.to_path_buf()), file: format!("deployment/{name}") });
    }
    Ok(Root { folder: Some(folder.to_path_buf()), file: name.to_owned() })
}

fn default_folder(lookup: &Lookup<'_>) -> Option<PathBuf> {
    let beside = lookup.working_folder.join("config");
    if beside.join(ROOT_FILE).is_file() {
        return Some(beside);
    }
    let xdg = match lookup.environment.get("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(lookup.environment.get("HOME")?).join(".config"),
    };
    Some(xdg.join("cerebellum")).filter(|folder| folder.is_absolute() && folder.is_dir())
}

fn preset(environment: &Environment) -> Result<String, ConfigFault> {
    let Some(name) = environment.get("CEREBELLUM_DEPLOYMENT") else { return Ok(ROOT_FILE.to_owned()) };
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
    if !plain {
        return Err(ConfigFault::outside(format!(
            "CEREBELLUM_DEPLOYMENT: {} is no name of a preset (letters, digits, - and _)",
            quoted(name)
        )));
    }
    Ok(format!("deployment/{name}.yaml"))
}

/// The names of the presets, on disk and embedded.
fn presets(root: &Root) -> Vec<String> {
    let name = |file: &str| file.strip_prefix("deployment/")?.strip_suffix(".yaml").map(str::to_owned);
    let mut names: Vec<String> = embedded::FILES.iter().filter_map(|file| name(file.name)).collect();
    let on_disk =
        root.folder.iter().filter_map(|folder| std::fs::read_dir(folder.join("deployment")).ok()).flatten().flatten();
    names.extend(on_disk.filter_map(|entry| name(&format!("deployment/{}", entry.file_name().to_str()?))));
    names.sort();
    names.dedup();
    names
}

/// The file of that name: on disk if it is there, else embedded.
pub(super) fn find(root: &Root, name: &str) -> Option<Resource> {
    let on_disk = root.folder.as_ref().map(|folder| folder.join(name)).filter(|path| path.exists());
    on_disk.map(Resource::Disk).or_else(|| embedded::find(name).map(Resource::Embedded))
}

/// Reads a file below the root. The error says what is wrong, for a person.
pub(super) fn read(root: &Root, name: &str) -> Result<Found, String> {
    let name = confined(name)?;
    match find(root, &name) {
        Some(Resource::Disk(path)) => {
            let folder = root.folder.as_deref().unwrap_or(Path::new("."));
            let inside = path.canonicalize().and_then(|path| Ok(path.starts_with(folder.canonicalize()?)));
            match inside {
                Ok(true) => {}
                Ok(false) => return Err(format!("{name} leads outside {}", folder.display())),
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
            if !path.is_file() {
                return Err(format!("{} is no regular file", path.display()));
            }
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(Found { name: path.display().to_string(), text })
        }
        Some(Resource::Embedded(file)) => Ok(Found { name: format!("embedded:{name}"), text: file.text.to_owned() }),
        None => {
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            let beside = embedded::FILES
                .iter()
                .map(|file| file.name)
                .filter(|other| other.rsplit_once('/').map_or("", |(folder, _)| folder) == folder);
            let beside: Vec<&str> = beside.collect();
            let places = root
                .folder
                .as_ref()
                .map_or_else(|| "the program".to_owned(), |folder| format!("{} or in the program", folder.display()));
            Err(format!(
                "there is no {} in {places}; shipped there: {}",
                excerpt(&name),
                if beside.is_empty() { "nothing".to_owned() } else { beside.join(", ") }
            ))
        }
    }
}

/// The name of a file below the root, which never climbs.
fn confined(name: &str) -> Result<String, String> {
    let path = Path::new(name.trim());
    let plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if name.trim().is_empty() || !plain {
        return Err(format!(
            "{} leads outside the configuration; write a path below its root, such as ros/zenoh.yaml",
            quoted(name)
        ));
    }
    let parts: Vec<&str> =
        path.components().filter_map(|part| part.as_os_str().to_str()).filter(|part| *part != ".").collect();
    Ok(parts.join("/"))
}

/// Finds a file that a setting names: absolute, below the root, below the working folder, or embedded (with or without
/// `config/` in front). The error says where it was looked for.
pub(super) fn resource(root: &Root, working_folder: &Path, name: &str) -> Result<Resource, String> {
    let path = Path::new(name);
    if path.is_absolute() {
        return if path.exists() {
            readable(path.to_path_buf())
        } else {
            Err(format!("{} does not exist", excerpt(name)))
        };
    }
    let below_root = root.folder.as_ref().map(|folder| folder.join(path));
    let found = below_root.into_iter().chain([working_folder.join(path)]).find(|path| path.exists());
    if let Some(path) = found {
        return readable(path);
    }
    let plain = name.strip_prefix("./").unwrap_or(name);
    let plain = plain.strip_prefix("config/").unwrap_or(plain);
    embedded::find(plain).map(Resource::Embedded).ok_or_else(|| {
        let folder = root.folder.as_ref().map(|folder| format!("{}, ", folder.display())).unwrap_or_default();
        format!("there is no {}; looked in {folder}the working folder and in the program", excerpt(name))
    })
}

/// A pipe or a device could hold the program for ever.
fn readable(path: PathBuf) -> Result<Resource, String> {
    if path.is_file() || path.is_dir() {
        Ok(Resource::Disk(path))
    } else {
        Err(format!("{} is neither a regular file nor a folder", path.display()))
    }
}

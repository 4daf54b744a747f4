use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use super::Scene;

/// What is wrong with a scene file.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file cannot be read.
    #[error("the scene file {path} cannot be read: {source}")]
    Unreadable {
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// The file was read and says something impossible.
    #[error("{}", list(.0))]
    Faults(Vec<SceneFault>),
}

/// One fault of a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneFault {
    pub file: String,
    /// Counted from 1, where it is known.
    pub line: Option<u64>,
    /// The field, such as `objects[3].on`.
    pub field: String,
    pub message: String,
}

impl fmt::Display for SceneFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": {}", self.message)
    }
}

fn list(faults: &[SceneFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl Scene {
    /// Reads and checks a scene file.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        let shown = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|source| SceneError::Unreadable { path: shown.clone(), source })?;
        parse(&text, &shown)
    }
}

/// Reads and checks the text of a scene file; `file` names it in faults.
pub fn parse(text: &str, file: &str) -> Result<Scene, SceneError> {
    let scene: Scene = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.location().map(|location| location.line());
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default().to_owned();
        SceneError::Faults(vec![SceneFault { file: file.to_owned(), line, field: String::new(), message }])
    })?;
    let faults = Check { file, text, faults: Vec::new() }.all(&scene);
    if faults.is_empty() { Ok(scene) } else { Err(SceneError::Faults(faults)) }
}

struct Check<'a> {
    file: &'a str,
    text: &'a str,
    faults: Vec<SceneFault>,
}

impl Check<'_> {
    fn all(mut self, scene: &Scene) -> Vec<SceneFault> {
        self.names("furniture", scene.furniture.iter().map(|f| f.name.as_str()));
        self.names("objects", scene.objects.iter().map(|o| o.name.as_str()));
        self.names("waypoints", scene.waypoints.iter().map(|w| w.name.as_str()));
        for (index, piece) in scene.furniture.iter().enumerate() {
            self.size(&format!("furniture[{index}].size"), &piece.name, piece.size);
        }
        self.objects(scene);
        self.walls(scene);
        if scene.waypoint(&scene.start).is_none() {
            let known = quoted(scene.waypoints.iter().map(|w| w.name.as_str()));
            self.add("start", &scene.start, format!("no waypoint is called {:?}; known: {known}", scene.start));
        }
        if scene.objects.len() + scene.furniture.len() > 2_000 {
            self.add("objects", "", "more than 2000 things; the renderer numbers its parts with 16 bits".into());
        }
        if let Some(person) = &scene.person
            && person.path.len() < 2
        {
            self.add(
                "person.path",
                "",
                "needs at least two points: where the person appears and where the person stands".into(),
            );
        }
        self.faults
    }

    fn objects(&mut self, scene: &Scene) {
        let surfaces = scene.surfaces();
        for (index, object) in scene.objects.iter().enumerate() {
            self.size(&format!("objects[{index}].size"), &object.name, object.size);
            let Some(surface) = surfaces.iter().find(|surface| surface.name == object.on) else {
                let known = quoted(surfaces.iter().map(|s| s.name.as_str()));
                let message = format!("nothing can stand on {:?}; surfaces: {known}", object.on);
                self.add(&format!("objects[{index}].on"), &object.name, message);
                continue;
            };
            if !surface.holds(object.at, 0.0) {
                let message = format!(
                    "{:?} lies beyond the edge of {:?}, which reaches {} m by {} m from its middle",
                    object.name, surface.name, surface.half[0], surface.half[1]
                );
                self.add(&format!("objects[{index}].at"), &object.name, message);
            }
        }
    }

    fn walls(&mut self, scene: &Scene) {
        for (index, wall) in scene.walls.iter().enumerate() {
            let length = (wall.to[0] - wall.from[0]).hypot(wall.to[1] - wall.from[1]);
            if wall.to[0] != wall.from[0] && wall.to[1] != wall.from[1] || length == 0.0 {
                self.add(&format!("walls[{index}]"), "", "a wall runs along x or along y".into());
            }
            for (hole, opening) in wall.openings.iter().enumerate() {
                let fits = opening.at - opening.width * 0.5 >= 0.0 && opening.at + opening.width * 0.5 <= length;
                if !fits || opening.height[0] >= opening.height[1] {
                    let message = format!("the opening does not fit its wall of {length} m");
                    self.add(&format!("walls[{index}].openings[{hole}]"), "", message);
                }
            }
        }
    }

    fn names<'n>(&mut self, list: &str, names: impl Iterator<Item = &'n str>) {
        let mut seen = BTreeSet::new();
        for (index, name) in names.enumerate() {
            if name.is_empty() {
                self.add(&format!("{list}[{index}].name"), "", "is empty".into());
            } else if !seen.insert(name) {
                self.add(&format!("{list}[{index}].name"), name, format!("{name:?} is there twice"));
            }
        }
    }

    fn size(&mut self, field: &str, name: &str, size: [f32; 3]) {
        if size.iter().any(|side| !side.is_finite() || *side < 0.001 || *side > 20.0) {
            self.add(field, name, format!("{size:?} is not a size between 1 mm and 20 m"));
        }
    }

    fn add(&mut self, field: &str, name: &str, message: String) {
        let line = self.line_of(field, name);
        self.faults.push(SceneFault { file: self.file.to_owned(), line, field: field.to_owned(), message });
    }

    /// The last line of the field's section that has the name, else the line where the section begins.
    fn line_of(&self, field: &str, name: &str) -> Option<u64> {
        let section = field.split(['[', '.']).next().unwrap_or(field);
        let lines: Vec<_> = self.text.lines().collect();
        let begins = |line: &&str| line.strip_prefix(section).is_some_and(|rest| rest.starts_with(':'));
        let first = lines.iter().position(begins)?;
        let is_top = |line: &&str| line.starts_with(|c: char| c.is_alphabetic());
        let length = lines[first + 1..].iter().position(is_top).unwrap_or(lines.len() - first - 1);
        let names = |line: &&str| {
            line.split(['{', '}', ',']).any(|pair| {
                let value = pair.trim().trim_start_matches("- ").strip_prefix("name:");
                value.is_some_and(|value| value.trim().trim_matches(['"', '\'']) == name)
            })
        };
        let inside = lines[first + 1..=first + length].iter().rposition(names);
        Some(inside.map_or(first, |at| first + 1 + at) as u64 + 1)
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = include_str!("../../scenes/home.yaml");

    #[test]
    fn the_built_in_home_is_valid() {
        assert_eq!(parse(HOME, "home.yaml").unwrap().name, "home");
        assert_eq!(Scene::home().start, "kitchen table");
    }

    #[test]
    fn faults_name_file_line_field_and_what_is_accepted() {
        let cases = [
            ("on: kitchen table, at: [-0.22, 0.28]", "on: moon, at: [0, 0]", "objects[0].on", "kitchen table"),
            ("at: [-0.27, 0.09]", "at: [9, 0]", "objects[1].at", "beyond the edge"),
            ("name: mug", "name: coke", "objects[3].name", "twice"),
            ("size: [0.8, 1.3, 0.72]", "size: [0.8, -1.3, 0.72]", "furniture[0].size", "between 1 mm"),
            ("start: kitchen table", "start: attic", "start", "operator"),
            ("kind: can, colour: red", "kind: spoon, colour: red", "", "spoon"),
            ("colour: red, accent: white", "colour: redd, accent: white", "", "redd"),
            ("seed: 7", "seed: 7\nmoon: 1", "", "moon"),
            ("to: [5.2, 4]\n    colour: cream", "to: [5.3, 4]\n    colour: cream", "walls[0]", "along"),
            ("{at: 1.4, width", "{at: 99, width", "walls[4].openings[0]", "does not fit"),
        ];
        for (from, to, field, says) in cases {
            assert!(HOME.contains(from), "the home has no {from:?}");
            let error = parse(&HOME.replacen(from, to, 1), "bad.yaml").unwrap_err();
            let SceneError::Faults(faults) = &error else { panic!("{error}") };
            let fault = faults.iter().find(|fault| fault.field == field);
            let fault = fault.unwrap_or_else(|| panic!("{to:?}: {error}"));
            assert!(fault.message.contains(says), "{to:?}: {fault}");
            assert!(fault.to_string().starts_with("bad.yaml"), "{fault}");
            let line = fault.line.unwrap_or_else(|| panic!("{to:?}: {fault}")) as usize;
            if !field.starts_with("walls") {
                let shown = HOME.replacen(from, to, 1).lines().nth(line - 1).unwrap().to_owned();
                assert!(shown.contains(to.lines().last().unwrap()), "{fault} points at {shown:?}");
            }
        }
    }

    #[test]
    fn an_unreadable_file_is_named() {
        let error = Scene::load(Path::new("/nowhere/home.yaml")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/home.yaml"));
    }
}

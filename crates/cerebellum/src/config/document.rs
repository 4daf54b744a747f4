use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_saphyr::{IncludeResolveError, InputSource, ResolvedInclude};

use super::environment::Environment;
use super::fault::{ConfigFault, ConfigFaults, excerpt};
use super::interpolate::{self, Expression};
use super::node::{Node, Place, RawNode, Resolver};
use super::source::{self, Root};

/// A root file with everything it includes.
pub(super) struct Document {
    pub(super) node: Node,
    /// The files that were read, the root first.
    pub(super) files: Vec<Arc<str>>,
    /// What is wrong with variables.
    pub(super) faults: Vec<ConfigFault>,
}

/// What grows while files are opened.
#[derive(Default)]
struct Opened {
    files: Vec<Arc<str>>,
    expressions: Vec<Expression>,
}

impl Opened {
    /// Takes the variables out of a file's text.
    fn add(&mut self, name: String, text: &str) -> String {
        self.files.push(name.into());
        interpolate::take_out(text, &mut self.expressions)
    }
}

/// Reads the root file and what it includes. What YAML itself refuses ends the reading at the first fault.
pub(super) fn read(root: &Root, environment: &Environment) -> Result<Document, ConfigFaults> {
    let found = source::read(root, &root.file).map_err(ConfigFault::outside)?;
    let opened = Rc::new(RefCell::new(Opened::default()));
    let text = opened.borrow_mut().add(found.name, &found.text);
    let resolver_root = root.clone();
    let resolver_opened = Rc::clone(&opened);
    let options = serde_saphyr::options! {}.with_include_resolver(move |request| {
        let found = source::read(&resolver_root, request.spec).map_err(IncludeResolveError::Message)?;
        let text = resolver_opened.borrow_mut().add(found.name.clone(), &found.text);
        Ok(ResolvedInclude::new(found.name.clone(), found.name, InputSource::from_string(text)))
    });
    let parsed = serde_saphyr::from_str_with_options::<RawNode>(&text, options);
    let opened = opened.borrow();
    let mut faults = Vec::new();
    let mut resolver =
        Resolver { files: &opened.files, expressions: &opened.expressions, environment, faults: &mut faults };
    let raw = match parsed {
        Ok(raw) => raw,
        Err(error) => return Err(yaml_fault(&error, &resolver).into()),
    };
    let node = resolver.resolve(raw, "");
    Ok(Document { node, files: opened.files.clone(), faults })
}

fn yaml_fault(error: &serde_saphyr::Error, resolver: &Resolver<'_>) -> ConfigFault {
    let place = error.location().map(|location| resolver.place(location));
    let message = match error.without_snippet() {
        serde_saphyr::Error::ResolverError { error: IncludeResolveError::Message(message), .. } => message.clone(),
        error => excerpt(&error.to_string()),
    };
    let root = Place { file: resolver.files.first().cloned().unwrap_or_default(), line: 0 };
    ConfigFault { place: place.or(Some(root)), setting: String::new(), message }
}

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cerebellum_core::SkillName;

use super::numbered;

/// Names that calls of this server are about to use, so that two calls at once do not choose the same.
#[derive(Default)]
pub(super) struct Names {
    claimed: Mutex<HashSet<SkillName>>,
}

/// A name set aside until this is dropped.
pub(super) struct Claim<'a> {
    names: &'a Names,
    name: SkillName,
}

impl Names {
    /// The name itself if it is free, else the name with the lowest free number from 2 on.
    pub(super) fn claim(&self, wanted: &SkillName, running: &[String]) -> Claim<'_> {
        let mut claimed = self.lock();
        let is_free = |name: &SkillName| !claimed.contains(name) && !running.iter().any(|one| one == name.as_str());
        let numbers = (2..).map(|number| numbered(wanted, number));
        let name = std::iter::once(wanted.clone()).chain(numbers).find(is_free).expect("numbers do not run out");
        claimed.insert(name.clone());
        Claim { names: self, name }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<SkillName>> {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim<'_> {
    pub(super) fn name(&self) -> &SkillName {
        &self.name
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.names.lock().remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, running: &[&str], expected: &str) {
        let running: Vec<String> = running.iter().map(|&name| name.to_owned()).collect();
        let names = Names::default();
        assert_eq!(names.claim(&wanted.parse().unwrap(), &running).name().as_str(), expected);
    }

    #[test]
    fn the_lowest_free_number_is_used() {
        check("a", &[], "a");
        check("a", &["b"], "a");
        check("a", &["a"], "a_2");
        check("a", &["a", "a_2", "a_4"], "a_3");
        check("a", &["a_2"], "a");
        check("a_2", &["a_2"], "a_2_2");
    }

    #[test]
    fn a_number_fits_into_63_characters() {
        let long = "x".repeat(63);
        check(&long, &[&long], &format!("{}_2", "x".repeat(61)));
        let many: Vec<String> = (2..12).map(|number| format!("{}_{number}", "x".repeat(61))).collect();
        let mut running: Vec<&str> = many.iter().map(String::as_str).collect();
        running.push(&long);
        check(&long, &running, &format!("{}_10", "x".repeat(60)));
    }

    #[test]
    fn two_calls_at_once_choose_different_names_and_a_dropped_claim_is_free_again() {
        let (names, wanted) = (Names::default(), "a".parse().unwrap());
        let first = names.claim(&wanted, &[]);
        let second = names.claim(&wanted, &[]);
        assert_eq!((first.name().as_str(), second.name().as_str()), ("a", "a_2"));
        drop(first);
        assert_eq!(names.claim(&wanted, &[]).name().as_str(), "a");
    }
}

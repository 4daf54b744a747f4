use cerebellum_wire::contract::Level;
use serde_json::{Value, json};

/// What came of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It holds; the text says what was seen.
    Holds(String),
    /// It does not.
    Fails {
        /// What was seen.
        found: String,
        /// What to change.
        change: String,
    },
    /// It was not looked at, and why.
    Skipped(String),
}

/// One item of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// A stable word: what is examined, and of which tool.
    pub(super) id: String,
    /// The part of the checklist it belongs to.
    pub(super) level: Level,
    /// What came of it.
    pub(super) outcome: Outcome,
}

/// All items, in the order they were looked at.
#[derive(Debug, Default)]
pub(super) struct Report {
    items: Vec<Item>,
}

impl Report {
    pub(super) fn holds(&mut self, id: impl Into<String>, level: Level, seen: impl Into<String>) {
        self.items.push(Item { id: id.into(), level, outcome: Outcome::Holds(seen.into()) });
    }

    pub(super) fn fails(
        &mut self,
        id: impl Into<String>,
        level: Level,
        found: impl Into<String>,
        change: impl Into<String>,
    ) {
        let outcome = Outcome::Fails { found: found.into(), change: change.into() };
        self.items.push(Item { id: id.into(), level, outcome });
    }

    pub(super) fn skips(&mut self, id: impl Into<String>, level: Level, why: impl Into<String>) {
        self.items.push(Item { id: id.into(), level, outcome: Outcome::Skipped(why.into()) });
    }

    /// Notes the faults as one failing item, or that there are none.
    pub(super) fn judge(&mut self, id: impl Into<String>, level: Level, faults: &[String], seen: &str, change: &str) {
        if faults.is_empty() {
            self.holds(id, level, seen);
        } else {
            self.fails(id, level, faults.join("; "), change);
        }
    }

    /// How many items fail.
    pub(super) fn failures(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Fails { .. }))
    }

    fn count(&self, which: impl Fn(&Outcome) -> bool) -> usize {
        self.items.iter().filter(|item| which(&item.outcome)).count()
    }

    fn summary(&self) -> String {
        format!(
            "{} hold, {} fail, {} not looked at",
            self.count(|outcome| matches!(outcome, Outcome::Holds(_))),
            self.failures(),
            self.count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        )
    }

    /// For programs: `{ok, summary, items: [{id, level, outcome, found, change?}]}`.
    pub(super) fn to_json(&self) -> Value {
        let items: Vec<Value> = self
            .items
            .iter()
            .map(|item| match &item.outcome {
                Outcome::Holds(found) => {
                    json!({"id": item.id, "level": word(item.level), "outcome": "holds", "found": found})
                }
                Outcome::Fails { found, change } => {
                    json!({"id": item.id, "level": word(item.level), "outcome": "fails", "found": found, "change": change})
                }
                Outcome::Skipped(why) => {
                    json!({"id": item.id, "level": word(item.level), "outcome": "skipped", "found": why})
                }
            })
            .collect();
        json!({"ok": self.failures() == 0, "summary": self.summary(), "items": items})
    }

    /// For people.
    pub(super) fn to_table(&self, width: Option<u16>) -> String {
        let mut table = comfy_table::Table::new();
        table
            .load_style(comfy_table::presets::NOTHING)
            .set_content_arrangement(comfy_table::ContentArrangement::Dynamic)
            .set_header(["", "item", "of", "what was seen, and what to change"]);
        table.set_width(width.unwrap_or(120).max(60));
        for item in &self.items {
            let (mark, text) = match &item.outcome {
                Outcome::Holds(found) => ("ok", found.clone()),
                Outcome::Fails { found, change } => ("FAIL", format!("{found}\n→ {change}")),
                Outcome::Skipped(why) => ("-", why.clone()),
            };
            table.add_row([mark, &item.id, word(item.level), &text]);
        }
        format!("{table}\n\n{}", self.summary())
    }
}

const fn word(level: Level) -> &'static str {
    match level {
        Level::Minimum => "minimum",
        Level::Full => "full",
        Level::Extra => "extra",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_item_says_what_to_change_in_both_forms() {
        let mut report = Report::default();
        report.holds("tool:pick", Level::Minimum, "there");
        report.judge("answer:pick", Level::Minimum, &["held is missing".to_owned()], "", "answer held");
        report.skips("moves:turn_by", Level::Full, "needs --allow-motion");
        assert_eq!(report.failures(), 1);
        assert_eq!(report.to_json()["items"][1]["change"], "answer held");
        let table = report.to_table(Some(100));
        assert!(table.contains("→ answer held") && table.contains("1 hold, 1 fail, 1 not looked at"), "{table}");
    }
}

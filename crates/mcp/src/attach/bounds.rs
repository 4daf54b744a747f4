use std::collections::HashSet;
use std::time::Duration;

use rmcp::model::PaginatedRequestParams;

use super::CallError;

/// The most pages of a list that are followed; a list that goes on has a cursor that never ends.
const PAGES_MAX: usize = 64;

/// A limit of time that may be started anew; none at all waits for ever.
pub(super) struct Limit {
    after: Duration,
    sleep: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
}

impl Limit {
    pub(super) fn of(after: Option<Duration>) -> Self {
        let sleep = after.map(|after| Box::pin(tokio::time::sleep(after)));
        Self { after: after.unwrap_or_default(), sleep }
    }

    pub(super) fn restart(&mut self) {
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(tokio::time::Instant::now() + self.after);
        }
    }

    pub(super) async fn over(&mut self) -> Duration {
        match &mut self.sleep {
            Some(sleep) => sleep.await,
            None => std::future::pending().await,
        }
        self.after
    }
}

/// The pages of a list, followed until there are no more.
#[derive(Default)]
pub(super) struct Pages {
    seen: HashSet<String>,
    at: Option<String>,
    ended: bool,
    read: usize,
}

impl Pages {
    /// What to ask for next: `Some(None)` is the first page, `None` means all were read.
    #[expect(clippy::option_option, reason = "the first page is asked for without parameters")]
    pub(super) fn next(&mut self) -> Result<Option<Option<PaginatedRequestParams>>, CallError> {
        if self.ended {
            return Ok(None);
        }
        if self.read >= PAGES_MAX {
            return Err(CallError::Unexpected(format!("a list of more than {PAGES_MAX} pages")));
        }
        self.read += 1;
        Ok(Some(self.at.clone().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))))
    }

    /// Notes where the list goes on. A cursor that came before ends it.
    pub(super) fn turn(&mut self, cursor: Option<String>) {
        self.ended = cursor.as_ref().is_none_or(|cursor| !self.seen.insert(cursor.clone()));
        self.at = cursor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end_at_a_cursor_that_comes_again() {
        let mut pages = Pages::default();
        assert!(pages.next().unwrap().unwrap().is_none());
        pages.turn(Some("a".into()));
        assert!(pages.next().unwrap().unwrap().is_some());
        pages.turn(Some("a".into()));
        assert!(pages.next().unwrap().is_none());
        let mut endless = Pages::default();
        for page in 0..PAGES_MAX {
            assert!(endless.next().unwrap().is_some());
            endless.turn(Some(page.to_string()));
        }
        assert!(endless.next().is_err());
    }
}

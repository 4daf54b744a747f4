use super::*;

fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn push(line: &mut Line, id: &str, now: u64) -> bool {
    line.push(id.into(), Arc::from(*b"{}"), secs(now))
}

fn failed() -> Outcome {
    Outcome::Failed { why: "503".into(), retry_after: None }
}

/// The id of the event that is tried at `now`, and its key.
fn tried(line: &mut Line, now: u64) -> (String, u64) {
    match line.next(secs(now)) {
        Step::Try(attempt) => (attempt.id.to_string(), attempt.key),
        other => panic!("nothing is tried at {now} s but {other:?}"),
    }
}

fn try_with(line: &mut Line, now: u64, outcome: Outcome) -> (String, Verdict) {
    let (id, key) = tried(line, now);
    (id, line.settle(key, outcome, secs(now)))
}

#[test]
fn events_go_out_at_once_and_in_order() {
    let mut line = Line::default();
    assert_eq!(line.next(secs(7)), Step::Idle);
    for id in ["a", "b", "c"] {
        push(&mut line, id, 7);
    }
    let order: Vec<String> = (0..3).map(|_| try_with(&mut line, 7, Outcome::Delivered).0).collect();
    assert_eq!(order, ["a", "b", "c"]);
    assert_eq!((line.next(secs(7)), line.stats(secs(7)).delivered), (Step::Idle, 3));
}

#[test]
fn a_lone_event_is_tried_on_the_schedule_for_an_hour() {
    let mut line = Line::default();
    push(&mut line, "a", 100);
    let mut tries = vec![];
    let mut now = 100;
    loop {
        tries.push(now - 100);
        match try_with(&mut line, now, failed()).1 {
            Verdict::TryAgain { pause, .. } => {
                assert_eq!(line.next(secs(now)), Step::WaitUntil(secs(now) + pause));
                now += pause.as_secs();
            }
            verdict => {
                assert_eq!(verdict, Verdict::GaveUp { why: "503".into() });
                break;
            }
        }
    }
    assert_eq!(tries[..6], [0, 5, 35, 155, 455, 755]);
    assert_eq!(*tries.last().unwrap(), 3455);
    assert_eq!((line.next(secs(now)), line.stats(secs(now)).gave_up), (Step::Idle, 1));
}

#[test]
fn a_refused_event_is_not_tried_again() {
    let mut line = Line::default();
    push(&mut line, "a", 0);
    let (_, verdict) = try_with(&mut line, 0, Outcome::Refused { why: "401".into() });
    assert_eq!(verdict, Verdict::Refused { why: "401".into() });
    assert_eq!((line.next(secs(9_999)), line.stats(secs(0)).refused), (Step::Idle, 1));
}

#[test]
fn order_survives_a_receiver_that_was_away() {
    let mut line = Line::default();
    for id in ["a", "b", "c"] {
        push(&mut line, id, 0);
    }
    assert_eq!(try_with(&mut line, 0, failed()).0, "a");
    assert_eq!(line.next(secs(4)), Step::WaitUntil(secs(5)));
    assert_eq!(try_with(&mut line, 5, failed()).0, "a");
    assert_eq!(try_with(&mut line, 5, failed()).0, "b", "is it the event or the receiver?");
    assert_eq!(line.next(secs(34)), Step::WaitUntil(secs(35)));
    let order: Vec<String> = (0..3).map(|_| try_with(&mut line, 35, Outcome::Delivered).0).collect();
    assert_eq!(order, ["a", "b", "c"]);
}

#[test]
fn a_dead_event_is_set_aside_and_holds_up_nobody() {
    let mut line = Line::default();
    push(&mut line, "dead", 0);
    push(&mut line, "b", 0);
    assert_eq!(try_with(&mut line, 0, failed()).0, "dead");
    assert_eq!(try_with(&mut line, 5, failed()).0, "dead");
    assert_eq!(try_with(&mut line, 5, Outcome::Delivered).0, "b");
    push(&mut line, "c", 6);
    assert_eq!(try_with(&mut line, 6, Outcome::Delivered).0, "c");
    assert_eq!(line.next(secs(6)), Step::WaitUntil(secs(35)));
    assert_eq!(try_with(&mut line, 35, failed()).0, "dead");
    assert_eq!(line.next(secs(36)), Step::WaitUntil(secs(155)));
}

#[test]
fn two_dead_events_do_not_shield_each_other() {
    let mut line = Line::default();
    for id in ["dead 1", "dead 2", "c"] {
        push(&mut line, id, 0);
    }
    try_with(&mut line, 0, failed());
    try_with(&mut line, 5, failed());
    assert_eq!(try_with(&mut line, 5, failed()).0, "dead 2");
    assert_eq!(try_with(&mut line, 35, failed()).0, "dead 1");
    assert_eq!(try_with(&mut line, 35, Outcome::Delivered).0, "c", "the one that was tried least");
}

#[test]
fn a_new_event_has_a_receiver_that_was_away_looked_at_soon() {
    let mut line = Line::default();
    push(&mut line, "a", 0);
    for now in [0, 5, 35] {
        try_with(&mut line, now, failed());
    }
    assert_eq!(line.next(secs(40)), Step::WaitUntil(secs(155)));
    push(&mut line, "b", 37);
    assert_eq!(line.next(secs(37)), Step::WaitUntil(secs(40)), "but not more often than every 5 s");
    assert_eq!(try_with(&mut line, 40, failed()).1, Verdict::TryAgain { why: "503".into(), pause: secs(115) });
    assert_eq!(try_with(&mut line, 40, failed()).0, "b");
    push(&mut line, "c", 100);
    let order: Vec<String> = (0..3).map(|_| try_with(&mut line, 100, Outcome::Delivered).0).collect();
    assert_eq!(order, ["a", "b", "c"]);
}

#[test]
fn retry_after_is_honoured_up_to_five_minutes_and_news_do_not_shorten_it() {
    let asks = |secs| Outcome::Failed { why: "429".into(), retry_after: Some(Duration::from_secs(secs)) };
    let mut line = Line::default();
    push(&mut line, "a", 0);
    try_with(&mut line, 0, asks(60));
    push(&mut line, "b", 1);
    assert_eq!(line.next(secs(1)), Step::WaitUntil(secs(60)));
    try_with(&mut line, 60, asks(86_400));
    assert_eq!(line.next(secs(60)), Step::WaitUntil(secs(360)));
    assert_eq!(line.stats(secs(60)).held_for, Some(secs(300)));
    try_with(&mut line, 360, asks(1));
    assert_eq!(line.next(secs(360)), Step::WaitUntil(secs(480)), "a short wish does not shorten the schedule");
}

#[test]
fn a_full_line_drops_the_oldest_and_counts_it() {
    let mut line = Line::default();
    for index in 0..WAITING_MAX {
        assert!(!push(&mut line, &index.to_string(), 0));
    }
    assert!(push(&mut line, "last", 0));
    let stats = line.stats(secs(0));
    assert_eq!((stats.waiting, stats.dropped), (WAITING_MAX, 1));
    assert_eq!(tried(&mut line, 0).0, "1");
}

#[test]
fn an_event_that_was_dropped_under_way_upsets_nothing() {
    let mut line = Line::default();
    push(&mut line, "first", 0);
    let (_, key) = tried(&mut line, 0);
    for index in 0..WAITING_MAX {
        push(&mut line, &index.to_string(), 0);
    }
    assert_eq!(line.settle(key, failed(), secs(1)), Verdict::GaveUp { why: "503".into() });
    assert_eq!(line.next(secs(1)), Step::WaitUntil(secs(6)));
    assert_eq!(try_with(&mut line, 6, Outcome::Delivered).0, "0");
}

#[test]
fn before_the_end_each_event_is_tried_once() {
    let mut line = Line::default();
    push(&mut line, "a", 0);
    try_with(&mut line, 0, failed());
    push(&mut line, "b", 0);
    let first = line.next_before_the_end().unwrap();
    line.settle(first.key, failed(), secs(1));
    let second = line.next_before_the_end().unwrap();
    line.settle(second.key, Outcome::Delivered, secs(1));
    assert_eq!((&*first.id, &*second.id, line.next_before_the_end()), ("a", "b", None));
    assert_eq!((line.abandon(), line.stats(secs(1)).dropped), (1, 1));
}

use std::sync::Mutex;

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[tokio::test]
async fn awaited_time_stands_still_until_somebody_sleeps() {
    let clock = Pace::AWAITED.clock();
    let before = clock.now();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(clock.now(), before);
    clock.sleep(Duration::from_secs(3600)).await;
    assert_eq!(clock.now().secs_since(before), 3600.0);
}

#[tokio::test]
async fn awaited_sleepers_wake_in_the_order_of_their_moments() {
    let clock = Arc::new(Awaited::new(Stamp::from_nanos(5)));
    let woken = Mutex::new(Vec::new());
    let sleeper = |name: &'static str, spans: Vec<u64>| {
        let (clock, woken) = (&clock, &woken);
        async move {
            for span in spans {
                clock.sleep(MS(span)).await;
                woken.lock().unwrap().push((name, clock.monotonic().as_millis()));
            }
        }
    };
    tokio::join!(sleeper("a", vec![30, 30]), sleeper("b", vec![20, 20, 25]), sleeper("c", vec![20]));
    let expected = [("b", 20), ("c", 20), ("a", 30), ("b", 40), ("a", 60), ("b", 65)];
    assert_eq!(*woken.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_hold_keeps_awaited_time_from_moving() {
    let clock = Arc::new(Awaited::new(Stamp::ZERO));
    let hold = clock.hold();
    let sleep = clock.sleep(MS(10));
    tokio::pin!(sleep);
    assert!(tokio::time::timeout(MS(20), sleep.as_mut()).await.is_err());
    assert_eq!(clock.monotonic(), Duration::ZERO);
    drop(hold);
    tokio::time::timeout(Duration::from_secs(5), sleep).await.unwrap();
    assert_eq!(clock.monotonic(), MS(10));
}

#[tokio::test]
async fn a_sleeper_that_gives_up_holds_nobody_back() {
    let clock = Awaited::new(Stamp::ZERO);
    let hold = clock.hold();
    assert!(tokio::time::timeout(MS(5), clock.sleep(MS(1))).await.is_err());
    drop(hold);
    tokio::time::timeout(Duration::from_secs(5), clock.sleep(MS(10))).await.unwrap();
    assert_eq!(clock.monotonic(), MS(10));
}

#[tokio::test]
async fn fast_time_passes_faster_than_the_hosts() {
    let clock = Pace::Realtime { speed: 1000.0 }.clock();
    clock.sleep(Duration::from_secs(5)).await;
    assert!(clock.monotonic() >= Duration::from_secs(5));
    assert!(clock.now().nanos() > 1_600_000_000_000_000_000);
}

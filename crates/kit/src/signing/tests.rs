use cerebellum_core::Stamp;
use proptest::prelude::*;

use super::*;

const TEXT_SECRET: &str = "test-event-secret-0123456789abcdef";
const EVENT: &str = r#"{"type":"watch_event","task_id":"watch_for","server":"perception","payload":{"skill":"watch_for","condition":"a person is near the table","value":true,"detection_summary":"person 0.91","overlay_ref":{"topic":"/vision/watch_for/overlay","stamp":1750000000.5}}}"#;

fn secret(text: &str) -> Secret {
    text.parse().unwrap()
}

fn at(seconds: i64) -> Stamp {
    Stamp::from_nanos(seconds * 1_000_000_000)
}

fn check(secrets: &[Secret], headers: (&str, &str, &str), body: &str, now: i64) -> Result<(), VerifyError> {
    verify(secrets, Signed { id: headers.0, timestamp: headers.1, signatures: headers.2 }, body.as_bytes(), at(now))
}

#[test]
fn published_vectors_are_met_both_ways() {
    let vectors = [
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        (
            TEXT_SECRET,
            "evt_01JZZ0000000000000000000",
            1_750_000_000,
            EVENT,
            "v1,1hPfqtWAs1vQXkv+n4GXRjUAiISH49yelbo0dSzvD4M=",
        ),
    ];
    for (key, id, timestamp, body, signature) in vectors {
        let key = secret(key);
        assert_eq!(sign([&key], id, timestamp, body.as_bytes()), signature);
        assert_eq!(check(&[key], (id, &timestamp.to_string(), signature), body, timestamp), Ok(()));
    }
}

#[test]
fn short_and_garbled_secrets_are_refused_without_being_shown() {
    assert_eq!("".parse::<Secret>(), Err(SecretError::TooShort { bytes: 0 }));
    assert_eq!("fifteen-bytes-x".parse::<Secret>(), Err(SecretError::TooShort { bytes: 15 }));
    assert!("sixteen-bytes-xy".parse::<Secret>().is_ok());
    assert_eq!("whsec_AAAA".parse::<Secret>(), Err(SecretError::TooShort { bytes: 3 }));
    let error = "whsec_not base64 at all!".parse::<Secret>().unwrap_err();
    assert_eq!(error, SecretError::NotBase64);
    assert!(!error.to_string().contains("at all"));
}

#[test]
fn a_secret_prints_as_redacted() {
    assert_eq!(format!("{:?}", secret(TEXT_SECRET)), "Secret([REDACTED])");
}

#[test]
fn equal_keys_are_equal_however_they_are_written() {
    let encoded = format!("whsec_{}", STANDARD.encode(TEXT_SECRET));
    assert_eq!(secret(TEXT_SECRET), secret(&encoded));
    assert_ne!(secret(TEXT_SECRET), secret("another-secret-0123456789"));
}

#[test]
fn one_fitting_signature_of_a_rotation_is_enough() {
    let (old, new) = (secret(TEXT_SECRET), secret("the-new-secret-0123456789"));
    let both = sign([&old, &new], "evt_1", 1_000, b"{}");
    assert_eq!(both.split(' ').count(), 2);
    for known in [&old, &new] {
        assert_eq!(check(std::slice::from_ref(known), ("evt_1", "1000", &both), "{}", 1_000), Ok(()));
    }
    let only_old = sign([&old], "evt_1", 1_000, b"{}");
    assert_eq!(check(&[new.clone(), old], ("evt_1", "1000", &only_old), "{}", 1_000), Ok(()));
    assert_eq!(check(&[new], ("evt_1", "1000", &only_old), "{}", 1_000), Err(VerifyError::Mismatch));
}

#[test]
fn signatures_of_other_versions_are_passed_over() {
    let key = secret(TEXT_SECRET);
    let ours = sign([&key], "evt_1", 1_000, b"{}");
    let mixed = format!("v1a,AAAA v1,!!! v2,{} {ours}", &ours[3..]);
    assert_eq!(check(std::slice::from_ref(&key), ("evt_1", "1000", &mixed), "{}", 1_000), Ok(()));
    let foreign = format!("v2,{}", &ours[3..]);
    assert_eq!(check(&[key], ("evt_1", "1000", &foreign), "{}", 1_000), Err(VerifyError::Mismatch));
}

#[test]
fn a_timestamp_may_be_five_minutes_off_and_no_more() {
    let key = [secret(TEXT_SECRET)];
    let signed = sign(&key, "evt_1", 10_000, b"{}");
    for now in [9_700, 10_300] {
        assert_eq!(check(&key, ("evt_1", "10000", &signed), "{}", now), Ok(()));
    }
    for (now, skew_secs) in [(9_699, 301), (10_301, -301)] {
        let late = Err(VerifyError::OutOfTolerance { skew_secs });
        assert_eq!(check(&key, ("evt_1", "10000", &signed), "{}", now), late);
    }
}

#[test]
fn missing_and_malformed_headers_are_told_apart_for_the_log() {
    let key = [secret(TEXT_SECRET)];
    let signed = sign(&key, "evt_1", 1_000, b"{}");
    assert_eq!(check(&key, ("", "1000", &signed), "{}", 1_000), Err(VerifyError::NoId));
    for bad in ["", "soon", "1000.0", "+1000", "01000", " 1000", "99999999999999999999"] {
        assert_eq!(check(&key, ("evt_1", bad, &signed), "{}", 1_000), Err(VerifyError::BadTimestamp), "{bad:?}");
    }
    let extreme = i64::MIN.to_string();
    assert!(matches!(check(&key, ("evt_1", &extreme, &signed), "{}", 1_000), Err(VerifyError::OutOfTolerance { .. })));
    assert_eq!(check(&key, ("evt_1", "1000", ""), "{}", 1_000), Err(VerifyError::Mismatch));
    assert_eq!(check(&[], ("evt_1", "1000", &signed), "{}", 1_000), Err(VerifyError::Mismatch));
}

proptest! {
    #[test]
    fn what_was_signed_verifies_and_one_changed_byte_does_not(
        key in proptest::collection::vec(any::<u8>(), SECRET_BYTES_MIN..80),
        id in "[a-zA-Z0-9_-]{1,40}",
        timestamp in 0_i64..4_000_000_000,
        body in proptest::collection::vec(any::<u8>(), 1..400),
        at_byte in any::<prop::sample::Index>(),
        flip in 1_u8..,
    ) {
        let key = [secret(&format!("whsec_{}", STANDARD.encode(&key)))];
        let text = timestamp.to_string();
        let signatures = sign(&key, &id, timestamp, &body);
        let headers = Signed { id: &id, timestamp: &text, signatures: &signatures };
        prop_assert_eq!(verify(&key, headers, &body, at(timestamp)), Ok(()));

        let mut changed = body.clone();
        changed[at_byte.index(body.len())] ^= flip;
        prop_assert_eq!(verify(&key, headers, &changed, at(timestamp)), Err(VerifyError::Mismatch));
        let other_id = format!("{id}x");
        let headers = Signed { id: &other_id, ..headers };
        prop_assert_eq!(verify(&key, headers, &body, at(timestamp)), Err(VerifyError::Mismatch));
    }

    #[test]
    fn no_header_makes_verifying_panic(id in ".*", timestamp in ".*", signatures in ".*", body in ".*", now in any::<i64>()) {
        let key = [secret(TEXT_SECRET)];
        let headers = Signed { id: &id, timestamp: &timestamp, signatures: &signatures };
        prop_assert!(verify(&key, headers, body.as_bytes(), Stamp::from_nanos(now)).is_err());
    }
}

use super::*;

fn place(name: &str, x: f64) -> Saved {
    Saved { name: name.to_owned(), x, y: 0.0, yaw_deg: 90.0, map_id: Some("flat".to_owned()) }
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/waypoints.json");
    (folder, path)
}

#[tokio::test]
async fn a_place_is_kept_across_a_restart_and_moved_when_saved_again() {
    let (_folder, path) = file();
    assert_eq!(Waypoints::new(path.clone()).save(place("Sofa", 1.0)).await.unwrap(), (false, None));
    assert_eq!(Waypoints::new(path.clone()).save(place("SOFA", 2.0)).await.unwrap(), (true, None));
    let (places, warning) = Waypoints::new(path).read().await.unwrap();
    assert_eq!((places, warning), (vec![place("SOFA", 2.0)], None));
}

#[tokio::test]
async fn a_file_that_was_cut_short_is_kept_aside_and_the_last_good_copy_is_used() {
    let (_folder, path) = file();
    let waypoints = Waypoints::new(path.clone());
    waypoints.save(place("sofa", 1.0)).await.unwrap();
    waypoints.save(place("shelf", 2.0)).await.unwrap();
    let whole = fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let (places, warning) = Waypoints::new(path.clone()).read().await.unwrap();
        assert_eq!(places.len(), 2, "cut after {cut} bytes");
        let warning = warning.unwrap();
        assert!(warning.contains("damaged") && warning.contains("2 places"), "{warning}");
        assert_eq!(fs::read(&path).unwrap(), whole, "the file is whole again");
    }
    assert!(beside(&path, "damaged.1").exists());
}

#[tokio::test]
async fn a_file_that_vanished_is_damage_and_a_first_start_is_none() {
    let (_folder, path) = file();
    assert_eq!(Waypoints::new(path.clone()).read().await.unwrap(), (Vec::new(), None));
    Waypoints::new(path.clone()).save(place("sofa", 1.0)).await.unwrap();
    fs::remove_file(&path).unwrap();
    let (places, warning) = Waypoints::new(path).read().await.unwrap();
    assert_eq!(places.len(), 1);
    assert!(warning.is_some());
}

#[tokio::test]
async fn without_a_good_copy_damage_is_told_and_saving_goes_on() {
    let (_folder, path) = file();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{\"waypoints\": [{\"name\"").unwrap();
    let (replaced, warning) = Waypoints::new(path.clone()).save(place("sofa", 1.0)).await.unwrap();
    assert!(!replaced && warning.unwrap().contains("no good copy"));
    assert_eq!(Waypoints::new(path).read().await.unwrap().0.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_who_save_at_once_both_keep_their_places() {
    let (_folder, path) = file();
    let savers = (0..40).map(|index| {
        // Each has its own server, as another process would.
        let waypoints = Waypoints::new(path.clone());
        tokio::spawn(async move { waypoints.save(place(&format!("place {index}"), f64::from(index))).await })
    });
    for saved in futures::future::join_all(savers).await {
        saved.unwrap().unwrap();
    }
    assert_eq!(Waypoints::new(path).read().await.unwrap().0.len(), 40);
}

#[test]
fn names_are_folded_and_plain() {
    for name in ["Kitchen  Table", " kitchen table ", "KITCHEN TABLE", "ｋitchen\u{a0}table"] {
        assert_eq!(folded(name), "kitchen table", "{name:?}");
    }
    assert_eq!(folded("ﬁle Ⅳ"), "file iv");
    let name = |given: &str| name_of(given).ok();
    assert_eq!(name("  Work   bench ").as_deref(), Some("Work bench"));
    for bad in ["", "   ", "a\u{202e}b", &"x".repeat(65)] {
        assert_eq!(name(bad), None, "{bad:?}");
    }
}

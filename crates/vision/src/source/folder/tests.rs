use std::fs;

use cerebellum_core::Stamp;
use cerebellum_testkit::FakeClock;
use cerebellum_testkit::frames::check;
use image::{ImageBuffer, Luma, Rgb};
use tempfile::TempDir;

use super::*;

struct Pictures {
    folder: TempDir,
    clock: Arc<FakeClock>,
}

impl Pictures {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, clock: Arc::new(FakeClock::at(Stamp::from_nanos(1_000_000_000))) }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn colour(&self, name: &str, width: u32, height: u32, grey: u8) {
        ImageBuffer::from_pixel(width, height, Rgb([grey; 3])).save(self.at(name)).unwrap();
    }

    fn depth(&self, name: &str, width: u32, height: u32, millimetres: u16) {
        ImageBuffer::from_pixel(width, height, Luma([millimetres])).save(self.at(name)).unwrap();
    }

    fn text(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn open(&self) -> Result<Folder, FolderError> {
        Folder::open(self.folder.path(), &FolderConfig::default(), self.clock.clone())
    }

    fn fault(&self) -> String {
        self.open().unwrap_err().to_string()
    }
}

#[test]
fn what_will_not_work_without_depth_is_said() {
    let pictures = Pictures::new();
    pictures.colour("a.png", 8, 6, 10);
    pictures.colour("b.png", 8, 6, 10);
    assert!(pictures.open().unwrap().missing().unwrap().contains("none has depth"));
    pictures.depth("a.depth.png", 8, 6, 1500);
    assert!(pictures.open().unwrap().missing().unwrap().contains("intrinsics.json"));
    pictures.text("intrinsics.json", INTRINSICS);
    assert!(pictures.open().unwrap().missing().unwrap().contains("1 of 2"));
    pictures.depth("b.depth.png", 8, 6, 1500);
    assert_eq!(pictures.open().unwrap().missing(), None);
}

const INTRINSICS: &str = r#"{"width": 8, "height": 6, "fx": 10.0, "fy": 10, "cx": 4, "cy": 3}"#;
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_folder_keeps_the_contract_of_frame_sources() {
    let pictures = Pictures::new();
    pictures.colour("a.png", 8, 6, 10);
    pictures.colour("b.jpg", 8, 6, 200);
    pictures.depth("a.depth.png", 8, 6, 1500);
    pictures.text("intrinsics.json", INTRINSICS);
    let folder = pictures.open().unwrap();
    let clock = &pictures.clock;
    check(&folder, &**clock, Duration::from_millis(500), async |span| clock.advance(span)).await;
}

#[tokio::test]
async fn pictures_come_in_order_of_their_names_over_and_over() {
    let pictures = Pictures::new();
    for (name, grey) in [("2.png", 2), ("1.PNG", 1), ("3.png", 3)] {
        pictures.colour(name, 8, 6, grey);
    }
    let folder = pictures.open().unwrap();
    assert_eq!(folder.pictures(), 3);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let frame = folder.next(None, SECOND).await.unwrap();
        seen.push((frame.rgb.pixel(0, 0)[0], frame.stamp.nanos() / 1_000_000));
        pictures.clock.advance(Duration::from_millis(500));
    }
    assert_eq!(seen, [(1, 1000), (2, 1500), (3, 2000), (1, 2500), (2, 3000)]);
}

#[tokio::test]
async fn depth_intrinsics_and_poses_come_with_their_picture() {
    let pictures = Pictures::new();
    pictures.colour("a.png", 8, 6, 1);
    pictures.depth("a.depth.png", 8, 6, 1500);
    pictures.text("intrinsics.json", INTRINSICS);
    pictures.text("pose.json", r#"{"translation": [0, 0, 1], "rotation": [0, 0, 0, 1]}"#);
    pictures.text("a.pose.json", r#"{"translation": [1, 2, 3], "rotation": [0, 0, 0, 1]}"#);
    let frame = pictures.open().unwrap().next(None, SECOND).await.unwrap();
    assert_eq!(frame.depth.as_ref().unwrap().at(7, 5), Some(1.5));
    assert_eq!(frame.intrinsics.unwrap().fx, 10.0);
    assert_eq!(frame.map_from_camera.unwrap().translation.to_array(), [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn one_picture_file_is_shown_with_a_new_stamp_each_time() {
    let pictures = Pictures::new();
    pictures.colour("only.png", 8, 6, 9);
    pictures.text("other.png", "not a picture, and not asked for");
    let folder = Folder::open(&pictures.at("only.png"), &FolderConfig::default(), pictures.clock.clone()).unwrap();
    let first = folder.next(None, SECOND).await.unwrap();
    pictures.clock.advance(SECOND);
    let second = folder.next(Some(first.seq), SECOND).await.unwrap();
    assert!(second.stamp > first.stamp && second.seq > first.seq);
    assert!(Arc::ptr_eq(&first.rgb, &second.rgb), "it is read once");
}

#[tokio::test]
async fn a_picture_that_breaks_later_is_named_and_the_others_are_shown() {
    let pictures = Pictures::new();
    pictures.colour("a.png", 8, 6, 1);
    pictures.colour("b.png", 8, 6, 2);
    let folder = pictures.open().unwrap();
    pictures.text("a.png", "gone bad");
    let error = folder.next(None, SECOND).await.unwrap_err().to_string();
    assert!(error.contains("a.png"), "{error}");
    pictures.clock.advance(Duration::from_millis(500));
    assert_eq!(folder.next(None, SECOND).await.unwrap().rgb.pixel(0, 0)[0], 2);
}

#[test]
fn a_folder_without_pictures_is_named() {
    let pictures = Pictures::new();
    pictures.text("readme.txt", "none");
    pictures.depth("a.depth.png", 8, 6, 1);
    assert!(pictures.fault().contains("no picture"), "{}", pictures.fault());
    let missing = Folder::open(Path::new("/no/such/folder"), &FolderConfig::default(), pictures.clock.clone());
    assert!(missing.unwrap_err().to_string().contains("/no/such/folder"));
}

#[test]
fn every_file_that_is_not_what_it_should_be_is_named() {
    let pictures = Pictures::new();
    pictures.text("broken.png", "no picture");
    pictures.colour("depth_size.png", 8, 6, 1);
    pictures.depth("depth_size.depth.png", 4, 6, 1);
    pictures.colour("depth_kind.png", 8, 6, 1);
    pictures.colour("depth_kind.depth.png", 8, 6, 1);
    pictures.colour("size.png", 9, 6, 1);
    pictures.colour("pose.png", 8, 6, 1);
    pictures.text("pose.pose.json", r#"{"translation": [0, 0, 1], "rotation": [0, 0, 0, 0]}"#);
    pictures.text("intrinsics.json", INTRINSICS);
    let fault = pictures.fault();
    for word in ["broken.png", "depth_size.depth.png is 4x6", "16 bit", "size.png is 9x6", "unit quaternion"] {
        assert!(fault.contains(word), "{word} in: {fault}");
    }
}

#[test]
fn intrinsics_must_be_whole_and_sensible() {
    for (text, word) in [
        ("{", "EOF"),
        (r#"{"width": 8}"#, "missing field"),
        (r#"{"width": 8, "height": 6, "fx": 0, "fy": 10, "cx": 4, "cy": 3}"#, "above 0"),
        (r#"{"width": 8, "height": 6, "fx": 1, "fy": 10, "cx": 4, "cy": 3, "k1": 1}"#, "k1"),
    ] {
        let pictures = Pictures::new();
        pictures.colour("a.png", 8, 6, 1);
        pictures.text("intrinsics.json", text);
        let fault = pictures.fault();
        assert!(fault.contains("intrinsics.json") && fault.contains(word), "{fault}");
    }
}

#[test]
fn a_picture_of_more_than_50_megapixels_is_refused_by_its_head() {
    let pictures = Pictures::new();
    pictures.colour("a.png", 8, 6, 1);
    // Only the size in the head is changed, with a check sum that fits it.
    let mut bytes = fs::read(pictures.at("a.png")).unwrap();
    bytes[16..20].copy_from_slice(&20_000_u32.to_be_bytes());
    bytes[20..24].copy_from_slice(&20_000_u32.to_be_bytes());
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    fs::write(pictures.at("a.png"), bytes).unwrap();
    assert!(pictures.fault().contains("400 megapixels"), "{}", pictures.fault());
}

#[test]
fn a_rate_that_is_none_is_refused() {
    let pictures = Pictures::new();
    pictures.colour("a.png", 8, 6, 1);
    for rate_hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1000.0] {
        let config = FolderConfig { rate_hz, ..FolderConfig::default() };
        assert!(matches!(
            Folder::open(pictures.folder.path(), &config, pictures.clock.clone()),
            Err(FolderError::Rate { .. })
        ));
    }
}

/// The check sum of PNG chunks.
fn crc(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

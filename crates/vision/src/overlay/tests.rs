use cerebellum_core::{Detection, Stamp};

use super::*;

fn picture(width: u32, height: u32) -> RgbImage {
    RgbImage { width, height, data: vec![100; (width * height * 3) as usize] }
}

fn found(label: &str, (x, y, width, height): (u32, u32, u32, u32), masked: bool) -> Found {
    let bounds = PixelBox { x, y, width, height };
    let mask = masked.then(|| Mask { bounds, data: vec![255; bounds.area() as usize] });
    let detection = Detection { id: None, label: label.into(), score: 0.93, bounds, has_mask: masked, point: None };
    Found { detection, mask }
}

fn scene(detections: Vec<Found>) -> DetectionFrame<Found> {
    DetectionFrame {
        stamp: Stamp::from_nanos(1),
        frame_id: "camera".into(),
        skill: "segment_all".into(),
        image_width: 640,
        image_height: 480,
        detections,
    }
}

#[test]
fn a_mask_tints_and_a_box_frames_and_the_rest_stays() {
    let before = picture(640, 480);
    let after = draw(&before, &scene(vec![found("can", (200, 200, 60, 80), true)]), &[]);
    assert_ne!(after.pixel(230, 240), before.pixel(230, 240));
    assert_ne!(after.pixel(200, 240), after.pixel(230, 240));
    assert_eq!(after.pixel(500, 100), before.pixel(500, 100));
}

#[test]
fn things_at_the_rim_and_outside_of_any_picture_are_drawn_without_a_panic() {
    for (width, height) in [(1, 1), (7, 3), (64, 48), (640, 480), (3000, 2000)] {
        let things = vec![
            found("a very long label that goes on and on, well past the right edge of any picture", (0, 0, 1, 1), true),
            found("ümlaut 漢字", (width - 1, height - 1, 1, 1), false),
            found("outside", (width * 2, height * 2, 50, 50), false),
            found("huge", (0, 0, u32::MAX, u32::MAX), false),
        ];
        let outputs = [("found".parse().unwrap(), OutputValue::Boolean(true))];
        let drawn = draw(&picture(width, height), &scene(things), &outputs);
        assert_eq!(drawn.data.len(), (width * height * 3) as usize);
        assert!(jpeg(&drawn).unwrap().starts_with(&[0xff, 0xd8]));
    }
}

#[test]
fn labels_of_things_close_together_do_not_cover_each_other() {
    let canvas = Canvas::new(&picture(640, 480));
    let bounds = PixelBox { x: 300, y: 200, width: 20, height: 20 };
    let mut taken = Vec::new();
    for _ in 0..6 {
        let place = place(&canvas, bounds, (90, 17), &taken);
        assert!(!taken.iter().any(|other: &Rect| other.touches(&place)));
        taken.push(place);
    }
}

#[test]
fn neighbours_differ_in_colour_and_a_thing_keeps_its_own() {
    let cans: Vec<Found> = (0..25).map(|x| found("can", (x, 0, 1, 1), false)).collect();
    let colours = colours::assign(&cans);
    assert!(colours[..10].iter().enumerate().all(|(index, colour)| !colours[..index].contains(colour)));
    let mug = colours::assign(&[found("mug", (0, 0, 1, 1), false)])[0];
    assert_eq!(colours::assign(&[found("mug", (9, 9, 5, 5), false), found("can", (0, 0, 1, 1), false)])[0], mug);
}

#[test]
fn a_picture_too_wide_for_jpeg_is_refused() {
    let error = jpeg(&RgbImage { width: 70_000, height: 1, data: vec![0; 210_000] }).unwrap_err();
    assert!(error.to_string().contains("70000x1"), "{error}");
}

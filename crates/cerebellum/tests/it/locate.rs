use base64::Engine as _;
use serde_json::json;

use crate::program::{Place, Session};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_seen_in_the_demo_is_measured_in_the_map() {
    let place = Place::new();
    let (_demo, endpoints) = place.demo().await;
    let session = Session::open(endpoints["servers"]["locate"]["sse"].as_str().unwrap()).await;

    let can = session.call("locate_3d", json!({"query": "red can"})).await;
    assert_eq!((&can["found"], &can["frame"]), (&json!(true), &json!("map")), "{can}");
    let scene = session.call("capture_scene", json!({})).await;
    assert_eq!((&scene["segmenter"], &scene["fidelity"]), (&json!("geometry"), &json!("mask")));
    let objects = scene["objects"].as_array().unwrap();
    let red =
        objects.iter().find(|object| object["label"].as_str().unwrap().contains("red")).expect("the can is in view");
    let clicked = json!({"u": red["centroid_uv"][0], "v": red["centroid_uv"][1], "frame_stamp": scene["stamp"]});
    let point = session.call("pixel_to_3d", clicked).await;
    for axis in ["x", "y", "z"] {
        let apart = point[axis].as_f64().unwrap() - can[axis].as_f64().unwrap();
        assert!(apart.abs() < 0.08, "the click and the can are one place: {point} {can}");
    }
    let picture = scene["image_jpeg_b64"].as_str().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(picture).unwrap();
    let size = image::ImageReader::with_format(std::io::Cursor::new(bytes), image::ImageFormat::Jpeg).into_dimensions();
    assert_eq!(size.unwrap(), (640, 480));
    let nothing = session.call("locate_3d", json!({"query": "purple bottle"})).await;
    assert_eq!(nothing["found"], false, "{nothing}");
    let grasp = session.call("grasp_pose", json!({"target": "red can"})).await;
    assert_eq!(grasp["reachable"], false, "the simulated robot has no arm to reach with yet: {grasp}");
}

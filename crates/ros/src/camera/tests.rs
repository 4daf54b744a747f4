use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{DepthImage, Frame, Intrinsics, RgbImage, Stamp};
use cerebellum_testkit::{FakeClock, FakeFrames};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::bus::contract::{collect, eventually};
use crate::bus::{Qos, RosBus};
use crate::mem::MemBus;
use crate::msg::common::{CameraInfo, Image};
use crate::msg::{Message, decode};

fn frame() -> Frame {
    Frame {
        stamp: Stamp::from_ros(5, 6),
        seq: 1,
        frame_id: "head_camera_optical".into(),
        rgb: Arc::new(RgbImage::new(2, 1, vec![1, 2, 3, 4, 5, 6]).unwrap()),
        depth: Some(Arc::new(DepthImage::new(2, 1, vec![1.5, 0.0]).unwrap())),
        intrinsics: Some(Intrinsics { width: 2, height: 1, fx: 10.0, fy: 11.0, cx: 1.0, cy: 0.5 }),
        map_from_camera: None,
    }
}

#[tokio::test]
async fn pictures_are_taken_and_sent_only_while_somebody_has_subscribed() {
    let bus = MemBus::new();
    bus.set_down(Some("starting"));
    let source = Arc::new(FakeFrames::scripted(Arc::new(FakeClock::at(Stamp::from_nanos(1)))));
    source.push(frame());
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    serve(bus.clone(), source.clone(), CameraTopics::default(), &tasks, stop.clone());
    bus.set_down(None);
    eventually("the topics are there", || bus.graph().unwrap().publishers.len() == 3).await;
    assert_eq!(source.taken(), 0, "nobody has asked for anything");

    let (sink, infos) = collect();
    let info = bus.subscribe("/camera/camera_info", &CameraInfo::TYPE, Qos::STREAM, sink).await.unwrap();
    eventually("the info comes", || !infos.lock().unwrap().is_empty()).await;
    let bytes = infos.lock().unwrap()[0].clone();
    let told: CameraInfo<'_> = decode(&bytes).unwrap();
    assert_eq!((told.width, told.k[0], told.k[4], told.header.frame_id), (2, 10.0, 11.0, "head_camera_optical"));
    drop(info);

    source.push(Frame { seq: 2, ..frame() });
    let ((rgb_sink, rgb), (depth_sink, depth)) = (collect(), collect());
    let _rgb = bus.subscribe("/camera/image_raw", &Image::TYPE, Qos::PICTURE, rgb_sink).await.unwrap();
    let _depth = bus.subscribe("/camera/depth/image_raw", &Image::TYPE, Qos::PICTURE, depth_sink).await.unwrap();
    // The first look may have been for one of the two alone.
    for seq in 3.. {
        tokio::time::sleep(Duration::from_millis(5)).await;
        source.push(Frame { seq, ..frame() });
        if !rgb.lock().unwrap().is_empty() && !depth.lock().unwrap().is_empty() {
            break;
        }
        assert!(seq < 4_000, "no pictures");
    }
    let bytes = rgb.lock().unwrap()[0].clone();
    let picture: Image<'_> = decode(&bytes).unwrap();
    assert_eq!((picture.encoding, picture.step, picture.data.0), ("rgb8", 6, &[1, 2, 3, 4, 5, 6][..]));
    let bytes = depth.lock().unwrap()[0].clone();
    let picture: Image<'_> = decode(&bytes).unwrap();
    assert_eq!((picture.encoding, picture.step, &picture.data.0[..4]), ("32FC1", 8, &1.5_f32.to_le_bytes()[..]));
    assert!(f32::from_le_bytes(picture.data.0[4..].try_into().unwrap()).is_nan(), "not measured");

    stop.cancel();
    tasks.close();
    tasks.wait().await;
    assert!(bus.graph().unwrap().publishers.is_empty(), "the topics leave the graph");
}

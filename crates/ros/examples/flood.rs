//! A vision node that says a lot: the router, and detections with masks on many topics.
//!
//!     flood ENDPOINT TOPICS HZ DETECTIONS SECONDS [block|drop]
//!
//! Writes one line of JSON when its topics are there, publishes when it gets a line on standard input, and writes one more line
//! when it has; another line ends it. With `block` the publisher waits for a reader that is
//! behind, so that none of its messages is dropped; how late it was at worst stands in the last line.
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cerebellum_ros::msg::common::{CompressedImage, Header, Point, PointStamped, RegionOfInterest};
use cerebellum_ros::msg::vision::{VisionDetection, VisionDetectionArray};
use cerebellum_ros::msg::{Bytes, Message, encode};
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use zenoh::qos::CongestionControl;
use zenoh::{Config, Session, Wait};

const MASK_SIDE: u32 = 64;
/// Where the stamp stands in a message: behind the header of CDR.
const STAMP: std::ops::Range<usize> = 4..12;

fn main() -> Result<(), zenoh::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, topics, hz, detections, seconds, rest @ ..] = &arguments[..] else {
        return Err("usage: flood ENDPOINT TOPICS HZ DETECTIONS SECONDS [block|drop]".into());
    };
    let (topics, hz, seconds): (u32, f64, f64) = (topics.parse()?, hz.parse()?, seconds.parse()?);
    let congestion = match rest.first().map(String::as_str) {
        Some("drop") => CongestionControl::Drop,
        _ => CongestionControl::Block,
    };
    let _router = open("router", "listen", endpoint)?;
    let session = open("client", "connect", endpoint)?;
    let mask = mask()?;
    let zid = session.zid().to_string();
    let mut publishers = Vec::new();
    let mut tokens = Vec::new();
    for number in 0..topics {
        let topic = format!("vision/flood_{number:03}/detections");
        let (name, hash) =
            ("ros2_vision_interfaces::msg::dds_::VisionDetectionArray_", VisionDetectionArray::TYPE.hash);
        let publisher =
            session.declare_publisher(format!("0/{topic}/{name}/{hash}")).congestion_control(congestion).wait()?;
        let shown = topic.replace('/', "%");
        let token = format!("@ros2_lv/0/{zid}/0/{number}/MP/%/%/flood/%{shown}/{name}/{hash}/:,5:,:,:,,");
        tokens.push(session.liveliness().declare_token(token).wait()?);
        let message = message(&format!("flood_{number:03}"), detections.parse()?, &mask);
        let mut gid = [0_u8; 16];
        gid[..4].copy_from_slice(&number.to_le_bytes());
        publishers.push((publisher, message, gid));
    }
    say(&format!(r#"{{"bytes": {}, "mask_bytes": {}, "topics": {topics}}}"#, publishers[0].1.len(), mask.len()))?;
    // Whoever measures starts its subscribers first.
    std::io::stdin().read_line(&mut String::new())?;
    let start = Instant::now();
    let (mut sent, mut late_max) = (0_u64, Duration::ZERO);
    let every = Duration::from_secs_f64(1.0 / hz / f64::from(topics));
    let total = (seconds * hz * f64::from(topics)) as u64;
    while sent < total {
        let due = start + every.mul_f64(sent as f64);
        #[allow(clippy::disallowed_methods, reason = "no async runtime here, nothing else waits")]
        thread::sleep(due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
        // What has become due since then goes in one go.
        let now = ((start.elapsed().as_secs_f64() / every.as_secs_f64()) as u64 + 1).min(total);
        while sent < now {
            let (publisher, message, gid) = &publishers[(sent % u64::from(topics)) as usize];
            let seq = i64::try_from(sent / u64::from(topics) + 1)?;
            let (bytes, attachment) = stamped(message, seq, *gid);
            publisher.put(bytes).attachment(attachment).wait()?;
            sent += 1;
        }
        late_max = late_max.max(start.elapsed().saturating_sub(every.mul_f64(sent as f64)));
    }
    let took = start.elapsed().as_secs_f64();
    let late_ms = late_max.as_secs_f64() * 1e3;
    say(&format!(r#"{{"sent": {sent}, "seconds": {took:.3}, "late_ms_max": {late_ms:.1}}}"#))?;
    // Whoever measures reads the counters while the topics are still there.
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn open(mode: &str, list: &str, endpoint: &str) -> Result<Session, zenoh::Error> {
    let mut config = Config::default();
    for (key, value) in [
        ("mode", format!("{mode:?}")),
        (&format!("{list}/endpoints"), format!("[{endpoint:?}]")),
        ("scouting/multicast/enabled", "false".to_owned()),
    ] {
        config.insert_json5(key, &value)?;
    }
    zenoh::open(config).wait()
}

/// A disc, as the mask of a thing.
fn mask() -> Result<Vec<u8>, image::ImageError> {
    let inside = |at: u32| {
        let (x, y) = (f64::from(at % MASK_SIDE) - 31.5, f64::from(at / MASK_SIDE) - 31.5);
        if x.hypot(y) < 30.0 { 255 } else { 0 }
    };
    let pixels: Vec<u8> = (0..MASK_SIDE * MASK_SIDE).map(inside).collect();
    let mut png = Vec::new();
    PngEncoder::new(&mut png).write_image(&pixels, MASK_SIDE, MASK_SIDE, ExtendedColorType::L8)?;
    Ok(png)
}

fn message(skill: &str, detections: u32, mask: &[u8]) -> Vec<u8> {
    let labels: Vec<String> = (0..detections).map(|number| format!("red can {number}")).collect();
    let detections = labels
        .iter()
        .zip(0..)
        .map(|(label, number)| VisionDetection {
            id: label,
            label,
            score: 0.9,
            bounds: RegionOfInterest {
                x_offset: 20 * number,
                y_offset: 100,
                width: MASK_SIDE,
                height: MASK_SIDE,
                ..RegionOfInterest::default()
            },
            has_mask: true,
            mask: CompressedImage { format: "png", data: Bytes(mask), ..CompressedImage::default() },
            has_point: true,
            point: PointStamped {
                header: Header { frame_id: "map", ..Header::default() },
                point: Point { x: 1.0, y: 2.0, z: 0.8 },
            },
        })
        .collect();
    let header = Header { frame_id: "head_camera_optical_frame", ..Header::default() };
    encode(&VisionDetectionArray { header, skill, image_width: 640, image_height: 480, detections })
}

/// The message with the present time, and what `rmw_zenoh` sends beside it: counter, time, publisher.
fn stamped(message: &[u8], seq: i64, gid: [u8; 16]) -> (Vec<u8>, Vec<u8>) {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut bytes = message.to_vec();
    bytes[STAMP][..4].copy_from_slice(&(now.as_secs() as u32).to_le_bytes());
    bytes[STAMP][4..].copy_from_slice(&now.subsec_nanos().to_le_bytes());
    let mut attachment = Vec::with_capacity(33);
    attachment.extend_from_slice(&seq.to_le_bytes());
    attachment.extend_from_slice(&(now.as_nanos() as i64).to_le_bytes());
    attachment.push(16);
    attachment.extend_from_slice(&gid);
    (bytes, attachment)
}

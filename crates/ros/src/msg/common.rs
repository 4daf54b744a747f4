use cerebellum_core::Stamp;
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Bytes, Message, RosType};

/// `builtin_interfaces/Time`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// Seconds since the Unix epoch.
    pub sec: i32,
    /// Nanoseconds of the second.
    pub nanosec: u32,
}

impl From<Stamp> for Time {
    fn from(stamp: Stamp) -> Self {
        let (sec, nanosec) = stamp.to_ros();
        Self { sec, nanosec }
    }
}

impl From<Time> for Stamp {
    fn from(time: Time) -> Self {
        Self::from_ros(time.sec, time.nanosec)
    }
}

/// `std_msgs/Header`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header<'a> {
    /// When the data was taken.
    pub stamp: Time,
    /// The frame the data is in.
    pub frame_id: &'a str,
}

impl<'a> Header<'a> {
    /// From the words of the domain.
    pub fn new(stamp: Stamp, frame_id: &'a str) -> Self {
        Self { stamp: stamp.into(), frame_id }
    }
}

/// `std_msgs/String`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text<'a> {
    /// The text.
    pub data: &'a str,
}

impl Message for Text<'_> {
    const TYPE: RosType = RosType::known("std_msgs/msg/String", hash::STRING);
}

/// `geometry_msgs/Point`, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the axes need no words")]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// `geometry_msgs/PointStamped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointStamped<'a> {
    /// Stamp and frame of the point.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The point.
    pub point: Point,
}

/// `geometry_msgs/Quaternion`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the parts need no words")]
pub struct Quaternion {
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub w: f64,
}

/// `geometry_msgs/Pose`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Metres.
    pub position: Point,
    /// A unit quaternion.
    pub orientation: Quaternion,
}

/// `geometry_msgs/PoseWithCovariance`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoseWithCovariance {
    /// The pose.
    pub pose: Pose,
    /// 6 by 6, row by row.
    pub covariance: Covariance,
}

/// A `float64[36]`: `x`, `y`, `z` and the turns about them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Covariance(pub [[f64; 6]; 6]);

impl Serialize for Covariance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_tuple(36)?;
        for value in self.0.as_flattened() {
            values.serialize_element(value)?;
        }
        values.end()
    }
}

impl<'de> Deserialize<'de> for Covariance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Rows behind each other are the same bytes.
        Deserialize::deserialize(deserializer).map(Self)
    }
}

/// `sensor_msgs/RegionOfInterest`, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionOfInterest {
    /// First column.
    pub x_offset: u32,
    /// First row.
    pub y_offset: u32,
    /// Rows.
    pub height: u32,
    /// Columns.
    pub width: u32,
    /// Whether the region is to be rectified.
    pub do_rectify: bool,
}

/// `sensor_msgs/CompressedImage`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompressedImage<'a> {
    /// Stamp and frame of the picture.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// `jpeg` or `png`.
    pub format: &'a str,
    /// The file.
    pub data: Bytes<'a>,
}

impl Message for CompressedImage<'_> {
    const TYPE: RosType = RosType::known("sensor_msgs/msg/CompressedImage", hash::COMPRESSED_IMAGE);
}

/// `sensor_msgs/Image`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image<'a> {
    /// Stamp and frame of the picture.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// Rows.
    pub height: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Such as `rgb8` or `32FC1`.
    pub encoding: &'a str,
    /// 1 when values of several bytes have the high byte first.
    pub is_bigendian: u8,
    /// Bytes in a row.
    pub step: u32,
    /// `step * height` bytes.
    pub data: Bytes<'a>,
}

impl Message for Image<'_> {
    const TYPE: RosType = RosType::known("sensor_msgs/msg/Image", hash::IMAGE);
}

/// `sensor_msgs/CameraInfo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraInfo<'a> {
    /// Stamp and frame of the picture it belongs to.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// Rows.
    pub height: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Such as `plumb_bob`.
    pub distortion_model: &'a str,
    /// Parameters of the distortion.
    pub d: Vec<f64>,
    /// The camera matrix, row by row.
    pub k: [f64; 9],
    /// The rectification matrix, row by row.
    pub r: [f64; 9],
    /// The projection matrix, row by row.
    pub p: [f64; 12],
    /// Pixels joined along a row.
    pub binning_x: u32,
    /// Pixels joined along a column.
    pub binning_y: u32,
    /// The part of the sensor that is read.
    pub roi: RegionOfInterest,
}

impl Message for CameraInfo<'_> {
    const TYPE: RosType = RosType::known("sensor_msgs/msg/CameraInfo", hash::CAMERA_INFO);
}

mod hash {
    pub(super) const STRING: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    pub(super) const COMPRESSED_IMAGE: &str = "RIHS01_15640771531571185e2efc8a100baf923961a4d15d5569652e6cb6691e8e371a";
    pub(super) const IMAGE: &str = "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47";
    pub(super) const CAMERA_INFO: &str = "RIHS01_b3dfd68ff46c9d56c80fd3bd4ed22c7a4ddce8c8348f2f59c299e73118e7e275";
}

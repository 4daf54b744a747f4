use serde::{Deserialize, Serialize};

use super::RosType;

/// The service `cerebellum_robot_interfaces/JsonCall`.
pub const JSON_CALL: RosType = RosType::known(
    "cerebellum_robot_interfaces/srv/JsonCall",
    "RIHS01_abdd24f8765ab22f2ed99b16a9a827a37644495349f46970121695049cb0efe5",
);

/// The request of `JsonCall`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonRequest<'a> {
    /// What is asked or ordered.
    pub request_json: &'a str,
}

/// The response of `JsonCall`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonReply<'a> {
    /// What is answered.
    pub reply_json: &'a str,
}

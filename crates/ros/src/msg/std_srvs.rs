use serde::{Deserialize, Serialize};

use super::RosType;

/// The service `std_srvs/Empty`.
pub const EMPTY: RosType =
    RosType::known("std_srvs/srv/Empty", "RIHS01_5888399dedec5ccc85ea6451949fd2c9f97bfdf963f9a588821639fcd31b5d19");

/// The service `std_srvs/Trigger`.
pub const TRIGGER: RosType =
    RosType::known("std_srvs/srv/Trigger", "RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f");

/// The service `std_srvs/SetBool`.
pub const SET_BOOL: RosType =
    RosType::known("std_srvs/srv/SetBool", "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a");

/// A message without fields, which ROS writes as one byte: both sides of `Empty`, and the request of `Trigger`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nothing {
    /// Says nothing.
    pub structure_needs_at_least_one_member: u8,
}

/// The request of `SetBool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBoolRequest {
    /// On or off.
    pub data: bool,
}

/// The response of `Trigger` and of `SetBool`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Success<'a> {
    /// Whether it was done.
    pub success: bool,
    /// How it went.
    pub message: &'a str,
}

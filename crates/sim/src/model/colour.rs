use serde::{Deserialize, Serialize};

/// A colour word of the scene file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    Red,
    Orange,
    Yellow,
    Green,
    LightGreen,
    Turquoise,
    LightBlue,
    Blue,
    Purple,
    Pink,
    White,
    Cream,
    Beige,
    Brown,
    DarkBrown,
    Oak,
    Silver,
    Grey,
    DarkGrey,
    Black,
}

impl Colour {
    /// Red, green, blue as a screen shows them.
    pub const fn srgb(self) -> [u8; 3] {
        match self {
            Self::Red => [204, 24, 32],
            Self::Orange => [248, 134, 14],
            Self::Yellow => [244, 204, 26],
            Self::Green => [20, 138, 70],
            Self::LightGreen => [126, 190, 40],
            Self::Turquoise => [28, 170, 170],
            Self::LightBlue => [120, 178, 226],
            Self::Blue => [28, 76, 196],
            Self::Purple => [122, 38, 138],
            Self::Pink => [238, 110, 160],
            Self::White => [240, 240, 236],
            Self::Cream => [240, 228, 204],
            Self::Beige => [214, 192, 158],
            Self::Brown => [132, 80, 44],
            Self::DarkBrown => [84, 52, 34],
            Self::Oak => [190, 140, 86],
            Self::Silver => [196, 198, 202],
            Self::Grey => [138, 140, 144],
            Self::DarkGrey => [72, 74, 80],
            Self::Black => [30, 30, 34],
        }
    }
}

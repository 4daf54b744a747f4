use cerebellum_core::Found;

/// A colour to draw with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour([u8; 3]);

impl Colour {
    pub(super) const DARK: Self = Self([18, 22, 28]);
    pub(super) const LIGHT: Self = Self([255, 255, 255]);
    pub(super) const PALE: Self = Self([198, 208, 220]);

    pub(super) const fn rgb(self) -> [u8; 3] {
        self.0
    }

    /// The colour of writing on it: dark on light colours, white on dark ones.
    pub(super) fn ink(self) -> Self {
        let [red, green, blue] = self.0.map(u32::from);
        if red * 299 + green * 587 + blue * 114 > 140_000 { Self::DARK } else { Self::LIGHT }
    }
}

/// Bright and far apart, so that neighbours differ and each shows on wood, walls and floor.
const PALETTE: [Colour; 10] = [
    Colour([64, 196, 255]),
    Colour([255, 183, 77]),
    Colour([129, 230, 120]),
    Colour([255, 110, 150]),
    Colour([186, 140, 255]),
    Colour([255, 236, 90]),
    Colour([60, 222, 190]),
    Colour([255, 138, 101]),
    Colour([120, 150, 255]),
    Colour([214, 240, 150]),
];

/// A colour for each thing: the one its id or label leads to, or the next that no thing before it has.
pub(super) fn assign(things: &[Found]) -> Vec<Colour> {
    let mut used = 0_u32;
    let mut colours = Vec::with_capacity(things.len());
    for thing in things {
        let key = thing.detection.id.as_deref().unwrap_or(&thing.detection.label);
        let first =
            key.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % PALETTE.len();
        if used.count_ones() as usize == PALETTE.len() {
            used = 0;
        }
        let places = (0..PALETTE.len()).map(|step| (first + step) % PALETTE.len());
        let place = places.into_iter().find(|place| used & (1 << place) == 0).unwrap_or(first);
        used |= 1 << place;
        colours.push(PALETTE[place]);
    }
    colours
}

use std::fmt;
use std::str::FromStr;

use glam::Vec2;

/// The colour words of everyday speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColourName {
    /// Red.
    Red,
    /// Orange.
    Orange,
    /// Yellow.
    Yellow,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Purple.
    Purple,
    /// Pink.
    Pink,
    /// Brown.
    Brown,
    /// White.
    White,
    /// Grey.
    Grey,
    /// Black.
    Black,
}

impl ColourName {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Red,
        Self::Orange,
        Self::Yellow,
        Self::Green,
        Self::Blue,
        Self::Purple,
        Self::Pink,
        Self::Brown,
        Self::White,
        Self::Grey,
        Self::Black,
    ];

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Orange => "orange",
            Self::Yellow => "yellow",
            Self::Green => "green",
            Self::Blue => "blue",
            Self::Purple => "purple",
            Self::Pink => "pink",
            Self::Brown => "brown",
            Self::White => "white",
            Self::Grey => "grey",
            Self::Black => "black",
        }
    }
}

impl fmt::Display for ColourName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ColourName {
    type Err = ();

    /// The colour of a word; other words for the same colour are taken too.
    fn from_str(word: &str) -> Result<Self, ()> {
        let word = match word {
            "gray" | "silver" => "grey",
            "violet" | "magenta" => "purple",
            "crimson" | "scarlet" => "red",
            "navy" | "cyan" | "turquoise" => "blue",
            "gold" | "golden" => "yellow",
            "beige" => "brown",
            other => other,
        };
        Self::ALL.into_iter().find(|colour| colour.as_str() == word).ok_or(())
    }
}

/// The colour without its brightness, so that light and shade of one thing agree. Dark colours count as neutral.
pub(crate) fn chroma(rgb: [f32; 3]) -> Vec2 {
    let [r, g, b] = rgb;
    Vec2::new(r - g, f32::midpoint(r, g) - b) / (r + g + b + 60.0)
}

/// A share of coloured pixels that makes the whole coloured, however much of it is a white or black label.
const COLOURED_SHARE: f32 = 0.3;
/// The same for a book, whose pages are white.
const COVER_SHARE: f32 = 0.1;
const HUE_BINS: usize = 36;

/// Counts pixels and names the colour most of them have.
#[derive(Clone, Debug)]
pub struct ColourCount {
    hues: [f32; HUE_BINS],
    /// Per hue bin: brightness (0-255 in steps of 8), to judge brown and pink by the lit side.
    values: Vec<[f32; 32]>,
    saturations: [f32; HUE_BINS],
    neutrals: [f32; 32],
    coloured: f32,
    neutral: f32,
}

impl Default for ColourCount {
    fn default() -> Self {
        Self {
            hues: [0.0; HUE_BINS],
            values: vec![[0.0; 32]; HUE_BINS],
            saturations: [0.0; HUE_BINS],
            neutrals: [0.0; 32],
            coloured: 0.0,
            neutral: 0.0,
        }
    }
}

impl ColourCount {
    /// Counts one pixel.
    pub fn add(&mut self, rgb: [u8; 3]) {
        let (hue, saturation, value) = hsv(rgb);
        let bin = (value / 8.0) as usize;
        // In the dark any hue is noise; bright and pale is a highlight or white in coloured light.
        let is_coloured = value >= 28.0 && saturation > if value > 150.0 { 0.26 } else { 0.32 };
        if is_coloured {
            let hue_bin = ((hue / 10.0) as usize).min(HUE_BINS - 1);
            self.hues[hue_bin] += 1.0;
            self.saturations[hue_bin] += saturation;
            self.values[hue_bin][bin.min(31)] += 1.0;
            self.coloured += 1.0;
        } else {
            self.neutrals[bin.min(31)] += 1.0;
            self.neutral += 1.0;
        }
    }

    /// The colour; `None` when nothing was counted.
    pub fn name(&self) -> Option<ColourName> {
        self.name_from(COLOURED_SHARE)
    }

    /// The colour of a book, which shows its cover little and its white pages much.
    pub(crate) fn name_of_cover(&self) -> Option<ColourName> {
        self.name_from(COVER_SHARE)
    }

    fn name_from(&self, share: f32) -> Option<ColourName> {
        let total = self.coloured + self.neutral;
        if total == 0.0 {
            return None;
        }
        Some(if self.coloured >= share * total { self.hue_name() } else { neutral_name(&self.neutrals) })
    }

    fn hue_name(&self) -> ColourName {
        let around = |bin: usize| (0..5).map(move |i| (bin + HUE_BINS + i - 2) % HUE_BINS);
        let weight = |bin: usize| around(bin).map(|b| self.hues[b]).sum::<f32>() + self.hues[bin] * 0.5;
        let peak = (0..HUE_BINS).max_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(b.cmp(&a))).unwrap_or(0);
        let (mut count, mut saturation, mut hue, mut values) = (0.0, 0.0, 0.0, [0.0; 32]);
        for (offset, bin) in around(peak).enumerate() {
            count += self.hues[bin];
            saturation += self.saturations[bin];
            hue += self.hues[bin] * (peak as f32 * 10.0 + 5.0 + (offset as f32 - 2.0) * 10.0);
            for (sum, value) in values.iter_mut().zip(&self.values[bin]) {
                *sum += value;
            }
        }
        let hue = (hue / count).rem_euclid(360.0);
        name_of(hue, saturation / count, quantile(&values, 0.8) * 8.0)
    }
}

fn name_of(hue: f32, saturation: f32, lit: f32) -> ColourName {
    match hue {
        h if !(14.0..345.0).contains(&h) => {
            if saturation < 0.5 && lit > 150.0 {
                ColourName::Pink
            } else if (8.0..14.0).contains(&h) && lit < 110.0 {
                ColourName::Brown
            } else {
                ColourName::Red
            }
        }
        h if h < 43.0 => {
            // Light keeps the saturation of a paint, but not its brightness.
            let is_brown = lit < 110.0 || (saturation < 0.8 && lit < 225.0);
            if is_brown { ColourName::Brown } else { ColourName::Orange }
        }
        h if h < 70.0 => ColourName::Yellow,
        h if h < 170.0 => ColourName::Green,
        h if h < 258.0 => ColourName::Blue,
        h if h < 305.0 => ColourName::Purple,
        _ => {
            if lit > 165.0 {
                ColourName::Pink
            } else {
                ColourName::Purple
            }
        }
    }
}

fn neutral_name(values: &[f32; 32]) -> ColourName {
    match quantile(values, 0.6) * 8.0 {
        value if value < 62.0 => ColourName::Black,
        value if value < 150.0 => ColourName::Grey,
        _ => ColourName::White,
    }
}

/// The bin below which that share of the counts lies, with a fraction.
fn quantile(counts: &[f32; 32], share: f32) -> f32 {
    let wanted = counts.iter().sum::<f32>() * share;
    let mut seen = 0.0;
    for (bin, &count) in counts.iter().enumerate() {
        if count > 0.0 && seen + count >= wanted {
            return bin as f32 + (wanted - seen) / count;
        }
        seen += count;
    }
    31.0
}

/// Hue in degrees, saturation 0 to 1, value 0 to 255.
fn hsv([r, g, b]: [u8; 3]) -> (f32, f32, f32) {
    let [r, g, b] = [r, g, b].map(f32::from);
    let high = r.max(g).max(b);
    let span = high - r.min(g).min(b);
    if span == 0.0 {
        return (0.0, 0.0, high);
    }
    let sector = if high == r {
        ((g - b) / span).rem_euclid(6.0)
    } else if high == g {
        (b - r) / span + 2.0
    } else {
        (r - g) / span + 4.0
    };
    (sector * 60.0, span / high, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pixels: &[([u8; 3], usize)], expected: ColourName) {
        let mut count = ColourCount::default();
        for &(rgb, times) in pixels {
            for _ in 0..times {
                count.add(rgb);
            }
        }
        assert_eq!(count.name(), Some(expected), "{pixels:?}");
    }

    #[test]
    fn plain_colours_have_their_everyday_names() {
        for (rgb, expected) in [
            ([200, 30, 30], ColourName::Red),
            ([90, 12, 14], ColourName::Red),
            ([240, 140, 20], ColourName::Orange),
            ([230, 210, 30], ColourName::Yellow),
            ([40, 160, 50], ColourName::Green),
            ([120, 200, 20], ColourName::Green),
            ([10, 110, 70], ColourName::Green),
            ([20, 60, 200], ColourName::Blue),
            ([120, 40, 150], ColourName::Purple),
            ([240, 130, 170], ColourName::Pink),
            ([110, 70, 40], ColourName::Brown),
            ([235, 235, 230], ColourName::White),
            ([190, 185, 180], ColourName::White),
            ([110, 110, 115], ColourName::Grey),
            ([25, 25, 28], ColourName::Black),
        ] {
            check(&[(rgb, 10)], expected);
        }
    }

    #[test]
    fn a_white_band_leaves_a_red_can_red() {
        check(&[([200, 20, 20], 60), ([235, 235, 235], 40)], ColourName::Red);
        check(&[([200, 20, 20], 40), ([90, 10, 10], 15), ([240, 240, 240], 45)], ColourName::Red);
    }

    #[test]
    fn a_small_print_leaves_a_white_mug_white() {
        check(&[([240, 240, 240], 70), ([140, 140, 140], 15), ([30, 60, 200], 15)], ColourName::White);
    }

    #[test]
    fn a_red_label_leaves_a_yellow_box_yellow() {
        check(&[([220, 200, 20], 60), ([110, 100, 10], 10), ([200, 60, 30], 30)], ColourName::Yellow);
    }

    #[test]
    fn shade_does_not_turn_orange_into_brown() {
        check(&[([250, 150, 10], 40), ([120, 70, 5], 60)], ColourName::Orange);
    }

    #[test]
    fn chroma_of_light_and_shade_agree_and_other_colours_differ() {
        let lit = chroma([200.0, 40.0, 40.0]);
        let shaded = chroma([120.0, 24.0, 24.0]);
        assert!(lit.distance(shaded) < 0.09);
        assert!(lit.distance(chroma([40.0, 60.0, 200.0])) > 0.4);
    }

    #[test]
    fn other_words_for_a_colour_are_taken() {
        assert_eq!("gray".parse(), Ok(ColourName::Grey));
        assert_eq!("violet".parse(), Ok(ColourName::Purple));
        assert!("colourless".parse::<ColourName>().is_err());
    }
}

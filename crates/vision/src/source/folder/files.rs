use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cerebellum_core::{DepthImage, Intrinsics, Pose, RgbImage};
use glam::{DQuat, DVec3};
use image::{ColorType, DynamicImage, ImageDecoder, ImageReader, Limits};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{FolderError, PICTURES_MAX, PIXELS_MAX};

/// The most faults that are listed.
const FAULTS_MAX: usize = 20;
/// The largest JSON file beside pictures.
const JSON_BYTES_MAX: u64 = 64 * 1024;

/// What a folder holds.
pub(super) struct Found {
    pub(super) entries: Vec<Entry>,
    pub(super) intrinsics: Option<Intrinsics>,
}

/// A picture and what stands beside it.
pub(super) struct Entry {
    picture: PathBuf,
    depth: Option<PathBuf>,
    pose: Option<Pose>,
}

/// The pixels of an entry.
pub(super) struct Pixels {
    pub(super) rgb: Arc<RgbImage>,
    pub(super) depth: Option<Arc<DepthImage>>,
}

/// All pictures of the path, checked as far as their heads tell.
pub(super) fn find(path: &Path) -> Result<Found, FolderError> {
    let unreadable = |source| FolderError::Unreadable { path: path.to_owned(), source };
    let is_folder = fs::metadata(path).map_err(unreadable)?.is_dir();
    let pictures = if is_folder { pictures_of(path)? } else { vec![path.to_owned()] };
    let folder = if is_folder { path } else { path.parent().unwrap_or(Path::new(".")) };

    let mut faults = Vec::new();
    let intrinsics = read_json(&folder.join("intrinsics.json"), &mut faults, IntrinsicsJson::check);
    let common_pose = read_json(&folder.join("pose.json"), &mut faults, PoseJson::check);
    let mut entries = Vec::with_capacity(pictures.len());
    for picture in pictures {
        if faults.len() >= FAULTS_MAX {
            break;
        }
        let depth = Some(beside(&picture, "depth.png")).filter(|depth| depth.exists());
        if let Err(fault) = check_sizes(&picture, depth.as_deref(), intrinsics.as_ref()) {
            faults.push(fault);
        }
        let pose = read_json(&beside(&picture, "pose.json"), &mut faults, PoseJson::check).or(common_pose);
        entries.push(Entry { picture, depth, pose });
    }
    if !faults.is_empty() {
        return Err(FolderError::Faults { path: path.to_owned(), faults });
    }
    Ok(Found { entries, intrinsics })
}

impl Entry {
    pub(super) fn has_depth(&self) -> bool {
        self.depth.is_some()
    }

    pub(super) fn pose(&self) -> Option<Pose> {
        self.pose
    }

    /// Reads the picture and its depth. Blocks. The fault names the file.
    pub(super) fn read(&self) -> Result<Pixels, String> {
        let rgb = decode(&self.picture)?.into_rgb8();
        let (width, height) = rgb.dimensions();
        let Some(rgb) = RgbImage::new(width, height, rgb.into_raw()) else {
            return Err(format!("{} has not three bytes a pixel", self.picture.display()));
        };
        let depth = self.depth.as_ref().map(|path| read_depth(path)).transpose()?;
        if let (Some(path), Some(depth)) = (&self.depth, &depth)
            && (depth.width, depth.height) != (width, height)
        {
            let (depth_width, depth_height) = (depth.width, depth.height);
            return Err(format!("{} is {depth_width}x{depth_height}, its picture {width}x{height}", path.display()));
        }
        Ok(Pixels { rgb: Arc::new(rgb), depth: depth.map(Arc::new) })
    }
}

fn read_depth(path: &Path) -> Result<DepthImage, String> {
    let DynamicImage::ImageLuma16(depth) = decode(path)? else { return Err(no_depth(path)) };
    let (width, height) = depth.dimensions();
    let metres = depth.into_raw().into_iter().map(|millimetres| f32::from(millimetres) / 1000.0).collect();
    DepthImage::new(width, height, metres).ok_or_else(|| no_depth(path))
}

fn no_depth(path: &Path) -> String {
    format!("{} must be a PNG of 16 bit and one channel, in millimetres", path.display())
}

fn pictures_of(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let unreadable = |source| FolderError::Unreadable { path: folder.to_owned(), source };
    let mut pictures = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if is_picture(&path) {
            pictures.push(path);
        }
        if pictures.len() > PICTURES_MAX {
            return Err(FolderError::TooMany { path: folder.to_owned() });
        }
    }
    if pictures.is_empty() {
        return Err(FolderError::Empty { path: folder.to_owned() });
    }
    pictures.sort();
    Ok(pictures)
}

/// By its name: hidden files and depth pictures are none.
fn is_picture(path: &Path) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else { return false };
    let is_image = [".png", ".jpg", ".jpeg"].iter().any(|ending| name.ends_with(ending));
    is_image && !name.ends_with(".depth.png") && !name.starts_with('.')
}

fn beside(picture: &Path, ending: &str) -> PathBuf {
    picture.with_extension(ending)
}

fn check_sizes(picture: &Path, depth: Option<&Path>, intrinsics: Option<&Intrinsics>) -> Result<(), String> {
    let (width, height, _) = head(picture)?;
    if let Some(path) = depth {
        let (depth_width, depth_height, colour) = head(path)?;
        if colour != ColorType::L16 {
            return Err(no_depth(path));
        }
        if (depth_width, depth_height) != (width, height) {
            return Err(format!("{} is {depth_width}x{depth_height}, its picture {width}x{height}", path.display()));
        }
    }
    if let Some(model) = intrinsics.filter(|model| (model.width, model.height) != (width, height)) {
        let (model_width, model_height) = (model.width, model.height);
        let shown = picture.display();
        return Err(format!("{shown} is {width}x{height}, intrinsics.json is for {model_width}x{model_height}"));
    }
    Ok(())
}

/// Size and colour of a picture, without its pixels.
fn head(path: &Path) -> Result<(u32, u32, ColorType), String> {
    let reader = open(path)?;
    let decoder = reader.into_decoder().map_err(|error| no_image(path, &error))?;
    let (width, height) = decoder.dimensions();
    check_pixels(path, width, height)?;
    Ok((width, height, decoder.color_type()))
}

fn decode(path: &Path) -> Result<DynamicImage, String> {
    let (width, height, _) = head(path)?;
    let mut reader = open(path)?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(width);
    limits.max_image_height = Some(height);
    reader.limits(limits);
    reader.decode().map_err(|error| no_image(path, &error))
}

fn open(path: &Path) -> Result<ImageReader<std::io::BufReader<fs::File>>, String> {
    let unreadable = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    ImageReader::open(path).map_err(unreadable)?.with_guessed_format().map_err(unreadable)
}

fn check_pixels(path: &Path, width: u32, height: u32) -> Result<(), String> {
    let pixels = u64::from(width) * u64::from(height);
    let shown = path.display();
    if pixels == 0 {
        return Err(format!("{shown} is empty ({width}x{height})"));
    }
    if pixels > PIXELS_MAX {
        let (megapixels, most) = (pixels / 1_000_000, PIXELS_MAX / 1_000_000);
        return Err(format!("{shown} is {width}x{height} ({megapixels} megapixels), at most {most} are read"));
    }
    Ok(())
}

fn no_image(path: &Path, error: &image::ImageError) -> String {
    format!("{} is no PNG or JPEG picture: {error}", path.display())
}

/// A JSON file that may be missing; what is wrong with it goes to `faults`.
fn read_json<J: DeserializeOwned, T>(
    path: &Path,
    faults: &mut Vec<String>,
    check: impl FnOnce(J) -> Result<T, String>,
) -> Option<T> {
    let size = match fs::metadata(path) {
        Ok(about) => about.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            faults.push(format!("cannot read {}: {error}", path.display()));
            return None;
        }
    };
    let read = if size > JSON_BYTES_MAX {
        Err(format!("has {size} bytes, at most {JSON_BYTES_MAX} are read"))
    } else {
        fs::read(path)
            .map_err(|error| error.to_string())
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()))
            .and_then(check)
    };
    read.map_err(|fault| faults.push(format!("{}: {fault}", path.display()))).ok()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IntrinsicsJson {
    width: u32,
    height: u32,
    fx: f64,
    fy: f64,
    cx: f64,
    cy: f64,
}

impl IntrinsicsJson {
    fn check(self) -> Result<Intrinsics, String> {
        let Self { width, height, fx, fy, cx, cy } = self;
        if !(fx > 0.0 && fy > 0.0 && [fx, fy, cx, cy].iter().all(|value| value.is_finite())) {
            return Err("fx and fy must be above 0, and all values finite".to_owned());
        }
        Ok(Intrinsics { width, height, fx, fy, cx, cy })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseJson {
    translation: [f64; 3],
    rotation: [f64; 4],
}

impl PoseJson {
    fn check(self) -> Result<Pose, String> {
        let translation = DVec3::from_array(self.translation);
        let rotation = DQuat::from_array(self.rotation);
        let length = rotation.length();
        if !translation.is_finite() || !(0.99..=1.01).contains(&length) {
            return Err(format!("rotation must be a unit quaternion x, y, z, w; its length is {length}"));
        }
        Ok(Pose::new(translation, rotation.normalize()))
    }
}

use std::io::Cursor;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, ImageReader};
use serde_json::Value;

/// Shorter texts are never pictures.
const CHARACTERS_MIN: usize = 100;

/// Replaces every picture (base64 of a JPEG or PNG file) in an answer by words such as `<jpeg 640x480, 38 kB>`.
pub(super) fn describe(value: &mut Value) {
    visit(value, "", &mut |picture, _| Ok::<_, std::convert::Infallible>(picture.describe()))
        .unwrap_or_else(|never| match never {});
}

/// Writes every picture in an answer into `folder` and replaces it by the name of its file.
pub(super) fn save(value: &mut Value, folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    let mut saved = Vec::new();
    visit(value, "", &mut |picture, key| {
        let path = free_name(folder, key, picture.extension());
        std::fs::write(&path, &picture.bytes)?;
        saved.push(path.clone());
        Ok::<_, std::io::Error>(path.display().to_string())
    })?;
    Ok(saved)
}

struct Picture {
    bytes: Vec<u8>,
    format: ImageFormat,
    size: Option<(u32, u32)>,
}

impl Picture {
    fn read(text: &str) -> Option<Self> {
        let data = if text.starts_with("data:image/") { text.split_once(";base64,")?.1 } else { text };
        // Pictures start with fixed bytes, so most texts are told apart without decoding them.
        let looks_like_one = data.starts_with("/9j/") || data.starts_with("iVBORw0KGgo");
        if data.len() < CHARACTERS_MIN || !looks_like_one {
            return None;
        }
        let bytes = STANDARD.decode(data).ok()?;
        let reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format().ok()?;
        let format = reader.format()?;
        let size = reader.into_dimensions().ok();
        Some(Self { bytes, format, size })
    }

    fn describe(&self) -> String {
        let name = if self.format == ImageFormat::Jpeg { "jpeg" } else { "png" };
        let size = self.size.map(|(width, height)| format!(" {width}x{height}")).unwrap_or_default();
        format!("<{name}{size}, {} kB>", self.bytes.len().div_ceil(1000))
    }

    fn extension(&self) -> &'static str {
        if self.format == ImageFormat::Jpeg { "jpg" } else { "png" }
    }
}

fn visit<E>(
    value: &mut Value,
    key: &str,
    replace: &mut impl FnMut(&Picture, &str) -> Result<String, E>,
) -> Result<(), E> {
    match value {
        Value::String(text) => {
            if let Some(picture) = Picture::read(text) {
                *text = replace(&picture, key)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| visit(item, key, replace)),
        Value::Object(fields) => fields.iter_mut().try_for_each(|(key, value)| visit(value, key, replace)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

fn free_name(folder: &Path, key: &str, extension: &str) -> PathBuf {
    let plain: String =
        key.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').take(40).collect();
    let stem = if plain.is_empty() { "picture" } else { plain.trim_end_matches("_b64") };
    let names = std::iter::once(format!("{stem}.{extension}"))
        .chain((2..).map(|number: u64| format!("{stem}_{number}.{extension}")));
    names.map(|name| folder.join(name)).find(|path| !path.exists()).unwrap_or_else(|| folder.join(stem))
}

#[cfg(test)]
mod tests {
    use image::RgbImage;
    use serde_json::json;

    use super::*;

    fn picture(format: ImageFormat) -> String {
        let mut bytes = Cursor::new(Vec::new());
        let picture = RgbImage::from_fn(64, 48, |x, y| image::Rgb([x as u8 * 3, y as u8 * 5, (x * y) as u8]));
        picture.write_to(&mut bytes, format).unwrap();
        STANDARD.encode(bytes.into_inner())
    }

    #[test]
    fn pictures_are_told_in_words() {
        let mut answer = json!({
            "ok": true,
            "jpeg_b64": picture(ImageFormat::Jpeg),
            "items": [{"crop": format!("data:image/png;base64,{}", picture(ImageFormat::Png))}],
            "text": "/9j/ is how a JPEG starts",
            "long": "a".repeat(1000),
            "broken": format!("/9j/{}", "!".repeat(200)),
        });
        let before = answer.clone();
        describe(&mut answer);
        let text = answer["jpeg_b64"].as_str().unwrap();
        assert!(text.starts_with("<jpeg 64x48, ") && text.ends_with(" kB>"), "{text}");
        assert!(answer["items"][0]["crop"].as_str().unwrap().starts_with("<png 64x48, "));
        for key in ["ok", "text", "long", "broken"] {
            assert_eq!(answer[key], before[key], "{key}");
        }
    }

    #[test]
    fn pictures_are_saved_under_free_names() {
        let folder = tempfile::tempdir().unwrap();
        let data = picture(ImageFormat::Png);
        let mut answer = json!({"grid_png_b64": data, "more": {"grid_png_b64": data}});
        let saved = save(&mut answer, folder.path()).unwrap();
        assert_eq!(saved, [folder.path().join("grid_png.png"), folder.path().join("grid_png_2.png")]);
        assert_eq!(answer["grid_png_b64"], saved[0].display().to_string());
        assert_eq!(std::fs::read(&saved[1]).unwrap(), STANDARD.decode(data).unwrap());
    }
}

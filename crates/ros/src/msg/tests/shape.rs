//! Writes down the fields of a message, each with its path and its ROS type, as serde sees them.

use serde::Serialize;
use serde::ser::{Impossible, SerializeSeq, SerializeStruct, SerializeTuple, Serializer};

/// One line a field: `detections[].box.width uint32`. Every sequence of the value needs an element.
pub(super) fn of<T: Serialize>(message: &T) -> Vec<String> {
    let mut lines = Vec::new();
    message.serialize(Shape { path: String::new(), lines: &mut lines }).unwrap();
    lines
}

struct Shape<'a> {
    path: String,
    lines: &'a mut Vec<String>,
}

type Done = Result<(), hiroz_cdr::Error>;
type Never = Impossible<(), hiroz_cdr::Error>;

impl Shape<'_> {
    #[expect(clippy::unnecessary_wraps, reason = "it is what every method of a serializer answers")]
    fn line(self, ros_type: &str) -> Done {
        // A sequence of primitives says so behind the type, as interface files do.
        let (path, suffix) = match self.path.strip_suffix(']').and_then(|path| path.rsplit_once('[')) {
            Some((path, length)) => (path.to_owned(), format!("[{length}]")),
            None => (self.path, String::new()),
        };
        self.lines.push(format!("{path} {ros_type}{suffix}"));
        Ok(())
    }
}

struct Elements<'a> {
    path: String,
    lines: &'a mut Vec<String>,
    seen: bool,
}

impl Elements<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        if std::mem::replace(&mut self.seen, true) {
            return Ok(());
        }
        value.serialize(Shape { path: self.path.clone(), lines: self.lines })
    }
}

impl SerializeSeq for Elements<'_> {
    type Ok = ();
    type Error = hiroz_cdr::Error;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.element(value)
    }
    fn end(self) -> Done {
        assert!(self.seen, "{} needs an element to show its type", self.path);
        Ok(())
    }
}

impl SerializeTuple for Elements<'_> {
    type Ok = ();
    type Error = hiroz_cdr::Error;
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.element(value)
    }
    fn end(self) -> Done {
        Ok(())
    }
}

impl SerializeStruct for Elements<'_> {
    type Ok = ();
    type Error = hiroz_cdr::Error;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        value.serialize(Shape { path, lines: self.lines })
    }
    fn end(self) -> Done {
        Ok(())
    }
}

macro_rules! primitives {
    ($($method:ident $rust:ty = $ros:literal),*) => {
        $(fn $method(self, _: $rust) -> Done { self.line($ros) })*
    };
}

impl<'a> Serializer for Shape<'a> {
    type Ok = ();
    type Error = hiroz_cdr::Error;
    type SerializeSeq = Elements<'a>;
    type SerializeTuple = Elements<'a>;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Elements<'a>;
    type SerializeStructVariant = Never;

    primitives! {
        serialize_bool bool = "bool", serialize_i8 i8 = "int8", serialize_i16 i16 = "int16", serialize_i32 i32 = "int32",
        serialize_i64 i64 = "int64", serialize_u8 u8 = "uint8", serialize_u16 u16 = "uint16", serialize_u32 u32 = "uint32",
        serialize_u64 u64 = "uint64", serialize_f32 f32 = "float32", serialize_f64 f64 = "float64", serialize_str &str = "string",
        serialize_char char = "no ROS type", serialize_bytes &[u8] = "uint8[]"
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'a>, hiroz_cdr::Error> {
        Ok(Elements { path: format!("{}[]", self.path), lines: self.lines, seen: false })
    }
    fn serialize_tuple(self, length: usize) -> Result<Elements<'a>, hiroz_cdr::Error> {
        Ok(Elements { path: format!("{}[{length}]", self.path), lines: self.lines, seen: false })
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Elements<'a>, hiroz_cdr::Error> {
        Ok(Elements { path: self.path, lines: self.lines, seen: false })
    }

    fn serialize_none(self) -> Done {
        self.line("no ROS type")
    }
    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Done {
        self.line("no ROS type")
    }
    fn serialize_unit(self) -> Done {
        self.line("no ROS type")
    }
    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.line("no ROS type")
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Done {
        self.line("no ROS type")
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, _: &T) -> Done {
        self.line("no ROS type")
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(self, _: &'static str, _: u32, _: &'static str, _: &T) -> Done {
        self.line("no ROS type")
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Never, hiroz_cdr::Error> {
        Err(hiroz_cdr::Error::UnsupportedAny)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, hiroz_cdr::Error> {
        Err(hiroz_cdr::Error::UnsupportedAny)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Never, hiroz_cdr::Error> {
        Err(hiroz_cdr::Error::UnsupportedAny)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Never, hiroz_cdr::Error> {
        Err(hiroz_cdr::Error::UnsupportedAny)
    }
}

use cerebellum_core::Stamp;
use serde_json::{Map, Number, Value, json};

use crate::fault::Fault;

/// A word of the robot that can be said as JSON and read again as the same word.
pub trait Words: Sized {
    /// As JSON.
    fn to_value(&self) -> Value;
    /// From JSON.
    fn from_value(value: &Value) -> Result<Self, Fault>;
}

/// An object with a key for each field.
macro_rules! object {
    ($word:ty { $($field:ident),* $(,)? }) => {
        impl $crate::robot::words::Words for $word {
            fn to_value(&self) -> serde_json::Value {
                let mut fields = serde_json::Map::new();
                $(fields.insert(
                    stringify!($field).to_owned(),
                    $crate::robot::words::Words::to_value(&self.$field),
                );)*
                serde_json::Value::Object(fields)
            }
            fn from_value(value: &serde_json::Value) -> Result<Self, $crate::fault::Fault> {
                let fields = $crate::robot::words::fields(value)?;
                Ok(Self { $($field: $crate::robot::words::read(fields, stringify!($field))?),* })
            }
        }
    };
}

/// An object whose `kind` says which variant it is, with a key for each of its fields.
macro_rules! variants {
    ($word:ty { $($name:literal => $variant:ident { $($field:ident),* }),* $(,)? }) => {
        impl $crate::robot::words::Words for $word {
            fn to_value(&self) -> serde_json::Value {
                match self {
                    $(Self::$variant { $($field),* } => $crate::robot::words::tagged(
                        $name,
                        vec![$((stringify!($field), $crate::robot::words::Words::to_value($field))),*],
                    ),)*
                }
            }
            fn from_value(value: &serde_json::Value) -> Result<Self, $crate::fault::Fault> {
                let (kind, _fields) = $crate::robot::words::kind(value)?;
                match kind {
                    $($name => Ok(Self::$variant {
                        $($field: $crate::robot::words::read(_fields, stringify!($field))?),*
                    }),)*
                    _ => Err($crate::robot::words::unknown_kind(kind, &[$($name),*])),
                }
            }
        }
    };
}

pub(super) use {object, variants};

pub(super) fn expected(what: &str) -> Fault {
    Fault::at("", format!("expected {what}"))
}

pub(super) fn fields(value: &Value) -> Result<&Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| expected("an object"))
}

/// The value of a key; one that is missing reads like null.
pub(super) fn read<T: Words>(fields: &Map<String, Value>, key: &str) -> Result<T, Fault> {
    T::from_value(fields.get(key).unwrap_or(&Value::Null)).map_err(|fault| fault.within(key))
}

pub(super) fn tagged(kind: &str, fields: Vec<(&str, Value)>) -> Value {
    let mut object = Map::from_iter([("kind".to_owned(), json!(kind))]);
    object.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Value::Object(object)
}

pub(super) fn kind(value: &Value) -> Result<(&str, &Map<String, Value>), Fault> {
    let fields = fields(value)?;
    match fields.get("kind").and_then(Value::as_str) {
        Some(kind) => Ok((kind, fields)),
        None => Err(Fault::at("kind", "expected a text")),
    }
}

pub(super) fn unknown_kind(kind: &str, known: &[&str]) -> Fault {
    let message = format!("{} is unknown; known are {}", crate::text::cut(kind), known.join(", "));
    Fault::at("kind", message)
}

/// Numbers that JSON cannot say are said as text, so that whoever checks them sees what was meant.
impl Words for f64 {
    fn to_value(&self) -> Value {
        Number::from_f64(*self).map_or_else(|| json!(self.to_string()), Value::Number)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        match value.as_str() {
            Some("NaN") => Ok(Self::NAN),
            Some("inf") => Ok(Self::INFINITY),
            Some("-inf") => Ok(Self::NEG_INFINITY),
            _ => value.as_f64().ok_or_else(|| expected("a number")),
        }
    }
}

impl Words for bool {
    fn to_value(&self) -> Value {
        json!(self)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        value.as_bool().ok_or_else(|| expected("true or false"))
    }
}

impl Words for u64 {
    fn to_value(&self) -> Value {
        json!(self)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        value.as_u64().ok_or_else(|| expected("a whole number from 0"))
    }
}

impl Words for i64 {
    fn to_value(&self) -> Value {
        json!(self)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        value.as_i64().ok_or_else(|| expected("a whole number"))
    }
}

impl Words for u32 {
    fn to_value(&self) -> Value {
        json!(self)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let number = value.as_u64().and_then(|number| Self::try_from(number).ok());
        number.ok_or_else(|| expected(&format!("a whole number from 0 to {}", Self::MAX)))
    }
}

impl Words for String {
    fn to_value(&self) -> Value {
        json!(self)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        value.as_str().map(str::to_owned).ok_or_else(|| expected("a text"))
    }
}

/// Nanoseconds since the Unix epoch: exact, as stamps are compared.
impl Words for Stamp {
    fn to_value(&self) -> Value {
        json!(self.nanos())
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        value.as_i64().map(Self::from_nanos).ok_or_else(|| expected("nanoseconds since the Unix epoch"))
    }
}

impl<T: Words> Words for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, Words::to_value)
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        if value.is_null() { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: Words> Words for Vec<T> {
    fn to_value(&self) -> Value {
        Value::Array(self.iter().map(Words::to_value).collect())
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let items = value.as_array().ok_or_else(|| expected("a list"))?.iter().enumerate();
        items.map(|(at, item)| T::from_value(item).map_err(|fault| fault.within(&format!("[{at}]")))).collect()
    }
}

impl<T: Words, const N: usize> Words for [T; N] {
    fn to_value(&self) -> Value {
        Value::Array(self.iter().map(Words::to_value).collect())
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let items: Vec<T> = Words::from_value(value)?;
        items.try_into().map_err(|items: Vec<T>| expected(&format!("{N} values, not {}", items.len())))
    }
}

impl<A: Words, B: Words> Words for (A, B) {
    fn to_value(&self) -> Value {
        json!([self.0.to_value(), self.1.to_value()])
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let Some([first, second]) = value.as_array().map(Vec::as_slice) else {
            return Err(expected("a list of two"));
        };
        let first = A::from_value(first).map_err(|fault| fault.within("[0]"))?;
        Ok((first, B::from_value(second).map_err(|fault| fault.within("[1]"))?))
    }
}

impl<T: Words, E: Words> Words for Result<T, E> {
    fn to_value(&self) -> Value {
        match self {
            Ok(value) => json!({"ok": value.to_value()}),
            Err(error) => json!({"error": error.to_value()}),
        }
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let fields = fields(value)?;
        match (fields.get("ok"), fields.get("error")) {
            (Some(_), None) => read(fields, "ok").map(Ok),
            (None, Some(_)) => read(fields, "error").map(Err),
            _ => Err(expected("either ok or error")),
        }
    }
}

use cerebellum_core::{OutputType, OutputValue, Scalar};
use serde_json::{Number, Value};

use crate::fault::Fault;

/// The text of a `StampedString`: `true|false`, a decimal, a JSON array, or the text itself.
pub fn to_text(value: &OutputValue) -> String {
    match value {
        OutputValue::Boolean(value) => value.to_string(),
        OutputValue::Number(value) => number(*value).to_string(),
        OutputValue::Text(text) => text.clone(),
        OutputValue::List(_) => to_json(value).to_string(),
    }
}

/// Reads the text of a `StampedString` as a value of the type the skill declared.
pub fn from_text(output_type: OutputType, text: &str) -> Result<OutputValue, Fault> {
    let trimmed = text.trim();
    match output_type {
        OutputType::Text => Ok(OutputValue::Text(text.to_owned())),
        OutputType::Boolean => match trimmed {
            "true" | "True" => Ok(OutputValue::Boolean(true)),
            "false" | "False" => Ok(OutputValue::Boolean(false)),
            _ => Err(Fault::at("", format!("expected true or false, got {:?}", shown(text)))),
        },
        OutputType::Number => trimmed
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
            .map(OutputValue::Number)
            .ok_or_else(|| Fault::at("", format!("expected a finite decimal number, got {:?}", shown(text)))),
        OutputType::List => {
            let value: Value = serde_json::from_str(trimmed)
                .map_err(|error| Fault::at("", format!("expected a JSON array, got {:?} ({error})", shown(text))))?;
            from_json(&value)
                .filter(|value| value.output_type() == OutputType::List)
                .ok_or_else(|| Fault::at("", format!("expected a JSON array, got {:?}", shown(text))))
        }
    }
}

/// The value as JSON.
pub fn to_json(value: &OutputValue) -> Value {
    match value {
        OutputValue::Boolean(value) => Value::Bool(*value),
        OutputValue::Number(value) => number(*value),
        OutputValue::Text(text) => Value::String(text.clone()),
        OutputValue::List(items) => Value::Array(items.iter().map(scalar_to_json).collect()),
    }
}

/// Reads JSON as a value; `None` for null and objects. Items of a list that are neither scalars keep their JSON as text.
pub fn from_json(value: &Value) -> Option<OutputValue> {
    match value {
        Value::Bool(value) => Some(OutputValue::Boolean(*value)),
        Value::Number(value) => value.as_f64().map(OutputValue::Number),
        Value::String(text) => Some(OutputValue::Text(text.clone())),
        Value::Array(items) => Some(OutputValue::List(items.iter().map(scalar_from_json).collect())),
        Value::Null | Value::Object(_) => None,
    }
}

fn scalar_to_json(value: &Scalar) -> Value {
    match value {
        Scalar::Boolean(value) => Value::Bool(*value),
        Scalar::Number(value) => number(*value),
        Scalar::Text(text) => Value::String(text.clone()),
    }
}

fn scalar_from_json(value: &Value) -> Scalar {
    match from_json(value) {
        Some(OutputValue::Boolean(value)) => Scalar::Boolean(value),
        Some(OutputValue::Number(value)) => Scalar::Number(value),
        Some(OutputValue::Text(text)) => Scalar::Text(text),
        Some(OutputValue::List(_)) | None => Scalar::Text(value.to_string()),
    }
}

/// A whole number is written without a fraction, as people write it.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        return Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_topic() {
        let values = [
            OutputValue::Boolean(true),
            OutputValue::Number(3.0),
            OutputValue::Number(-0.25),
            OutputValue::Text("a red can, \"left\"\n".into()),
            OutputValue::List(vec![Scalar::Text("can".into()), Scalar::Number(2.0), Scalar::Boolean(false)]),
            OutputValue::List(vec![]),
        ];
        for value in values {
            assert_eq!(from_text(value.output_type(), &to_text(&value)), Ok(value));
        }
        assert_eq!(to_text(&OutputValue::Number(3.0)), "3");
    }

    #[test]
    fn what_is_no_value_of_the_type_is_refused() {
        for (output_type, text) in [
            (OutputType::Boolean, "yes"),
            (OutputType::Number, "NaN"),
            (OutputType::Number, "inf"),
            (OutputType::Number, ""),
            (OutputType::List, "{}"),
            (OutputType::List, "[1"),
        ] {
            assert!(from_text(output_type, text).is_err(), "{text}");
        }
    }
}

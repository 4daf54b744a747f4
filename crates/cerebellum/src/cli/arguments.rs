use serde_json::{Map, Value};

/// Reads the arguments of a tool: one JSON object, or `key=value` each. A value that is JSON is taken as JSON, anything
/// else as text; `a.b=c` makes `{"a": {"b": "c"}}`. The error says what is wrong, for a person.
pub fn parse(arguments: &[String]) -> Result<Map<String, Value>, String> {
    if let [only] = arguments
        && only.trim_start().starts_with('{')
    {
        return match serde_json::from_str(only) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err("the arguments are one JSON object".to_owned()),
            Err(error) => Err(format!("the arguments are no JSON object: {error}")),
        };
    }
    let mut object = Map::new();
    for argument in arguments {
        let (key, value) = argument
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| format!("{argument:?} is neither key=value nor one JSON object in quotes"))?;
        insert(&mut object, key, value_of(value)).map_err(|message| format!("{argument:?}: {message}"))?;
    }
    Ok(object)
}

fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn insert(object: &mut Map<String, Value>, key: &str, value: Value) -> Result<(), String> {
    let Some((outer, inner)) = key.split_once('.') else {
        return match object.insert(key.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(format!("{key} is given twice")),
        };
    };
    match object.entry(outer).or_insert_with(|| Value::Object(Map::new())) {
        Value::Object(nested) => insert(nested, inner, value),
        _ => Err(format!("{outer} is given twice")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(arguments: &[&str]) -> Result<Value, String> {
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        parse(&arguments).map(Value::Object)
    }

    #[test]
    fn json_and_pairs_say_the_same() {
        let expected = json!({"template": "find_object", "params": {"query": "red can"}});
        assert_eq!(check(&[r#"{"template":"find_object","params":{"query":"red can"}}"#]), Ok(expected.clone()));
        assert_eq!(check(&["template=find_object", r#"params={"query":"red can"}"#]), Ok(expected.clone()));
        assert_eq!(check(&["template=find_object", "params.query=red can"]), Ok(expected));
        assert_eq!(check(&[]), Ok(json!({})));
    }

    #[test]
    fn values_are_json_where_they_can_be() {
        let expected =
            json!({"n": 1.5, "yes": true, "none": null, "text": "1 2", "quoted": "true", "list": [1], "eq": "a=b"});
        assert_eq!(
            check(&["n=1.5", "yes=true", "none=null", "text=1 2", r#"quoted="true""#, "list=[1]", "eq=a=b"]),
            Ok(expected)
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (arguments, named) in [
            (&["{\"a\":"][..], "JSON"),
            (&["red can"][..], "red can"),
            (&["=1"][..], "=1"),
            (&["a=1", "a=2"][..], "twice"),
            (&["a=1", "a.b=2"][..], "twice"),
            (&["a=1", "{}"][..], "{}"),
        ] {
            assert!(check(arguments).unwrap_err().contains(named), "{arguments:?}");
        }
    }
}

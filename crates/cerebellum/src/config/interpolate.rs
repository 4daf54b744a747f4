use super::environment::Environment;

/// Where an expression stands in the text that the YAML reader sees: its number between two characters that no
/// configuration needs. An expression taken out this way keeps lines as they are, works in plain, quoted and flow
/// scalars alike, and its value can never be read as YAML.
const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';

/// `${oc.env:KEY}`, `${oc.env:KEY,default}` or `${KEY:?hint}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) key: String,
    otherwise: Otherwise,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Otherwise {
    Default(String),
    Refuse(Option<String>),
}

impl Expression {
    fn parse(inner: &str) -> Option<Self> {
        let (key, otherwise) = if let Some(rest) = inner.strip_prefix("oc.env:") {
            match rest.split_once(',') {
                Some((key, default)) => (key, Otherwise::Default(default.trim().to_owned())),
                None => (rest, Otherwise::Refuse(None)),
            }
        } else {
            let (key, hint) = inner.split_once(":?")?;
            (key, Otherwise::Refuse(Some(hint.trim().to_owned()).filter(|hint| !hint.is_empty())))
        };
        let key = key.trim();
        is_key(key).then(|| Self { key: key.to_owned(), otherwise })
    }
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && !key.starts_with(|first: char| first.is_ascii_digit())
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Takes the expressions out of a text. What looks like one and is none stays, and is refused where it stands by
/// [`expand`].
pub(super) fn take_out(text: &str, expressions: &mut Vec<Expression>) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, from) = rest.split_at(start);
        kept.push_str(before);
        let end = from.find(['}', '\n']).filter(|&end| from[end..].starts_with('}'));
        if let Some((end, expression)) = end.and_then(|end| Some((end, Expression::parse(&from[2..end])?))) {
            kept.push(OPEN);
            kept.push_str(&expressions.len().to_string());
            kept.push(CLOSE);
            expressions.push(expression);
            rest = &from[end + 1..];
        } else {
            kept.push_str("${");
            rest = &from[2..];
        }
    }
    kept.push_str(rest);
    kept
}

/// A scalar with its expressions put in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// The variables asked for, in order.
    pub(super) variables: Vec<String>,
    /// Whether every character came from the value of a variable, none from a file.
    pub(super) from_environment_alone: bool,
}

/// Puts values in. The error says what is wrong, for a person.
pub(super) fn expand(scalar: &str, expressions: &[Expression], environment: &Environment) -> Result<Expanded, String> {
    if let Some(start) = scalar.find("${") {
        let shown: String = scalar[start..].chars().take(40).collect();
        return Err(format!(
            "{shown:?} is no variable that can be read; write ${{oc.env:KEY}}, ${{oc.env:KEY,default}} or ${{KEY:?hint}}"
        ));
    }
    let mut expanded = Expanded { text: String::new(), variables: Vec::new(), from_environment_alone: true };
    let mut rest = scalar;
    while let Some(start) = rest.find(OPEN) {
        let (before, from) = rest.split_at(start);
        let number = from[OPEN.len_utf8()..].split(CLOSE).next().unwrap_or_default();
        let expression = number.parse::<usize>().ok().and_then(|number| expressions.get(number));
        let Some(expression) = expression else { return Err("holds a character of Unicode's private use".to_owned()) };
        expanded.from_environment_alone &= before.is_empty();
        expanded.text.push_str(before);
        expanded.variables.push(expression.key.clone());
        match (environment.get(&expression.key), &expression.otherwise) {
            (Some(value), _) => expanded.text.push_str(value),
            (None, Otherwise::Default(default)) => {
                expanded.from_environment_alone &= default.is_empty();
                expanded.text.push_str(default);
            }
            (None, Otherwise::Refuse(hint)) => return Err(unset(&expression.key, hint.as_deref())),
        }
        rest = &from[OPEN.len_utf8() + number.len() + CLOSE.len_utf8()..];
    }
    expanded.from_environment_alone &= rest.is_empty() && !expanded.variables.is_empty();
    expanded.text.push_str(rest);
    Ok(expanded)
}

fn unset(key: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("the variable {key} is unset or empty: {hint}"),
        None => format!("the variable {key} is unset or empty; set it in the environment or in .env"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<String, String> {
        let environment = Environment::of([("NAME", "a: b # {c}"), ("PORT", "9201"), ("EMPTY", "")]);
        let mut expressions = Vec::new();
        let safe = take_out(text, &mut expressions);
        expand(&safe, &expressions, &environment).map(|expanded| expanded.text)
    }

    #[test]
    fn the_three_forms_are_read() {
        assert_eq!(check("${oc.env:PORT}").as_deref(), Ok("9201"));
        assert_eq!(check("x-${oc.env:PORT}-${oc.env:NAME}").as_deref(), Ok("x-9201-a: b # {c}"));
        assert_eq!(check("${oc.env:NONE,tcp/127.0.0.1:7447}").as_deref(), Ok("tcp/127.0.0.1:7447"));
        assert_eq!(check("${oc.env:EMPTY,fallback}").as_deref(), Ok("fallback"));
        assert_eq!(check("${oc.env:NONE,}").as_deref(), Ok(""));
        assert_eq!(check("${PORT:?say the port}").as_deref(), Ok("9201"));
    }

    #[test]
    fn what_is_unset_or_unreadable_says_so() {
        assert!(check("${oc.env:NONE}").unwrap_err().contains("NONE"));
        assert!(check("${EMPTY:?get one from the office}").unwrap_err().contains("get one from the office"));
        for text in ["${PORT}", "${PORT:-1}", "${oc.env:PORT", "${oc.env:}", "${oc.env:a b}", "${1X:?}"] {
            assert!(check(text).unwrap_err().contains("${oc.env:KEY"), "{text}");
        }
    }

    #[test]
    fn lines_are_kept() {
        let mut expressions = Vec::new();
        let safe = take_out("a: ${oc.env:A}\nb: ${oc.env:B\nc: \"${oc.env:C}\"\n", &mut expressions);
        assert_eq!(safe.lines().count(), 3);
        assert_eq!(expressions.len(), 2);
    }

    #[test]
    fn a_default_is_not_from_the_environment() {
        let mut expressions = Vec::new();
        let safe = take_out("${oc.env:NONE,hunter2}", &mut expressions);
        assert!(!expand(&safe, &expressions, &Environment::default()).unwrap().from_environment_alone);
    }
}

//! Holds an XML document against a schema in XSD: what may stand in what, which attributes there are, and which must be.
//!
//! It knows what `junit-10.xsd` uses and fails on anything else, so that no rule of the schema is passed over in silence.

use super::xml::Element;
use std::collections::BTreeMap;

/// A schema: what each element may hold, by its name.
pub struct Schema {
    elements: BTreeMap<String, Rule>,
}

#[derive(Clone, Default)]
struct Rule {
    attributes: Vec<Attribute>,
    /// Each with the least and the most times it may stand; none for no end.
    children: Vec<(String, usize, Option<usize>)>,
    text: bool,
}

#[derive(Clone)]
struct Attribute {
    name: String,
    required: bool,
    /// A type of the schema's own, with a pattern that is not read: such an attribute must not be written.
    patterned: bool,
}

impl Schema {
    pub fn new(schema: &Element) -> Schema {
        assert_eq!(schema.name, "xs:schema");
        let mut types = BTreeMap::new();
        let mut elements = BTreeMap::new();
        for part in schema.children.iter().filter(|part| part.name == "xs:complexType") {
            types.insert(part.attribute("name").unwrap(), rule(part));
        }
        for part in &schema.children {
            let name = part.attribute("name").unwrap();
            match (part.name.as_str(), part.attribute("type")) {
                ("xs:element", None) => elements.insert(name.to_owned(), rule(only(part, "xs:complexType"))),
                ("xs:element", Some("xs:string")) => {
                    elements.insert(name.to_owned(), Rule { text: true, ..Rule::default() })
                }
                ("xs:element", Some(named)) => elements.insert(name.to_owned(), types[named].clone()),
                ("xs:complexType" | "xs:simpleType", None) => None,
                other => panic!("{other:?} is not read"),
            };
        }
        Schema { elements }
    }

    /// Why an element breaks the schema.
    pub fn breaks(&self, element: &Element) -> Vec<String> {
        let name = &element.name;
        let Some(rule) = self.elements.get(name) else { return vec![format!("there is no <{name}>")] };
        let mut broken = Vec::new();
        for (key, _) in &element.attributes {
            match rule.attributes.iter().find(|attribute| attribute.name == *key) {
                None => broken.push(format!("<{name}> takes no `{key}`")),
                Some(attribute) if attribute.patterned => broken.push(format!("the pattern of `{key}` is not read")),
                Some(_) => {}
            }
        }
        for attribute in rule.attributes.iter().filter(|attribute| attribute.required) {
            if element.attribute(&attribute.name).is_none() {
                broken.push(format!("<{name}> without `{}`", attribute.name));
            }
        }
        if !rule.text && !element.text.trim().is_empty() {
            broken.push(format!("<{name}> takes no text: {}", element.text));
        }
        for child in &element.children {
            if !rule.children.iter().any(|(known, _, _)| *known == child.name) {
                broken.push(format!("<{}> has no place in <{name}>", child.name));
            }
            broken.extend(self.breaks(child));
        }
        for (child, least, most) in &rule.children {
            let count = element.children.iter().filter(|other| other.name == *child).count();
            if count < *least || most.is_some_and(|most| count > most) {
                broken.push(format!("{count} <{child}> in <{name}>"));
            }
        }
        broken
    }
}

fn only<'a>(parent: &'a Element, name: &str) -> &'a Element {
    match parent.children.as_slice() {
        [child] if child.name == name => child,
        other => panic!("{name} is meant: {other:?}"),
    }
}

fn rule(complex: &Element) -> Rule {
    let mut rule = Rule { text: complex.attribute("mixed") == Some("true"), ..Rule::default() };
    for part in &complex.children {
        match part.name.as_str() {
            "xs:attribute" => rule.attributes.push(Attribute {
                name: part.attribute("name").unwrap().to_owned(),
                required: part.attribute("use") == Some("required"),
                patterned: part.attribute("type") != Some("xs:string"),
            }),
            "xs:sequence" | "xs:choice" => group(part, &mut rule),
            other => panic!("{other} is not read"),
        }
    }
    rule
}

/// A group in which order does not matter: one kind of child, or a choice that may repeat. Of others, how often each child
/// may stand is held, and not their order.
fn group(part: &Element, rule: &mut Rule) {
    let repeats = part.attribute("maxOccurs") == Some("unbounded");
    for child in &part.children {
        match child.name.as_str() {
            "xs:choice" if child.attribute("maxOccurs") == Some("unbounded") => group(child, rule),
            "xs:element" => {
                let name = child.attribute("ref").or(child.attribute("name")).unwrap().to_owned();
                let least = if repeats { 0 } else { child.attribute("minOccurs").map_or(1, |n| n.parse().unwrap()) };
                let most = match child.attribute("maxOccurs") {
                    _ if repeats => None,
                    Some("unbounded") => None,
                    Some(n) => Some(n.parse().unwrap()),
                    None => Some(1),
                };
                rule.children.push((name, least, most));
            }
            other => panic!("{other} is not read"),
        }
    }
}

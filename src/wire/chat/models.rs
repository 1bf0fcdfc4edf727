//! The list of models, as `GET /v1/models` answers it.

use serde::Serialize;

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

/// A list of names, in the order given. `created` is seconds since 1970, the same for each.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>, created: u64) -> Vec<u8> {
    let entry = |id| Entry { id, object: "model", created, owned_by: "switchback" };
    let list = List { object: "list", data: names.into_iter().map(entry).collect() };
    serde_json::to_vec(&list).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_name_is_a_model() {
        let list = String::from_utf8(super::list(["chat", "code"], 7)).unwrap();
        assert_eq!(
            list,
            r#"{"object":"list","data":[{"id":"chat","object":"model","created":7,"owned_by":"switchback"},{"id":"code","object":"model","created":7,"owned_by":"switchback"}]}"#
        );
    }
}

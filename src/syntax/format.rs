//! stub
use super::Tree;
/// stub
pub fn format(_tree: &Tree) -> String {
    String::new()
}

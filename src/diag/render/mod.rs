//! Renderers of diagnostics: siblings over one value.

//! Decision records: the trail of a run as one JSON line.

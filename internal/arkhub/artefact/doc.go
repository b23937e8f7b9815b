// Package artefact reads the objects of an ArkFlow checkpoint store: the manifest
// of a checkpoint or savepoint, and the state snapshots that it names, with the
// checksums that the engine gives them.
//
// The bytes are read as the engine's own reader does, that of the Rust library
// serde_json: names in their case, each at most once, unknown ones ignored, whole
// numbers in their ranges, and nothing after the value. The formats are those of
// arkflow-core's checkpoint.rs and state.rs, branch v1 at commit c7dd8b4.
//
// It has no opinion on whether an artefact can be restored, does no I/O, and never
// allocates for a length that the input only claims.
package artefact

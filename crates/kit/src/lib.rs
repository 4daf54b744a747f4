//! Signing, verifying and posting events.

//! A small home, a mobile manipulator and an RGB-D camera, simulated.

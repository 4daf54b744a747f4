//! Depth to planes, components, masks and free space.

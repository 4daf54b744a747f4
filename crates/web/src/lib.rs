//! The page of the demo and its routes.

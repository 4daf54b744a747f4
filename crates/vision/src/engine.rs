/// Looks at colour and depth alone: the default.
pub mod geometry;
/// Answers from the simulator's own knowledge. For tests and teaching.
pub mod ground_truth;

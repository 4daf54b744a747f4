use super::Scene;

/// A scene made up from a seed.
pub fn generate(seed: u64) -> Scene {
    Scene { seed, ..Scene::home() }
}

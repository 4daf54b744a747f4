use cerebellum_core::{KeepOut, Limits, MotionFailure, PlanarPose};

/// How far apart the points of a straight way are that are looked at, in metres.
const STEP_M: f64 = 0.05;

/// Whether the base may go straight from one place to the other.
pub(super) fn allows(
    limits: &Limits,
    keep_outs: &[KeepOut],
    from: &PlanarPose,
    to: &PlanarPose,
) -> Result<(), MotionFailure> {
    let steps = (from.distance(to) / STEP_M).ceil().clamp(1.0, 10_000.0);
    let points = (1..=steps as u32).map(|step| {
        let part = f64::from(step) / steps;
        [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part]
    });
    for point in points {
        let at = format!("({:.2}, {:.2})", point[0], point[1]);
        let refused = |rule: &str, reason: String| Err(MotionFailure::Refused { rule: rule.into(), reason });
        if let Some([low, high]) = limits.workspace
            && !(0..2).all(|axis| (low[axis]..=high[axis]).contains(&point[axis]))
        {
            return refused("workspace", format!("{at} is outside the workspace {low:?} to {high:?}"));
        }
        if let Some(zone) = keep_outs.iter().find(|zone| is_inside(&zone.outline, point)) {
            return refused("keep_out", format!("{at} is in the keep-out zone {}", zone.name));
        }
    }
    Ok(())
}

fn is_inside(outline: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let mut is_inside = false;
    for (at, &[x1, y1]) in outline.iter().enumerate() {
        let [x2, y2] = outline[(at + 1) % outline.len()];
        if (y1 > y) != (y2 > y) && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1 {
            is_inside = !is_inside;
        }
    }
    is_inside
}

/// What is wrong with limits.
pub(super) fn fault_of(limits: &Limits) -> Option<String> {
    let values = [
        ("max_speed_mps", limits.max_speed_mps),
        ("max_turn_rate", limits.max_turn_rate),
        ("max_acceleration", limits.max_acceleration),
        ("stop_deceleration", limits.stop_deceleration),
        ("max_drive_m", limits.max_drive_m),
        ("max_turn", limits.max_turn),
    ];
    if let Some((name, value)) = values.into_iter().find(|(_, value)| !value.is_finite() || *value <= 0.0) {
        return Some(format!("use for {name} = {value}: it must be a positive number"));
    }
    let least = Limits::MIN_STOP_DECELERATION;
    (limits.stop_deceleration < least).then(|| format!("stop_deceleration below {least} m/s2"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_way_through_a_zone_is_refused_by_its_name() {
        let zone = KeepOut { name: "stairs".into(), outline: vec![[1.0, -1.0], [2.0, -1.0], [2.0, 1.0], [1.0, 1.0]] };
        let limits = Limits { workspace: Some([[-5.0, -5.0], [5.0, 5.0]]), ..Limits::default() };
        let way = |x: f64, y: f64| {
            allows(&limits, std::slice::from_ref(&zone), &PlanarPose::default(), &PlanarPose::new(x, y, 0.0))
        };
        assert_eq!(way(0.9, 0.0), Ok(()));
        assert_eq!(way(0.0, 3.0), Ok(()));
        for (x, y, expected) in [(3.0, 0.0, "keep_out"), (1.5, 0.5, "keep_out"), (0.0, 6.0, "workspace")] {
            let refused = way(x, y);
            assert!(matches!(&refused, Err(MotionFailure::Refused { rule, .. }) if rule == expected), "{refused:?}");
        }
    }

    #[test]
    fn limits_that_are_none_are_named() {
        assert_eq!(fault_of(&Limits::default()), None);
        for (limits, name) in [
            (Limits { max_speed_mps: f64::NAN, ..Limits::default() }, "max_speed_mps"),
            (Limits { max_turn: 0.0, ..Limits::default() }, "max_turn"),
            (Limits { stop_deceleration: 1.0, ..Limits::default() }, "stop_deceleration"),
        ] {
            assert!(fault_of(&limits).is_some_and(|fault| fault.contains(name)), "{name}");
        }
    }
}

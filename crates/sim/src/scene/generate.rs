use super::{Furniture, Object, Opening, Room, Scene, Wall, Waypoint};
use crate::model::{Colour, furniture, object, room};
use crate::random::Random;

/// A scene made up from a seed: a room, a table with things on it, and the robot before it. Some things touch, some stand
/// behind others. The same seed gives the same scene, and neighbouring seeds have nothing in common.
pub fn generate(seed: u64) -> Scene {
    let mut random = Random::of(seed, 0x5CE7E);
    let table = table(&mut random);
    let start = before(&table, &mut random);
    let objects = Arrange::new(&table, start.at, &mut random).all();
    let mut furniture = vec![table];
    furniture.extend(surroundings(&mut random));
    Scene {
        name: format!("made up {seed}"),
        seed,
        rooms: vec![Room {
            name: "room".into(),
            from: [0.0, 0.0],
            to: [5.2, 4.4],
            floor: *random.pick(&[room::Floor::Planks, room::Floor::Tiles, room::Floor::Carpet]),
        }],
        walls: walls(&mut random),
        furniture,
        objects,
        start: start.name.clone(),
        waypoints: vec![start],
        person: None,
    }
}

fn table(random: &mut Random) -> Furniture {
    let colours = [Colour::Oak, Colour::Brown, Colour::DarkBrown, Colour::White, Colour::Grey, Colour::Beige];
    let size = [random.between(0.65, 0.95), random.between(0.95, 1.5), random.between(0.64, 0.78)];
    Furniture {
        name: "table".into(),
        kind: furniture::Kind::Table,
        at: [random.between(2.0, 2.3), random.between(1.9, 2.5)],
        height: 0.0,
        yaw_deg: random.between(-8.0, 8.0),
        size,
        colour: *random.pick(&colours),
        accent: None,
    }
}

fn before(table: &Furniture, random: &mut Random) -> Waypoint {
    let distance = table.size[0] * 0.5 + random.between(0.82, 1.05);
    let aside = random.between(-0.2, 0.2);
    let at = [table.at[0] - distance, table.at[1] + aside];
    let yaw = (-aside / (distance + 0.3)).atan().to_degrees();
    Waypoint { name: "table".into(), at, yaw_deg: yaw + random.between(-4.0, 4.0) }
}

fn walls(random: &mut Random) -> Vec<Wall> {
    let paint = [Colour::White, Colour::Cream, Colour::Beige, Colour::Grey, Colour::LightBlue];
    let colour = *random.pick(&paint);
    let wall = |from, to, openings| Wall { from, to, colour, openings };
    let window = Opening {
        at: random.between(1.0, 3.4),
        width: random.between(0.8, 1.5),
        height: [random.between(0.8, 1.1), random.between(1.9, 2.3)],
        filling: *random.pick(&[room::Filling::Window, room::Filling::Window, room::Filling::Door]),
    };
    let window = if window.filling == room::Filling::Door {
        Opening { height: [0.0, 2.1], width: 0.95, ..window }
    } else {
        window
    };
    vec![
        wall([5.2, 0.0], [5.2, 4.4], vec![window]),
        wall([0.0, 4.4], [5.2, 4.4], Vec::new()),
        wall([0.0, 0.0], [5.2, 0.0], Vec::new()),
        wall([0.0, 0.0], [0.0, 4.4], Vec::new()),
    ]
}

fn surroundings(random: &mut Random) -> Vec<Furniture> {
    let pieces = [
        (furniture::Kind::Shelf, [4.98, 0.9], 180.0, [0.32, 1.1, 1.8], Colour::Oak),
        (furniture::Kind::Plant, [4.7, 3.9], 0.0, [0.6, 0.6, 1.0], Colour::Green),
        (furniture::Kind::Sofa, [4.1, 3.8], -90.0, [0.9, 1.7, 0.82], Colour::Grey),
        (furniture::Kind::Chair, [3.1, 1.3], 160.0, [0.42, 0.42, 0.88], Colour::Brown),
        (furniture::Kind::Rug, [3.6, 2.2], 0.0, [1.6, 2.4, 0.01], Colour::Beige),
        (furniture::Kind::FloorLamp, [4.8, 0.4], 0.0, [0.4, 0.4, 1.6], Colour::Cream),
        (furniture::Kind::Fridge, [4.85, 2.9], 180.0, [0.66, 0.62, 1.8], Colour::White),
    ];
    let mut chosen = Vec::new();
    for (index, (kind, at, yaw_deg, size, colour)) in pieces.into_iter().enumerate() {
        if random.unit() < 0.45 {
            let name = format!("piece {index}");
            chosen.push(Furniture { name, kind, at, height: 0.0, yaw_deg, size, colour, accent: None });
        }
    }
    chosen
}

/// Puts things on a table.
struct Arrange<'a> {
    table: &'a Furniture,
    eye: [f32; 2],
    random: &'a mut Random,
    objects: Vec<Object>,
}

/// Free air around things that do not touch.
const APART_M: f32 = 0.045;

impl<'a> Arrange<'a> {
    fn new(table: &'a Furniture, eye: [f32; 2], random: &'a mut Random) -> Self {
        Self { table, eye, random, objects: Vec::new() }
    }

    fn all(mut self) -> Vec<Object> {
        let count = 5 + self.random.below(6);
        for _ in 0..count {
            let thing = self.thing();
            self.spread(thing);
        }
        if self.random.unit() < 0.6 {
            self.touching();
        }
        if self.random.unit() < 0.6 {
            self.behind();
        }
        self.objects
    }

    /// Something that is not there yet, nowhere yet.
    fn thing(&mut self) -> Object {
        use Colour::{Blue, Brown, Green, Orange, Pink, Purple, Red, Turquoise, White, Yellow};
        use object::Kind::{Apple, Ball, Book, Bottle, Bowl, Box, Can, Carton, Cup, Lemon, Mug, Tin};
        let any = [Red, Orange, Yellow, Green, Blue, Purple, Pink, Turquoise, White, Brown];
        let r = &mut *self.random;
        let (kind, noun, size) = match r.below(12) {
            0 => (Can, "can", round(r.between(0.056, 0.078), r.between(0.1, 0.16))),
            1 => (Tin, "tin", round(r.between(0.07, 0.1), r.between(0.035, 0.06))),
            2 => (Bottle, "bottle", round(r.between(0.06, 0.085), r.between(0.2, 0.31))),
            3 | 11 => (Box, "box", [r.between(0.05, 0.12), r.between(0.06, 0.2), r.between(0.05, 0.25)]),
            4 => (Carton, "carton", [r.between(0.065, 0.09), r.between(0.065, 0.09), r.between(0.16, 0.23)]),
            5 => (Book, "book", [r.between(0.12, 0.17), r.between(0.17, 0.24), r.between(0.022, 0.045)]),
            6 => (Ball, "ball", cube(r.between(0.055, 0.1))),
            7 => (Mug, "mug", round(r.between(0.07, 0.09), r.between(0.08, 0.11))),
            8 => (Cup, "cup", round(r.between(0.07, 0.09), r.between(0.08, 0.13))),
            9 => (Bowl, "bowl", round(r.between(0.12, 0.18), r.between(0.05, 0.08))),
            _ => {
                let kind = [Apple, Lemon][r.below(2)];
                return self.fruit(kind);
            }
        };
        let colour = *r.pick(&any);
        let accents = [None, None, Some(White), Some(Red), Some(Yellow)];
        let accent = r.pick(&accents).filter(|accent| *accent != colour);
        let label = format!("{} {noun}", word(colour));
        self.named(label, kind, colour, accent, size)
    }

    fn fruit(&mut self, kind: object::Kind) -> Object {
        if kind == object::Kind::Lemon {
            return self.named("lemon".into(), kind, Colour::Yellow, None, [0.088, 0.062, 0.062]);
        }
        let colour = *self.random.pick(&[Colour::Red, Colour::LightGreen]);
        let size = round(self.random.between(0.068, 0.084), self.random.between(0.066, 0.08));
        self.named(format!("{} apple", word(colour)), kind, colour, None, size)
    }

    fn named(
        &mut self,
        label: String,
        kind: object::Kind,
        colour: Colour,
        accent: Option<Colour>,
        size: [f32; 3],
    ) -> Object {
        let name = format!("{}_{}", label.replace(' ', "_"), self.objects.len() + 1);
        let yaw_deg = self.random.between(-90.0, 90.0);
        Object { name, label, kind, colour, accent, size, on: self.table.name.clone(), at: [0.0; 2], yaw_deg }
    }

    /// Somewhere free; left out when thirty tries find no place.
    fn spread(&mut self, thing: Object) {
        let margin = radius(&thing) + 0.03;
        let half = [self.table.size[0] * 0.5 - margin, (self.table.size[1] * 0.5 - margin).min(0.55)];
        for _ in 0..30 {
            let at = [self.random.between(-half[0], half[0]), self.random.between(-half[1], half[1])];
            if self.is_free(at, radius(&thing) + APART_M) {
                self.objects.push(Object { at, ..thing });
                return;
            }
        }
    }

    /// A box right beside a thing that stands already.
    fn touching(&mut self) {
        let Some(neighbour) = self.objects.first().cloned() else { return };
        let colours = [Colour::Red, Colour::Yellow, Colour::Green, Colour::Blue, Colour::Purple];
        let others: Vec<_> = colours.into_iter().filter(|colour| *colour != neighbour.colour).collect();
        let colour = *self.random.pick(&others);
        let side = self.random.between(0.05, 0.09);
        let thing = self.named(format!("{} box", word(colour)), object::Kind::Box, colour, None, cube(side));
        let reach = neighbour.size[1] * 0.5 + side * 0.5 + 0.001;
        let yaw = neighbour.yaw_deg.to_radians();
        for sign in [1.0, -1.0] {
            let at = [neighbour.at[0] - yaw.sin() * reach * sign, neighbour.at[1] + yaw.cos() * reach * sign];
            let others_free = self.objects.iter().skip(1).all(|other| apart(at, other.at) > radius(other) + side);
            if others_free && self.inside(at, side) {
                self.objects.push(Object { at, yaw_deg: neighbour.yaw_deg, ..thing });
                return;
            }
        }
    }

    /// A thing that another one hides in part.
    fn behind(&mut self) {
        let tall = self.objects.iter().max_by(|a, b| a.size[2].total_cmp(&b.size[2])).cloned();
        let Some(tall) = tall else { return };
        let thing = self.thing();
        let yaw = self.table.yaw_deg.to_radians();
        let (dx, dy) = (self.eye[0] - self.table.at[0], self.eye[1] - self.table.at[1]);
        let eye = [yaw.cos() * dx + yaw.sin() * dy, yaw.cos() * dy - yaw.sin() * dx];
        let away = [tall.at[0] - eye[0], tall.at[1] - eye[1]];
        let length = away[0].hypot(away[1]);
        let reach = radius(&tall) + radius(&thing) + 0.03;
        let aside = self.random.between(-0.05, 0.05);
        let at = [
            tall.at[0] + away[0] / length * reach - away[1] / length * aside,
            tall.at[1] + away[1] / length * reach + away[0] / length * aside,
        ];
        if self.inside(at, radius(&thing)) && self.is_free(at, radius(&thing)) {
            self.objects.push(Object { at, ..thing });
        }
    }

    fn is_free(&self, at: [f32; 2], reach: f32) -> bool {
        self.objects.iter().all(|other| apart(at, other.at) > radius(other) + reach)
    }

    fn inside(&self, at: [f32; 2], margin: f32) -> bool {
        at[0].abs() + margin < self.table.size[0] * 0.5 && at[1].abs() + margin < self.table.size[1] * 0.5
    }
}

fn round(diameter: f32, height: f32) -> [f32; 3] {
    [diameter, diameter, height]
}

fn cube(side: f32) -> [f32; 3] {
    [side; 3]
}

fn apart(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Of the circle around its foot.
fn radius(object: &Object) -> f32 {
    use object::Kind::{Apple, Ball, Bottle, Bowl, Can, Cup, Tin};
    if matches!(object.kind, Apple | Ball | Bottle | Bowl | Can | Cup | Tin) {
        object.size[0] * 0.5
    } else {
        object.size[0].hypot(object.size[1]) * 0.5
    }
}

fn word(colour: Colour) -> &'static str {
    match colour {
        Colour::Red => "red",
        Colour::Orange => "orange",
        Colour::Yellow => "yellow",
        Colour::Green | Colour::LightGreen => "green",
        Colour::Turquoise => "turquoise",
        Colour::LightBlue => "light blue",
        Colour::Blue => "blue",
        Colour::Purple => "purple",
        Colour::Pink => "pink",
        Colour::White | Colour::Cream => "white",
        Colour::Beige => "beige",
        Colour::Brown | Colour::DarkBrown | Colour::Oak => "brown",
        Colour::Silver | Colour::Grey => "grey",
        Colour::DarkGrey | Colour::Black => "black",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_scene_and_others_differ() {
        assert_eq!(generate(4), generate(4));
        let layouts: Vec<_> = (0..10).map(|seed| generate(seed).objects).collect();
        for (index, layout) in layouts.iter().enumerate() {
            assert!(layout.len() >= 4, "seed {index} has {} objects", layout.len());
            assert!(layouts.iter().skip(index + 1).all(|other| other != layout));
        }
    }

    #[test]
    fn made_up_scenes_pass_the_checks_of_scene_files() {
        for seed in 0..40 {
            let text = serde_json::to_string_pretty(&generate(seed)).unwrap();
            super::super::file::parse(&text, "made up").unwrap_or_else(|faults| panic!("seed {seed}: {faults}"));
        }
    }

    #[test]
    fn some_things_touch_and_most_do_not() {
        let pairs = |scene: &Scene| {
            let objects = &scene.objects;
            let mut close = 0;
            for (index, a) in objects.iter().enumerate() {
                close +=
                    objects[index + 1..].iter().filter(|b| apart(a.at, b.at) < radius(a) + radius(b) + 0.01).count();
            }
            close
        };
        let close: usize = (0..40).map(|seed| pairs(&generate(seed))).sum();
        assert!((8..80).contains(&close), "{close}");
    }
}

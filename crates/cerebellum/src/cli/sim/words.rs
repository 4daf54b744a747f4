use std::path::PathBuf;

use cerebellum_sim::simulator::still::View;
use clap::{Args, Subcommand, ValueEnum};

use super::At;

/// Arguments of `sim`.
#[derive(Args, Clone, Debug)]
#[command(after_help = super::EXAMPLES)]
pub struct SimArgs {
    /// What to do; without it the simulator is served
    #[command(subcommand)]
    pub command: Option<SimCommand>,
    /// How the simulator is served.
    #[command(flatten)]
    pub serve: SimServeArgs,
}

/// What `sim` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum SimCommand {
    /// Run the simulated robot as a process of its own, on the bus (also without a subcommand)
    Serve(SimServeArgs),
    /// Change what a running simulator's home looks like
    Scene(SceneArgs),
    /// Take a picture of a running simulator's home; of the home as it is shipped when none is running
    Snapshot(SnapshotArgs),
}

/// How the simulator is served.
#[derive(Args, Clone, Debug, Default)]
pub struct SimServeArgs {
    /// Fixes everything that is random; the configuration's unless given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The control port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub control_port: Option<u16>,
    /// Where to write one JSON object with the endpoints, once it serves
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

/// Where the control port of a simulator is.
#[derive(Args, Clone, Debug)]
pub struct ControlArgs {
    /// The control port; http://127.0.0.1:9200 unless given
    #[arg(long, value_name = "URL", global = true)]
    pub control: Option<String>,
    /// A file with the operator token; the one of the state folder unless given
    #[arg(long, value_name = "FILE", global = true)]
    pub token_file: Option<PathBuf>,
}

/// Arguments of `sim scene`.
#[derive(Args, Clone, Debug)]
#[command(after_help = super::SCENE_EXAMPLES)]
pub struct SceneArgs {
    /// Where the simulator is.
    #[command(flatten)]
    pub control: ControlArgs,
    /// What to change.
    #[command(subcommand)]
    pub action: SceneAction,
}

/// A change of the simulated home.
#[derive(Clone, Debug, Subcommand)]
pub enum SceneAction {
    /// Say what stands where
    Show,
    /// Put an object on something, or at a place
    Place {
        /// The object, such as "red can"
        object: String,
        /// What to put it on, such as "kitchen table"
        #[arg(long, value_name = "SURFACE", required_unless_present = "at")]
        on: Option<String>,
        /// Where, in metres: X,Y from the middle of the surface, or X,Y or X,Y,Z in the map
        #[arg(long, value_name = "X,Y[,Z]", value_parser = super::parse_at, allow_hyphen_values = true)]
        at: Option<At>,
    },
    /// Move an object, by metres along the axes of the map
    Move {
        /// The object, such as "red can"
        object: String,
        /// How far: X,Y or X,Y,Z
        #[arg(long, value_name = "X,Y[,Z]", value_parser = super::parse_at, allow_hyphen_values = true)]
        by: At,
    },
    /// Let the person enter or leave
    Person {
        /// enter or leave
        what: PersonArg,
    },
    /// Cover the camera, freeze its picture, or let it see again
    Camera {
        /// cover, freeze or uncover
        what: CameraArg,
    },
    /// Put the robot at a waypoint, or at a place
    Base {
        /// The waypoint, such as "sofa"
        #[arg(required_unless_present = "at", conflicts_with = "at")]
        waypoint: Option<String>,
        /// Where, in metres in the map: X,Y
        #[arg(long, value_name = "X,Y", value_parser = super::parse_at, allow_hyphen_values = true)]
        at: Option<At>,
        /// Which way it looks, in degrees from the map's x axis
        #[arg(long, value_name = "DEGREES", requires = "at", allow_hyphen_values = true)]
        yaw_deg: Option<f64>,
    },
    /// Put everything back as it was at the start
    Reset,
}

/// What the person does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PersonArg {
    /// Comes into view.
    Enter,
    /// Goes away.
    Leave,
}

/// What happens to the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CameraArg {
    /// Sees nothing.
    #[value(alias = "blind")]
    Cover,
    /// Shows its last picture again and again.
    Freeze,
    /// Sees again.
    Uncover,
}

/// Arguments of `sim snapshot`.
#[derive(Args, Clone, Debug)]
pub struct SnapshotArgs {
    /// Where to write the picture
    #[arg(value_name = "FILE.png")]
    pub file: PathBuf,
    /// From where: head, room, living, table, person, robot or plan
    #[arg(long, default_value = "head", value_parser = super::parse_view)]
    pub view: View,
    /// Pixels in a row
    #[arg(long, value_name = "PIXELS", default_value_t = 640)]
    pub width: u32,
    /// Rows
    #[arg(long, value_name = "PIXELS", default_value_t = 480)]
    pub height: u32,
    /// Where the simulator is.
    #[command(flatten)]
    pub control: ControlArgs,
}

//! The program: command line, configuration, telemetry, composition.

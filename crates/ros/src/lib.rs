//! ROS 2 without ROS: message types, CDR, buses, and the domain ports over them.

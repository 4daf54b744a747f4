"""The types of ros2_vision_interfaces for a peer that has no ROS, written from the package's msg and srv files."""

from dataclasses import dataclass, field

from ros2_pyterfaces.cyclone import idl
from ros2_pyterfaces.cyclone.geometry_msgs.msg import PointStamped
from ros2_pyterfaces.cyclone.sensor_msgs.msg import CompressedImage, RegionOfInterest
from ros2_pyterfaces.cyclone.std_msgs.msg import Header

types = idl.types


@dataclass
class StampedString(idl.IdlStruct, typename="ros2_vision_interfaces/msg/StampedString"):
    header: Header = field(default_factory=Header)
    data: str = ""


@dataclass
class VisionDetection(idl.IdlStruct, typename="ros2_vision_interfaces/msg/VisionDetection"):
    id: str = ""
    label: str = ""
    score: types.float32 = 0.0
    box: RegionOfInterest = field(default_factory=RegionOfInterest)
    has_mask: bool = False
    mask: CompressedImage = field(default_factory=CompressedImage)
    has_point: bool = False
    point: PointStamped = field(default_factory=PointStamped)


@dataclass
class VisionDetectionArray(idl.IdlStruct, typename="ros2_vision_interfaces/msg/VisionDetectionArray"):
    header: Header = field(default_factory=Header)
    skill: str = ""
    image_width: types.uint32 = 0
    image_height: types.uint32 = 0
    detections: types.sequence[VisionDetection] = field(default_factory=list)


@dataclass
class CreateVisionTask_Request(idl.IdlStruct, typename="ros2_vision_interfaces/srv/CreateVisionTask_Request"):
    skill_json: str = ""


@dataclass
class CreateVisionTask_Response(idl.IdlStruct, typename="ros2_vision_interfaces/srv/CreateVisionTask_Response"):
    success: bool = False
    message: str = ""
    name: str = ""
    topics: types.sequence[str] = field(default_factory=list)


@dataclass
class ManageVisionTask_Request(idl.IdlStruct, typename="ros2_vision_interfaces/srv/ManageVisionTask_Request"):
    name: str = ""
    action: str = ""


@dataclass
class ManageVisionTask_Response(idl.IdlStruct, typename="ros2_vision_interfaces/srv/ManageVisionTask_Response"):
    success: bool = False
    message: str = ""


@dataclass
class ListVisionTasks_Request(idl.IdlStruct, typename="ros2_vision_interfaces/srv/ListVisionTasks_Request"):
    pass


@dataclass
class ListVisionTasks_Response(idl.IdlStruct, typename="ros2_vision_interfaces/srv/ListVisionTasks_Response"):
    tasks_json: str = ""


CreateVisionTask = idl.make_idl_service(CreateVisionTask_Request, CreateVisionTask_Response)
ManageVisionTask = idl.make_idl_service(ManageVisionTask_Request, ManageVisionTask_Response)
ListVisionTasks = idl.make_idl_service(ListVisionTasks_Request, ListVisionTasks_Response)

"""Reads `ros2_vision_interfaces/VisionDetectionArray`, stepping over masks."""

import struct


class Reader:
    def __init__(self, payload):
        self.body, self.at = memoryview(payload)[4:], 0

    def take(self, code, size):
        self.at += -self.at % size
        (value,) = struct.unpack_from("<" + code, self.body, self.at)
        self.at += size
        return value

    def number(self):
        return self.take("I", 4)

    def flag(self):
        return self.take("B", 1) != 0

    def text(self):
        length = self.number()
        begin, self.at = self.at, self.at + length
        return str(self.body[begin : self.at - 1], "utf-8")

    def header(self):
        return self.number() + self.number() * 1e-9, self.text()


def detections(payload):
    read = Reader(payload)
    read.header(), read.text(), read.number(), read.number()
    return [detection(read) for _ in range(read.number())]


def detection(read):
    _, label, score = read.text(), read.text(), read.take("f", 4)
    x, y, height, width = read.number(), read.number(), read.number(), read.number()
    read.flag(), read.flag(), read.header(), read.text()
    mask_bytes = read.number()
    read.at += mask_bytes
    has_point, _ = read.flag(), read.header()
    point = [read.take("d", 8) for _ in range(3)]
    return {"label": label, "score": score, "box": [x, y, width, height], "point": point if has_point else None}

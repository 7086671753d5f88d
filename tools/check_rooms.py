#!/usr/bin/env python3
"""Finds circles of rooms, and fails if there are more of them than allowed.

A room is a header with its source: `x.h` and `x.cc`. Rooms are in a circle if each of them includes, directly or through the others,
every other one: none of them can be read, tested or changed alone. Also fails if testlog includes against the order of its folders.
Tests and their data are left out."""
import pathlib
import re
import subprocess
import sys

# How many rooms may be in circles. Only to be lowered.
MOST = {"tracing_core": 13, "testlog": 0, "cuda_cpu": 0}

# Each may include those before it only. A folder, or a room.
ORDER = ("testlog/framework", "testlog/capture", "testlog/outputs", "testlog/report", "testlog/run", "testlog/session", "testlog/test_run",
         "testlog/googletest")

TEST = re.compile(r"_(test|test_support|fuzzer|benchmark)\.\w+$|/(testdata|benchmarks|fuzz)/")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def room_of(path):
    return str(pathlib.PurePosixPath(path).with_suffix(""))


def read_rooms(folder):
    """The rooms that each room includes."""
    patterns = [f"{folder}/*.{suffix}" for suffix in ("h", "cc", "cu", "cuh", "inc")]
    paths = subprocess.run(["git", "ls-files", "-z", "--", *patterns], check=True, capture_output=True, text=True).stdout.split("\0")
    rooms = {}
    for path in filter(None, paths):
        if not TEST.search(path) and pathlib.Path(path).exists():
            included = INCLUDE.findall(pathlib.Path(path).read_text(encoding="utf-8"))
            rooms.setdefault(room_of(path), set()).update(room_of(other) for other in included)
    return {room: (included & rooms.keys()) - {room} for room, included in rooms.items()}


def reachable_from(room, rooms):
    found, todo = set(), [room]
    while todo:
        for other in rooms[todo.pop()] - found:
            found.add(other)
            todo.append(other)
    return found


def circles_of(rooms):
    """The strongly connected components with more than one room, the largest first."""
    reachable = {room: reachable_from(room, rooms) for room in rooms}
    circles = {tuple(sorted(other for other in reachable[room] if room in reachable[other])) for room in rooms}
    return sorted(filter(None, circles), key=lambda circle: (-len(circle), circle))


def place_of(room):
    return next((i for i, part in enumerate(ORDER) if room == part or room.startswith(part + "/")), None)


def against_order(rooms):
    for room, included in sorted(rooms.items()):
        place = place_of(room)
        for other in sorted(included) if place is not None else ():
            if (place_of(other) or 0) > place:
                yield f"{room} includes {other}, which comes after it"


def main():
    failed = False
    for folder, most in MOST.items():
        rooms = read_rooms(folder)
        circles = circles_of(rooms)
        count = sum(map(len, circles))
        print(f"{folder}: {len(circles)} circles of {count} rooms, of {len(rooms)}; at most {most} rooms are allowed")
        for circle in circles:
            print(f"  {len(circle)}: " + " ".join(room.removeprefix(folder + "/") for room in circle))
        failed |= count > most
        for line in against_order(rooms):
            print(f"  {line}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()

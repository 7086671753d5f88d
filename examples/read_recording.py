#!/usr/bin/env python3
"""Prints the records of a recording, in the order of time: read_recording.py FILE. Written from docs/recording-format.md."""
import struct
import sys

HEADER, HEAD, CHUNK, PER_GROUP = 4096, 128, 16384, 64
MAGIC = b"\x89TLREC\r\n"
(CALLSITE, TRACK, TAG, STATE, SCOPE_BEGIN, SCOPE_END, EVENT, NEW_SPAN, ENTER, EXIT, CLOSE, VALUES, FOLLOWS_FROM,
 TIMED) = range(1, 15)
NAMES = "callsite track tag state scope_begin scope_end event new_span enter exit close values follows_from timed".split()
REFERENCES = {STATE: 2, ENTER: 1, EXIT: 1, CLOSE: 1, VALUES: 1, FOLLOWS_FROM: 2, TIMED: 1}
HAS_VALUES, RESTATED, ENTERED, FOREIGN = 4, 8, 16, 32
LOCAL = 1 << 31
LEVELS = ["", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"]


class Words:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise ValueError("a record ends too early")
        self.at += size
        return self.data[self.at - size:self.at]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def word(self):
        return self.unpack("Q")[0]

    def padded(self, size):
        return self.take((size + 7) // 8 * 8)[:size]


class Callsite:
    def __init__(self, content):
        words = Words(content)
        (self.kind, self.level, _, flags, fields, unnamed, self.values, placeholders, self.line, *sizes, text_size,
         _, _, _) = words.unpack("8B I 5I 4I")
        entries = [words.unpack("II") for _ in range(fields + unnamed)]
        self.placeholders = [words.unpack("IIHH") for _ in range(placeholders)]
        text = words.take(text_size)
        names, at = [], 0
        for size in sizes:
            names.append(text[at:at + size])
            at += size
        self.name, self.target = (name.decode(errors="replace") for name in names[:2])
        self.message = names[4] if flags & 2 else None
        self.fields = []
        for offset, packed in entries[:fields]:
            if packed >> 24 != 255:
                self.fields.append((text[offset:offset + (packed & 0xffffff)].decode(errors="replace"), packed >> 24))

    def text_of(self, values):
        """The message with its values, then the fields."""
        out, done = "", 0
        for offset, _, _, value in self.placeholders if values else ():
            out += self.message[done:offset].decode(errors="replace") + str(values[value]).strip('"')
            done = offset
        pieces = [out + self.message[done:].decode(errors="replace")] if self.message is not None else []
        shown = [f"{name}={values[value]}" for name, value in self.fields if values and values[value] is not None]
        return " ".join(pieces + shown)


def error_text(data):
    texts = []
    words = Words(data)
    while (size := words.unpack("I")[0]) != 0xffffffff:
        texts.append(words.take(size).decode(errors="replace"))
    return ": ".join(texts)


def read_value(kind, words):
    cut, kind = kind & 128, kind & 127
    if kind in (0, 9):
        return None if kind == 0 else "***"
    if kind == 1:
        return "true" if words.word() else "false"
    if kind in (2, 3):
        return words.unpack("q" if kind == 2 else "Q")[0]
    if kind in (4, 5):
        return words.unpack("d")[0]
    if kind in (6, 7):
        return int.from_bytes(words.take(16), "little", signed=kind == 6)
    if kind == 8:
        return hex(words.word())
    if kind not in (16, 17, 18, 19):
        raise ValueError(f"values of kind {kind} are unknown")
    size, whole = words.unpack("II")
    data = words.padded(size)
    if kind == 19:
        return error_text(data)
    text = repr(data) if kind == 18 else data.decode(errors="replace")
    text += f"... ({whole} bytes)" if cut else ""
    return f'"{text}"' if kind == 16 else text


class Recording:
    def __init__(self, data):
        if data[:8] != MAGIC:
            raise SystemExit("read_recording.py: this is no recording")
        (version, order, *sizes, self.process, self.start_ticks, self.start_ns, self.rate,
         self.dropped) = struct.unpack_from("<2I 4I Q Q q Q Q", data, 8)
        if version != 1 or order != 0x01020304 or sizes != [HEADER, CHUNK, HEAD, PER_GROUP]:
            raise SystemExit(f"read_recording.py: version {version} of recordings cannot be read; expected 1")
        self.callsites, self.spans, self.names, self.problems = {}, {}, {}, []
        chunks, number = [], 0
        while True:
            group = HEADER + number // PER_GROUP * PER_GROUP * (HEAD + CHUNK)
            head, at = group + number % PER_GROUP * HEAD, group + PER_GROUP * HEAD + number % PER_GROUP * CHUNK
            if at + CHUNK > len(data):
                break
            generation, _, used, *rest = struct.unpack_from("<Q 2I 4Q I", data, head)
            if generation and generation % 2 == 0 and used <= CHUNK:
                chunks.append((*rest, data[at:at + used]))
            number += 1
        for track, *_, content in chunks:
            for record in self.records(content) if track == 0 else ():
                self.callsites[record[1]] = Callsite(record[-1])
        self.chunks = sorted((chunk for chunk in chunks if chunk[0]), key=lambda chunk: (chunk[0], chunk[2]))

    @staticmethod
    def records(content):
        at = 0
        while at + 16 <= len(content):
            ticks, callsite, words, kind, flags, kinds = struct.unpack_from("<2I H 2B 4s", content, at)
            if words < 2 or at + words * 8 > len(content):
                raise ValueError("the size of a record is wrong")
            yield ticks, callsite, kind, flags, kinds, content[at + 16:at + words * 8]
            at += words * 8

    def lines(self):
        """(ticks, text) of all records that are not restated."""
        for chunk in self.chunks:
            try:
                yield from self.lines_of(*chunk)
            except ValueError as error:
                self.problems.append(f"track {chunk[0]}: {error}")

    def lines_of(self, track, first_ticks, _, next_span, tag, content):
        stack, local = [], {}
        for ticks, number, kind, flags, kinds, rest in self.records(content):
            words = Words(rest)
            if kind == CALLSITE:
                local[number] = Callsite(rest)
            elif kind == TRACK:
                _, size = words.unpack("qQ")
                self.names[track] = words.padded(size).decode(errors="replace")
            elif kind == TAG:
                tag = number
            elif kind == SCOPE_END:
                path = ":".join(self.spans.get(span, "?") for span in stack)
                yield first_ticks + ticks, f"[{self.names.get(track)}] scope_end {path}"
                stack = stack[:-1]
            elif 1 <= kind <= 14:
                site = local.get(number) if number & LOCAL else self.callsites.get(number)
                if site is None:
                    raise ValueError("a record is of a callsite that is not described")
                values = None
                count = site.values if flags & HAS_VALUES else 0
                kinds += words.padded(count - 4) if count > 4 else b""
                on = track if not flags & FOREIGN else words.unpack("Qq")[0]
                explicit = flags & 3 == 2
                expected = REFERENCES.get(kind, {EVENT: explicit, NEW_SPAN: 1 + explicit}.get(kind, 0))
                references = [words.word() for _ in range(expected)]
                if flags & HAS_VALUES:
                    values = [read_value(kinds[i], words) for i in range(count)]
                span = references[0] if references else None
                if kind in (SCOPE_BEGIN, NEW_SPAN):
                    span = track << 40 | next_span
                    next_span += 1
                if kind in (SCOPE_BEGIN, NEW_SPAN, STATE):
                    self.spans[span] = site.name + "{" + site.text_of(values) + "}"
                if kind in (SCOPE_BEGIN, ENTER) or (kind == STATE and flags & ENTERED):
                    stack = stack + [span]
                if kind == EXIT and span in stack:
                    stack = stack[:len(stack) - 1 - stack[::-1].index(span)]
                if not flags & RESTATED:
                    path = ":".join(self.spans.get(s, "?") for s in (stack if kind != EVENT or flags & 3 == 0 else references))
                    what = site.text_of(values) if kind in (EVENT, VALUES) else self.spans.get(span, "")
                    yield (first_ticks + ticks, f"[{self.names.get(on, on)}] {NAMES[kind - 1]} {LEVELS[site.level]} "
                           f"{path}: {site.target}: {what}")

    def time_of(self, ticks):
        return self.start_ns + ((ticks - self.start_ticks) * self.rate >> 32)


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as input_file:
        recording = Recording(input_file.read())
    for ticks, text in sorted(recording.lines(), key=lambda line: line[0]):
        ns = recording.time_of(ticks)
        print(f"{ns // 10**9}.{ns % 10**9:09} {text}")
    for problem in recording.problems:
        print(f"read_recording.py: {problem}", file=sys.stderr)

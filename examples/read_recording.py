#!/usr/bin/env python3
"""Prints a recording, one record a line, in the order of time: read_recording.py <file>

Written from docs/recording-format.md, with the standard library only. `testlog show` has filters and formats.
"""
import datetime, heapq, pathlib, struct, sys

HEADER, CHUNK, HEAD, PER_GROUP = 4096, 16384, 128, 64
LEVELS = '? ERROR WARN INFO DEBUG TRACE'.split()
VERBS = '? site track tag state begin end event new enter exit close values follows_from timed mark clock thread'.split()
SITE, TRACK, TAG, STATE, BEGIN, END, EVENT, NEW_SPAN, ENTER, EXIT, CLOSE, VALUES, FOLLOWS_FROM, TIMED, MARK, CLOCK, THREAD = range(1, 18)
HAS_VALUES, RESTATED, ENTERED, FOREIGN = 4, 8, 16, 32
NUMBERS = {1: '<Q', 2: '<q', 3: '<Q', 4: '<d', 5: '<d', 8: '<Q'}  # by kind of value

class Bytes:
    def __init__(self, data):
        self.data = data
    def raw(self, size):
        if size > len(self.data):
            raise ValueError('a record ends too early')
        taken, self.data = self.data[:size], self.data[size:]
        return taken
    def take(self, form):
        values = struct.unpack(form, self.raw(struct.calcsize(form)))
        return values[0] if len(values) == 1 else values

def text_of(data):
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in data.decode('utf-8', 'replace'))

def error_text(data):
    texts = []
    while len(data) > 4 and data[:4] != b'\xff\xff\xff\xff':
        end = 4 + int.from_bytes(data[:4], 'little')
        texts, data = texts + [text_of(data[4:end])], data[end:]
    return ': '.join(texts)

def read_value(rest, kind):
    """As fields show it, as messages do, and what a format specification is for."""
    is_cut, kind = kind & 128, kind & 127
    if kind in (0, 9):
        return ('[redacted]', '[redacted]', None) if kind == 9 else (None, '', None)
    if kind in NUMBERS or kind in (6, 7):
        x = rest.take(NUMBERS[kind]) if kind in NUMBERS else int.from_bytes(rest.raw(16), 'little', signed=kind == 6)
        x = bool(x) if kind == 1 else float(f'{x:.7g}') if kind == 5 else x
        text = hex(x) if kind == 8 else str(x).lower()
        return text, text.removesuffix('.0'), x
    if not 16 <= kind <= 19:
        raise ValueError('the kind of a value is unknown')
    size, whole = rest.take('<II')
    data = rest.raw(size + -size % 8)[:size]
    text = (error_text if kind == 19 else text_of)(data) + (f'... ({whole} bytes)' if is_cut else '')
    return f'"{text}"' if kind == 16 else text, text, text

class Site:
    def __init__(self, rest):
        (_, self.level, _, _, fields, unnamed, self.value_count, holes, _, name, target, function, module, message, text, file,
         arguments, _) = rest.take('<8B10I')
        entries = [rest.take('<II') for _ in range(fields + unnamed)][:fields]
        holes = [rest.take('<IIHH') for _ in range(holes)]
        text, _ = rest.raw(text), rest.raw(file + arguments)
        self.name = text_of(text[:name])
        self.message = text[name + target + function + module:][:message]
        self.fields = [(text_of(text[at:at + (size & 0xffffff)]), size >> 24) for at, size in entries if size >> 24 != 255]
        self.holes = [(at, text_of(text[spec:spec + size]), value) for at, spec, size, value in holes]
        if self.level not in range(1, 6) or any(entry[-1] >= self.value_count for entry in self.fields + self.holes):
            raise ValueError('the description of a callsite makes no sense')
    def message_of(self, values):
        out, done = '', 0
        for at, spec, index in self.holes:
            _, text, x = values[index]
            try:  # a specification that is nested, or that Python does not have, is left out
                text = format(x, spec) if 0 < len(spec) < 5 and x is not None else text
            except (ValueError, OverflowError):
                pass
            out, done = out + text_of(self.message[done:at]) + text, at
        return out + text_of(self.message[done:])
    def fields_of(self, values):
        return ' '.join(f'{name}={values[v][0]}' for name, v in self.fields if values[v][0] is not None)

class Recording:
    def __init__(self, data):
        self.clock = struct.unpack_from('<QqQ', data, 40)
        self.sites, self.names, self.spans, self.open, self.lost, self.chunks, self.last, self.problems = {}, {}, {}, {}, {}, {}, {}, []
        self.restated = {}  # by track: the span whose restated values are news
        for group in range(HEADER, len(data), PER_GROUP * (HEAD + CHUNK)):
            for i, at in enumerate(range(group + PER_GROUP * HEAD, len(data), CHUNK)[:PER_GROUP]):
                number = (group - HEADER) // (HEAD + CHUNK) + i
                self.add_chunk(number, data[group + i * HEAD:][:HEAD], data[at:at + CHUNK])
    def add_chunk(self, number, head, data):
        generation, used, track, ticks, record, span = struct.unpack_from('<Q4xIQQQQ', head)
        if generation == 0 or generation % 2 != 0:
            return
        if used > len(data):
            self.problems.append(f'chunk {number}: is cut off, or its size is wrong')
        self.chunks.setdefault(track, []).append((record, ticks, span, number, data[:used]))
    def records(self):
        list(self.records_of(0, self.chunks.pop(0, [])))  # callsites
        return heapq.merge(*(self.records_of(*item) for item in self.chunks.items()), key=lambda record: record[:2])
    def records_of(self, track, chunks):
        """(moment, track, clock, flags, type, ...) of each record."""
        self.lost[track], end, stack, thread = 0, 0, self.open.setdefault(track, []), track
        for first_record, first_ticks, spans, chunk, data in sorted(chunks):
            self.lost[track] += max(first_record - end, 0)
            follows, end, at, local, clock = first_record == end, first_record, 0, {}, self.clock
            stack[:], thread = (stack, thread) if follows else ([], track)  # if it follows, the spans that it is in are known
            try:
                while at + 16 <= len(data):
                    ticks, site, words, type, flags, kinds = struct.unpack_from('<IIHBB4s', data, at)
                    if words < 2 or at + words * 8 > len(data):
                        raise ValueError('the size of a record is wrong')
                    rest, sites = Bytes(data[at + 16:at + words * 8]), local if site >= 2**31 else self.sites
                    if type == SITE:
                        sites[site] = Site(rest)
                    elif type == TRACK:
                        number, size = rest.take('<qQ')
                        self.names[number if flags & FOREIGN else thread] = text_of(rest.raw(size))
                    elif type == THREAD:
                        number, _, size = rest.take('<QqQ')
                        self.names[number] = text_of(rest.raw(size))
                        if number != thread:
                            stack[:], thread, follows = [], number, False
                    elif type == CLOCK:
                        clock = first_ticks, *rest.take('<qQ')
                    elif STATE <= type <= MARK:
                        record = self.read(type, flags & ~(ENTERED * follows), sites.get(site), kinds, rest, stack, thread, track << 40 | spans % 2**40)
                        yield ((first_ticks + ticks) % 2**64, thread, clock, flags, type) + record
                    elif type != TAG:
                        self.problems.append(f'chunk {chunk}, byte {at}: skipped a record of the unknown type {type}')
                    spans += type in (BEGIN, NEW_SPAN)
                    end += not flags & RESTATED
                    at += words * 8
            except ValueError as what:
                self.problems.append(f'chunk {chunk}, byte {at}: {what}')
        self.last[track] = thread
    def read(self, type, flags, site, kinds, rest, stack, thread, new_key):
        """(track and time if foreign, site, span, parent, cause or duration, values)"""
        if type == END:
            return None, None, stack.pop() if stack else 0, 0, 0, None
        if site is None:
            raise ValueError('a record is of a callsite that is not described')
        count = site.value_count if flags & HAS_VALUES else 0
        kinds += rest.raw((max(count - 4, 0) + 7) // 8 * 8)
        foreign = rest.take('<Qq') if flags & FOREIGN else None
        is_explicit, other = flags & 3 == 2, foreign is not None and foreign[0] != thread
        around = stack[-1] if stack and flags & 3 == 0 and not other else 0
        references = {BEGIN: 0, MARK: 0, EVENT: int(is_explicit), NEW_SPAN: 1 + is_explicit, STATE: 3, FOLLOWS_FROM: 2}.get(type, 1)
        named = [rest.take('<Q') for _ in range(references)]
        span = new_key if type == BEGIN else around if type == TIMED or not named else named[0]
        parent, more = named[1] if references > 1 else around, named[-1] if named else 0
        if type == BEGIN or (type == ENTER and not other) or (type == STATE and flags & ENTERED):
            stack.append(span)
        elif type == EXIT and not other and span in stack:
            del stack[len(stack) - 1 - stack[::-1].index(span)]
        return foreign, site, span, parent, more, [read_value(rest, kinds[i] if count else 0) for i in range(site.value_count)]
    def path_of(self, span):
        names = []
        while span in self.spans and len(names) < 1000:  # a damaged one may be inside itself
            name, fields, span = self.spans[span]
            names.append(name + (f'{{{fields}}}' if fields else ''))
        return ':'.join(reversed(names))
    def name_of(self, track):
        return self.names.get(track) or f'thread-{track}'
    def print(self, moment, track, clock, flags, type, foreign, site, span, parent, more, values):
        since = (moment - clock[0] + 2**63) % 2**64 - 2**63
        if type == STATE:
            self.restated[track] = None if span in self.spans else span
        is_news = not flags & RESTATED or self.restated.get(track) == span
        track, ns = foreign or (track, clock[1] + (since * clock[2] >> 32))
        fields = site.fields_of(values) if site else ''
        if type in (BEGIN, NEW_SPAN) or (type == STATE and span not in self.spans):
            self.spans[span] = site.name, fields, parent
        text = f'{site.name} {fields}' if type == MARK else self.path_of(span)
        if type == EVENT:
            text = ': '.join(filter(None, (text, f'{site.message_of(values)} {fields}'.strip())))
        elif type == VALUES:
            text += ' ' + fields
            name, before, above = self.spans.get(span, (site.name, '', 0))
            self.spans[span] = name, f'{before} {fields}'.strip() if is_news else before, above
        elif type in (FOLLOWS_FROM, TIMED):
            text += ' ' + self.path_of(more) if type == FOLLOWS_FROM else f' {more} ns'
        elif type in (CLOSE, END):
            self.spans.pop(span, None)
        second = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=min(max(ns // 10**9, 0), 2**37))
        verb = LEVELS[site.level] if type == EVENT else VERBS[type]
        if not flags & RESTATED:
            print(f'{second.isoformat()}.{ns % 10**9:09}Z {self.name_of(track)} {verb} {text}')

def main():
    path = sys.argv[1] if len(sys.argv) == 2 else sys.exit('usage: read_recording.py <file>')
    try:
        data = pathlib.Path(path).read_bytes()
    except OSError as error:
        sys.exit(f'{path}: {error.strerror}')
    if len(data) < HEADER or data[:8] != b'\x89TLREC\r\n':
        sys.exit(f'{path}: is no recording')
    if struct.unpack_from('<6I', data, 8) != (1, 0x01020304, HEADER, CHUNK, HEAD, PER_GROUP):
        sys.exit(f'{path}: is a recording of another version or byte order, or damaged')
    recording = Recording(data)
    for record in recording.records():
        recording.print(*record)
    for track in sorted(recording.chunks):
        if recording.open[track]:
            print(f'# {recording.name_of(recording.last[track])} is in {recording.path_of(recording.open[track][-1])}')
        if recording.lost[track]:
            print(f'# {recording.name_of(track)} lost {recording.lost[track]} records')
    for problem in recording.problems:
        print(f'# {problem}')

if __name__ == '__main__':
    main()

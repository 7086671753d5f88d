"use strict";
// Blocks: the records of one attempt of a test. block_columns.h describes the bytes.

const NONE = 0, NO = 1, YES = 2, NATURAL = 3, NEGATIVE = 4, TEXT = 5, OTHER = 6, REAL = 7;
const EVENT = 0, FAILURE = 2;

async function unpack(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text)
                                      : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function json(bytes) { return JSON.parse(new TextDecoder().decode(bytes)); }

// Reads `count` varints into an array of this type.
function column(Type, bytes, count, isDifference) {
  const out = new Type(count);
  let at = 0, last = 0;
  for (let i = 0; i < count; ++i) {
    let value = bytes[at++];
    if (value > 127) {
      value &= 127;
      for (let factor = 128, more = true; more; factor *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * factor;
        more = byte > 127;
      }
    }
    if (isDifference) value = last += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    out[i] = value;
  }
  return out;
}

// Spans have indices from 1: element 0 of their columns stands for no span.
class Block {
  constructor(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    const part = () => {
      const size = view.getUint32(at, true);
      at += 4 + size;
      return bytes.subarray(at - size, at);
    };
    Object.assign(this, json(part()));
    const spans = (Type, isDifference) => {
      const all = new Type(this.spans + 1);
      all.set(column(Type, part(), this.spans, isDifference), 1);
      return all;
    };
    const lines = (Type, isDifference) => column(Type, part(), this.lines, isDifference);
    this.begin = spans(Float64Array, true);
    this.duration = spans(Float64Array);  // -1: open
    for (const name of ["spanTrack", "parent", "cause", "spanSite", "firstLine"]) this[name] = spans(Uint32Array);
    this.time = lines(Float64Array, true);
    for (const name of ["track", "span", "site", "kind", "label", "context", "text"]) this[name] = lines(Uint32Array);
    this.readValues(part());
    this.sites.unshift(null);
    for (let s = 1; s <= this.spans; ++s) {
      this.duration[s] -= 1;
      if (this.parent[s] !== 0) this.parent[s] = s - this.parent[s];
    }
    this.depth = new Uint16Array(this.spans + 1);
    for (let s = 1; s <= this.spans; ++s) this.depth[s] = Math.min(this.depth[this.parent[s]] + 1, 65535);
    // The instant of the failure.
    this.failure = this.kind.indexOf(FAILURE);
  }

  readValues(bytes) {
    const counts = this.sites.map((site) => site.fields.filter((name) => name !== null).length + site.message.length - 1);
    let all = 0;
    this.spanValues = new Uint32Array(this.spans + 1);
    for (let s = 1; s <= this.spans; ++s) {
      this.spanValues[s] = all;
      all += counts[this.spanSite[s] - 1];
    }
    this.lineValues = new Uint32Array(this.lines);
    for (let k = 0; k < this.lines; ++k) {
      this.lineValues[k] = all;
      if (this.site[k] !== 0) all += counts[this.site[k] - 1];
    }
    this.values = column(Float64Array, bytes, all);
  }

  endOf(span) { return this.duration[span] < 0 ? this.end : this.begin[span] + this.duration[span]; }
}

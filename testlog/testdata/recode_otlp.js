// The codec of OpenTelemetry for JavaScript: node recode_otlp.js encode|decode traces|logs <file>
// `encode` reads a request in OTLP/JSON and prints it in protobuf, `decode` does the opposite.
const {proto} = require("@opentelemetry/otlp-transformer/build/src/generated/root").opentelemetry;

const [, , verb, signal, file] = process.argv;
const type = signal === "traces" ? proto.collector.trace.v1.ExportTraceServiceRequest : proto.collector.logs.v1.ExportLogsServiceRequest;

// Returns the request with its ids in another text, since OTLP/JSON has them in hexadecimal and JSON of protobuf in base64.
function withIds(value, from, to, key) {
  if (Array.isArray(value)) return value.map((one) => withIds(one, from, to));
  if (value !== null && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withIds(one, from, to, name)]));
  return ["traceId", "spanId", "parentSpanId"].includes(key) ? Buffer.from(value, from).toString(to) : value;
}

const input = require("fs").readFileSync(file);
if (verb === "encode") {
  process.stdout.write(type.encode(type.fromObject(withIds(JSON.parse(input), "hex", "base64"))).finish());
} else {
  process.stdout.write(JSON.stringify(withIds(type.toObject(type.decode(input), {json: true, longs: String, bytes: String}), "base64", "hex")));
}

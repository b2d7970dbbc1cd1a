// A receiver of traces by OTLP (http/protobuf), which reads what it is sent:
// github.com/open-telemetry/opentelemetry-proto.
import protobuf from 'protobufjs';
import { listenHttp } from '../servers/listen.ts';

const { root } = protobuf.parse(`
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`);
const REQUEST = root.lookupType('Request');

interface AnyValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: number;
  doubleValue?: number;
}

interface WireSpan {
  traceId: Uint8Array;
  spanId: Uint8Array;
  traceState: string;
  parentSpanId: Uint8Array;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  status?: { message: string; code: number };
}

interface KeyValue {
  key: string;
  value: AnyValue;
}

interface WireRequest {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

/** As OTLP numbers them. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;
export const STATUS_ERROR = 2;

export type ReceivedSpan = ReturnType<typeof shown>;

export async function startTraceReceiver() {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; type: string | undefined }[] = [];
  const { url, close } = await listenHttp((request, response, body) => {
    requests.push({ path: request.url ?? '', type: request.headers['content-type'] });
    spans.push(...read(body));
    response.end();
  });
  return {
    /** For OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. */
    url: `${url}/v1/traces`,
    spans,
    requests,
    close,
  };
}

function read(bytes: Buffer): ReceivedSpan[] {
  const { resourceSpans } = REQUEST.toObject(REQUEST.decode(bytes), { longs: String, arrays: true }) as WireRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => shown(service, span)));
  });
}

function shown(service: string, span: WireSpan) {
  const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');
  return {
    service,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    /** Empty: it has none. */
    parentId: hex(span.parentSpanId),
    traceState: span.traceState ?? '',
    name: span.name,
    kind: span.kind,
    /** ns since 1970 */
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: valuesOf(span.attributes),
    /** 2: error */
    status: span.status?.code ?? 0,
    message: span.status?.message ?? '',
  };
}

function valuesOf(attributes: KeyValue[]): Record<string, string | boolean | number | undefined> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue)),
    ]),
  );
}

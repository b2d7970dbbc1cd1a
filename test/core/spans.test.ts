import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect } from 'chai';
import { pino } from 'pino';
import { ownWords } from '../../core/text/error-summary.ts';
import type { AttemptSteps, EndedAttempt, TracedAttempt } from '../../core/process/tracing.ts';
import { type OtelVariables, sendsMetrics, sendsTraces } from '../../telemetry/otel-variables.ts';
import { createTracing } from '../../telemetry/spans.ts';
import { samplerOf } from '../../telemetry/span-sender.ts';

const log = pino({ level: 'silent' });
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const sampled = (flags: '00' | '01', traceId = TRACE) => `00-${traceId}-00f067aa0ba902b7-${flags}`;
const STARTED = new Date('2026-01-02T03:04:05.678Z');

function traced(variables: OtelVariables = {}) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor({ exporter })];
  const provider = new TracerProvider({ sampler: samplerOf(variables, log), spanProcessors });
  return { tracing: createTracing(provider.getTracer('test')), spans: () => exporter.getFinishedSpans() };
}

const attempt = (facts: Partial<TracedAttempt> = {}): TracedAttempt => ({
  traceparent: sampled('01'),
  headers: {},
  organizationId: 'org_1',
  eventId: 'evt_1',
  routeId: null,
  destinationId: 'dst_1',
  deliveryId: 'dlv_1',
  replayOf: null,
  number: 1,
  lane: 'express',
  method: 'POST',
  url: 'https://user:pass@[2001:db8::1]/hooks/secret?token=1',
  startedAt: STARTED,
  ...facts,
});
const steps = (known: Partial<AttemptSteps>): AttemptSteps => ({
  ...{ address: '192.0.2.1', port: 443, dns: null, connect: null, tls: null, firstByte: null },
  ...{ beganAfter: null, sentAfter: null },
  ...known,
});
const ended = (facts: Partial<EndedAttempt> = {}): EndedAttempt => ({
  ...{ tookMs: 100, outcome: 'delivered', statusCode: 200, error: null, steps: null },
  ...facts,
});

/** From the start of the attempt, ms. */
const times = ({ name, startTime, endTime }: ReadableSpan): [string, number, number] => {
  const after = ([seconds, nanos]: readonly [number, number]) =>
    Math.round((seconds * 1000 + nanos / 1e6 - STARTED.getTime()) * 10) / 10;
  return [name, after(startTime), after(endTime)];
};

describe('the spans of an attempt', () => {
  it('have its steps one after the other, inside of it', () => {
    const { tracing, spans } = traced();
    const known = { dns: 3, connect: 11, tls: 20.5, firstByte: 40, beganAfter: 0.5, sentAfter: 36 };
    tracing.attempt(attempt())?.end(ended({ steps: steps(known) }));
    expect(spans().map(times)).to.deep.equal([
      ['DNS', 0.5, 3.5],
      ['connect', 3.5, 14.5],
      ['TLS', 14.5, 35],
      ['first byte', 36, 76],
      ['attempt', 0, 100],
    ]);
    const whole = spans().at(-1);
    for (const step of spans().slice(0, -1)) {
      expect(step.parentSpanContext?.spanId).to.equal(whole?.spanContext().spanId);
    }
  });

  it('have only what was reached, and nothing that ends after it', () => {
    const { tracing, spans } = traced();
    tracing.attempt(attempt())?.end(ended({ steps: steps({ firstByte: 120, sentAfter: 0.2 }) }));
    expect(spans().map(times)).to.deep.equal([
      ['first byte', 0.2, 100],
      ['attempt', 0, 100],
    ]);
  });

  it('name host and port, and neither path nor credentials', () => {
    const { tracing, spans } = traced();
    const error = { code: 'TIMEOUT', summary: ownWords`Timed out after ${5} ms` };
    tracing.attempt(attempt())?.end(ended({ outcome: 'failed', statusCode: null, error }));
    const [span] = spans();
    expect(span?.attributes).to.include({
      'url.scheme': 'https',
      'server.address': '2001:db8::1',
      'server.port': 443,
      'error.type': 'TIMEOUT',
    });
    expect(span?.status.message).to.equal('Timed out after 5 ms');
    expect(JSON.stringify(span?.attributes)).to.not.match(/pass|secret|token/);
  });
});

describe('the sampler', () => {
  const isRecorded = (variables: OtelVariables, traceparent: string | null) =>
    traced(variables).tracing.webhook({
      ...{ organizationId: 'org_1', sourceId: 'src_1', method: 'POST', size: 1, receivedAt: new Date() },
      headers: traceparent === null ? {} : { traceparent },
    }) !== null;
  const rows: [OtelVariables, string | null, boolean][] = [
    [{}, null, true],
    [{}, sampled('01'), true],
    [{}, sampled('00'), false],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, sampled('00'), true],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, sampled('01'), false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, null, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, sampled('01'), true],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, null, false],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, sampled('01'), true],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, sampled('01'), false],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1' }, sampled('00'), true],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'much' }, null, true],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, null, true],
  ];
  for (const [variables, traceparent, expected] of rows) {
    const parent = traceparent === null ? 'no parent' : `a parent with flags ${traceparent.slice(-2)}`;
    it(`${JSON.stringify(variables)} ${expected ? 'records' : 'leaves out'} a webhook with ${parent}`, () => {
      expect(isRecorded(variables, traceparent)).to.equal(expected);
    });
  }

  it('leaves out an attempt whose webhook has no trace', () => {
    expect(traced({ OTEL_TRACES_SAMPLER: 'always_on' }).tracing.attempt(attempt({ traceparent: null }))).to.equal(null);
  });
});

describe('the variables of OpenTelemetry', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const rows: [OtelVariables, boolean, boolean][] = [
    [{}, false, false],
    [endpoint, true, true],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, true, false],
    [{ ...endpoint, OTEL_METRICS_EXPORTER: 'none' }, false, true],
    [{ ...endpoint, OTEL_SDK_DISABLED: 'true' }, false, false],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }, false, true],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:4318/v1/metrics' }, true, false],
  ];
  for (const [variables, metrics, traces] of rows) {
    it(`${JSON.stringify(variables)} send ${metrics ? '' : 'no '}metrics and ${traces ? '' : 'no '}traces`, () => {
      expect([sendsMetrics(variables), sendsTraces(variables)]).to.deep.equal([metrics, traces]);
    });
  }
});

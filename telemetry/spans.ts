// The spans of webhooks: their names, attributes and times. Attributes have the names of OpenTelemetry's semantic
// conventions, or begin with `hookyard.`; none holds anything of a payload or a header, nor a path or a query, which
// may be secrets.
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  formatTraceparent,
  parseTraceparent,
  receivedState,
  receivedTrace,
  type TraceContext,
} from '../core/http/trace-context.ts';
import type {
  AttemptSpan,
  AttemptSteps,
  TracedAttempt,
  TracedWebhook,
  Tracing,
  WebhookSpan,
} from '../core/process/tracing.ts';

// As in the metrics (core/metrics).
const INGEST_ROUTE = '/ingest/:organization/:source';

/**
 * Spans end at what the monotonic clock says since their start: a wall clock that is set back makes none that ends
 * before it began. @returns what tells the time, ms since 1970, with fractions
 */
function clockSince(startedAt: Date): () => number {
  const offset = startedAt.getTime() - performance.now() + Math.max(0, Date.now() - startedAt.getTime());
  return () => offset + performance.now();
}

export function createTracing(tracer: Tracer): Tracing {
  return {
    webhook(received) {
      const parent = contextOf(receivedTrace(received.headers), received.headers);
      const startTime = received.receivedAt;
      const attributes = webhookAttributes(received);
      const span = tracer.startSpan('ingest', { kind: SpanKind.SERVER, startTime, attributes }, parent);
      return span.isRecording() ? webhookSpan(tracer, span, clockSince(startTime)) : null;
    },
    attempt(attempt) {
      const { traceparent, headers, startedAt } = attempt;
      const parent = parseTraceparent(traceparent) ?? receivedTrace(headers);
      if (parent === null) return null;
      const options = { kind: SpanKind.CLIENT, startTime: startedAt, attributes: attemptAttributes(attempt) };
      const span = tracer.startSpan('attempt', options, contextOf(parent, headers));
      return span.isRecording() ? attemptSpan(tracer, span, startedAt.getTime()) : null;
    },
  };
}

function contextOf(parent: TraceContext | null, headers: TracedWebhook['headers']): Context {
  if (parent === null) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const state = receivedTrace(headers)?.traceId === traceId ? receivedState(headers) : null;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    traceState: state === null ? undefined : createTraceState(state),
    isRemote: true,
  });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId } = span.spanContext();
  return formatTraceparent({ traceId, spanId, isSampled: true });
}

function webhookAttributes({ organizationId, sourceId, method, size }: TracedWebhook): Attributes {
  return {
    'http.request.method': method,
    'http.route': INGEST_ROUTE,
    'http.request.body.size': size,
    'hookyard.organization.id': organizationId,
    'hookyard.source.id': sourceId,
  };
}

function webhookSpan(tracer: Tracer, span: Span, now: () => number): WebhookSpan {
  const inside = trace.setSpan(ROOT_CONTEXT, span);
  return {
    traceparent: traceparentOf(span),
    async storing(store) {
      const options = {
        kind: SpanKind.CLIENT,
        startTime: now(),
        attributes: { 'db.system.name': 'postgresql', 'db.operation.name': 'store-events' },
      };
      const child = tracer.startSpan('store', options, inside);
      try {
        return await store();
      } catch (error) {
        fail(child, error instanceof Error ? error.name : 'error');
        throw error;
      } finally {
        child.end(now());
      }
    },
    accepted(status, { id, isDuplicate }) {
      span.setAttributes({ 'hookyard.event.id': id, 'http.response.status_code': status });
      if (isDuplicate) span.setAttribute('hookyard.event.duplicate', true);
      span.end(now());
    },
    failed(status, code) {
      span.setAttribute('http.response.status_code', status);
      fail(span, code);
      span.end(now());
    },
  };
}

function attemptAttributes(attempt: TracedAttempt): Attributes {
  const { number, lane, method, url, replayOf, routeId } = attempt;
  const target = URL.parse(url);
  return {
    'http.request.method': method,
    // From the second on (semantic conventions, "HTTP client span").
    'http.request.resend_count': number > 1 ? number - 1 : undefined,
    'url.scheme': target?.protocol.slice(0, -1),
    'server.address': target?.hostname.replaceAll(/[[\]]/g, ''),
    'server.port': target ? Number(target.port) || (target.protocol === 'https:' ? 443 : 80) : undefined,
    'hookyard.organization.id': attempt.organizationId,
    'hookyard.event.id': attempt.eventId,
    'hookyard.route.id': routeId ?? undefined,
    'hookyard.destination.id': attempt.destinationId,
    'hookyard.delivery.id': attempt.deliveryId,
    'hookyard.delivery.replay_of': replayOf ?? undefined,
    'hookyard.delivery.lane': lane,
    'hookyard.attempt.number': number,
  };
}

function attemptSpan(tracer: Tracer, span: Span, startedAt: number): AttemptSpan {
  return {
    traceparent: traceparentOf(span),
    end({ tookMs, outcome, statusCode, error, steps }) {
      const endedAt = startedAt + tookMs;
      const inside = trace.setSpan(ROOT_CONTEXT, span);
      for (const [name, after, ms] of stepSpans(steps)) {
        const from = Math.min(startedAt + after, endedAt);
        const kind = SpanKind.INTERNAL;
        tracer.startSpan(name, { kind, startTime: from }, inside).end(Math.min(from + ms, endedAt));
      }
      span.setAttribute('hookyard.attempt.outcome', outcome);
      if (statusCode !== null) span.setAttribute('http.response.status_code', statusCode);
      if (steps?.address) span.setAttribute('network.peer.address', steps.address);
      if (steps?.address && steps.port) span.setAttribute('network.peer.port', steps.port);
      if (error !== null) fail(span, error.code, error.summary);
      span.end(endedAt);
    },
  };
}

type StepSpan = [name: string, afterMs: number, ms: number];

/** What is known of the steps of an attempt: each begins where the one before it ends. */
function stepSpans(steps: AttemptSteps | null): StepSpan[] {
  if (steps === null) return [];
  const { dns, connect, tls, firstByte, beganAfter, sentAfter } = steps;
  const found: StepSpan[] = [];
  let after = beganAfter ?? 0;
  for (const [name, ms] of [['DNS', dns] as const, ['connect', connect] as const, ['TLS', tls] as const]) {
    if (ms === null) continue;
    found.push([name, after, ms]);
    after += ms;
  }
  if (firstByte !== null && sentAfter !== null) found.push(['first byte', sentAfter, firstByte]);
  return found;
}

function fail(span: Span, code: string, message?: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
